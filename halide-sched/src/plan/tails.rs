//! The tail strategy of a split: which ones are legal, and what `Auto` becomes.

use super::diagnostics::Problem;
use super::stage::StageDraft;
use crate::plan::types::{PlanTail, StageVar, Transform};
use crate::schedule::Tail;
use halide_ir::{Expr, build};

impl StageDraft {
    /// The tail of a split of `var` by `factor`; `None` if it is balanced, and has none.
    pub(super) fn tail(&self, var: StageVar, factor: &Expr, tail: Tail) -> Result<Option<PlanTail>, Problem> {
        check(self, var, tail)?;
        Ok(Some(match tail {
            Tail::Auto => automatic(self, var, factor),
            Tail::RoundUp => PlanTail::RoundUp,
            Tail::GuardWithIf => PlanTail::GuardWithIf,
            Tail::Predicate => PlanTail::Predicate,
            Tail::PredicateLoads => PlanTail::PredicateLoads,
            Tail::PredicateStores => PlanTail::PredicateStores,
            Tail::ShiftInwards => PlanTail::ShiftInwards,
            Tail::ShiftInwardsAndBlend => PlanTail::ShiftInwardsAndBlend,
            Tail::RoundUpAndBlend => PlanTail::RoundUpAndBlend,
            Tail::Balanced => return Ok(None),
        }))
    }
}

fn check(stage: &StageDraft, var: StageVar, tail: Tail) -> Result<(), Problem> {
    let name = || stage.name(var).to_string();
    let made_by = stage.maker(var);
    if let Some(Transform::Split { var: parent, tail: by, .. }) = made_by
        && matches!(by, PlanTail::PredicateLoads | PlanTail::PredicateStores)
    {
        let by = format!("a split of `{}` with {by:?}", stage.name(*parent));
        return Err(Problem::SplitOfPredicated { var: name(), by });
    }
    let exact = matches!(tail, Tail::Auto | Tail::GuardWithIf | Tail::Predicate | Tail::Balanced);
    if stage.vars[var].reduction && !exact {
        return Err(Problem::TailOfReduction { var: name(), tail });
    }
    let is_inner = matches!(
        made_by,
        Some(Transform::Split { inner, .. } | Transform::Balance { inner, .. }) if *inner == var
    );
    match tail {
        Tail::ShiftInwards if stage.facts.is_update => Err(Problem::ShiftOfUpdate { var: name() }),
        Tail::ShiftInwards if stage.facts.once => Err(Problem::ShiftOfKept { var: name() }),
        Tail::RoundUp if stage.facts.is_update && made_by.is_some() => Err(Problem::RoundUpInside { var: name() }),
        Tail::PredicateLoads if is_inner => Err(Problem::PredicateLoadsInside { var: name() }),
        _ => Ok(()),
    }
}

/// Chooses the tail for `Auto`, safe for every extent: none if the factor is known to divide it, a guard if a point
/// must not be computed twice or the extent may be below the factor, else a last chunk that is shifted inwards.
fn automatic(stage: &StageDraft, var: StageVar, factor: &Expr) -> PlanTail {
    let (extent, factor) = (stage.extent(var), build::as_int(factor));
    if let (Some(e), Some(f)) = (extent, factor)
        && f > 0
        && e % f == 0
    {
        return PlanTail::RoundUp;
    }
    let too_short = extent.is_some_and(|e| factor.is_none_or(|f| e < f));
    if stage.vars[var].reduction || stage.facts.once || too_short { PlanTail::GuardWithIf } else { PlanTail::AutoShift }
}
