//! Division of integers, total: Euclidean or rounded to zero, x / 0 = 0 and x % 0 = 0, MIN / -1 = MIN.
//!
//! By a constant it is a shift, or the upper half of a product with a rounded reciprocal; see
//! [`DivideByConstant::divide_by`]. By other values a generator supplies a quotient that is rounded to zero, of which
//! [`Divide::finish_division`] makes what was asked for.

use crate::lanes::{Emitted, IntLanes};
use halide_core::ops::BinOp;

/// The parameters of a division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// True for signed operands.
    pub signed: bool,
    /// Euclidean rather than rounded to zero; the same for unsigned integers.
    pub euclidean: bool,
    /// The remainder rather than the quotient.
    pub remainder: bool,
    /// True if the dividend is known to be non-negative.
    pub positive: bool,
}

impl Division {
    /// Returns the parameters of `Div`, `Mod`, `DivToZero` or `ModToZero`.
    pub fn new(op: BinOp, signed: bool, positive: bool) -> Division {
        Division {
            signed,
            euclidean: matches!(op, BinOp::Div | BinOp::Mod),
            remainder: matches!(op, BinOp::Mod | BinOp::ModToZero),
            positive,
        }
    }
}

/// The multiplier and the shift that divide by a constant, with the upper half of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reciprocal {
    /// The multiplier.
    pub factor: u64,
    /// The distance by which the upper half is then shifted to the right.
    pub shift: u32,
    /// True if multiplying and shifting suffice. If not, the factor lacks its highest bit, and half of what the product
    /// lacks is to be added.
    pub exact: bool,
}

impl Reciprocal {
    /// Returns the reciprocal for dividing integers of `bits` bits that are below 2^width. The divisor is above 1.
    pub fn new(divisor: u64, bits: u32, width: u32) -> Reciprocal {
        let most = 1u128 << bits;
        let length = 64 - (divisor - 1).leading_zeros();
        let exact = (0..=length).find_map(|shift| {
            let power = most << shift;
            let factor = power.div_ceil(u128::from(divisor));
            let error = factor * u128::from(divisor) - power;
            let fits = factor < most && (error << width) <= power;
            fits.then_some(Reciprocal { factor: factor as u64, shift, exact: true })
        });
        exact.unwrap_or_else(|| {
            let factor = (most << length).div_ceil(u128::from(divisor)) - most;
            Reciprocal { factor: factor as u64, shift: length, exact: false }
        })
    }
}

/// Division of integers by powers of two, and by lanes where a machine gives quotients that are rounded to zero.
pub trait Divide: IntLanes {
    /// Emits a division by 2^power, or by -(2^power).
    fn divide_by_power(&mut self, d: Division, x: &Self::Value, power: u32, negative: bool) -> Emitted<Self> {
        let bits = self.width(x);
        if d.remainder && (d.euclidean || !d.signed) {
            let below = if power == 0 { 0 } else { u64::MAX >> (64 - power) };
            let mask = self.constant(x, below)?;
            return self.and(x, &mask);
        }
        let mut biased = x.clone();
        if d.signed && !d.euclidean && !d.positive && power > 0 {
            // Negative operands are rounded up: 2^power - 1 is added to them first.
            let sign = self.sign(x)?;
            let bias = self.shift(false, &sign, -i64::from(bits - power))?;
            biased = self.add(x, &bias)?;
        }
        let quotient = self.shift(d.signed, &biased, -i64::from(power))?;
        if d.remainder {
            let multiple = self.shift(true, &quotient, i64::from(power))?;
            return self.sub(x, &multiple);
        }
        if negative { self.negate(&quotient) } else { Ok(quotient) }
    }
    /// Emits a division by lanes from its quotient rounded to zero, which may be anything where the divisor is 0.
    fn finish_division(
        &mut self,
        d: Division,
        x: &Self::Value,
        y: &Self::Value,
        quotient: &Self::Value,
    ) -> Emitted<Self> {
        let result = self.of_truncated(d, x, y, quotient)?;
        self.zero_where_zero(y, &result)
    }
    /// Emits a division by lanes that are not 0 from its quotient rounded to zero. In Euclidean division a negative
    /// remainder becomes positive, and the quotient changes with it.
    fn of_truncated(&mut self, d: Division, x: &Self::Value, y: &Self::Value, quotient: &Self::Value) -> Emitted<Self> {
        let euclidean = d.signed && d.euclidean;
        if !d.remainder && !euclidean {
            return Ok(quotient.clone());
        }
        let product = self.mul(quotient, y)?;
        let rest = self.sub(x, &product)?;
        match (euclidean, d.remainder) {
            (false, _) => Ok(rest),
            (true, true) => self.euclidean_remainder(&rest, y),
            (true, false) => self.euclidean_quotient(quotient, &rest, y),
        }
    }
    /// Emits the Euclidean remainder from that of a quotient rounded to zero.
    fn euclidean_remainder(&mut self, rest: &Self::Value, divisor: &Self::Value) -> Emitted<Self> {
        let (negative, sign) = (self.sign(rest)?, self.sign(divisor)?);
        let flipped = self.xor(divisor, &sign)?;
        let magnitude = self.sub(&flipped, &sign)?;
        let more = self.and(&magnitude, &negative)?;
        self.add(rest, &more)
    }
    /// Emits the Euclidean quotient from one that is rounded to zero: where the remainder of that is negative, one less
    /// for a positive divisor, one more for a negative one.
    fn euclidean_quotient(
        &mut self,
        quotient: &Self::Value,
        rest: &Self::Value,
        divisor: &Self::Value,
    ) -> Emitted<Self> {
        let (negative, sign) = (self.sign(rest)?, self.sign(divisor)?);
        let one = self.constant(&sign, 1)?;
        let step = self.or(&sign, &one)?;
        let step = self.and(&step, &negative)?;
        self.sub(quotient, &step)
    }
    /// Emits 0 where the divisor is 0, else `result`.
    fn zero_where_zero(&mut self, divisor: &Self::Value, result: &Self::Value) -> Emitted<Self> {
        let zero = self.constant(result, 0)?;
        let by_zero = self.compare(BinOp::Eq, false, divisor, &zero)?;
        self.select(&by_zero, &zero, result)
    }
}

/// Division of integers by constants.
pub trait DivideByConstant: Divide {
    /// Emits the quotient of unsigned lanes below 2^width by a constant that is no power of two.
    fn divide_unsigned(&mut self, x: &Self::Value, divisor: u64, width: u32) -> Emitted<Self>;
    /// Emits the upper half of the product of unsigned lanes with a constant.
    fn mul_high_by(&mut self, x: &Self::Value, factor: u64) -> Emitted<Self>;

    /// Emits a division by a constant.
    fn divide_by(&mut self, d: Division, x: &Self::Value, divisor: i128) -> Emitted<Self> {
        let magnitude = divisor.unsigned_abs() as u64;
        if divisor == 0 {
            return self.constant(x, 0);
        }
        if magnitude.is_power_of_two() {
            return self.divide_by_power(d, x, magnitude.trailing_zeros(), divisor < 0);
        }
        let bits = self.width(x);
        // For operands of 0 or more, and quotients of them, signs do not matter.
        let sign = if d.signed && !d.positive { Some(self.sign(x)?) } else { None };
        let unsigned = match &sign {
            None => x.clone(),
            // ~x for Euclidean division, whose quotient is then flipped back, -x for the other.
            Some(sign) => {
                let flipped = self.xor(x, sign)?;
                if d.euclidean { flipped } else { self.sub(&flipped, sign)? }
            }
        };
        let width = if d.signed && (d.euclidean || d.positive) { bits - 1 } else { bits };
        let mut quotient = self.divide_unsigned(&unsigned, magnitude, width)?;
        if let Some(sign) = &sign {
            quotient = self.xor(&quotient, sign)?;
            if !d.euclidean {
                quotient = self.sub(&quotient, sign)?;
            }
        }
        if d.remainder {
            // The remainder is that of the magnitude of the divisor.
            let divisor = self.constant(x, magnitude)?;
            let product = self.mul(&quotient, &divisor)?;
            return self.sub(x, &product);
        }
        if divisor < 0 { self.negate(&quotient) } else { Ok(quotient) }
    }
    /// Emits [`DivideByConstant::divide_unsigned`] by the upper half of a product: `x * reciprocal >> (bits + shift)`.
    fn divide_by_reciprocal(&mut self, x: &Self::Value, divisor: u64, width: u32) -> Emitted<Self> {
        let reciprocal = Reciprocal::new(divisor, self.width(x), width);
        let shift = i64::from(reciprocal.shift);
        let high = self.mul_high_by(x, reciprocal.factor)?;
        if reciprocal.exact {
            return self.shift(false, &high, -shift);
        }
        let rest = self.sub(x, &high)?;
        let half = self.shift_right(false, &rest, 1)?;
        let sum = self.add(&half, &high)?;
        self.shift(false, &sum, 1 - shift)
    }
}
