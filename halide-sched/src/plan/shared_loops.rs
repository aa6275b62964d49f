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
        loop {
            let made_by = self.maker(var)?;
            let (whole, part, moves) = match made_by {
                Transform::Split { var, inner, tail, .. } => {
                    let shift = [PlanTail::AutoShift, PlanTail::ShiftInwards, PlanTail::ShiftInwardsAndBlend];
                    (*var, *inner, shift.contains(tail))
                }
                Transform::Balance { var, inner, .. } => (*var, *inner, false),
                Transform::Skew { .. } | Transform::Fuse { .. } => return None,
            };
            if moves && (!inner || part == var) && !self.vars[whole].reduction {
                return Some(made_by);
            }
            var = whole;
        }
    }

    /// The nest of the outermost `count` loops.
    pub(super) fn outer_nest(&self, count: usize) -> Nest<'_> {
        Nest { loops: self.shared_loops(count).map(|l| l.var).collect(), ..self.nest() }
    }
}
