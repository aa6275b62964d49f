//! Placeholders of a definition that its innermost loop runs over: for `likely_if_innermost`.

use crate::plan::{Level, Plan, StagePlan, StageVar, Transform, VarOrigin};
use halide_core::ids::FuncId;
use halide_ir::Sym;

/// The placeholders, of `dims` and `rvars`, that change with the innermost loop; none if other Funcs are computed in
/// it.
pub(crate) fn placeholders(plan: &Plan, func: FuncId, stage: usize, dims: &[Sym], rvars: &[Sym]) -> Vec<Sym> {
    let own = &plan.funcs[func].stages[stage];
    let Some(last) = own.loops.last() else { return Vec::new() };
    let here = |level: &Level| *level == Level::At { func, stage, label: own.label(last) };
    if plan.funcs.iter().any(|f| here(&f.compute)) {
        return Vec::new();
    }
    let mut all = Vec::new();
    roots(own, last.var, &mut |origin| match origin {
        VarOrigin::Pure { dim } => all.push(dims[dim]),
        VarOrigin::Reduction { dim, .. } => all.push(rvars[dim]),
        VarOrigin::Derived | VarOrigin::One => {}
    });
    all
}

/// Calls `found` with the origin of `var` and of every variable that it is made from.
fn roots(plan: &StagePlan, var: StageVar, found: &mut impl FnMut(VarOrigin)) {
    found(plan.vars[var].origin);
    for t in &plan.transforms {
        match t {
            Transform::Split { var: whole, outer, inner, .. } | Transform::Balance { var: whole, outer, inner, .. }
                if *outer == var || *inner == var =>
            {
                roots(plan, *whole, found);
            }
            Transform::Skew { var: old, along, skewed, .. } if *skewed == var || *along == var => {
                roots(plan, *old, found);
            }
            Transform::Fuse { inner, outer, fused } if *fused == var => {
                roots(plan, *inner, found);
                roots(plan, *outer, found);
            }
            _ => {}
        }
    }
}
