//! The symbolic interval of an expression whose symbols range over intervals.

mod choice;
mod data;
mod float;
mod floats;
mod ratio;
mod read;
mod sum;

use crate::simplify::walk::nodes;
use crate::simplify::{Facts, Linear, Range, simplify};
use crate::tuning::MOST_INTERVAL_MOVES;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::build::{self, as_int, int};
use halide_ir::hash::Map;
use halide_ir::visit::for_each_child;
use halide_ir::{Elem, Expr, ExprKind, Sym};

/// All values from `min` to `max`, both inclusive; `None` is unbounded. Ends are scalar Index expressions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Interval {
    /// The smallest value.
    pub min: Option<Expr>,
    /// The largest value.
    pub max: Option<Expr>,
}

impl Interval {
    /// Every value.
    pub fn everything() -> Interval {
        Interval::default()
    }
    /// One value.
    pub fn point(e: Expr) -> Interval {
        Interval { min: Some(e.clone()), max: Some(e) }
    }
    /// From `min` to `max`.
    pub fn new(min: Expr, max: Expr) -> Interval {
        Interval { min: Some(min), max: Some(max) }
    }
    /// Constant ends; one that is not a 64-bit value is unbounded.
    pub fn of_range(range: Range) -> Interval {
        let (min, max) = range.ends();
        Interval { min: min.map(int), max: max.map(int) }
    }
    /// The one value, if both ends are the same expression.
    pub fn as_point(&self) -> Option<&Expr> {
        self.min.as_ref().filter(|min| Some(*min) == self.max.as_ref())
    }
    /// The smallest interval that holds both.
    pub fn union(&self, other: &Interval, facts: &Facts) -> Interval {
        Interval {
            min: both(BinOp::Min, &self.min, &other.min, facts),
            max: both(BinOp::Max, &self.max, &other.max, facts),
        }
    }
    /// Returns the intersection. It is empty (its min above its max) if no value lies in both.
    pub fn intersect(&self, other: &Interval, facts: &Facts) -> Interval {
        Interval {
            min: either(BinOp::Max, &self.min, &other.min, facts),
            max: either(BinOp::Min, &self.max, &other.max, facts),
        }
    }
    /// Constant bounds that hold for every member.
    pub fn constant_range(&self, facts: &Facts) -> Range {
        let min = self.min.as_ref().and_then(|e| facts.range(e).0);
        let max = self.max.as_ref().and_then(|e| facts.range(e).1);
        Range::new(min.map(i128::from), max.map(i128::from))
    }
}

/// Both ends must be there.
fn both(op: BinOp, a: &Option<Expr>, b: &Option<Expr>, facts: &Facts) -> Option<Expr> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    Some(simplify(&build::binary(op, a.clone(), b.clone()), facts))
}

/// One end is enough.
fn either(op: BinOp, a: &Option<Expr>, b: &Option<Expr>, facts: &Facts) -> Option<Expr> {
    both(op, a, b, facts).or_else(|| a.clone().or_else(|| b.clone()))
}

/// The interval of a scalar Index expression, or of an integer data expression as it would be under a cast to Index.
/// Symbols for which `env` has no interval stand for themselves.
pub fn interval_of(e: &Expr, env: &dyn Fn(Sym) -> Option<Interval>, facts: &Facts) -> Interval {
    interval_with_values(e, env, &|_| None, facts)
}

/// As [`interval_of`]; `values` may know the interval of what a `Read` or `Load` gives, of integer data.
pub fn interval_with_values(
    e: &Expr,
    env: &dyn Fn(Sym) -> Option<Interval>,
    values: &dyn Fn(&Expr) -> Option<Interval>,
    facts: &Facts,
) -> Interval {
    let mut search = Search {
        env,
        values,
        facts,
        depth: 0,
        moves: MOST_INTERVAL_MOVES,
        found: Map::default(),
        floats: Map::default(),
    };
    search.interval(&simplify(e, facts))
}

struct Search<'a> {
    env: &'a dyn Fn(Sym) -> Option<Interval>,
    values: &'a dyn Fn(&Expr) -> Option<Interval>,
    facts: &'a Facts,
    /// The number of selects, each with symbols of its own, that this search is inside of.
    depth: u32,
    /// The number of times that a sum may still be moved into a choice.
    moves: u32,
    /// By the address of the node, which the entry keeps alive.
    found: Map<usize, Found>,
    /// The bounds of nodes that are floats, likewise.
    floats: Map<usize, floats::Floats>,
}

/// The interval of a visited node.
struct Found {
    /// Keeps the node, and so its address, alive.
    _node: Expr,
    interval: Interval,
    /// True if the node uses a symbol that ranges, or reads data.
    varies: bool,
}

impl Search<'_> {
    /// The interval of a simplified expression.
    fn interval(&mut self, e: &Expr) -> Interval {
        for node in nodes(e, |e| self.found.contains_key(&e.id())) {
            let mut varies = match node.kind() {
                ExprKind::Sym(s) => (self.env)(*s).is_some(),
                kind => matches!(kind, ExprKind::Read { .. } | ExprKind::Load { .. }),
            };
            for_each_child(&node, |c| varies |= self.varies(c));
            let interval = self.node(&node, varies);
            self.found.insert(node.id(), Found { _node: node, interval, varies });
        }
        self.of(e)
    }
    /// The interval of a node that was visited.
    fn of(&self, e: &Expr) -> Interval {
        self.found.get(&e.id()).map(|found| found.interval.clone()).unwrap_or_default()
    }
    fn varies(&self, e: &Expr) -> bool {
        self.found.get(&e.id()).is_none_or(|found| found.varies)
    }
    /// The interval of a node whose children were visited.
    fn node(&mut self, e: &Expr, varies: bool) -> Interval {
        match e.ty().elem {
            Elem::Index if !varies && e.lanes() == 1 => Interval::point(e.clone()),
            Elem::Index => {
                let found = self.index(e);
                self.bounded_by_facts(found, e)
            }
            Elem::Data(ty) if ty.is_float() => {
                let floats = self.float(e, ty, varies);
                self.floats.insert(e.id(), floats);
                Interval::everything()
            }
            Elem::Data(ty) if !varies && e.lanes() == 1 && self.is_coordinate(e, ty) => {
                Interval::point(self.simple(build::to_index(e.clone())))
            }
            Elem::Data(ty) => self.data(e, ty),
        }
    }
    /// Returns true if data has the value that it has as a coordinate: an unsigned one of 64 bits may not.
    fn is_coordinate(&self, e: &Expr, ty: ScalarType) -> bool {
        ty != ScalarType::U64 || self.facts.range_of(e).within(Range::of_type(ScalarType::I64))
    }
    fn simple(&self, e: Expr) -> Expr {
        simplify(&e, self.facts)
    }

    /// Returns the interval of an Index expression.
    fn index(&mut self, e: &Expr) -> Interval {
        match e.kind() {
            ExprKind::Sym(s) => (self.env)(*s).unwrap_or_default(),
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) => self.extreme(e, a, b),
            ExprKind::Binary(BinOp::Div, a, b) => self.quotient(a, b),
            ExprKind::Binary(BinOp::Mod, a, b) => self.remainder(a, b),
            ExprKind::Binary(BinOp::Mul, a, b) if as_int(a).is_none() && as_int(b).is_none() => self.product(a, b),
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) | ExprKind::Unary(..)
                // One that cannot be taken apart has constants that leave 64 bits.
                if e.lanes() == 1 && Linear::of(e).as_atom() != Some(e) =>
            {
                self.sum(&Linear::of(e))
            }
            ExprKind::Binary(BinOp::Add, a, b) => add(&self.of(a), &self.of(b), 1, self.facts),
            ExprKind::Binary(BinOp::Sub, a, b) => add(&self.of(a), &self.of(b), -1, self.facts),
            ExprKind::Binary(BinOp::Mul, a, b) if e.lanes() == 1 => self.product(a, b),
            ExprKind::Select(c, a, b) => self.select(c, a, b),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.of(a),
            ExprKind::Ramp { base, stride } => {
                let last = self.simple(build::mul(stride.clone(), int(e.lanes() as i64 - 1)));
                let zero = Interval::point(int(0));
                let steps = self.interval(&last).union(&zero, self.facts);
                add(&self.of(base), &steps, 1, self.facts)
            }
            ExprKind::Cast(a) => self.of(a),
            _ => Interval::everything(),
        }
    }
    /// Open ends are closed by constants that hold whatever the symbols are.
    fn bounded_by_facts(&self, interval: Interval, e: &Expr) -> Interval {
        if interval.min.is_some() && interval.max.is_some() {
            return interval;
        }
        let (min, max) = self.facts.range(e);
        Interval { min: interval.min.or(min.map(int)), max: interval.max.or(max.map(int)) }
    }

    fn extreme(&mut self, e: &Expr, a: &Expr, b: &Expr) -> Interval {
        let ExprKind::Binary(op, ..) = e.kind() else { return Interval::everything() };
        extreme_of(*op, &self.of(a), &self.of(b), self.facts)
    }
}

/// `a + b * factor`.
fn add(a: &Interval, b: &Interval, factor: i64, facts: &Facts) -> Interval {
    let (low, high) = if factor < 0 { (&b.max, &b.min) } else { (&b.min, &b.max) };
    let end = |x: &Option<Expr>, y: &Option<Expr>| {
        let sum = Linear::of(x.as_ref()?).plus_scaled(&Linear::of(y.as_ref()?), factor)?;
        Some(simplify(&sum.to_expr(), facts))
    };
    Interval { min: end(&a.min, low), max: end(&a.max, high) }
}

/// The smaller, or larger, of a member of each.
fn extreme_of(op: BinOp, a: &Interval, b: &Interval, facts: &Facts) -> Interval {
    if op == BinOp::Min {
        Interval { min: both(op, &a.min, &b.min, facts), max: either(op, &a.max, &b.max, facts) }
    } else {
        Interval { min: either(op, &a.min, &b.min, facts), max: both(op, &a.max, &b.max, facts) }
    }
}
