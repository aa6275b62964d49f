//! hypot and erf.

use super::exp::exp;
use super::ops::*;

/// erf x / x - 1 in x^2 on |x| <= 0.93.
const ERF_NEAR: [f32; 7] =
    [0.128_379_17, -0.376_126_3, 0.112_836_24, -0.026_855_588, 0.005_191_948, -0.000_804_383_8, 7.969_642e-5];
/// log(1 - erf x) on 0.92 to 4, weighted by its exponential.
const ERF_FAR: [f32; 8] = [
    0.000_175_884_04,
    -1.129_520_9,
    -0.633_334_46,
    -0.108_294_226,
    0.025_128_85,
    -0.004_174_748,
    0.000_435_245_1,
    -2.116_465_1e-5,
];

/// sqrt(x^2 + y^2) without overflow or underflow on the way; infinite when either is, even beside a NaN.
pub(super) fn hypot<O: FloatOps>(o: &mut O, x: O::F, y: O::F) -> O::F {
    let (a, b) = (abs(o, x), abs(o, y));
    let ordered = o.lt(a, b);
    let largest = o.select(ordered, b, a);
    let (huge, tiny) = (above(o, largest, HUGE), below(o, largest, 1.0 / HUGE));
    let (one, zoom_out, zoom_in) = (o.float(1.0), o.float(ZOOM_OUT), o.float(ZOOM_IN));
    let zoom = o.select(tiny, zoom_in, one);
    let zoom = o.select(huge, zoom_out, zoom);
    let unzoom = o.select(tiny, zoom_out, one);
    let unzoom = o.select(huge, zoom_in, unzoom);
    let (a, b) = (o.mul(a, zoom), o.mul(b, zoom));
    let (aa, bb) = (o.mul(a, a), o.mul(b, b));
    let sum = o.add(aa, bb);
    let root = o.sqrt(sum);
    let result = o.mul(root, unzoom);
    let (a_infinite, b_infinite) = (equals(o, a, f32::INFINITY), equals(o, b, f32::INFINITY));
    let infinite = o.or(a_infinite, b_infinite);
    replace(o, infinite, f32::INFINITY, result)
}

/// 2^60, and the powers of two that bring larger and smaller numbers to where their squares are safe.
const HUGE: f32 = (1u64 << 60) as f32;
const ZOOM_OUT: f32 = f32::from_bits((127 - 100) << 23);
const ZOOM_IN: f32 = f32::from_bits((127 + 100) << 23);

/// The error function.
pub(super) fn erf<O: FloatOps>(o: &mut O, x: O::F) -> O::F {
    let a = abs(o, x);
    let z = o.mul(x, x);
    let p = poly(o, z, &ERF_NEAR);
    let p = o.mul(x, p);
    let near = o.add(x, p);
    let inside = clamp(o, a, 0.0, 4.0);
    let logarithm = poly(o, inside, &ERF_FAR);
    let (one, rest) = (o.float(1.0), exp(o, logarithm));
    let far = o.sub(one, rest);
    let far = flip_sign(o, far, x);
    let is_near = below(o, a, 0.93);
    let result = o.select(is_near, near, far);
    keep_nan(o, x, result)
}
