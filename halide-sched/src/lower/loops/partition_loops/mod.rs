//! Loop partitioning: cuts loops so that boundary cases leave the steady state.
//!
//! Before: `Stage::Shaped`. After: the same; a loop in which something is `likely` has become a prologue, a steady
//! state in which all of that holds, and an epilogue. The steady state has no clamps, masks and conditions left of
//! those that were solved for the loop variable, so accesses that a clamp had made gathers are dense there. A mask of
//! comparisons alone, such as one of the lanes in a triangle, is solved whether it is likely or not.
//!
//! By default, loops are cut that have no loop inside, and loops with masks and conditions outside of the loops inside,
//! if their bodies are small; parallel loops are not, since cutting them would make threads wait in between. A likely
//! condition that does not depend on the variable of an innermost loop is tested once in front of the loop, which then
//! exists twice. A schedule may ask for every cut, or for none (`LoopInfo::partition`).
//!
//! The ends of the steady state are clamped to the loop, so each of the three may be empty at run time.
//!
//! Example:
//! ```text
//! for x#L0 from 0 extent out#b2.extent0 {
//!   out#b2[x#L0] = in#b0[min(max(likely(x#L0 - 1), 0), 99)]
//! }
//! ```
//! becomes
//! ```text
//! let t4 = min(out#b2.extent0, 1)
//! let t5 = max(t4, min(out#b2.extent0, 101))
//! for x#L4 from 0 extent t4 {
//!   out#b2[x#L4] = in#b0[min(max(likely(x#L4 - 1), 0), 99)]
//! }
//! for x#L0 from t4 extent t5 - t4 {
//!   out#b2[x#L0] = in#b0[x#L0 - 1]
//! }
//! for x#L5 from t5 extent out#b2.extent0 - t5 {
//!   out#b2[x#L5] = in#b0[min(max(likely(x#L5 - 1), 0), 99)]
//! }
//! ```

mod marks;
mod steady;

use crate::lower::checks::budget::Room;
use crate::lower::loops::copy::{fresh_copy, fresh_temp};
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::{FEWEST_ITERATIONS, LARGE_CUT_NODES, SMALL_CUT_NODES};
use halide_ir::visit;
use halide_ir::{Expr, For, LoopId, Partition, Program, Stmt, Sym, build};
use halide_solve::simplify::{Facts, simplify};
use std::collections::BTreeSet;
use steady::{Steady, Wish};

/// A program with loops cut, and those that a schedule wants to be cut that are not.
pub struct Partitioned {
    /// The program.
    pub program: Program,
    /// Loops that always are to be cut and have nothing to cut off; what runs on a device is never cut.
    pub whole: Vec<LoopId>,
    /// A loop whose copies there is no room for, and by how many nodes.
    pub refused: Option<(LoopId, u64)>,
}

/// Cuts loops at the ends of their steady state, as each says that it may be cut. `facts` holds what is known of
/// arguments. Copies have no more than `room` nodes.
pub fn partition_loops(program: Program, facts: &Facts, room: u64, trace: &mut LoweringTrace) -> Partitioned {
    let (mut done, mut room) = (BTreeSet::new(), Room::new(room));
    let program = walk::map_body(program, |body, program| {
        let (facts, done, room) = (facts.clone(), &mut done, &mut room);
        statement(&mut Cut { program, facts, trace, cold: false, done, room }, body)
    });
    // A loop lives while it or a copy of it does.
    let live = program.loops.enumerate().filter(|(_, info)| !info.is_dead);
    let live: BTreeSet<LoopId> = live.map(|(id, _)| program.origin(id)).collect();
    let must = live.into_iter().filter(|id| program.loops[*id].partition == Partition::Always);
    let whole = must.filter(|id| !done.contains(id)).collect();
    Partitioned { program, whole, refused: room.refused }
}

struct Cut<'p> {
    program: &'p mut Program,
    facts: Facts,
    trace: &'p mut LoweringTrace,
    /// True if the code at hand runs only at the ends of a loop.
    cold: bool,
    /// The loops that were cut, or cannot be, by their origins.
    done: &'p mut BTreeSet<LoopId>,
    /// The nodes that copies may still add.
    room: &'p mut Room,
}

impl Cut<'_> {
    fn is_done(&mut self, l: LoopId) {
        self.done.insert(self.program.origin(l));
    }
    fn scoped<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.facts.push_scope();
        let result = f(self);
        self.facts.pop_scope();
        result
    }
}

fn statement(cx: &mut Cut<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::For(l) => loop_of(cx, *l),
        other => walk::map_stmt_under(other, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement),
    }
}

/// A loop, cut if that pays, with the loops inside it.
fn loop_of(cx: &mut Cut<'_>, l: For) -> Stmt {
    let found = cx.scoped(|cx| {
        cx.facts.bind_loop(l.id, &l.min, &l.extent);
        wanted(cx, &l).and_then(|wish| Steady::find(&l, wish, cx.program, &cx.facts))
    });
    match found {
        // A prologue and an epilogue, and where a condition is tested in front, the loop as it was.
        Some(steady) if cx.room.take(&l, if steady.invariant.is_some() { 3 } else { 2 }) => cut(cx, l, steady),
        _ => uncut(cx, l),
    }
}

fn uncut(cx: &mut Cut<'_>, l: For) -> Stmt {
    let For { id, kind, min, extent, condition, body } = l;
    let body = cx.scoped(|cx| {
        cx.facts.bind_loop(id, &min, &extent);
        statement(cx, body)
    });
    build::loop_of(For { id, kind, min, extent, condition, body })
}

/// Returns the conditions that `l` is to be cut for, if any; records the reason if the device or the size forbids a
/// cut.
fn wanted(cx: &mut Cut<'_>, l: &For) -> Option<Wish> {
    let innermost = !walk::any_stmt(&l.body, &mut |s| matches!(s, Stmt::For(_)));
    let on_device = l.kind.is_gpu();
    let wish = match cx.program.loops[l.id].partition {
        Partition::Never => return None,
        Partition::Always if on_device => {
            let because = "blocks and threads run at once, and there is one kernel for all of them";
            cx.trace.did_not(cx.program.loops[l.id].with_case(), "cut at the boundaries", because);
            cx.is_done(l.id);
            return None;
        }
        Partition::Always => return Some(if innermost { Wish::Innermost } else { Wish::Anything }),
        Partition::Auto if innermost && !cx.cold => Wish::Innermost,
        Partition::Auto if innermost => Wish::Anything,
        Partition::Auto => Wish::Outside,
    };
    if l.kind.is_threads() || build::as_int(&l.extent).is_some_and(|n| n < FEWEST_ITERATIONS) {
        return None;
    }
    let most = if innermost { LARGE_CUT_NODES } else { SMALL_CUT_NODES };
    let size = size_up_to(&l.body, most);
    if size >= most {
        if steady::any_likely(&l.body) {
            let because = format!("its body has more than {most} nodes");
            cx.trace.did_not(cx.program.loops[l.id].with_case(), "cut at the boundaries", because);
        }
        return None;
    }
    Some(wish)
}

/// The number of nodes of `s`; counting stops at `most`.
fn size_up_to(s: &Stmt, most: usize) -> usize {
    let mut size = 1;
    visit::for_each_expr(s, |e| {
        if size < most {
            visit::for_each_node(e, &mut |_| size += 1);
        }
    });
    visit::for_each_stmt(s, |inner| {
        if size < most {
            size += size_up_to(inner, most - size);
        }
    });
    size
}

/// Prologue, steady state and epilogue.
fn cut(cx: &mut Cut<'_>, l: For, steady: Steady) -> Stmt {
    let name = cx.program.loops[l.id].with_case();
    cx.is_done(l.id);
    let end = simplify(&build::add(l.min.clone(), l.extent.clone()), &cx.facts);
    let is_there = steady.has_masks.then(|| is_there(&steady, &l.min, &end)).flatten();
    let Steady { body, first, last, invariant, solved, unsolved, .. } = steady;
    let mut names = Vec::new();
    let start = match first.into_iter().reduce(build::max) {
        Some(first) => {
            let e = build::min(build::max(first, l.min.clone()), end.clone());
            bind(cx, simplify(&e, &cx.facts), &mut names)
        }
        None => l.min.clone(),
    };
    let stop = match last.into_iter().reduce(build::min) {
        Some(last) => {
            let e = build::max(build::min(build::offset(last, 1), end.clone()), start.clone());
            bind(cx, simplify(&e, &cx.facts), &mut names)
        }
        None => end.clone(),
    };
    explain(cx, &name, solved, &unsolved, invariant.is_some());
    let general = invariant.as_ref().map(|_| edge(cx, &l, &l.min, &end));
    let parts = cx.scoped(|cx| {
        names.iter().for_each(|(s, e)| cx.facts.bind_let(*s, e));
        let before = edge(cx, &l, &l.min, &start);
        let extent = simplify(&build::sub(stop.clone(), start.clone()), &cx.facts);
        let middle = For { min: start, extent, body, ..l.clone() };
        let middle = inside(cx, build::loop_of(middle));
        let middle = match is_there {
            Some(cond) => build::if_else(cond, middle, build::nothing()),
            None => middle,
        };
        build::block([before, middle, edge(cx, &l, &stop, &end)])
    });
    let parts = build::let_in(names, parts);
    match (invariant, general) {
        (Some(cond), Some(general)) => build::if_else(cond, parts, general),
        _ => parts,
    }
}

/// The conditions without which a steady state is empty. Loops around may do nothing then, as where a tile lies outside
/// of a triangle, which masks told before (`loop_trimming`).
fn is_there(steady: &Steady, min: &Expr, end: &Expr) -> Option<Expr> {
    let ends = steady.first.iter().map(|first| build::lt(first.clone(), end.clone()));
    let starts = steady.last.iter().map(|last| build::le(min.clone(), last.clone()));
    ends.chain(starts).reduce(build::and)
}

/// A copy of `l` from `min` to `stop`.
fn edge(cx: &mut Cut<'_>, l: &For, min: &Expr, stop: &Expr) -> Stmt {
    let extent = simplify(&build::sub(stop.clone(), min.clone()), &cx.facts);
    if build::as_int(&extent).is_some_and(|n| n <= 0) {
        return build::nothing();
    }
    let part = For { min: min.clone(), extent, ..l.clone() };
    let copy = fresh_copy(&Stmt::For(Box::new(part)), &[], cx.program);
    let outside = std::mem::replace(&mut cx.cold, true);
    let made = inside(cx, copy);
    cx.cold = outside;
    made
}

/// The loops inside of a loop that has been cut already.
fn inside(cx: &mut Cut<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::For(l) => uncut(cx, *l),
        other => other,
    }
}

fn bind(cx: &mut Cut<'_>, e: Expr, names: &mut Vec<(Sym, Expr)>) -> Expr {
    if matches!(e.kind(), halide_ir::ExprKind::Int(_) | halide_ir::ExprKind::Sym(_)) {
        return e;
    }
    let temp = fresh_temp(cx.program);
    names.push((temp, e));
    build::sym(temp)
}

fn explain(cx: &mut Cut<'_>, name: &str, solved: usize, unsolved: &[Expr], tested: bool) {
    let tested = if tested { ", with conditions tested in front of it" } else { "" };
    cx.trace.did(name, format!("cut into prologue, steady state and epilogue by {solved} conditions{tested}"));
    for cond in unsolved {
        let text = halide_ir::print::expr_in(cond, cx.program);
        cx.trace.did_not(name, "freed of a condition", format!("it cannot be solved: {text}"));
    }
}
