//! Constants that are likely to be of interest.

use super::random::Random;
use halide_core::expr::{Expr, dynamic};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// A constant that is likely to be of interest.
pub(super) fn constant(random: &mut Random, ty: ScalarType) -> Expr {
    let value = match random.below(8) {
        0 => Scalar::zero(ty),
        1 if ty.is_int() => Scalar::int(ty, ty.int_max().unwrap_or(1)),
        2 if ty.is_int() => Scalar::int(ty, ty.int_min().unwrap_or(1)),
        3 if ty.is_int() => Scalar::int(ty, 1 << random.below(ty.bits() as usize)),
        4 if ty.is_int() => Scalar::from_bits(ty, random.bits()),
        _ if ty.is_float() => Scalar::float(ty, random.between(-12, 12) as f64 / 4.0),
        _ => Scalar::int(ty, i128::from(random.between(-3, 9))),
    };
    dynamic::constant(value)
}
