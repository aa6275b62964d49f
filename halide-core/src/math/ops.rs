//! The operations that transcendental functions are made of, as a trait: on numbers they compute, in a backend they
//! emit instructions for a vector of lanes. The same sequence of exact operations gives the same bits everywhere.

/// IEEE f32 arithmetic, 32-bit integers and masks. No operation may be fused, reassociated or flushed to zero.
pub trait FloatOps {
    /// f32 lanes.
    type F: Copy;
    /// i32 lanes; arithmetic wraps.
    type I: Copy;
    /// Truth lanes.
    type M: Copy;

    /// A constant, which may be infinite or NaN.
    fn float(&mut self, value: f32) -> Self::F;
    /// A constant.
    fn int(&mut self, value: i32) -> Self::I;

    /// `a + b`.
    fn add(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`.
    fn sub(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b`.
    fn mul(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// `a / b`.
    fn div(&mut self, a: Self::F, b: Self::F) -> Self::F;
    /// The square root, correctly rounded.
    fn sqrt(&mut self, a: Self::F) -> Self::F;
    /// Round down.
    fn floor(&mut self, a: Self::F) -> Self::F;
    /// Round to nearest, ties to even.
    fn round(&mut self, a: Self::F) -> Self::F;
    /// `a < b`; false for NaN.
    fn lt(&mut self, a: Self::F, b: Self::F) -> Self::M;
    /// `a == b`; false for NaN.
    fn eq(&mut self, a: Self::F, b: Self::F) -> Self::M;

    /// Both.
    fn and(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// Either.
    fn or(&mut self, a: Self::M, b: Self::M) -> Self::M;
    /// Not.
    fn not(&mut self, a: Self::M) -> Self::M;
    /// `a` where the mask is true, else `b`.
    fn select(&mut self, mask: Self::M, a: Self::F, b: Self::F) -> Self::F;

    /// `a + b`.
    fn iadd(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// `a - b`.
    fn isub(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise and.
    fn iand(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise or.
    fn ior(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise exclusive or.
    fn ixor(&mut self, a: Self::I, b: Self::I) -> Self::I;
    /// Shift left by a constant of 0 to 31.
    fn shl(&mut self, a: Self::I, bits: u32) -> Self::I;
    /// Arithmetic shift right by a constant of 0 to 31.
    fn shr(&mut self, a: Self::I, bits: u32) -> Self::I;

    /// An integral float as an integer. The operand is always finite and within the range of i32.
    fn to_int(&mut self, a: Self::F) -> Self::I;
    /// An integer of at most 24 bits as a float, exactly.
    fn to_float(&mut self, a: Self::I) -> Self::F;
    /// The bits of a float.
    fn bits(&mut self, a: Self::F) -> Self::I;
    /// The float with these bits.
    fn float_of_bits(&mut self, a: Self::I) -> Self::F;
}

/// The trait on numbers: one lane, computed at once.
#[derive(Clone, Copy, Default, Debug)]
pub struct Compute;

impl FloatOps for Compute {
    type F = f32;
    type I = i32;
    type M = bool;

    fn float(&mut self, value: f32) -> f32 {
        value
    }
    fn int(&mut self, value: i32) -> i32 {
        value
    }
    fn add(&mut self, a: f32, b: f32) -> f32 {
        a + b
    }
    fn sub(&mut self, a: f32, b: f32) -> f32 {
        a - b
    }
    fn mul(&mut self, a: f32, b: f32) -> f32 {
        a * b
    }
    fn div(&mut self, a: f32, b: f32) -> f32 {
        a / b
    }
    fn sqrt(&mut self, a: f32) -> f32 {
        a.sqrt()
    }
    fn floor(&mut self, a: f32) -> f32 {
        a.floor()
    }
    fn round(&mut self, a: f32) -> f32 {
        a.round_ties_even()
    }
    fn lt(&mut self, a: f32, b: f32) -> bool {
        a < b
    }
    fn eq(&mut self, a: f32, b: f32) -> bool {
        a == b
    }
    fn and(&mut self, a: bool, b: bool) -> bool {
        a && b
    }
    fn or(&mut self, a: bool, b: bool) -> bool {
        a || b
    }
    fn not(&mut self, a: bool) -> bool {
        !a
    }
    fn select(&mut self, mask: bool, a: f32, b: f32) -> f32 {
        if mask { a } else { b }
    }
    fn iadd(&mut self, a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
    fn isub(&mut self, a: i32, b: i32) -> i32 {
        a.wrapping_sub(b)
    }
    fn iand(&mut self, a: i32, b: i32) -> i32 {
        a & b
    }
    fn ior(&mut self, a: i32, b: i32) -> i32 {
        a | b
    }
    fn ixor(&mut self, a: i32, b: i32) -> i32 {
        a ^ b
    }
    fn shl(&mut self, a: i32, bits: u32) -> i32 {
        a << bits
    }
    fn shr(&mut self, a: i32, bits: u32) -> i32 {
        a >> bits
    }
    fn to_int(&mut self, a: f32) -> i32 {
        a as i32
    }
    fn to_float(&mut self, a: i32) -> f32 {
        a as f32
    }
    fn bits(&mut self, a: f32) -> i32 {
        a.to_bits() as i32
    }
    fn float_of_bits(&mut self, a: i32) -> f32 {
        f32::from_bits(a as u32)
    }
}

/// `|a|`.
pub(super) fn abs<O: FloatOps>(o: &mut O, a: O::F) -> O::F {
    let (bits, mask) = (o.bits(a), o.int(i32::MAX));
    let bits = o.iand(bits, mask);
    o.float_of_bits(bits)
}

/// `-a`.
pub(super) fn neg<O: FloatOps>(o: &mut O, a: O::F) -> O::F {
    let (bits, sign) = (o.bits(a), o.int(i32::MIN));
    let bits = o.ixor(bits, sign);
    o.float_of_bits(bits)
}

/// `a` with its sign flipped where `from` is negative (also -0).
pub(super) fn flip_sign<O: FloatOps>(o: &mut O, a: O::F, from: O::F) -> O::F {
    let (bits, from, sign) = (o.bits(a), o.bits(from), o.int(i32::MIN));
    let sign = o.iand(from, sign);
    let bits = o.ixor(bits, sign);
    o.float_of_bits(bits)
}

/// `a` clamped to a range; a NaN gives `low`.
pub(super) fn clamp<O: FloatOps>(o: &mut O, a: O::F, low: f32, high: f32) -> O::F {
    let (low, high) = (o.float(low), o.float(high));
    let above = o.lt(low, a);
    let a = o.select(above, a, low);
    let below = o.lt(a, high);
    o.select(below, a, high)
}

/// `result`, but `a` itself where that is a NaN.
pub(super) fn keep_nan<O: FloatOps>(o: &mut O, a: O::F, result: O::F) -> O::F {
    let number = o.eq(a, a);
    o.select(number, result, a)
}

/// `coefficients[0] + x * (coefficients[1] + x * ...)`, by Horner's rule.
pub(super) fn poly<O: FloatOps>(o: &mut O, x: O::F, coefficients: &[f32]) -> O::F {
    let mut terms = coefficients.iter().rev();
    let mut sum = o.float(terms.next().copied().unwrap_or(0.0));
    for &c in terms {
        let (scaled, c) = (o.mul(sum, x), o.float(c));
        sum = o.add(scaled, c);
    }
    sum
}

/// `x + x * x^2 * P(x^2)`: an odd function near zero.
pub(super) fn odd_poly<O: FloatOps>(o: &mut O, x: O::F, coefficients: &[f32]) -> O::F {
    let z = o.mul(x, x);
    let p = poly(o, z, coefficients);
    let xz = o.mul(x, z);
    let tail = o.mul(xz, p);
    o.add(x, tail)
}

/// `a * constant`.
pub(super) fn scale<O: FloatOps>(o: &mut O, a: O::F, constant: f32) -> O::F {
    let constant = o.float(constant);
    o.mul(a, constant)
}

/// `a + constant`.
pub(super) fn offset<O: FloatOps>(o: &mut O, a: O::F, constant: f32) -> O::F {
    let constant = o.float(constant);
    o.add(a, constant)
}

/// `a < constant`.
pub(super) fn below<O: FloatOps>(o: &mut O, a: O::F, constant: f32) -> O::M {
    let constant = o.float(constant);
    o.lt(a, constant)
}

/// `a > constant`.
pub(super) fn above<O: FloatOps>(o: &mut O, a: O::F, constant: f32) -> O::M {
    let constant = o.float(constant);
    o.lt(constant, a)
}

/// `a == constant`.
pub(super) fn equals<O: FloatOps>(o: &mut O, a: O::F, constant: f32) -> O::M {
    let constant = o.float(constant);
    o.eq(a, constant)
}

/// `constant` where the mask is true, else `a`.
pub(super) fn replace<O: FloatOps>(o: &mut O, mask: O::M, constant: f32, a: O::F) -> O::F {
    let constant = o.float(constant);
    o.select(mask, constant, a)
}

/// 2^n for n of -126 to 127.
pub(super) fn power_of_two<O: FloatOps>(o: &mut O, n: O::I) -> O::F {
    let bias = o.int(127);
    let field = o.iadd(n, bias);
    let bits = o.shl(field, 23);
    o.float_of_bits(bits)
}
