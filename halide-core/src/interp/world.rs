//! The data that evaluation reads, and the requests that it makes.

use super::bound::Bound;
use super::options::PrintSink;
use super::store::{Points, Store};
use crate::buffer::AnyBuffer;
use crate::ids::{FuncId, IdVec};
use crate::limits::Limits;
use crate::pipeline::PipelineData;
use std::collections::BTreeMap;

/// Points whose values somebody needs: of a Func, with so many stages applied.
pub(super) type Requests = BTreeMap<(FuncId, u32), Points>;

/// The data that evaluation reads.
pub(super) struct World<'a> {
    pub(super) pipeline: &'a PipelineData,
    pub(super) bound: &'a Bound,
    pub(super) stores: IdVec<FuncId, Store>,
    /// Takes the lines that are printed.
    pub(super) print: Option<&'a PrintSink>,
    /// The contents of the outputs' buffers before the run, one per tuple element; none where buffers are fresh.
    pub(super) before: BTreeMap<FuncId, &'a [AnyBuffer]>,
    pub(super) limits: &'a Limits,
    /// Bytes of the values that the run holds.
    pub(super) memory: u64,
}
