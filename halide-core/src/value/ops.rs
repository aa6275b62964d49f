//! The operators: wrapping integers with Euclidean division, whose quotient and remainder by zero are zero; IEEE
//! floats.

use super::element::Element;
use super::half::{bf16, f16};
use super::scalar::Scalar;
use crate::math::{eval_f32, eval_f64};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::types::ScalarType::{self, *};
use std::cmp::Ordering;

/// The type of `op` on an operand of `ty`; `None` where a checked pipeline does not allow it.
pub fn unary_type(op: UnOp, ty: ScalarType) -> Option<ScalarType> {
    match op {
        UnOp::Neg => (ty != Bool).then_some(ty),
        UnOp::Not => (!ty.is_float()).then_some(ty),
        UnOp::Abs => (ty != Bool).then_some(unsigned_of(ty)),
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz => ty.is_int().then_some(ty),
        UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc | UnOp::Sqrt => ty.is_float().then_some(ty),
        UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite => ty.is_float().then_some(Bool),
    }
}

/// The type of `op` on a left operand of `ty`; `None` where a checked pipeline does not allow it. The right operand has
/// the same type, but a shift's is the signed integer of that width.
pub fn binary_type(op: BinOp, ty: ScalarType) -> Option<ScalarType> {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod => (ty != Bool).then_some(ty),
        BinOp::DivToZero | BinOp::ModToZero | BinOp::Shl | BinOp::Shr => ty.is_int().then_some(ty),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => (!ty.is_float()).then_some(ty),
        BinOp::Min | BinOp::Max => Some(ty),
        BinOp::Absd => (ty != Bool).then_some(unsigned_of(ty)),
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => Some(Bool),
    }
}

/// `op` applied to `a`.
pub fn unary(op: UnOp, a: Scalar) -> Scalar {
    let (ty, bits) = (a.ty(), a.bits());
    match ty {
        F16 | BF16 | F32 | F64 if op == UnOp::Not => Scalar::from_bits(ty, !bits),
        F16 | BF16 | F32 | F64 if is_count(op) => Scalar::from_bits(ty, count(op, bits, ty.bits())),
        F16 => float_unary(op, f16::from_bits64(bits).to_f32()).with(|v| f16::from_f32(v).into()),
        BF16 => float_unary(op, bf16::from_bits64(bits).to_f32()).with(|v| bf16::from_f32(v).into()),
        F32 => float_unary(op, f32::from_bits64(bits)).with(Scalar::from),
        F64 => float_unary(op, f64::from_bits64(bits)).with(Scalar::from),
        _ => int_unary(op, a),
    }
}

/// `op` applied to `a` and `b`, which have one type (the amount of a shift: the signed integer of `a`'s width).
///
/// `Min` is `if a < b || b is NaN { a } else { b }` and `Max` the mirror, so the result of two NaNs is a NaN and of two
/// zeros is `b`. `F16` and `BF16` compute in f32 and round once. Float `Mod` is `a - b * floor(a / b)`, three rounded
/// operations.
pub fn binary(op: BinOp, a: Scalar, b: Scalar) -> Scalar {
    let (ty, x, y) = (a.ty(), a.bits(), b.bits());
    debug_assert!(ty == b.ty() || matches!(op, BinOp::Shl | BinOp::Shr), "{op:?} of {a:?} and {b:?}");
    match (op, ty) {
        (BinOp::Shl, _) => return shift(a, b.as_i128()),
        (BinOp::Shr, _) => return shift(a, -b.as_i128()),
        (BinOp::BitAnd, _) => return Scalar::from_bits(ty, x & y),
        (BinOp::BitOr, _) => return Scalar::from_bits(ty, x | y),
        (BinOp::BitXor, _) => return Scalar::from_bits(ty, x ^ y),
        _ => {}
    }
    match ty {
        F16 => {
            let (x, y) = (f16::from_bits64(x).to_f32(), f16::from_bits64(y).to_f32());
            float_binary(op, x, y).with(|v| f16::from_f32(v).into())
        }
        BF16 => {
            let (x, y) = (bf16::from_bits64(x).to_f32(), bf16::from_bits64(y).to_f32());
            float_binary(op, x, y).with(|v| bf16::from_f32(v).into())
        }
        F32 => float_binary(op, f32::from_bits64(x), f32::from_bits64(y)).with(Scalar::from),
        F64 => float_binary(op, f64::from_bits64(x), f64::from_bits64(y)).with(Scalar::from),
        I8 => int_binary(op, i8::from_bits64(x), i8::from_bits64(y)),
        I16 => int_binary(op, i16::from_bits64(x), i16::from_bits64(y)),
        I32 => int_binary(op, i32::from_bits64(x), i32::from_bits64(y)),
        I64 => int_binary(op, i64::from_bits64(x), i64::from_bits64(y)),
        U8 => int_binary(op, x as u8, y as u8),
        U16 => int_binary(op, x as u16, y as u16),
        U32 => int_binary(op, x as u32, y as u32),
        U64 => int_binary(op, x, y),
        Bool => match int_binary(op, x as u8, y as u8) {
            v if v.ty() == Bool => v,
            v => Scalar::from_bits(Bool, v.bits()),
        },
    }
}

/// `a` where `condition` is true, else `b`.
pub fn select(condition: Scalar, a: Scalar, b: Scalar) -> Scalar {
    if condition.as_bool() { a } else { b }
}

/// A transcendental function of one to three operands of one type. f16 and bf16 compute in f32 and round once; the
/// operands of other types are cast to f64, and the result back.
pub fn math(function: MathFn, args: &[Scalar]) -> Scalar {
    let ty = args.first().map_or(F32, |a| a.ty());
    match ty {
        F16 | BF16 | F32 => {
            let args: Vec<f32> = args.iter().map(|a| a.as_f64() as f32).collect();
            Scalar::float(ty, eval_f32(function, &args) as f64)
        }
        _ => {
            let args: Vec<f64> = args.iter().map(|a| a.as_f64()).collect();
            Scalar::float(ty, eval_f64(function, &args))
        }
    }
}

/// The result of a float operator: a float of the operand's type, or a truth value.
enum FloatResult<T> {
    Float(T),
    Bool(bool),
}

impl<T> FloatResult<T> {
    fn with(self, float: impl FnOnce(T) -> Scalar) -> Scalar {
        match self {
            FloatResult::Float(value) => float(value),
            FloatResult::Bool(value) => Scalar::bool(value),
        }
    }
}

/// The two float types that compute.
trait Float:
    Copy
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    fn round_by(self, op: UnOp) -> Self;
    fn abs(self) -> Self;
    fn is_finite(self) -> bool;
    fn is_nan(self) -> bool;
}

macro_rules! floats {
    ($($ty:ident),*) => {$(
        impl Float for $ty {
            fn round_by(self, op: UnOp) -> Self {
                match op {
                    UnOp::Floor => self.floor(),
                    UnOp::Ceil => self.ceil(),
                    UnOp::Round => self.round_ties_even(),
                    UnOp::Trunc => self.trunc(),
                    UnOp::Sqrt => self.sqrt(),
                    _ => self,
                }
            }
            fn abs(self) -> Self { $ty::abs(self) }
            fn is_finite(self) -> bool { $ty::is_finite(self) }
            fn is_nan(self) -> bool { $ty::is_nan(self) }
        }
    )*};
}

floats!(f32, f64);

fn float_unary<T: Float>(op: UnOp, a: T) -> FloatResult<T> {
    match op {
        UnOp::Neg => FloatResult::Float(-a),
        UnOp::Abs => FloatResult::Float(a.abs()),
        UnOp::IsNan => FloatResult::Bool(a.is_nan()),
        UnOp::IsInf => FloatResult::Bool(!a.is_finite() && !a.is_nan()),
        UnOp::IsFinite => FloatResult::Bool(a.is_finite()),
        _ => FloatResult::Float(a.round_by(op)),
    }
}

fn float_binary<T: Float>(op: BinOp, a: T, b: T) -> FloatResult<T> {
    FloatResult::Float(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div | BinOp::DivToZero => a / b,
        BinOp::Mod | BinOp::ModToZero => a - b * (a / b).round_by(UnOp::Floor),
        BinOp::Min => {
            if a < b || b.is_nan() {
                a
            } else {
                b
            }
        }
        BinOp::Max => {
            if a > b || b.is_nan() {
                a
            } else {
                b
            }
        }
        BinOp::Absd => (a - b).abs(),
        _ => return FloatResult::Bool(compare(op, a.partial_cmp(&b))),
    })
}

/// A comparison by the order of its operands; `None` is unordered.
fn compare(op: BinOp, order: Option<Ordering>) -> bool {
    match op {
        BinOp::Eq => order == Some(Ordering::Equal),
        BinOp::Ne => order != Some(Ordering::Equal),
        BinOp::Lt => order == Some(Ordering::Less),
        BinOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        BinOp::Gt => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// The integer types, with the total division that the language has.
trait Int: Element + Ord + Into<Scalar> {
    /// Returns true for zero, by which a division has no quotient.
    fn is_zero(self) -> bool;
    fn wrapping(op: BinOp, a: Self, b: Self) -> Self;
    fn difference(a: Self, b: Self) -> u64;
}

macro_rules! ints {
    ($($ty:ident),*) => {$(
        impl Int for $ty {
            fn is_zero(self) -> bool { self == 0 }
            fn wrapping(op: BinOp, a: $ty, b: $ty) -> $ty {
                match op {
                    BinOp::Add => a.wrapping_add(b),
                    BinOp::Sub => a.wrapping_sub(b),
                    BinOp::Mul => a.wrapping_mul(b),
                    BinOp::Div => a.wrapping_div_euclid(b),
                    BinOp::Mod => a.wrapping_rem_euclid(b),
                    BinOp::DivToZero => a.wrapping_div(b),
                    BinOp::ModToZero => a.wrapping_rem(b),
                    BinOp::Min => a.min(b),
                    _ => a.max(b),
                }
            }
            fn difference(a: $ty, b: $ty) -> u64 { a.abs_diff(b) as u64 }
        }
    )*};
}

ints!(i8, i16, i32, i64, u8, u16, u32, u64);

fn int_binary<T: Int>(op: BinOp, a: T, b: T) -> Scalar {
    match op {
        BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero if b.is_zero() => Scalar::zero(T::TYPE),
        BinOp::Absd => Scalar::from_bits(unsigned_of(T::TYPE), T::difference(a, b)),
        op if op.is_comparison() => Scalar::bool(compare(op, Some(a.cmp(&b)))),
        _ => T::wrapping(op, a, b).into(),
    }
}

fn int_unary(op: UnOp, a: Scalar) -> Scalar {
    let (ty, bits) = (a.ty(), a.bits());
    match op {
        UnOp::Neg => Scalar::from_bits(ty, bits.wrapping_neg()),
        UnOp::Not => Scalar::from_bits(ty, !bits),
        UnOp::Abs => Scalar::from_bits(unsigned_of(ty), a.as_i128().unsigned_abs() as u64),
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz => Scalar::from_bits(ty, count(op, bits, ty.bits())),
        UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc | UnOp::Sqrt => a,
        UnOp::IsNan | UnOp::IsInf => Scalar::bool(false),
        UnOp::IsFinite => Scalar::bool(true),
    }
}

fn is_count(op: UnOp) -> bool {
    matches!(op, UnOp::Popcount | UnOp::Clz | UnOp::Ctz)
}

/// Popcount, Clz or Ctz of the low `width` bits; the bits above are zero.
fn count(op: UnOp, bits: u64, width: u32) -> u64 {
    let count = match op {
        UnOp::Popcount => bits.count_ones(),
        UnOp::Clz => bits.leading_zeros() - (64 - width),
        _ => bits.trailing_zeros().min(width),
    };
    count as u64
}

/// `a` shifted left by `amount`, right where it is negative; all bits shifted out leave 0, or the sign to the right.
fn shift(a: Scalar, amount: i128) -> Scalar {
    let (ty, value) = (a.ty(), if a.ty().is_float() { a.bits() as i128 } else { a.as_i128() });
    let bits = if amount >= ty.bits() as i128 {
        0
    } else if amount >= 0 {
        value << amount
    } else {
        value >> amount.unsigned_abs().min(127)
    };
    Scalar::from_bits(ty, bits as u64)
}

/// The unsigned integer of a signed integer's width; any other type itself.
fn unsigned_of(ty: ScalarType) -> ScalarType {
    if ty.is_signed_int() { ScalarType::unsigned(ty.bits()) } else { ty }
}

/// The value that leaves every other one as it is under `op`, which folds values; `None` if the operator folds none.
///
/// A sum of floats begins with minus zero, which keeps the sign of a zero; a minimum or maximum of floats with a NaN,
/// which loses.
pub fn identity(op: BinOp, ty: ScalarType) -> Option<Scalar> {
    let float = ty.is_float();
    Some(match op {
        BinOp::Add if float => Scalar::float(ty, -0.0),
        BinOp::Add | BinOp::BitOr | BinOp::BitXor => Scalar::zero(ty),
        BinOp::Mul => Scalar::int(ty, 1),
        BinOp::BitAnd => Scalar::from_bits(ty, if ty == ScalarType::Bool { 1 } else { u64::MAX }),
        BinOp::Min | BinOp::Max if float => Scalar::float(ty, f64::NAN),
        BinOp::Min => Scalar::highest(ty),
        BinOp::Max => Scalar::lowest(ty),
        _ => return None,
    })
}
