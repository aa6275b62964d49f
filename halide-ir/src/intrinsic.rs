//! The meaning of the integer idioms: exact arithmetic, then clamped, halved or cut.

use crate::expr::Intrinsic;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// The idiom applied to two integers of one type.
pub fn apply(op: Intrinsic, a: Scalar, b: Scalar) -> Scalar {
    let ty = a.ty();
    let (x, y) = (a.as_i128(), b.as_i128());
    match op {
        Intrinsic::SaturatingAdd => clamped(ty, x + y),
        Intrinsic::SaturatingSub => clamped(ty, x - y),
        Intrinsic::HalvingAdd => Scalar::int(ty, (x + y) >> 1),
        Intrinsic::RoundingHalvingAdd => Scalar::int(ty, (x + y + 1) >> 1),
        Intrinsic::MulHigh if ty.is_signed_int() => Scalar::int(ty, (x * y) >> ty.bits()),
        Intrinsic::MulRounded => clamped(ty, (x * y + (1 << 14)) >> 15),
        Intrinsic::MulHigh => {
            let product = x.unsigned_abs() * y.unsigned_abs();
            Scalar::from_bits(ty, (product >> ty.bits()) as u64)
        }
        Intrinsic::WideningMul => {
            let bits = 2 * ty.bits();
            let wide = if ty.is_signed_int() { ScalarType::signed(bits) } else { ScalarType::unsigned(bits) };
            Scalar::int(wide, x.wrapping_mul(y))
        }
    }
}

fn clamped(ty: ScalarType, value: i128) -> Scalar {
    let (min, max) = (ty.int_min().unwrap_or(value), ty.int_max().unwrap_or(value));
    Scalar::int(ty, value.clamp(min, max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Intrinsic::*;
    use ScalarType::*;

    #[test]
    fn edges_of_every_idiom() {
        let cases: [(Intrinsic, ScalarType, i128, i128, i128); 26] = [
            (SaturatingAdd, U8, 200, 100, 255),
            (SaturatingAdd, I8, -100, -100, -128),
            (SaturatingAdd, I64, i64::MAX as i128, 1, i64::MAX as i128),
            (SaturatingSub, U16, 1, 2, 0),
            (SaturatingSub, I8, -100, 100, -128),
            (SaturatingSub, U64, 0, u64::MAX as i128, 0),
            (HalvingAdd, U8, 255, 254, 254),
            (HalvingAdd, I8, -1, 0, -1),
            (HalvingAdd, I8, -128, -128, -128),
            (HalvingAdd, U64, u64::MAX as i128, u64::MAX as i128, u64::MAX as i128),
            (RoundingHalvingAdd, U8, 255, 254, 255),
            (RoundingHalvingAdd, I8, -1, 0, 0),
            (RoundingHalvingAdd, I8, -128, -127, -127),
            (MulHigh, U16, 65535, 65535, 65534),
            (MulHigh, I16, -1, 1, -1),
            (MulHigh, I16, -32768, -32768, 16384),
            (MulHigh, U64, u64::MAX as i128, u64::MAX as i128, (u64::MAX - 1) as i128),
            (MulHigh, I64, i64::MIN as i128, i64::MIN as i128, 1 << 62),
            (MulRounded, I16, -32768, -32768, 32767),
            (MulRounded, I16, -32768, 32767, -32767),
            (MulRounded, I16, 1, 16384, 1),
            (MulRounded, I16, -1, 16384, 0),
            (WideningMul, U8, 255, 255, 65025),
            (WideningMul, I8, -128, -128, 16384),
            (WideningMul, U32, u32::MAX as i128, u32::MAX as i128, 0xffff_fffe_0000_0001),
            (WideningMul, I32, i32::MIN as i128, 1, i32::MIN as i128),
        ];
        for (op, ty, a, b, expected) in cases {
            let result = apply(op, Scalar::int(ty, a), Scalar::int(ty, b));
            assert_eq!(result.as_i128(), expected, "{op:?} {ty} {a} {b}");
            assert_eq!(result.ty().bits(), if op == WideningMul { 2 * ty.bits() } else { ty.bits() });
        }
    }
}
