//! The ranges of figures that machines have, with space for machines to come. What is outside is a mistake: of a unit,
//! or of a point.

/// Cores and threads.
pub(super) const THREADS: (u64, u64) = (1, 65_536);
/// The clock, in cycles per nanosecond.
pub(super) const GHZ: (f64, f64) = (0.001, 100.0);
/// Levels of caches. A machine without any has nothing to choose tiles for.
pub(super) const CACHES: (usize, usize) = (1, 8);
/// Bytes of a cache.
pub(super) const BYTES: (u64, u64) = (64, 1 << 40);
/// Bytes of a line.
pub(super) const LINE: (u64, u64) = (8, 4096);
/// Bytes, or instructions, per cycle.
pub(super) const PER_CYCLE: (f64, f64) = (0.001, 100_000.0);
/// Bytes per nanosecond.
pub(super) const PER_NS: (f64, f64) = (0.001, 1_000_000.0);
/// Numbers of threads with a rate.
pub(super) const RATES: (usize, usize) = (1, 64);
/// Cycles or nanoseconds from a load to its value.
pub(super) const LATENCY: (f64, f64) = (0.01, 1_000_000.0);
/// Bits of a vector register.
pub(super) const BITS: (u64, u64) = (32, 65_536);
/// Vector registers.
pub(super) const REGISTERS: (u64, u64) = (1, 1024);
