//! pow, with the logarithm carried as an unevaluated sum of two floats so that large exponents keep their accuracy.

use super::exp::times_power_of_two;
use super::log::exponent_and_mantissa;
use super::ops::*;

/// 2 (atanh(s) - s) / (s^3 ln 2) in s^2 on |s| <= 3 - 2 sqrt 2.
const LOG2: [f32; 4] = [0.961_796_7, 0.577_078_9, 0.411_921_47, 0.336_624_68];
/// 2 / ln 2 in two parts.
const TWO_LOG2_E: (f32, f32) = (2.885_39, 3.851_926e-8);
/// (2^r - 1) / r on |r| <= 1/2, to 2^-28 of 2^r.
const EXP2: [f32; 7] = [
    std::f32::consts::LN_2,
    0.240_226_5,
    0.055_504_05,
    0.009_618_089,
    0.001_333_791_5,
    0.000_154_460_75,
    1.445_075_2e-5,
];
/// The exponent beyond which every power of a number other than 1 is 0 or infinite.
const LARGEST_EXPONENT: f32 = 8_589_934_592.0;

/// x^y as IEEE 754 and C have it.
pub(super) fn pow<O: FloatOps>(o: &mut O, x: O::F, y: O::F) -> O::F {
    let base = abs(o, x);
    let logarithm = log2(o, base);
    let exponent = clamp(o, y, -LARGEST_EXPONENT, LARGEST_EXPONENT);
    let (high, low) = two_product(o, exponent, logarithm.0);
    let small = o.mul(exponent, logarithm.1);
    let low = o.add(low, small);
    let magnitude = exp2(o, high, low);
    let magnitude = magnitude_edges(o, base, y, magnitude);
    let result = sign(o, x, y, magnitude);
    // x^0 and 1^y are 1 even for a NaN.
    let (zero, one) = (equals(o, y, 0.0), equals(o, x, 1.0));
    let one = o.or(zero, one);
    replace(o, one, 1.0, result)
}

/// log2 of a positive finite number as a sum of two floats.
fn log2<O: FloatOps>(o: &mut O, x: O::F) -> (O::F, O::F) {
    let (k, m) = exponent_and_mantissa(o, x);
    let f = offset(o, m, -1.0);
    // s = f / (2 + f), with the remainder of the division.
    let t = offset(o, f, 2.0);
    let t_low = offset(o, t, -2.0);
    let t_low = o.sub(f, t_low);
    let s = o.div(f, t);
    let (p, e) = two_product(o, s, t);
    let rest = o.sub(f, p);
    let rest = o.sub(rest, e);
    let st = o.mul(s, t_low);
    let rest = o.sub(rest, st);
    let s_low = o.div(rest, t);
    let c = o.float(TWO_LOG2_E.0);
    let (high, low) = two_product(o, s, c);
    let (a, b) = (scale(o, s, TWO_LOG2_E.1), scale(o, s_low, TWO_LOG2_E.0));
    let ab = o.add(a, b);
    let low = o.add(low, ab);
    let (tail, tail_low) = log2_tail(o, s, s_low);
    let low = o.add(low, tail_low);
    let (high, error) = two_sum(o, high, tail);
    let low = o.add(error, low);
    let (sum, error) = two_sum(o, k, high);
    let low = o.add(error, low);
    two_sum(o, sum, low)
}

/// The terms of the logarithm from s^3 on, of which the first needs more than one float.
fn log2_tail<O: FloatOps>(o: &mut O, s: O::F, s_low: O::F) -> (O::F, O::F) {
    let (z, z_low) = two_product(o, s, s);
    let double = o.add(s, s);
    let cross = o.mul(double, s_low);
    let z_low = o.add(z_low, cross);
    let c = o.float(LOG2[0]);
    let (t, t_low) = two_product(o, z, c);
    let z_low = o.mul(z_low, c);
    let q = poly(o, z, &LOG2[1..]);
    let square = o.mul(z, z);
    let rest = o.mul(square, q);
    let t_low = o.add(t_low, z_low);
    let t_low = o.add(t_low, rest);
    let (high, low) = two_product(o, s, t);
    let (a, b) = (o.mul(s, t_low), o.mul(s_low, t));
    let ab = o.add(a, b);
    (high, o.add(low, ab))
}

/// 2^(high + low).
fn exp2<O: FloatOps>(o: &mut O, high: O::F, low: O::F) -> O::F {
    let inside = clamp(o, high, -200.0, 200.0);
    let unclamped = o.eq(inside, high);
    let zero = o.float(0.0);
    let low = o.select(unclamped, low, zero);
    let n = o.round(inside);
    let r = o.sub(inside, n);
    let r = o.add(r, low);
    let p = poly(o, r, &EXP2);
    let p = o.mul(r, p);
    let y = offset(o, p, 1.0);
    let n = o.to_int(n);
    times_power_of_two(o, y, n)
}

/// |x|^y where |x| is 0, 1 or infinite, or something is a NaN.
fn magnitude_edges<O: FloatOps>(o: &mut O, base: O::F, y: O::F, magnitude: O::F) -> O::F {
    let (zero, infinity) = (o.float(0.0), o.float(f32::INFINITY));
    let negative = o.lt(y, zero);
    let (at_zero, at_infinity) = (o.select(negative, infinity, zero), o.select(negative, zero, infinity));
    let (is_zero, is_infinite) = (equals(o, base, 0.0), equals(o, base, f32::INFINITY));
    let result = o.select(is_zero, at_zero, magnitude);
    let result = o.select(is_infinite, at_infinity, result);
    let is_one = equals(o, base, 1.0);
    let result = replace(o, is_one, 1.0, result);
    let result = keep_nan(o, base, result);
    keep_nan(o, y, result)
}

/// Negative for an odd exponent of a negative base; a NaN for one that is no integer, unless the base is 0 or infinite.
fn sign<O: FloatOps>(o: &mut O, x: O::F, y: O::F, magnitude: O::F) -> O::F {
    let whole = o.floor(y);
    let integral = o.eq(whole, y);
    let half = scale(o, y, 0.5);
    let half_whole = o.floor(half);
    let even = o.eq(half_whole, half);
    let uneven = o.not(even);
    let odd = o.and(integral, uneven);
    let flipped = flip_sign(o, magnitude, x);
    let signed = o.select(odd, flipped, magnitude);
    let (negative, finite) = (below(o, x, 0.0), above(o, x, f32::NEG_INFINITY));
    let negative = o.and(negative, finite);
    let fraction = o.not(integral);
    let invalid = o.and(negative, fraction);
    replace(o, invalid, f32::NAN, signed)
}

/// `a + b` and its rounding error.
fn two_sum<O: FloatOps>(o: &mut O, a: O::F, b: O::F) -> (O::F, O::F) {
    let sum = o.add(a, b);
    let b_part = o.sub(sum, a);
    let a_part = o.sub(sum, b_part);
    let (a_error, b_error) = (o.sub(a, a_part), o.sub(b, b_part));
    (sum, o.add(a_error, b_error))
}

/// `a * b` and its rounding error, by splitting both into halves of 12 bits.
fn two_product<O: FloatOps>(o: &mut O, a: O::F, b: O::F) -> (O::F, O::F) {
    let product = o.mul(a, b);
    let ((a_high, a_low), (b_high, b_low)) = (halves(o, a), halves(o, b));
    let error = o.mul(a_high, b_high);
    let error = o.sub(error, product);
    let (hl, lh, ll) = (o.mul(a_high, b_low), o.mul(a_low, b_high), o.mul(a_low, b_low));
    let error = o.add(error, hl);
    let error = o.add(error, lh);
    (product, o.add(error, ll))
}

fn halves<O: FloatOps>(o: &mut O, a: O::F) -> (O::F, O::F) {
    let c = scale(o, a, 4097.0);
    let d = o.sub(c, a);
    let high = o.sub(c, d);
    (high, o.sub(a, high))
}
