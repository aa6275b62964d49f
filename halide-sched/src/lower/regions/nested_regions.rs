//! Regions per iteration kept within the regions of the scopes that hold the iteration. Part of `infer_bounds`.
//!
//! Interval arithmetic is inclusion isotonic (Moore, Interval Analysis, 1966): narrower ranges of variables give
//! narrower intervals. Rules that decide are not: a cast that is known to fit, a choice whose condition is known, a
//! remainder within one period. Such a rule may decide over the whole run, where ends are constants, and not in one
//! iteration, where they are symbols. The coordinates that an iteration reaches lie in both intervals, so the
//! intersection holds them as well. It is taken where a coordinate has such a rule and the inner region is not proved
//! to lie within the outer one.
//!
//! The reach of tails is estimated likewise: a vectorized producer may compute beyond its region, how far depends on
//! where its pieces begin, and that may be known over the whole run and not in one iteration. What it reads is then
//! intersected, too.

use crate::lower::nests::ctx::Source;
use crate::lower::regions::infer_bounds::Finder;
use crate::lower::regions::region_table::{bound_sym, is_estimated, shifted};
use crate::lower::regions::slide_windows::bounds_of;
use crate::lower::regions::union::Region;
use crate::tuning::{MOST_NESTED_NODES, NESTED_ROUNDS};
use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_ir::visit::{any_node, for_each_child, substitute};
use halide_ir::{Edge, Expr, ExprKind, Scope, Sym, build};
use halide_solve::bounds::{Interval, interval_of};
use halide_solve::simplify::{BoundQuery, simplify};
use std::collections::{BTreeMap, BTreeSet};

/// An end of a region that was intersected with the one of a scope around it.
pub(crate) struct Intersected {
    symbol: Sym,
    at: Scope,
    /// The end as the consumers have it.
    own: Expr,
    outer: Sym,
    outer_at: Scope,
}

/// An end of what a consumer reads in a dimension, per iteration of a loop in which a tail of the consumer is known to
/// compute no further than its slack beyond the region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Estimated {
    func: FuncId,
    dim: usize,
    at: Scope,
    edge: Edge,
    consumer: (FuncId, usize),
    /// The dimension of the consumer that its tail is in.
    by: usize,
}

impl Finder<'_> {
    /// Remembers the dimensions of a box whose intervals come of rules that decide.
    pub(crate) fn note_decisions(&mut self, source: Source, at: Scope, args: &[Expr], region: &Region, narrowed: bool) {
        let (Source::Func(func), Scope::Body(_)) = (source, at) else { return };
        for (dim, (arg, (min, max))) in args.iter().zip(region).enumerate() {
            if min != max && (narrowed || decides(arg)) {
                self.decided.insert((func, dim, at));
            }
        }
    }

    /// Keeps an end of the region of an input of a closure to that of the nearest scope around it, where the box may
    /// reach further although the region that the closure is called for is less: that may be empty, when something
    /// slides, and then nothing is needed.
    pub(crate) fn within_outer_box(
        &self,
        (func, stage, dim): (FuncId, usize, usize),
        edge: Edge,
        at: Scope,
        own: Expr,
    ) -> Expr {
        let callee = self.ctx.plan.pipeline.callees.iter().find(|callee| callee.inputs.contains(&func));
        let needs = callee.and_then(|callee| self.ctx.templates[&(callee.func, 0)].needs.as_ref());
        if !needs.is_some_and(|needs| needs.may_reach_further(func, dim)) {
            return own;
        }
        let Some(outer_at) = self.ctx.enclosing(at).skip(1).find(|&s| self.demanded.contains(&(func, s))) else {
            return own;
        };
        let outer = build::sym(bound_sym(func, stage, dim, edge, outer_at));
        let op = if edge == Edge::Min { BinOp::Max } else { BinOp::Min };
        simplify(&build::binary(op, own, outer), self.facts)
    }

    /// Intersects an end of a region with that of the nearest scope around it, if a rule decided.
    pub(crate) fn intersected(&mut self, of: (FuncId, usize, usize), edge: Edge, at: Scope, own: Expr) -> Expr {
        let (func, stage, dim) = of;
        let is_promised = self.ctx.plan.funcs[func].bounds[dim].extent.is_some();
        if !self.decided.contains(&(func, dim, at)) || is_promised {
            return own;
        }
        let mut around = self.ctx.enclosing(at).skip(1);
        let Some(outer_at) = around.find(|&s| self.demanded.contains(&(func, s))) else { return own };
        let symbol = bound_sym(func, stage, dim, edge, at);
        let outer = bound_sym(func, stage, dim, edge, outer_at);
        let op = if edge == Edge::Min { BinOp::Max } else { BinOp::Min };
        let both = simplify(&build::binary(op, own.clone(), build::sym(outer)), self.facts);
        self.intersected.push(Intersected { symbol, at, own, outer, outer_at });
        both
    }

    /// Remembers the ends of what a definition reads of `source` that are as far out as one of its tails may reach.
    pub(crate) fn note_estimates(&mut self, source: Source, consumer: (FuncId, usize), at: Scope) {
        let (Source::Func(func), Scope::Body(_)) = (source, at) else { return };
        if self.owner(at, consumer.0, consumer.1).is_some() {
            return;
        }
        let template = &self.ctx.templates[&consumer];
        for (by, s) in template.dims.iter().enumerate() {
            if !is_estimated((self.ctx, &self.found, self.facts), consumer, by, at) {
                continue;
            }
            let is_made_of = |arg: &Expr| any_node(arg, |n| matches!(n.kind(), ExprKind::Sym(of) if of == s));
            let reads = template.reads.iter().filter(|r| r.source == source);
            for (dim, arg) in reads.flat_map(|r| r.args.iter().enumerate()).filter(|(_, arg)| is_made_of(arg)) {
                // Tails reach beyond the last coordinate, which may be the first one of what is read.
                let edges = if shifted(template, arg).is_some() { &[Edge::Max][..] } else { &[Edge::Min, Edge::Max] };
                let end = |edge: &Edge| Estimated { func, dim, at, edge: *edge, consumer, by };
                self.estimated.extend(edges.iter().map(end));
            }
        }
    }

    /// Intersects regions that are as wide as tails may reach with those of the nearest scopes around them, where more
    /// is known over the whole run. All regions must have been found.
    pub(crate) fn intersect_estimates(&mut self) {
        let mut done = std::mem::take(&mut self.decided);
        let (mut ends, mut estimated_over_run) = (BTreeSet::new(), BTreeMap::new());
        for Estimated { func, dim, at, edge, consumer, by } in std::mem::take(&mut self.estimated) {
            if done.contains(&(func, dim, at)) || ends.contains(&(func, dim, at, edge)) {
                continue;
            }
            let over_run = (self.ctx, &self.found, &*self.facts);
            let entry = estimated_over_run.entry((consumer, by));
            if *entry.or_insert_with(|| is_estimated(over_run, consumer, by, Scope::Root)) {
                continue;
            }
            ends.insert((func, dim, at, edge));
            self.decided.insert((func, dim, at));
            for stage in 0..self.ctx.plan.funcs[func].stages.len() {
                let symbol = bound_sym(func, stage, dim, edge, at);
                let Some(own) = self.found.value(symbol).cloned() else { continue };
                let both = self.intersected((func, stage, dim), edge, at, own);
                self.found.deps.insert(symbol, self.dependencies(&both));
                self.found.refine(symbol, at, both);
            }
        }
        self.decided.append(&mut done);
    }

    /// Takes back the intersections with regions that are proved to hold the inner ones.
    pub(crate) fn drop_proved_intersections(&mut self) {
        for end in std::mem::take(&mut self.intersected) {
            if self.is_within(&end) {
                self.found.refine(end.symbol, end.at, end.own);
            }
        }
    }

    /// Returns true if an end lies within the outer one in all iterations of the loops between the two.
    fn is_within(&self, end: &Intersected) -> bool {
        let Sym::Bound { edge, .. } = end.symbol else { return false };
        let mut hull = self.over_outer_symbols(&end.own, end.outer_at);
        for l in self.ctx.loops_between(end.outer_at, end.at).into_iter().rev() {
            let (min, extent) = bounds_of(self.ctx, l);
            let last = build::offset(build::add(min.clone(), extent), -1);
            let range = Interval::new(simplify(&min, self.facts), simplify(&last, self.facts));
            let env = |s: Sym| (s == Sym::Loop(l)).then(|| range.clone());
            let ends = interval_of(&hull, &env, self.facts);
            let Some(next) = (if edge == Edge::Min { ends.min } else { ends.max }) else { return false };
            hull = self.over_outer_symbols(&next, end.outer_at);
        }
        let definition = |s, reach| self.found.definition(s, reach);
        let outer = build::sym(end.outer);
        match edge {
            Edge::Min => BoundQuery::difference(&outer, &hull, self.facts).through(&definition).is_at_most(0),
            Edge::Max => BoundQuery::difference(&hull, &outer, self.facts).through(&definition).is_at_most(0),
        }
    }

    /// An expression with the bounds of scopes inside of `scope` replaced by their definitions.
    fn over_outer_symbols(&self, e: &Expr, scope: Scope) -> Expr {
        let inner = |s: Sym| match s {
            Sym::Bound { at, .. } if at != scope && self.ctx.is_inside(at, scope) => self.found.value(s).cloned(),
            _ => None,
        };
        let mut e = e.clone();
        for _ in 0..NESTED_ROUNDS {
            let next = substitute(&e, &inner);
            if next == e {
                break;
            }
            e = simplify(&next, self.facts);
        }
        e
    }
}

/// Returns true if the interval of a coordinate may come of a rule that decides: anything but sums, quotients by
/// constants, minima and maxima, or a symbol that stands in it twice, which rules for correlated terms look at.
fn decides(coordinate: &Expr) -> bool {
    let (mut symbols, mut nodes, mut todo) = (Vec::new(), 0, vec![coordinate]);
    while let Some(e) = todo.pop() {
        nodes += 1;
        let is_isotonic = match e.kind() {
            ExprKind::Int(_) | ExprKind::Const(_) | ExprKind::Param(_) | ExprKind::Likely(_) => true,
            ExprKind::Sym(s @ Sym::Temp(_)) if symbols.contains(s) => false,
            ExprKind::Sym(s) => {
                symbols.push(*s);
                true
            }
            ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Min | BinOp::Max, _, _) => e.ty().is_index(),
            ExprKind::Binary(BinOp::Mul | BinOp::Div, _, b) => build::as_int(b).is_some(),
            _ => false,
        };
        if !is_isotonic || nodes > MOST_NESTED_NODES {
            return true;
        }
        for_each_child(e, |child| todo.push(child));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_decide() {
        let x = || build::sym(Sym::Temp(0));
        let y = || build::sym(Sym::Temp(1));
        let isotonic = build::min(build::add(build::div(x(), build::int(2)), y()), build::int(7));
        assert!(!decides(&isotonic));
        assert!(decides(&build::sub(build::min(x(), build::int(5)), x())));
        assert!(decides(&build::rem(x(), build::int(3))));
        assert!(decides(&build::mul(x(), y())));
        assert!(decides(&build::select(build::lt(y(), build::int(3)), x(), build::offset(x(), 1))));
    }
}
