//! Operators held against definitions over exact integers, and against Rust's own floats.

use super::*;
use crate::ops::{BinOp, UnOp};
use crate::types::ScalarType::{self, *};

const INTS: [ScalarType; 8] = [I8, I16, I32, I64, U8, U16, U32, U64];
const ARITHMETIC: [BinOp; 12] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Mod,
    BinOp::DivToZero,
    BinOp::ModToZero,
    BinOp::Min,
    BinOp::Max,
    BinOp::BitAnd,
    BinOp::BitOr,
    BinOp::BitXor,
];
const COMPARISONS: [BinOp; 6] = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];

/// The meaning of an operator over exact integers; the result is then wrapped to its type.
fn exact(op: BinOp, a: i128, b: i128) -> i128 {
    match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::Div | BinOp::Mod | BinOp::DivToZero | BinOp::ModToZero if b == 0 => 0,
        BinOp::Div => {
            let floor = a / b - (a % b != 0 && (a < 0) != (b < 0)) as i128;
            // Floor division leaves a remainder of b's sign: for a negative b the Euclidean quotient is one more.
            if a - floor * b < 0 { floor + 1 } else { floor }
        }
        BinOp::Mod => ((a % b) + b.abs()) % b.abs(),
        BinOp::DivToZero => a / b,
        BinOp::ModToZero => a % b,
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::BitAnd => a & b,
        BinOp::BitOr => a | b,
        BinOp::BitXor => a ^ b,
        BinOp::Absd => (a - b).abs(),
        BinOp::Eq => (a == b) as i128,
        BinOp::Ne => (a != b) as i128,
        BinOp::Lt => (a < b) as i128,
        BinOp::Le => (a <= b) as i128,
        BinOp::Gt => (a > b) as i128,
        BinOp::Ge => (a >= b) as i128,
        BinOp::Shl => shift_exact(a, b),
        BinOp::Shr => shift_exact(a, -b),
    }
}

fn shift_exact(a: i128, amount: i128) -> i128 {
    let left = |a: i128, n: i128| if n >= 64 { 0 } else { a * (1i128 << n) };
    let right = |a: i128, n: i128| if n >= 64 { -((a < 0) as i128) } else { a.div_euclid(1i128 << n) };
    if amount >= 0 { left(a, amount) } else { right(a, -amount) }
}

/// Checks every operator on one pair.
fn check_pair(ty: ScalarType, x: i128, y: i128) {
    let (a, b) = (Scalar::int(ty, x), Scalar::int(ty, y));
    for op in ARITHMETIC.into_iter().chain(COMPARISONS).chain([BinOp::Absd]) {
        let result = binary(op, a, b);
        let expected = binary_type(op, ty).unwrap();
        assert_eq!(result, Scalar::int(expected, exact(op, x, y)), "{op:?} {a:?} {b:?}");
    }
    let amount = Scalar::int(ScalarType::signed(ty.bits()), y);
    for op in [BinOp::Shl, BinOp::Shr] {
        let result = binary(op, a, amount);
        assert_eq!(result, Scalar::int(ty, exact(op, x, amount.as_i128())), "{op:?} {a:?} {amount:?}");
    }
}

fn check_unary(ty: ScalarType, x: i128) {
    let a = Scalar::int(ty, x);
    let bits: Vec<bool> = (0..ty.bits()).map(|i| a.bits() >> i & 1 == 1).collect();
    let expected = [
        (UnOp::Neg, Scalar::int(ty, -x)),
        (UnOp::Not, Scalar::int(ty, -1 - x)),
        (UnOp::Abs, Scalar::int(ScalarType::unsigned(ty.bits()), x.abs())),
        (UnOp::Popcount, Scalar::int(ty, bits.iter().filter(|b| **b).count() as i128)),
        (UnOp::Clz, Scalar::int(ty, bits.iter().rev().take_while(|b| !**b).count() as i128)),
        (UnOp::Ctz, Scalar::int(ty, bits.iter().take_while(|b| !**b).count() as i128)),
        (UnOp::Floor, a),
    ];
    for (op, value) in expected {
        let value = if op == UnOp::Abs && ty.is_unsigned_int() { a } else { value };
        assert_eq!(unary(op, a), value, "{op:?} {a:?}");
    }
}

fn edges(ty: ScalarType) -> Vec<i128> {
    let (min, max) = (ty.int_min().unwrap(), ty.int_max().unwrap());
    let near = |v: i128| (-3..=3).map(move |d| v + d);
    let mut all: Vec<i128> =
        [0, min, max, max / 2, min / 2, 1 << 8, 1 << 16, 1 << 31].into_iter().flat_map(near).collect();
    all.retain(|v| (min..=max).contains(v));
    all
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }
}

#[test]
fn integers_of_8_bits_exhaustively() {
    for ty in [I8, U8] {
        for x in ty.int_min().unwrap()..=ty.int_max().unwrap() {
            check_unary(ty, x);
            for y in ty.int_min().unwrap()..=ty.int_max().unwrap() {
                check_pair(ty, x, y);
            }
        }
    }
}

#[test]
fn wider_integers_at_edges_and_at_random() {
    let mut random = SplitMix(1);
    for ty in INTS {
        for x in edges(ty) {
            check_unary(ty, x);
            for y in edges(ty) {
                check_pair(ty, x, y);
            }
        }
        for _ in 0..2000 {
            let shift = random.next() % 64;
            let (a, b) = (random.next() >> shift, random.next() >> (63 - shift));
            check_pair(ty, Scalar::from_bits(ty, a).as_i128(), Scalar::from_bits(ty, b).as_i128());
        }
    }
}

#[test]
fn booleans() {
    for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
        let (a, b) = (Scalar::bool(x), Scalar::bool(y));
        let check = |op, value: bool| assert_eq!(binary(op, a, b), Scalar::bool(value), "{op:?} {a} {b}");
        check(BinOp::BitAnd, x & y);
        check(BinOp::BitOr, x | y);
        check(BinOp::BitXor, x ^ y);
        check(BinOp::Min, x & y);
        check(BinOp::Max, x | y);
        check(BinOp::Lt, !x & y);
        check(BinOp::Eq, x == y);
        assert_eq!(unary(UnOp::Not, a), Scalar::bool(!x));
        assert_eq!(select(a, Scalar::from(1u8), Scalar::from(2u8)), Scalar::from(if x { 1u8 } else { 2 }));
    }
}

#[test]
fn integer_casts_wrap_and_saturate() {
    for from in INTS {
        for to in INTS {
            for x in edges(from) {
                let a = Scalar::int(from, x);
                assert_eq!(cast(to, a), Scalar::int(to, x), "{a:?} to {to}");
                let clamped = x.clamp(to.int_min().unwrap(), to.int_max().unwrap());
                assert_eq!(saturating_cast(to, a), Scalar::int(to, clamped), "{a:?} to {to}");
            }
        }
    }
    assert_eq!(cast(Bool, Scalar::from(256i32)), Scalar::bool(true));
    assert_eq!(saturating_cast(Bool, Scalar::from(-3i32)), Scalar::bool(false));
    assert_eq!(cast(U8, Scalar::bool(true)), Scalar::from(1u8));
}

#[test]
fn floats_become_integers_as_rust_says() {
    let values = [0.0, -0.0, 0.9, -0.9, 255.5, -128.9, 1e10, -1e10, 3e38, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for v in values {
        for a in [Scalar::from(v), Scalar::from(v as f32)] {
            assert_eq!(cast(U8, a), Scalar::from(a.as_f64() as u8), "{a:?}");
            assert_eq!(cast(I8, a), Scalar::from(a.as_f64() as i8), "{a:?}");
            assert_eq!(cast(I32, a), Scalar::from(a.as_f64() as i32), "{a:?}");
            assert_eq!(cast(U64, a), Scalar::from(a.as_f64() as u64), "{a:?}");
            assert_eq!(saturating_cast(I64, a), Scalar::from(a.as_f64() as i64), "{a:?}");
        }
    }
}

#[test]
fn half_floats_round_trip_and_round_to_nearest() {
    for bits in 0..=u16::MAX {
        for ty in [F16, BF16] {
            let a = Scalar::from_bits(ty, bits as u64);
            for back in [Scalar::float(ty, a.as_f64()), cast(ty, cast(F32, a))] {
                assert!(back.same(a), "{a:?} {back:?}");
            }
            let next = Scalar::from_bits(ty, bits as u64 + 1);
            if !(a.as_f64().is_finite() && next.as_f64().is_finite() && bits & 0x7fff != 0x7fff) {
                continue;
            }
            let middle = (a.as_f64() + next.as_f64()) / 2.0;
            let even = if bits & 1 == 0 { a } else { next };
            assert_eq!(Scalar::float(ty, middle), even);
            let nudge = |by: i64| f64::from_bits((middle.to_bits() as i64 + by) as u64);
            assert_eq!(Scalar::float(ty, nudge(-1)), a);
            assert_eq!(Scalar::float(ty, nudge(1)), next);
        }
    }
    assert_eq!(Scalar::float(F16, 65519.9), Scalar::float(F16, 65504.0));
    assert_eq!(Scalar::float(F16, 65520.0).as_f64(), f64::INFINITY);
    assert_eq!(Scalar::float(F16, -2f64.powi(-25)), Scalar::from_bits(F16, 0x8000));
    assert_eq!(Scalar::float(F16, 2f64.powi(-25) * 1.01), Scalar::from_bits(F16, 1));
}

#[test]
fn integers_become_floats_with_one_rounding() {
    // A tie for bf16 but for a last bit that an f64 cannot hold.
    let above = (1i64 << 62) + (1 << 54) + 1;
    assert_eq!(Scalar::int(BF16, above as i128).as_f64(), 2f64.powi(62) + 2f64.powi(55));
    assert_eq!(Scalar::int(BF16, above as i128 - 1).as_f64(), 2f64.powi(62));
    assert_eq!(Scalar::int(BF16, -(above as i128)).as_f64(), -(2f64.powi(62) + 2f64.powi(55)));
    assert_eq!(Scalar::int(F32, (1 << 24) + 1), Scalar::from(16777216f32));
    assert_eq!(Scalar::int(F16, 70000).as_f64(), f64::INFINITY);
    let mut random = SplitMix(2);
    for _ in 0..2000 {
        let v = (random.next() as i64) >> (random.next() % 64);
        for ty in [F32, F64] {
            let expected = if ty == F32 { Scalar::from(v as f32) } else { Scalar::from(v as f64) };
            assert_eq!(cast(ty, Scalar::from(v)), expected, "{v}");
        }
    }
}

#[test]
fn float_min_and_max_let_a_nan_lose() {
    for ty in [F16, BF16, F32, F64] {
        let s = |v: f64| Scalar::float(ty, v);
        let (nan, one) = (s(f64::NAN), s(1.0));
        for op in [BinOp::Min, BinOp::Max] {
            assert_eq!(binary(op, nan, one), one);
            assert_eq!(binary(op, one, nan), one);
            assert!(binary(op, nan, nan).is_nan());
            assert_eq!(binary(op, s(0.0), s(-0.0)), s(-0.0), "of two zeros the second");
            assert_eq!(binary(op, s(-0.0), s(0.0)), s(0.0), "of two zeros the second");
        }
        assert_eq!(binary(BinOp::Min, s(2.0), one), one);
        assert_eq!(binary(BinOp::Max, s(2.0), one), s(2.0));
        for op in COMPARISONS {
            assert_eq!(binary(op, nan, one).as_bool(), op == BinOp::Ne, "{op:?}");
            assert_eq!(binary(op, nan, nan).as_bool(), op == BinOp::Ne, "{op:?}");
        }
        assert!(binary(BinOp::Eq, s(0.0), s(-0.0)).as_bool());
    }
}

#[test]
fn float_operators() {
    let f = |v: f32| Scalar::from(v);
    let check = |op, a: f32, b: f32, value: f32| assert!(binary(op, f(a), f(b)).same(f(value)), "{op:?} {a} {b}");
    check(BinOp::Mod, 5.5, 2.0, 1.5);
    check(BinOp::Mod, -5.5, 2.0, 0.5);
    check(BinOp::Mod, 5.5, -2.0, -0.5);
    check(BinOp::Div, 1.0, 0.0, f32::INFINITY);
    check(BinOp::Div, 0.0, 0.0, f32::NAN);
    check(BinOp::Absd, 1.0, 3.5, 2.5);
    let check = |op, a: f32, value: f32| assert_eq!(unary(op, f(a)), f(value), "{op:?} {a}");
    check(UnOp::Round, 0.5, 0.0);
    check(UnOp::Round, 1.5, 2.0);
    check(UnOp::Round, -2.5, -2.0);
    check(UnOp::Floor, -0.5, -1.0);
    check(UnOp::Ceil, -0.5, -0.0);
    check(UnOp::Trunc, -1.5, -1.0);
    check(UnOp::Neg, 0.0, -0.0);
    check(UnOp::Abs, -0.0, 0.0);
    check(UnOp::Sqrt, 2.0, 2f32.sqrt());
    assert_eq!(unary(UnOp::IsNan, f(f32::NAN)), Scalar::bool(true));
    assert_eq!(unary(UnOp::IsInf, f(f32::NEG_INFINITY)), Scalar::bool(true));
    assert_eq!(unary(UnOp::IsFinite, f(f32::NAN)), Scalar::bool(false));
    // 1 + 2^-11 is a tie in f16, and one rounding step of the exact sum.
    let half = |v: f64| Scalar::float(F16, v);
    assert_eq!(binary(BinOp::Add, half(1.0), half(2f64.powi(-11))), half(1.0));
    assert_eq!(binary(BinOp::Mul, half(300.0), half(300.0)).as_f64(), f64::INFINITY);
}

#[test]
fn functions_of_16_bits_and_of_integers() {
    use crate::ops::MathFn::*;
    // f16 and bf16 go through f32 and are rounded once.
    for ty in [F16, BF16] {
        for i in 1..200 {
            let a = Scalar::float(ty, i as f64 / 16.0);
            let expected = Scalar::float(ty, crate::math::eval_f32(Log, &[a.as_f64() as f32]) as f64);
            assert_eq!(math(Log, &[a]), expected);
        }
    }
    assert_eq!(math(Exp, &[Scalar::float(F16, 12.0)]).as_f64(), f64::INFINITY);
    assert_eq!(math(Pow, &[Scalar::from(2f64), Scalar::from(10f64)]), Scalar::from(1024f64));
    assert_eq!(math(Hypot, &[Scalar::from(3u8), Scalar::from(4u8)]), Scalar::from(5u8));
    for f in crate::ops::MathFn::ALL {
        for ty in [F16, BF16, F32, F64] {
            let args = vec![Scalar::float(ty, 0.25); f.arity()];
            let (narrow, wide) = (math(f, &args).as_f64(), crate::math::eval_f64(f, &[0.25; 3]));
            assert!((narrow - wide).abs() <= wide.abs() * 0.01 || narrow.is_nan() && wide.is_nan(), "{f:?} of {ty}");
        }
    }
}

#[test]
fn reinterpret_keeps_bits() {
    assert_eq!(reinterpret(U32, Scalar::from(1f32)), Scalar::from(0x3f80_0000u32));
    assert_eq!(reinterpret(F16, Scalar::from(0x3c00u16)).as_f64(), 1.0);
    assert_eq!(reinterpret(I8, Scalar::from(255u8)), Scalar::from(-1i8));
}

#[test]
fn rust_values_convert_both_ways() {
    assert_eq!(i16::try_from(Scalar::from(-5i16)), Ok(-5));
    assert_eq!(i16::try_from(Scalar::from(5u16)), Err(Scalar::from(5u16)));
    assert_eq!(Scalar::from(bf16::from_f32(1.5)).get::<bf16>(), Some(bf16::from_f32(1.5)));
    assert_eq!(
        format!("{} {} {} {}", Scalar::from(-1i8), Scalar::from(0.1f32), Scalar::bool(true), Scalar::from(1f64)),
        "-1 0.1 true 1.0"
    );
    for ty in ScalarType::ALL {
        for bound in [Scalar::lowest(ty), Scalar::highest(ty), Scalar::zero(ty)] {
            assert_eq!(bound.ty(), ty);
            assert_eq!(binary(BinOp::Max, Scalar::lowest(ty), bound), bound);
            assert_eq!(binary(BinOp::Min, Scalar::highest(ty), bound), bound);
        }
    }
}
