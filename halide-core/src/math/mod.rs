//! Transcendental functions with one result on every engine.
//!
//! For f32 each is a fixed sequence of IEEE operations, written once over the trait [`FloatOps`]: [`eval_f32`] runs it
//! on numbers, and a backend emits it lane by lane with [`emit`], so all give the same bits. Errors against the exact
//! result, measured in the tests: at most 1 ulp for exp and log, 1.5 for sin and cos (|x| <= 102,900), 3 for the rest.
//! f16 and bf16 go through f32. For f64 they are the standard library's functions, which engines on the CPU call.

mod arc;
mod exp;
mod fast;
mod hyperbolic;
mod log;
mod ops;
mod pow;
mod special;
#[cfg(test)]
mod tests;
mod trig;
mod wide;

pub use ops::{Compute, FloatOps};
pub use wide::eval_f64;

use crate::ops::MathFn;

/// Runs `function` on f32 lanes: computes with [`Compute`], emits code with a backend's operations. A missing operand
/// is 0.
pub fn emit<O: FloatOps>(o: &mut O, function: MathFn, args: &[O::F]) -> O::F {
    let zero = o.float(0.0);
    let arg = |i: usize| args.get(i).copied().unwrap_or(zero);
    let x = arg(0);
    match function {
        MathFn::Exp => exp::exp(o, x),
        MathFn::Log => log::log(o, x),
        MathFn::Pow => pow::pow(o, x, arg(1)),
        MathFn::Sin => trig::sin(o, x),
        MathFn::Cos => trig::cos(o, x),
        MathFn::Tan => trig::tan(o, x),
        MathFn::Asin => arc::asin(o, x),
        MathFn::Acos => arc::acos(o, x),
        MathFn::Atan => arc::atan(o, x),
        MathFn::Atan2 => arc::atan2(o, x, arg(1)),
        MathFn::Sinh => hyperbolic::sinh(o, x),
        MathFn::Cosh => hyperbolic::cosh(o, x),
        MathFn::Tanh => hyperbolic::tanh(o, x),
        MathFn::Asinh => hyperbolic::asinh(o, x),
        MathFn::Acosh => hyperbolic::acosh(o, x),
        MathFn::Atanh => hyperbolic::atanh(o, x),
        MathFn::Hypot => special::hypot(o, x, arg(1)),
        MathFn::Erf => special::erf(o, x),
        MathFn::FastExp => fast::exp(o, x),
        MathFn::FastLog => fast::log(o, x),
        MathFn::FastPow => fast::pow(o, x, arg(1)),
        MathFn::FastSin => fast::sin(o, x),
        MathFn::FastCos => fast::cos(o, x),
        MathFn::FastInverse => {
            let one = o.float(1.0);
            o.div(one, x)
        }
        MathFn::FastInverseSqrt => {
            let (root, one) = (o.sqrt(x), o.float(1.0));
            o.div(one, root)
        }
        // Rounded twice: where it matters, an engine has its own way.
        MathFn::Fma | MathFn::MulAdd => {
            let product = o.mul(x, arg(1));
            o.add(product, arg(2))
        }
    }
}

/// `function` of one to three f32 operands.
pub fn eval_f32(function: MathFn, args: &[f32]) -> f32 {
    if let (MathFn::Fma | MathFn::MulAdd, &[a, b, c]) = (function, args) {
        return a.mul_add(b, c);
    }
    emit(&mut Compute, function, args)
}
