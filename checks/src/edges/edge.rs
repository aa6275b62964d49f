//! A run at an edge, with the outcome that it must have.

use crate::case::{Case, TARGET};
use halide::ir::Fault;
use halide::prelude::*;

/// A run, and whether it must be refused.
pub(super) struct Edge {
    pub(super) case: Case,
    pub(super) expected: Expected,
}

/// The outcome that a run must have.
pub(super) enum Expected {
    /// It is served, or faults of this kind end it.
    Known { served: bool, fault: fn(&Fault) -> bool },
    /// It is served exactly where the interpreter gives values.
    AsInterpreted,
    /// It is refused where the interpreter refuses, and may be elsewhere. Final programs do not run: what is simplified
    /// may leave 64 bits on the way to what does not.
    AtLeastAsInterpreted,
}

impl Edge {
    /// A run of `output` over a region, under a schedule that is legal.
    pub(super) fn new(output: &Func, schedule: &str, region: Region, seed: u64, expected: Expected) -> Edge {
        let pipeline = Pipeline::new([output]).unwrap_or_else(|e| panic!("a pipeline has mistakes: {e}"));
        let schedule = schedule.parse().unwrap_or_else(|e| panic!("`{schedule}` is no schedule: {e:?}"));
        let case = Case { pipeline, schedule, target: TARGET, regions: vec![region], seed, roomy: false, far: true };
        Edge { case, expected }
    }
}
