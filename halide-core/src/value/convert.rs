//! Conversions between scalar types.

use super::element::Element;
use super::half::{bf16, f16};
use super::scalar::Scalar;
use crate::types::ScalarType::{self, *};

impl Scalar {
    /// The integer `value` as a `ty`: wraps into an integer type, rounds to nearest even once into a float type,
    /// and is true for `Bool` unless it is 0.
    pub fn int(ty: ScalarType, value: i128) -> Scalar {
        match ty {
            Bool => Scalar::bool(value != 0),
            F16 | BF16 => narrow_float(ty, odd_f64(value)),
            F32 => Scalar::from(value as f32),
            F64 => Scalar::from(value as f64),
            _ => Scalar::from_bits(ty, value as u64),
        }
    }
    /// The float `value` as a `ty`, as [`cast`] converts it: rounded to nearest even once for a float type.
    pub fn float(ty: ScalarType, value: f64) -> Scalar {
        cast(ty, Scalar::from(value))
    }
    /// The smallest value: the integer minimum, `false`, or minus infinity. The identity of `Max`.
    pub fn lowest(ty: ScalarType) -> Scalar {
        match ty.int_min() {
            Some(min) => Scalar::int(ty, min),
            None => Scalar::float(ty, f64::NEG_INFINITY),
        }
    }
    /// The largest value: the integer maximum, `true`, or infinity. The identity of `Min`.
    pub fn highest(ty: ScalarType) -> Scalar {
        match ty.int_max() {
            Some(max) => Scalar::int(ty, max),
            None => Scalar::float(ty, f64::INFINITY),
        }
    }
}

/// `a` converted to `ty`. Integers wrap; float to integer truncates, saturates, and NaN gives 0; to a float rounds to
/// nearest even once, from any type; to `Bool` it is `a != 0`.
pub fn cast(ty: ScalarType, a: Scalar) -> Scalar {
    match (a.ty(), ty) {
        (from, to) if from == to => a,
        (_, Bool) => Scalar::bool(a.as_bool()),
        (from, to) if !from.is_float() => Scalar::int(to, a.as_i128()),
        (_, to) if to.is_float() => narrow_float(to, a.as_f64()),
        _ => saturating_cast(ty, a),
    }
}

/// `a` clamped to the range of `ty`, then converted; NaN gives 0 in an integer type; a float is truncated.
/// To a float type it is [`cast`]: a value out of range becomes an infinity. To `Bool` it is `a >= 1`.
pub fn saturating_cast(ty: ScalarType, a: Scalar) -> Scalar {
    match (ty.int_min(), ty.int_max()) {
        (Some(min), Some(max)) => Scalar::int(ty, a.as_i128().clamp(min, max)),
        _ => cast(ty, a),
    }
}

/// The bits of `a` as a `ty` of equal width; of other widths, the low bits, zero-extended.
pub fn reinterpret(ty: ScalarType, a: Scalar) -> Scalar {
    Scalar::from_bits(ty, a.bits())
}

/// An f64 rounded to nearest even once to a float type.
pub(super) fn narrow_float(ty: ScalarType, value: f64) -> Scalar {
    let bits = match ty {
        F16 => f16::from_f64(value).to_bits64(),
        BF16 => bf16::from_f64(value).to_bits64(),
        F32 => (value as f32).to_bits64(),
        _ => value.to_bits64(),
    };
    Scalar::from_bits(ty, bits)
}

/// An f64 that rounds to any float of fewer bits as `value` does: exact, or with a last bit that says "more follows".
pub(super) fn odd_f64(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let shift = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let lost = magnitude & ((1 << shift) - 1) != 0;
    let kept = ((magnitude >> shift) | lost as u128) as f64 * 2f64.powi(shift as i32);
    if value < 0 { -kept } else { kept }
}
