//! A scalar: a type and its bits.

use super::half::{bf16, f16};
use crate::types::ScalarType::{self, *};
use std::fmt;

/// A typed scalar: the type and its bits, zero-extended to 64. Equality is of type and bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scalar {
    pub(super) ty: ScalarType,
    pub(super) bits: u64,
}

impl Scalar {
    /// The scalar of type `ty` with the low bits of `bits` (as many as the type has).
    pub fn from_bits(ty: ScalarType, bits: u64) -> Scalar {
        let mask = if ty.bits() == 64 { u64::MAX } else { (1u64 << ty.bits()) - 1 };
        Scalar { ty, bits: bits & mask }
    }
    /// A `Bool`.
    pub fn bool(value: bool) -> Scalar {
        Scalar { ty: Bool, bits: value as u64 }
    }
    /// Zero of any type; `false` for `Bool`.
    pub fn zero(ty: ScalarType) -> Scalar {
        Scalar { ty, bits: 0 }
    }
    /// Its type.
    pub fn ty(self) -> ScalarType {
        self.ty
    }
    /// Its bits, zero-extended.
    pub fn bits(self) -> u64 {
        self.bits
    }
    /// Its integer value; `Bool` is 0 or 1; a float truncates, saturates, NaN gives 0.
    pub fn as_i128(self) -> i128 {
        match self.ty {
            F16 | BF16 | F32 | F64 => self.as_f64() as i128,
            ty if ty.is_signed_int() => {
                let unused = 64 - ty.bits();
                ((self.bits << unused) as i64 >> unused) as i128
            }
            _ => self.bits as i128,
        }
    }
    /// [`Scalar::as_i128`] wrapped into an i64: exact for every integer type but the upper half of `U64`.
    pub fn as_i64(self) -> i64 {
        self.as_i128() as i64
    }
    /// [`Scalar::as_i128`] wrapped into a u64.
    pub fn as_u64(self) -> u64 {
        self.as_i128() as u64
    }
    /// Its value as an f64: exact for floats and integers up to 53 bits, rounded to nearest even beyond.
    pub fn as_f64(self) -> f64 {
        match self.ty {
            F16 => f16::from_bits(self.bits as u16).to_f64(),
            BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            F32 => f32::from_bits(self.bits as u32) as f64,
            F64 => f64::from_bits(self.bits),
            _ => self.as_i128() as f64,
        }
    }
    /// Returns true if it differs from zero (a NaN does).
    pub fn as_bool(self) -> bool {
        if self.ty.is_float() { self.as_f64() != 0.0 } else { self.bits != 0 }
    }
    /// Returns true if it is a NaN.
    pub fn is_nan(self) -> bool {
        self.ty.is_float() && self.as_f64().is_nan()
    }
    /// The equality that engines are held to: one type and one bit pattern, where any NaN equals any NaN.
    pub fn same(self, other: Scalar) -> bool {
        self == other || (self.ty == other.ty && self.is_nan() && other.is_nan())
    }
}

impl fmt::Display for Scalar {
    /// The value without its type; floats with the digits that tell them apart in their own type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Bool => self.as_bool().fmt(f),
            F16 | BF16 | F32 => fmt::Debug::fmt(&(self.as_f64() as f32), f),
            F64 => fmt::Debug::fmt(&self.as_f64(), f),
            _ => self.as_i128().fmt(f),
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}:{}", self.ty)
    }
}
