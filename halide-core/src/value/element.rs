//! Rust types that are elements of buffers and values of scalars.

use super::half::{bf16, f16};
use super::scalar::Scalar;
use crate::types::ScalarType;

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is one of the scalar types. `bool` is stored as a byte 0 or 1.
pub trait Element: Copy + PartialEq + std::fmt::Debug + Default + Send + Sync + 'static + sealed::Sealed {
    /// The scalar type it is.
    const TYPE: ScalarType;
    /// Its bits, zero-extended.
    fn to_bits64(self) -> u64;
    /// The value with the low bits of `bits` (as many as the type has).
    fn from_bits64(bits: u64) -> Self;
}

impl Scalar {
    /// Its value as a Rust type, if it is of just that type.
    pub fn get<T: Element>(self) -> Option<T> {
        (self.ty == T::TYPE).then(|| T::from_bits64(self.bits))
    }
}

macro_rules! elements {
    ($($rust:ty = $scalar:ident: |$v:ident| $to:expr, |$b:ident| $from:expr;)*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const TYPE: ScalarType = ScalarType::$scalar;
            #[inline]
            fn to_bits64(self) -> u64 { let $v = self; $to }
            #[inline]
            fn from_bits64($b: u64) -> Self { $from }
        }
        impl From<$rust> for Scalar {
            fn from(value: $rust) -> Scalar { Scalar { ty: ScalarType::$scalar, bits: value.to_bits64() } }
        }
        impl TryFrom<Scalar> for $rust {
            /// The scalar, when it is of another type.
            type Error = Scalar;
            fn try_from(value: Scalar) -> Result<$rust, Scalar> { value.get().ok_or(value) }
        }
    )*};
}

elements! {
    bool = Bool: |v| v as u64, |b| b & 1 != 0;
    i8 = I8: |v| v as u8 as u64, |b| b as i8;
    i16 = I16: |v| v as u16 as u64, |b| b as i16;
    i32 = I32: |v| v as u32 as u64, |b| b as i32;
    i64 = I64: |v| v as u64, |b| b as i64;
    u8 = U8: |v| v as u64, |b| b as u8;
    u16 = U16: |v| v as u64, |b| b as u16;
    u32 = U32: |v| v as u64, |b| b as u32;
    u64 = U64: |v| v, |b| b;
    f16 = F16: |v| v.to_bits() as u64, |b| f16::from_bits(b as u16);
    bf16 = BF16: |v| v.to_bits() as u64, |b| bf16::from_bits(b as u16);
    f32 = F32: |v| v.to_bits() as u64, |b| f32::from_bits(b as u32);
    f64 = F64: |v| v.to_bits(), |b| f64::from_bits(b);
}
