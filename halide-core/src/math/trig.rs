//! sin, cos and tan: reduction by a long pi / 2, then polynomials on |r| <= pi / 4 and a little
//! more, because the quotient is rounded before it is rounded to an integer.

use super::ops::*;

/// pi / 2 as a sum of parts of 8 bits (the last: 24): their products with n < 2^16 are exact.
const HALF_PI: [f32; 7] =
    [1.570_312_5, 4.577_636_7e-4, 2.598_762_5e-5, 7.543_713e-8, 6.002_665e-11, 7.389_644_5e-13, 5.390_303e-15];
/// (sin r - r) / r^3 in r^2 on |r| <= 0.8, to 2^-32 of the sine.
const SIN: [f32; 4] = [-0.166_666_67, 0.008_333_378, -0.000_198_524_84, 2.824_720_2e-6];
/// (cos r - 1 + r^2/2) / r^4 in r^2 on |r| <= 0.8, to 2^-32 of the cosine.
const COS: [f32; 3] = [0.041_666_64, -0.001_388_713, 2.441_208_6e-5];

/// The sine. From |x| of 102,900 on it is some value in [-1, 1].
pub(super) fn sin<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let r = reduce(o, x);
    let swapped = o.or(r.first, r.third);
    let result = o.select(swapped, r.cos, r.sin);
    let negated = neg(o, result);
    let negative = o.or(r.second, r.third);
    let result = o.select(negative, negated, result);
    keep_zero(o, x, result)
}

/// The cosine. From |x| of 102,900 on it is some value in [-1, 1].
pub(super) fn cos<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let r = reduce(o, x);
    let swapped = o.or(r.first, r.third);
    let result = o.select(swapped, r.sin, r.cos);
    let negated = neg(o, result);
    let negative = o.or(r.first, r.second);
    o.select(negative, negated, result)
}

/// The tangent. From |x| of 102,900 on it is some value.
pub(super) fn tan<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let r = reduce(o, x);
    let swapped = o.or(r.first, r.third);
    let negated = neg(o, r.cos);
    let (above, below) = (o.select(swapped, negated, r.sin), o.select(swapped, r.sin, r.cos));
    let result = o.div(above, below);
    keep_zero(o, x, result)
}

/// The sign of a zero is lost in the reduction.
fn keep_zero<O: FloatOps>(o: &mut O, x: O::F, result: O::F) -> O::F {
    let zero = equals(o, x, 0.0);
    o.select(zero, x, result)
}

/// Sine and cosine of `x - n pi / 2`, and which quadrant `n` names (none of the three: the zeroth).
struct Reduced<O: FloatOps> {
    sin: O::F,
    cos: O::F,
    first: O::M,
    second: O::M,
    third: O::M,
}

fn reduce<O: FloatOps>(o: &mut O, x: O::F) -> Reduced<O> {
    let n = scale(o, x, std::f32::consts::FRAC_2_PI);
    let n = o.round(n);
    // The remainder modulo 4 is exact for every finite n.
    let quarter = scale(o, n, 0.25);
    let quarter = o.floor(quarter);
    let whole = scale(o, quarter, 4.0);
    let quadrant = o.sub(n, whole);
    let r = remainder(o, x, n);
    let clamped = clamp(o, r, -0.8, 0.8);
    let r = keep_nan(o, r, clamped);
    let (sin, cos) = (odd_poly(o, r, &SIN), cos_poly(o, r));
    let [first, second, third] = [1.0, 2.0, 3.0].map(|q| equals(o, quadrant, q));
    Reduced { sin, cos, first, second, third }
}

/// `x - n pi / 2`: the three long steps are exact, and the rounding errors of the later ones are gathered.
fn remainder<O: FloatOps>(o: &mut O, x: O::F, n: O::F) -> O::F {
    let mut r = x;
    let mut lost = o.float(0.0);
    for (i, part) in HALF_PI.into_iter().enumerate() {
        let step = scale(o, n, part);
        let next = o.sub(r, step);
        if i >= 3 {
            let error = o.sub(r, next);
            let error = o.sub(error, step);
            lost = o.add(lost, error);
        }
        r = next;
    }
    o.add(r, lost)
}

fn cos_poly<O: FloatOps>(o: &mut O, r: O::F) -> O::F {
    let z = o.mul(r, r);
    let p = poly(o, z, &COS);
    let square = o.mul(z, z);
    let tail = o.mul(square, p);
    let half = scale(o, z, 0.5);
    // 1 - z/2 and what that loses, then the small terms.
    let one = o.float(1.0);
    let main = o.sub(one, half);
    let lost = o.sub(one, main);
    let lost = o.sub(lost, half);
    let tail = o.add(lost, tail);
    o.add(main, tail)
}
