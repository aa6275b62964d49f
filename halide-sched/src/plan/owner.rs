//! The stage of a Func that has a loop which a directive asks of another stage.

use super::diagnostics::Problem;
use super::stage::StageDraft;

/// A problem with a directive about one of `stages`, which are those of a Func; a loop that the stage lacks is looked
/// for in the others.
pub(super) fn with_owner(problem: Problem, stages: &[StageDraft]) -> Problem {
    let Problem::UnknownLoop { of, name, loops, near, .. } = problem else { return problem };
    let owner = stages.iter().enumerate().find(|(_, stage)| has_loop(stage, &name));
    let owner = owner.map(|(number, stage)| Box::new((number, stage.subject.clone())));
    let near = near.filter(|_| owner.is_none());
    Problem::UnknownLoop { of, name, loops, near, owner }
}

/// Returns true if a directive about the stage may speak of a loop called `name`.
fn has_loop(stage: &StageDraft, name: &str) -> bool {
    stage.position(name).or_else(|| stage.frozen(name)).is_some()
}
