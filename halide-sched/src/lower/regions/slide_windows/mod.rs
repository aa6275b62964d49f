//! Sliding window: does not compute again what the previous iteration left behind.
//!
//! Before and after: the definitions of `infer_bounds`. Where a Func is stored outside of a serial loop and computed
//! inside it, and the region it must compute moves one way with that loop, the region shrinks to what is new.
//!
//! Consumers are treated before producers, so that a producer is asked only for what its slid consumers compute. The
//! first iteration of the loop computes everything, unless it can start early (see `start_early`).
//!
//! A region that grows to suit its tails (see `vars::cover`) slides if what is new can be extended, into what previous
//! iterations left in storage, to a constant length that no tail grows: a factor where tails shift, a multiple of it
//! where they round up (see `tails`). Points are then computed again, which changes nothing: all definitions cover the
//! same region. They are inside of the window, so folded storage still holds them. Growth past the window is no choice:
//! inputs do not hold what it reads, and a definition may be alone in growing, so that it overwrites what updates have
//! done.
//!
//! A tail that consumers have in the same loop ends at a distance from where its region begins. Where that region is
//! made of a window that slides, it begins elsewhere in the first iteration, which computes the whole window, and ends
//! elsewhere, too: earlier than the second iteration takes for granted. Then the producer does not slide.
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
//! Where each iteration computes eight points or fewer by vectors of four, what is new is at least one vector:
//! ```text
//! g: split(x, xo, xi, 8) f: store_root() compute_at(g, xo) vectorize(x, 4)
//! ```
//! becomes
//! ```text
//! f#f0.s0.d0.min@g.xo#L0 = g#f1.s0.d0.min@root + min(g#f1.s0.d0.max@root - g#f1.s0.d0.min@root, g.xo#L0 * 8 + 7) - 7
//!     -> select(g.xo#L0 == 0, g#f1.s0.d0.min@root + min(g#f1.s0.d0.max@root - g#f1.s0.d0.min@root, g.xo#L0 * 8 + 7) - 7, g#b1.min0 + min(g#f1.s0.d0.max@root - g#b1.min0, g.xo#L0 * 8 + 3) - 1)
//! f along g.xo: computes only what is new in `x`
//! ```

mod tails;

use crate::lower::nests::compute_with;
use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::vars::Vars;
use crate::lower::regions::bound_expansion::Expansions;
use crate::lower::regions::region_table::{Regions, bound_sym};
use crate::lower::regions::start_early::Slid;
use crate::lower::trace::LoweringTrace;
use crate::plan::Transform;
use halide_core::ids::FuncId;
use halide_ir::{Edge, Expr, ForKind, LoopId, Scope, Sym, build, visit};
use halide_solve::bounds::{Monotone, monotone};
use halide_solve::simplify::{BoundQuery, Facts, simplify};
use tails::{Moving, Tails};

/// Slides every Func that can be slid, and says for each loop whether and why not; gives those that slide.
pub(crate) fn slide_windows(
    ctx: &Ctx<'_>,
    regions: &mut Regions,
    facts: &Facts,
    trace: &mut LoweringTrace,
) -> Vec<Slid> {
    let mut all = Vec::new();
    let mut expansions = Expansions::new(facts);
    let mut tails = Tails::new(ctx, regions, facts);
    for &func in ctx.plan.pipeline.order.iter().rev() {
        for place in ctx.computed.get(&func).cloned().unwrap_or_default() {
            let Some(store) = ctx.storage_of(func, place) else { continue };
            for v in ctx.loops_between(store, place) {
                if !matches!(kind_of(ctx, v), ForKind::Serial | ForKind::Unrolled) {
                    continue;
                }
                let outcome = slide(ctx, regions, &mut expansions, &mut tails, func, place, v);
                let subject = format!("{} along {}", ctx.name(func), ctx.program.loops[v].with_case());
                match outcome {
                    Ok((what, slid)) => {
                        trace.did(subject, what);
                        all.push(slid);
                    }
                    Err(why) => trace.did_not(subject, "slid", why),
                }
            }
        }
    }
    all
}

/// Returns the kind of a loop: serial, parallel, vectorized and so on.
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

/// Returns true if the points of a loop's iterations depend on another loop, since one is skewed by the other.
fn is_skewed(ctx: &Ctx<'_>, v: LoopId) -> bool {
    ctx.instances.iter().any(|inst| {
        let vars = Vars::of(ctx, inst);
        inst.plan.transforms.iter().any(|t| match t {
            Transform::Skew { var, .. } => vars.leaves(*var).iter().any(|leaf| inst.leaves.get(leaf) == Some(&v)),
            Transform::Split { .. } | Transform::Balance { .. } | Transform::Fuse { .. } => false,
        })
    })
}

/// Slides `func`, computed at `place`, along `v`; or says why not.
fn slide<'p>(
    ctx: &Ctx<'p>,
    regions: &mut Regions,
    expansions: &mut Expansions<'_>,
    tails: &mut Tails<'_, 'p>,
    func: FuncId,
    place: Scope,
    v: LoopId,
) -> Result<(String, Slid), String> {
    if compute_with::is_own_part(ctx, place, v) {
        return Err("it is computed in some iterations of a loop that runs for others as well".into());
    }
    if is_skewed(ctx, v) {
        return Err("it is skewed, so that points may be left out before the first one".into());
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
    let region: Vec<Expr> = (0..dims).flat_map(|dim| [Edge::Min, Edge::Max].map(|e| full(&edge(dim, e)))).collect();
    if let Some(inner) = ctx.loops_between(Scope::Body(v), place).into_iter().find(|inner| {
        region.iter().any(|e| visit::uses(e, Sym::Loop(*inner))) && !is_covered_before(ctx, *inner, var, &mut full)
    }) {
        return Err(format!("`{}` goes over values that it did not in the iteration before", ctx.program.loops[inner]));
    }
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
    tails.check_other_dims(ctx, regions, Moving { func, dim, place, along: v }, &mut full)?;
    let no_defs = |_: Sym| None;
    let way = match (monotone(min, var, &no_defs), monotone(max, var, &no_defs)) {
        (Monotone::Increasing | Monotone::Constant, Monotone::Increasing | Monotone::Constant) => Edge::Min,
        (Monotone::Decreasing | Monotone::Constant, Monotone::Decreasing | Monotone::Constant) => Edge::Max,
        _ => return Err("the region does not move one way".into()),
    };
    let mut begins = |e: &Expr| expansions.of(ctx, regions, e, v, true);
    let first = (begins(&edge(dim, Edge::Min)), begins(&edge(dim, Edge::Max)));
    let reaches = reaches(ctx, facts, v, way, (&first.0, &first.1), (min, max));
    let (reached, touching) = behind_previous(facts, v, way, (min, max));
    let window = Window { func, dim, place, way, min, max, reached: &reached, reaches };
    let extended = narrow(ctx, regions, tails, &window, v)? > 0;
    expansions.forget(func);
    let name = &ctx.plan.pipeline.vars[ctx.plan.pipeline.funcs[func].args[dim]];
    let upwards = way == Edge::Min;
    let slid =
        Slid { func, place, along: v, dim, upwards, max: max.clone(), reached: reached.clone(), touching, extended };
    Ok((format!("computes only what is new in `{name}`"), slid))
}

/// The new edge of a window, next to what the previous iteration reached, and whether windows never lie apart.
fn behind_previous(facts: &Facts, v: LoopId, way: Edge, (min, max): (&Expr, &Expr)) -> (Expr, bool) {
    let var = Sym::Loop(v);
    let previous = |e: &Expr| visit::substitute(e, &|s| (s == var).then(|| build::offset(build::loop_var(v), -1)));
    let (old, reached, touching) = match way {
        Edge::Min => {
            (min, build::offset(previous(max), 1), BoundQuery::difference(min, &previous(max), facts).is_at_most(1))
        }
        Edge::Max => {
            (max, build::offset(previous(min), -1), BoundQuery::difference(&previous(min), max, facts).is_at_most(1))
        }
    };
    let reached = match (touching, way) {
        (true, _) => reached,
        (_, Edge::Min) => build::max(old.clone(), reached),
        (_, Edge::Max) => build::min(old.clone(), reached),
    };
    (simplify(&reached, facts), touching)
}

/// Returns true if the window of the first iteration, `first`, reaches as far as `later` says, which is that of any
/// other iteration. What is new in the second one is found from the latter: consumers that slide compute more in their
/// first iteration, and a tail or a promised extent, which ends at a distance from where a region begins, ends earlier
/// there.
fn reaches(ctx: &Ctx<'_>, facts: &Facts, v: LoopId, way: Edge, first: (&Expr, &Expr), later: (&Expr, &Expr)) -> bool {
    let (short, long) = match way {
        Edge::Min => (later.1, first.1),
        Edge::Max => (first.0, later.0),
    };
    let start = bounds_of(ctx, v).0;
    let at_start = |e: &Expr| visit::substitute(e, &|s| (s == Sym::Loop(v)).then(|| start.clone()));
    short == long
        || BoundQuery::difference(short, long, facts).is_at_most(0)
        || BoundQuery::difference(&at_start(short), &at_start(long), facts).is_at_most(0)
}

/// Returns true if all values that a loop goes over in an iteration of a loop around it, whose variable is `var`, are
/// among those of the iteration before: what is computed for each of them was computed then, but for what is new.
fn is_covered_before(ctx: &Ctx<'_>, inner: LoopId, var: Sym, full: &mut dyn FnMut(&Expr) -> Expr) -> bool {
    let (min, extent) = bounds_of(ctx, inner);
    let last = build::offset(build::add(min.clone(), extent), -1);
    let way = |e: &Expr| monotone(e, var, &|_| None);
    matches!(way(&full(&min)), Monotone::Increasing | Monotone::Constant)
        && matches!(way(&full(&last)), Monotone::Decreasing | Monotone::Constant)
}

/// A window that moves one way.
struct Window<'e> {
    func: FuncId,
    dim: usize,
    place: Scope,
    /// The edge that what is new replaces: that which the window moves away from.
    way: Edge,
    min: &'e Expr,
    max: &'e Expr,
    /// The first coordinate, in the direction of the movement, that the previous iteration did not reach.
    reached: &'e Expr,
    /// True if the first window reaches as far as is taken for granted in the second iteration.
    reaches: bool,
}

impl Window<'_> {
    /// The edge that replaces that of the window, so that at least `length` coordinates are computed, or all.
    fn edge(&self, length: i64, facts: &Facts) -> Expr {
        let (min, max) = (self.min.clone(), self.max.clone());
        let edge = match (self.way, length) {
            (_, 0) => return self.reached.clone(),
            (Edge::Min, _) => build::max(min, build::min(self.reached.clone(), build::offset(max, 1 - length))),
            (Edge::Max, _) => build::min(max, build::max(self.reached.clone(), build::offset(min, length - 1))),
        };
        simplify(&edge, facts)
    }
}

/// Replaces the window's edge by one behind which all is computed already. The piece that is left is no shorter than
/// its own tails and those of its producers need: returns that length, 0 if what is new needs none.
fn narrow<'p>(
    ctx: &Ctx<'p>,
    regions: &mut Regions,
    tails: &mut Tails<'_, 'p>,
    window: &Window<'_>,
    v: LoopId,
) -> Result<i64, String> {
    let &Window { func, dim, place, way, min, max, reached, reaches } = window;
    let facts = tails.facts;
    let new = match way {
        Edge::Min => (reached, max),
        Edge::Max => (min, reached),
    };
    let target = edge_sym(ctx, func, dim, way, place);
    let before = regions.value(target).expect("bounds are defined").clone();
    // Tails whose regions are made of nothing that changes grow as before.
    let fixed = if tails.depend_on(target) { tails.fixed(ctx, regions, v) } else { Vec::new() };
    let moving = Moving { func, dim, place, along: v };
    let mut least = 0;
    let length = loop {
        let outcome = tails.piece(ctx, moving, [new, (min, max)], least);
        let length = outcome.inspect_err(|_| regions.replace(target, place, before.clone()))?;
        if !reaches {
            return Err("its first window may end before those behind it begin to be new".into());
        }
        let after = build::select(first_iteration(ctx, v), before.clone(), window.edge(length, facts));
        regions.replace(target, place, after);
        // Inputs were asked to hold what tails compute over whole windows.
        let growing: Vec<_> = fixed.iter().filter(|tail| !tail.never_grows(ctx, regions, facts)).collect();
        let longest = growing.iter().map(|tail| tail.factor(ctx)).max();
        match longest {
            None => break length,
            Some(Some(longer)) if longer > length.max(least) => least = longer,
            Some(_) => {
                regions.replace(target, place, before);
                return Err("a tail would compute more than what is new".into());
            }
        }
    };
    tails.redefined(regions, target);
    Ok(length)
}
