//! Errors at run time.

use super::sym::{BufId, DimField};

/// An error at run time, with the meaning of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An input does not cover what is read. Args: needed min, needed max, buffer's min, buffer's max.
    InputTooSmall {
        /// The input.
        buf: BufId,
        /// The dimension in which it is too small.
        dim: usize,
    },
    /// An output's region does not suit the schedule. Args: needed min, needed max, buffer's min, buffer's max.
    OutputRegion {
        /// The output.
        buf: BufId,
        /// The dimension of the region.
        dim: usize,
        /// The requirement of the schedule: `split(x, xo, xi, 8, RoundUp) needs a multiple of 8`.
        reason: String,
    },
    /// The stride of an input or output is not what the code was compiled for. Args: expected, actual.
    Stride {
        /// The input or output.
        buf: BufId,
        /// The dimension of the stride.
        dim: usize,
    },
    /// A property of the caller's buffer is not what a rule of the algorithm says. Args: needed, actual.
    Rule {
        /// The caller's buffer.
        buf: BufId,
        /// The dimension that the rule constrains.
        dim: usize,
        /// The property that the rule constrains.
        field: DimField,
        /// True if every multiple of the needed value will do.
        multiple: bool,
        /// The place in the source at which the rule was made.
        at: String,
    },
    /// Coordinates leave the range of i32, or an operand of their arithmetic is too large for 64 bits. Args: min, max.
    IndexOverflow {
        /// The Func or image that they are of.
        name: String,
        /// The dimension of the coordinates.
        dim: usize,
    },
    /// An allocation would be too large, or memory is exhausted. Args: bytes.
    OutOfMemory {
        /// The buffer that is allocated.
        buf: BufId,
    },
    /// A promise of the schedule does not hold (bound, align_bounds, explicit fold, split factor). Args: as the text
    /// says.
    Promise {
        /// The promise, with the place of the directive.
        what: String,
    },
    /// Something that the algorithm requires does not hold; or it does not at a point that was computed and that nobody
    /// needs, which makes no difference. The interpreter tells which.
    Require {
        /// The place of the requirement in the source, and its text.
        what: String,
    },
    /// A question that implies accesses which are not proved to be in bounds was answered with no. Another variant
    /// checks each of them.
    Unproved,
    /// An access outside of a buffer, which lowering should have made impossible. Args: the least and the greatest
    /// index of its lanes, the first and the last of the buffer.
    Access {
        /// The buffer.
        buf: BufId,
        /// The innermost loop around the access: `blur_y.xi`; empty outside of loops.
        at: String,
    },
    /// The shape is one that this variant of the code does not serve (extent below a factor). Another variant does.
    NotThisVariant,
}
