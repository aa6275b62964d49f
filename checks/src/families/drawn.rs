//! Pipelines with lines of schedules that families draw.

use halide::prelude::*;

/// A pipeline with lines of a schedule, of which those are taken that are legal after those before.
pub(crate) struct Drawn {
    pub(crate) outputs: Vec<Func>,
    pub(crate) lines: Vec<String>,
    /// The coordinates may be anything, so a run may be refused.
    pub(crate) far: bool,
}

impl Drawn {
    pub(crate) fn new(output: Func, lines: Vec<String>) -> Drawn {
        Drawn { outputs: vec![output], lines, far: false }
    }
}
