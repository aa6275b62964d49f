//! Intervals of choices: what a condition says of the symbols in its arms.

use super::{Interval, Search};
use crate::bounds::solve::solve_outer;
use crate::tuning::MOST_NESTED_INTERVALS;
use halide_core::ops::BinOp;
use halide_ir::build;
use halide_ir::hash::Map;
use halide_ir::visit::{any_node, for_each_node};
use halide_ir::{Expr, ExprKind, Sym};

impl Search<'_> {
    /// Each arm, where the symbols that the condition compares are kept to the values for which it holds.
    pub(super) fn select(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Interval {
        match self.truth(c) {
            Some(true) => return self.of(a),
            Some(false) => return self.of(b),
            None => {}
        }
        let then = self.where_holds(c, a);
        let otherwise = self.where_holds(&self.simple(build::not(c.clone())), b);
        then.union(&otherwise, self.facts)
    }
    /// Decides an Index comparison: `Some` if it holds, or does not hold, for all values of the symbols.
    fn truth(&mut self, cond: &Expr) -> Option<bool> {
        let ExprKind::Binary(op, a, b) = cond.kind() else { return None };
        if !op.is_comparison() || a.ty() != halide_ir::Type::INDEX {
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
    /// The interval of `arm` over the values of the symbols, and of the elements that are compared, for which `cond`
    /// holds.
    fn where_holds(&mut self, cond: &Expr, arm: &Expr) -> Interval {
        if self.depth >= MOST_NESTED_INTERVALS {
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
        let held = self.compared(cond);
        let concerns = |n: &Expr| match n.kind() {
            ExprKind::Sym(s) => narrower.iter().any(|(t, _)| s == t),
            ExprKind::Read { .. } | ExprKind::Load { .. } => held.iter().any(|(element, _)| element == n),
            _ => false,
        };
        if narrower.is_empty() && held.is_empty() || !any_node(arm, concerns) {
            return self.of(arm);
        }
        let held: Vec<(Expr, Interval)> = held
            .into_iter()
            .map(|(element, interval)| {
                let known = self.interval(&element).intersect(&interval, self.facts);
                (element, known)
            })
            .collect();
        let values = |e: &Expr| {
            let known = held.iter().find(|(element, _)| element == e);
            known.map(|(_, interval)| interval.clone()).or_else(|| (self.values)(e))
        };
        let env = |s: Sym| {
            let narrow = narrower.iter().find(|(t, _)| *t == s);
            narrow.map(|(_, interval)| interval.clone()).or_else(|| (self.env)(s))
        };
        let (depth, moves) = (self.depth + 1, self.moves);
        let mut inner = Search {
            env: &env,
            values: &values,
            facts: self.facts,
            depth,
            moves,
            found: Map::default(),
            floats: Map::default(),
        };
        let inside = inner.interval(arm);
        // Where the condition leaves nothing, the arm is not taken and any interval will do; the wider one is safe.
        let outside = self.of(arm);
        let closed = |a: Option<Expr>, b: Option<Expr>| a.or(b);
        Interval { min: closed(inside.min, outside.min), max: closed(inside.max, outside.max) }
    }
}
