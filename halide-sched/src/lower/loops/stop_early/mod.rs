//! Loops that end: a serial loop ends once none of its later iterations can have an effect.
//!
//! Before: `Stage::Shaped`, every symbol bound once, nothing promoted to registers. After: the same; a loop all of
//! whose effects stand under conditions that change with the memory that it stores to, and not with its iteration, has
//! a [condition](halide_ir::For::condition): that one of them holds.
//!
//! That is right since an iteration whose conditions all fail at its beginning has no effect. Before the first effect
//! memory is as it was at the beginning, so the condition of that effect still fails; an iteration without effects
//! leaves memory as it is, so the conditions fail at the beginning of the next one, too. It is what algorithms say by
//! `where_` of an element that the update itself stores: until `z[x]` has escaped, converged, or become 1.
//!
//! Of lanes, the condition asks if it holds in any. A condition of scalars need not be asked again by what comes first
//! in an iteration. A lane that is done keeps its element: where that is known to be the thread's own, it is stored
//! again, so that registers can hold it (`at_rest`).
//!
//! Where loops inside hold the effects, a flag says if an iteration had one, and the loop ends behind the first that
//! had none (`flag`).
//!
//! Stores to memory that only this iteration reads are no effects: what the body allocates, and the values of Funcs
//! that it computes anew each time, in memory further out (`hoist_storage`, `ring_buffer`).
//!
//! Loops with other loops inside that are not serial stay as they are, as do lanes of subgroups, which need each other,
//! atomic steps, and definitions for which a schedule allows races: there others may change memory meanwhile.
//!
//! Example:
//! ```text
//! for y#L1 from 0 extent 8 {
//!   for x#L0 from 0 extent 100 {
//!     if out#b2[y#L1] != 1u8 {
//!       out#b2[y#L1] = out#b2[y#L1] / 2u8
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 0 extent 8 {
//!   for x#L0 from 0 extent 100 while out#b2[y#L1] != 1u8 {
//!     out#b2[y#L1] = out#b2[y#L1] / 2u8
//!   }
//! }
//! ```
//! and, of lanes,
//! ```text
//! for x#L0 from 0 extent 100 {
//!   let t0 = out#b2[ramp(0, 1, 4)] != x4(1u8)
//!   let t1 = out#b2[ramp(0, 1, 4) where t0]
//!   out#b2[ramp(0, 1, 4) where t0] = t1 / x4(2u8)
//! }
//! ```
//! becomes
//! ```text
//! for x#L0 from 0 extent 100 while any_lane(out#b2[ramp(0, 1, 4)] != x4(1u8)) {
//!   let t0 = out#b2[ramp(0, 1, 4)] != x4(1u8)
//!   let t1 = out#b2[ramp(0, 1, 4)]
//!   out#b2[ramp(0, 1, 4)] = select(t0, t1 / x4(2u8), out#b2[ramp(0, 1, 4)])
//! }
//! ```
//! and, where a loop inside holds the effects,
//! ```text
//! for y#L1 from 0 extent 100 {
//!   for x#L0 from 0 extent in#b0.extent0 {
//!     if out#b2[x#L0] != 1u8 {
//!       out#b2[x#L0] = out#b2[x#L0] / 2u8
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! alloc y$r6#b6[1] at_most 1 {
//!   y$r6#b6[0] = 1u8
//!   for y#L1 from 0 extent 100 while y$r6#b6[0] != 0u8 {
//!     y$r6#b6[0] = 0u8
//!     for x#L0 from 0 extent in#b0.extent0 {
//!       if out#b2[x#L0] != 1u8 {
//!         y$r6#b6[0] = 1u8
//!         out#b2[x#L0] = out#b2[x#L0] / 2u8
//!       }
//!     }
//!   }
//! }
//! ```

mod at_rest;
mod flag;
mod search;
#[cfg(test)]
mod tests;
mod transient;

use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::plan::{FuncPlan, Level, Plan};
use halide_core::ids::FuncId;
use halide_ir::{BufId, Expr, For, ForKind, Program, Stmt, Sym, build};
use search::{Found, Search};
use std::collections::BTreeSet;
use transient::Transient;

/// The Funcs that a plan says something of that matters here.
#[derive(Clone, Debug, Default)]
pub struct Marked {
    /// Funcs for which the schedule allows races.
    pub racing: BTreeSet<FuncId>,
    /// Funcs whose values no iteration of the loop that computes them leaves to a later one, wherever their memory is.
    pub transient: BTreeSet<FuncId>,
}

/// Returns the Funcs of a plan that matter here.
pub fn marked(plan: &Plan) -> Marked {
    let is_transient = |f: &FuncPlan| f.compute != Level::Root && f.store == f.compute;
    let transient = plan.funcs.enumerate().filter(|(_, f)| is_transient(f)).map(|(id, _)| id).collect();
    Marked { racing: plan.racing(), transient }
}

/// Gives loops conditions.
pub fn stop_early(program: Program, marked: &Marked, trace: &mut LoweringTrace) -> Program {
    walk::map_body(program, |body, program| {
        let bufs = |func: &FuncId| program.func_buffers.get(*func).cloned().unwrap_or_default();
        let racing = marked.racing.iter().flat_map(bufs).collect();
        let transient = Transient::new(program, &marked.transient);
        let mut cx = Stop { racing, transient, program, trace, on_device: false, in_lanes: false };
        statement(&mut cx, body)
    })
}

/// Returns true if a loop of `Stage::Bounded` would end early: all that it stores beyond its body stands under
/// conditions that its stores can change. `transient` are as in [`Marked`].
pub(super) fn ends_by_stores(program: &Program, l: &For, transient: &BTreeSet<FuncId>) -> bool {
    flag::search(l, &Transient::new(program, transient)).is_some()
}

struct Stop<'p> {
    program: &'p mut Program,
    /// The buffers for whose elements threads may race.
    racing: BTreeSet<BufId>,
    transient: Transient,
    trace: &'p mut LoweringTrace,
    /// True inside of the loops of a kernel.
    on_device: bool,
    /// True inside of a loop over lanes of a subgroup.
    in_lanes: bool,
}

fn statement(cx: &mut Stop<'_>, s: Stmt) -> Stmt {
    let outside = (cx.on_device, cx.in_lanes);
    if let Stmt::For(l) = &s {
        cx.on_device |= l.kind.is_gpu();
        cx.in_lanes |= l.kind == ForKind::GpuLanes;
    }
    // Loops inside come first: what they are asked for counts as a condition here.
    let made = walk::map_stmt(s, cx, |_, e| e.clone(), statement);
    let made = match made {
        Stmt::For(l) if l.kind == ForKind::Serial && l.condition.is_none() && !cx.in_lanes => ended(cx, *l),
        other => other,
    };
    (cx.on_device, cx.in_lanes) = outside;
    made
}

/// A loop with its condition, if it has one.
fn ended(cx: &mut Stop<'_>, l: For) -> Stmt {
    let name = cx.program.loops[l.id].with_case();
    let races = "the schedule allows races, so others may change what it asks for";
    let Some(found) = Search::of(&l, &cx.transient) else {
        let why_not = match flag::search(&l, &cx.transient) {
            Some(Ok(found)) if found.stored.iter().any(|buf| cx.racing.contains(buf)) => Some(races),
            Some(Ok(found)) => {
                cx.trace.did(name, "ends behind the first iteration that stores nothing");
                return flag::flagged(cx.program, l, &found);
            }
            Some(Err(why)) => Some(why),
            None => None,
        };
        why_not.into_iter().for_each(|why| cx.trace.did_not(&name, "ended early", why));
        return build::loop_of(l);
    };
    if found.stored.iter().any(|buf| cx.racing.contains(buf)) {
        cx.trace.did_not(name, "ended early", races);
        return build::loop_of(l);
    }
    cx.trace.did(name, "ends as soon as no later iteration stores anything");
    let Found { condition, known, .. } = found;
    let body = without(l.body, &known, &mut Vec::new()).0;
    let body = if cx.on_device { body } else { at_rest::stored_again(body) };
    build::loop_of(For { condition: Some(condition), body, ..l })
}

/// `s`, which an iteration begins with, without the conditions `known` to hold there, and true if memory behind it is
/// as at the beginning. `names` are bound around it.
fn without(s: Stmt, known: &[Expr], names: &mut Vec<(Sym, Expr)>) -> (Stmt, bool) {
    match s {
        Stmt::Let { bindings, body } => {
            let before = names.len();
            for (symbol, value) in &bindings {
                let value = search::expanded(value, &|s| search::value_of(names, s));
                names.push((*symbol, value));
            }
            let (body, goes_on) = without(*body, known, names);
            names.truncate(before);
            (build::let_in(bindings, body), goes_on)
        }
        Stmt::Produce { func, body } => {
            let (body, goes_on) = without(*body, known, names);
            (Stmt::Produce { func, body: Box::new(body) }, goes_on)
        }
        Stmt::Block(list) => {
            let mut goes_on = true;
            let mut made = Vec::with_capacity(list.len());
            for s in list {
                let s = match goes_on {
                    true => {
                        let (s, unchanged) = without(s, known, names);
                        goes_on = unchanged;
                        s
                    }
                    false => s,
                };
                made.push(s);
            }
            (build::block(made), goes_on)
        }
        Stmt::If { cond, then, otherwise } if build::is_nothing(&otherwise) => {
            let parts = search::parts(&cond, &|s| search::value_of(names, s));
            let left = parts.into_iter().filter(|part| !known.contains(&part.whole)).map(|part| part.said);
            let cond = left.reduce(build::and).unwrap_or(build::boolean(true));
            let (then, goes_on) = without(*then, known, names);
            (build::if_else(cond, then, build::nothing()), goes_on)
        }
        other => {
            let stores = walk::any_stmt(&other, &mut |s| !matches!(s, Stmt::Prefetch { .. } | Stmt::Block(_)));
            (other, !stores)
        }
    }
}
