//! Values of symbols with which all that is known holds. A claim that is false for them has no proof, so no search for
//! one is begun; and a bound that they reach is the best there is.
//!
//! Most searches that simplification begins are in vain (of two coordinates, often neither is always the smaller one),
//! and those are the ones that cost most. The values are chosen as symbols are met: those of arguments as whatever was
//! not seen before, a loop's variable in its range, a let's symbol by its value. What is learned later may not hold for
//! them; then one symbol is moved so that it does, if that is possible with everything learned before, or else the
//! point is lost until the scope ends. Points say only what is *not* known, so losing them costs time and never changes
//! what is proven.

use super::abstract_value::{Known, default_of};
use super::facts::Facts;
use super::linear::{Linear, Term};
use super::range::{Congruence, Range};
use super::walk::postorder;
use crate::tuning::{COUNTEREXAMPLE_POINTS, FAR_POINT, MOST_CLAIMS, MOST_COUNTEREXAMPLE_MOVES};
use halide_core::ops::{BinOp, UnOp};
use halide_ir::build::{as_bool, as_int};
use halide_ir::hash::Map;
use halide_ir::{DimField, Expr, ExprKind};

/// About what the caller's buffers extend to: farther than the tiles of most schedules; and at one point, so far that
/// after ten levels of a pyramid what has no bound is still no small storage.
const EXTENTS: [i64; COUNTEREXAMPLE_POINTS] = [5000, 5000, 1 << 26];

/// The values of an expression, one for each point; `None` if that is not known.
pub(super) type Values = [Option<i64>; COUNTEREXAMPLE_POINTS];

/// The points under the facts of a scope.
#[derive(Clone, Default)]
pub(super) struct Witnesses {
    /// The values that were chosen for symbols and opaque expressions.
    chosen: Map<Expr, Values>,
    /// The symbols that were bound to a value, in order.
    bound: Vec<(Expr, Expr)>,
    /// The number of times that each symbol is bound.
    bindings: Map<Expr, u32>,
    /// The ranges that were learned of sums.
    claims: Vec<(Linear, Range)>,
    lost: [bool; COUNTEREXAMPLE_POINTS],
    /// The number of times that a symbol was moved, or tried to be.
    moves: u32,
    scopes: Vec<Mark>,
}

/// The state to restore when a scope ends.
#[derive(Clone)]
struct Mark {
    bound: usize,
    claims: usize,
    lost: [bool; COUNTEREXAMPLE_POINTS],
}

impl Witnesses {
    pub(super) fn push_scope(&mut self) {
        self.scopes.push(Mark { bound: self.bound.len(), claims: self.claims.len(), lost: self.lost });
    }
    pub(super) fn pop_scope(&mut self) {
        let mark = self.scopes.pop().expect("a scope is open");
        for (symbol, _) in self.bound.drain(mark.bound..) {
            if let Some(count) = self.bindings.get_mut(&symbol) {
                *count -= 1;
            }
        }
        self.claims.truncate(mark.claims);
        self.lost = mark.lost;
    }
}

impl Facts {
    /// The largest value of a sum of terms at any point: no bound is less.
    pub(super) fn reached(&self, terms: &[Term]) -> Option<i128> {
        let values = self.sum_values(terms);
        let lost = self.witnesses.borrow().lost;
        (0..COUNTEREXAMPLE_POINTS).filter(|k| !lost[*k]).filter_map(|k| values[k]).max()
    }

    /// `symbol`, new in this scope, is `value`.
    pub(super) fn bind_witness(&mut self, symbol: &Expr, value: &Expr) {
        if !value.ty().is_index() {
            return;
        }
        let values = self.values(value);
        self.choose(symbol, values);
        let all = self.witnesses.get_mut();
        all.bound.push((symbol.clone(), value.clone()));
        *all.bindings.entry(symbol.clone()).or_default() += 1;
    }

    /// `var`, new in this scope, is in `min .. min + extent`.
    pub(super) fn bind_witness_loop(&mut self, var: &Expr, min: &Expr, extent: &Expr) {
        let (first, count) = (self.values(min), self.values(extent));
        let values = std::array::from_fn(|k| {
            let (first, last) = (first[k]?, count[k]? - 1);
            Some(first + [0, last, last / 2][k]).filter(|_| last >= 0)
        });
        self.choose(var, values);
    }

    /// `sum` was learned to lie in `range`.
    pub(super) fn claim(&mut self, sum: &Linear, range: Range) {
        let all = self.witnesses.get_mut();
        if all.lost == [true; COUNTEREXAMPLE_POINTS] {
            return;
        }
        all.claims.push((sum.clone(), range));
        for k in 0..COUNTEREXAMPLE_POINTS {
            if !self.witnesses.get_mut().lost[k] && !self.holds(k, sum, range) && !self.mend(k, sum, range) {
                self.witnesses.get_mut().lost[k] = true;
            }
        }
    }

    /// More is known of a sum: it has this remainder.
    pub(super) fn claim_remainder(&mut self, sum: &Linear, congruence: Congruence) {
        for k in 0..COUNTEREXAMPLE_POINTS {
            let value = self.sum_values(&sum.terms)[k].map(|v| v + sum.constant as i128);
            let missing = value.map(|v| match congruence.modulus() {
                0 => congruence.remainder() as i128 - v,
                m => (congruence.remainder() as i128 - v).rem_euclid(m.into()),
            });
            let holds = missing.is_some_and(|missing| missing == 0 || self.shift(k, &sum.terms, missing));
            self.witnesses.get_mut().lost[k] |= !holds;
        }
    }

    fn choose(&mut self, symbol: &Expr, values: Values) {
        let old = self.witnesses.get_mut().chosen.insert(symbol.clone(), values);
        if old.is_some() {
            self.cache.get_mut().forget_values(symbol.support());
        }
    }

    fn holds(&self, k: usize, sum: &Linear, range: Range) -> bool {
        let value = self.sum_values(&sum.terms)[k].map(|v| v + sum.constant as i128);
        value.is_some_and(|v| Range::point(v).within(range))
    }

    /// Moves one symbol of `sum` so that it is in `range` at point `k`, and everything learned before still holds.
    fn mend(&mut self, k: usize, sum: &Linear, range: Range) -> bool {
        let Some(value) = self.sum_values(&sum.terms)[k].map(|v| v + sum.constant as i128) else { return false };
        if self.witnesses.get_mut().claims.len() > MOST_CLAIMS {
            return false;
        }
        let missing = match (range.min(), range.max()) {
            (Some(min), _) if value < min => min - value,
            (_, Some(max)) => max - value,
            _ => return false,
        };
        self.shift(k, &sum.terms, missing)
    }

    /// Moves one symbol so that the sum of `terms` is by `missing`, or a little more, nearer to where it should be, and
    /// everything learned still holds.
    fn shift(&mut self, k: usize, terms: &[Term], missing: i128) -> bool {
        terms.iter().any(|(atom, c)| match atom.kind() {
            // The remainder goes with the sum, one way or the other around.
            ExprKind::Binary(BinOp::Mod, n, d) if matches!(c, 1 | -1) => {
                let turn = as_int(d).unwrap_or(0) as i128 * missing.signum();
                let mut single = |part: &Term| {
                    matches!(part.1, 1 | -1)
                        && [missing, missing - turn].iter().any(|by| self.step(k, &part.0, c * part.1, *by))
                };
                Linear::of(n).terms.iter().any(&mut single)
            }
            _ => self.step(k, atom, *c, missing),
        })
    }

    /// Moves one symbol with the coefficient `c`.
    fn step(&mut self, k: usize, symbol: &Expr, c: i64, missing: i128) -> bool {
        let all = self.witnesses.get_mut();
        let is_bound = all.bindings.get(symbol).is_some_and(|count| *count > 0);
        let Some(old) = all.chosen.get(symbol).copied().filter(|_| !is_bound) else { return false };
        let c = c as i128;
        let step = (missing.abs() + c.abs() - 1) / c.abs() * missing.signum() * c.signum();
        let Some(new) = old[k].and_then(|v| i64::try_from(v as i128 + step).ok()) else { return false };
        if self.witnesses.get_mut().moves >= MOST_COUNTEREXAMPLE_MOVES || !allows(self.known(symbol), new) {
            return false;
        }
        self.witnesses.get_mut().moves += 1;
        let mut moved = old;
        moved[k] = Some(new);
        self.reset(symbol, moved);
        let claims = self.witnesses.get_mut().claims.clone();
        if claims.iter().all(|(sum, range)| self.holds(k, sum, *range)) {
            return true;
        }
        self.reset(symbol, old);
        false
    }

    /// Gives a symbol other values, and with it those that are bound to what it stands in.
    fn reset(&mut self, symbol: &Expr, values: Values) {
        self.witnesses.get_mut().chosen.insert(symbol.clone(), values);
        let bound = std::mem::take(&mut self.witnesses.get_mut().bound);
        let mut moved = symbol.support();
        let mut changed = Vec::new();
        for (symbol, value) in &bound {
            if value.support() & moved != 0 {
                moved |= symbol.support();
                changed.push((symbol, value));
            }
        }
        self.cache.get_mut().forget_values(if symbol.support() == 0 { 0 } else { moved });
        for (symbol, value) in changed {
            let values = self.values(value);
            self.witnesses.get_mut().chosen.insert(symbol.clone(), values);
        }
        self.witnesses.get_mut().bound = bound;
    }

    fn sum_values(&self, terms: &[Term]) -> [Option<i128>; COUNTEREXAMPLE_POINTS] {
        let mut sum = [Some(0i128); COUNTEREXAMPLE_POINTS];
        for (atom, c) in terms {
            let values = self.values(atom);
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum = sum.and_then(|s| s.checked_add((value? as i128).checked_mul(*c as i128)?));
            }
        }
        sum
    }

    /// Returns the values of a scalar Index expression, or of a condition: 0 or 1.
    fn values(&self, e: &Expr) -> Values {
        if !is_read(e) {
            return [None; COUNTEREXAMPLE_POINTS];
        }
        if let ExprKind::Int(value) = e.kind() {
            return [near((*value).into()); COUNTEREXAMPLE_POINTS];
        }
        if let Some(values) = self.cache.borrow().values(e) {
            return values;
        }
        let is_found =
            |e: &Expr| !is_read(e) || matches!(e.kind(), ExprKind::Int(_)) || self.cache.borrow().values(e).is_some();
        postorder(e, is_found, |e| {
            let values = self.value_of_node(e);
            self.cache.borrow_mut().set_values(e, values);
        });
        self.cache.borrow().values(e).unwrap_or([None; COUNTEREXAMPLE_POINTS])
    }

    /// Returns the values of a node whose children were found.
    fn value_of_node(&self, e: &Expr) -> Values {
        use ExprKind::*;
        let of = |e: &Expr| self.values(e);
        match e.kind() {
            Const(_) => [as_bool(e).map(i64::from); COUNTEREXAMPLE_POINTS],
            Likely(a) => of(a),
            Unary(UnOp::Neg, a) => of(a).map(|v| v.map(|v| -v)),
            Unary(UnOp::Not, a) => of(a).map(|v| v.map(|v| 1 - v)),
            Binary(op, a, b) if is_read(a) => {
                let (a, b) = (of(a), of(b));
                std::array::from_fn(|k| near(binary(*op, a[k]?.into(), b[k]?.into())?))
            }
            Select(c, a, b) => {
                let (c, a, b) = (of(c), of(a), of(b));
                std::array::from_fn(|k| if c[k]? == 0 { b[k] } else { a[k] })
            }
            _ if e.ty().is_index() => self.chosen_for(e),
            _ => [None; COUNTEREXAMPLE_POINTS],
        }
    }

    /// Returns the values of a symbol or an opaque expression, which are chosen at its first use.
    fn chosen_for(&self, e: &Expr) -> Values {
        if let Some(values) = self.witnesses.borrow().chosen.get(e) {
            return *values;
        }
        let known = self.known(e).intersect(default_of(e));
        let any = |k: usize| (e.structural_hash() >> (8 * k)) as i64 % 512;
        let values = std::array::from_fn(|k| {
            let wish = match e.kind() {
                ExprKind::Sym(halide_ir::Sym::Buffer { field: DimField::Extent, .. }) => EXTENTS[k] + any(k),
                _ => any(k),
            };
            nearest(known, wish)
        });
        self.witnesses.borrow_mut().chosen.insert(e.clone(), values);
        values
    }
}

fn near(value: i128) -> Option<i64> {
    (value.abs() <= FAR_POINT).then_some(value as i64)
}

/// Returns true if values are found of `e` at all.
fn is_read(e: &Expr) -> bool {
    e.lanes() == 1 && (e.ty().is_index() || e.ty().is_bool())
}

fn binary(op: BinOp, a: i128, b: i128) -> Option<i128> {
    Some(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a.checked_mul(b)?,
        BinOp::Div => a.checked_div_euclid(b)?,
        BinOp::Mod => a.checked_rem_euclid(b)?,
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Lt => (a < b).into(),
        BinOp::Le => (a <= b).into(),
        BinOp::Gt => (a > b).into(),
        BinOp::Ge => (a >= b).into(),
        BinOp::Eq => (a == b).into(),
        BinOp::Ne => (a != b).into(),
        BinOp::BitAnd => a & b,
        BinOp::BitOr => a | b,
        BinOp::BitXor => a ^ b,
        _ => return None,
    })
}

fn allows(known: Known, value: i64) -> bool {
    let m = known.congruence.modulus();
    let fits = match m {
        0 => value == known.congruence.remainder(),
        m => value.rem_euclid(m) == known.congruence.remainder().rem_euclid(m),
    };
    fits && Range::point(value.into()).within(known.range)
}

/// A value like `wish` that `known` allows.
fn nearest(known: Known, wish: i64) -> Option<i64> {
    let clamp = |v: i64| {
        let v = known.range.min().map_or(v as i128, |min| min.max(v.into()));
        i64::try_from(known.range.max().map_or(v, |max| max.min(v))).ok()
    };
    let value = clamp(wish)?;
    let (m, r) = (known.congruence.modulus(), known.congruence.remainder());
    let below = match m {
        0 => r,
        m => value - (value - r).rem_euclid(m),
    };
    [Some(below), below.checked_add(m)].into_iter().flatten().find(|v| allows(known, *v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::ids::FuncId;
    use halide_ir::build::*;
    use halide_ir::{BufId, Edge, LoopId, Scope, Sym};

    fn edge(func: u32, edge: Edge) -> Expr {
        sym(Sym::Bound { func: FuncId(func), stage: 0, dim: 0, edge, at: Scope::Root })
    }
    fn reached(e: Expr, facts: &Facts) -> Option<i128> {
        let sum = Linear::of(&e);
        Some(facts.reached(&sum.terms)? + sum.constant as i128)
    }

    #[test]
    fn points_move_with_what_is_learned() {
        let (first, last) = (edge(0, Edge::Min), edge(0, Edge::Max));
        let mut facts = Facts::new();
        // Both were seen before anything is known of them.
        assert!(reached(sub(last.clone(), first.clone()), &facts).is_some());
        facts.learn(&ge(sub(last.clone(), first.clone()), int(100)));
        facts.learn(&eq(rem(first.clone(), int(8)), int(3)));
        let most = reached(sub(first.clone(), last.clone()), &facts);
        assert!(most.is_some_and(|v| v <= -100), "{most:?}");
        assert_eq!(reached(rem(first, int(8)), &facts), Some(3));
        let x = loop_var(LoopId(0));
        facts.push_scope();
        facts.bind_loop(LoopId(0), &int(10), &int(5));
        assert_eq!((reached(x.clone(), &facts), reached(mul(x.clone(), int(-1)), &facts)), (Some(14), Some(-10)));
        facts.learn(&lt(x.clone(), int(12)));
        assert_eq!(reached(x.clone(), &facts), Some(11));
        facts.pop_scope();
    }

    #[test]
    fn points_are_lost_until_the_scope_ends() {
        let (x, n) = (loop_var(LoopId(0)), sym(Sym::Temp(0)));
        let mut facts = Facts::new();
        facts.bind_let(Sym::Temp(0), &int(5));
        facts.push_scope();
        facts.learn(&eq(mul(x.clone(), x.clone()), int(-1)));
        assert_eq!(reached(x.clone(), &facts), None);
        facts.pop_scope();
        assert!(reached(x, &facts).is_some());
        assert_eq!(reached(n, &facts), Some(5));
    }

    /// Arguments as `check_arguments` checks them: an input that is large enough for what the output needs of it.
    #[test]
    fn inputs_are_as_large_as_they_must_be() {
        let field = |buf, field| sym(Sym::Buffer { buf: BufId(buf), dim: 0, field });
        let (min, extent) = (|b| field(b, DimField::Min), |b| field(b, DimField::Extent));
        let end = |b| add(min(b), extent(b));
        let mut facts = Facts::new();
        for b in [0, 1] {
            facts.assume_range(&min(b), Some(i32::MIN.into()), Some(i32::MAX.into()));
            facts.assume_range(&extent(b), Some(1), Some(1 << 32));
        }
        facts.assume_congruence(&extent(0), 32, 0);
        facts.learn(&le(min(1), offset(min(0), -3)));
        facts.learn(&ge(end(1), offset(end(0), 3)));
        assert!(reached(sub(min(1), min(0)), &facts).is_some_and(|v| v <= -3));
        assert!(reached(sub(end(0), end(1)), &facts).is_some_and(|v| v <= -3));
        assert_eq!(reached(rem(extent(0), int(32)), &facts), Some(0));
    }
}
