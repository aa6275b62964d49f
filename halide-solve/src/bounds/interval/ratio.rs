//! Intervals of quotients, remainders and products.

use super::{Interval, Search, add, both, either};
use halide_core::ops::BinOp;
use halide_ir::Expr;
use halide_ir::build::{self, as_int, int};

impl Search<'_> {
    pub(super) fn quotient(&self, a: &Expr, b: &Expr) -> Interval {
        let (n, d) = (self.of(a), self.of(b));
        let positive = |e: &Expr| self.facts.range(e).0.is_some_and(|m| m >= 1);
        let ratio = |n: &Option<Expr>, d: &Expr| n.clone().map(|n| self.simple(build::div(n, d.clone())));
        if let Some(d) = d.as_point() {
            return match as_int(d) {
                Some(0) => Interval::point(int(0)),
                Some(v) if v < 0 => Interval { min: ratio(&n.max, d), max: ratio(&n.min, d) },
                Some(_) => Interval { min: ratio(&n.min, d), max: ratio(&n.max, d) },
                None if positive(d) => Interval { min: ratio(&n.min, d), max: ratio(&n.max, d) },
                None => Interval::everything(),
            };
        }
        match (&d.min, &d.max) {
            (Some(low), Some(high)) if positive(low) => Interval {
                min: both(BinOp::Min, &ratio(&n.min, low), &ratio(&n.min, high), self.facts),
                max: both(BinOp::Max, &ratio(&n.max, low), &ratio(&n.max, high), self.facts),
            },
            _ => Interval::everything(),
        }
    }
    pub(super) fn remainder(&self, a: &Expr, b: &Expr) -> Interval {
        let (n, d) = (self.of(a), self.of(b));
        let size = d.as_point().and_then(as_int).map(i64::unsigned_abs);
        if let Some(size) = size.and_then(|s| i64::try_from(s).ok()).filter(|s| *s > 0) {
            let (low, high) = n.constant_range(self.facts).ends();
            // In one block of the divisor, the remainder is the value less a constant.
            if let (Some(low), Some(high)) = (low, high)
                && low.div_euclid(size) == high.div_euclid(size)
            {
                return add(&n, &Interval::point(int(low.div_euclid(size) * size)), -1, self.facts);
            }
            let above = self.facts.range(a).0.is_some_and(|m| m >= 0) || low.is_some_and(|m| m >= 0);
            let most = Interval::new(int(0), int(size - 1));
            return if above {
                Interval { max: either(BinOp::Min, &n.max, &most.max, self.facts), ..most }
            } else {
                most
            };
        }
        let positive = d.min.as_ref().is_some_and(|m| self.facts.range(m).0.is_some_and(|m| m >= 1));
        let max = d.max.filter(|_| positive).map(|m| self.simple(build::sub(m, int(1))));
        Interval { min: Some(int(0)), max }
    }
    pub(super) fn product(&self, a: &Expr, b: &Expr) -> Interval {
        let (x, y) = (self.of(a), self.of(b));
        let times = |p: &Option<Expr>, q: &Option<Expr>| Some(self.simple(build::mul(p.clone()?, q.clone()?)));
        let sign = |i: &Interval| {
            let range = i.constant_range(self.facts);
            (range.at_least(0), range.at_most(0))
        };
        match (sign(&x), sign(&y)) {
            ((true, _), (true, _)) => Interval { min: times(&x.min, &y.min), max: times(&x.max, &y.max) },
            (_, (true, _)) if y.as_point().is_some() => {
                Interval { min: times(&x.min, &y.min), max: times(&x.max, &y.min) }
            }
            (_, (_, true)) if y.as_point().is_some() => {
                Interval { min: times(&x.max, &y.min), max: times(&x.min, &y.min) }
            }
            ((true, _), _) if x.as_point().is_some() => {
                Interval { min: times(&x.min, &y.min), max: times(&x.min, &y.max) }
            }
            ((_, true), _) if x.as_point().is_some() => {
                Interval { min: times(&x.min, &y.max), max: times(&x.min, &y.min) }
            }
            _ => {
                let corners =
                    [times(&x.min, &y.min), times(&x.min, &y.max), times(&x.max, &y.min), times(&x.max, &y.max)];
                let all = |op| corners.iter().skip(1).fold(corners[0].clone(), |m, c| both(op, &m, c, self.facts));
                Interval { min: all(BinOp::Min), max: all(BinOp::Max) }
            }
        }
    }
}
