//! Values of expressions inside of a statement, as they are known in front of it: names are replaced by their
//! definitions, and variables of loops have ranges.

use halide_ir::hash::Map;
use halide_ir::visit;
use halide_ir::{Expr, ExprKind, LoopId, Sym, build};
use halide_solve::bounds::{Interval, interval_of};
use halide_solve::simplify::{Facts, simplify};

/// The names and loop variables that are bound between a place outside and one inside.
#[derive(Default)]
pub(crate) struct SeenFrom {
    /// The values of names, without such names.
    definitions: Map<Sym, Expr>,
    /// The values of loop variables, in terms of what is visible outside.
    ranges: Map<Sym, Interval>,
}

impl SeenFrom {
    /// A name is bound.
    pub(crate) fn bind_let(&mut self, s: Sym, value: &Expr, facts: &Facts) {
        let value = self.expanded(value, facts);
        self.definitions.insert(s, value);
    }

    /// A loop is entered.
    pub(crate) fn bind_loop(&mut self, id: LoopId, min: &Expr, extent: &Expr, facts: &Facts) {
        let first = self.within(&self.expanded(min, facts), facts).min;
        let end = self.expanded(&build::add(min.clone(), extent.clone()), facts);
        let last = self.within(&end, facts).max.map(|end| build::offset(end, -1));
        self.ranges.insert(Sym::Loop(id), Interval { min: first, max: last });
    }

    /// `e` without names that are bound inside.
    pub(crate) fn expanded(&self, e: &Expr, facts: &Facts) -> Expr {
        simplify(&visit::substitute(e, &|s| self.definitions.get(&s).cloned()), facts)
    }

    /// The interval of an expanded expression over the loops in between, with ends that mean something outside.
    pub(crate) fn within(&self, e: &Expr, facts: &Facts) -> Interval {
        let found = interval_of(e, &|s| self.ranges.get(&s).cloned(), facts);
        let is_local = |n: &Expr| match n.kind() {
            ExprKind::Sym(s) => self.ranges.contains_key(s) || self.definitions.contains_key(s),
            ExprKind::Read { .. } => true,
            _ => false,
        };
        let visible = |e: Option<Expr>| e.filter(|e| !visit::any_node(e, is_local));
        Interval { min: visible(found.min), max: visible(found.max) }
    }
}
