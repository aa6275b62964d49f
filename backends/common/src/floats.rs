//! Float operators that are more than one instruction: IEEE, and the language's minimum and maximum.

use halide_core::ops::BinOp;

/// Lanes of f32 or f64.
pub trait FloatLanes {
    /// One scalar, or the registers of a vector.
    type Value: Clone;
    /// The truth of each lane.
    type Truth;
    /// The reason for which an operation cannot be emitted; `Infallible` where all can.
    type Error;

    /// Emits `value` in every lane of a value like `like`.
    fn constant(&mut self, like: &Self::Value, value: f64) -> Result<Self::Value, Self::Error>;
    /// Emits a sum, difference, product or quotient.
    fn arithmetic(&mut self, op: BinOp, x: &Self::Value, y: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// Emits the integer below.
    fn floor(&mut self, x: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// Emits the absolute value.
    fn magnitude(&mut self, x: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// Emits the truth of a comparison, which is false for a NaN.
    fn compare(&mut self, op: BinOp, x: &Self::Value, y: &Self::Value) -> Result<Self::Truth, Self::Error>;
    /// Emits a test for NaNs.
    fn is_nan(&mut self, x: &Self::Value) -> Result<Self::Truth, Self::Error>;
    /// Emits lanes of `x` where the truth holds, else of `y`.
    fn select(&mut self, truth: &Self::Truth, x: &Self::Value, y: &Self::Value) -> Result<Self::Value, Self::Error>;
    /// Emits `x < y ? x : y` for `Min`, `y < x ? x : y` for `Max`: the second of equal ones, and where one is a NaN.
    fn extreme(&mut self, op: BinOp, x: &Self::Value, y: &Self::Value) -> Result<Self::Value, Self::Error> {
        let (low, high) = if op == BinOp::Min { (x, y) } else { (y, x) };
        let first = self.compare(BinOp::Lt, low, high)?;
        self.select(&first, x, y)
    }

    /// Emits `x - y * floor(x / y)`.
    fn remainder(&mut self, x: &Self::Value, y: &Self::Value) -> Result<Self::Value, Self::Error> {
        let quotient = self.arithmetic(BinOp::Div, x, y)?;
        let whole = self.floor(&quotient)?;
        let product = self.arithmetic(BinOp::Mul, y, &whole)?;
        self.arithmetic(BinOp::Sub, x, &product)
    }
    /// Emits `|x - y|`.
    fn absolute_difference(&mut self, x: &Self::Value, y: &Self::Value) -> Result<Self::Value, Self::Error> {
        let difference = self.arithmetic(BinOp::Sub, x, y)?;
        self.magnitude(&difference)
    }
    /// Emits a minimum or maximum: `if x < y || y is NaN { x } else { y }`, or with `>`.
    fn min_max(
        &mut self,
        op: BinOp,
        rule: NanRule,
        x: &Self::Value,
        y: &Self::Value,
    ) -> Result<Self::Value, Self::Error> {
        match rule {
            NanRule::SecondIsNumber => self.extreme(op, x, y),
            NanRule::FirstIsNumber => self.extreme(op, y, x),
            NanRule::Unknown => {
                let made = self.extreme(op, x, y)?;
                let second_is_nan = self.is_nan(y)?;
                self.select(&second_is_nan, x, &made)
            }
        }
    }
    /// Emits a test for infinities (`Eq`), or for numbers (`Lt`).
    fn against_infinity(&mut self, op: BinOp, x: &Self::Value) -> Result<Self::Truth, Self::Error> {
        let magnitude = self.magnitude(x)?;
        let infinity = self.constant(&magnitude, f64::INFINITY)?;
        self.compare(op, &magnitude, &infinity)
    }
}

/// The known absence of NaNs among the operands of a minimum or maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NanRule {
    /// The second operand is no NaN: `x < y ? x : y` is it.
    SecondIsNumber,
    /// The first operand is no NaN and no zero: `y < x ? y : x` is it.
    FirstIsNumber,
    /// Either may be a NaN.
    Unknown,
}

impl NanRule {
    /// Returns the rule for operands with these bounds; `None` if an operand may be a NaN.
    pub fn new(first: Option<(f64, f64)>, second: Option<(f64, f64)>) -> NanRule {
        match (first, second) {
            (_, Some(_)) => NanRule::SecondIsNumber,
            // A zero that is equal to the other operand must lose, whatever its sign.
            (Some((low, high)), _) if low > 0.0 || high < 0.0 => NanRule::FirstIsNumber,
            _ => NanRule::Unknown,
        }
    }
}
