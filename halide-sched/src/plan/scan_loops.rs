//! Loops along a scan, whose iterations may be lanes.

use super::monoid::Law;
use super::stage::{LoopDraft, StageDraft};
use crate::plan::types::{LoopPlan, PlanTail, StageVar, Transform};
use crate::schedule::FloatMode;

impl StageDraft {
    /// The loops, and which of them carry on a scan.
    pub(super) fn planned_loops(&self) -> Vec<LoopPlan> {
        let plan = |(position, l): (usize, &LoopDraft)| {
            let is_scan = self.scans(position);
            LoopPlan { var: l.var, kind: l.kind, partition: l.partition, is_scan, at: l.at }
        };
        self.loops.iter().enumerate().map(plan).collect()
    }

    /// Returns true if the iterations of the loop at `position` follow each other along a scan that may be done in
    /// lanes: no two of a loop inside touch one element, and what a tail leaves out comes last.
    pub(super) fn scans(&self, position: usize) -> bool {
        let Some((root, law)) = self.facts.scan else { return false };
        let blends = |var: StageVar| {
            let is_so = |t: &Transform| match t {
                Transform::Split { var: v, tail, .. } => {
                    *v == var && matches!(tail, PlanTail::ShiftInwardsAndBlend | PlanTail::RoundUpAndBlend)
                }
                Transform::Balance { .. } | Transform::Skew { .. } | Transform::Fuse { .. } => false,
            };
            self.transforms.iter().any(is_so)
        };
        let mut var = self.loops[position].var;
        while let Some(Transform::Split { var: whole, inner, .. }) = self.maker(var) {
            if *inner != var || blends(*whole) {
                return false;
            }
            var = *whole;
        }
        let reduces = |l: &LoopDraft| self.vars[l.var].reduction;
        let holds = match law {
            Law::Exactly => true,
            Law::ButForRounding => self.float == FloatMode::Relaxed,
            Law::No => false,
        };
        holds && var.0 as usize == root && !self.loops[position + 1..].iter().any(reduces)
    }
}
