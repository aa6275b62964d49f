//! log and log(1 + x).

use super::exp::{LN2_HIGH, LN2_LOW};
use super::ops::*;

/// 2 (atanh(s) - s) / s^3 in s^2 on |s| <= 3 - 2 sqrt 2, to 2^-34 of the logarithm.
const LOG: [f32; 4] = [0.666_666_6, 0.400_009_72, 0.284_987_93, 0.242_788_63];
/// The bits of sqrt(1/2).
const SQRT_HALF_BITS: i32 = 0x3f35_04f3;

/// The natural logarithm.
pub(super) fn log<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let (k, m) = exponent_and_mantissa(o, x);
    let f = offset(o, m, -1.0);
    // log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + R)): the large term f is exact.
    let t = offset(o, f, 2.0);
    let s = o.div(f, t);
    let z = o.mul(s, s);
    let q = poly(o, z, &LOG);
    let r = o.mul(z, q);
    let h = scale(o, f, 0.5);
    let h = o.mul(h, f);
    let hr = o.add(h, r);
    let shr = o.mul(s, hr);
    let (high, low) = (scale(o, k, LN2_HIGH), scale(o, k, LN2_LOW));
    let small = o.add(shr, low);
    let small = o.sub(h, small);
    let small = o.sub(small, f);
    let result = o.sub(high, small);
    edges(o, x, result)
}

/// log(1 + x), exact in its leading digits also for tiny `x`.
pub(super) fn log_1p<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let w = offset(o, x, 1.0);
    let lost = offset(o, w, -1.0);
    let lost = o.sub(x, lost);
    let correction = o.div(lost, w);
    let whole = log(o, w);
    let result = o.add(whole, correction);
    let (zero, infinite) = (equals(o, w, 0.0), equals(o, w, f32::INFINITY));
    let edge = o.or(zero, infinite);
    o.select(edge, whole, result)
}

/// `x = 2^k m` for positive finite `x`, with m from sqrt(1/2) to sqrt 2; `k` is an integral float.
pub(super) fn exponent_and_mantissa<O: FloatOps>(o: &mut O, x: O::F) -> (O::F, O::F) {
    let tiny = below(o, x, f32::MIN_POSITIVE);
    let scaled = scale(o, x, 8_388_608.0);
    let (normal, bias, zero) = (o.select(tiny, scaled, x), o.float(-23.0), o.float(0.0));
    let bias = o.select(tiny, bias, zero);
    let (bits, base) = (o.bits(normal), o.int(SQRT_HALF_BITS));
    let above = o.isub(bits, base);
    let k = o.shr(above, 23);
    let field = o.shl(k, 23);
    let mantissa = o.isub(bits, field);
    let (k, m) = (o.to_float(k), o.float_of_bits(mantissa));
    (o.add(k, bias), m)
}

/// The logarithm of zero, of negative numbers, of infinity and of NaN.
fn edges<O: FloatOps>(o: &mut O, x: O::F, result: O::F) -> O::F {
    let infinite = equals(o, x, f32::INFINITY);
    let result = replace(o, infinite, f32::INFINITY, result);
    let zero = equals(o, x, 0.0);
    let result = replace(o, zero, f32::NEG_INFINITY, result);
    let negative = below(o, x, 0.0);
    let result = replace(o, negative, f32::NAN, result);
    keep_nan(o, x, result)
}
