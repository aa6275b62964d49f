//! Rows that share the sets of a cache.
//!
//! Rows of an input that lie a multiple of a cache's period apart, its size by its ways, are kept by the same few sets,
//! and evict each other long before the cache is full. Rows of Funcs are laid out off whole pages, and are taken not
//! to. The last of several caches spreads lines over its sets by all bits of an address.

use super::Pricer;
use crate::boxes::Boxes;
use crate::dag::{Box, Source, extent, volume};
use crate::tuning::MOST_ROWS;
use halide_ir::machine::Cache;

impl Pricer<'_> {
    /// The bytes that regions of inputs occupy of a cache beyond their size, where rows share sets.
    pub(super) fn evicted(&mut self, boxes: &Boxes, level: usize) -> f64 {
        let caches = &self.machine.caches;
        if level > 0 && level + 1 == caches.len() {
            return 0.0;
        }
        let Some(cache) = caches.get(level) else { return 0.0 };
        let mut all = 0.0;
        let shares = |source: &Source| matches!(source, Source::Image(image) if self.apart != Some(*image));
        for (source, region) in boxes.iter().filter(|(source, _)| shares(source)) {
            let extents: Box = region.iter().map(|span| (0, extent(*span) - 1)).collect();
            let key = (*source, level, extents);
            all += match self.conflicts.get(&key) {
                Some(known) => *known,
                None => {
                    let bytes = self.dag.bytes(*source);
                    let more = occupied(self.dag.whole(*source), region, bytes, cache) - volume(region) * bytes;
                    self.conflicts.insert(key, more.max(0.0));
                    more.max(0.0)
                }
            };
        }
        all
    }
}

/// The size of a cache like this one, but for its ways, in which no set has more lines of a region than ways. `whole`
/// is the buffer, of elements of so many bytes, whose rows follow each other.
fn occupied(whole: &[(i64, i64)], region: &[(i64, i64)], element: f64, cache: &Cache) -> f64 {
    let period = cache.bytes / u64::from(cache.ways.max(1));
    let line = u64::from(cache.line.max(1));
    let sets = (period / line).max(1);
    let extents: Vec<u64> = region.iter().map(|span| extent(*span).max(1).unsigned_abs()).collect();
    let Some((&width, outer)) = extents.split_first() else { return 0.0 };
    let mut strides = vec![element as u64];
    for span in whole {
        let last = strides.last().copied().unwrap_or(1);
        strides.push(last.saturating_mul(extent(*span).max(1).unsigned_abs()));
    }
    let lines = (width as f64 * element / line as f64).ceil() as u64;
    let rows: f64 = outer.iter().map(|extent| *extent as f64).product();
    let looked_at = rows.min(MOST_ROWS as f64) as u64;
    let start = |row: u64| {
        let (mut left, mut at) = (row, 0u64);
        for (extent, stride) in outer.iter().zip(strides.iter().skip(1)) {
            at = at.wrapping_add((left % extent).wrapping_mul(*stride));
            left /= extent;
        }
        at / line % sets
    };
    // A row has so many lines in each set, and one more in those of a run.
    let most = (lines / sets) as f64 * looked_at as f64 + deepest((0..looked_at).map(start), lines % sets, sets) as f64;
    most * rows / looked_at.max(1) as f64 * period as f64
}

/// The most runs of `length` sets that have a set in common. Behind the last set comes the first one.
fn deepest(starts: impl Iterator<Item = u64>, length: u64, sets: u64) -> i64 {
    let mut steps: Vec<(u64, i64)> = Vec::new();
    for start in starts.filter(|_| length > 0) {
        let end = start.saturating_add(length);
        steps.extend([(start, 1), (end.min(sets), -1)]);
        if end > sets {
            steps.extend([(0, 1), (end - sets, -1)]);
        }
    }
    // Where a run ends, the next one may begin.
    steps.sort_unstable();
    let depths = steps.into_iter().scan(0, |depth, (_, step)| {
        *depth += step;
        Some(*depth)
    });
    depths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Cache =
        Cache { bytes: 32 << 10, line: 64, ways: 8, unified: false, shared_by: 1, bytes_per_cycle: 64.0, latency: 4.0 };

    fn of(whole: [i64; 3], region: [i64; 3]) -> f64 {
        let spans = |extents: [i64; 3]| extents.map(|extent| (0, extent - 1));
        occupied(&spans(whole), &spans(region), 4.0, &NEAR) / 4096.0
    }

    #[test]
    fn rows_whole_pages_apart_take_a_way_each() {
        assert_eq!(of([1024, 1024, 1], [16, 12, 1]), 12.0);
        assert_eq!(of([1024, 1024, 1], [24, 12, 1]), 12.0, "two lines of a row are in two sets");
        assert_eq!(of([1536, 100, 1], [16, 12, 1]), 6.0, "every other row is a whole number of pages away");
        assert_eq!(of([1040, 1024, 1], [16, 12, 1]), 1.0, "no row is");
        assert_eq!(of([1040, 1024, 3], [16, 12, 3]), 3.0, "planes are");
    }

    #[test]
    fn long_rows_fill_all_sets() {
        assert_eq!(of([1024, 8, 1], [1024, 3, 1]), 3.0);
        assert_eq!(of([2048, 8, 1], [2048, 3, 1]), 6.0);
        assert_eq!(of([1024, 4096, 1], [16, 4096, 1]), 4096.0, "more rows than are looked at");
    }

    #[test]
    fn caches_of_any_kind_have_an_answer() {
        for (bytes, ways, line) in [(u64::MAX, 1, 1), (1 << 45, 1, 64), (u64::MAX, u32::MAX, u32::MAX), (0, 0, 0)] {
            let cache = Cache { bytes, ways, line, ..NEAR };
            let region = [(0, i64::MAX), (0, i64::MAX), (i64::MIN, i64::MAX)];
            let held = occupied(&region, &region, 8.0, &cache);
            assert!(held >= 0.0 && !held.is_nan(), "{cache:?}: {held}");
        }
    }
}
