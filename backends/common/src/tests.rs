//! All operators over plain integers, compared with the meaning that the language gives them.

use super::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar, bf16, f16};
use std::convert::Infallible;

/// A machine that computes instead of emitting code. A value is the bits of one lane and its width.
struct Plain {
    /// True if it has an instruction for functions of three bits.
    ternary: bool,
}

/// Machines without and with the instructions that only some have.
const MACHINES: [Plain; 2] = [PLAIN, Plain { ternary: true }];

const PLAIN: Plain = Plain { ternary: false };

type V = (u64, u32);

/// The low bits of a lane.
fn cut(bits: u64, width: u32) -> V {
    (bits & (u64::MAX >> (64 - width)), width)
}

/// A lane as a number.
fn number(signed: bool, x: &V) -> i128 {
    let unused = 64 - x.1;
    if signed { i128::from(((x.0 << unused) as i64) >> unused) } else { i128::from(x.0) }
}

impl IntLanes for Plain {
    type Value = V;
    type Truth = bool;
    type Error = Infallible;

    fn width(&self, x: &V) -> u32 {
        x.1
    }
    fn constant(&mut self, like: &V, bits: u64) -> Emitted<Self> {
        Ok(cut(bits, like.1))
    }
    fn add(&mut self, x: &V, y: &V) -> Emitted<Self> {
        Ok(cut(x.0.wrapping_add(y.0), x.1))
    }
    fn sub(&mut self, x: &V, y: &V) -> Emitted<Self> {
        Ok(cut(x.0.wrapping_sub(y.0), x.1))
    }
    fn mul(&mut self, x: &V, y: &V) -> Emitted<Self> {
        Ok(cut(x.0.wrapping_mul(y.0), x.1))
    }
    fn and(&mut self, x: &V, y: &V) -> Emitted<Self> {
        Ok(cut(x.0 & y.0, x.1))
    }
    fn or(&mut self, x: &V, y: &V) -> Emitted<Self> {
        Ok(cut(x.0 | y.0, x.1))
    }
    fn xor(&mut self, x: &V, y: &V) -> Emitted<Self> {
        Ok(cut(x.0 ^ y.0, x.1))
    }
    fn not(&mut self, x: &V) -> Emitted<Self> {
        Ok(cut(!x.0, x.1))
    }
    fn min(&mut self, signed: bool, x: &V, y: &V) -> Emitted<Self> {
        Ok(if number(signed, x) < number(signed, y) { *x } else { *y })
    }
    fn max(&mut self, signed: bool, x: &V, y: &V) -> Emitted<Self> {
        Ok(if number(signed, x) > number(signed, y) { *x } else { *y })
    }
    fn shift_left(&mut self, x: &V, by: u32) -> Emitted<Self> {
        assert!(by > 0 && by < x.1);
        Ok(cut(x.0 << by, x.1))
    }
    fn shift_right(&mut self, signed: bool, x: &V, by: u32) -> Emitted<Self> {
        assert!(by > 0 && by < x.1);
        Ok(cut((number(signed, x) >> by) as u64, x.1))
    }
    fn compare(&mut self, op: BinOp, signed: bool, x: &V, y: &V) -> Result<bool, Infallible> {
        let (x, y) = (number(signed, x), number(signed, y));
        Ok(match op {
            BinOp::Eq => x == y,
            BinOp::Ne => x != y,
            BinOp::Lt => x < y,
            BinOp::Le => x <= y,
            BinOp::Gt => x > y,
            _ => x >= y,
        })
    }
    fn select(&mut self, truth: &bool, x: &V, y: &V) -> Emitted<Self> {
        Ok(if *truth { *x } else { *y })
    }
    fn ternary(&mut self, table: u8, x: &V, y: &V, z: &V) -> Result<Option<V>, Infallible> {
        let bit = |v: &V, i: u32| (v.0 >> i) & 1;
        let of = |i: u32| u64::from(table) >> (4 * bit(x, i) + 2 * bit(y, i) + bit(z, i)) & 1;
        Ok(self.ternary.then(|| cut((0..x.1).fold(0, |bits, i| bits | of(i) << i), x.1)))
    }
}

impl Arithmetic for Plain {}
impl Products for Plain {}

impl BitCounts for Plain {
    fn ones_in_bytes(&mut self, x: &V) -> Emitted<Self> {
        let bytes = x.0.to_le_bytes().map(|b| b.count_ones() as u8);
        Ok(cut(u64::from_le_bytes(bytes), x.1))
    }
}

impl Divide for Plain {}

impl DivideByConstant for Plain {
    fn divide_unsigned(&mut self, x: &V, divisor: u64, width: u32) -> Emitted<Self> {
        assert!(u128::from(x.0) < 1 << width);
        // There is no room for the reciprocal, but only one quotient above 0.
        if width == 64 && divisor > 1 << 63 {
            return Ok(cut(u64::from(x.0 >= divisor), x.1));
        }
        self.divide_by_reciprocal(x, divisor, width)
    }
    fn mul_high_by(&mut self, x: &V, factor: u64) -> Emitted<Self> {
        Ok(cut(((u128::from(x.0) * u128::from(factor)) >> x.1) as u64, x.1))
    }
}

impl HalfFloats for Plain {
    fn f32_of_finite_f16(&mut self, magnitude: &V, moved: &V) -> Emitted<Self> {
        assert_eq!(moved.0, magnitude.0 << 13);
        let number = f32::from_bits(moved.0 as u32) * 2f32.powi(112);
        Ok(cut(number.to_bits().into(), 32))
    }
    fn f16_of_small_f32(&mut self, magnitude: &V) -> Emitted<Self> {
        let sum = f32::from_bits(magnitude.0 as u32) + 0.5;
        Ok(cut(u64::from(sum.to_bits().wrapping_sub(0.5f32.to_bits())), 32))
    }
}

impl FloatLanes for Plain {
    type Value = f64;
    type Truth = bool;
    type Error = Infallible;

    fn constant(&mut self, _: &f64, value: f64) -> Result<f64, Infallible> {
        Ok(value)
    }
    fn arithmetic(&mut self, op: BinOp, x: &f64, y: &f64) -> Result<f64, Infallible> {
        Ok(match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            BinOp::Mul => x * y,
            _ => x / y,
        })
    }
    fn floor(&mut self, x: &f64) -> Result<f64, Infallible> {
        Ok(x.floor())
    }
    fn magnitude(&mut self, x: &f64) -> Result<f64, Infallible> {
        Ok(x.abs())
    }
    fn compare(&mut self, op: BinOp, x: &f64, y: &f64) -> Result<bool, Infallible> {
        Ok(if op == BinOp::Eq { x == y } else { x < y })
    }
    fn is_nan(&mut self, x: &f64) -> Result<bool, Infallible> {
        Ok(x.is_nan())
    }
    fn select(&mut self, truth: &bool, x: &f64, y: &f64) -> Result<f64, Infallible> {
        Ok(if *truth { *x } else { *y })
    }
}

const INTEGERS: [ScalarType; 8] = [I8, U8, I16, U16, I32, U32, I64, U64];

/// Integers of a type: all of 8 bits, and those around powers of two of others.
fn samples(ty: ScalarType) -> Vec<Scalar> {
    if ty.bits() == 8 {
        return (0..256).map(|bits| Scalar::from_bits(ty, bits)).collect();
    }
    let powers = (0..ty.bits()).flat_map(|p| [-1, 0, 1].map(|d| (1i128 << p) + d));
    let mut all: Vec<Scalar> = powers.flat_map(|v| [Scalar::int(ty, v), Scalar::int(ty, -v)]).collect();
    all.extend([3, 5, 7, 10, 100, 641, 12345].map(|v| Scalar::int(ty, v)));
    all.sort_by_key(|v| v.bits());
    all.dedup_by_key(|v| v.bits());
    all
}

fn lane(v: Scalar) -> V {
    (v.bits(), v.ty().bits())
}

/// Compares an operator with its meaning, for all pairs of samples of all types.
fn check(name: &str, mut made: impl FnMut(ScalarType, V, V) -> Option<V>, right: impl Fn(Scalar, Scalar) -> Scalar) {
    for ty in INTEGERS {
        let samples = samples(ty);
        for (x, y) in samples.iter().flat_map(|x| samples.iter().map(move |y| (*x, *y))) {
            let Some(found) = made(ty, lane(x), lane(y)) else { continue };
            assert_eq!(found.0, right(x, y).bits(), "{name} of {x:?} and {y:?}");
        }
    }
}

/// An exact result clamped to a type.
fn clamped(ty: ScalarType, v: i128) -> Scalar {
    Scalar::int(ty, v.clamp(ty.int_min().expect("an integer"), ty.int_max().expect("an integer")))
}

#[test]
fn arithmetic_is_exact_where_it_says_so() {
    { MACHINES }.iter_mut().for_each(arithmetic_of);
}

fn arithmetic_of(p: &mut Plain) {
    let signed = |ty: ScalarType| ty.is_signed_int();
    check(
        "absolute_difference",
        |ty, x, y| Arithmetic::absolute_difference(p, signed(ty), &x, &y).ok(),
        |x, y| value::binary(BinOp::Absd, x, y),
    );
    check(
        "halving_add",
        |ty, x, y| p.halving_add(signed(ty), &x, &y).ok(),
        |x, y| Scalar::int(x.ty(), (x.as_i128() + y.as_i128()) >> 1),
    );
    check(
        "rounding_halving_add",
        |ty, x, y| p.rounding_halving_add(signed(ty), &x, &y).ok(),
        |x, y| Scalar::int(x.ty(), (x.as_i128() + y.as_i128() + 1) >> 1),
    );
    check(
        "saturating sum",
        |ty, x, y| p.saturating(BinOp::Add, signed(ty), &x, &y).ok(),
        |x, y| clamped(x.ty(), x.as_i128() + y.as_i128()),
    );
    check(
        "saturating difference",
        |ty, x, y| p.saturating(BinOp::Sub, signed(ty), &x, &y).ok(),
        |x, y| clamped(x.ty(), x.as_i128() - y.as_i128()),
    );
}

#[test]
fn a_rounded_product_of_words_is_clamped() {
    for x in samples(I16) {
        for y in samples(I16) {
            let wide = |v: Scalar| cut(v.as_i64() as u64, 32);
            let Ok(made) = { PLAIN }.mul_rounded(&wide(x), &wide(y));
            let right = (x.as_i128() * y.as_i128() + (1 << 14)) >> 15;
            assert_eq!(number(true, &made), right.min(i16::MAX.into()), "{x:?} {y:?}");
        }
    }
}

#[test]
fn values_are_clamped_to_other_types() {
    for from in INTEGERS {
        for to in INTEGERS.into_iter().filter(|to| to.bits() <= from.bits()) {
            for x in samples(from) {
                let (of, into) = (Interval::of_type(from), Interval::of_type(to));
                let Ok(made) = { PLAIN }.clamp_to(from.is_signed_int(), &lane(x), of, into);
                let right = value::saturating_cast(to, x);
                assert_eq!(cut(made.0, to.bits()).0, right.bits(), "{x:?} as {to}");
            }
        }
    }
}

#[test]
fn products_have_their_upper_halves() {
    { MACHINES }.iter_mut().for_each(products_of);
}

fn products_of(p: &mut Plain) {
    check(
        "mul_high",
        |ty, x, y| p.mul_high(ty.is_signed_int(), &x, &y).ok(),
        |x, y| match x.ty().is_signed_int() {
            true => Scalar::int(x.ty(), (x.as_i128() * y.as_i128()) >> x.ty().bits()),
            false => {
                let product = x.as_i128().unsigned_abs() * y.as_i128().unsigned_abs();
                Scalar::from_bits(x.ty(), (product >> x.ty().bits()) as u64)
            }
        },
    );
    for x in samples(U16) {
        for y in samples(U16) {
            let Ok(made) = p.mul_bytes(&lane(x), &lane(y));
            let ([a, b], [c, d]) = ((x.bits() as u16).to_le_bytes(), (y.bits() as u16).to_le_bytes());
            let right = u16::from_le_bytes([a.wrapping_mul(c), b.wrapping_mul(d)]);
            assert_eq!(made.0, u64::from(right), "{x:?} {y:?}");
        }
    }
}

#[test]
fn bits_are_counted() {
    let p = &mut { PLAIN };
    for ty in INTEGERS {
        for x in samples(ty) {
            let unused = 64 - ty.bits();
            let Ok(ones) = p.ones(&lane(x));
            assert_eq!(ones.0, u64::from(x.bits().count_ones()), "{x:?}");
            let Ok(leading) = p.leading_zeros(&lane(x));
            assert_eq!(leading.0, u64::from(x.bits().leading_zeros() - unused), "{x:?}");
            let Ok(trailing) = p.trailing_zeros(&lane(x));
            assert_eq!(trailing.0, u64::from(x.bits().trailing_zeros().min(ty.bits())), "{x:?}");
        }
    }
}

const DIVISIONS: [BinOp; 4] = [BinOp::Div, BinOp::Mod, BinOp::DivToZero, BinOp::ModToZero];

#[test]
fn division_by_constants_is_total() {
    let p = &mut { PLAIN };
    for op in DIVISIONS {
        for ty in INTEGERS {
            let samples = samples(ty);
            for (x, y) in samples.iter().flat_map(|x| samples.iter().map(move |y| (*x, *y))) {
                for positive in [false, x.as_i128() >= 0] {
                    let d = Division::new(op, ty.is_signed_int(), positive);
                    let Ok(made) = p.divide_by(d, &lane(x), y.as_i128());
                    assert_eq!(made.0, value::binary(op, x, y).bits(), "{op:?} of {x:?} and {y:?}");
                }
            }
        }
    }
}

#[test]
fn division_by_lanes_is_total() {
    let p = &mut { PLAIN };
    for op in DIVISIONS {
        check(
            op.name(),
            |ty, x, y| {
                let (a, b) = (number(ty.is_signed_int(), &x), number(ty.is_signed_int(), &y));
                let quotient = cut(a.checked_div(b).unwrap_or(77) as u64, x.1);
                p.finish_division(Division::new(op, ty.is_signed_int(), false), &x, &y, &quotient).ok()
            },
            |x, y| value::binary(op, x, y),
        );
    }
}

#[test]
fn shifts_by_constants_are_total() {
    for ty in INTEGERS {
        for x in samples(ty) {
            for left in -70..=70i64 {
                let Ok(made) = { PLAIN }.shift(ty.is_signed_int(), &lane(x), left);
                let amount = Scalar::int(ScalarType::signed(ty.bits()), left.into());
                assert_eq!(made.0, value::binary(BinOp::Shl, x, amount).bits(), "{x:?} << {left}");
            }
        }
    }
}

#[test]
fn halves_convert_as_they_should() {
    let p = &mut { PLAIN };
    for bits in 0..=u16::MAX {
        let Ok(made) = p.f32_of_f16(&(u64::from(bits), 32));
        let (made, right) = (f32::from_bits(made.0 as u32), f16::from_bits(bits).to_f32());
        assert!(made.to_bits() == right.to_bits() || (made.is_nan() && right.is_nan()), "{bits:x}: {made} {right}");
    }
    // Every exponent with fractions around the places where rounding changes.
    for high in 0..=u32::from(u16::MAX) {
        for low in [0u32, 1, 0x0fff, 0x1000, 0x1001, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff] {
            let bits = high << 16 | low;
            let x = f32::from_bits(bits);
            let (Ok(made), Ok(brain)) = (p.f16_of_f32(&(bits.into(), 32)), p.bf16_of_f32(&(bits.into(), 32)));
            let (made, brain) = (f16::from_bits(made.0 as u16), bf16::from_bits(brain.0 as u16));
            match x.is_nan() {
                true => assert!(made.to_f32().is_nan() && brain.to_f32().is_nan(), "{bits:x}"),
                false => {
                    assert_eq!(made.to_bits(), f16::from_f32(x).to_bits(), "{bits:x}");
                    assert_eq!(brain.to_bits(), bf16::from_f32(x).to_bits(), "{bits:x}");
                }
            }
        }
    }
}

#[test]
fn floats_have_the_minimum_of_the_language() {
    let p = &mut { PLAIN };
    let numbers = [0.0, -0.0, 1.0, -1.5, 3.25, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310, 7e200];
    let bounds = |v: f64| if v.is_nan() { None } else { Some((v, v)) };
    let same = |made: f64, right: f64| made.to_bits() == right.to_bits() || (made.is_nan() && right.is_nan());
    for x in numbers {
        for y in numbers {
            let right = |op| value::binary(op, Scalar::from(x), Scalar::from(y)).as_f64();
            for op in [BinOp::Min, BinOp::Max] {
                for rule in [NanRule::Unknown, NanRule::new(bounds(x), bounds(y)), NanRule::new(bounds(x), None)] {
                    let Ok(made) = p.min_max(op, rule, &x, &y);
                    assert!(same(made, right(op)), "{op:?} of {x} and {y} by {rule:?}: {made}");
                }
            }
            let Ok(rest) = FloatLanes::remainder(p, &x, &y);
            assert!(same(rest, right(BinOp::Mod)), "{x} % {y}: {rest}");
            let Ok(difference) = FloatLanes::absolute_difference(p, &x, &y);
            assert!(same(difference, right(BinOp::Absd)), "|{x} - {y}|: {difference}");
        }
        let (Ok(infinite), Ok(finite)) = (p.against_infinity(BinOp::Eq, &x), p.against_infinity(BinOp::Lt, &x));
        assert_eq!((infinite, finite), (x.is_infinite(), x.is_finite()), "{x}");
    }
}

#[test]
fn truths_compute_as_integers_of_one_bit() {
    use BinOp::*;
    let all =
        [Add, Sub, Mul, Div, Mod, DivToZero, ModToZero, Min, Max, BitAnd, BitOr, BitXor, Absd, Eq, Ne, Lt, Le, Gt, Ge];
    for op in all {
        let (function, swapped) = truth_op(op).expect("it has two truths");
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let (x, y) = if swapped { (b, a) } else { (a, b) };
            let made = match function {
                TruthOp::Never => false,
                TruthOp::And => x && y,
                TruthOp::Or => x || y,
                TruthOp::Xor => x != y,
                TruthOp::Same => x == y,
                TruthOp::Less => !x && y,
                TruthOp::LessOrEqual => !x || y,
            };
            let right = value::binary(op, Scalar::bool(a), Scalar::bool(b));
            assert_eq!(made, right.as_bool(), "{op:?} of {a} and {b}");
        }
    }
}
