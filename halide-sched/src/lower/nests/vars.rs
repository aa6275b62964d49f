//! The algebra of split and fused loop variables of one stage: their values, extents, ranges and tail conditions.
//!
//! A stage's variables form a forest: a definition's dimensions are the roots, splits and fusions connect them, the
//! loops are the leaves. `value` goes from leaves to a root, `range` does the same for intervals when only some loops
//! are fixed. How splits end, and how far beyond the region that was asked for a stage runs, is in `cut`.

use crate::lower::nests::ctx::{Ctx, Instance};
use crate::lower::nests::cut::Cut;
use crate::plan::{KnownSpan, StagePlan, StageVar, Transform, VarOrigin};
use halide_core::ids::FuncId;
use halide_ir::{Edge, Expr, ForKind, Scope, Sym, build};
use halide_solve::bounds::Interval;
use std::collections::BTreeSet;

/// A condition on the loops of a stage.
pub(crate) struct Guard {
    /// Scalar `Bool`; where it fails, the point is not computed.
    pub(crate) cond: Expr,
    /// The loops it depends on.
    pub(crate) leaves: BTreeSet<StageVar>,
    /// True if what is computed inside the guarded loops may be skipped as well (not so for blends: later points need
    /// it).
    pub(crate) skips_all: bool,
}

/// The loop variables of one stage variant at one place.
pub(crate) struct Vars<'c> {
    pub(crate) ctx: &'c Ctx<'c>,
    pub(crate) func: FuncId,
    stage: usize,
    pub(crate) plan: &'c StagePlan,
    pub(crate) at: Scope,
}

impl<'c> Vars<'c> {
    pub(crate) fn of(ctx: &'c Ctx<'_>, inst: &'c Instance<'_>) -> Vars<'c> {
        Vars { ctx, func: inst.func, stage: inst.stage, plan: inst.plan, at: inst.at }
    }

    /// The variables of a variant wherever it stands; `at` only names the bounds.
    pub(crate) fn of_plan(ctx: &'c Ctx<'_>, func: FuncId, stage: usize, plan: &'c StagePlan, at: Scope) -> Vars<'c> {
        Vars { ctx, func, stage, plan, at }
    }

    /// The variable of a dimension of the Func.
    pub(crate) fn pure_var(&self, dim: usize) -> Option<StageVar> {
        self.root(VarOrigin::Pure { dim })
    }

    fn root(&self, origin: VarOrigin) -> Option<StageVar> {
        self.plan.vars.enumerate().find(|(_, v)| v.origin == origin).map(|(id, _)| id)
    }

    /// The variable of dimension `dim` of the reduction domain.
    pub(crate) fn reduction_var(&self, dim: usize) -> Option<StageVar> {
        let is = |o: VarOrigin| matches!(o, VarOrigin::Reduction { dim: d, .. } if d == dim);
        self.plan.vars.enumerate().find(|(_, v)| is(v.origin)).map(|(id, _)| id)
    }

    /// The transform that replaces `var`, if it is not a loop.
    pub(crate) fn consumer(&self, var: StageVar) -> Option<&'c Transform> {
        self.plan.transforms.iter().find(|t| match t {
            Transform::Split { var: v, .. } | Transform::Balance { var: v, .. } => *v == var,
            Transform::Skew { var: v, .. } => *v == var,
            Transform::Fuse { inner, outer, .. } => *inner == var || *outer == var,
        })
    }

    /// The transform that made `var`, if it is not a root.
    pub(crate) fn producer(&self, var: StageVar) -> Option<&'c Transform> {
        self.plan.transforms.iter().find(|t| match t {
            Transform::Split { outer, inner, .. } | Transform::Balance { outer, inner, .. } => {
                *outer == var || *inner == var
            }
            Transform::Skew { skewed, .. } => *skewed == var,
            Transform::Fuse { fused, .. } => *fused == var,
        })
    }

    /// The first value of `var`.
    pub(crate) fn min(&self, var: StageVar) -> Expr {
        match self.plan.vars[var].origin {
            VarOrigin::Pure { dim } => match self.known(dim).min {
                Some(min) => build::int(min),
                None => self.bound(dim, Edge::Min),
            },
            VarOrigin::Reduction { dim, .. } => self.ctx.templates[&(self.func, self.stage)].rvars[dim].1.clone(),
            VarOrigin::Derived | VarOrigin::One => build::int(0),
        }
    }

    /// The number of values of `var`.
    pub(crate) fn extent(&self, var: StageVar) -> Expr {
        match self.plan.vars[var].origin {
            VarOrigin::Pure { dim } => {
                match (&self.ctx.plan.funcs[self.func].bounds[dim].extent, self.known(dim).extent) {
                    (Some(promised), _) => promised.clone(),
                    (None, Some(extent)) => build::int(extent),
                    (None, None) => extent_between(&self.bound(dim, Edge::Min), &self.bound(dim, Edge::Max)),
                }
            }
            VarOrigin::Reduction { dim, .. } => self.ctx.templates[&(self.func, self.stage)].rvars[dim].2.clone(),
            VarOrigin::One => build::int(1),
            VarOrigin::Derived => match self.producer(var).expect("a derived variable has a transform") {
                Transform::Split { inner, factor, .. } if *inner == var => factor.clone(),
                Transform::Split { var: parent, factor, .. } => ceil_div(&self.extent(*parent), factor),
                Transform::Balance { outer, count, .. } if *outer == var => count.clone(),
                Transform::Balance { var: parent, count, .. } => ceil_div(&self.extent(*parent), count),
                Transform::Skew { var: old, by, along, .. } => {
                    build::add(self.extent(*old), build::mul(build::int(by.abs()), self.last(*along)))
                }
                Transform::Fuse { inner, outer, .. } => build::mul(self.not_negative(*inner), self.extent(*outer)),
            },
        }
    }

    /// Constants of a dimension by the conditions of the variant: they speak of the buffer, which is the region of an
    /// output that is computed outside of all loops.
    fn known(&self, dim: usize) -> KnownSpan {
        let is_whole = self.at == Scope::Root && self.ctx.is_output(self.func);
        self.plan.known.get(dim).copied().filter(|_| is_whole).unwrap_or_default()
    }

    /// The number of values of `var`, of which there may be none: a region that nobody reads ends before it begins, and
    /// two extents below 0 have a product above it.
    fn not_negative(&self, var: StageVar) -> Expr {
        let extent = self.extent(var);
        let given = self.ctx.is_output(self.func) && self.at == Scope::Root;
        let counts = given || build::as_int(&extent).is_some();
        if counts { extent } else { build::max(extent, build::int(0)) }
    }

    fn bound(&self, dim: usize, edge: Edge) -> Expr {
        bound(self.func, self.stage, dim, edge, self.at)
    }

    /// The start of the current chunk of a split, relative to the variable's minimum.
    fn chunk(&self, t: &Transform, outer: Expr) -> Expr {
        let Transform::Split { var, factor, .. } = t else { return outer };
        let start = build::mul(outer, factor.clone());
        match self.cut(t) {
            Cut::Plain | Cut::Guard => start,
            Cut::Shift | Cut::Blend => build::min(start, build::sub(self.shifted_extent(*var, factor), factor.clone())),
        }
    }

    /// The extent inside which a shifting split stays: at least the factor.
    fn shifted_extent(&self, var: StageVar, factor: &Expr) -> Expr {
        match self.is_whole(var) && !self.ctx.is_output(self.func) {
            true => build::max(self.extent(var), factor.clone()),
            false => self.extent(var),
        }
    }

    /// The start of chunk `outer` of a balanced split, relative to the variable's minimum, and its size.
    pub(crate) fn balanced(&self, t: &Transform, outer: &Expr) -> (Expr, Expr) {
        let Transform::Balance { var, count, .. } = t else { return (outer.clone(), build::int(1)) };
        let extent = self.not_negative(*var);
        let least = build::div(extent.clone(), count.clone());
        let longer = build::rem(extent, count.clone());
        let start = build::add(build::mul(outer.clone(), least.clone()), build::min(outer.clone(), longer.clone()));
        let more = build::select(build::lt(outer.clone(), longer), build::int(1), build::int(0));
        (start, build::add(least, more))
    }

    /// The value of `var` where it is skewed by a multiple of another variable, `along`, whose value is given.
    fn unskewed(&self, var: StageVar, (by, along): (i64, StageVar), skewed: &Expr, value: &Expr) -> Expr {
        let mut steps = build::sub(value.clone(), self.min(along));
        if by < 0 {
            // The least sum is that of the last value.
            steps = build::sub(steps, self.last(along));
        }
        build::add(build::sub(skewed.clone(), build::mul(build::int(by), steps)), self.min(var))
    }

    /// The last value of `var`, counted from the first one.
    fn last(&self, var: StageVar) -> Expr {
        build::offset(self.cover(var, self.extent(var)), -1)
    }

    /// The last value of `var` that is asked for.
    pub(crate) fn end(&self, var: StageVar) -> Expr {
        build::offset(build::add(self.min(var), self.extent(var)), -1)
    }

    /// The value of `var`, where `leaf` gives the variable of each loop.
    pub(crate) fn value(&self, var: StageVar, leaf: &dyn Fn(StageVar) -> Expr) -> Expr {
        match self.consumer(var) {
            None => leaf(var),
            Some(t @ Transform::Split { outer, inner, .. }) => {
                let chunk = self.chunk(t, self.value(*outer, leaf));
                build::add(build::add(chunk, self.value(*inner, leaf)), self.min(var))
            }
            Some(t @ Transform::Balance { outer, inner, .. }) => {
                let (start, _) = self.balanced(t, &self.value(*outer, leaf));
                build::add(build::add(start, self.value(*inner, leaf)), self.min(var))
            }
            Some(Transform::Skew { by, along, skewed, .. }) => {
                self.unskewed(var, (*by, *along), &self.value(*skewed, leaf), &self.value(*along, leaf))
            }
            Some(Transform::Fuse { inner, outer, fused }) => {
                let all = self.value(*fused, leaf);
                let part = if var == *outer {
                    build::div(all, self.extent(*inner))
                } else {
                    build::rem(all, self.extent(*inner))
                };
                build::add(part, self.min(var))
            }
        }
    }

    /// The first value and the number of iterations of the loop of a leaf. The inner loop of a guarded split that runs
    /// one iteration at a time simply ends early.
    pub(crate) fn loop_bounds(&self, var: StageVar, leaf: &dyn Fn(StageVar) -> Expr) -> (Expr, Expr) {
        match self.trimmed(var) {
            Some(Transform::Split { var: parent, outer, factor, .. }) => {
                let done = build::mul(self.value(*outer, leaf), factor.clone());
                let left = build::sub(self.extent(*parent), done);
                (build::int(0), build::min(factor.clone(), left))
            }
            Some(t @ Transform::Balance { outer, .. }) => {
                (build::int(0), self.balanced(t, &self.value(*outer, leaf)).1)
            }
            _ => (self.min(var), self.extent(var)),
        }
    }

    /// The guarded split whose inner loop `var` can end early instead: it is a loop, runs one iteration at a time, and
    /// stands inside all loops of the outer part.
    fn trimmed(&self, var: StageVar) -> Option<&'c Transform> {
        let t = self.producer(var)?;
        let (Transform::Split { outer, inner, .. } | Transform::Balance { outer, inner, .. }) = t else { return None };
        if *inner != var || self.cut(t) != Cut::Guard {
            return None;
        }
        let position = |v: StageVar| self.plan.loops.iter().position(|l| l.var == v);
        let mine = position(var)?;
        let kind = self.plan.loops[mine].kind;
        let steps = matches!(kind, ForKind::Serial | ForKind::Parallel);
        let inside = self.leaves(*outer).iter().all(|&l| position(l).is_some_and(|p| p < mine));
        (steps && inside).then_some(t)
    }

    /// The loops below `var`.
    pub(crate) fn leaves(&self, var: StageVar) -> BTreeSet<StageVar> {
        match self.consumer(var) {
            None => BTreeSet::from([var]),
            Some(Transform::Split { outer, inner, .. } | Transform::Balance { outer, inner, .. }) => {
                let mut all = self.leaves(*outer);
                all.extend(self.leaves(*inner));
                all
            }
            Some(Transform::Skew { along, skewed, .. }) => {
                let mut all = self.leaves(*skewed);
                all.extend(self.leaves(*along));
                all
            }
            Some(Transform::Fuse { fused, .. }) => self.leaves(*fused),
        }
    }

    /// The tail conditions that loops do not express themselves.
    pub(crate) fn guards(&self, leaf: &dyn Fn(StageVar) -> Expr) -> Vec<Guard> {
        let mut guards = Vec::new();
        for t in &self.plan.transforms {
            if let Transform::Balance { var, outer, inner, .. } = t {
                if self.trimmed(*inner).is_none() {
                    let (_, size) = self.balanced(t, &self.value(*outer, leaf));
                    let cond = build::lt(build::likely(self.value(*inner, leaf)), size);
                    guards.push(Guard { cond, leaves: self.leaves(*var), skips_all: true });
                }
                continue;
            }
            if let Transform::Skew { var, .. } = t {
                let (first, last) = (self.min(*var), self.end(*var));
                let value = build::likely(self.value(*var, leaf));
                for cond in [build::ge(value.clone(), first), build::le(value, last)] {
                    guards.push(Guard { cond, leaves: self.leaves(*var), skips_all: true });
                }
                continue;
            }
            let Transform::Split { var, outer, inner, factor, .. } = t else { continue };
            let cut = self.cut(t);
            let skips_all = cut == Cut::Guard;
            let cond = match cut {
                Cut::Plain | Cut::Shift => continue,
                Cut::Guard if self.trimmed(*inner).is_some() => continue,
                Cut::Guard => {
                    let last = build::offset(build::add(self.min(*var), self.extent(*var)), -1);
                    build::le(build::likely(self.value(*var, leaf)), last)
                }
                Cut::Blend => {
                    let o = self.value(*outer, leaf);
                    let first = build::mul(o.clone(), factor.clone());
                    build::ge(build::likely(build::add(self.chunk(t, o), self.value(*inner, leaf))), first)
                }
            };
            guards.push(Guard { cond, leaves: self.leaves(*var), skips_all });
        }
        guards
    }

    /// The interval of `var` when the loops of `fixed` stand still and all others run; `leaf` gives their variables.
    /// With no loop fixed it is the whole region, grown as `cover` says.
    pub(crate) fn range(
        &self,
        var: StageVar,
        fixed: &BTreeSet<StageVar>,
        leaf: &dyn Fn(StageVar) -> Expr,
    ) -> (Expr, Expr) {
        if self.leaves(var).is_disjoint(fixed) {
            return self.whole(var);
        }
        match self.consumer(var) {
            None => (leaf(var), leaf(var)),
            Some(t @ Transform::Split { outer, inner, .. }) => {
                let (o_min, o_max) = self.range(*outer, fixed, leaf);
                let (i_min, i_max) = self.range(*inner, fixed, leaf);
                let base = self.min(var);
                let first = build::add(build::add(self.chunk(t, o_min), i_min), base.clone());
                let last = build::add(build::add(self.chunk(t, o_max), i_max), base.clone());
                if self.cut(t) != Cut::Guard {
                    return (first, last);
                }
                let end = build::offset(build::add(base, self.extent(var)), -1);
                // `entry_guards` are not for shared loops: where nothing is left, the last point stands for it.
                let clamps = self.shares_loops() && self.may_be_empty(t, fixed);
                let first = if clamps { build::min(first, end.clone()) } else { first };
                (first, build::min(build::likely(last), end))
            }
            Some(t @ Transform::Balance { outer, inner, .. }) => {
                let (o_min, o_max) = self.range(*outer, fixed, leaf);
                let (i_min, i_max) = self.range(*inner, fixed, leaf);
                let ((low, _), (high, size)) = (self.balanced(t, &o_min), self.balanced(t, &o_max));
                let base = self.min(var);
                let first = build::add(build::add(low, i_min), base.clone());
                let last = build::add(build::add(high.clone(), i_max), base.clone());
                let end = build::offset(build::add(build::add(high, size), base), -1);
                let clamps = self.shares_loops() && self.may_be_empty(t, fixed);
                let first = if clamps { build::min(first, end.clone()) } else { first };
                (first, build::min(build::likely(last), end))
            }
            Some(t @ Transform::Skew { by, along, skewed, .. }) => {
                let (s_min, s_max) = self.range(*skewed, fixed, leaf);
                let (a_min, a_max) = self.range(*along, fixed, leaf);
                let (a_min, a_max) = if *by > 0 { (a_min, a_max) } else { (a_max, a_min) };
                let first = self.unskewed(var, (*by, *along), &s_min, &a_max);
                let last = self.unskewed(var, (*by, *along), &s_max, &a_min);
                let (least, most) = (self.min(var), self.end(var));
                let clamps = self.shares_loops() && self.may_be_empty(t, fixed);
                let first = if clamps { build::min(first, most.clone()) } else { first };
                let last = if clamps { build::max(last, least.clone()) } else { last };
                (build::max(build::likely(first), least), build::min(build::likely(last), most))
            }
            Some(Transform::Fuse { inner, fused, .. }) => {
                let Some(point) = self.point(*fused, fixed, leaf) else { return self.whole(var) };
                let n = self.extent(*inner);
                let part = if var == *inner { build::rem(point, n) } else { build::div(point, n) };
                let value = build::add(part, self.min(var));
                (value.clone(), value)
            }
        }
    }

    /// The one value of `var` when the loops of `fixed` stand still. What is one value while the outer ones of them do
    /// is that value in all loops inside, where guards may hide it.
    fn point(&self, var: StageVar, fixed: &BTreeSet<StageVar>, leaf: &dyn Fn(StageVar) -> Expr) -> Option<Expr> {
        let one = |fixed: &BTreeSet<StageVar>| {
            let (min, max) = self.range(var, fixed, leaf);
            (min == max).then_some(min)
        };
        one(fixed).or_else(|| {
            let mut outer = BTreeSet::new();
            self.plan.loops.iter().map(|l| l.var).filter(|l| fixed.contains(l)).find_map(|l| {
                outer.insert(l);
                one(&outer)
            })
        })
    }

    /// All values of `var`.
    fn whole(&self, var: StageVar) -> (Expr, Expr) {
        let extent = self.cover(var, self.extent(var));
        let min = self.min(var);
        (min.clone(), build::offset(build::add(min, extent), -1))
    }
}

/// An edge of the region of a stage.
pub(crate) fn bound(func: FuncId, stage: usize, dim: usize, edge: Edge, at: Scope) -> Expr {
    build::sym(Sym::Bound { func, stage: stage as u16, dim: dim as u16, edge, at })
}

/// `max - min + 1`.
pub(crate) fn extent_between(min: &Expr, max: &Expr) -> Expr {
    build::offset(build::sub(max.clone(), min.clone()), 1)
}

/// `ceil(e / f)` for f > 0.
pub(crate) fn ceil_div(e: &Expr, f: &Expr) -> Expr {
    match build::as_int(f) {
        Some(1) => e.clone(),
        Some(n) => build::div(build::offset(e.clone(), n - 1), f.clone()),
        None => build::div(build::offset(build::add(e.clone(), f.clone()), -1), f.clone()),
    }
}

/// An inclusive interval of two expressions.
pub(crate) fn interval((min, max): (Expr, Expr)) -> Interval {
    Interval { min: Some(min), max: Some(max) }
}

/// Every variant of a stage that has loops: specialisations first, the general case last.
pub(crate) fn variants(plan: &StagePlan) -> Vec<&StagePlan> {
    let mut list: Vec<&StagePlan> = plan.variants.iter().flat_map(|(_, p)| variants(p)).collect();
    if plan.fail.is_none() {
        list.push(plan);
    }
    list
}
