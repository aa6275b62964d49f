//! Regions: the boxes that bounds inference finds, and how far stages compute beyond what they are asked for.

use super::ctx::Ctx;
use super::vars::{Vars, bound, extent_between, variants};
use crate::bounds::difference_through;
use crate::ir::{Edge, Expr, Scope, Sym, build};
use crate::simplify::{Facts, FarValues, Reach, simplify};
use halide_core::ids::{FuncId, ImageId};
use std::collections::{BTreeMap, BTreeSet};

/// A box: first and last coordinate per dimension.
pub(crate) type Region = Vec<(Expr, Expr)>;

/// What bounds inference found.
#[derive(Default)]
pub(crate) struct Regions {
    /// Definitions per scope, in an order in which each sees those before it.
    pub(crate) defs: BTreeMap<Scope, Vec<(Sym, Expr)>>,
    /// The loops that a bound depends on.
    pub(crate) deps: BTreeMap<Sym, BTreeSet<Scope>>,
    /// Definitions by symbol.
    pub(crate) values: BTreeMap<Sym, Expr>,
    far: FarValues,
    /// Definitions as they were before sliding, where it changed them.
    unslid: BTreeMap<Sym, Expr>,
    /// What is read of each image.
    pub(crate) images: BTreeMap<ImageId, Region>,
    /// What pipelines and schedules demand of a region that is given from outside: (Func, dimension, demanded, given).
    pub(crate) demands: Vec<Demand>,
}

impl Regions {
    /// The definition of a bound.
    pub(crate) fn value(&self, s: Sym) -> Option<&Expr> {
        self.values.get(&s)
    }

    /// The definition of a bound, as it stands or seen through.
    pub(crate) fn definition(&self, s: Sym, reach: Reach) -> Option<Expr> {
        let near = |s: Sym| self.values.get(&s).cloned();
        match reach {
            Reach::Near => near(s),
            Reach::Far => self.far.of(s, &near),
        }
    }

    /// The definition of a bound before sliding.
    pub(crate) fn unslid(&self, s: Sym) -> Option<&Expr> {
        self.unslid.get(&s).or_else(|| self.values.get(&s))
    }

    /// Replaces the definition of `s` at `scope`; the new one uses only what is visible at the scope's start.
    pub(crate) fn replace(&mut self, s: Sym, scope: Scope, value: Expr) {
        let old = self.values.insert(s, value.clone());
        self.far.clear();
        if let Some(old) = old {
            self.unslid.entry(s).or_insert(old);
        }
        let list = self.defs.entry(scope).or_default();
        if let Some(slot) = list.iter_mut().find(|(t, _)| *t == s) {
            slot.1 = value;
        }
    }
}

/// A region that must hold another.
pub(crate) struct Demand {
    /// Whose region.
    pub(crate) func: FuncId,
    /// Which dimension.
    pub(crate) dim: usize,
    /// What is demanded of it.
    pub(crate) needed: (Expr, Expr),
    /// Where it is checked.
    pub(crate) at: Scope,
}

/// What a stage computes per iteration of `scope`: its bounds, grown as its tails need.
pub(crate) fn computed(
    ctx: &Ctx<'_>,
    known: &Regions,
    facts: &Facts,
    func: FuncId,
    stage: usize,
    scope: Scope,
) -> Region {
    let stage_plan = &ctx.plan.funcs[func].stages[stage];
    let dims = ctx.plan.pipeline.funcs[func].dims();
    let mut region = Vec::new();
    for dim in 0..dims {
        let (min, max) = (bound(func, stage, dim, Edge::Min, scope), bound(func, stage, dim, Edge::Max, scope));
        let mut last = max.clone();
        if !(ctx.is_output(func) && scope == Scope::Root) {
            for variant in variants(stage_plan) {
                let more = grown(ctx, known, facts, func, stage, variant, dim, scope, &min, &max);
                last = build::max(last, more);
            }
        }
        region.push((min, simplify(&last, facts)));
    }
    region
}

/// The last coordinate that one variant computes.
#[allow(clippy::too_many_arguments)] // One place, described by all of these.
fn grown(
    ctx: &Ctx<'_>,
    known: &Regions,
    facts: &Facts,
    func: FuncId,
    stage: usize,
    variant: &crate::plan::StagePlan,
    dim: usize,
    scope: Scope,
    min: &Expr,
    max: &Expr,
) -> Expr {
    let vars = Vars::of_plan(ctx, func, stage, variant, scope);
    let Some(var) = vars.pure_var(dim) else { return max.clone() };
    let Some(slack) = vars.slack(var) else { return max.clone() };
    let places = ctx.computed.get(&func).cloned().unwrap_or_default();
    let inner: Vec<Scope> = places.into_iter().filter(|p| *p != scope && ctx.is_inside(*p, scope)).collect();
    let moves = inner.iter().any(|&p| moves(ctx, known, func, stage, dim, scope, p));
    if !moves {
        let extent = vars.cover(var, extent_between(min, max));
        return build::offset(build::add(min.clone(), extent), -1);
    }
    let never_grows = inner.iter().all(|&p| {
        let extent = extent_between(&bound(func, stage, dim, Edge::Min, p), &bound(func, stage, dim, Edge::Max, p));
        match difference_through(&extent, &build::int(0), facts, &|s, reach| known.definition(s, reach)) {
            (Some(low), Some(high)) if low == high => {
                let at = Vars::of_plan(ctx, func, stage, variant, p);
                simplify(&at.cover(var, build::int(low)), facts) == build::int(low)
            }
            (Some(low), _) => {
                // A shifting tail never grows a region that is at least as long as its factor.
                matches!(build::as_int(&slack), Some(s) if low > s && vars.only_shifts(var))
            }
            _ => false,
        }
    });
    if never_grows { max.clone() } else { build::add(max.clone(), slack) }
}

/// Whether the region at `inner` changes with a loop between `outer` and `inner`.
fn moves(ctx: &Ctx<'_>, known: &Regions, func: FuncId, stage: usize, dim: usize, outer: Scope, inner: Scope) -> bool {
    let loops: BTreeSet<Scope> = ctx.loops_between(outer, inner).into_iter().map(Scope::Body).collect();
    [Edge::Min, Edge::Max].into_iter().any(|edge| match known.deps.get(&bound_sym(func, stage, dim, edge, inner)) {
        Some(deps) => !deps.is_disjoint(&loops),
        None => true,
    })
}

/// The smallest box that holds both.
pub(crate) fn union(facts: &Facts, a: Region, b: Region) -> Region {
    a.into_iter()
        .zip(b)
        .map(|((a_min, a_max), (b_min, b_max))| {
            (simplify(&build::min(a_min, b_min), facts), simplify(&build::max(a_max, b_max), facts))
        })
        .collect()
}

/// The symbol of an edge.
pub(crate) fn bound_sym(func: FuncId, stage: usize, dim: usize, edge: Edge, at: Scope) -> Sym {
    Sym::Bound { func, stage: stage as u16, dim: dim as u16, edge, at }
}
