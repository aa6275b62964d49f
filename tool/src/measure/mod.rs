//! Measures the machine that this runs on by small pipelines, so that figures are those that compiled code reaches.
//!
//! Sums and copies of rows of 16 KiB to 256 MiB give the bandwidths of caches and memory, loops in registers the clock
//! and the instructions per cycle. All take turns, several times, and the shortest run of each counts: others use the
//! machine as well, and make runs longer, never shorter. Nothing is kept: who wants the figures again has a file.

mod kernels;
mod layout;
mod probe;

use halide::machine::{Cache, Machine, Memory, Vector};
use halide::target::Target;
use kernels::Kernels;
use layout::{Layout, cache_sizes};
use probe::{Probe, Rows};
use std::time::{Duration, Instant};

/// Bytes that a thread works on, from within the first cache to beyond the last.
const SIZES: [u64; 8] = [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, MOST_BYTES];
/// Bytes of the loops that are limited by instructions, in the first cache of every machine with space to spare: what
/// walks through half of one reads at two thirds of the speed on Zen 4.
const NEAREST: u64 = 4 << 10;
/// The most bytes that are read, and the most that are written.
pub const MOST_BYTES: u64 = 256 << 20;
/// The most rounds.
pub const ROUNDS: u32 = 12;
/// The least rounds, after which time decides.
const LEAST_ROUNDS: u32 = 3;
/// The time after which no round begins. With compiling and filling memory, measuring takes about 3 s.
const ENOUGH: Duration = Duration::from_millis(2200);

/// A machine as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The machine. Sizes and latencies are those that were declared.
    pub machine: Machine,
    /// The bandwidths by number of threads and size.
    pub bandwidths: Vec<Bandwidth>,
}

/// The bandwidths at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// The number of threads.
    pub threads: u32,
    /// Bytes that each of them works on.
    pub bytes: u64,
    /// Bytes per nanosecond that sums read, all threads together.
    pub sum: f64,
    /// Bytes per nanosecond that copies read and write.
    pub copy: f64,
}

/// Returns the declared machine with what pipelines for `target` reach on it, at 1 and at `target.threads` threads.
/// They work in two times at most `bytes` of memory, no more than [`MOST_BYTES`]. `after_round` is called after each of
/// at most [`ROUNDS`] rounds.
///
/// # Errors
/// A pipeline cannot be compiled or run, such as for lack of memory.
pub fn measure(
    declared: &Machine,
    target: &Target,
    bytes: u64,
    mut after_round: impl FnMut(),
) -> Result<Measured, halide::Error> {
    let kernels = Kernels::new(target)?;
    let layout = Layout::new(target, bytes.min(MOST_BYTES));
    let mut rows = layout.rows(&kernels)?;
    let mut probes = Probes::new(&kernels, &layout, declared);
    let start = Instant::now();
    for round in 1..=ROUNDS {
        probes.run(&mut rows)?;
        after_round();
        if round >= LEAST_ROUNDS && start.elapsed() > ENOUGH {
            break;
        }
    }
    Ok(Measured { machine: probes.machine(declared), bandwidths: probes.bandwidths() })
}

/// All that is measured.
struct Probes<'k> {
    chain: Probe<'k>,
    loads: Probe<'k>,
    fill: Probe<'k>,
    fmas: Probe<'k>,
    mixed: Probe<'k>,
    /// Sums in each of the caches.
    caches: Vec<Probe<'k>>,
    /// For each number of threads.
    memory: Vec<OfThreads<'k>>,
}

/// The probes of caches and memory at a number of threads.
struct OfThreads<'k> {
    threads: u32,
    /// Bytes of each thread, sum and copy.
    sizes: Vec<(u64, Probe<'k>, Probe<'k>)>,
    stream: Probe<'k>,
    triad: Probe<'k>,
}

impl<'k> Probes<'k> {
    fn new(kernels: &'k Kernels, layout: &Layout, declared: &Machine) -> Probes<'k> {
        let of_caches = cache_sizes(&declared.caches);
        let of_threads = |threads: u32| {
            let size = |bytes: u64| {
                let fitted = layout.fitted(bytes, threads);
                (fitted, layout.sum(kernels, fitted, threads), layout.copy(kernels, fitted, threads))
            };
            let (stream, triad) = (layout.stream(kernels, threads), layout.triad(kernels, threads));
            OfThreads { threads, sizes: SIZES.map(size).into(), stream, triad }
        };
        let mut counts = vec![1, layout.threads];
        counts.dedup();
        Probes {
            chain: layout.chain(kernels),
            loads: layout.sum(kernels, NEAREST, 1),
            fill: layout.fill(kernels, NEAREST),
            fmas: layout.fmas(kernels),
            mixed: layout.mixed(kernels, NEAREST, u64::from(declared.vector.bits / 8)),
            caches: of_caches.iter().map(|bytes| layout.sum(kernels, *bytes, 1)).collect(),
            memory: counts.into_iter().map(of_threads).collect(),
        }
    }

    /// One round. The chain runs at its start, in its middle and at its end: its time is the clock, and the unit of
    /// other figures.
    fn run(&mut self, rows: &mut Rows) -> Result<(), halide::Error> {
        self.chain.run(rows)?;
        for probe in
            [&mut self.fmas, &mut self.loads, &mut self.fill, &mut self.mixed].into_iter().chain(&mut self.caches)
        {
            probe.run(rows)?;
        }
        self.chain.run(rows)?;
        for OfThreads { sizes, stream, triad, .. } in &mut self.memory {
            for (_, sum, copy) in sizes {
                sum.run(rows)?;
                copy.run(rows)?;
            }
            stream.run(rows)?;
            triad.run(rows)?;
        }
        self.chain.run(rows)
    }

    fn machine(&self, declared: &Machine) -> Machine {
        let ghz = self.chain.rate();
        let per_cycle = |probe: &Probe<'_>| probe.rate() / ghz;
        let register = f64::from(declared.vector.bits) / 8.0;
        let with_rate = |(cache, probe): (&Cache, _)| Cache { bytes_per_cycle: per_cycle(probe), ..*cache };
        let caches: Vec<Cache> = declared.caches.iter().zip(&self.caches).map(with_rate).collect();
        let rates = |rate: &dyn Fn(&OfThreads<'_>) -> Option<f64>| {
            self.memory.iter().filter_map(|of| Some((of.threads, rate(of)?))).collect()
        };
        Machine {
            cores: declared.cores,
            ghz,
            caches,
            memory: Memory {
                bytes_per_ns: rates(&|of| of.sizes.last().map(|(_, sum, _)| sum.rate())),
                streamed_bytes_per_ns: rates(&|of| Some(of.stream.rate())),
                mixed_bytes_per_ns: rates(&|of| Some(of.triad.rate())),
                latency_ns: declared.memory.latency_ns,
            },
            vector: Vector {
                loads: per_cycle(&self.loads) / register,
                stores: per_cycle(&self.fill) / register,
                issue: per_cycle(&self.mixed),
                fmas: per_cycle(&self.fmas),
                ..declared.vector
            },
        }
    }

    fn bandwidths(&self) -> Vec<Bandwidth> {
        let of = |OfThreads { threads, sizes, .. }: &OfThreads<'_>| {
            let threads = *threads;
            let row = move |(bytes, sum, copy): &(u64, Probe<'_>, Probe<'_>)| Bandwidth {
                threads,
                bytes: *bytes,
                sum: sum.rate(),
                copy: copy.rate(),
            };
            sizes.iter().map(row).collect::<Vec<_>>()
        };
        self.memory.iter().flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures on a machine that others use are anything, but they are numbers, and a machine file takes them.
    #[test]
    fn a_small_measurement_is_a_machine() {
        let target = Target { threads: 2, ..Target::host() };
        let declared = Machine { cores: 2, ..Machine::host() };
        let mut rounds = 0;
        let measured = measure(&declared, &target, 1 << 20, || rounds += 1).unwrap();
        assert!((LEAST_ROUNDS..=ROUNDS).contains(&rounds));
        let Machine { caches, memory, .. } = &measured.machine;
        assert_eq!(caches.len(), declared.caches.len());
        for rates in [&memory.bytes_per_ns, &memory.streamed_bytes_per_ns, &memory.mixed_bytes_per_ns] {
            assert_eq!(rates.iter().map(|(threads, _)| *threads).collect::<Vec<_>>(), [1, 2]);
            assert!(rates.iter().all(|(_, rate)| *rate > 0.0));
        }
        assert_eq!(measured.bandwidths.len(), 2 * SIZES.len());
        assert!(measured.bandwidths.iter().all(|b| b.sum > 0.0 && b.copy > 0.0));
        let text = halide::machine_file::write(&measured.machine).unwrap();
        assert_eq!(halide::machine_file::read(text.as_bytes()), Ok(measured.machine));
    }
}
