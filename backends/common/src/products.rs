//! Products made of products of narrower or wider lanes.

use crate::lanes::{Emitted, IntLanes};

/// An operand and its upper half.
pub struct Halves<V> {
    /// Lanes whose lower half counts; see [`Products::lower_half`].
    pub lower: V,
    /// The upper half of each lane, shifted down.
    pub upper: V,
}

/// Products of integers that machines lack.
pub trait Products: IntLanes {
    /// Emits the exact products of the lower halves of lanes, of which the upper halves are what
    /// [`Products::lower_half`] leaves.
    fn mul_halves(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        self.mul(x, y)
    }
    /// Emits an operand of [`Products::mul_halves`]: the lower half of each lane.
    fn lower_half(&mut self, x: &Self::Value) -> Emitted<Self> {
        let half = self.width(x) / 2;
        let mask = self.constant(x, (1u64 << half) - 1)?;
        self.and(x, &mask)
    }
    /// Emits both halves of lanes.
    fn halves(&mut self, x: &Self::Value) -> Result<Halves<Self::Value>, Self::Error> {
        let half = self.width(x) / 2;
        Ok(Halves { lower: self.lower_half(x)?, upper: self.shift_right(false, x, half)? })
    }
    /// Emits the upper half of the product of unsigned lanes.
    fn mul_high_unsigned(&mut self, x: &Self::Value, y: &Halves<Self::Value>) -> Emitted<Self> {
        let half = self.width(x) / 2;
        let halves = self.halves(x)?;
        let lowest = self.mul_halves(&halves.lower, &y.lower)?;
        let middle = self.mul_halves(&halves.upper, &y.lower)?;
        let other = self.mul_halves(&halves.lower, &y.upper)?;
        let highest = self.mul_halves(&halves.upper, &y.upper)?;
        // Each sum has room: with n bits in a half, (2^n - 1)^2 + 2 (2^n - 1) is 2^2n - 1.
        let carried = self.shift_right(false, &lowest, half)?;
        let middle = self.add(&middle, &carried)?;
        let mask = self.constant(x, (1u64 << half) - 1)?;
        let kept = self.and(&middle, &mask)?;
        let other = self.add(&other, &kept)?;
        let middle = self.shift_right(false, &middle, half)?;
        let other = self.shift_right(false, &other, half)?;
        let high = self.add(&highest, &middle)?;
        self.add(&high, &other)
    }
    /// Emits the upper half of the product, from those of the halves of lanes.
    fn mul_high(&mut self, signed: bool, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let factor = self.halves(y)?;
        let high = self.mul_high_unsigned(x, &factor)?;
        if signed { self.high_of_signed(&high, x, y) } else { Ok(high) }
    }
    /// Emits the upper half of the product of signed lanes from that of the same lanes taken as unsigned: a negative
    /// operand was taken for one that is more by two to the power of the width.
    fn high_of_signed(&mut self, high: &Self::Value, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let (x_sign, y_sign) = (self.sign(x)?, self.sign(y)?);
        let (less, more) = (self.and(&x_sign, y)?, self.and(&y_sign, x)?);
        let high = self.sub(high, &less)?;
        self.sub(&high, &more)
    }

    /// Emits the wrapping products of even and of odd bytes, of operands whose bytes are taken two by two as 16-bit
    /// lanes.
    fn mul_bytes(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let even = self.mul(x, y)?;
        let (x, y) = (self.shift_right(false, x, 8)?, self.shift_right(false, y, 8)?);
        let odd = self.mul(&x, &y)?;
        let odd = self.shift_left(&odd, 8)?;
        let low = self.constant(&even, 0xff)?;
        // even & low | odd
        if let Some(both) = self.ternary(0xea, &even, &low, &odd)? {
            return Ok(both);
        }
        let even = self.and(&even, &low)?;
        self.or(&even, &odd)
    }
}
