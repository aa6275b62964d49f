//! 16-bit floats by integer arithmetic on their bits, in 32-bit lanes: widened to f32 exactly, and rounded back to
//! nearest, ties to even.

use crate::lanes::{Emitted, IntLanes};
use halide_core::ops::BinOp;

/// The bits of the f32 infinity.
const INFINITY: u64 = 0x7f80_0000;
/// The bits of 2^-14, the smallest normal f16, as an f32.
const F16_NORMAL: u64 = 0x3880_0000;

/// Conversions between f32 and the 16-bit floats, all as bits in 32-bit lanes.
pub trait HalfFloats: IntLanes {
    /// Emits the f32 of a finite f16 without its sign; `moved` is `magnitude << 13`.
    fn f32_of_finite_f16(&mut self, magnitude: &Self::Value, moved: &Self::Value) -> Emitted<Self>;
    /// Emits the f16 nearest to an f32 without its sign that is below 2^-14; anything for others.
    fn f16_of_small_f32(&mut self, magnitude: &Self::Value) -> Emitted<Self>;

    /// Emits the truth of a comparison of two magnitudes. These have no sign bit, so signed order is as good as
    /// unsigned.
    fn compare_magnitudes(&mut self, op: BinOp, x: &Self::Value, y: &Self::Value) -> Result<Self::Truth, Self::Error> {
        self.compare(op, true, x, y)
    }

    /// Emits the f32 of an f16.
    fn f32_of_f16(&mut self, x: &Self::Value) -> Emitted<Self> {
        let rest = self.constant(x, 0x7fff)?;
        let magnitude = self.and(x, &rest)?;
        let moved = self.shift_left(&magnitude, 13)?;
        let number = self.f32_of_finite_f16(&magnitude, &moved)?;
        let exponent = self.constant(x, INFINITY)?;
        let special = self.or(&moved, &exponent)?;
        let finite = self.constant(x, 0x7bff)?;
        let is_special = self.compare_magnitudes(BinOp::Gt, &magnitude, &finite)?;
        let made = self.select(&is_special, &special, &number)?;
        let sign = self.xor(x, &magnitude)?;
        let sign = self.shift_left(&sign, 16)?;
        self.or(&made, &sign)
    }
    /// Emits the f16 nearest to an f32.
    fn f16_of_f32(&mut self, x: &Self::Value) -> Emitted<Self> {
        let rest = self.constant(x, 0x7fff_ffff)?;
        let magnitude = self.and(x, &rest)?;
        // Normal results: the exponent is rebiased while the lost bits are rounded to even.
        let odd = self.shift_right(false, &magnitude, 13)?;
        let one = self.constant(x, 1)?;
        let odd = self.and(&odd, &one)?;
        let bias = self.constant(x, 0xc800_0fff)?;
        let normal = self.add(&magnitude, &bias)?;
        let normal = self.add(&normal, &odd)?;
        let normal = self.shift_right(false, &normal, 13)?;
        let infinity = self.constant(x, 0x7c00)?;
        let normal = self.min(false, &normal, &infinity)?;
        let small = self.f16_of_small_f32(&magnitude)?;
        let least = self.constant(x, F16_NORMAL)?;
        let is_small = self.compare_magnitudes(BinOp::Lt, &magnitude, &least)?;
        let made = self.select(&is_small, &small, &normal)?;
        self.with_nan_and_sign(x, &magnitude, &made, 0x7e00)
    }
    /// Emits the bf16 nearest to an f32.
    fn bf16_of_f32(&mut self, x: &Self::Value) -> Emitted<Self> {
        let rest = self.constant(x, 0x7fff_ffff)?;
        let magnitude = self.and(x, &rest)?;
        let odd = self.shift_right(false, &magnitude, 16)?;
        let one = self.constant(x, 1)?;
        let odd = self.and(&odd, &one)?;
        // A little less than half of the last bit carries where the number rounds up.
        let bias = self.constant(x, 0x7fff)?;
        let rounded = self.add(&magnitude, &bias)?;
        let rounded = self.add(&rounded, &odd)?;
        let rounded = self.shift_right(false, &rounded, 16)?;
        self.with_nan_and_sign(x, &magnitude, &rounded, 0x7fc0)
    }
    /// Emits `made`, or `nan` where the f32 `x` is a NaN, with the sign of `x` in bit 15.
    fn with_nan_and_sign(
        &mut self,
        x: &Self::Value,
        magnitude: &Self::Value,
        made: &Self::Value,
        nan: u64,
    ) -> Emitted<Self> {
        let infinity = self.constant(x, INFINITY)?;
        let is_nan = self.compare_magnitudes(BinOp::Gt, magnitude, &infinity)?;
        let nan = self.constant(x, nan)?;
        let made = self.select(&is_nan, &nan, made)?;
        let sign = self.xor(x, magnitude)?;
        let sign = self.shift_right(false, &sign, 16)?;
        self.or(&made, &sign)
    }
}
