//! Intervals of exact integers: what a code generator knows of the values of an integer expression.

use halide_core::ops::BinOp;
use halide_core::types::ScalarType;

/// The integers from `low` to `high`, at least one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// The least of them.
    pub low: i128,
    /// The greatest of them.
    pub high: i128,
}

impl Interval {
    /// Returns the interval between two integers, in either order.
    pub fn new(low: i128, high: i128) -> Interval {
        Interval { low: low.min(high), high: high.max(low) }
    }
    /// Returns the interval of one integer.
    pub fn point(value: i128) -> Interval {
        Interval { low: value, high: value }
    }
    /// Returns everything that a type holds; 0 for floats, of which intervals say nothing.
    pub fn of_type(ty: ScalarType) -> Interval {
        Interval { low: ty.int_min().unwrap_or(0), high: ty.int_max().unwrap_or(0) }
    }
    /// Returns true if all of it is in another interval.
    pub fn within(self, other: Interval) -> bool {
        other.low <= self.low && self.high <= other.high
    }
    /// Returns the smallest interval that holds both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
    /// Returns what it becomes when its integers are clamped to another interval.
    pub fn clamp(self, to: Interval) -> Interval {
        Interval { low: self.low.clamp(to.low, to.high), high: self.high.clamp(to.low, to.high) }
    }
    /// Returns the sums.
    pub fn sum(self, other: Interval) -> Interval {
        Interval { low: self.low.saturating_add(other.low), high: self.high.saturating_add(other.high) }
    }
    /// Returns the opposites.
    pub fn negated(self) -> Interval {
        Interval { low: self.high.saturating_neg(), high: self.low.saturating_neg() }
    }
    /// Returns the products.
    pub fn product(self, other: Interval) -> Interval {
        let ends = [self.low, self.high].map(|a| [a.saturating_mul(other.low), a.saturating_mul(other.high)]);
        let [[a, b], [c, d]] = ends;
        Interval { low: a.min(b).min(c).min(d), high: a.max(b).max(c).max(d) }
    }
    /// The largest magnitude in it.
    fn reach(self) -> i128 {
        self.low.saturating_abs().max(self.high.saturating_abs())
    }
    /// Euclidean quotients, where x / 0 is 0.
    fn quotient(self, by: Interval) -> Interval {
        match by.low == by.high && by.low != 0 {
            true => Interval::new(
                self.low.checked_div_euclid(by.low).unwrap_or(i128::MAX),
                self.high.checked_div_euclid(by.low).unwrap_or(i128::MAX),
            ),
            // A quotient is no larger than what is divided.
            false if by.low > 0 => Interval { low: self.low.min(0), high: self.high.max(0) },
            false => Interval { low: -self.reach(), high: self.reach() },
        }
    }
    /// Euclidean remainders, where x % 0 is 0.
    fn remainder(self, by: Interval) -> Interval {
        let below = by.reach().saturating_sub(1).max(0);
        if self.low >= 0 && by.low > self.high {
            return self;
        }
        Interval { low: 0, high: if self.low >= 0 { below.min(self.high) } else { below } }
    }

    /// Returns an interval that holds the exact results of an operator on Index values; `None` of operators that these
    /// lack.
    pub fn index_op(op: BinOp, a: Interval, b: Interval) -> Option<Interval> {
        Some(match op {
            BinOp::Add => a.sum(b),
            BinOp::Sub => a.sum(b.negated()),
            BinOp::Mul => a.product(b),
            BinOp::Div => a.quotient(b),
            BinOp::Mod => a.remainder(b),
            BinOp::Min => Interval { low: a.low.min(b.low), high: a.high.min(b.high) },
            BinOp::Max => Interval { low: a.low.max(b.low), high: a.high.max(b.high) },
            _ => return None,
        })
    }
    /// Returns an interval that holds the exact results of an operator that only data has, on integers; `None` where
    /// nothing is known.
    fn data_op(op: BinOp, a: Interval, b: Interval) -> Option<Interval> {
        let constant = b.low == b.high;
        match op {
            // No more bits than either operand that is not negative has.
            BinOp::BitAnd if a.low >= 0 && b.low >= 0 => Some(Interval { low: 0, high: a.high.min(b.high) }),
            BinOp::BitAnd if a.low >= 0 => Some(Interval { low: 0, high: a.high }),
            BinOp::BitAnd if b.low >= 0 => Some(Interval { low: 0, high: b.high }),
            BinOp::Shr if constant && (0..64).contains(&b.low) => {
                Some(Interval { low: a.low >> b.low, high: a.high >> b.low })
            }
            BinOp::Shl if constant && (0..64).contains(&b.low) => Some(a.product(Interval::point(1 << b.low))),
            BinOp::DivToZero if constant && b.low > 0 => Some(Interval { low: a.low / b.low, high: a.high / b.low }),
            BinOp::Absd => {
                let high = a.high.saturating_sub(b.low).max(b.high.saturating_sub(a.low));
                Some(Interval { low: 0, high })
            }
            _ => None,
        }
    }
    /// Returns an interval that holds the results of an operator on integers, if they did not wrap; `None` where
    /// nothing is known.
    pub fn binary(op: BinOp, a: Interval, b: Interval) -> Option<Interval> {
        Interval::index_op(op, a, b).or_else(|| Interval::data_op(op, a, b))
    }
}

#[cfg(test)]
mod tests {
    use crate::interval::*;

    /// Every operator on every pair of small intervals holds every result.
    #[test]
    fn holds_all_results() {
        let all: Vec<Interval> = (-4..=4).flat_map(|low| (low..=4).map(move |high| Interval { low, high })).collect();
        let exact = |op, x: i128, y: i128| match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            BinOp::Mul => x * y,
            BinOp::Div | BinOp::DivToZero if y == 0 => 0,
            BinOp::Div => x.div_euclid(y),
            BinOp::DivToZero => x / y,
            BinOp::Mod if y == 0 => 0,
            BinOp::Mod => x.rem_euclid(y),
            BinOp::Min => x.min(y),
            BinOp::Max => x.max(y),
            BinOp::BitAnd => x & y,
            BinOp::Absd => (x - y).abs(),
            BinOp::Shl => x << y.clamp(0, 100),
            _ => x >> y.clamp(0, 100),
        };
        use BinOp::*;
        for op in [Add, Sub, Mul, Div, DivToZero, Mod, Min, Max, BitAnd, Absd, Shl, Shr] {
            for &a in &all {
                for &b in &all {
                    let Some(made) = Interval::binary(op, a, b) else {
                        continue;
                    };
                    for x in a.low..=a.high {
                        for y in b.low..=b.high {
                            let v = exact(op, x, y);
                            assert!(made.low <= v && v <= made.high, "{op:?} {a:?} {b:?}: {v} not in {made:?}");
                        }
                    }
                }
            }
        }
    }
}
