//! Edits of a schedule that the compiler takes.

use super::finding::{Edit, Finding, Step, stepped};
use super::scene::{Definition, Scene};
use crate::call::Call;
use halide_auto::tune::mark;
use halide_core::buffer::Region;
use halide_ir::ForKind;
use halide_sched::nest::Nest;
use halide_sched::plan::{self, Plan, StagePlan, Transform};
use halide_sched::schedule::{Amount, Directive, LoopKind, Schedule, Subject, Tail, Verb};

/// A call whose schedule is edited.
pub(super) struct Edits<'e> {
    pub(super) call: &'e Call<'e>,
    pub(super) regions: &'e [Region],
    pub(super) scene: &'e Scene<'e>,
}

impl Edits<'_> {
    /// The schedule of the call.
    pub(super) fn schedule(&self) -> &Schedule {
        self.call.compiled().schedule()
    }

    /// The edit by these steps, if the schedule after it is another one and is resolved.
    pub(super) fn legal(&self, steps: Vec<Step>) -> Option<Edit> {
        Some(self.resolved(steps)?.0)
    }

    /// The edit by these steps with the plan after it.
    fn resolved(&self, steps: Vec<Step>) -> Option<(Edit, Plan)> {
        let compiled = self.call.compiled();
        let before = self.schedule();
        let after = stepped(before, &steps);
        // The parts of a pipeline around extern stages are planned each by itself.
        if !compiled.feeders().is_empty() || after == stepped(before, &[]) {
            return None;
        }
        let plan = plan::resolve(compiled.pipeline(), &after, &compiled.plan().target).ok()?;
        Some((Edit::new(before, after, steps), plan))
    }

    /// The edit by these steps with the costs after it, if it is lowered.
    pub(super) fn costed(&self, steps: Vec<Step>) -> Option<(Edit, Nest)> {
        let (edit, plan) = self.resolved(steps)?;
        let nest = self.call.nest_of(&plan, self.regions).ok()?;
        Some((Edit { is_lowered: true, ..edit }, nest))
    }

    /// Takes away edits that are not lowered. Those that are lowered together are lowered once: marks and orders of
    /// different loops do not meet in lowering.
    pub(super) fn check(&self, found: &mut [Finding]) {
        let pending = |edit: &&Edit| !edit.is_lowered;
        let all = self.together(found.iter().filter_map(|finding| finding.edit.as_ref()).filter(pending));
        for finding in found {
            let Some(edit) = finding.edit.as_ref().filter(pending) else { continue };
            let is_part = all.as_ref().is_some_and(|all| edit.steps.iter().all(|step| all.steps.contains(step)));
            if !is_part && self.costed(edit.steps.clone()).is_none() {
                finding.edit = None;
            }
        }
    }

    /// The first of several edits that is legal.
    pub(super) fn first(&self, edits: impl IntoIterator<Item = Vec<Step>>) -> Option<Edit> {
        edits.into_iter().find_map(|steps| self.legal(steps))
    }

    /// One edit of several: each that is still legal after those before it.
    pub(super) fn together<'a>(&self, edits: impl Iterator<Item = &'a Edit>) -> Option<Edit> {
        let compiled = self.call.compiled();
        let resolves = |steps: &[Step]| {
            let schedule = stepped(self.schedule(), steps);
            plan::resolve(compiled.pipeline(), &schedule, &compiled.plan().target).is_ok()
        };
        let mut steps: Vec<Step> = Vec::new();
        for edit in edits {
            let next: Vec<Step> = steps.iter().chain(&edit.steps).cloned().collect();
            if resolves(&next) {
                steps = next;
            }
        }
        self.costed(steps).map(|(edit, _)| edit)
    }
}

/// Marks a loop as a whole.
pub(super) fn marked(subject: &Subject, kind: LoopKind, var: &str) -> Step {
    Step::Add(subject.clone(), mark(kind, var))
}

/// Marks a loop in chunks.
pub(super) fn marked_by(subject: &Subject, kind: LoopKind, var: &str, factor: Amount) -> Step {
    let verb = Verb::Mark { kind, var: var.to_string(), factor: Some(factor), tail: Tail::Auto };
    Step::Add(subject.clone(), verb)
}

/// The name by which directives speak of a loop that a mark in chunks made: that of the loop which was cut.
pub(super) fn said(stage: &StagePlan, var: &str) -> String {
    let cut = stage.transforms.iter().find_map(|transform| match transform {
        Transform::Split { outer, inner, .. } | Transform::Balance { outer, inner, .. }
            if stage.vars[*inner].name == var =>
        {
            Some(stage.vars[*outer].name.clone())
        }
        _ => None,
    });
    cut.unwrap_or_else(|| var.to_string())
}

/// Takes the mark away from a loop.
pub(super) fn unmarked(definition: &Definition, stage: &StagePlan, kind: LoopKind, var: &str) -> Vec<Step> {
    let steps = [said(stage, var), var.to_string()].map(|on| Step::Unmark(definition.subject.clone(), kind, Some(on)));
    steps.to_vec()
}

/// The loops of a definition that directives can name, innermost first, with `first` as the innermost. Loops that marks
/// in chunks made go with the loop which they cut.
pub(super) fn order_with(definition: &Definition, first: &str) -> Vec<String> {
    let named = definition.own().rev().filter(|around| around.kind != ForKind::Vectorized);
    let others = named.filter_map(|around| around.var.clone()).filter(|var| var != first);
    std::iter::once(first.to_string()).chain(others).collect()
}

/// The directive that cut a loop in chunks of a constant number, with that number.
pub(super) fn cut(schedule: &Schedule, subject: &Subject, outer: &str) -> Option<(Directive, i64)> {
    let constant = |factor: &Amount| if let Amount::Const(n) = factor { Some(*n) } else { None };
    let factor = |directive: &&Directive| match &directive.verb {
        Verb::Split { outer: of, factor, .. } if of == outer => constant(factor),
        Verb::Mark { var, factor: Some(factor), kind: ForKind::Parallel, .. } if var == outer => constant(factor),
        _ => None,
    };
    let own = schedule.directives().iter().filter(|directive| directive.subject == *subject);
    own.filter_map(|directive| Some((directive.clone(), factor(&directive)?))).next_back()
}

/// The directive with another number of iterations in a chunk.
pub(super) fn with_factor(verb: &Verb, number: i64) -> Verb {
    let mut verb = verb.clone();
    match &mut verb {
        Verb::Split { factor, .. } | Verb::Mark { factor: Some(factor), .. } => *factor = Amount::Const(number),
        _ => {}
    }
    verb
}
