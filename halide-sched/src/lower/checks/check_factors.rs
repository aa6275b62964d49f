//! Asserts that factors of splits that are parameters are positive, before anything is written. Part of
//! `check_arguments`.

use crate::lower::checks::check_arguments::assert;
use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::reached_factors::reached_variants;
use crate::plan::{Level, StagePlan, Transform};
use halide_core::ids::FuncId;
use halide_ir::{Expr, Fault, Stmt, build};
use halide_solve::simplify::Facts;

/// Adds the assertions to `list`. Where a specialisation does not apply, its factors may be anything.
pub(crate) fn check_factors(ctx: &mut Ctx<'_>, facts: &Facts, list: &mut Vec<Stmt>) {
    let plan = ctx.plan;
    for func in ctx.used.clone() {
        let row = &plan.funcs[func];
        if row.compute == Level::Inline {
            continue;
        }
        for (reached, variant) in row.stages.iter().flat_map(reached_variants) {
            check_variant(ctx, facts, list, func, variant, &reached);
        }
    }
}

fn check_variant(
    ctx: &mut Ctx<'_>,
    facts: &Facts,
    list: &mut Vec<Stmt>,
    func: FuncId,
    stage: &StagePlan,
    reached: &Expr,
) {
    for t in &stage.transforms {
        let (Transform::Split { var, factor, at, .. } | Transform::Balance { var, count: factor, at, .. }) = t else {
            continue;
        };
        if build::as_int(factor).is_some() {
            continue;
        }
        let fits = build::and(
            build::ge(factor.clone(), build::int(1)),
            build::le(factor.clone(), build::int(i32::MAX.into())),
        );
        let place = at.map(|at| format!("{at}: ")).unwrap_or_default();
        let what = format!(
            "{place}the factor by which `{}` of `{}` is split is at least 1 and at most {}",
            stage.vars[*var].name,
            ctx.name(func),
            i32::MAX
        );
        let cond = build::or(build::not(reached.clone()), fits);
        assert(ctx, facts, list, cond, Fault::Promise { what }, vec![factor.clone()]);
    }
}
