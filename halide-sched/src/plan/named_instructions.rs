//! The instructions that a schedule names.

use crate::schedule::{InstructionSet, Schedule};
use std::cell::OnceCell;

/// The instructions that a schedule may name: the built-in ones are pipelines, which are made once it names one.
pub(crate) struct NamedInstructions<'s> {
    schedule: &'s Schedule,
    set: OnceCell<InstructionSet>,
}

impl<'s> NamedInstructions<'s> {
    pub(crate) fn new(schedule: &'s Schedule) -> NamedInstructions<'s> {
        NamedInstructions { schedule, set: OnceCell::new() }
    }
    pub(crate) fn get(&self) -> &InstructionSet {
        self.set.get_or_init(|| self.schedule.instructions())
    }
}
