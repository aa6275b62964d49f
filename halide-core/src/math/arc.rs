//! The inverse trigonometric functions.

use super::ops::*;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The low parts of pi, pi / 2 and pi / 4: these minus their values in f32.
const PI_LOW: f32 = -8.742_278e-8;
const HALF_PI_LOW: f32 = -4.371_139e-8;
const QUARTER_PI_LOW: f32 = -2.185_569_4e-8;
/// (asin x - x) / x^3 in x^2 on |x| <= 1/2.
const ASIN: [f32; 6] = [0.166_666_6, 0.075_005_21, 0.044_513_635, 0.031_836_055, 0.014_329_188, 0.037_673_134];
/// (atan x - x) / x^3 in x^2 on |x| <= sqrt 2 - 1.
const ATAN: [f32; 5] = [-0.333_333_16, 0.199_985_3, -0.142_444_22, 0.105_993_57, -0.060_903_553];

/// The arc sine.
pub(super) fn asin<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let near = odd_poly(o, x, &ASIN);
    let far = double_asin_of_rest(o, a);
    let far = minus_from(o, (FRAC_PI_2, HALF_PI_LOW), far);
    let far = flip_sign(o, far, x);
    let is_near = below(o, a, 0.5);
    o.select(is_near, near, far)
}

/// The arc cosine.
pub(super) fn acos<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let near = odd_poly(o, x, &ASIN);
    let near = minus_from(o, (FRAC_PI_2, HALF_PI_LOW), near);
    let far = double_asin_of_rest(o, a);
    let mirrored = minus_from(o, (PI, PI_LOW), far);
    let negative = below(o, x, 0.0);
    let far = o.select(negative, mirrored, far);
    let is_near = below(o, a, 0.5);
    o.select(is_near, near, far)
}

/// The arc tangent.
pub(super) fn atan<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let large = above(o, a, 2.414_213_7);
    let inverse = o.float(-1.0);
    let inverse = o.div(inverse, a);
    let (numerator, denominator) = (offset(o, a, -1.0), offset(o, a, 1.0));
    let ratio = o.div(numerator, denominator);
    let middle = above(o, a, 0.414_213_57);
    let t = o.select(middle, ratio, a);
    let t = o.select(large, inverse, t);
    let zero = o.float(0.0);
    let base = replace(o, middle, FRAC_PI_4, zero);
    let base = replace(o, large, FRAC_PI_2, base);
    let low = replace(o, middle, QUARTER_PI_LOW, zero);
    let low = replace(o, large, HALF_PI_LOW, low);
    let p = odd_poly(o, t, &ATAN);
    let p = o.add(p, low);
    let result = o.add(base, p);
    flip_sign(o, result, x)
}

/// The angle of the point (x, y), of the sign of `y`, as IEEE 754 and C have it.
pub(super) fn atan2<O: FloatOps>(o: &mut O, y: O::F, x: O::F) -> O::F {
    let (a, b) = (abs(o, y), abs(o, x));
    let steep = o.lt(b, a);
    let (small, large) = (o.select(steep, b, a), o.select(steep, a, b));
    let q = o.div(small, large);
    let (equal, zero) = (o.eq(small, large), equals(o, large, 0.0));
    let q = replace(o, equal, 1.0, q);
    let q = replace(o, zero, 0.0, q);
    let angle = atan(o, q);
    let turned = minus_from(o, (FRAC_PI_2, HALF_PI_LOW), angle);
    let angle = o.select(steep, turned, angle);
    let mirrored = minus_from(o, (PI, PI_LOW), angle);
    let one = o.float(1.0);
    let side = flip_sign(o, one, x);
    let left = below(o, side, 0.0);
    let angle = o.select(left, mirrored, angle);
    let angle = flip_sign(o, angle, y);
    let angle = keep_nan(o, x, angle);
    keep_nan(o, y, angle)
}

/// 2 asin(sqrt((1 - a) / 2)), which is acos(a), for a >= 1/2; a NaN beyond 1.
fn double_asin_of_rest<O: FloatOps>(o: &mut O, a: O::F) -> O::F {
    let one = o.float(1.0);
    let rest = o.sub(one, a);
    let rest = scale(o, rest, 0.5);
    let root = o.sqrt(rest);
    let half = odd_poly(o, root, &ASIN);
    o.add(half, half)
}

/// `high + low - a`.
fn minus_from<O: FloatOps>(o: &mut O, (high, low): (f32, f32), a: O::F) -> O::F {
    let a = offset(o, a, -low);
    let high = o.float(high);
    o.sub(high, a)
}
