//! Definitions that the code generators of all backends share.
//!
//! The operators of the language are total: a quotient by 0 is 0, a shift by any amount has a meaning, a conversion
//! saturates. Machines have nothing of the kind, so a generator makes such an operator of several instructions. The
//! sequences that generators have in common are spelled out here, once, over primitives that each of them has:
//! [`IntLanes`] for integers and the bits of floats, [`FloatLanes`] for floats. `halide_core::math` does the same for
//! functions of f32. Shifts by lanes, conversions of floats to integers, and the quotient that a division by lanes
//! starts from are of each generator's own.
//!
//! | trait | operators |
//! |---|---|
//! | [`IntLanes`] | primitives, shifts by constants |
//! | [`Arithmetic`] | absolute differences, halving and saturating sums, rounded products, clamped ranges |
//! | [`Products`] | upper halves of products, products of bytes |
//! | [`BitCounts`] | counts of ones, of leading and of trailing zeros |
//! | [`Divide`], [`DivideByConstant`] | Euclidean and truncating division by constants, and by lanes from a quotient |
//! | [`HalfFloats`] | 16-bit floats |
//! | [`FloatLanes`] | remainders, minimum and maximum with a NaN, tests for infinities |
//!
//! Each operator is a provided method of its trait. A generator overrides one where its machine has an instruction for
//! it, or a shorter sequence, and says so at the override. The tests of this crate instantiate the provided methods
//! over plain integers, with [`IntLanes::ternary`] and without, and compare the results with `halide_core::value`.
//!
//! [`Interval`] is what generators know of the values of an integer expression; [`truth_op`] is the table of operators
//! on `Bool`.

mod arithmetic;
mod bits;
mod division;
mod float_range;
mod floats;
mod halves;
mod interval;
mod lanes;
mod products;
#[cfg(test)]
mod tests;
mod truth;

pub use arithmetic::Arithmetic;
pub use bits::BitCounts;
pub use division::{Divide, DivideByConstant, Division, Reciprocal};
pub use float_range::FloatRange;
pub use floats::{FloatLanes, NanRule};
pub use halves::HalfFloats;
pub use interval::Interval;
pub use lanes::{Emitted, IntLanes};
pub use products::{Halves, Products};
pub use truth::{TruthOp, truth_op};
