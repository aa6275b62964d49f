//! f64: the standard library's functions, which every engine on the CPU calls.

use crate::ops::MathFn;

/// `function` of one to three operands (a missing one is 0).
pub fn eval_f64(function: MathFn, args: &[f64]) -> f64 {
    let arg = |i: usize| args.get(i).copied().unwrap_or(0.0);
    let x = arg(0);
    match function {
        MathFn::Exp | MathFn::FastExp => x.exp(),
        MathFn::Log | MathFn::FastLog => x.ln(),
        MathFn::Pow | MathFn::FastPow => x.powf(arg(1)),
        MathFn::Sin | MathFn::FastSin => x.sin(),
        MathFn::Cos | MathFn::FastCos => x.cos(),
        MathFn::Tan => x.tan(),
        MathFn::Asin => x.asin(),
        MathFn::Acos => x.acos(),
        MathFn::Atan => x.atan(),
        MathFn::Atan2 => x.atan2(arg(1)),
        MathFn::Sinh => x.sinh(),
        MathFn::Cosh => x.cosh(),
        MathFn::Tanh => x.tanh(),
        MathFn::Asinh => x.asinh(),
        MathFn::Acosh => x.acosh(),
        MathFn::Atanh => x.atanh(),
        MathFn::Hypot => x.hypot(arg(1)),
        MathFn::Erf => erf(x),
        MathFn::Fma | MathFn::MulAdd => x.mul_add(arg(1), arg(2)),
        MathFn::FastInverse => 1.0 / x,
        MathFn::FastInverseSqrt => 1.0 / x.sqrt(),
    }
}

/// The error function by its series of positive terms, 2/sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!.
fn erf(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() {
        return x;
    }
    // 1 - erf(6) is below half of the last bit of 1.
    if a >= 6.0 {
        return 1f64.copysign(x);
    }
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while term.abs() > sum.abs() * 1e-18 {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
        n += 1.0;
    }
    (std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum).clamp(-1.0, 1.0)
}
