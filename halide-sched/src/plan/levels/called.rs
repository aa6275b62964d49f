//! The places of closures that are called in loops.

use super::{Chooser, DraftLevel};
use halide_core::ids::FuncId;

impl Chooser<'_, '_, '_> {
    /// The level of a Func with a part in the calls of a closure: that of the extern stage, whose level is chosen, or
    /// the root where that has none, or several.
    pub(super) fn of_call(&self, func: FuncId) -> DraftLevel {
        let callee = self.graph.data().callees.iter().find(|c| c.func == func || c.inputs.contains(&func));
        let stages = callee.into_iter().flat_map(|callee| self.graph.callers(callee.func));
        let mut levels = stages.map(|(stage, _)| self.compute_level(*stage));
        match levels.next() {
            Some(Some(level)) if *level != DraftLevel::Inline && levels.all(|other| other == Some(level)) => {
                level.clone()
            }
            _ => DraftLevel::Root,
        }
    }

    /// Returns true if `input` is a copy of an input of the closure whose results `stage` copies.
    pub(super) fn is_copied_by(&self, input: FuncId, stage: FuncId) -> bool {
        let callees = self.graph.data().callees.iter().filter(|callee| callee.inputs.contains(&input));
        callees.flat_map(|callee| self.graph.callers(callee.func)).any(|(func, _)| *func == stage)
    }
}
