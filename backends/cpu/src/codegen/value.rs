//! The representation of values of the loop IR in registers.
//!
//! A scalar is one Cranelift value of its lane's scalar type. A vector of any number of lanes is a list of 128-bit
//! parts; the last one may be filled in part, and what its other lanes hold means nothing. `Bool` scalars are an i8
//! that is 0 or 1; `Bool` vectors are masks, whose lanes are all ones or all zeros and as wide as is handy
//! ([`Val::Mask`]). `F16` and `BF16` travel as their bits, Index as i64.

use crate::shared::lane::Lane;
use cranelift_codegen::ir::Value;
use std::rc::Rc;

/// One scalar, or the parts of a vector.
pub(super) type Parts = Rc<[Value]>;

/// A value in registers.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// Lanes of data.
    Data(Parts),
    /// Truth lanes of a vector: integer lanes of this width, all ones or all zeros.
    Mask(Lane, Parts),
}
