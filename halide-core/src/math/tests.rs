//! Errors in units of the last place over all exponents, and the special values that C and IEEE 754 give.

use super::*;
use MathFn::*;

/// The distance of `got` from `exact` in units of the last place of an f32 at `exact`.
fn ulps(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if rounded.is_infinite() || got.is_infinite() {
        return if got == rounded { 0.0 } else { f64::INFINITY };
    }
    let exponent = (rounded.abs().to_bits() >> 23).max(1) as i32;
    (got as f64 - exact).abs() / 2f64.powi(exponent - 150)
}

/// Every 10,007th f32 with a magnitude from `low` to `high`, of both signs.
fn samples(low: f32, high: f32) -> impl Iterator<Item = f32> {
    (low.to_bits()..=high.to_bits()).step_by(10_007).chain([high.to_bits()]).map(f32::from_bits).flat_map(|v| [v, -v])
}

fn check(function: MathFn, low: f32, high: f32, limit: f64, exact: impl Fn(f64) -> f64) {
    let mut worst = (0.0, 0.0f32);
    for x in samples(low, high) {
        let error = ulps(eval_f32(function, &[x]), exact(x as f64));
        if error > worst.0 {
            worst = (error, x);
        }
    }
    println!("{function:?} on {low:e}..{high:e}: {:.3} ulp at {:e}", worst.0, worst.1);
    assert!(worst.0 <= limit, "{function:?} is off by {} ulp at {:e}", worst.0, worst.1);
}

#[test]
fn errors_on_one_operand() {
    let tiny = f32::from_bits(1);
    check(Exp, tiny, 104.0, 1.0, f64::exp);
    check(Log, tiny, f32::MAX, 1.0, f64::ln);
    check(Sin, tiny, 102_900.0, 1.5, f64::sin);
    check(Cos, tiny, 102_900.0, 1.5, f64::cos);
    check(Tan, tiny, 102_900.0, 3.0, f64::tan);
    check(Asin, tiny, 1.0, 3.0, f64::asin);
    check(Acos, tiny, 1.0, 3.0, f64::acos);
    check(Atan, tiny, f32::MAX, 3.0, f64::atan);
    check(Sinh, tiny, 89.4, 3.0, f64::sinh);
    check(Cosh, tiny, 89.4, 3.0, f64::cosh);
    check(Tanh, tiny, 20.0, 3.0, f64::tanh);
    check(Asinh, tiny, f32::MAX, 3.0, f64::asinh);
    check(Acosh, 1.0, f32::MAX, 3.0, f64::acosh);
    check(Atanh, tiny, 1.0, 3.0, f64::atanh);
    check(Erf, tiny, 10.0, 3.0, |x| eval_f64(Erf, &[x]));
}

#[test]
fn sine_and_cosine_beside_their_zeros() {
    for n in 1..65_535i64 {
        let near = (n as f64 * std::f64::consts::FRAC_PI_2) as f32;
        for x in [near, f32::from_bits(near.to_bits() - 1), f32::from_bits(near.to_bits() + 1)] {
            for (function, exact) in [(Sin, (x as f64).sin()), (Cos, (x as f64).cos())] {
                assert!(ulps(eval_f32(function, &[x]), exact) <= 1.0, "{function:?} {x:e}");
            }
        }
    }
}

#[test]
fn errors_on_two_operands() {
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seed >> 32
    };
    let mut worst = [(0.0, 0.0, 0.0); 3];
    for i in 0..300_000 {
        let (x, y) = (f32::from_bits(random() as u32), f32::from_bits(random() as u32));
        // Half of the powers have a base near one and an exponent of any size, so that results are normal numbers.
        let base = if i % 2 == 0 { 0.5 + (random() as f32) / 2f32.powi(31) } else { x.abs() };
        let largest = 126.0 / (base as f64).log2().abs().max(1e-7);
        let exponent = ((random() as f64 / 2f64.powi(31) - 1.0) * largest) as f32;
        let cases = [
            (Pow, base, exponent, (base as f64).powf(exponent as f64)),
            (Atan2, x, y, (x as f64).atan2(y as f64)),
            (Hypot, x, y, (x as f64).hypot(y as f64)),
        ];
        for ((function, a, b, exact), worst) in cases.into_iter().zip(&mut worst) {
            let error = ulps(eval_f32(function, &[a, b]), exact);
            if error > worst.0 {
                *worst = (error, a, b);
            }
        }
    }
    println!("pow, atan2, hypot: {worst:?}");
    assert!(worst.iter().all(|w| w.0 <= 3.0), "{worst:?}");
}

/// Values of which every pair is tried.
const SPECIAL: [f32; 19] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    2.5,
    1e30,
    -1e30,
    1e-40,
    -1e-40,
    f32::MAX,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

#[test]
fn special_values() {
    let exact = |f: MathFn, args: &[f32]| eval_f64(f, &args.iter().map(|v| *v as f64).collect::<Vec<_>>());
    let check = |f: MathFn, args: &[f32]| {
        let (got, exact) = (eval_f32(f, args), exact(f, args));
        assert!(ulps(got, exact) <= 4.0, "{f:?} {args:?}: {got} for {exact}");
        assert!(
            got.is_nan() || got.is_sign_negative() == exact.is_sign_negative(),
            "{f:?} {args:?}: {got} for {exact}"
        );
    };
    for x in SPECIAL {
        for f in [Exp, Log, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, FastInverse] {
            check(f, &[x]);
        }
        if x.is_nan() || x.is_infinite() || x.abs() < 1e5 {
            for f in [Sin, Cos, Tan] {
                check(f, &[x]);
            }
        }
        for y in SPECIAL {
            for f in [Pow, Atan2, Hypot] {
                check(f, &[x, y]);
            }
        }
    }
}

#[test]
fn sine_and_cosine_are_total() {
    for x in samples(102_900.0, f32::MAX) {
        for f in [Sin, Cos, FastSin, FastCos] {
            assert!(eval_f32(f, &[x]).abs() <= 1.000_001, "{f:?} {x:e}");
        }
    }
}

#[test]
fn fast_forms_are_near() {
    let check = |f: MathFn, args: &[f32], exact: f64, relative: f64, absolute: f64| {
        let got = eval_f32(f, args) as f64;
        assert!((got - exact).abs() <= exact.abs() * relative + absolute, "{f:?} {args:?}: {got} for {exact}");
    };
    for i in -8000..=8000 {
        let x = i as f32 / 100.0;
        check(FastExp, &[x], (x as f64).exp(), 2e-5, 0.0);
        check(FastSin, &[x], (x as f64).sin(), 0.0, 3e-6);
        check(FastCos, &[x], (x as f64).cos(), 0.0, 3e-6);
        if x > 0.0 {
            check(FastLog, &[x], (x as f64).ln(), 1e-5, 1e-6);
            check(FastPow, &[x, 2.2], (x as f64).powf(2.2f32 as f64), 3e-5, 0.0);
            check(FastInverseSqrt, &[x], 1.0 / (x as f64).sqrt(), 1e-6, 0.0);
        }
    }
    assert_eq!(eval_f32(FastPow, &[0.0, 2.2]), 0.0);
}

#[test]
fn erf_of_f64() {
    let known =
        [(0.5, 0.5204998778130465), (1.0, 0.8427007929497149), (2.0, 0.9953222650189527), (3.0, 0.9999779095030014)];
    for (x, value) in known {
        assert!((eval_f64(Erf, &[x]) - value).abs() < 4e-16, "{x}");
        assert_eq!(eval_f64(Erf, &[-x]), -eval_f64(Erf, &[x]));
    }
    assert_eq!((eval_f64(Erf, &[0.0]), eval_f64(Erf, &[f64::INFINITY])), (0.0, 1.0));
}
