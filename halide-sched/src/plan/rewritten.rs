//! The result of the directives that change the graph.

use halide_core::ids::FuncId;
use halide_core::pipeline::Pipeline;
use std::collections::{BTreeMap, BTreeSet};

/// The result of the directives that change the graph.
pub(super) struct Rewritten {
    /// The pipeline with the Funcs that the schedule asks for.
    pub(super) pipeline: Pipeline,
    /// The names of those that cannot be made.
    pub(super) not_made: BTreeSet<String>,
    /// Other directives that have been followed.
    pub(super) spent: BTreeSet<usize>,
    /// The Funcs whose elements are coordinates of their first dimension, with the number of elements.
    pub(super) joined: BTreeMap<FuncId, i64>,
}
