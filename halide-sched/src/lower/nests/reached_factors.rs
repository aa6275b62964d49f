//! Factors of splits where the specialisation that has them does not apply.
//!
//! Regions and assertions outside of a Func's loops count all its variants, whichever of them runs. A factor that is a
//! parameter is checked where its variant runs only, so elsewhere it may be anything: there it counts as 1.

use crate::plan::{StagePlan, Transform};
use halide_ir::{Expr, build};
use std::borrow::Cow;

/// Returns every variant of a stage that has loops, each with the condition under which it runs.
pub(crate) fn reached_variants(plan: &StagePlan) -> Vec<(Expr, &StagePlan)> {
    let mut all = Vec::new();
    collect(plan, build::boolean(true), &mut all);
    all
}

fn collect<'p>(plan: &'p StagePlan, mut reached: Expr, all: &mut Vec<(Expr, &'p StagePlan)>) {
    for (cond, variant) in &plan.variants {
        collect(variant, build::and(reached.clone(), cond.clone()), all);
        reached = build::and(reached, build::not(cond.clone()));
    }
    if plan.fail.is_none() {
        all.push((reached, plan));
    }
}

/// Returns the plan of one variant that runs where `reached` holds, with factors that are 1 elsewhere.
pub(crate) fn where_reached<'p>(plan: &'p StagePlan, reached: &Expr) -> Cow<'p, StagePlan> {
    let is_variable = |t: &Transform| match t {
        Transform::Split { factor, .. } | Transform::Balance { count: factor, .. } => build::as_int(factor).is_none(),
        Transform::Skew { .. } | Transform::Fuse { .. } => false,
    };
    if build::as_bool(reached) == Some(true) || !plan.transforms.iter().any(is_variable) {
        return Cow::Borrowed(plan);
    }
    let mut plan = plan.clone();
    for t in plan.transforms.iter_mut().filter(|t| is_variable(t)) {
        if let Transform::Split { factor, .. } | Transform::Balance { count: factor, .. } = t {
            *factor = build::select(reached.clone(), factor.clone(), build::int(1));
        }
    }
    Cow::Owned(plan)
}
