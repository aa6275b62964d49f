//! Ranges of floats: what a code generator knows of the values of an expression of floats.

use crate::interval::Interval;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;

/// The floats from `low` to `high`, infinities among them, and maybe values that are no numbers.
///
/// Ends are rounded outwards by more than any device is off: by a few units of the last place, and by the least normal
/// number, since devices may take smaller ones for zero.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FloatRange {
    /// The least of them.
    pub low: f64,
    /// The greatest of them.
    pub high: f64,
    /// True if a value may be no number.
    pub nan: bool,
}

impl FloatRange {
    /// All floats.
    pub const ANYTHING: FloatRange = FloatRange { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    /// Returns the range of one float.
    pub fn point(value: f64) -> FloatRange {
        if value.is_nan() { FloatRange::ANYTHING } else { FloatRange { low: value, high: value, nan: false } }
    }

    /// Returns the floats of a type that integers become.
    pub fn of_integers(values: Interval, ty: ScalarType) -> FloatRange {
        FloatRange { low: values.low as f64, high: values.high as f64, nan: false }.rounded(ty)
    }

    /// Returns what becomes of the floats in another type.
    pub fn rounded(self, ty: ScalarType) -> FloatRange {
        let (part, least, most) = precision(ty);
        let out = |value: f64, sign: f64| {
            if value.is_infinite() {
                return value;
            }
            let value = value + sign * (value.abs() * part + least);
            if value.abs() > most { f64::INFINITY.copysign(value) } else { value }
        };
        FloatRange { low: out(self.low, -1.0), high: out(self.high, 1.0), nan: self.nan }
    }

    /// Returns the smallest range that holds both.
    pub fn hull(self, other: FloatRange) -> FloatRange {
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        FloatRange { low, high, nan: self.nan || other.nan }
    }

    /// Returns the integers of a type that the floats become: truncated and saturated, and 0 of no number.
    pub fn to_integers(self, ty: ScalarType) -> Interval {
        let zero = if self.nan { Interval::point(0) } else { Interval::point(self.low as i128) };
        // `as` truncates and saturates, too.
        Interval::new(self.low as i128, self.high as i128).hull(zero).clamp(Interval::of_type(ty))
    }

    /// Returns a range that holds the results of an operator that gives floats of a type.
    pub fn binary(op: BinOp, a: FloatRange, b: FloatRange, ty: ScalarType) -> FloatRange {
        match op {
            // No number loses against any.
            BinOp::Min | BinOp::Max => {
                let of = if op == BinOp::Min { f64::min } else { f64::max };
                let both = FloatRange { low: of(a.low, b.low), high: of(a.high, b.high), nan: a.nan && b.nan };
                let with = |range: FloatRange, other: FloatRange| if other.nan { range } else { both };
                both.hull(FloatRange { nan: both.nan, ..with(a, b) }).hull(FloatRange { nan: both.nan, ..with(b, a) })
            }
            BinOp::Add => ends(a, b, |a, b| a + b, ty),
            BinOp::Sub => ends(a, b, |a, b| a - b, ty),
            BinOp::Mul => ends(a, b, |a, b| a * b, ty),
            // Quotients by what may be near zero are anything.
            BinOp::Div if b.low > 0.0 || b.high < 0.0 => ends(a, b, |a, b| a / b, ty),
            _ => FloatRange::ANYTHING,
        }
    }

    /// Returns a range that holds the results of an operator that gives floats of a type.
    pub fn unary(op: UnOp, a: FloatRange, ty: ScalarType) -> FloatRange {
        let growing = |f: fn(f64) -> f64| FloatRange { low: f(a.low), high: f(a.high), nan: a.nan };
        match op {
            UnOp::Neg => FloatRange { low: -a.high, high: -a.low, nan: a.nan },
            UnOp::Abs => {
                let high = a.low.abs().max(a.high.abs());
                FloatRange { low: a.low.max(-a.high).max(0.0), high, nan: a.nan }
            }
            UnOp::Floor => growing(f64::floor),
            UnOp::Ceil => growing(f64::ceil),
            UnOp::Round => growing(f64::round_ties_even),
            UnOp::Trunc => growing(f64::trunc),
            UnOp::Sqrt if a.low >= 0.0 => growing(f64::sqrt).rounded(ty),
            _ => FloatRange::ANYTHING,
        }
    }
}

/// The relative error that devices stay below, the least normal number, and the greatest number.
fn precision(ty: ScalarType) -> (f64, f64, f64) {
    match ty {
        ScalarType::F64 => (2f64.powi(-45), f64::MIN_POSITIVE, f64::MAX),
        ScalarType::F32 => (2f64.powi(-18), f32::MIN_POSITIVE.into(), f32::MAX.into()),
        ScalarType::F16 => (2f64.powi(-7), 2f64.powi(-14), 65504.0),
        _ => (2f64.powi(-5), f32::MIN_POSITIVE.into(), f32::MAX.into()),
    }
}

/// The results of an operator that grows or falls with each operand, from those of the ends.
fn ends(a: FloatRange, b: FloatRange, of: fn(f64, f64) -> f64, ty: ScalarType) -> FloatRange {
    let all = [of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)];
    if [a.low, a.high, b.low, b.high].into_iter().chain(all).any(|end| !end.is_finite()) {
        return FloatRange::ANYTHING;
    }
    let (low, high) = (all.into_iter().fold(all[0], f64::min), all.into_iter().fold(all[0], f64::max));
    FloatRange { low, high, nan: a.nan || b.nan }.rounded(ty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::value::{Scalar, binary, cast, unary};

    fn holds(range: FloatRange, value: f64) -> bool {
        if value.is_nan() { range.nan } else { range.low <= value && value <= range.high }
    }

    /// Ranges of all pairs of some numbers of each type hold what operators make of what is in them.
    #[test]
    fn ranges_hold_what_operators_make() {
        let numbers =
            [f64::NEG_INFINITY, -3e38, -7.5, -1.0, -1e-40, 0.0, 1e-40, 0.3, 1.0, 2.5, 255.0, 3e38, f64::INFINITY];
        for ty in [ScalarType::F64, ScalarType::F32, ScalarType::F16, ScalarType::BF16] {
            let number = |value: f64| Scalar::float(ty, value);
            let range = |a: Scalar, b: Scalar, nan: bool| {
                let (a, b) = (a.as_f64(), b.as_f64());
                FloatRange { low: a.min(b), high: a.max(b), nan }
            };
            let pairs = || numbers.into_iter().flat_map(|a| numbers.map(|b| (number(a), number(b))));
            let inside = |(a, b): (Scalar, Scalar), nan: bool| {
                let middle = number((a.as_f64() + b.as_f64()) / 2.0);
                let middle = Some(middle).filter(|m| !m.is_nan()).unwrap_or(a);
                [a, b, middle].into_iter().chain(nan.then(|| number(f64::NAN)))
            };
            for (first, nan) in pairs().flat_map(|pair| [(pair, false), (pair, true)]) {
                let own = range(first.0, first.1, nan);
                for op in [UnOp::Neg, UnOp::Abs, UnOp::Floor, UnOp::Ceil, UnOp::Round, UnOp::Trunc, UnOp::Sqrt] {
                    let made = FloatRange::unary(op, own, ty);
                    for value in inside(first, nan) {
                        let result = unary(op, value).as_f64();
                        assert!(holds(made, result), "{ty:?} {op:?} {value:?} is {result}, not in {made:?}");
                    }
                }
                for (value, to) in inside(first, nan).flat_map(|v| [ScalarType::I32, ScalarType::U8].map(|to| (v, to)))
                {
                    let (made, result) = (own.to_integers(to), cast(to, value).as_i128());
                    assert!(Interval::point(result).within(made), "{to:?} of {value:?} is {result}, not in {made:?}");
                }
                for second in pairs().step_by(3) {
                    let other = range(second.0, second.1, !nan);
                    for op in [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Min, BinOp::Max, BinOp::Mod] {
                        let made = FloatRange::binary(op, own, other, ty);
                        for a in inside(first, nan) {
                            for b in inside(second, !nan) {
                                let result = binary(op, a, b).as_f64();
                                assert!(holds(made, result), "{ty:?} {op:?} {a:?} {b:?}: {result}, not in {made:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn integers_become_floats_near_them() {
        for (low, high) in [(0, 255), (-7, 1 << 24), (i128::from(i64::MIN), i128::from(u64::MAX))] {
            let values = Interval::new(low, high);
            let range = FloatRange::of_integers(values, ScalarType::F32);
            for value in [low, high, (low + high) / 2] {
                assert!(holds(range, (value as f32).into()), "{value} is not in {range:?}");
            }
        }
        let half = FloatRange::of_integers(Interval::new(0, 1 << 20), ScalarType::F16);
        assert_eq!(half.high, f64::INFINITY);
    }

    /// The form of most coordinates that data make: a clamp to known ends, scaled.
    #[test]
    fn a_clamped_value_is_a_few_integers() {
        let f32 = ScalarType::F32;
        let [zero, one, scale, half] = [0.0, 1.0, 10.0, 0.5].map(FloatRange::point);
        let clamped = FloatRange::binary(BinOp::Max, FloatRange::ANYTHING, zero, f32);
        let clamped = FloatRange::binary(BinOp::Min, clamped, one, f32);
        assert_eq!(clamped, FloatRange { low: 0.0, high: 1.0, nan: false });
        let scaled = FloatRange::binary(BinOp::Mul, clamped, scale, f32);
        let at = FloatRange::binary(BinOp::Add, scaled, half, f32);
        assert_eq!(at.to_integers(ScalarType::I32), Interval::new(0, 10));
    }
}
