//! Constant ranges and congruences: the two abstract domains in which facts about values are kept.
//!
//! A range is inclusive and may be unbounded at either end; it also serves data types up to `u64`, so it computes in
//! `i128`. All operations are conservative: the result holds every value that the operation gives on members.

use halide_core::types::ScalarType;

/// An inclusive range of integers; an end may be infinite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    min: i128,
    max: i128,
}

/// Stands for infinity: beyond any sum of products of 64-bit values that is formed here before clamping.
const INFINITY: i128 = 1 << 120;

impl Range {
    /// Every integer.
    pub const ALL: Range = Range { min: -INFINITY, max: INFINITY };

    /// Just `value`.
    pub fn point(value: i128) -> Range {
        Range { min: value, max: value }
    }
    /// From `min` to `max`; `None` is unbounded.
    pub fn new(min: Option<i128>, max: Option<i128>) -> Range {
        Range { min: min.unwrap_or(-INFINITY), max: max.unwrap_or(INFINITY) }
    }
    /// The values of a type; everything for floats.
    pub fn of_type(ty: ScalarType) -> Range {
        Range::new(ty.int_min(), ty.int_max())
    }
    /// The smallest value, if there is one.
    pub fn min(self) -> Option<i128> {
        (self.min > -INFINITY).then_some(self.min)
    }
    /// The largest value, if there is one.
    pub fn max(self) -> Option<i128> {
        (self.max < INFINITY).then_some(self.max)
    }
    /// Both ends as 64-bit values; an end that is larger counts as unbounded.
    pub fn ends(self) -> (Option<i64>, Option<i64>) {
        let small = |v: i128| i64::try_from(v).ok();
        (self.min().and_then(small), self.max().and_then(small))
    }
    /// The only value, if there is just one.
    pub fn as_point(self) -> Option<i128> {
        (self.min == self.max).then_some(self.min)
    }
    /// Returns true if every member lies in `other`.
    pub fn within(self, other: Range) -> bool {
        self.min >= other.min && self.max <= other.max
    }
    /// Returns true if both ends are finite.
    pub fn is_bounded(self) -> bool {
        self.min > -INFINITY && self.max < INFINITY
    }
    /// Returns true if no member is below `value`.
    pub fn at_least(self, value: i128) -> bool {
        self.min >= value
    }
    /// Returns true if no member is above `value`.
    pub fn at_most(self, value: i128) -> bool {
        self.max <= value
    }
    /// The members of both. Where there are none, the facts contradict each other, the code is dead, and `self` serves.
    pub fn intersect(self, other: Range) -> Range {
        let both = Range { min: self.min.max(other.min), max: self.max.min(other.max) };
        if both.min > both.max { self } else { both }
    }
    /// The smallest range that holds both.
    pub fn union(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
    /// `self * factor`.
    pub fn scale(self, factor: i64) -> Range {
        match factor {
            0 => Range::point(0),
            1 => self,
            -1 => -self,
            _ => {
                let (a, b) = (mul_ends(self.min, factor as i128), mul_ends(self.max, factor as i128));
                if factor > 0 { Range { min: a, max: b } } else { Range { min: b, max: a } }
            }
        }
    }
    /// The smaller of a member of each.
    pub fn lower_of(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.min(other.max) }
    }
    /// The larger of a member of each.
    pub fn upper_of(self, other: Range) -> Range {
        Range { min: self.min.max(other.min), max: self.max.max(other.max) }
    }
    /// Euclidean quotients; a divisor of 0 gives 0.
    pub fn quotient(self, divisor: Range) -> Range {
        match divisor.as_point() {
            Some(0) => Range::point(0),
            Some(d) => {
                let end = |v: i128| if v.abs() >= INFINITY { v * d.signum() } else { v.div_euclid(d) };
                let (a, b) = (end(self.min), end(self.max));
                Range { min: a.min(b), max: a.max(b) }
            }
            None if self.at_least(0) && divisor.at_least(0) => Range { min: 0, max: self.max },
            None => {
                let most = self.max.max(-self.min);
                Range { min: -most, max: most }
            }
        }
    }
    /// Euclidean remainders; a divisor of 0 gives 0.
    pub fn remainder(self, divisor: Range) -> Range {
        if let Some(d) = divisor.as_point().filter(|d| *d != 0)
            && self.is_bounded()
            && self.min.div_euclid(d) == self.max.div_euclid(d)
        {
            return Range { min: self.min.rem_euclid(d), max: self.max.rem_euclid(d) };
        }
        let largest = divisor.max.max(-divisor.min).saturating_sub(1).max(0);
        let largest = if largest >= INFINITY - 1 { INFINITY } else { largest };
        Range { min: 0, max: if self.at_least(0) { largest.min(self.max) } else { largest } }
    }
}

/// The sum of two ends: infinite if either is.
fn add_ends(a: i128, b: i128, toward: i128) -> i128 {
    if a.abs() >= INFINITY || b.abs() >= INFINITY { toward } else { (a + b).clamp(-INFINITY, INFINITY) }
}

/// The product of two ends; 0 times infinity is 0.
fn mul_ends(a: i128, b: i128) -> i128 {
    a.checked_mul(b).unwrap_or(a.signum() * b.signum() * INFINITY).clamp(-INFINITY, INFINITY)
}

impl std::ops::Add for Range {
    type Output = Range;
    fn add(self, other: Range) -> Range {
        Range { min: add_ends(self.min, other.min, -INFINITY), max: add_ends(self.max, other.max, INFINITY) }
    }
}

impl std::ops::Neg for Range {
    type Output = Range;
    fn neg(self) -> Range {
        Range { min: -self.max, max: -self.min }
    }
}

impl std::ops::Sub for Range {
    type Output = Range;
    fn sub(self, other: Range) -> Range {
        self + -other
    }
}

impl std::ops::Mul for Range {
    type Output = Range;
    fn mul(self, other: Range) -> Range {
        let ends = [
            mul_ends(self.min, other.min),
            mul_ends(self.min, other.max),
            mul_ends(self.max, other.min),
            mul_ends(self.max, other.max),
        ];
        Range { min: ends.into_iter().min().expect("four ends"), max: ends.into_iter().max().expect("four ends") }
    }
}

/// All integers `remainder + k * modulus`. Modulus 0 is the one value `remainder`; modulus 1 is every integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Congruence {
    modulus: i64,
    remainder: i64,
}

impl Congruence {
    /// Every integer.
    pub const ALL: Congruence = Congruence { modulus: 1, remainder: 0 };

    /// Just `value`.
    pub fn point(value: i64) -> Congruence {
        Congruence { modulus: 0, remainder: value }
    }
    /// `remainder` modulo `modulus`.
    pub fn new(modulus: i64, remainder: i64) -> Congruence {
        match modulus.checked_abs() {
            None => Congruence::ALL,
            Some(0) => Congruence::point(remainder),
            Some(m) => Congruence { modulus: m, remainder: remainder.rem_euclid(m) },
        }
    }
    /// 0 for a single value, 1 where nothing is known.
    pub fn modulus(self) -> i64 {
        self.modulus
    }
    /// In `0..modulus`, or the single value.
    pub fn remainder(self) -> i64 {
        self.remainder
    }
    /// The remainder modulo `divisor` (> 0), if it is known.
    pub fn modulo(self, divisor: i64) -> Option<i64> {
        (self.modulus % divisor == 0).then(|| self.remainder.rem_euclid(divisor))
    }
    /// Returns the stronger of two congruences of one value; if they contradict each other, either of them.
    pub fn intersect(self, other: Congruence) -> Congruence {
        // Exact only where one refines the other; otherwise the stronger is kept.
        let refines = |a: Congruence, b: Congruence| b.modulus != 0 && a.modulo(b.modulus) == Some(b.remainder);
        match () {
            _ if refines(self, other) => self,
            _ if refines(other, self) => other,
            _ if other.modulus > self.modulus && self.modulus != 0 => other,
            _ => self,
        }
    }
    /// The smallest congruence that holds the members of both.
    pub fn union(self, other: Congruence) -> Congruence {
        let distance = self.remainder.checked_sub(other.remainder);
        let modulus = distance.map(|d| gcd(gcd(self.modulus, other.modulus), d));
        modulus.map_or(Congruence::ALL, |m| Congruence::new(m, self.remainder))
    }
    /// `self * factor`.
    pub fn scale(self, factor: i64) -> Congruence {
        match (self.modulus.checked_mul(factor), self.remainder.checked_mul(factor)) {
            (Some(m), Some(r)) => Congruence::new(m, r),
            _ => Congruence::ALL,
        }
    }
    /// `self + other`.
    pub fn plus(self, other: Congruence) -> Congruence {
        let remainder = self.remainder.checked_add(other.remainder);
        remainder.map_or(Congruence::ALL, |r| Congruence::new(gcd(self.modulus, other.modulus), r))
    }
}

/// The greatest common divisor; that of 0 and x is |x|.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}
