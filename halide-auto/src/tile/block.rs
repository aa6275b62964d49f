//! The block of a tile that is written out.

use crate::tss::{AccessKind, Array, Block, Nest, broadcast, slanted};
use crate::tuning::{HIDDEN_LOAD, LATENCY, PROMOTED_BYTES, SUMS_IN_FLIGHT};
use halide_ir::machine::Machine;

/// The iterations of a loop, and the vectors, that may be written out.
const ROWS: [u64; 6] = [1, 2, 3, 4, 6, 8];

/// Returns the block with the fewest loads for each sum, among those whose sums stay in registers; `None` of nests
/// without reductions, or whose reductions go over what is stored.
///
/// Rows of a block are along the innermost loop beside the vector loop that some array does not use, so that what is
/// loaded of that serves all rows.
pub(super) fn block(nest: &Nest, machine: &Machine) -> Option<Block> {
    let last = nest.loops.len().checked_sub(1)?;
    let is_reduction = |index: usize| nest.loops[index].is_reduction();
    let reductions: Vec<usize> =
        (0..last).filter(|index| is_reduction(*index) && nest.loops[*index].trips > 1).collect();
    let stays = |array: &Array| reductions.iter().all(|index| !array.uses(*index));
    let mut stored = nest.arrays.iter().filter(|array| array.is_written());
    if reductions.is_empty() || !stored.clone().all(|array| array.access == AccessKind::Update && stays(array)) {
        return None;
    }
    let read = || nest.arrays.iter().filter(|array| !array.is_written());
    let serves = |index: &usize| read().any(|array| !array.uses(*index) && array.uses(last));
    let along = (0..last).rev().filter(|index| !is_reduction(*index) && nest.loops[*index].trips > 1).find(serves);
    let sums = stored.clone().count().max(1) as f64;
    let bytes: f64 = stored.by_ref().map(|array| array.bytes() as f64).sum();
    let loads = |rows: f64, vectors: f64| -> f64 {
        let of = |array: &Array| {
            let rows = if along.is_some_and(|along| array.uses(along)) { 1.0 } else { rows };
            if array.uses(last) { 1.0 / rows } else { broadcast(&machine.vector) / (rows * vectors) }
        };
        read().map(|array| of(array) * array.references() as f64).sum()
    };
    let dense = read().filter(|array| array.uses(last)).count() as f64;
    let lanes = (u64::from(machine.vector.bits) / 8 / nest.widest()).max(1);
    let fits = |rows: f64, vectors: f64| {
        let registers = sums * rows * vectors + dense * vectors + 2.0;
        registers <= f64::from(machine.vector.registers) && rows * vectors * lanes as f64 * bytes <= PROMOTED_BYTES
    };
    let all = ROWS.into_iter().flat_map(|rows| ROWS.map(|vectors| (rows, vectors)));
    let possible = all.filter(|(rows, vectors)| (along.is_some() || *rows == 1) && fits(*rows as f64, *vectors as f64));
    // Sums wait for those before them, unless there are enough of them, and for the arithmetic of a term.
    let cost = |(rows, vectors): (u64, u64)| {
        let block = |index: usize| match index {
            _ if index == last => vectors * lanes,
            _ if Some(index) == along => rows,
            _ => 1,
        };
        let of =
            |(a, b): &(usize, usize)| slanted((nest.loops[*a].trips, nest.loops[*b].trips), (block(*a), block(*b)));
        let masked: f64 = nest.slants.iter().map(of).product();
        let (rows, vectors) = (rows as f64, vectors as f64);
        let loaded = loads(rows, vectors);
        let waits = (loaded / machine.vector.loads).max(SUMS_IN_FLIGHT * LATENCY / (rows * vectors));
        ((waits.max(1.0 / machine.vector.fmas) + HIDDEN_LOAD * loaded) * masked, loaded)
    };
    let order = |a: (f64, f64), b: (f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
    let best = possible.min_by(|a, b| order(cost(*a), cost(*b)).then(a.cmp(b)))?;
    Some(Block { along, rows: best.0, vectors: best.1 })
}
