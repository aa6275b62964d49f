//! The scalar types and the rule by which mixed operands find a common one.

use std::fmt;

/// The element type of a Func, a buffer or an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ScalarType {
    /// Truth value; stored as one byte, 0 or 1.
    Bool,
    /// Signed integers; data arithmetic wraps.
    I8,
    /// 16-bit signed.
    I16,
    /// 32-bit signed.
    I32,
    /// 64-bit signed.
    I64,
    /// Unsigned integers; data arithmetic wraps.
    U8,
    /// 16-bit unsigned.
    U16,
    /// 32-bit unsigned.
    U32,
    /// 64-bit unsigned.
    U64,
    /// IEEE binary16.
    F16,
    /// bfloat16: the upper half of an f32.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

pub use ScalarType::*;

impl ScalarType {
    /// Every type, in declaration order.
    pub const ALL: [ScalarType; 13] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64];

    /// Width in bits; `Bool` counts as 1.
    pub fn bits(self) -> u32 {
        match self {
            Bool => 1,
            I8 | U8 => 8,
            I16 | U16 | F16 | BF16 => 16,
            I32 | U32 | F32 => 32,
            I64 | U64 | F64 => 64,
        }
    }
    /// Size of one element in memory, in bytes.
    pub fn bytes(self) -> usize {
        (self.bits() as usize).div_ceil(8)
    }
    /// I8 to I64.
    pub fn is_signed_int(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }
    /// U8 to U64; `Bool` is not one.
    pub fn is_unsigned_int(self) -> bool {
        matches!(self, U8 | U16 | U32 | U64)
    }
    /// Any integer; `Bool` is not one.
    pub fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned_int()
    }
    /// F16, BF16, F32 or F64.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | BF16 | F32 | F64)
    }
    /// The signed integer of `bits` (8, 16, 32 or 64).
    pub fn signed(bits: u32) -> ScalarType {
        match bits {
            8 => I8,
            16 => I16,
            32 => I32,
            _ => I64,
        }
    }
    /// The unsigned integer of `bits` (8, 16, 32 or 64).
    pub fn unsigned(bits: u32) -> ScalarType {
        match bits {
            8 => U8,
            16 => U16,
            32 => U32,
            _ => U64,
        }
    }
    /// The smallest value of an integer type as i128 (`Bool`: 0); `None` for floats.
    pub fn int_min(self) -> Option<i128> {
        match self {
            _ if self.is_float() => None,
            _ if self.is_signed_int() => Some(-(1i128 << (self.bits() - 1))),
            _ => Some(0),
        }
    }
    /// The largest value of an integer type as i128 (`Bool`: 1); `None` for floats.
    pub fn int_max(self) -> Option<i128> {
        match self {
            _ if self.is_float() => None,
            _ if self.is_signed_int() => Some((1i128 << (self.bits() - 1)) - 1),
            _ => Some((1i128 << self.bits()) - 1),
        }
    }
    /// The name in text: `u16`, `f32`, `bool`.
    pub fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            F16 => "f16",
            BF16 => "bf16",
            F32 => "f32",
            F64 => "f64",
        }
    }
    /// The inverse of [`ScalarType::name`].
    pub fn parse(name: &str) -> Option<ScalarType> {
        ScalarType::ALL.into_iter().find(|t| t.name() == name)
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The common type of two mixed operands: int with float gives the float; two floats the wider (f16 with bf16: f32);
/// two unsigned the wider; two signed the wider; signed with unsigned: signed at the wider width.
/// `None` when one side is `Bool` and the other is not.
pub fn promote(a: ScalarType, b: ScalarType) -> Option<ScalarType> {
    let wider = a.bits().max(b.bits());
    Some(match (a, b) {
        _ if a == b => a,
        (Bool, _) | (_, Bool) => return None,
        _ if a.is_float() && b.is_float() => match (a.bits(), b.bits()) {
            (16, 16) => F32,
            (x, y) if x > y => a,
            _ => b,
        },
        _ if a.is_float() => a,
        _ if b.is_float() => b,
        _ if a.is_unsigned_int() && b.is_unsigned_int() => ScalarType::unsigned(wider),
        _ => ScalarType::signed(wider),
    })
}
