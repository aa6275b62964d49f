//! Monotonicity: the direction in which an expression changes as a symbol grows.

use crate::simplify::walk::nodes;
use crate::simplify::{BoundQuery, Facts, Linear, simplify};
use halide_core::ops::{BinOp, UnOp};
use halide_ir::build::{self, as_int};
use halide_ir::hash::Map;
use halide_ir::visit::substitute;
use halide_ir::{Expr, ExprKind, Sym};

/// The direction in which an expression changes as a symbol grows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Monotone {
    /// It does not.
    Constant,
    /// It never falls.
    Increasing,
    /// It never grows.
    Decreasing,
    /// It may do either.
    Unknown,
}

impl Monotone {
    /// The direction of the negated expression.
    pub fn flipped(self) -> Monotone {
        match self {
            Monotone::Increasing => Monotone::Decreasing,
            Monotone::Decreasing => Monotone::Increasing,
            other => other,
        }
    }
    /// The direction of a sum, or of a choice, of two expressions.
    pub fn join(self, other: Monotone) -> Monotone {
        match (self, other) {
            (Monotone::Constant, d) | (d, Monotone::Constant) => d,
            (a, b) if a == b => a,
            _ => Monotone::Unknown,
        }
    }
    fn times_sign(self, sign: Option<i64>) -> Monotone {
        match sign {
            _ if self == Monotone::Constant => self,
            Some(0) => Monotone::Constant,
            Some(1..) => self,
            Some(_) => self.flipped(),
            None => Monotone::Unknown,
        }
    }
}

/// Returns the direction in which the Index expression `e` changes as `var` grows while all other symbols stay; symbols
/// that `defs` defines follow their definitions.
pub fn monotone(e: &Expr, var: Sym, defs: &dyn Fn(Sym) -> Option<Expr>) -> Monotone {
    monotone_under(e, var, &Facts::new(), defs)
}

/// As [`monotone`], where `facts` tell the signs of factors and divisors.
pub fn monotone_under(e: &Expr, var: Sym, facts: &Facts, defs: &dyn Fn(Sym) -> Option<Expr>) -> Monotone {
    Search { var, facts, defs, found: Map::default() }.direction(&simplify(e, facts))
}

struct Search<'a> {
    var: Sym,
    facts: &'a Facts,
    defs: &'a dyn Fn(Sym) -> Option<Expr>,
    /// By the address of the node, which the entry keeps alive.
    found: Map<usize, (Expr, Monotone)>,
}

impl Search<'_> {
    fn direction(&mut self, e: &Expr) -> Monotone {
        for node in nodes(e, |e| self.found.contains_key(&e.id())) {
            // What is asked of itself while it is being found (a circular definition) is unknown.
            self.found.insert(node.id(), (node.clone(), Monotone::Unknown));
            let direction = self.node(&node);
            self.found.insert(node.id(), (node, direction));
        }
        self.of(e)
    }
    fn of(&self, e: &Expr) -> Monotone {
        self.found.get(&e.id()).map_or(Monotone::Unknown, |(_, d)| *d)
    }
    /// Returns the direction of a node whose children were visited.
    fn node(&mut self, e: &Expr) -> Monotone {
        let mut constant = true;
        halide_ir::visit::for_each_child(e, |c| constant &= self.of(c) == Monotone::Constant);
        if let ExprKind::Sym(s) = e.kind() {
            return match (self.defs)(*s) {
                _ if *s == self.var => Monotone::Increasing,
                Some(definition) => self.direction(&simplify(&definition, self.facts)),
                None => Monotone::Constant,
            };
        }
        match e.kind() {
            _ if constant => Monotone::Constant,
            _ if !e.ty().is_index() => Monotone::Unknown,
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.of(a),
            ExprKind::Unary(UnOp::Neg, a) => self.of(a).flipped(),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e),
            ExprKind::Select(c, a, b) if self.of(c) == Monotone::Constant => self.of(a).join(self.of(b)),
            ExprKind::Ramp { base, stride } => self.of(base).join(self.of(stride)),
            _ => Monotone::Unknown,
        }
    }
    fn binary(&self, op: BinOp, a: &Expr, b: &Expr, e: &Expr) -> Monotone {
        let (x, y) = (self.of(a), self.of(b));
        match op {
            BinOp::Add | BinOp::Sub => {
                let direction = x.join(if op == BinOp::Sub { y.flipped() } else { y });
                if direction == Monotone::Unknown && e.lanes() == 1 { self.step(e) } else { direction }
            }
            BinOp::Mul if y == Monotone::Constant => x.times_sign(self.sign(b)),
            BinOp::Mul if x == Monotone::Constant => y.times_sign(self.sign(a)),
            BinOp::Div if y == Monotone::Constant => x.times_sign(self.sign(b)),
            BinOp::Min | BinOp::Max => x.join(y),
            _ => Monotone::Unknown,
        }
    }
    /// The sign of a value that does not change; `None` where it is not known.
    fn sign(&self, e: &Expr) -> Option<i64> {
        match (as_int(e), self.facts.range(e)) {
            (Some(v), _) => Some(v.signum()),
            (_, (Some(0..), _)) => Some(1),
            (_, (_, Some(..=0))) => Some(-1),
            _ => None,
        }
    }
    /// The direction of a sum whose terms disagree: what one step of the symbol adds to it.
    fn step(&self, e: &Expr) -> Monotone {
        let next = build::offset(build::sym(self.var), 1);
        let ahead = substitute(e, &|s| (s == self.var).then(|| next.clone()));
        let step = simplify(&build::sub(ahead, e.clone()), self.facts);
        // Definitions may hide the symbol, so they must be followed on both sides; without any the step is exact.
        let hidden =
            halide_ir::visit::any_node(e, |n| matches!(n.kind(), ExprKind::Sym(s) if (self.defs)(*s).is_some()));
        if hidden {
            return Monotone::Unknown;
        }
        let clear = |r: crate::simplify::Range| r.at_least(0) || r.at_most(0);
        let range = BoundQuery::of_sum(&Linear::of(&step), self.facts).range_until(clear);
        match (range.at_least(0), range.at_most(0)) {
            (true, true) => Monotone::Constant,
            (true, _) => Monotone::Increasing,
            (_, true) => Monotone::Decreasing,
            _ => Monotone::Unknown,
        }
    }
}
