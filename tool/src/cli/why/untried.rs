//! Schedules that have no time.

use super::super::failure::Failure;
use std::fmt;

/// The reason that a schedule has no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Untried {
    /// The time was over before.
    NoTime,
    /// It is not legal, or its run failed.
    Refused(String),
}

impl fmt::Display for Untried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Untried::NoTime => f.write_str("no time was left; give more by --time"),
            Untried::Refused(why) => f.write_str(why),
        }
    }
}

impl From<Failure> for Untried {
    fn from(Failure(text): Failure) -> Untried {
        Untried::Refused(text)
    }
}

impl From<Untried> for Failure {
    fn from(why: Untried) -> Failure {
        Failure(why.to_string())
    }
}
