//! Loops as digits of variables: a loop goes over values of a variable at a distance from each other.

use crate::dag::{StageVar, extent, pieces};
use halide_core::ids::{IdVec, ParamId};
use halide_core::value::Scalar;
use halide_ir::build::as_int;
use halide_ir::{Expr, ExprKind};
use halide_sched::plan::StageVar as PlanVar;
use halide_sched::plan::{StagePlan, Transform, VarOrigin};

/// Values of a variable at a distance from each other, so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digit {
    pub(super) var: usize,
    pub(super) step: i64,
    pub(super) count: i64,
}

/// The digits that each variable of a stage goes over after its splits and fusions, outermost first.
pub(super) fn digits(
    stage: &StagePlan,
    vars: &[StageVar],
    domain: &[(i64, i64)],
    params: &IdVec<ParamId, Scalar>,
) -> IdVec<PlanVar, Vec<Digit>> {
    let pure = vars.iter().filter(|v| v.dim.is_some()).count();
    let own = |origin: VarOrigin| match origin {
        VarOrigin::Pure { dim } => vars.iter().position(|v| v.dim == Some(dim)),
        VarOrigin::Reduction { dim, .. } => Some(pure + dim).filter(|n| *n < vars.len()),
        VarOrigin::Derived | VarOrigin::One => None,
    };
    let whole = |var: usize| Digit { var, step: 1, count: domain.get(var).map_or(1, |span| extent(*span)).max(1) };
    let first = stage.vars.iter().map(|info| own(info.origin).map(whole).into_iter().collect());
    let mut found: IdVec<PlanVar, Vec<Digit>> = first.collect();
    for transform in &stage.transforms {
        match transform {
            Transform::Split { var, outer, inner, factor, .. } => {
                let (high, low) = split(&found[*var], amount(factor, params).unwrap_or(1).max(1));
                found[*outer] = high;
                found[*inner] = low;
            }
            // As many chunks, as large as the largest one.
            Transform::Balance { var, outer, inner, count, .. } => {
                let all: i64 = found[*var].iter().map(|digit| digit.count).fold(1, i64::saturating_mul);
                let size = pieces(all, amount(count, params).unwrap_or(1).max(1)).max(1);
                let (high, low) = split(&found[*var], size);
                found[*outer] = high;
                found[*inner] = low;
            }
            // As many iterations as points, as if each wavefront were as long as the loop that it replaces.
            Transform::Skew { var, skewed, .. } => found[*skewed] = found[*var].clone(),
            Transform::Fuse { inner, outer, fused } => {
                found[*fused] = found[*outer].iter().chain(&found[*inner]).copied().collect();
            }
        }
    }
    found
}

/// The outer and the inner digits of a loop that is split.
fn split(digits: &[Digit], factor: i64) -> (Vec<Digit>, Vec<Digit>) {
    // A loop over one variable has so many values, also where the variable has fewer.
    if let [one] = digits {
        let (step, count) = (one.step.saturating_mul(factor), pieces(one.count, factor));
        return (vec![Digit { step, count, ..*one }], vec![Digit { count: factor, ..*one }]);
    }
    let (mut outer, mut inner, mut left) = (digits.to_vec(), Vec::new(), factor);
    while left > 1
        && let Some(last) = outer.pop()
    {
        let taken = last.count.min(left).max(1);
        inner.insert(0, Digit { count: taken, ..last });
        if taken < last.count {
            let (step, count) = (last.step.saturating_mul(taken), pieces(last.count, taken));
            outer.push(Digit { step, count, ..last });
        }
        left = pieces(left, taken);
    }
    (outer, inner)
}

/// The value of a factor.
fn amount(factor: &Expr, params: &IdVec<ParamId, Scalar>) -> Option<i64> {
    match factor.kind() {
        ExprKind::Param(id) => params.get(*id).map(|value| value.as_i64()),
        ExprKind::Cast(inner) => amount(inner, params),
        _ => as_int(factor),
    }
}

#[cfg(test)]
mod tests {
    use super::{Digit, split};

    fn digit(var: usize, step: i64, count: i64) -> Digit {
        Digit { var, step, count }
    }

    #[test]
    fn parts_of_one_variable_count_steps() {
        let (outer, inner) = split(&[digit(0, 1, 100)], 32);
        assert_eq!((outer, inner), (vec![digit(0, 32, 4)], vec![digit(0, 1, 32)]));
    }

    #[test]
    fn fused_loops_are_split_from_the_innermost_variable_on() {
        let fused = [digit(1, 1, 10), digit(0, 1, 8)];
        assert_eq!(split(&fused, 4), (vec![digit(1, 1, 10), digit(0, 4, 2)], vec![digit(0, 1, 4)]));
        assert_eq!(split(&fused, 16), (vec![digit(1, 2, 5)], vec![digit(1, 1, 2), digit(0, 1, 8)]));
        assert_eq!(split(&fused, 1000), (Vec::new(), fused.to_vec()));
    }
}
