//! Ends of splits: what each does there, and how far a stage runs beyond the region that was asked for. Part of `vars`.

use crate::lower::nests::vars::{Guard, Vars, ceil_div};
use crate::plan::{PlanTail, StageVar, Transform, VarOrigin};
use halide_ir::{DimField, Expr, Scope, build};
use std::collections::BTreeSet;

/// The arithmetic of the last chunk of a split, once constant extents and enclosing splits are taken into account. No
/// tail strategy: several come to the same arithmetic, and one comes to different ones by extents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// Nothing: it divides, the region grows to a multiple, or an enclosing split takes care.
    Plain,
    /// The last chunk starts earlier.
    Shift,
    /// Points beyond the end are skipped.
    Guard,
    /// The last chunk starts earlier and skips the points that were computed before.
    Blend,
}

impl<'c> Vars<'c> {
    /// Returns the tail of the split `t`.
    pub(crate) fn cut(&self, t: &Transform) -> Cut {
        let (var, factor, tail) = match t {
            Transform::Split { var, factor, tail, .. } => (var, factor, tail),
            Transform::Balance { .. } | Transform::Skew { .. } => return Cut::Guard,
            Transform::Fuse { .. } => return Cut::Plain,
        };
        let (extent, factor) = (build::as_int(&self.extent(*var)), build::as_int(factor));
        if self.is_multiple(*var, factor) {
            return Cut::Plain;
        }
        let fits = matches!((extent, factor), (Some(e), Some(f)) if e >= f);
        match self.plan.vars[*var].origin {
            VarOrigin::Pure { .. } => match tail {
                PlanTail::AutoShift if self.ctx.options.exact_tails => Cut::Guard,
                PlanTail::AutoShift | PlanTail::ShiftInwards => Cut::Shift,
                PlanTail::RoundUp => Cut::Plain,
                PlanTail::ShiftInwardsAndBlend => Cut::Blend,
                PlanTail::GuardWithIf
                | PlanTail::Predicate
                | PlanTail::PredicateLoads
                | PlanTail::PredicateStores
                | PlanTail::RoundUpAndBlend => Cut::Guard,
            },
            VarOrigin::Reduction { .. } | VarOrigin::One => Cut::Guard,
            VarOrigin::Derived => match self.producer(*var).expect("a derived variable has a transform") {
                parent @ Transform::Split { outer, .. } if outer == var && self.absorbs(parent) => Cut::Plain,
                Transform::Split { .. } if self.may_shift(*tail) && (fits || self.is_whole(*var)) => Cut::Shift,
                _ => Cut::Guard,
            },
        }
    }

    /// Returns true if `var` counts a dimension of the Func in equal parts, without a rest: a split by 1 is the
    /// dimension itself.
    pub(crate) fn is_whole(&self, var: StageVar) -> bool {
        match (self.plan.vars[var].origin, self.producer(var)) {
            (VarOrigin::Pure { .. }, _) => true,
            (VarOrigin::Derived, Some(Transform::Split { var: parent, outer, factor, .. })) => {
                *outer == var && self.is_multiple(*parent, build::as_int(factor)) && self.is_whole(*parent)
            }
            _ => false,
        }
    }

    fn may_shift(&self, tail: PlanTail) -> bool {
        match tail {
            PlanTail::AutoShift => !self.ctx.options.exact_tails,
            PlanTail::ShiftInwards => true,
            _ => false,
        }
    }

    /// Returns true if more iterations of the outer loop of `split` than its extent do no harm: it clamps, skips or
    /// grew.
    fn absorbs(&self, split: &Transform) -> bool {
        let Transform::Split { var, tail, .. } = split else { return false };
        match self.cut(split) {
            Cut::Shift | Cut::Guard => true,
            Cut::Blend => false,
            Cut::Plain if self.divides(split) => false,
            Cut::Plain => *tail == PlanTail::RoundUp || self.producer(*var).is_some_and(|p| self.absorbs(p)),
        }
    }

    /// The extent that loops cover when the region of `var` has extent `e`: `e` but for growing tails.
    pub(crate) fn cover(&self, var: StageVar, e: Expr) -> Expr {
        let Some(t @ Transform::Split { outer, factor, .. }) = self.consumer(var) else { return e };
        match self.cut(t) {
            Cut::Guard => e,
            Cut::Shift | Cut::Blend => build::max(e, factor.clone()),
            Cut::Plain if self.divides(t) && self.slack(*outer).is_none() => e,
            Cut::Plain => build::mul(self.cover(*outer, ceil_div(&e, factor)), factor.clone()),
        }
    }

    /// Returns true if the number of values of `var` is a multiple of `factor` in every run.
    fn is_multiple(&self, var: StageVar, factor: Option<i64>) -> bool {
        let Some(factor) = factor else { return false };
        build::as_int(&self.extent(var)).is_some_and(|e| e % factor == 0) || self.known_multiple(var) % factor == 0
    }

    /// Returns true if the split `t` leaves no rest in any run.
    fn divides(&self, t: &Transform) -> bool {
        matches!(t, Transform::Split { var, factor, .. } if self.is_multiple(*var, build::as_int(factor)))
    }

    /// Returns true if the loops over the parts of `var` may run beyond its end.
    fn overruns(&self, var: StageVar) -> bool {
        self.consumer(var).is_some_and(|parts| self.cut(parts) == Cut::Plain && !self.divides(parts))
    }

    /// Returns true if the guarded split `t` may have no point left while the loops of `fixed` stand still: its outer
    /// loops overrun, or its inner ones stand still before all of the outer ones do.
    pub(crate) fn may_be_empty(&self, t: &Transform, fixed: &BTreeSet<StageVar>) -> bool {
        let Transform::Split { outer, inner, .. } = t else {
            // There may be more chunks than values, and sums that no value has.
            return matches!(t, Transform::Balance { .. } | Transform::Skew { .. });
        };
        let stands = |var: StageVar| !self.leaves(var).is_disjoint(fixed);
        stands(*inner) || stands(*outer) && self.overruns(*outer)
    }

    /// Returns true if other stages may run in the loops, whose conditions are for each one's own work only.
    pub(crate) fn shares_loops(&self) -> bool {
        self.ctx.plan.groups.iter().any(|g| g.contains(&self.func))
    }

    /// Returns the conditions under which anything is left to compute while the outermost `depth` loops stand still.
    /// The guards of points come too late for the producers that are computed in loops around those: regions there are
    /// empty and begin outside of what is stored, and tails and promises make whole vectors of them.
    pub(crate) fn entry_guards(&self, depth: usize, leaf: &dyn Fn(StageVar) -> Expr) -> Vec<Guard> {
        let fixed: BTreeSet<StageVar> = self.plan.loops[..depth].iter().map(|l| l.var).collect();
        let mut guards = Vec::new();
        for t in self.plan.transforms.iter().filter(|t| self.cut(t) == Cut::Guard) {
            let (Transform::Split { var, .. } | Transform::Balance { var, .. } | Transform::Skew { var, .. }) = t
            else {
                continue;
            };
            let leaves = self.leaves(*var);
            if !self.may_be_empty(t, &fixed) || leaves.is_subset(&fixed) || leaves.is_disjoint(&fixed) {
                continue;
            }
            let (first, last) = self.range(*var, &fixed, leaf);
            let last = match t {
                Transform::Balance { .. } | Transform::Skew { .. } => last,
                _ => self.end(*var),
            };
            let leaves = self.leaves(*var).intersection(&fixed).copied().collect();
            guards.push(Guard { cond: build::le(build::likely(first), last), leaves, skips_all: true });
        }
        guards
    }

    /// A number that divides the number of values of `var` by rules and promises, which are checked first; 1 if none
    /// does.
    fn known_multiple(&self, var: StageVar) -> i64 {
        match self.plan.vars[var].origin {
            VarOrigin::Pure { dim } if self.ctx.is_output(self.func) && self.at == Scope::Root => {
                let buf = self.ctx.program.func_buffers[self.func][0];
                let rules = self.ctx.rules.iter();
                let ruled = rules.filter(|r| r.multiple && r.property == (buf, dim, DimField::Extent));
                let promised = &self.ctx.plan.funcs[self.func].bounds[dim];
                let promised = promised.align.map(|(m, _)| m).into_iter().chain(promised.align_extent);
                ruled.filter_map(|r| build::as_int(&r.value)).chain(promised).fold(1, i64::max)
            }
            VarOrigin::Derived => match self.producer(var) {
                Some(Transform::Split { var: parent, outer, factor, .. }) if *outer == var => {
                    let (all, f) = (self.known_multiple(*parent), build::as_int(factor).unwrap_or(0));
                    if f > 0 && all % f == 0 { all / f } else { 1 }
                }
                _ => 1,
            },
            _ => 1,
        }
    }

    /// An upper bound of how much `cover` adds, where it may add anything.
    pub(crate) fn slack(&self, var: StageVar) -> Option<Expr> {
        let one = build::int(1);
        let t @ Transform::Split { outer, factor, .. } = self.consumer(var)? else { return None };
        match self.cut(t) {
            Cut::Guard => None,
            Cut::Shift | Cut::Blend => Some(build::sub(factor.clone(), one)),
            Cut::Plain => {
                let more = match self.slack(*outer) {
                    None if self.divides(t) => return None,
                    more => more.map_or(build::int(0), |s| build::mul(s, factor.clone())),
                };
                Some(build::add(build::sub(factor.clone(), one), more))
            }
        }
    }

    /// Returns true if `cover` grows short regions up to a factor only, not to multiples.
    pub(crate) fn only_shifts(&self, var: StageVar) -> bool {
        self.growing(var).is_some_and(|t| matches!(self.cut(t), Cut::Shift | Cut::Blend))
    }

    /// The split for whose tail `cover` grows a region: that of `var`, or where that divides, of what it leaves of
    /// `var`.
    pub(crate) fn growing(&self, var: StageVar) -> Option<&'c Transform> {
        let t @ Transform::Split { outer, .. } = self.consumer(var)? else { return None };
        if self.divides(t) { self.growing(*outer) } else { Some(t) }
    }
}
