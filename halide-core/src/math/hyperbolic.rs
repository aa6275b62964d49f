//! The hyperbolic functions and their inverses.

use super::exp::{exp, exp_scaled};
use super::log::{log, log_1p};
use super::ops::*;

/// (tanh x - x) / x^3 in x^2 on |x| <= 5/8.
const TANH: [f32; 6] = [-0.333_333_3, 0.133_332_22, -0.053_948_462, 0.021_708_755, -0.008_195_131, 0.002_157_714_5];
/// (sinh x - x) / x^3 in x^2 on |x| <= 1.
const SINH: [f32; 4] = [0.166_666_67, 0.008_333_311, 0.000_198_426_35, 2.783_925_5e-6];
/// From here on the square of a number is so much larger than 1 that adding 1 does nothing, and may overflow.
const LARGE: f32 = 1.0e9;

/// The hyperbolic sine.
pub(super) fn sinh<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let near = odd_poly(o, x, &SINH);
    let (half, inverse) = half_exp(o, a);
    let far = o.sub(half, inverse);
    let far = flip_sign(o, far, x);
    let is_near = below(o, a, 1.0);
    o.select(is_near, near, far)
}

/// The hyperbolic cosine.
pub(super) fn cosh<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let (half, inverse) = half_exp(o, a);
    o.add(half, inverse)
}

/// The hyperbolic tangent.
pub(super) fn tanh<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let near = odd_poly(o, a, &TANH);
    let double = o.add(a, a);
    let e = exp(o, double);
    let (two, denominator) = (o.float(2.0), offset(o, e, 1.0));
    let q = o.div(two, denominator);
    let one = o.float(1.0);
    let far = o.sub(one, q);
    let is_near = below(o, a, 0.625);
    let result = o.select(is_near, near, far);
    flip_sign(o, result, x)
}

/// The inverse hyperbolic sine.
pub(super) fn asinh<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    // asinh a = log(1 + a + a^2 / (1 + sqrt(1 + a^2)))
    let square = o.mul(a, a);
    let root = offset(o, square, 1.0);
    let root = o.sqrt(root);
    let denominator = offset(o, root, 1.0);
    let q = o.div(square, denominator);
    let u = o.add(a, q);
    let near = log_1p(o, u);
    let result = log_of_double_beyond(o, a, near);
    flip_sign(o, result, x)
}

/// The inverse hyperbolic cosine; a NaN below 1.
pub(super) fn acosh<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    // With t = x - 1, acosh x = log(1 + t + sqrt(2 t + t^2)).
    let t = offset(o, x, -1.0);
    let more = offset(o, t, 2.0);
    let square = o.mul(t, more);
    let root = o.sqrt(square);
    let u = o.add(t, root);
    let near = log_1p(o, u);
    let result = log_of_double_beyond(o, x, near);
    let low = below(o, x, 1.0);
    replace(o, low, f32::NAN, result)
}

/// The inverse hyperbolic tangent; a NaN beyond -1 and 1.
pub(super) fn atanh<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let one = o.float(1.0);
    let (double, rest) = (o.add(a, a), o.sub(one, a));
    let q = o.div(double, rest);
    let result = log_1p(o, q);
    let result = scale(o, result, 0.5);
    flip_sign(o, result, x)
}

/// e^a / 2 and e^-a / 2.
fn half_exp<O: FloatOps>(o: &mut O, a: O::F) -> (O::F, O::F) {
    let half = exp_scaled(o, a, -1);
    let quarter = o.float(0.25);
    (half, o.div(quarter, half))
}

/// log(2 a) where `a` is so large that its square is not safe, else `near`.
fn log_of_double_beyond<O: FloatOps>(o: &mut O, a: O::F, near: O::F) -> O::F {
    let whole = log(o, a);
    let far = offset(o, whole, std::f32::consts::LN_2);
    let is_far = above(o, a, LARGE);
    o.select(is_far, far, near)
}
