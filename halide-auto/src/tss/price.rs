//! The predicted cycles per point of a tiled nest.
//!
//! An execution-cache-memory model: a core computes, or it accesses the first cache and waits for lines from behind it,
//! whatever takes longer. Constants were fitted to products of matrices (`crate::tuning`). Only sums, products and
//! quotients of floats are used, so a price is the same on all machines.

use super::nest::{Array, LoopKind};
use super::num_vec::gcd;
use super::reuse::Subscripts;
use super::row::{Straddled, over, row_price, straddled_shares};
use super::setting::Setting;
use crate::tuning::{HIDDEN_FAR, HIDDEN_NEAR};
use halide_ir::machine::Cache;
use std::collections::BTreeMap;

/// Prices of one question. It remembers what depends on the size of the vector loop alone.
pub(super) struct Price<'q> {
    setting: &'q Setting<'q>,
    straddled: BTreeMap<u64, Vec<Straddled>>,
}

impl<'q> Price<'q> {
    pub(super) fn new(setting: &'q Setting<'q>) -> Price<'q> {
        Price { setting, straddled: BTreeMap::new() }
    }

    /// Returns the cycles per point of tiles, whose sizes are at least 1 and at most the loops' trips. Threads that
    /// have no task while others work count as working.
    pub(super) fn cycles(&mut self, sizes: &[u64]) -> f64 {
        let setting = self.setting;
        let innermost = sizes.last().copied().unwrap_or(1);
        let straddled = self.straddled.entry(innermost).or_insert_with(|| straddled_shares(setting, innermost));
        let row = row_price(setting, sizes, straddled);
        let misses = miss_cycles(setting, sizes);
        row.compute.max(row.access + misses) * imbalance(setting, sizes)
    }
}

/// Returns the share by which threads that wait lengthen a run.
fn imbalance(setting: &Setting, sizes: &[u64]) -> f64 {
    let (tasks, threads) = (setting.tasks(sizes), u64::from(setting.threads));
    let busy = threads.min(tasks);
    (tasks.div_ceil(busy) as f64) * (busy as f64) / (tasks as f64)
}

/// Returns the bytes per point that go between each cache and the one behind it.
pub(super) fn traffic(setting: &Setting, sizes: &[u64]) -> Vec<f64> {
    let points = setting.nest.loops.iter().fold(1.0, |all, l| all * l.trips as f64);
    let parts = parts(setting, sizes);
    let usable = setting.machine.caches.iter().map(|cache| cache.usable(setting.threads) as f64);
    usable.enumerate().map(|(level, usable)| missed_bytes(setting, usable, level == 0, &parts) / points).collect()
}

/// Returns the cycles per point that lines take from one cache to the one before it, as far as nothing hides them.
fn miss_cycles(setting: &Setting, sizes: &[u64]) -> f64 {
    let machine = setting.machine;
    let of_memory = over(machine.memory.bandwidth(setting.threads), machine.ghz) / f64::from(setting.threads);
    let mut cycles = 0.0;
    for (level, bytes) in traffic(setting, sizes).into_iter().enumerate() {
        let rate = machine.caches.get(level + 1).map_or(of_memory, |next| next.bytes_per_cycle);
        let hidden = if level == 0 && machine.caches.len() > 1 { HIDDEN_NEAR } else { HIDDEN_FAR };
        cycles += (1.0 - hidden) * over(bytes, rate);
    }
    cycles
}

/// A part of the tiled nest: some of its inner loops.
struct Part {
    /// The iterations of the loop that is the next one around it, on average.
    trips: f64,
    /// The bytes that are touched from one iteration of that loop to the same place in the next one.
    distance: f64,
    /// The lines of each array that it touches.
    lines: Vec<f64>,
    /// For each array, true if too many of its rows meet in the same sets of the first cache.
    conflicts: Vec<bool>,
}

/// Returns the parts of the tiled nest from a single iteration to all of it: inside of each loop in a tile, then inside
/// of each loop over tiles, innermost first; those whose tiles are tasks are outside of the others.
fn parts(setting: &Setting, sizes: &[u64]) -> Vec<Part> {
    let (trips, mut inside) = (setting.nest.trips(), setting.written_out(sizes));
    let (mut all, mut outermost) = (Vec::with_capacity(2 * sizes.len() + 1), None);
    let is_shared = |index: &usize| setting.nest.loops[*index].kind == LoopKind::Parallel;
    let inwards = || (0..sizes.len()).rev();
    let in_tile = setting.inwards();
    let over_tiles = inwards().filter(|index| !is_shared(index)).chain(inwards().filter(is_shared));
    for (index, most) in
        in_tile.into_iter().map(|index| (index, sizes[index])).chain(over_tiles.map(|index| (index, trips[index])))
    {
        if most > inside[index] {
            all.push(part(setting, &inside, outermost, Some((index, most))));
            inside[index] = most;
            outermost = Some(index);
        }
    }
    all.push(part(setting, &inside, outermost, None));
    all
}

/// Returns a part of the tiled nest by the iterations of loops inside of it, the outermost of these loops, and the loop
/// around it with the iterations that it goes up to.
fn part(setting: &Setting, inside: &[u64], outermost: Option<usize>, around: Option<(usize, u64)>) -> Part {
    let line = setting.line;
    let arrays = || setting.nest.arrays.iter().zip(&setting.subscripts);
    let own: Vec<f64> = arrays().map(|(array, subscripts)| lines(array, subscripts, inside, line)).collect();
    let mut twice = inside.to_vec();
    if let Some((index, most)) = around {
        twice[index] = inside[index].saturating_mul(2).min(most);
    }
    let touched = |((array, subscripts), own): ((&Array, &Subscripts), &f64)| {
        // An array that goes along with the outermost loop has as much left of one iteration as it has had of the
        // next. Another one is touched all over in both.
        let goes_along = outermost.is_none_or(|index| subscripts.uses(index));
        if goes_along { *own } else { lines(array, subscripts, &twice, line) }
    };
    let distance = arrays().zip(&own).map(touched).sum::<f64>() * line as f64;
    let first = &setting.machine.caches[0];
    let conflicts = arrays().map(|(array, subscripts)| conflicts(array, subscripts, inside, first)).collect();
    let trips = around.map_or(1.0, |(index, most)| most as f64 / inside[index] as f64);
    Part { trips, distance, lines: own, conflicts }
}

/// Returns the bytes that go between a cache of which `usable` bytes hold data and the one behind it, in all.
///
/// From the innermost loop outwards: where all that is touched up to the next iteration stays in the cache, the loop as
/// a whole misses each line once; where it does not, every iteration misses what the loops inside miss.
fn missed_bytes(setting: &Setting, usable: f64, is_first: bool, parts: &[Part]) -> f64 {
    let mut bytes = 0.0;
    for (index, array) in setting.nest.arrays.iter().enumerate() {
        let mut missed = parts[0].lines[index];
        for pair in parts.windows(2) {
            let (inside, whole) = (&pair[0], &pair[1]);
            let stays = inside.distance <= usable && !(is_first && inside.conflicts[index]);
            let all = missed * inside.trips;
            missed = if stays { whole.lines[index].min(all) } else { all };
        }
        // A line that is written comes and goes.
        let ways = if array.is_written() { 2.0 } else { 1.0 };
        bytes += ways * missed * setting.line as f64;
    }
    bytes
}

/// Returns the different lines of an array that a part of the nest touches, on average over where rows begin.
fn lines(array: &Array, subscripts: &Subscripts, sizes: &[u64], line: u64) -> f64 {
    let in_line = (line / subscripts.bytes.max(1)).max(1);
    let (row, span) = subscripts.row(sizes);
    let rows = subscripts.rows(sizes);
    // Rows and tiles begin at multiples of this, and no place of a line more often than another.
    let places = [array.ld.unsigned_abs(), array.base.unsigned_abs(), subscripts.grain(sizes)];
    let grain = places.into_iter().fold(in_line, gcd);
    let of = |elements: f64| (elements + (in_line - grain) as f64) / in_line as f64;
    let lines = if span >= array.ld.unsigned_abs() && rows > 1 {
        // Whole rows are one piece of memory.
        of(rows as f64 * span as f64)
    } else {
        rows as f64 * of(span.div_ceil(grain) as f64 * grain as f64).min(row as f64)
    };
    lines.min(subscripts.footprint(sizes) as f64)
}

/// Returns true if rows of an array are so far apart that too many of them meet in the same sets of a cache.
fn conflicts(array: &Array, subscripts: &Subscripts, sizes: &[u64], cache: &Cache) -> bool {
    let rows = subscripts.rows(sizes);
    let ways = u64::from(cache.ways.max(1));
    if rows <= ways || array.ld == 0 {
        return false;
    }
    let period = (cache.bytes / ways).max(1);
    let apart = gcd(array.ld.unsigned_abs().saturating_mul(subscripts.bytes), period);
    // Rows that are no multiple of a line apart spread over all sets.
    let spreads = apart < u64::from(cache.line);
    let bytes = subscripts.row(sizes).1.saturating_mul(subscripts.bytes);
    !spreads && rows.div_ceil(period / apart).saturating_mul(bytes.div_ceil(apart)) > ways
}
