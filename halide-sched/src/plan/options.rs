//! Options of a stage: a directive sets a field, and lowering or the rest of the plan reads it.

use crate::schedule::Verb;

/// The options of a stage, or of one of its specialisations, which change none of its loops.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct StageOptions {
    /// True if values are to be written with non-temporal stores, false if never; `None` leaves it to lowering.
    pub stream: Option<bool>,
    /// True if the schedule asks for loads past the caches.
    pub stream_loads: bool,
    /// True if the schedule vouches that no result depends on races.
    pub races_allowed: bool,
    /// True if the code generator is not to unroll its innermost loops.
    pub never_unroll: bool,
}

impl StageOptions {
    /// Sets the option that a directive is about. Returns false if it is about something else.
    pub(super) fn set(&mut self, verb: &Verb) -> bool {
        match verb {
            Verb::StreamStores => self.stream = Some(true),
            Verb::StreamLoads => self.stream_loads = true,
            Verb::CacheStores => self.stream = Some(false),
            Verb::NeverUnroll => self.never_unroll = true,
            Verb::AllowRaceConditions => self.races_allowed = true,
            _ => return false,
        }
        true
    }
}
