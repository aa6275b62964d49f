//! Quotients and remainders: Euclidean on integers, and x / 0 = x % 0 = 0.

use super::*;

pub(super) const RULES: &[Rule] = rules! {
    Int "0 / x": (0 / x) => 0;
    Int "0 % x": (0 % x) => 0;
    Int "x / 0": (x / 0) => 0;
    Int "x % 0": (x % 0) => 0;
    Int "x % 1": (x % 1) => 0;
    Signed "x / -1": (x / (-1)) => (neg x);
    Signed "x % -1": (x % (-1)) => 0;
    Int "x / c of small x": (x / c) => 0 if |m| m.x().at_least(0) && m.x().at_most(m.c() - 1);
    Int "x % c of small x": (x % c) => x if |m| m.x().at_least(0) && m.x().at_most(m.c() - 1);
    Int "x / c / d": ((x / c) / d) => (x / (c * d)) if |m| m.c() > 0 && m.d() > 0 && m.fits(m.c() * m.d());
    Int "x % c % d": ((x % c) % d) => (x % d) if |m| m.c() > 0 && m.d() > 0 && m.c() % m.d() == 0;
    Int "x * c / d": ((x * c) / d) => (x * (c / d)) if |m| divides(m) && product_fits(m);
    Int "x * c % d": ((x * c) % d) => 0 if |m| divides(m) && product_fits(m);
    Int "x * c % power of 2": ((x * c) % d) => 0 if |m| divides(m) && m.d() & (m.d() - 1) == 0;
    Int "(x + c) / d": ((x + c) / d) => ((x / d) + (c / d))
        if |m| m.d() > 0 && m.c() % m.d() == 0 && (m.x() + Range::point(m.c())).within(m.all());
    Int "(x + c) % d": ((x + c) % d) => (x % d)
        if |m| m.d() > 0 && m.c() % m.d() == 0 && m.c() != 0 && (m.x() + Range::point(m.c())).within(m.all());
    Int "quotient to zero of positives": (x quot y) => (x / y) if |m| m.x().at_least(0) && m.y().at_least(0);
    Int "remainder to zero of positives": (x rem y) => (x % y) if |m| m.x().at_least(0) && m.y().at_least(0);
    Int "0 quot x": (0 quot x) => 0;
    Int "0 rem x": (0 rem x) => 0;
    Int "x quot 0": (x quot 0) => 0;
    Int "x rem 0": (x rem 0) => 0;
    Int "x quot 1": (x quot 1) => x;
    Int "x rem 1": (x rem 1) => 0;
    Float "x / 1": (x / 1) => x;
    Float "x / power of 2": (x / c) => (x * (1 / c)) if |m| has_exact_inverse(m.float());
};

/// Returns true if `c` is a multiple of the positive `d`.
fn divides(m: &Match) -> bool {
    m.d() > 0 && m.c() % m.d() == 0
}

fn product_fits(m: &Match) -> bool {
    (m.x() * Range::point(m.c())).within(m.all())
}

/// Returns true if dividing by `value` is multiplying by its inverse: a power of two, not 1, of either sign, whose
/// inverse is a normal number in every float type.
fn has_exact_inverse(value: f64) -> bool {
    let exponent = (value.to_bits() >> 52 & 0x7FF) as i64 - 1023;
    value.to_bits() << 12 == 0 && value != 1.0 && (-14..=14).contains(&exponent)
}
