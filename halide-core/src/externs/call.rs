//! The closures of extern stages, and what they are given.

use super::ends::Boxes;
use crate::buffer::{AnyBuffer, Region};
use crate::value::Scalar;
use std::fmt;
use std::sync::Arc;

/// The result of the closures of extern stages: any type of error will do, a text too.
pub type ExternResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

pub(super) type NeedsFn = dyn Fn(&ExternQuery<'_>) -> ExternResult<Vec<Region>> + Send + Sync;
pub(super) type ComputeFn = dyn Fn(&mut ExternCall<'_>) -> ExternResult<()> + Send + Sync;

/// The ways in which a stage says the regions of its inputs that it needs.
#[derive(Clone)]
pub enum ExternNeeds {
    /// Each input is needed over the region that is asked for.
    Same,
    /// For each input the first and the last coordinate of each dimension.
    Boxes(Boxes),
    /// A closure says it of each region.
    Asked(Arc<NeedsFn>),
}

/// The needs of a stage, and the closure that computes it.
#[derive(Clone)]
pub struct ExternFns {
    /// The regions of its inputs that it needs.
    pub needs: ExternNeeds,
    pub(super) compute: Arc<ComputeFn>,
}

impl fmt::Debug for ExternFns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExternFns")
    }
}

/// The question which regions of its inputs a stage needs.
pub struct ExternQuery<'a> {
    pub(super) region: &'a Region,
    pub(super) params: &'a [Scalar],
}

impl ExternQuery<'_> {
    /// The region of the stage that is to be computed.
    pub fn region(&self) -> &Region {
        self.region
    }
    /// The value of a parameter, in the order in which they were named.
    pub fn param(&self, i: usize) -> Option<Scalar> {
        self.params.get(i).copied()
    }
}

/// A region to be computed, with the inputs that were asked for.
pub struct ExternCall<'a> {
    pub(super) region: &'a Region,
    pub(super) params: &'a [Scalar],
    pub(super) inputs: &'a [AnyBuffer],
    pub(super) outputs: &'a mut [AnyBuffer],
}

impl ExternCall<'_> {
    /// The region to compute.
    pub fn region(&self) -> &Region {
        self.region
    }
    /// The value of a parameter, in the order in which they were named.
    pub fn param(&self, i: usize) -> Option<Scalar> {
        self.params.get(i).copied()
    }
    /// The buffers of all inputs, in order: one per image and per element of a Func, over the region that was asked
    /// for.
    pub fn inputs(&self) -> &[AnyBuffer] {
        self.inputs
    }
    /// One of [`ExternCall::inputs`].
    ///
    /// # Panics
    /// If there is no such input; a panic is an error of the run.
    pub fn input(&self, i: usize) -> &AnyBuffer {
        &self.inputs[i]
    }
    /// The buffer of an element of the values, over the region: to be written.
    ///
    /// # Panics
    /// If there is no such element; a panic is an error of the run.
    pub fn output(&mut self, element: usize) -> &mut AnyBuffer {
        &mut self.outputs[element]
    }
}
