//! Loops of a stage that run for other stages as well, where one needs values of another.

use super::dependence::Nest;
use super::stage::{LoopDraft, StageDraft};
use crate::plan::types::{PlanTail, StageVar, Transform};

impl StageDraft {
    /// The outermost `count` loops, but for the one block of a single thread.
    pub(super) fn shared_loops(&self, count: usize) -> impl Iterator<Item = &LoopDraft> {
        self.loops.iter().take(count).filter(|l| !self.is_one(l))
    }

    /// A split that `var` is a part of and whose last pieces may begin earlier to fit; with `inner`, one that it is, or
    /// is a part of, the inner part of.
    pub(super) fn shifting(&self, var: StageVar, inner: bool) -> Option<&Transform> {
        let mut var = var;
        while let Some(Transform::Split { var: whole, inner: part, tail, .. }) = self.maker(var) {
            let moves = matches!(tail, PlanTail::AutoShift | PlanTail::ShiftInwards | PlanTail::ShiftInwardsAndBlend);
            if moves && (!inner || *part == var) && !self.vars[*whole].reduction {
                return self.maker(var);
            }
            var = *whole;
        }
        None
    }

    /// The nest of the outermost `count` loops.
    pub(super) fn outer_nest(&self, count: usize) -> Nest<'_> {
        Nest { loops: self.shared_loops(count).map(|l| l.var).collect(), ..self.nest() }
    }
}
