//! Typical machines: figures for what nobody tells, by instruction set and width of vectors.
//!
//! Each row is one or two processors of its kind. Where these differ, the slower figure stands: a schedule that suits
//! it loses little on the faster one.
//!
//! Sizes and ways of the first two caches were held against public tables, as were latencies of those of Neoverse N1
//! (WikiChip), Skylake (AnandTech), Ivy and Sandy Bridge (7-cpu.com, The Tech Report). All else (third caches, clocks,
//! bandwidths, latencies of memory, instructions per cycle) are estimates from what is commonly known of these cores,
//! without a document at hand. A virtual machine on Zen 4 measured loads, stores and products per cycle within a tenth
//! of its row, 32 and 23 bytes per cycle of the second and third cache, 3.7 GHz, and 2.5 times the memory bandwidth of
//! one thread.

use super::{Cache, Machine, Memory, Vector};
use crate::target::{Arch, Target};

/// The figures of a kind of machine.
struct Kind {
    ghz: f64,
    caches: &'static [Cache],
    /// Bytes per nanosecond of numbers of threads: read and written, and stored past the caches.
    memory: &'static [(u32, f64, f64)],
    latency_ns: f64,
    vector: Vector,
}

/// The cache of data next to a core.
const fn near(kib: u64, ways: u32, bytes_per_cycle: f64, latency: f64) -> Cache {
    Cache { bytes: kib << 10, line: 64, ways, unified: false, shared_by: 1, bytes_per_cycle, latency }
}

/// A cache behind it, of code and data.
const fn far(kib: u64, ways: u32, shared_by: u32, bytes_per_cycle: f64, latency: f64) -> Cache {
    Cache { bytes: kib << 10, line: 64, ways, unified: true, shared_by, bytes_per_cycle, latency }
}

/// x86-64 with AVX-512: AMD Zen 4 and Intel Golden Cove, as servers have them.
const X86_512: Kind = Kind {
    // Zen 4 and Golden Cove on servers, all cores at work: 2.6 to 3.7.
    ghz: 3.0,
    caches: &[
        // Zen 4 (Golden Cove: 48 KiB in 12 ways, 2 loads of 64 bytes); loads of vectors take 7 cycles, others 4 or 5.
        near(32, 8, 64.0, 5.0),
        // Zen 4 (Golden Cove: 2 MiB in 16 ways, 64 bytes, 15 cycles).
        far(1 << 10, 8, 1, 32.0, 14.0),
        // Zen 4: 32 MiB for 8 cores (Golden Cove: 1.9 MiB a core, 70 cycles); half of 32 bytes is what loops reach.
        far(32 << 10, 16, 8, 16.0, 50.0),
    ],
    // DDR5-4800, 38 bytes/ns a channel, of which a core of a server has a few lines under way: 12.
    memory: &[(1, 12.0, 10.0), (2, 22.0, 18.0), (4, 40.0, 32.0), (8, 64.0, 48.0)],
    latency_ns: 110.0,
    // Zen 4 runs 512 bits in two halves: a load, a product and sum each cycle, a store each second one, and starts 6
    // instructions. Golden Cove does twice as much of all but the last.
    vector: Vector { bits: 512, registers: 32, loads: 1.0, stores: 0.5, issue: 6.0, fmas: 1.0 },
};

/// x86-64 with AVX2: Intel Skylake and AMD Zen 2 and 3, as desktops have them.
const X86_256: Kind = Kind {
    ghz: 3.5,
    caches: &[
        // All three: two loads of 32 bytes.
        near(32, 8, 64.0, 5.0),
        // Zen 2 and 3 (Skylake: 256 KiB in 4 ways, 12 cycles).
        far(512, 8, 1, 32.0, 13.0),
        // Skylake: 2 MiB a core (Zen 3: 32 MiB for 8 cores, 46 cycles).
        far(16 << 10, 16, 8, 16.0, 42.0),
    ],
    // DDR4-3200 in two channels, 51 bytes/ns at most.
    memory: &[(1, 15.0, 12.0), (2, 25.0, 20.0), (4, 35.0, 28.0)],
    latency_ns: 80.0,
    // Skylake, which starts 4 instructions (Zen 3: 6).
    vector: Vector { bits: 256, registers: 16, loads: 2.0, stores: 1.0, issue: 4.0, fmas: 2.0 },
};

/// x86-64 without AVX: Intel Nehalem to Sandy Bridge, or any other whose code has to run there.
const X86_128: Kind = Kind {
    ghz: 3.0,
    caches: &[
        // Sandy Bridge: two loads of 16 bytes.
        near(32, 8, 32.0, 4.0),
        far(256, 8, 1, 16.0, 12.0),
        // 2 MiB a core.
        far(8 << 10, 16, 4, 12.0, 35.0),
    ],
    // DDR3-1600 in two channels, 26 bytes/ns at most.
    memory: &[(1, 10.0, 8.0), (2, 16.0, 13.0), (4, 20.0, 16.0)],
    latency_ns: 80.0,
    // A product and a sum start in one cycle, as two instructions.
    vector: Vector { bits: 128, registers: 16, loads: 2.0, stores: 1.0, issue: 4.0, fmas: 1.0 },
};

/// 64-bit Arm: Neoverse N1, the slowest of the servers that are rented out, not of telephones.
const AARCH64: Kind = Kind {
    ghz: 2.5,
    caches: &[
        // 64 KiB in 4 ways, 4 cycles; two loads of 16 bytes.
        near(64, 4, 32.0, 4.0),
        far(1 << 10, 8, 1, 16.0, 11.0),
        // Graviton 2: 32 MiB for 64 cores, of which a few run one program.
        far(32 << 10, 16, 64, 8.0, 75.0),
    ],
    // DDR4-3200 in eight channels, of which a core reaches a part of one.
    memory: &[(1, 12.0, 10.0), (2, 22.0, 18.0), (4, 40.0, 32.0), (8, 70.0, 55.0)],
    latency_ns: 100.0,
    // Two pipes for vectors, two for loads or stores; decodes four instructions.
    vector: Vector { bits: 128, registers: 32, loads: 2.0, stores: 1.0, issue: 4.0, fmas: 2.0 },
};

/// Any other: a small core with little of everything, so that what is chosen for it suits larger ones. No document is
/// behind it.
const OTHER: Kind = Kind {
    ghz: 2.0,
    caches: &[near(32, 8, 16.0, 4.0), far(512, 8, 1, 8.0, 15.0)],
    memory: &[(1, 5.0, 4.0), (2, 8.0, 6.0)],
    latency_ns: 120.0,
    vector: Vector { bits: 128, registers: 16, loads: 1.0, stores: 1.0, issue: 2.0, fmas: 1.0 },
};

impl Kind {
    fn of(target: &Target) -> &'static Kind {
        match (target.arch, target.vector_bits) {
            (Arch::X86_64, 512..) => &X86_512,
            (Arch::X86_64, 256..) => &X86_256,
            (Arch::X86_64, _) => &X86_128,
            (Arch::Aarch64, _) => &AARCH64,
            (Arch::Other, _) => &OTHER,
        }
    }
}

impl Machine {
    /// Returns a machine that is typical of those that run code for `target`, with as many cores as it has threads.
    ///
    /// ```
    /// use halide_ir::machine::Machine;
    /// use halide_ir::target::{Arch, Target};
    /// let target = Target { arch: Arch::X86_64, vector_bits: 256, threads: 4, ..Target::host() };
    /// let machine = Machine::typical(&target);
    /// assert_eq!((machine.cores, machine.vector.registers), (4, 16));
    /// assert_eq!(machine.caches[0].bytes, 32 << 10);
    /// ```
    pub fn typical(target: &Target) -> Machine {
        let kind = Kind::of(target);
        let cores = target.threads.max(1);
        let rows = kind.memory.iter().filter(|(threads, ..)| *threads <= cores);
        Machine {
            cores,
            ghz: kind.ghz,
            caches: kind.caches.to_vec(),
            memory: Memory {
                bytes_per_ns: rows.clone().map(|(threads, rate, _)| (*threads, *rate)).collect(),
                mixed_bytes_per_ns: rows.clone().map(|(threads, rate, _)| (*threads, *rate)).collect(),
                streamed_bytes_per_ns: rows.map(|(threads, _, rate)| (*threads, *rate)).collect(),
                latency_ns: kind.latency_ns,
            },
            vector: kind.vector,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Farther is larger and slower, and more threads are faster.
    #[test]
    fn figures_are_in_order() {
        let arches = [Arch::X86_64, Arch::Aarch64, Arch::Other];
        for (arch, vector_bits) in arches.into_iter().flat_map(|arch| [128, 256, 512].map(|bits| (arch, bits))) {
            let machine = Machine::typical(&Target { arch, vector_bits, threads: 64, ..Target::host() });
            for pair in machine.caches.windows(2) {
                assert!(pair[0].bytes < pair[1].bytes && pair[0].latency < pair[1].latency, "{pair:?}");
                assert!(pair[0].bytes_per_cycle > pair[1].bytes_per_cycle, "{pair:?}");
            }
            for cache in &machine.caches {
                assert_eq!(cache.bytes % (u64::from(cache.line) * u64::from(cache.ways)), 0, "whole sets: {cache:?}");
            }
            let memory = &machine.memory;
            for rates in [&memory.bytes_per_ns, &memory.streamed_bytes_per_ns] {
                assert!(rates[0].0 == 1 && rates.windows(2).all(|r| r[0].0 < r[1].0 && r[0].1 < r[1].1), "{rates:?}");
            }
            let cycles = machine.memory.latency_ns * machine.ghz;
            assert!(machine.caches.last().is_some_and(|cache| cache.latency < cycles));
        }
    }

    #[test]
    fn the_peak_of_memory_is_the_largest_rate() {
        let typical = Machine::typical(&Target { threads: 2, ..Target::host() }).memory;
        for largest in 0..3 {
            let rate = |which: usize| vec![(1, 1.0), (2, if which == largest { 9.0 } else { 2.0 })];
            let [bytes_per_ns, streamed_bytes_per_ns, mixed_bytes_per_ns] = [0, 1, 2].map(rate);
            let memory = Memory { bytes_per_ns, streamed_bytes_per_ns, mixed_bytes_per_ns, ..typical };
            assert_eq!([1, 2, 5].map(|threads| memory.peak_bandwidth(threads)), [1.0, 9.0, 9.0]);
        }
    }

    #[test]
    fn rates_are_of_threads_that_there_are() {
        let machine = |threads| Machine::typical(&Target { threads, ..Target::host() });
        assert_eq!(machine(0).cores, 1);
        assert_eq!(machine(1).memory.bytes_per_ns.len(), 1);
        assert!(machine(3).memory.bytes_per_ns.iter().all(|(threads, _)| *threads <= 3));
    }
}
