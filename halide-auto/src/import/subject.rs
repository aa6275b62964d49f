//! The definition that is read.

use super::approximation::{Approximation, Part};
use crate::dag::StageVar;

/// A definition: its name, and its variables.
pub(super) struct Subject<'s> {
    pub(super) name: String,
    pub(super) vars: &'s [StageVar],
}

impl<'s> Subject<'s> {
    /// Definition `stage` of a Func, with the name that schedules have for it.
    pub(super) fn new(func: &str, stage: usize, vars: &'s [StageVar]) -> Subject<'s> {
        let name = stage.checked_sub(1).map_or_else(|| func.to_string(), |k| format!("{func}.update({k})"));
        Subject { name, vars }
    }

    /// An approximation of it.
    pub(super) fn note(&self, part: Part) -> Approximation {
        Approximation { part, of: self.name.clone() }
    }
}
