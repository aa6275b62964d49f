//! Cycles that operands take on their way through the caches, for an order of the loops around register tiles.
//!
//! Of each cache, the largest inner part of the nest counts whose operands fit it together: each of them comes from
//! behind once for that part, and once for each iteration of the loops around it, but for those directly around it that
//! the operand does not move along.

use super::contraction::{Contraction, LoopOf, Operand};
use super::tile::Tile;
use crate::dag::pieces;
use crate::tuning::{
    COPIED_CYCLES, HIDDEN_FAR, LINE, MOST_FOLLOWED, MOST_ROWS, MOST_SETS, PAGE, PAGED_BYTES, SHORT_RUN, TURNED_CYCLES,
};
use halide_ir::machine::Machine;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// An order of the loops around tiles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    /// Loops of the result, the innermost one first, and that of blocks of a reduction.
    pub(super) loops: Vec<usize>,
    /// The reduction that is done in blocks, with the length of one.
    pub(super) block: Option<(usize, i64)>,
    /// The operands that are copied so that what a tile reads lies together, by their numbers.
    pub(super) copies: Vec<Copied>,
    /// Cycles of the whole contraction.
    pub(super) total: f64,
}

/// An operand that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copied {
    /// The number of the operand.
    pub(super) operand: usize,
    /// The loops around tiles that are inside of the copy: a copy serves all their iterations.
    pub(super) inside: usize,
    /// The dimension whose neighbours are neighbours in the copy.
    pub(super) dense: usize,
    /// True if the copy has blocks of that dimension for each lane of a vector.
    pub(super) is_interleaved: bool,
}

/// A nest of tiles.
pub(super) struct Tiled<'c> {
    pub(super) contraction: &'c Contraction,
    /// The iterations of each loop in a tile.
    pub(super) sizes: &'c [i64],
    /// Cycles of all tiles, with operands that are near, and of entering and leaving one.
    cycles: (f64, f64),
    block: Option<(usize, i64)>,
    pub(super) machine: &'c Machine,
    pub(super) threads: u32,
    known: RefCell<BTreeMap<(usize, u64, usize, bool), Held>>,
}

/// The part of a cache that an operand takes.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// The bytes of its lines.
    bytes: f64,
    /// The bytes of a cache that holds as much where all sets are used.
    occupied: f64,
    /// True if it comes in short runs from many pages.
    is_paged: bool,
}

impl<'c> Tiled<'c> {
    /// A nest of tiles, with a reduction in blocks if one is said.
    pub(super) fn new(
        contraction: &'c Contraction,
        tile: &'c Tile,
        block: Option<(usize, i64)>,
        machine: &'c Machine,
        threads: u32,
    ) -> Tiled<'c> {
        let cycles = (tile.total, tile.switch);
        Tiled { contraction, sizes: &tile.sizes, cycles, block, machine, threads, known: RefCell::default() }
    }

    /// The length of the blocks of a reduction.
    fn blocked(&self, of: usize) -> Option<i64> {
        self.block.filter(|(block, _)| *block == of).map(|(_, length)| length)
    }

    /// The number of tiles, or blocks, along a loop.
    pub(super) fn tiles(&self, of: usize) -> i64 {
        pieces(self.contraction.loops[of].trips, self.blocked(of).unwrap_or(self.sizes[of]))
    }

    /// The iterations of each loop in the part of the nest that has these loops around tiles.
    fn spans(&self, inside: &[usize]) -> Vec<i64> {
        let span = |(of, l): (usize, &LoopOf)| match (l.dim, self.blocked(of)) {
            _ if inside.contains(&of) => l.trips,
            (None, None) => l.trips,
            (None, Some(length)) => length,
            (Some(_), _) => self.sizes[of].min(l.trips),
        };
        self.contraction.loops.iter().enumerate().map(span).collect()
    }

    /// The loops around tiles that an operand does not move along, from the innermost one on.
    pub(super) fn still(&self, operand: &Operand, order: &[usize]) -> usize {
        order.iter().take_while(|of| !operand.moves(**of) || self.tiles(**of) == 1).count()
    }

    /// Prices an order. Copies are of operands by their numbers.
    pub(super) fn price(&self, order: &[usize], copies: &[Copied]) -> f64 {
        let operands = 0..self.contraction.operands.len();
        // A copy of all of an operand is in rows as long as the operand's.
        let is_copied = |n: usize| copies.iter().any(|copy| copy.operand == n && copy.inside < order.len());
        let mut far = 0f64;
        let mut most = self.cycles.0 + self.switches() + self.near(copies);
        for (level, cache) in self.machine.caches.iter().enumerate() {
            let room = cache.usable(self.threads) as f64;
            let needs = |inside: &usize| -> f64 {
                operands.clone().map(|n| self.held(n, &order[..*inside], level, is_copied(n)).occupied).sum()
            };
            let fitting = (0..=order.len()).rev().find(|inside| needs(inside) <= room);
            let inside = fitting.unwrap_or(0);
            let outer = &order[inside..];
            let moved = |n: usize| {
                let still = fitting.map_or(0, |_| self.still(&self.contraction.operands[n], outer));
                let times: f64 = outer[still..].iter().map(|of| self.tiles(*of) as f64).product();
                let held = self.held(n, &order[..inside], level, is_copied(n));
                let most = if held.is_paged { PAGED_BYTES } else { f64::INFINITY };
                // The result is loaded, and stored again.
                let ways = if n == 0 { 2.0 } else { 1.0 };
                ways * held.bytes * times / self.behind(level).min(most)
            };
            let cycles: f64 = operands.clone().map(moved).sum();
            most = most.max(cycles);
            far += cycles;
        }
        let copied: f64 = copies.iter().map(|copy| self.copied(copy, order)).sum();
        most + (1.0 - HIDDEN_FAR) * far + copied
    }

    /// The part of a cache that an operand takes in the part of the nest that has some loops around tiles.
    fn held(&self, number: usize, inside: &[usize], level: usize, is_copied: bool) -> Held {
        let loops = inside.iter().fold(0u64, |all, of| all | 1 << (*of).min(63));
        let key = (number, loops, level, is_copied);
        if let Some(held) = self.known.borrow().get(&key) {
            return *held;
        }
        let operand = &self.contraction.operands[number];
        let spans = self.spans(inside);
        let (count, run) = runs(operand, &spans);
        // A tile's result is loaded and stored between its sums: no prefetcher follows.
        let followed = if number == 0 { 1 } else { MOST_FOLLOWED };
        let is_paged = is_paged(operand, &self.spans(&[]), followed);
        let held = match is_copied {
            true => Held { bytes: count * run, occupied: count * run, is_paged: false },
            false => {
                let bytes = count * (run / LINE).ceil() * LINE;
                let sets = self.sets(level);
                Held { bytes, occupied: bytes / share(operand, &spans, sets), is_paged }
            }
        };
        self.known.borrow_mut().insert(key, held);
        held
    }

    /// Cycles in which sums are loaded again and stored for each block but the first.
    fn switches(&self) -> f64 {
        let Some((of, _)) = self.block else { return 0.0 };
        let is_result = |n: &usize| self.contraction.loops[*n].dim.is_some();
        let tiles: f64 = (0..self.sizes.len()).filter(is_result).map(|n| self.tiles(n) as f64).product();
        tiles * (self.tiles(of) - 1) as f64 * self.cycles.1
    }

    /// Bytes per cycle from behind a cache.
    fn behind(&self, level: usize) -> f64 {
        let memory = || self.machine.memory.bandwidth(self.threads) / self.machine.ghz / f64::from(self.threads.max(1));
        self.machine.caches.get(level + 1).map_or_else(memory, |cache| cache.bytes_per_cycle).max(1e-3)
    }

    /// The sets of a cache, and its ways; `None` of the last one, which spreads lines by all bits of an address.
    fn sets(&self, level: usize) -> Option<(u64, u64)> {
        let cache = self.machine.caches.get(level)?;
        let ways = u64::from(cache.ways.max(1));
        let sets = (cache.bytes / ways / u64::from(cache.line.max(1))).clamp(1, MOST_SETS);
        (level == 0 || level + 1 < self.machine.caches.len()).then_some((sets, ways))
    }

    /// Cycles of loads that miss the first cache since the rows of a tile share its sets.
    fn near(&self, copies: &[Copied]) -> f64 {
        let Some((_, ways)) = self.sets(0) else { return 0.0 };
        let terms: f64 =
            (0..self.sizes.len()).map(|of| pieces(self.contraction.loops[of].trips, self.sizes[of]) as f64).product();
        let missed = |(n, operand): (usize, &Operand)| {
            let rows = rows(operand, self.sizes);
            let sets = distinct(operand, self.sizes, self.sets(0));
            let is_copied = copies.iter().any(|copy| copy.operand == n);
            if n == 0 || is_copied || rows <= sets.saturating_mul(ways) { 0.0 } else { rows as f64 }
        };
        let lines: f64 = self.contraction.operands.iter().enumerate().map(missed).sum();
        terms * lines * LINE / self.behind(0)
    }

    /// Cycles in which an operand is copied.
    fn copied(&self, copy: &Copied, order: &[usize]) -> f64 {
        let operand = &self.contraction.operands[copy.operand];
        let spans = self.spans(&order[..copy.inside]);
        let (count, run) = runs(operand, &spans);
        let elements = count * run / operand.bytes as f64;
        let times: f64 = order[copy.inside..].iter().map(|of| self.tiles(*of) as f64).product();
        let lanes = f64::from(self.machine.vector.bits) / 8.0 / operand.bytes as f64;
        // Lanes that read several elements each are copied as vectors.
        let is_turned = operand.strides.get(copy.dense) != Some(&1) && !copy.is_interleaved;
        let near = if is_turned { TURNED_CYCLES } else { COPIED_CYCLES / lanes.max(1.0) };
        let far = if is_paged(operand, &spans, MOST_FOLLOWED) { operand.bytes as f64 / PAGED_BYTES } else { 0.0 };
        elements * times * near.max(far)
    }
}

/// The steps of an operand in memory, each with the number of places along it: loops of one step are one.
fn groups(operand: &Operand, spans: &[i64]) -> Vec<(i64, i64)> {
    let mut groups: Vec<(i64, i64)> = Vec::new();
    for (of, span) in spans.iter().enumerate().filter(|(_, span)| **span > 1) {
        let step = operand.step(of).saturating_abs();
        if step == 0 {
            continue;
        }
        match groups.iter_mut().find(|(other, _)| *other == step) {
            Some((_, count)) => *count = count.saturating_add(span - 1),
            None => groups.push((step, *span)),
        }
    }
    groups.sort_unstable();
    groups
}

/// The runs of neighbours that loops over `spans` access, and the bytes of one.
fn runs(operand: &Operand, spans: &[i64]) -> (f64, f64) {
    let (mut run, mut count) = (operand.bytes as f64, 1.0);
    for (step, places) in groups(operand, spans) {
        let step = step as f64 * operand.bytes as f64;
        match step <= run {
            true => run += step * (places - 1) as f64,
            false => count *= places as f64,
        }
    }
    (count, run)
}

/// Returns true if more short runs of an operand than are `followed` lie whole pages apart, so that no prefetcher
/// follows them.
fn is_paged(operand: &Operand, spans: &[i64], followed: i64) -> bool {
    let (mut run, mut streams, mut is_far) = (operand.bytes, 1i64, false);
    for (step, places) in groups(operand, spans) {
        let step = step.saturating_mul(operand.bytes);
        if step > run {
            streams = streams.saturating_mul(places);
            is_far |= step as f64 >= PAGE;
        } else {
            run = run.saturating_add(step.saturating_mul(places - 1));
        }
    }
    is_far && streams > followed && (run as f64) < SHORT_RUN
}

/// The lines that a term of a tile reads of an operand.
fn rows(operand: &Operand, sizes: &[i64]) -> u64 {
    let (count, run) = runs(operand, sizes);
    (count * (run / LINE).ceil()) as u64
}

/// The sets that the runs of an operand begin in: of one that has a step.
fn distinct(operand: &Operand, spans: &[i64], sets: Option<(u64, u64)>) -> u64 {
    let Some((sets, _)) = sets else { return u64::MAX };
    let (mut run, mut apart) = (operand.bytes, Vec::new());
    for (step, places) in groups(operand, spans) {
        let step = step.saturating_mul(operand.bytes);
        match step <= run {
            true => run = run.saturating_add(step.saturating_mul(places - 1)),
            false => apart.push((step.unsigned_abs(), places.unsigned_abs())),
        }
    }
    let total: u64 = apart.iter().fold(1u64, |all, (_, places)| all.saturating_mul(*places));
    if run.unsigned_abs().div_ceil(LINE as u64) >= sets {
        return sets;
    }
    let mut seen = vec![false; usize::try_from(sets).unwrap_or(0)];
    for n in 0..total.min(MOST_ROWS) {
        let (mut left, mut at) = (n, 0u64);
        for (step, places) in &apart {
            at = at.wrapping_add((left % places).wrapping_mul(*step));
            left /= places;
        }
        for line in 0..(run.unsigned_abs().div_ceil(LINE as u64)).min(sets) {
            seen[((at / LINE as u64 + line) % sets) as usize] = true;
        }
    }
    seen.iter().filter(|seen| **seen).count() as u64
}

/// The share of a cache's sets that an operand uses, of those that it could.
fn share(operand: &Operand, spans: &[i64], sets: Option<(u64, u64)>) -> f64 {
    let Some((all, _)) = sets else { return 1.0 };
    let possible = rows(operand, spans).min(all).clamp(1, MOST_ROWS);
    (distinct(operand, spans, sets) as f64 / possible as f64).min(1.0)
}
