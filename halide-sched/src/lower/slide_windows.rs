//! Do not compute again what the previous iteration left behind.
//!
//! Before and after: the definitions of `infer_bounds`. Where a Func is stored outside of a serial loop and computed
//! inside it, and the region it must compute moves one way with that loop, the region shrinks to what is new.
//!
//! Consumers are treated before producers, so that a producer is asked only for what its slid consumers compute. The
//! first iteration of the loop computes everything, unless it can start early (see `start_early`). A region that grows to suit its tails (see `vars::cover`) slides
//! only if the new part is long enough not to grow, for growth would overwrite what later iterations need.
//!
//! Example of `f(x) = in(x) + 1`, `g(x) = f(x) + f(x + 2)`:
//! ```text
//! f: store_root() compute_at(g, x)
//! ```
//! becomes
//! ```text
//! f#f0.s0.d0.min@g.x#L0 = g.x#L0
//!     -> select(g.x#L0 == g#f1.s0.d0.min@root, g.x#L0, g.x#L0 + 2)
//! f along g.x: computes only what is new in `x`
//! ```

use super::ctx::Ctx;
use super::expansions::Expansions;
use super::joined;
use super::regions::{Regions, StageTail, bound_sym};
use super::start_early::Slid;
use super::trace::LoweringTrace;
use super::vars::{Vars, variants};
use crate::bounds::{Monotone, at_most, monotone};
use crate::ir::{Edge, Expr, ForKind, LoopId, Scope, Sym, build, visit};
use crate::simplify::{Facts, simplify};
use halide_core::ids::FuncId;

/// Slides every Func that can be slid, and says for each loop whether and why not; gives those that slide upwards.
pub(crate) fn slide_windows(
    ctx: &Ctx<'_>,
    regions: &mut Regions,
    facts: &Facts,
    trace: &mut LoweringTrace,
) -> Vec<Slid> {
    let mut all = Vec::new();
    let mut expansions = Expansions::new(facts);
    let tails = ctx.plan.pipeline.order.iter().flat_map(|&func| StageTail::all(ctx, func)).collect();
    let tails = Tails { facts, tails };
    for &func in ctx.plan.pipeline.order.iter().rev() {
        for place in ctx.computed.get(&func).cloned().unwrap_or_default() {
            let Some(store) = storage_of(ctx, func, place) else { continue };
            for v in ctx.loops_between(store, place) {
                if !matches!(kind_of(ctx, v), ForKind::Serial | ForKind::Unrolled) {
                    continue;
                }
                let outcome = slide(ctx, regions, &mut expansions, &tails, func, place, v);
                let subject = format!("{} along {}", ctx.name(func), ctx.program.loops[v]);
                match outcome {
                    Ok((what, upwards)) => {
                        trace.did(subject, what);
                        all.extend(upwards);
                    }
                    Err(why) => trace.did_not(subject, "slid", why),
                }
            }
        }
    }
    all
}

/// The tails of all definitions, and what is known.
struct Tails<'f, 'p> {
    facts: &'f Facts,
    tails: Vec<StageTail<'p>>,
}

impl<'p> Tails<'_, 'p> {
    /// The tails inside of loop `v` that compute no more than the regions do, as these are now.
    fn fixed(&self, ctx: &Ctx<'p>, regions: &Regions, v: LoopId) -> Vec<&StageTail<'p>> {
        let inside =
            |t: &&StageTail<'p>| ctx.is_inside(t.place, Scope::Body(v)) && t.never_grows(ctx, regions, self.facts);
        self.tails.iter().filter(inside).collect()
    }
}

/// Where the storage of `func` computed at `place` is, if it is not an output.
pub(crate) fn storage_of(ctx: &Ctx<'_>, func: FuncId, place: Scope) -> Option<Scope> {
    let stored = ctx.stored.get(&func)?;
    ctx.enclosing(place).find(|s| stored.contains(s))
}

/// How a loop runs.
pub(crate) fn kind_of(ctx: &Ctx<'_>, l: LoopId) -> ForKind {
    let inst = &ctx.instances[ctx.loops[l].instance];
    let (var, _) = inst.leaves.iter().find(|(_, id)| **id == l).expect("a loop is a leaf of its instance");
    inst.plan.loops.iter().find(|p| p.var == *var).expect("leaves are loops").kind
}

/// The first value of a loop's variable and its extent.
pub(crate) fn bounds_of(ctx: &Ctx<'_>, l: LoopId) -> (Expr, Expr) {
    if let Some(bounds) = &ctx.loops[l].bounds {
        return bounds.clone();
    }
    let inst = &ctx.instances[ctx.loops[l].instance];
    let (var, _) = inst.leaves.iter().find(|(_, id)| **id == l).expect("a loop is a leaf of its instance");
    Vars::of(ctx, inst).loop_bounds(*var, &|v| inst.leaf(v))
}

/// An edge of the last definition's region, which those before it follow in pure dimensions.
pub(crate) fn edge_sym(ctx: &Ctx<'_>, func: FuncId, dim: usize, edge: Edge, at: Scope) -> Sym {
    let stage = (ctx.plan.funcs[func].stages.len() - 1) as u16;
    Sym::Bound { func, stage, dim: dim as u16, edge, at }
}

/// Returns true if a definition covers the same region in dimension `dim` as the next one.
pub(crate) fn follows(regions: &Regions, func: FuncId, stage: usize, dim: usize, place: Scope) -> bool {
    let same = |edge| {
        let next = bound_sym(func, stage + 1, dim, edge, place);
        regions.value(bound_sym(func, stage, dim, edge, place)) == Some(&build::sym(next))
    };
    same(Edge::Min) && same(Edge::Max)
}

/// The condition that `v` runs its first iteration.
pub(crate) fn first_iteration(ctx: &Ctx<'_>, v: LoopId) -> Expr {
    build::eq(build::loop_var(v), bounds_of(ctx, v).0)
}

/// Slides `func`, computed at `place`, along `v`; or says why not.
fn slide<'p>(
    ctx: &Ctx<'p>,
    regions: &mut Regions,
    expansions: &mut Expansions<'_>,
    tails: &Tails<'_, 'p>,
    func: FuncId,
    place: Scope,
    v: LoopId,
) -> Result<(String, Option<Slid>), String> {
    if joined::is_own_part(ctx, place, v) {
        return Err("it is computed in some iterations of a loop that runs for others as well".into());
    }
    let facts = tails.facts;
    let dims = ctx.plan.pipeline.funcs[func].dims();
    let edge = |dim, edge| build::sym(edge_sym(ctx, func, dim, edge, place));
    let mut full = |e: &Expr| expansions.of(ctx, regions, e, v, false);
    let var = Sym::Loop(v);
    let mut moving = Vec::new();
    for dim in 0..dims {
        let (min, max) = (full(&edge(dim, Edge::Min)), full(&edge(dim, Edge::Max)));
        if visit::uses(&min, var) || visit::uses(&max, var) {
            moving.push((dim, min, max));
        }
    }
    let [(dim, min, max)] = &moving[..] else {
        return Err(match moving.len() {
            0 => "the region does not depend on the loop".into(),
            _ => "the region moves in several dimensions".into(),
        });
    };
    let dim = *dim;
    if ctx.plan.funcs[func].bounds[dim].extent.is_some() {
        return Err("the schedule promises the extent of the dimension that moves".into());
    }
    let stages = ctx.plan.funcs[func].stages.len();
    if (1..stages).any(|s| !ctx.templates[&(func, s)].pure[dim]) {
        return Err("an update writes along the dimension that moves".into());
    }
    if (1..stages).any(|s| !follows(regions, func, s - 1, dim, place)) {
        return Err("its definitions cover different regions".into());
    }
    let no_defs = |_: Sym| None;
    let way = match (monotone(min, var, &no_defs), monotone(max, var, &no_defs)) {
        (Monotone::Increasing | Monotone::Constant, Monotone::Increasing | Monotone::Constant) => Edge::Min,
        (Monotone::Decreasing | Monotone::Constant, Monotone::Decreasing | Monotone::Constant) => Edge::Max,
        _ => return Err("the region does not move one way".into()),
    };
    let previous = |e: &Expr| visit::substitute(e, &|s| (s == var).then(|| build::offset(build::loop_var(v), -1)));
    // The new edge, next to what the previous iteration reached.
    let (old, reached, touching) = match way {
        Edge::Min => (min, build::offset(previous(max), 1), at_most(min, &previous(max), facts, 1)),
        Edge::Max => (max, build::offset(previous(min), -1), at_most(&previous(min), max, facts, 1)),
    };
    let reached = match (touching, way) {
        (true, _) => reached,
        (_, Edge::Min) => build::max(old.clone(), reached),
        (_, Edge::Max) => build::min(old.clone(), reached),
    };
    let new_part = match way {
        Edge::Min => (&reached, max),
        Edge::Max => (min, &reached),
    };
    check_growth(ctx, facts, func, dim, place, [new_part, (min, max)])?;
    let target = edge_sym(ctx, func, dim, way, place);
    let before = regions.value(target).expect("bounds are defined").clone();
    let reached = simplify(&reached, facts);
    let after = build::select(first_iteration(ctx, v), before.clone(), reached.clone());
    let fixed = tails.fixed(ctx, regions, v);
    regions.replace(target, place, after);
    // Inputs were asked to hold what tails compute over whole windows.
    if !fixed.iter().all(|tail| tail.never_grows(ctx, regions, facts)) {
        regions.replace(target, place, before);
        return Err("a tail would compute more than what is new".into());
    }
    expansions.forget(func);
    let name = &ctx.plan.pipeline.vars[ctx.plan.pipeline.funcs[func].args[dim]];
    let slid = Slid { func, place, along: v, dim, max: max.clone(), reached, touching };
    Ok((format!("computes only what is new in `{name}`"), (way == Edge::Min).then_some(slid)))
}

/// Refuses to slide a region of which one of these parts, each from its first coordinate to its last, would have to grow.
fn check_growth(
    ctx: &Ctx<'_>,
    facts: &Facts,
    func: FuncId,
    dim: usize,
    place: Scope,
    parts: [(&Expr, &Expr); 2],
) -> Result<(), String> {
    for stage in 0..ctx.plan.funcs[func].stages.len() {
        for variant in variants(&ctx.plan.funcs[func].stages[stage]) {
            let vars = Vars::of_plan(ctx, func, stage, variant, place);
            let Some(slack) = vars.pure_var(dim).and_then(|v| vars.slack(v)) else { continue };
            let slack = build::as_int(&simplify(&slack, facts));
            let fits =
                |(first, last): &(&Expr, &Expr)| slack.is_some_and(|s| at_most(first, last, facts, s.saturating_neg()));
            if !parts.iter().all(fits) {
                return Err("the dimension that moves is split by more than what is new".into());
            }
        }
    }
    Ok(())
}
