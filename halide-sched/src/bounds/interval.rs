//! The symbolic interval of an expression whose symbols range over intervals.

use super::monotone::{Monotone, monotone_under};
use super::solve::solve_outer;
use crate::ir::build::{self, as_int, int};
use crate::ir::hash::Map;
use crate::ir::visit::{any_node, for_each_child, for_each_node, substitute};
use crate::ir::{Elem, Expr, ExprKind, Sym};
use crate::simplify::walk::nodes;
use crate::simplify::{Facts, Linear, MUCH, Range, correlated_range, simplify};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;

/// All values from `min` to `max`, both inclusive; `None` is unbounded. Ends are scalar Index expressions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
    /// What lies in both. The result is empty (its min above its max) where nothing does.
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
    let mut search = Search { env, values, facts, depth: 0, moves: MOST_MOVES, found: Map::default() };
    search.interval(&simplify(e, facts))
}

struct Search<'a> {
    env: &'a dyn Fn(Sym) -> Option<Interval>,
    values: &'a dyn Fn(&Expr) -> Option<Interval>,
    facts: &'a Facts,
    /// How many selects, each with symbols of its own, this search is inside of.
    depth: u32,
    /// How many more times a sum may be moved into a choice.
    moves: u32,
    /// By the address of the node, which the entry keeps alive.
    found: Map<usize, Found>,
}

/// What was found out about a node.
struct Found {
    /// Keeps the node, and so its address, alive.
    _node: Expr,
    interval: Interval,
    /// Whether it uses a symbol that ranges, or reads data.
    varies: bool,
}

/// How often the rest of a sum is moved into the arms of a choice.
const MOST_MOVES: u32 = 64;
/// In how many nested selects the condition narrows the symbols of the arms.
const MOST_NESTED: u32 = 4;

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
            Elem::Data(ty) if ty.is_float() => Interval::everything(),
            Elem::Data(_) if !varies && e.lanes() == 1 => Interval::point(self.simple(build::to_index(e.clone()))),
            Elem::Data(ty) => self.data(e, ty),
        }
    }
    fn simple(&self, e: Expr) -> Expr {
        simplify(&e, self.facts)
    }

    /// Of an Index expression.
    fn index(&mut self, e: &Expr) -> Interval {
        match e.kind() {
            ExprKind::Sym(s) => (self.env)(*s).unwrap_or_default(),
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) => self.extreme(e, a, b),
            ExprKind::Binary(BinOp::Div, a, b) => self.quotient(a, b),
            ExprKind::Binary(BinOp::Mod, a, b) => self.remainder(a, b),
            ExprKind::Binary(BinOp::Mul, a, b) if as_int(a).is_none() && as_int(b).is_none() => self.product(a, b),
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) | ExprKind::Unary(..) if e.lanes() == 1 => {
                self.sum(&Linear::of(e))
            }
            ExprKind::Binary(BinOp::Add, a, b) => add(&self.of(a), &self.of(b), 1, self.facts),
            ExprKind::Binary(BinOp::Sub, a, b) => add(&self.of(a), &self.of(b), -1, self.facts),
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
    fn sum(&mut self, sum: &Linear) -> Interval {
        let varying: Vec<(Expr, i64)> = sum.terms.iter().filter(|(a, _)| self.varies(a)).cloned().collect();
        let support = |i: usize| self.facts.support(&varying[i].0);
        let related = (0..varying.len()).any(|i| (0..i).any(|j| support(i) & support(j) != 0));
        if related && let Some(interval) = self.related_sum(sum, &varying) {
            return interval;
        }
        let mut total = (Some(Linear::constant(sum.constant)), Some(Linear::constant(sum.constant)));
        for (atom, c) in &sum.terms {
            let part = self.interval(atom);
            let (low, high) = if *c > 0 { (&part.min, &part.max) } else { (&part.max, &part.min) };
            let plus = |total: Option<Linear>, end: &Option<Expr>| total?.plus_scaled(&Linear::of(end.as_ref()?), *c);
            total = (plus(total.0, low), plus(total.1, high));
        }
        let end = |total: Option<Linear>| total.map(|t| self.simple(t.to_expr()));
        Interval { min: end(total.0), max: end(total.1) }
    }
    /// Of a sum whose varying terms depend on each other: one that grows with its only symbol is bounded by its values
    /// at the ends, a choice has the rest of the sum moved into its arms, and what nearly cancels is bounded by
    /// constants.
    fn related_sum(&mut self, sum: &Linear, varying: &[(Expr, i64)]) -> Option<Interval> {
        let (changing, fixed) = {
            let is_varying = |t: &(Expr, i64)| varying.iter().any(|(a, _)| *a == t.0);
            let (c, f): (Vec<_>, Vec<_>) = sum.terms.iter().cloned().partition(is_varying);
            (Linear { terms: c, constant: 0 }, Linear { terms: f, constant: sum.constant })
        };
        let constant = correlated_range(&changing, self.facts, &|_, _| None, |r| r.as_point().is_some(), MUCH);
        if constant.is_bounded() && !self.ranges_are_constant(&changing) {
            return Some(add(&Interval::point(fixed.to_expr()), &Interval::of_range(constant), 1, self.facts));
        }
        if let Some(ends) = self.at_ends(sum) {
            return Some(ends);
        }
        let (atom, c) = varying.iter().find(|(a, _)| is_choice(a))?;
        self.moves = self.moves.checked_sub(1)?;
        let rest = sum.without(atom);
        let arm = |e: &Expr| rest.plus_scaled(&Linear::of(e), *c).map(|s| s.to_expr());
        let moved = match atom.kind() {
            ExprKind::Binary(op, a, b) => {
                let op = match op {
                    BinOp::Min if *c < 0 => BinOp::Max,
                    BinOp::Max if *c < 0 => BinOp::Min,
                    op => *op,
                };
                let (a, b) = (self.simple(arm(a)?), self.simple(arm(b)?));
                let (a, b) = (self.interval(&a), self.interval(&b));
                return Some(extreme_of(op, &a, &b, self.facts));
            }
            ExprKind::Select(cond, a, b) => (cond.clone(), self.simple(arm(a)?), self.simple(arm(b)?)),
            _ => return None,
        };
        let (cond, a, b) = moved;
        self.interval(&a);
        self.interval(&b);
        Some(self.select(&cond, &a, &b))
    }
    /// Whether every varying atom has constant ends anyway, so that constants are no loss and no gain.
    fn ranges_are_constant(&mut self, sum: &Linear) -> bool {
        sum.terms.iter().all(|(atom, _)| {
            let interval = self.interval(atom);
            let constant = |end: &Option<Expr>| end.as_ref().is_some_and(|e| as_int(e).is_some());
            constant(&interval.min) && constant(&interval.max)
        })
    }
    /// Of a sum that grows, or falls, with the only ranging symbol in it: its values at the symbol's ends.
    fn at_ends(&mut self, sum: &Linear) -> Option<Interval> {
        let e = sum.to_expr();
        let mut ranging: Option<(Sym, Interval)> = None;
        let mut other = false;
        for_each_node(&e, &mut |n| match n.kind() {
            ExprKind::Sym(s) => {
                if let Some(interval) = (self.env)(*s) {
                    other |= ranging.is_some();
                    ranging = Some((*s, interval));
                }
            }
            ExprKind::Read { .. } | ExprKind::Load { .. } => other = true,
            _ => {}
        });
        let (symbol, interval) = ranging.filter(|_| !other)?;
        let at = |end: &Option<Expr>| {
            let end = end.clone();
            Some(self.simple(substitute(&e, &|s| if s == symbol { end.clone() } else { None })))
                .filter(|_| end.is_some())
        };
        match monotone_under(&e, symbol, self.facts, &|_| None) {
            Monotone::Increasing => Some(Interval { min: at(&interval.min), max: at(&interval.max) }),
            Monotone::Decreasing => Some(Interval { min: at(&interval.max), max: at(&interval.min) }),
            _ => None,
        }
    }

    fn extreme(&mut self, e: &Expr, a: &Expr, b: &Expr) -> Interval {
        let ExprKind::Binary(op, ..) = e.kind() else { return Interval::everything() };
        extreme_of(*op, &self.of(a), &self.of(b), self.facts)
    }

    fn quotient(&self, a: &Expr, b: &Expr) -> Interval {
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
    fn remainder(&self, a: &Expr, b: &Expr) -> Interval {
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
    fn product(&self, a: &Expr, b: &Expr) -> Interval {
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

    /// Each arm, where the symbols that the condition compares are kept to the values for which it holds.
    fn select(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Interval {
        match self.truth(c) {
            Some(true) => return self.of(a),
            Some(false) => return self.of(b),
            None => {}
        }
        let then = self.where_holds(c, a);
        let otherwise = self.where_holds(&self.simple(build::not(c.clone())), b);
        then.union(&otherwise, self.facts)
    }
    /// Whether an Index comparison holds, or does not, for all values of the symbols.
    fn truth(&mut self, cond: &Expr) -> Option<bool> {
        let ExprKind::Binary(op, a, b) = cond.kind() else { return None };
        if !op.is_comparison() || a.ty() != crate::ir::Type::INDEX {
            return None;
        }
        let difference = self.simple(build::sub(a.clone(), b.clone()));
        let range = self.interval(&difference).constant_range(self.facts);
        let (below, not_above) = (range.at_most(-1), range.at_most(0));
        let (above, not_below) = (range.at_least(1), range.at_least(0));
        let decide = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
        match op {
            BinOp::Lt => decide(below, not_below),
            BinOp::Le => decide(not_above, above),
            BinOp::Gt => decide(above, not_above),
            BinOp::Ge => decide(not_below, below),
            BinOp::Eq => decide(not_above && not_below, below || above),
            BinOp::Ne => decide(below || above, not_above && not_below),
            _ => None,
        }
    }
    /// The interval of `arm` over the values of the symbols for which `cond` holds.
    fn where_holds(&mut self, cond: &Expr, arm: &Expr) -> Interval {
        if self.depth >= MOST_NESTED {
            return self.of(arm);
        }
        let mut narrower: Vec<(Sym, Interval)> = Vec::new();
        let mut symbols = Vec::new();
        for_each_node(cond, &mut |n| {
            if let ExprKind::Sym(s) = n.kind()
                && let Some(interval) = (self.env)(*s)
            {
                symbols.push((*s, interval));
            }
        });
        for (symbol, interval) in symbols {
            let Some(allowed) = solve_outer(cond, symbol, self.facts) else { continue };
            // Other ranging symbols in the ends take the values that allow most.
            let min = allowed.min.and_then(|m| self.interval(&m).min);
            let max = allowed.max.and_then(|m| self.interval(&m).max);
            narrower.push((symbol, interval.intersect(&Interval { min, max }, self.facts)));
        }
        if narrower.is_empty()
            || !any_node(arm, |n| matches!(n.kind(), ExprKind::Sym(s) if narrower.iter().any(|(t, _)| s == t)))
        {
            return self.of(arm);
        }
        let env = |s: Sym| {
            let narrow = narrower.iter().find(|(t, _)| *t == s);
            narrow.map(|(_, interval)| interval.clone()).or_else(|| (self.env)(s))
        };
        let (depth, moves) = (self.depth + 1, self.moves);
        let mut inner =
            Search { env: &env, values: self.values, facts: self.facts, depth, moves, found: Map::default() };
        let inside = inner.interval(arm);
        // Where the condition leaves nothing, the arm is not taken and any interval will do; the wider one is safe.
        let outside = self.of(arm);
        let closed = |a: Option<Expr>, b: Option<Expr>| a.or(b);
        Interval { min: closed(inside.min, outside.min), max: closed(inside.max, outside.max) }
    }

    /// Of an integer data expression, as a value of Index.
    fn data(&mut self, e: &Expr, ty: ScalarType) -> Interval {
        let all = self.facts.range_of(e);
        let value = match e.kind() {
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) => Some(self.extreme(e, a, b)),
            ExprKind::Binary(BinOp::Add, a, b) => Some(add(&self.of(a), &self.of(b), 1, self.facts)),
            ExprKind::Binary(BinOp::Sub, a, b) => Some(add(&self.of(a), &self.of(b), -1, self.facts)),
            ExprKind::Binary(BinOp::Mul, a, b) => Some(self.scaled_data(a, b)),
            ExprKind::Binary(BinOp::Div, a, b) => self.divided_data(a, b),
            ExprKind::Binary(BinOp::Shr, a, b) => {
                let amount = build::as_const(b).and_then(|v| u32::try_from(v.as_i128()).ok());
                let factor = amount.filter(|n| *n < ty.bits().min(63)).map(|n| int(1 << n));
                factor.map(|f| self.ends_divided(&self.of(a), &f))
            }
            ExprKind::Select(c, a, b) => Some(self.select(c, a, b)),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => Some(self.of(a)),
            ExprKind::Cast(a) if a.ty().scalar().is_none_or(|t| t.is_int()) && ty.is_int() => Some(self.of(a)),
            ExprKind::Read { .. } | ExprKind::Load { .. } => (self.values)(e),
            _ => None,
        };
        let limits = Range::of_type(ty);
        match value {
            // A sum that fits has not wrapped.
            Some(interval) if interval.constant_range(self.facts).within(limits) => {
                let known = interval.constant_range(self.facts);
                let range = Interval::of_range(all);
                // A constant that says more replaces an end; a symbolic end is kept.
                let end = |end: Option<Expr>, other: Option<Expr>, tighter: bool| match end {
                    Some(e) if as_int(&e).is_some() && tighter => other,
                    None => other,
                    end => end,
                };
                let (lower, upper) = (all.min() > known.min(), all.max() < known.max());
                Interval { min: end(interval.min, range.min, lower), max: end(interval.max, range.max, upper) }
            }
            _ => Interval::of_range(all),
        }
    }
    fn scaled_data(&self, a: &Expr, b: &Expr) -> Interval {
        let factor = |e: &Expr| build::as_const(e).and_then(|v| i64::try_from(v.as_i128()).ok());
        let zero = Interval::point(int(0));
        match (factor(a), factor(b)) {
            (_, Some(c)) => add(&zero, &self.of(a), c, self.facts),
            (Some(c), _) => add(&zero, &self.of(b), c, self.facts),
            _ => Interval::everything(),
        }
    }
    fn divided_data(&self, a: &Expr, b: &Expr) -> Option<Interval> {
        let d = build::as_const(b).and_then(|v| i64::try_from(v.as_i128()).ok()).filter(|d| *d > 0)?;
        Some(self.ends_divided(&self.of(a), &int(d)))
    }
    fn ends_divided(&self, n: &Interval, d: &Expr) -> Interval {
        let end = |e: &Option<Expr>| e.clone().map(|e| self.simple(build::div(e, d.clone())));
        Interval { min: end(&n.min), max: end(&n.max) }
    }
}

fn is_choice(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Binary(BinOp::Min | BinOp::Max, ..) | ExprKind::Select(..))
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
