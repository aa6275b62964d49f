//! Inputs that were checked against a pipeline.

use crate::buffer::AnyBuffer;
use crate::ids::{IdVec, ImageId, ParamId};
use crate::value::Scalar;

/// Inputs that were found complete and right for one pipeline.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The buffer of every image; type and dimensions are the image's.
    pub images: IdVec<ImageId, AnyBuffer>,
    /// The value of every parameter; of its type and within its range.
    pub params: IdVec<ParamId, Scalar>,
}

/// Inputs of which images may be missing, but none is wrong; see [`Inputs::bind_partly`](super::Inputs::bind_partly).
#[derive(Clone, Debug)]
pub struct PartlyBound {
    /// The buffer of every image that was given.
    pub images: IdVec<ImageId, Option<AnyBuffer>>,
    /// The value of every parameter; of its type and within its range.
    pub params: IdVec<ParamId, Scalar>,
}
