//! The optional arguments of a run.

use crate::buffer::AnyBuffer;
use crate::limits::Limits;

/// Takes lines that a pipeline prints, without their ends; from any thread.
pub type PrintSink = dyn Fn(&str) + Send + Sync;

/// The optional arguments of a run.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Gets what the pipeline prints: a line for each evaluation, and each point is evaluated once.
    pub print: Option<&'a PrintSink>,
    /// The contents of the outputs' buffers, one per tuple element of each output, over the regions that are computed;
    /// for definitions that leave some of them there (see [`undef`](crate::expr::undef)). Zeros if this is not given.
    pub before: Option<&'a [AnyBuffer]>,
    /// The cap on memory for the outputs and for the values of all Funcs, and the flag that ends the run early; none by
    /// default.
    pub limits: Option<&'a Limits>,
}
