//! Fixed-point functions against arithmetic in i128.

use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::interp::{Inputs, run};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_core::{Expr, Func, ImageParam, Pipeline, vars};

const INTEGERS: [ScalarType; 8] = [I8, I16, I32, I64, U8, U16, U32, U64];

/// Edges and some values between.
fn samples(ty: ScalarType) -> Vec<i128> {
    let (low, high) = (ty.int_min().unwrap(), ty.int_max().unwrap());
    let mut all = vec![low, low + 1, low / 2, high / 3, high / 2, high / 2 + 1, high - 1, high];
    all.extend((-3..=5).filter(|v| (low..=high).contains(v)));
    all.extend([37, 100, -77].into_iter().filter(|v| (low..=high).contains(v)));
    all
}

fn column(ty: ScalarType, values: &[i128]) -> AnyBuffer {
    let mut buffer = AnyBuffer::new(ty, [values.len()]).unwrap();
    for (i, &v) in values.iter().enumerate() {
        buffer.set([i], Scalar::int(ty, v)).unwrap();
    }
    buffer
}

/// `make(a, b)` for all pairs, as integers, with its type.
fn table(a: (ScalarType, &[i128]), b: (ScalarType, &[i128]), make: impl Fn(Expr, Expr) -> Expr) -> Vec<Scalar> {
    let i = vars!(i);
    let mut f = Func::new("f");
    f[i] = make(ImageParam::new("a", a.0, 1)[i], ImageParam::new("b", b.0, 1)[i]);
    let pipeline = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    let inputs = Inputs::new().image("a", column(a.0, a.1)).image("b", column(b.0, b.1));
    let out = run(&pipeline, &inputs, &[Region::of_spans([(0, a.1.len() as i32)])]).unwrap().remove(0);
    (0..a.1.len()).map(|i| out.get([i]).unwrap()).collect()
}

/// Holds `make` against `exact`, whose result is brought to the type by wrapping.
fn check(
    what: &str,
    types: (ScalarType, ScalarType),
    result: ScalarType,
    make: impl Fn(Expr, Expr) -> Expr,
    exact: impl Fn(i128, i128) -> i128,
) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for x in samples(types.0) {
        for y in samples(types.1) {
            a.push(x);
            b.push(y);
        }
    }
    for ((got, x), y) in table((types.0, &a), (types.1, &b), make).into_iter().zip(&a).zip(&b) {
        let expected = Scalar::int(result, exact(*x, *y));
        assert_eq!(got, expected, "{what} of {x} ({}) and {y} ({})", types.0, types.1);
    }
}

fn clamped(ty: ScalarType) -> impl Fn(i128) -> i128 {
    let (low, high) = (ty.int_min().unwrap(), ty.int_max().unwrap());
    move |v| v.clamp(low, high)
}

#[test]
fn widening_results_are_exact() {
    for (a, b) in [(I8, I8), (U8, U8), (U8, I8), (I8, U8), (I16, I16), (U16, U16), (I32, I32), (U32, U32), (U32, I32)] {
        let signed = a.is_signed_int() || b.is_signed_int();
        // An unsigned operand beside a signed one of its width is brought to the signed type first, as by `+`.
        let brought = move |ty: ScalarType, v: i128| match signed {
            true => Scalar::int(ScalarType::signed(ty.bits()), v).as_i128(),
            false => v,
        };
        let wide = if signed { ScalarType::signed(2 * a.bits()) } else { ScalarType::unsigned(2 * a.bits()) };
        check("widening_add", (a, b), wide, |x, y| widening_add(x, y), |x, y| brought(a, x) + brought(b, y));
        check("widening_mul", (a, b), wide, |x, y| widening_mul(x, y), |x, y| brought(a, x) * brought(b, y));
        let signed_wide = ScalarType::signed(2 * a.bits());
        check("widening_sub", (a, b), signed_wide, |x, y| widening_sub(x, y), |x, y| brought(a, x) - brought(b, y));
    }
}

#[test]
fn clamped_and_halved_results_are_exact() {
    for ty in INTEGERS {
        let clamp = clamped(ty);
        let both = (ty, ty);
        check("saturating_add", both, ty, |a, b| saturating_add(a, b), |a, b| clamp(a + b));
        check("saturating_sub", both, ty, |a, b| saturating_sub(a, b), |a, b| clamp(a - b));
        check("halving_add", both, ty, |a, b| halving_add(a, b), |a, b| (a + b) >> 1);
        check("rounding_halving_add", both, ty, |a, b| rounding_halving_add(a, b), |a, b| (a + b + 1) >> 1);
        check("halving_sub", both, ty, |a, b| halving_sub(a, b), |a, b| (a - b) >> 1);
    }
}

/// `a / 2^b`, rounded as asked; large shifts leave nothing, or the sign.
fn shifted(a: i128, b: i128, round: bool) -> i128 {
    match b {
        0 => a,
        1..=126 => (a >> b) + if round { (a >> (b - 1)) & 1 } else { 0 },
        127.. if a < 0 && !round => -1,
        -63..0 => a << -b,
        _ => 0,
    }
}

#[test]
fn shifts_round_to_nearest() {
    for ty in INTEGERS {
        for by in [I8, I16, I32, I64, U8, U32] {
            let types = (ty, by);
            check("rounding_shift_right", types, ty, |a, b| rounding_shift_right(a, b), |a, b| shifted(a, b, true));
            check("rounding_shift_left", types, ty, |a, b| rounding_shift_left(a, b), |a, b| shifted(a, -b, true));
        }
        if ty.bits() < 64 {
            let wide = if ty.is_signed_int() { ScalarType::signed } else { ScalarType::unsigned }(2 * ty.bits());
            check("left", (ty, I16), wide, |a, b| widening_shift_left(a, b), |a, b| shifted(a, -b, false));
            check("right", (ty, I16), wide, |a, b| widening_shift_right(a, b), |a, b| shifted(a, b, false));
        }
    }
}

#[test]
fn products_are_scaled_and_clamped() {
    for ty in INTEGERS.into_iter().filter(|ty| ty.bits() < 64) {
        for bits in [0, 1, 7, 15, 16, 31, 40] {
            let clamp = clamped(ty);
            check(
                "mul",
                (ty, ty),
                ty,
                |a, b| mul_shift_right(a, b, bits),
                |a, b| clamp(shifted(a * b, bits.into(), false)),
            );
            let exact = |a: i128, b: i128| clamp(shifted(a * b, bits.into(), true));
            check("rounding mul", (ty, ty), ty, |a, b| rounding_mul_shift_right(a, b, bits), exact);
        }
    }
}

#[test]
fn bits_are_taken_apart_and_put_together() {
    let shift_right = |a: i128, b: i128| shifted(a, b, false);
    check("extract", (I32, I32), U8, |a, b| extract_bits::<u8>(a, b), shift_right);
    let low = |v: i128, bits: u32| v & ((1 << bits) - 1);
    check("concat", (I8, I8), U16, |a, b| concat_bits([a, b]), |a, b| low(a, 8) | low(b, 8) << 8);
    check("concat", (U32, U32), U64, |a, b| concat_bits([a, b]), |a, b| a | b << 32);
}

#[test]
fn mux_takes_the_last_value_for_any_other_index() {
    let exact = |i: i128, b: i128| [b, b + 1, 7].get(usize::try_from(i).unwrap_or(9)).copied().unwrap_or(7);
    for ty in INTEGERS {
        check("mux", (ty, I32), I32, |i, b| mux(i, [b, b + 1, 7.expr()]), exact);
    }
}

#[test]
fn operands_that_do_not_fit_are_mistakes() {
    let text = |make: &dyn Fn(Expr) -> Expr, ty| {
        let i = vars!(i);
        let mut f = Func::new("f");
        f[i] = make(ImageParam::new("a", ty, 1)[i]);
        Pipeline::new([&f]).unwrap_err().to_string().lines().next().unwrap().to_string()
    };
    let says = |text: String, what: &str| assert!(text.contains(what), "{text}");
    says(text(&|a| widening_mul(a, a), U64), "`widening_mul` takes integers of at most 32 bits, not u64");
    says(text(&|a| saturating_add(a, 1), F32), "`saturating_add` takes integers, not f32");
    says(text(&|a| saturating_add(a, 300), U8), "300");
    says(text(&|a| concat_bits([a, a, a]), U8), "`concat_bits` has 3 operands of 8 bits");
    says(text(&|a| mux(a, [1, 2]), F32), "`mux` takes integers, not f32");
    says(text(&|a| mux::<Expr>(a, []), I32), "0 elements");
}
