//! The sizes of what probes work on.

use super::kernels::{CHAIN_OPERATIONS, FMAS, Kernels, MIXED_INSTRUCTIONS, Widths};
use super::probe::{Probe, Rows};
use halide::machine::Cache;
use halide::prelude::*;

/// Bytes of an element.
const ELEMENT: u64 = 4;
/// Bytes that a thread moves in a run, at least, where they are near and where they are far: a millisecond or two,
/// a hundred times what starting a run takes.
const MOVED: [u64; 2] = [192 << 20, 48 << 20];
/// Bytes from which on they are far.
const FAR: u64 = 1 << 20;
/// Bytes from which on a row is copied once. Smaller ones are set to zero before, which repeats make little of.
const ONCE: u64 = 16 << 20;
/// Iterations of loops in registers: the same time.
const ITERATIONS: u32 = 50_000;

/// Rows of memory, one for each thread.
pub(super) struct Layout {
    /// The number of rows.
    pub(super) threads: u32,
    /// Bytes of a row, a multiple of blocks.
    row: u64,
    widths: Widths,
}

impl Layout {
    /// The layout of two times at most `bytes` of memory.
    pub(super) fn new(target: &Target, bytes: u64) -> Layout {
        let (threads, widths) = (target.threads.max(1), Widths::of(target));
        let unit = widths.block as u64 * ELEMENT;
        Layout { threads, row: (bytes / u64::from(threads) / unit).max(1) * unit, widths }
    }

    /// Memory that was written, so that it is there.
    pub(super) fn rows(&self, kernels: &Kernels) -> Result<Rows, halide::Error> {
        let extents = [(self.row / ELEMENT) as i64, i64::from(self.threads)];
        let filled = || kernels.stream.inputs().param_named("value", 1).realize::<i32>(extents);
        Ok(Rows { data: filled()?, out: filled()? })
    }

    /// Elements of a row, and rows, for each of `threads` threads to work on at most `bytes`. One thread may work on
    /// all rows.
    fn extents(&self, bytes: u64, threads: u32) -> [i64; 2] {
        let unit = self.widths.block as u64 * ELEMENT;
        let row = (bytes / unit * unit).clamp(unit, self.row);
        let rows = if threads == 1 { (bytes / row).clamp(1, u64::from(self.threads)) } else { u64::from(threads) };
        [(row / ELEMENT) as i64, rows as i64]
    }

    /// Returns the bytes that each of `threads` threads works on where it should be `bytes`.
    pub(super) fn fitted(&self, bytes: u64, threads: u32) -> u64 {
        let [elements, rows] = self.extents(bytes, threads);
        (elements * rows) as u64 * ELEMENT / u64::from(threads)
    }

    pub(super) fn sum<'k>(&self, kernels: &'k Kernels, bytes: u64, threads: u32) -> Probe<'k> {
        let [elements, rows] = self.extents(bytes, threads);
        let (blocks, repeats) = (elements / self.widths.block, repeats(bytes));
        let params = vec![("blocks", (blocks as i32).into()), ("repeats", repeats.into())];
        let work = (elements * rows) as f64 * ELEMENT as f64 * f64::from(repeats);
        Probe::new(&kernels.sum, [self.widths.block, rows], params, threads, work)
    }

    /// A copy whose source and destination have `bytes` together.
    pub(super) fn copy<'k>(&self, kernels: &'k Kernels, bytes: u64, threads: u32) -> Probe<'k> {
        let [elements, rows] = self.extents(bytes / 2, threads);
        let moved = 2.0 * (elements * rows) as f64 * ELEMENT as f64;
        if bytes >= ONCE {
            return Probe::new(&kernels.copy_once, [elements, rows], Vec::new(), threads, moved);
        }
        let repeats = repeats(bytes);
        let params = vec![("repeats", repeats.into())];
        Probe::new(&kernels.copy, [elements, rows], params, threads, moved * f64::from(repeats))
    }

    /// Stores past the caches, of all memory.
    pub(super) fn stream<'k>(&self, kernels: &'k Kernels, threads: u32) -> Probe<'k> {
        let extents = [(self.row / ELEMENT) as i64, i64::from(self.threads)];
        let work = (self.row * u64::from(self.threads)) as f64;
        Probe::new(&kernels.stream, extents, vec![("value", 2.into())], threads, work)
    }

    /// Sums of the halves of each row, past the caches, of all memory.
    pub(super) fn triad<'k>(&self, kernels: &'k Kernels, threads: u32) -> Probe<'k> {
        let half = self.row / ELEMENT / 2;
        let work = (3 * half * ELEMENT * u64::from(self.threads)) as f64;
        let extents = [half as i64, i64::from(self.threads)];
        Probe::new(&kernels.triad, extents, vec![("half", (half as i32).into())], threads, work)
    }

    /// Stores in a cache; work is in bytes.
    pub(super) fn fill<'k>(&self, kernels: &'k Kernels, bytes: u64) -> Probe<'k> {
        let ([elements, rows], repeats) = (self.extents(bytes, 1), repeats(bytes));
        let work = (elements * rows) as f64 * ELEMENT as f64 * f64::from(repeats);
        Probe::new(&kernels.fill, [elements, rows], vec![("repeats", repeats.into())], 1, work)
    }

    /// Operations that wait for each other; work is in cycles.
    pub(super) fn chain<'k>(&self, kernels: &'k Kernels) -> Probe<'k> {
        let params = vec![("repeats", (ITERATIONS as i32).into())];
        Probe::new(&kernels.chain, [1, 1], params, 1, CHAIN_OPERATIONS * f64::from(ITERATIONS))
    }

    /// Fused products and sums; work is in instructions.
    pub(super) fn fmas<'k>(&self, kernels: &'k Kernels) -> Probe<'k> {
        let repeats = ("repeats", (ITERATIONS as i32).into());
        let params = vec![repeats, ("factor", 0.5f32.into()), ("term", 1.0f32.into())];
        let work = FMAS * f64::from(ITERATIONS);
        Probe::new(&kernels.fmas, [self.widths.fmas, 1], params, 1, work)
    }

    /// A load and two operations for each vector of some bytes; work is in instructions.
    pub(super) fn mixed<'k>(&self, kernels: &'k Kernels, bytes: u64, vector: u64) -> Probe<'k> {
        let sum = self.sum(kernels, bytes, 1);
        let work = sum.work / vector.max(1) as f64 * MIXED_INSTRUCTIONS;
        Probe { kernel: &kernels.mixed, work, ..sum }
    }
}

/// The number of passes over so many bytes.
fn repeats(bytes: u64) -> i32 {
    (MOVED[usize::from(bytes >= FAR)] / bytes.max(1)).clamp(1, 1 << 20) as i32
}

/// Returns for each cache the bytes that measure it: half of it, but no more than four times the one before it, since
/// others and a liar's cores share what is far from a core; and in any case more than fit the one before it.
pub(super) fn cache_sizes(caches: &[Cache]) -> Vec<u64> {
    let mut nearer = None;
    let size = |cache: &Cache| {
        let half = cache.bytes / 2;
        let bytes = nearer.map_or(half, |nearer: u64| half.min(4 * nearer).max(2 * nearer));
        nearer = Some(cache.bytes);
        bytes
    };
    caches.iter().map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(threads: u32, bytes: u64) -> Layout {
        Layout::new(&Target { threads, vector_bits: 256, ..Target::host() }, bytes)
    }

    #[test]
    fn rows_have_whole_blocks() {
        for (threads, bytes) in [(1, 0), (1, 256 << 20), (2, 256 << 20), (3, 1000), (7, 100 << 20), (300, 256 << 20)] {
            let layout = layout(threads, bytes);
            for (size, count) in [(0, 1), (16 << 10, 1), (16 << 10, threads), (256 << 20, 1), (256 << 20, threads)] {
                let [elements, rows] = layout.extents(size, count);
                assert!(elements > 0 && elements % layout.widths.block == 0, "{elements}");
                assert!(elements as u64 * ELEMENT <= layout.row && (1..=i64::from(threads)).contains(&rows));
            }
        }
        let two = layout(2, 256 << 20);
        assert_eq!((two.fitted(16 << 10, 2), two.fitted(256 << 20, 1)), (16 << 10, 256 << 20));
        assert_eq!(two.fitted(256 << 20, 2), 128 << 20, "all memory, by two threads");
    }

    #[test]
    fn caches_are_measured_within_their_sizes() {
        let cache =
            |bytes| Cache { bytes, line: 64, ways: 8, unified: true, shared_by: 1, bytes_per_cycle: 1.0, latency: 1.0 };
        let sizes = |all: &[u64]| cache_sizes(&all.iter().map(|kib| cache(kib << 10)).collect::<Vec<_>>());
        assert_eq!(sizes(&[32, 1024, 32 << 10]), [16 << 10, 128 << 10, 4 << 20]);
        assert_eq!(sizes(&[48, 64, 260 << 10]), [24 << 10, 96 << 10, 256 << 10]);
        assert_eq!(sizes(&[]), [0; 0]);
    }
}
