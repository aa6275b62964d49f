//! The speed of a machine: plain data, by which schedules are priced and tiles are chosen.
//!
//! A [`Target`](crate::target::Target) says what code may be; a [`Machine`] says what that costs. No pass of lowering
//! asks it, so code is the same whatever it says.
//!
//! There are three sources. [`Machine::host`] declares the machine that this runs on: what processor and system tell,
//! and typical figures for the rest. [`Machine::typical`] asks nobody. A measurement is a matter of who has a compiler
//! and a clock.

mod caches;
#[cfg(target_arch = "x86_64")]
mod cpuid;
mod gpu;
mod host;
#[cfg(any(target_os = "linux", test))]
mod sysfs;
mod typical;

pub use gpu::GpuSpeed;

/// The speeds and sizes of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The number of cores that threads run on.
    pub cores: u32,
    /// The clock of a core under load, in cycles per nanosecond.
    pub ghz: f64,
    /// The caches of data, from the one next to a core outwards.
    pub caches: Vec<Cache>,
    /// The memory behind the caches.
    pub memory: Memory,
    /// The vector units of a core.
    pub vector: Vector,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// Its size in bytes, of the part that `shared_by` cores share.
    pub bytes: u64,
    /// The length of a line in bytes.
    pub line: u32,
    /// The number of lines of a set.
    pub ways: u32,
    /// True if it holds code, too.
    pub unified: bool,
    /// The number of cores that share it.
    pub shared_by: u32,
    /// Bytes per cycle that a core reads from it.
    pub bytes_per_cycle: f64,
    /// Cycles from a load to its value.
    pub latency: f64,
}

/// The memory behind the caches. Bandwidths are of all threads together, from one thread to more, and hold up to the
/// next number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Bytes per nanosecond that a number of threads reads and writes.
    pub bytes_per_ns: Vec<(u32, f64)>,
    /// Bytes per nanosecond that a number of threads stores past the caches.
    pub streamed_bytes_per_ns: Vec<(u32, f64)>,
    /// Bytes per nanosecond that a number of threads moves in streams, two of three of them read and one stored past
    /// the caches. Memory that has ways of their own for loads and for stores moves more than by either alone.
    pub mixed_bytes_per_ns: Vec<(u32, f64)>,
    /// Nanoseconds from a load to its value.
    pub latency_ns: f64,
}

/// The vector units of a core, with their instructions per cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector {
    /// The width of a register in bits.
    pub bits: u32,
    /// The number of registers.
    pub registers: u32,
    /// Loads of whole registers.
    pub loads: f64,
    /// Stores of whole registers.
    pub stores: f64,
    /// Instructions of any kind.
    pub issue: f64,
    /// Fused products and sums of floats.
    pub fmas: f64,
}

/// The one who told a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The processor, by `cpuid`.
    Processor,
    /// The operating system.
    System,
    /// Nobody: it is typical of machines of the kind.
    Typical,
}

/// A machine with the origin of what differs by machine. Clock, bandwidths, latencies and instructions per cycle are
/// typical ones: nobody tells these, and virtual machines tell no truth.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The machine.
    pub machine: Machine,
    /// The origin of the sizes of each cache.
    pub caches: Vec<Origin>,
}

impl Cache {
    /// Returns the bytes of data that each of `threads` threads has for itself. A unified cache keeps a quarter for
    /// code. Virtual machines report caches of whole sockets, so beyond 4 MiB a thread, or 16 MiB for few of them,
    /// nothing is counted on.
    pub fn usable(&self, threads: u32) -> u64 {
        /// More than cores of today have to themselves, where all of them work.
        const MOST_BYTES: u64 = 4 << 20;
        /// The last cache of a few cores of today, at least, of which few threads have the whole.
        const MOST_SHARED: u64 = 16 << 20;
        let sharing = u64::from(self.shared_by.min(threads).max(1));
        let most = MOST_BYTES.max(MOST_SHARED / u64::from(threads.max(1)));
        let own = (self.bytes / sharing).min(most);
        if self.unified { own / 4 * 3 } else { own }
    }
}

impl Memory {
    /// Returns the bytes per nanosecond that `threads` threads read and write, all together.
    pub fn bandwidth(&self, threads: u32) -> f64 {
        of_threads(&self.bytes_per_ns, threads)
    }

    /// Returns the bytes per nanosecond that `threads` threads store past the caches, all together.
    pub fn streamed_bandwidth(&self, threads: u32) -> f64 {
        of_threads(&self.streamed_bytes_per_ns, threads)
    }

    /// Returns the most bytes per nanosecond that `threads` threads move, all together: what they read, store past the
    /// caches, or do both of.
    pub fn peak_bandwidth(&self, threads: u32) -> f64 {
        let mixed = of_threads(&self.mixed_bytes_per_ns, threads);
        mixed.max(self.bandwidth(threads)).max(self.streamed_bandwidth(threads))
    }
}

/// The rate of the largest number of threads that is no larger than `threads`, or of the smallest.
fn of_threads(rates: &[(u32, f64)], threads: u32) -> f64 {
    let within = rates.iter().rev().find(|(count, _)| *count <= threads);
    within.or(rates.first()).map_or(1.0, |(_, rate)| *rate)
}
