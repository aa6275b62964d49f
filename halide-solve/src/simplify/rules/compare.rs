//! Comparisons of data. What the ranges of both sides decide is decided before.

use super::*;

pub(super) const RULES: &[Rule] = rules! {
    Number "c < x": (c < x) => (x > c) if varies;
    Number "c <= x": (c <= x) => (x >= c) if varies;
    Number "c > x": (c > x) => (x < c) if varies;
    Number "c >= x": (c >= x) => (x <= c) if varies;
    Int "x == x": (x == x) => true;
    Int "x != x": (x != x) => false;
    Int "x <= x": (x <= x) => true;
    Int "x >= x": (x >= x) => true;
    Number "x < x": (x < x) => false;
    Number "x > x": (x > x) => false;
    Int "x + c == d": ((x + c) == d) => (x == (d - c));
    Int "x + c != d": ((x + c) != d) => (x != (d - c));
    Int "x - c == d": ((x - c) == d) => (x == (d + c));
    Int "x - c != d": ((x - c) != d) => (x != (d + c));
    Int "c - x == d": ((c - x) == d) => (x == (c - d));
    Int "c - x != d": ((c - x) != d) => (x != (c - d));
    Int "-x == d": ((neg x) == d) => (x == (neg d));
    Int "-x != d": ((neg x) != d) => (x != (neg d));
    Int "x - y == 0": ((x - y) == 0) => (x == y);
    Int "x - y != 0": ((x - y) != 0) => (x != y);
    Int "x + z == y + z": ((x + z) == (y + z)) => (x == y);
    Int "x + z != y + z": ((x + z) != (y + z)) => (x != y);
    Int "x + c < d": ((x + c) < d) => (x < (d - c)) if moves;
    Int "x + c <= d": ((x + c) <= d) => (x <= (d - c)) if moves;
    Int "x + c > d": ((x + c) > d) => (x > (d - c)) if moves;
    Int "x + c >= d": ((x + c) >= d) => (x >= (d - c)) if moves;
    Any "p == true": (p == true) => p;
    Any "p != false": (p != false) => p;
    Any "p == false": (p == false) => (not p);
    Any "p != true": (p != true) => (not p);
    Int "smallest x": (x <= c) => (x == c) if |m| m.x().min() == Some(m.c());
    Int "largest x": (x >= c) => (x == c) if |m| m.x().max() == Some(m.c());
    Int "above the smallest": (x > c) => (x != c) if |m| m.x().min() == Some(m.c());
    Int "below the largest": (x < c) => (x != c) if |m| m.x().max() == Some(m.c());
};

fn varies(m: &Match) -> bool {
    m.any[0].is_some_and(|x| as_const(x).is_none() && as_int(x).is_none())
}

/// Returns true if neither side wraps when the constant moves over.
fn moves(m: &Match) -> bool {
    (m.x() + Range::point(m.c())).within(m.all()) && m.fits(m.d() - m.c())
}
