//! Sums and differences that saturate or are halved, rounded products, and values clamped to the range of a type.

use crate::interval::Interval;
use crate::lanes::{Emitted, IntLanes};
use halide_core::ops::BinOp;

/// Arithmetic on integers that does not wrap.
pub trait Arithmetic: IntLanes {
    /// Emits `|x - y|`, exactly, in unsigned lanes.
    fn absolute_difference(&mut self, signed: bool, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let low = self.min(signed, x, y)?;
        let high = self.max(signed, x, y)?;
        self.sub(&high, &low)
    }
    /// Emits `(x + y) / 2`, rounded down.
    fn halving_add(&mut self, signed: bool, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let both = self.and(x, y)?;
        let differ = self.xor(x, y)?;
        let half = self.shift_right(signed, &differ, 1)?;
        self.add(&both, &half)
    }
    /// Emits `(x + y + 1) / 2`, rounded down.
    fn rounding_halving_add(&mut self, signed: bool, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let either = self.or(x, y)?;
        let differ = self.xor(x, y)?;
        let half = self.shift_right(signed, &differ, 1)?;
        self.sub(&either, &half)
    }

    /// Emits a sum (`Add`) or difference (`Sub`) clamped to what the lanes hold.
    fn saturating(&mut self, op: BinOp, signed: bool, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        match (op, signed) {
            (_, true) => self.saturating_signed(op, x, y),
            (BinOp::Add, false) => {
                let room = self.not(y)?;
                let fits = self.min(false, x, &room)?;
                self.add(&fits, y)
            }
            (_, false) => {
                let most = self.max(false, x, y)?;
                self.sub(&most, y)
            }
        }
    }
    /// Emits a signed sum or difference clamped to what the lanes hold: where it overflows, the extreme of the sign of
    /// `x`.
    fn saturating_signed(&mut self, op: BinOp, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let wrapped = if op == BinOp::Add { self.add(x, y)? } else { self.sub(x, y)? };
        let sign = self.sign(x)?;
        let top = self.width(x) - 1;
        let most = self.constant(x, (1u64 << top) - 1)?;
        let extreme = self.xor(&sign, &most)?;
        let overflow = self.overflow(op, x, y, &wrapped)?;
        self.select_negative(&overflow, &extreme, &wrapped)
    }
    /// Emits lanes whose sign bit says that a signed sum or difference overflowed: its sign is not that of `x`,
    /// although `y` has the sign of `x` in a sum, and another in a difference.
    fn overflow(&mut self, op: BinOp, x: &Self::Value, y: &Self::Value, wrapped: &Self::Value) -> Emitted<Self> {
        if let Some(made) = self.ternary(if op == BinOp::Add { 0x42 } else { 0x18 }, x, y, wrapped)? {
            return Ok(made);
        }
        let changed = self.xor(x, wrapped)?;
        let other = self.xor(y, if op == BinOp::Add { wrapped } else { x })?;
        self.and(&changed, &other)
    }

    /// Emits `(x * y + 2^14) >> 15` clamped to i16, for i16 operands that are sign-extended to lanes of at least 32
    /// bits.
    fn mul_rounded(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let product = self.mul(x, y)?;
        let half = self.constant(&product, 1 << 14)?;
        let sum = self.add(&product, &half)?;
        let rounded = self.shift_right(true, &sum, 15)?;
        let most = self.constant(&rounded, i16::MAX as u64)?;
        self.min(true, &rounded, &most)
    }

    /// Emits lanes with values in `from` clamped to `to`; only the ends that some value is beyond.
    fn clamp_to(&mut self, signed: bool, x: &Self::Value, from: Interval, to: Interval) -> Emitted<Self> {
        let mut clamped = x.clone();
        if to.low > from.low {
            let least = self.constant(&clamped, to.low as u64)?;
            clamped = self.max(signed, &clamped, &least)?;
        }
        if to.high < from.high {
            let most = self.constant(&clamped, to.high as u64)?;
            clamped = self.min(signed, &clamped, &most)?;
        }
        Ok(clamped)
    }
}
