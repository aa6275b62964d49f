//! One scalar value, and the exact meaning of every operator on it: the interpreter, the IR evaluator and constant
//! folding all call the functions here, so that they cannot disagree.
//!
//! Every function is total. Operators that a checked pipeline never applies to a type still mean something simple:
//! `Bool` computes as a one-bit unsigned integer, bitwise operators on floats act on the bits, rounding an integer is
//! the identity. The sign and payload of a NaN mean nothing; [`Scalar::same`] is the equality that engines are held to.

mod convert;
mod element;
mod half;
mod ops;
mod scalar;
#[cfg(test)]
mod tests;

pub use convert::{cast, reinterpret, saturating_cast};
pub use element::Element;
pub use half::{bf16, f16};
pub use ops::{binary, binary_type, identity, math, select, unary, unary_type};
pub use scalar::Scalar;
