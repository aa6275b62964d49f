//! Tiles as directives.

use crate::emit::Fresh;
use crate::tss::{Loop, LoopKind};
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
    let is_shared = |n: &usize| cut.loops[*n].kind == LoopKind::Parallel;
    let (shared, serial): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(is_shared);
    let over = shared.iter().chain(&serial).filter_map(|n| parts[*n].over.clone());
    let mut order: Vec<String> = over.chain(parts.iter().filter_map(|p| p.within.clone())).collect();
    order.reverse();
    if order.len() > 1 {
        stage = stage.reorder(order);
    }
    let lanes = |l: &Loop| cut.lanes.min(1 << l.trips.max(1).ilog2());
    if let (Some(l), Some(within)) = (cut.loops.last(), parts.last().and_then(|p| p.within.as_ref()))
        && lanes(l) > 1
    {
        let amount = if lanes(l) == cut.lanes { Amount::Natural } else { Amount::Const(lanes(l)) };
        stage = stage.vectorize(within, amount);
    }
    for n in shared.into_iter().filter(|_| cut.has_tasks) {
        if let Some(over) = &parts[n].over {
            stage = stage.parallel(over);
        }
    }
}

fn stage<'s>(schedule: &'s mut Schedule, (func, n): &(String, usize)) -> StageSchedule<'s> {
    let stage = schedule.func(func.as_str());
    match n.checked_sub(1) {
        None => stage,
        Some(k) => stage.update(k),
    }
}
