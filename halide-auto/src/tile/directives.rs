//! Tiles as directives.

use crate::emit::Fresh;
use crate::tss::{Block, Loop, LoopKind};
use halide_sched::schedule::{Amount, Schedule, StageSchedule};

/// Loops to be cut, outermost first.
pub(super) struct Cut<'q> {
    /// The name of the Func and the number of the definition.
    pub(super) of: &'q (String, usize),
    pub(super) loops: &'q [Loop],
    /// The variable of each loop.
    pub(super) vars: &'q [String],
    /// Names that no new loop may have.
    pub(super) taken: &'q [String],
    /// The iterations of each loop in a tile.
    pub(super) sizes: &'q [u64],
    /// The lanes of a vector of what is stored.
    pub(super) lanes: i64,
    /// The part of a tile that is written out.
    pub(super) block: Option<Block>,
    /// True if tiles of parallel loops are tasks.
    pub(super) has_tasks: bool,
}

/// The parts of a loop: over tiles, and in a tile.
struct Parts {
    over: Option<String>,
    within: Option<String>,
}

/// Adds the directives that cut loops to a schedule.
///
/// A loop that is whole in a tile is in the tile only, and one that has a single iteration in a tile over tiles only.
pub(super) fn directives(schedule: &mut Schedule, cut: &Cut<'_>) {
    let mut fresh = Fresh::new(cut.taken);
    let mut stage = stage(schedule, cut.of);
    let mut parts: Vec<Parts> = Vec::new();
    for ((l, var), size) in cut.loops.iter().zip(cut.vars).zip(cut.sizes) {
        let is_along = parts.len() + 1 == cut.loops.len();
        parts.push(match *size {
            size if size >= l.trips => Parts { over: None, within: Some(var.clone()) },
            1 if !is_along => Parts { over: Some(var.clone()), within: None },
            size => {
                let (over, within) = (fresh.name(var, "o"), fresh.name(var, "i"));
                stage = stage.split(var, &over, &within, i64::try_from(size).unwrap_or(i64::MAX));
                Parts { over: Some(over), within: Some(within) }
            }
        });
    }
    let written = written_out(cut, &parts, &mut fresh);
    for (n, part, size) in &written {
        if let Some(within) = &parts[*n].within {
            stage = stage.split(within, within, part, *size);
        }
    }
    let is_shared = |n: &usize| cut.loops[*n].kind == LoopKind::Parallel;
    let (shared, serial): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(is_shared);
    let over = shared.iter().chain(&serial).filter_map(|n| parts[*n].over.clone());
    // Reductions are inside of blocks, and outside of what is written out of these.
    let is_inner = |n: &usize| cut.block.is_some() && cut.loops[*n].is_reduction();
    let (inner, outer): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(is_inner);
    let within = outer.iter().chain(&inner).filter_map(|n| parts[*n].within.clone());
    let blocks = written.iter().map(|(_, part, _)| part.clone());
    let mut order: Vec<String> = over.chain(within).chain(blocks).collect();
    order.reverse();
    if order.len() > 1 {
        stage = stage.reorder(order);
    }
    let lanes = lanes(cut);
    let last = written.last().filter(|(n, ..)| n + 1 == parts.len()).map(|(_, part, _)| part);
    if let Some(within) = last.or(parts.last().and_then(|p| p.within.as_ref()))
        && lanes > 1
    {
        let amount = if lanes == cut.lanes { Amount::Natural } else { Amount::Const(lanes) };
        stage = stage.vectorize(within, amount);
    }
    for (n, part, size) in &written {
        if n + 1 < parts.len() || *size > lanes {
            stage = stage.unroll_all(part);
        }
    }
    for n in shared.into_iter().filter(|_| cut.has_tasks) {
        if let Some(over) = &parts[n].over {
            stage = stage.parallel(over);
        }
    }
}

/// The lanes of vectors, of which a row has one at least.
fn lanes(cut: &Cut<'_>) -> i64 {
    cut.loops.last().map_or(1, |l| cut.lanes.min(1 << l.trips.max(1).ilog2()))
}

/// The loops of which a part is written out, with its name and its iterations; that of vectors is the last one.
fn written_out(cut: &Cut<'_>, parts: &[Parts], fresh: &mut Fresh) -> Vec<(usize, String, i64)> {
    let (Some(Block { along, rows, vectors }), lanes) = (cut.block, lanes(cut)) else { return Vec::new() };
    let last = parts.len().saturating_sub(1);
    let size = |n: usize| i64::try_from(cut.sizes[n]).unwrap_or(i64::MAX);
    let most = |n: usize, of: u64| i64::try_from(of).unwrap_or(i64::MAX).min(size(n));
    let of_vectors = most(last, vectors).min(size(last) / lanes) * lanes;
    let all = along.map(|n| (n, most(n, rows))).into_iter().chain([(last, of_vectors)]);
    let is_part = |(n, size): &(usize, i64)| *size > 1 && parts.get(*n).is_some_and(|p| p.within.is_some());
    all.filter(is_part).map(|(n, size)| (n, fresh.name(&cut.vars[n], "r"), size)).collect()
}

fn stage<'s>(schedule: &'s mut Schedule, (func, n): &(String, usize)) -> StageSchedule<'s> {
    let stage = schedule.func(func.as_str());
    match n.checked_sub(1) {
        None => stage,
        Some(k) => stage.update(k),
    }
}
