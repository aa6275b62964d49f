//! exp.

use super::ops::*;

const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// ln 2 in two parts: the first of 15 bits, so that its product with an exponent is exact.
pub(super) const LN2_HIGH: f32 = 0.693_145_75;
pub(super) const LN2_LOW: f32 = 1.428_606_8e-6;
/// (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2, to 2^-28 of e^r.
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_17, 0.041_668_102, 0.008_369_195, 0.001_383_898_1];

/// e^x.
pub(super) fn exp<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    exp_scaled(o, x, 0)
}

/// e^x * 2^k for a small k, without overflow on the way.
pub(super) fn exp_scaled<O: FloatOps>(o: &mut O, x: O::F, k: i32) -> O::F {
    let inside = clamp(o, x, -105.0, 90.0);
    let n = scale(o, inside, LOG2_E);
    let n = o.round(n);
    let (high, low) = (scale(o, n, LN2_HIGH), scale(o, n, LN2_LOW));
    let r = o.sub(inside, high);
    let r = o.sub(r, low);
    let (p, square) = (poly(o, r, &EXP), o.mul(r, r));
    let tail = o.mul(square, p);
    let tail = o.add(r, tail);
    let y = offset(o, tail, 1.0);
    let (n, k) = (o.to_int(n), o.int(k));
    let n = o.iadd(n, k);
    let result = times_power_of_two(o, y, n);
    keep_nan(o, x, result)
}

/// `a * 2^n` for n of -250 to 250, rounded once: in two factors, of which the first product is exact for `a` near 1.
pub(super) fn times_power_of_two<O: FloatOps>(o: &mut O, a: O::F, n: O::I) -> O::F {
    let half = o.shr(n, 1);
    let rest = o.isub(n, half);
    let (first, second) = (power_of_two(o, half), power_of_two(o, rest));
    let a = o.mul(a, first);
    o.mul(a, second)
}
