//! Cheaper forms: about 16 bits, no special cases. They are as deterministic as the exact ones.

use super::ops::*;

/// 2^r on |r| <= 1/2, to 2^-18.
const EXP2: [f32; 5] = [0.999_999_3, 0.693_121_43, 0.240_245_91, 0.055_921_063, 0.009_579_663];
/// log2(1 + f) / f from sqrt(1/2) - 1 to sqrt 2 - 1, to 2^-19.
const LOG2: [f32; 7] = [1.442_696_3, -0.721_371, 0.480_649_26, -0.359_006_4, 0.294_855_15, -0.272_852_4, 0.179_881_98];
/// sin r / r in r^2 on |r| <= pi / 2, to 2^-20.
const SIN: [f32; 4] = [0.999_999_2, -0.166_656_63, 0.008_312_99, -0.000_185_156_56];
const PI_HIGH: f32 = 3.140_625;
const PI_LOW: f32 = 9.676_536e-4;

/// e^x for results that are normal numbers; saturates at the ends of that range.
pub(super) fn exp<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let exponent = scale(o, x, std::f32::consts::LOG2_E);
    exp2(o, exponent)
}

/// log x of positive normal numbers; some value elsewhere.
pub(super) fn log<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let logarithm = log2(o, x);
    scale(o, logarithm, std::f32::consts::LN_2)
}

/// x^y of positive normal numbers, and 0 for x = 0; some value elsewhere.
pub(super) fn pow<O: FloatOps>(o: &mut O, x: O::F, y: O::F) -> O::F {
    let logarithm = log2(o, x);
    let exponent = o.mul(logarithm, y);
    let result = exp2(o, exponent);
    let zero = equals(o, x, 0.0);
    replace(o, zero, 0.0, result)
}

/// sin x for |x| of a few thousand; some value in [-1, 1] beyond.
pub(super) fn sin<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let n = scale(o, x, std::f32::consts::FRAC_1_PI);
    let n = o.round(n);
    sin_beside(o, x, n, n)
}

/// cos x for |x| of a few thousand; some value in [-1, 1] beyond.
pub(super) fn cos<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    // cos x = sin(r + (n + 1) pi) with r = x - (n + 1/2) pi
    let n = scale(o, x, std::f32::consts::FRAC_1_PI);
    let n = offset(o, n, -0.5);
    let n = o.round(n);
    let (middle, turns) = (offset(o, n, 0.5), offset(o, n, 1.0));
    sin_beside(o, x, middle, turns)
}

/// sin(x - middle pi + turns pi) for |x - middle pi| <= pi / 2 and integral turns.
fn sin_beside<O: FloatOps>(o: &mut O, x: O::F, middle: O::F, turns: O::F) -> O::F {
    let (high, low) = (scale(o, middle, PI_HIGH), scale(o, middle, PI_LOW));
    let r = o.sub(x, high);
    let r = o.sub(r, low);
    let r = clamp(o, r, -1.571, 1.571);
    let z = o.mul(r, r);
    let p = poly(o, z, &SIN);
    let result = o.mul(r, p);
    let half = scale(o, turns, 0.5);
    let whole = o.floor(half);
    let even = o.eq(half, whole);
    let negated = neg(o, result);
    o.select(even, result, negated)
}

fn exp2<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let x = clamp(o, x, -126.0, 127.0);
    let n = o.round(x);
    let r = o.sub(x, n);
    let p = poly(o, r, &EXP2);
    let n = o.to_int(n);
    let power = power_of_two(o, n);
    o.mul(p, power)
}

fn log2<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let (bits, base) = (o.bits(x), o.int(0x3f35_04f3));
    let above = o.isub(bits, base);
    let k = o.shr(above, 23);
    let field = o.shl(k, 23);
    let mantissa = o.isub(bits, field);
    let (k, m) = (o.to_float(k), o.float_of_bits(mantissa));
    let f = offset(o, m, -1.0);
    let p = poly(o, f, &LOG2);
    let p = o.mul(f, p);
    o.add(k, p)
}
