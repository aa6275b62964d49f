//! Regions: the boxes that bounds inference finds, and how far stages compute beyond what they are asked for.

use crate::lower::checks::exact_indices::SmallOperand;
use crate::lower::nests::ctx::{Ctx, Template};
use crate::lower::nests::reached_factors::{reached_variants, where_reached};
use crate::lower::nests::vars::{Vars, bound, ceil_div, extent_between, variants};
use crate::lower::regions::start_early::Early;
use crate::lower::regions::union::{Region, union};
use crate::plan::StagePlan;
use crate::tuning::{MOST_REGION_NODES, REGION_ROUNDS};
use halide_core::ids::{FuncId, ImageId};
use halide_ir::hash::Map;
use halide_ir::{Edge, Expr, ExprKind, LoopId, Scope, Sym, build, visit};
use halide_solve::simplify::{BoundQuery, Facts, FarValues, Linear, Reach, simplify};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The results of bounds inference.
#[derive(Default)]
pub(crate) struct Regions {
    /// Definitions per scope, in an order in which each sees those before it.
    pub(crate) defs: BTreeMap<Scope, Vec<(Sym, Expr)>>,
    /// The loops that a bound depends on.
    pub(crate) deps: BTreeMap<Sym, BTreeSet<Scope>>,
    /// Definitions by symbol.
    pub(crate) values: BTreeMap<Sym, Expr>,
    far: FarValues,
    /// The answers of [`Growth::may_slide_around`] that further definitions do not change, by bound and scope.
    sliding: RefCell<Map<(Sym, Scope, Along), bool>>,
    /// Definitions as they were before sliding, where it changed them.
    unslid: BTreeMap<Sym, Expr>,
    /// The loops that start early.
    pub(crate) early: BTreeMap<LoopId, Early>,
    /// The region that is read of each image.
    pub(crate) images: BTreeMap<ImageId, Region>,
    /// Images of which perhaps nothing is read, where predicates say so: their regions may be empty.
    pub(crate) perhaps_unread: BTreeSet<ImageId>,
    /// Demands of pipelines and schedules on regions that the buffers of outputs or promised extents fix.
    pub(crate) demands: Vec<Demand>,
    /// The coordinates of calls of inlined Funcs.
    pub(crate) inlined: Vec<InlinedCall>,
    /// Operands of index arithmetic that must be small.
    pub(crate) operands: Vec<SmallOperand>,
}

/// One coordinate of a call of an inlined Func, over everything that the definition that calls it computes.
pub(crate) struct InlinedCall {
    /// The definition that calls it.
    pub(crate) consumer: FuncId,
    /// Index of the definition among those of the consumer.
    pub(crate) stage: usize,
    /// The Func that is called.
    pub(crate) callee: FuncId,
    /// Index of the callee's dimension.
    pub(crate) dim: usize,
    /// The range of the coordinate.
    pub(crate) reach: Reached,
}

/// The range of a coordinate.
pub(crate) enum Reached {
    /// The region of the definition in dimension `of`, moved.
    Shifted { of: usize, by: i64 },
    /// From the first to the second.
    Between(Expr, Expr),
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

    /// Replaces the definition of `s` at `scope` by a better one of the same region.
    pub(crate) fn refine(&mut self, s: Sym, scope: Scope, value: Expr) -> Option<Expr> {
        self.far.clear();
        self.sliding.get_mut().clear();
        let list = self.defs.entry(scope).or_default();
        if let Some(slot) = list.iter_mut().find(|(t, _)| *t == s) {
            slot.1 = value.clone();
        }
        self.values.insert(s, value)
    }

    /// Replaces the definition of `s` at `scope` by that of what is new; it uses only what is visible at the scope's
    /// start.
    pub(crate) fn replace(&mut self, s: Sym, scope: Scope, value: Expr) {
        if let Some(old) = self.refine(s, scope, value) {
            self.unslid.entry(s).or_insert(old);
        }
    }
}

/// Returns the definition's own dimension that a coordinate is a shift of, and the distance; `None` if there is none.
pub(crate) fn shifted(template: &Template, coordinate: &Expr) -> Option<(usize, i64)> {
    let sum = Linear::of(coordinate);
    let [(atom, 1)] = &sum.terms[..] else { return None };
    let dim = template.dims.iter().position(|&s| *atom == build::sym(s))?;
    Some((dim, sum.constant))
}

/// A region that must hold another.
pub(crate) struct Demand {
    /// The Func whose region it is.
    pub(crate) func: FuncId,
    /// Index of the dimension.
    pub(crate) dim: usize,
    /// The first and the last coordinate demanded.
    pub(crate) needed: (Expr, Expr),
    /// The scope in which it is checked.
    pub(crate) at: Scope,
}

/// Returns the region that a stage computes per iteration of `scope`: its bounds, grown as its tails need.
pub(crate) fn computed(
    ctx: &Ctx<'_>,
    known: &Regions,
    facts: &Facts,
    func: FuncId,
    stage: usize,
    scope: Scope,
) -> Region {
    let growth = Growth { ctx, known, facts, func, stage, scope };
    let variants = reached_variants(&ctx.plan.funcs[func].stages[stage]);
    let variants: Vec<_> = variants.iter().map(|(reached, plan)| where_reached(plan, reached)).collect();
    let mut region = Vec::new();
    for dim in 0..ctx.plan.pipeline.funcs[func].dims() {
        let (min, max) = growth.edges(dim, scope);
        let mut last = max;
        if !(ctx.is_output(func) && scope == Scope::Root) {
            for variant in &variants {
                last = build::max(last, growth.last(variant, dim));
            }
        }
        region.push((min, simplify(&last, facts)));
    }
    region
}

/// The tail of one variant of a definition, which may compute beyond the region per iteration of a place.
pub(crate) struct StageTail<'p> {
    pub(crate) func: FuncId,
    stage: usize,
    variant: &'p StagePlan,
    pub(crate) dim: usize,
    pub(crate) place: Scope,
}

impl<'p> StageTail<'p> {
    /// The tails of `func` at the places where it is computed.
    pub(crate) fn all(ctx: &Ctx<'p>, func: FuncId) -> Vec<StageTail<'p>> {
        let plan = ctx.plan;
        let mut found = Vec::new();
        for place in ctx.computed.get(&func).into_iter().flatten().copied() {
            for (stage, stage_plan) in plan.funcs[func].stages.iter().enumerate() {
                for variant in variants(stage_plan) {
                    let vars = Vars::of_plan(ctx, func, stage, variant, place);
                    let grows = |dim: &usize| vars.pure_var(*dim).is_some_and(|var| vars.slack(var).is_some());
                    let dims = (0..plan.pipeline.funcs[func].dims()).filter(grows);
                    found.extend(dims.map(|dim| StageTail { func, stage, variant, dim, place }));
                }
            }
        }
        found
    }

    /// Returns true if it computes no more than the region, for certain.
    pub(crate) fn never_grows(&self, ctx: &Ctx<'p>, known: &Regions, facts: &Facts) -> bool {
        let growth = Growth { ctx, known, facts, func: self.func, stage: self.stage, scope: self.place };
        growth.never_grows(self.variant, self.dim, self.place)
    }

    /// The bound of its definition's region in its dimension.
    pub(crate) fn edge(&self, edge: Edge) -> Sym {
        bound_sym(self.func, self.stage, self.dim, edge, self.place)
    }

    /// The constant length below which it grows every region.
    pub(crate) fn factor(&self, ctx: &Ctx<'p>) -> Option<i64> {
        let vars = Vars::of_plan(ctx, self.func, self.stage, self.variant, self.place);
        build::as_int(&vars.slack(vars.pure_var(self.dim)?)?)?.checked_add(1)
    }
}

/// Returns true if a stage is known to compute no further in a dimension than the slack of its tail beyond its bounds
/// per iteration of `scope`, and perhaps does not get that far.
pub(crate) fn is_estimated(
    (ctx, known, facts): (&Ctx<'_>, &Regions, &Facts),
    (func, stage): (FuncId, usize),
    dim: usize,
    scope: Scope,
) -> bool {
    let growth = Growth { ctx, known, facts, func, stage, scope };
    let variants = reached_variants(&ctx.plan.funcs[func].stages[stage]);
    let mut variants = variants.iter().map(|(reached, plan)| where_reached(plan, reached));
    variants.any(|variant| matches!(growth.extension(&variant, dim), Extension::AtMost(_)))
}

/// The last coordinate that a variant computes in a dimension.
enum Extension {
    /// The last coordinate of the bounds.
    Max,
    /// The last one of this extent from the first coordinate on.
    Cover(Expr),
    /// The last one of a whole number of pieces of this length.
    Multiple(i64),
    /// No more than this beyond that of the bounds.
    AtMost(Expr),
}

/// The loops along which something may slide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Along {
    /// Loops around the scope at hand.
    Around,
    /// Loops around the place where the bound is valid.
    Within,
}

/// The growth of a stage's region beyond its bounds, per iteration of `scope`.
struct Growth<'c, 'p> {
    ctx: &'c Ctx<'p>,
    known: &'c Regions,
    facts: &'c Facts,
    func: FuncId,
    stage: usize,
    scope: Scope,
}

impl Growth<'_, '_> {
    /// The bounds of a dimension per iteration of `at`.
    fn edges(&self, dim: usize, at: Scope) -> (Expr, Expr) {
        let edge = |edge| bound(self.func, self.stage, dim, edge, at);
        (edge(Edge::Min), edge(Edge::Max))
    }

    /// The last coordinate that one variant computes.
    fn last(&self, variant: &StagePlan, dim: usize) -> Expr {
        let (min, max) = self.edges(dim, self.scope);
        match self.extension(variant, dim) {
            Extension::Max => max,
            Extension::Cover(extent) => build::offset(build::add(min, extent), -1),
            Extension::Multiple(factor) => {
                let extent = ceil_div(&extent_between(&min, &max), &build::int(factor));
                build::offset(build::add(min, build::mul(extent, build::int(factor))), -1)
            }
            Extension::AtMost(slack) => build::add(max, slack),
        }
    }

    /// Returns how far one variant computes.
    fn extension(&self, variant: &StagePlan, dim: usize) -> Extension {
        let (min, max) = self.edges(dim, self.scope);
        let vars = Vars::of_plan(self.ctx, self.func, self.stage, variant, self.scope);
        let Some((var, slack)) = vars.pure_var(dim).and_then(|var| Some((var, vars.slack(var)?))) else {
            return Extension::Max;
        };
        let is_inner = |p: &Scope| *p != self.scope && self.ctx.is_inside(*p, self.scope);
        let places = self.ctx.computed.get(&self.func).into_iter().flatten().copied();
        let inner: Vec<Scope> = places.filter(is_inner).collect();
        if !inner.iter().any(|&p| self.moves(dim, p)) {
            return Extension::Cover(vars.cover(var, extent_between(&min, &max)));
        }
        if inner.iter().all(|&p| self.never_grows(variant, dim, p)) {
            return Extension::Max;
        }
        let factor = build::as_int(&slack).and_then(|s| s.checked_add(1));
        match factor.filter(|f| inner.iter().all(|&p| self.starts_at_multiples(dim, *f, p))) {
            // Not in loops: a quotient there makes other bounds harder to find, and no caller's buffer is asked for it.
            Some(f) if self.scope == Scope::Root => Extension::Multiple(f),
            _ => Extension::AtMost(slack),
        }
    }

    /// Returns true if the region per iteration of `inner` begins whole multiples of `factor` behind that of the scope,
    /// as chunks of a split reduction do, and nothing that it is made of slides, which makes it begin elsewhere. Then
    /// no tail grows one beyond the next multiple: a region that begins inside of the scope's ends before
    /// `factor * (k + 1)` if it begins at `factor * k`.
    fn starts_at_multiples(&self, dim: usize, factor: i64, inner: Scope) -> bool {
        let edge = |at| bound_sym(self.func, self.stage, dim, Edge::Min, at);
        let is_kept =
            self.ctx.storage_of(self.func, inner) == Some(inner) && !self.may_slide(edge(inner), Along::Within).0;
        let first = |at| self.known.definition(edge(at), Reach::Far).unwrap_or_else(|| build::sym(edge(at)));
        let behind = simplify(&build::sub(first(inner), first(self.scope)), self.facts);
        is_kept && Linear::of(&behind).divide_exactly(factor).is_some()
    }

    /// Returns true if one variant computes no more than its bounds per iteration of `inner`, for certain.
    fn never_grows(&self, variant: &StagePlan, dim: usize, inner: Scope) -> bool {
        let vars = Vars::of_plan(self.ctx, self.func, self.stage, variant, self.scope);
        let Some((var, slack)) = vars.pure_var(dim).and_then(|var| Some((var, vars.slack(var)?))) else { return true };
        let definition = |s, reach| self.known.definition(s, reach);
        let keeps = |min: &Expr, max: &Expr| match BoundQuery::difference(
            &extent_between(min, max),
            &build::int(0),
            self.facts,
        )
        .through(&definition)
        .range()
        .ends()
        {
            (Some(low), Some(high)) if low == high => {
                let at = Vars::of_plan(self.ctx, self.func, self.stage, variant, inner);
                simplify(&at.cover(var, build::int(low)), self.facts) == build::int(low)
            }
            // A shifting tail never grows a region that is at least as long as its factor.
            (Some(low), _) => build::as_int(&slack).is_some_and(|s| low > s && vars.only_shifts(var)),
            _ => false,
        };
        let (min, max) = self.edges(dim, inner);
        let (mins, maxs) = (self.arms(dim, Edge::Min, inner), self.arms(dim, Edge::Max, inner));
        keeps(&min, &max) || mins.iter().all(|min| maxs.iter().all(|max| keeps(min, max)))
    }

    /// The values of a bound in the first and in later iterations of the loop along which it slides, or the bound.
    fn arms(&self, dim: usize, edge: Edge, at: Scope) -> Vec<Expr> {
        let sym = bound_sym(self.func, self.stage, dim, edge, at);
        match self.known.value(sym).map(Expr::kind) {
            Some(ExprKind::Select(_, first, later)) => vec![first.clone(), later.clone()],
            _ => vec![build::sym(sym)],
        }
    }

    /// Returns true if the region at `inner` may be less than that of the scope: it changes with a loop between the
    /// two, or what it is made of slides along a loop around the scope.
    fn moves(&self, dim: usize, inner: Scope) -> bool {
        let between = self.ctx.loops_between(self.scope, inner);
        let loops: BTreeSet<Scope> = between.into_iter().map(Scope::Body).collect();
        [Edge::Min, Edge::Max].into_iter().any(|edge| {
            let sym = bound_sym(self.func, self.stage, dim, edge, inner);
            self.known.deps.get(&sym).is_none_or(|deps| !deps.is_disjoint(&loops))
                || self.may_slide(sym, Along::Around).0
        })
    }

    /// Returns true if a bound inside of the scope is made of one that may slide along such a loop: of a Func that is
    /// stored outside of that loop and computed further inside. The scope's own bounds are those of whole windows. The
    /// second result is true if all definitions that this depends on are there already.
    fn may_slide(&self, sym: Sym, along: Along) -> (bool, bool) {
        let Sym::Bound { func, at, .. } = sym else { return (false, true) };
        if at == self.scope || !self.ctx.is_inside(at, self.scope) {
            return (false, true);
        }
        if let Some(known) = self.known.sliding.borrow().get(&(sym, self.scope, along)) {
            return (*known, true);
        }
        let is_computed = self.ctx.computed.get(&func).is_some_and(|places| places.contains(&at));
        let store = self.ctx.storage_of(func, at).filter(|s| match along {
            Along::Around => is_computed && self.ctx.is_inside(self.scope, *s),
            Along::Within => is_computed && *s != at,
        });
        let (mut slides, mut complete) = (false, true);
        if let Some(store) = store {
            let inmost = if along == Along::Around { self.scope } else { at };
            let loops = self.ctx.loops_between(store, inmost);
            let changes = |deps: &BTreeSet<Scope>| loops.iter().any(|l| deps.contains(&Scope::Body(*l)));
            let deps = self.known.deps.get(&sym);
            (slides, complete) = (deps.is_none_or(changes), deps.is_some());
        }
        match self.known.value(sym) {
            _ if slides => {}
            None => complete = false,
            Some(value) => visit::for_each_node(value, &mut |node| {
                if let ExprKind::Sym(inner) = node.kind()
                    && !slides
                {
                    let (part, known) = visit::deep(|| self.may_slide(*inner, along));
                    (slides, complete) = (part, complete && known);
                }
            }),
        }
        if complete {
            self.known.sliding.borrow_mut().insert((sym, self.scope, along), slides);
        }
        (slides, complete)
    }
}

/// The symbol of an edge.
pub(crate) fn bound_sym(func: FuncId, stage: usize, dim: usize, edge: Edge, at: Scope) -> Sym {
    Sym::Bound { func, stage: stage as u16, dim: dim as u16, edge, at }
}

/// The value of an extent whose ends move together: vectors and unrolled loops need to see it.
pub(crate) fn constant_extent(regions: &Regions, facts: &Facts, extent: &Expr) -> Option<Expr> {
    let inside = |s: Sym| match s {
        Sym::Bound { at: Scope::Body(_), .. } => regions.value(s).cloned(),
        _ => None,
    };
    let mut e = extent.clone();
    for _ in 0..REGION_ROUNDS {
        let expanded = visit::substitute(&e, &inside);
        let mut nodes = 0;
        let is_large = visit::any_node(&expanded, |_| {
            nodes += 1;
            nodes > MOST_REGION_NODES
        });
        if is_large {
            return None;
        }
        let expanded = simplify(&expanded, facts);
        if build::as_int(&expanded).is_some() {
            return Some(expanded);
        }
        if expanded == e {
            return None;
        }
        e = expanded;
    }
    None
}

/// Returns the region that is computed of `func` per iteration of `scope`, over all its definitions.
pub(crate) fn stored_region(ctx: &Ctx<'_>, regions: &Regions, facts: &Facts, func: FuncId, scope: Scope) -> Region {
    let stages = ctx.plan.funcs[func].stages.len();
    let mut all: Region = computed(ctx, regions, facts, func, 0, scope);
    for stage in 1..stages {
        all = union(facts, all, computed(ctx, regions, facts, func, stage, scope));
    }
    all
}
