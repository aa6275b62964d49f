//! Primitive operations on lanes of integers.

use halide_core::ops::BinOp;

/// The result of emitting an operation on lanes.
pub type Emitted<L> = Result<<L as IntLanes>::Value, <L as IntLanes>::Error>;

/// Lanes of integers of 8 to 64 bits, which are also the bits of floats.
///
/// Operations wrap. Amounts of [`IntLanes::shift_left`] and [`IntLanes::shift_right`] are above 0 and below the width.
pub trait IntLanes {
    /// One scalar, or the registers of a vector.
    type Value: Clone;
    /// The truth of each lane.
    type Truth;
    /// The reason for which an operation cannot be emitted; `Infallible` where all can.
    type Error;

    /// Returns the width of the lanes in bits.
    fn width(&self, x: &Self::Value) -> u32;
    /// Emits the low bits of `bits` in every lane of a value like `like`.
    fn constant(&mut self, like: &Self::Value, bits: u64) -> Emitted<Self>;
    /// Emits `x + y`.
    fn add(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits `x - y`.
    fn sub(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits the lower half of `x * y`.
    fn mul(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits the bits that both have.
    fn and(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits the bits that either has.
    fn or(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits the bits that just one has.
    fn xor(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits the opposite of each bit.
    fn not(&mut self, x: &Self::Value) -> Emitted<Self>;
    /// Emits the smaller of both.
    fn min(&mut self, signed: bool, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits the larger of both.
    fn max(&mut self, signed: bool, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;
    /// Emits `x << by`.
    fn shift_left(&mut self, x: &Self::Value, by: u32) -> Emitted<Self>;
    /// Emits `x >> by`, which fills with the sign if `signed`.
    fn shift_right(&mut self, signed: bool, x: &Self::Value, by: u32) -> Emitted<Self>;
    /// Emits the truth of a comparison: of `Eq`, `Ne`, `Lt`, `Le`, `Gt` or `Ge`.
    fn compare(
        &mut self,
        op: BinOp,
        signed: bool,
        x: &Self::Value,
        y: &Self::Value,
    ) -> Result<Self::Truth, Self::Error>;
    /// Emits lanes of `x` where the truth holds, else of `y`.
    fn select(&mut self, truth: &Self::Truth, x: &Self::Value, y: &Self::Value) -> Emitted<Self>;

    /// Emits any function of three bits in one instruction, if the machine has one: bit `4 * x + 2 * y + z` of `table`
    /// is the result.
    fn ternary(
        &mut self,
        _table: u8,
        _x: &Self::Value,
        _y: &Self::Value,
        _z: &Self::Value,
    ) -> Result<Option<Self::Value>, Self::Error> {
        Ok(None)
    }
    /// Emits the bits of `x` that `y` lacks.
    fn and_not(&mut self, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let rest = self.not(y)?;
        self.and(x, &rest)
    }
    /// Emits `-x`.
    fn negate(&mut self, x: &Self::Value) -> Emitted<Self> {
        let zero = self.constant(x, 0)?;
        self.sub(&zero, x)
    }
    /// Emits lanes of `x` where the sign bit of `sign` is set, else of `y`.
    fn select_negative(&mut self, sign: &Self::Value, x: &Self::Value, y: &Self::Value) -> Emitted<Self> {
        let zero = self.constant(sign, 0)?;
        let negative = self.compare(BinOp::Lt, true, sign, &zero)?;
        self.select(&negative, x, y)
    }
    /// Emits a shift by any constant to the left, or to the right where it is negative. An amount of the width or more
    /// leaves 0, or the sign.
    fn shift(&mut self, signed: bool, x: &Self::Value, left: i64) -> Emitted<Self> {
        let bits = i64::from(self.width(x));
        match left {
            0 => Ok(x.clone()),
            _ if left >= bits || (left <= -bits && !signed) => self.constant(x, 0),
            _ if left > 0 => self.shift_left(x, left as u32),
            _ => self.shift_right(signed, x, left.unsigned_abs().min(bits as u64 - 1) as u32),
        }
    }
    /// Emits all ones in negative lanes, and 0 in others.
    fn sign(&mut self, x: &Self::Value) -> Emitted<Self> {
        let bits = self.width(x);
        self.shift_right(true, x, bits - 1)
    }
}
