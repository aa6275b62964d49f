//! Orders of the loops around register tiles, with copies of operands.

use super::contraction::{Contraction, Operand};
use super::memory::{Copied, Order, Tiled};
use super::needle::Needle;
use super::tile::Tile;
use crate::dag::pieces;
use crate::tuning::{MOST_ORDERS, MOST_PERMUTED, TURNED_SHARE};
use halide_ir::machine::Machine;

/// The lengths of blocks of a reduction: few enough rows for prefetchers to follow, or enough that sums are seldom
/// loaded and stored.
const BLOCKS: [i64; 5] = [8, 16, 32, 128, 512];

/// The orders of the loops around tiles, those with the fewest cycles first; none where an operand cannot lie as the
/// instruction reads it. A contraction in loops of its own may have a reduction in blocks, so that an operand comes in
/// whole rows.
pub(super) fn orders(
    contraction: &Contraction,
    needle: &Needle,
    tile: &Tile,
    (machine, threads): (&Machine, u32),
    is_own: bool,
) -> Vec<Order> {
    let around = |of: &usize| contraction.loops[*of].dim.is_some();
    let (short, long): (Vec<usize>, Vec<usize>) = (0..contraction.loops.len())
        .filter(around)
        .partition(|of| pieces(contraction.loops[*of].trips, tile.sizes[*of]) <= 1);
    // Loops that are the outermost ones anyway stay so, where there are many.
    let (outermost, inner) = long.split_at(long.len().saturating_sub(MOST_PERMUTED));
    let mut found = Vec::new();
    for block in blocks(contraction, needle, is_own) {
        let tiled = Tiled::new(contraction, tile, block, machine, threads);
        permutations(inner, &mut Vec::new(), &mut |order| {
            // Loops of one iteration are anywhere: inside of all others, no copy is made in them.
            let mut loops: Vec<usize> = short.iter().chain(order).chain(outermost.iter().rev()).copied().collect();
            loops.extend(block.map(|(of, _)| of));
            let choices: Vec<Vec<Option<Copied>>> = (0..contraction.operands.len())
                .map(|n| if n == 0 { vec![None] } else { copies(&tiled, needle, &loops, n) })
                .collect();
            each(&choices, &mut Vec::new(), &mut |copies| {
                let total = tiled.price(&loops, copies) * (1.0 + TURNED_SHARE * turned(contraction, &loops) as f64);
                found.push(Order { loops: loops.clone(), block, copies: copies.to_vec(), total });
            });
        });
    }
    found.sort_by(|a, b| a.total.total_cmp(&b.total).then(a.copies.len().cmp(&b.copies.len())));
    found.truncate(MOST_ORDERS);
    found
}

/// The pairs of loops of which the inner one makes larger steps in the result: memory is gone through in leaps.
fn turned(contraction: &Contraction, order: &[usize]) -> usize {
    let step = |of: usize| contraction.result().step(of).saturating_abs();
    let pairs =
        order.iter().enumerate().flat_map(|(n, inner)| order[n + 1..].iter().map(move |outer| (*inner, *outer)));
    pairs.filter(|(inner, outer)| step(*outer) > 0 && step(*inner) > step(*outer)).count()
}

/// The blocks that a reduction may be done in: none, or some of the outermost one.
fn blocks(contraction: &Contraction, needle: &Needle, is_own: bool) -> Vec<Option<(usize, i64)>> {
    let mut all = vec![None];
    let is_free = |of: &usize| contraction.loops[*of].dim.is_none() && !needle.axes.contains(of);
    if let Some(of) = (0..contraction.loops.len()).find(is_free).filter(|_| is_own) {
        all.extend(
            BLOCKS.into_iter().filter(|length| 2 * length <= contraction.loops[of].trips).map(|n| Some((of, n))),
        );
    }
    all
}

fn permutations(left: &[usize], chosen: &mut Vec<usize>, f: &mut dyn FnMut(&[usize])) {
    if left.is_empty() {
        return f(chosen);
    }
    for of in left {
        let rest: Vec<usize> = left.iter().filter(|other| *other != of).copied().collect();
        chosen.push(*of);
        permutations(&rest, chosen, f);
        chosen.pop();
    }
}

/// Calls `f` with one choice for each operand.
fn each(choices: &[Vec<Option<Copied>>], chosen: &mut Vec<Copied>, f: &mut dyn FnMut(&[Copied])) {
    let Some((first, rest)) = choices.split_first() else { return f(chosen) };
    for choice in first {
        chosen.extend(choice);
        each(rest, chosen, f);
        if choice.is_some() {
            chosen.pop();
        }
    }
}

/// The ways in which tiles read an operand: as it lies, where they can, or from copies.
fn copies(tiled: &Tiled<'_>, needle: &Needle, order: &[usize], number: usize) -> Vec<Option<Copied>> {
    let operand = &tiled.contraction.operands[number];
    let mut asked = needle.dense.iter().filter(|(name, _)| *name == operand.name).map(|(_, of)| *of);
    let wanted = asked.next();
    let is_dense = |of: usize| operand.dim(of).is_some_and(|dim| operand.strides[dim] == 1);
    let fits = wanted.is_none_or(is_dense);
    let along = wanted.or_else(|| widest(tiled.contraction, operand, tiled.sizes));
    let mut ways: Vec<Option<Copied>> = Vec::new();
    if fits {
        ways.push(None);
    }
    let Some(dense) = along.and_then(|of| operand.dim(of)) else { return ways };
    let is_interleaved = wanted.is_some_and(|of| needle.is_inside(of)) && operand.moves(needle.vector);
    let copied = |inside: usize| Some(Copied { operand: number, inside, dense, is_interleaved });
    let inside = tiled.still(operand, order);
    let serves: i64 = order[..inside].iter().map(|of| tiled.tiles(*of)).product();
    if serves > 1 {
        ways.push(copied(inside));
    }
    if !fits {
        ways.push(copied(order.len()));
    }
    ways
}

/// The loop of a tile along which it reads the most of an operand.
fn widest(contraction: &Contraction, operand: &Operand, sizes: &[i64]) -> Option<usize> {
    let all = (0..contraction.loops.len()).filter(|of| sizes[*of] > 1 && operand.dim(*of).is_some());
    all.max_by_key(|of| sizes[*of])
}
