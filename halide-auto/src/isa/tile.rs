//! Register tiles: the part of a contraction whose result stays in registers while its sums run.
//!
//! A tile is the instruction, repeated along loops of the result. An operand that does not move along a loop is loaded
//! once for all repetitions along it, so tiles trade loads for registers.

use super::contraction::{Contraction, Operand};
use super::needle::Needle;
use crate::dag::pieces;
use crate::tss::broadcast;
use crate::tuning::{BLOCK_CYCLES, HIDDEN_LOAD, LATENCY, LOOP_INSTRUCTIONS, MOST_TILES, PROMOTED_BYTES};
use halide_ir::machine::Machine;

/// The sizes of a register tile, and what it costs where all operands are near.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tile {
    /// The iterations of each loop in the tile: 1 for those that go around it.
    pub(super) sizes: Vec<i64>,
    /// Cycles in which a tile is entered and left: its sums are loaded and stored.
    pub(super) switch: f64,
    /// Cycles of the whole contraction.
    pub(super) total: f64,
}

/// The tiles of a needle that registers hold, those with the fewest cycles first.
pub(super) fn tiles(contraction: &Contraction, needle: &Needle, machine: &Machine) -> Vec<Tile> {
    let mut found = Vec::new();
    let mut sizes = vec![1i64; contraction.loops.len()];
    for (of, size) in &needle.fixed {
        sizes[*of] = *size;
    }
    let sums = |of: &usize| contraction.loops[*of].dim.is_some() && needle.fixed.iter().all(|(fixed, _)| fixed != of);
    let free: Vec<usize> = (0..contraction.loops.len()).filter(sums).collect();
    let registers = i64::from(machine.vector.registers);
    repeat(contraction, needle, &free, registers, &mut sizes, &mut |sizes| {
        if let Some(tile) = tile(contraction, needle, machine, sizes) {
            found.push(tile);
        }
    });
    // Of equal ones, the one that is the smallest.
    let size = |tile: &Tile| tile.sizes.iter().product::<i64>();
    found.sort_by(|a, b| a.total.total_cmp(&b.total).then(size(a).cmp(&size(b))).then(a.sizes.cmp(&b.sizes)));
    found.truncate(MOST_TILES);
    found
}

/// Calls `f` with all sizes whose results are at most so many vectors.
fn repeat(
    contraction: &Contraction,
    needle: &Needle,
    free: &[usize],
    most: i64,
    sizes: &mut Vec<i64>,
    f: &mut dyn FnMut(&[i64]),
) {
    let Some((of, rest)) = free.split_first() else { return f(sizes) };
    let trips = contraction.loops[*of].trips;
    let step = needle.lanes_along(*of);
    let mut last = 0;
    for n in 1..=most {
        let size = n * step;
        // Where a larger size has as many tiles, the smaller one wastes less of the last one.
        let count = pieces(trips, size);
        if count == last {
            continue;
        }
        last = count;
        sizes[*of] = size;
        repeat(contraction, needle, rest, most / n, sizes, f);
        if size >= trips {
            break;
        }
    }
    sizes[*of] = 1;
}

/// The vectors or single values of an operand that a term of a tile loads.
fn loaded(operand: &Operand, needle: &Needle, sizes: &[i64]) -> f64 {
    let each = |(of, size): (usize, &i64)| match () {
        () if !operand.moves(of) || needle.is_inside(of) => 1.0,
        () => (size / needle.lanes_along(of)) as f64,
    };
    sizes.iter().enumerate().map(each).product()
}

/// A tile of these sizes, if registers hold it.
fn tile(contraction: &Contraction, needle: &Needle, machine: &Machine, sizes: &[i64]) -> Option<Tile> {
    let vector = &machine.vector;
    let results = loaded(contraction.result(), needle, sizes) * needle.registers;
    let is_vector = |operand: &&Operand| operand.moves(needle.vector);
    let vectors = contraction.read().iter().filter(is_vector).map(|operand| loaded(operand, needle, sizes));
    let vectors = vectors.sum::<f64>() * needle.registers;
    let others: f64 =
        contraction.read().iter().filter(|o| !is_vector(o)).map(|operand| loaded(operand, needle, sizes)).sum();
    let bytes = results / needle.registers * (needle.lanes * contraction.result().bytes) as f64;
    let single = if others > 0.0 { 1.0 } else { 0.0 };
    if results + vectors + single > f64::from(vector.registers) || bytes > PROMOTED_BYTES {
        return None;
    }
    let loads = vectors + others * broadcast(vector);
    let instructions = results + vectors + others + LOOP_INSTRUCTIONS;
    let busy = (results * needle.cycles).max(loads / vector.loads).max(instructions / vector.issue).max(LATENCY);
    // Loads that arithmetic hides are not for free.
    let cycles = busy + HIDDEN_LOAD * loads / vector.loads;
    let of = |is_sum: bool| {
        let all = contraction.loops.iter().zip(sizes).filter(move |(l, _)| l.dim.is_none() == is_sum);
        all.map(|(l, size)| pieces(l.trips, *size) as f64).product::<f64>()
    };
    let (tiles, terms) = (of(false), of(true));
    let switch = BLOCK_CYCLES + 2.0 * results;
    let total = tiles * (terms * cycles + switch);
    Some(Tile { sizes: sizes.to_vec(), switch, total })
}
