//! The steady state of one loop: what its body becomes where everything likely holds, and where that is.

use super::marks::{Marks, likely_side};
use crate::lower::loops::copy::fresh_temp;
use crate::lower::vectors::lanes::{self, Shape};
use crate::lower::vectors::some_lane::conjuncts;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{Expr, ExprKind, For, Program, Stmt, Sym, build};
use halide_solve::bounds::{Interval, Monotone, monotone_under, solve_for};
use halide_solve::simplify::{Facts, simplify};

/// The kinds of conditions that justify a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    /// Any likely condition.
    Anything,
    /// Any likely condition; those that do not depend on the loop too.
    Innermost,
    /// Masks and conditions outside of the loops inside.
    Outside,
}

/// A loop's steady state.
pub(super) struct Steady {
    /// The body in it.
    pub(super) body: Stmt,
    /// It begins at the largest of these (or with the loop).
    pub(super) first: Vec<Expr>,
    /// It ends with the smallest of these (or with the loop).
    pub(super) last: Vec<Expr>,
    /// The loop-invariant condition that must hold besides.
    pub(super) invariant: Option<Expr>,
    /// The number of conditions that bound it.
    pub(super) solved: usize,
    /// True if masks that nobody expects to hold were solved.
    pub(super) has_masks: bool,
    /// Conditions that stay, since they cannot be solved for the loop variable.
    pub(super) unsolved: Vec<Expr>,
}

/// Returns true if `s` contains a mark of a likely condition.
pub(super) fn any_likely(s: &Stmt) -> bool {
    let mut found = false;
    visit::for_each_expr_deep(s, &mut |e| {
        found = found || visit::any_node(e, |n| matches!(n.kind(), ExprKind::Likely(_)));
    });
    found
}

impl Steady {
    /// The steady state of `l`, if there is something to gain of the kind that is wished for.
    pub(super) fn find(l: &For, wish: Wish, program: &mut Program, facts: &Facts) -> Option<Steady> {
        if wish == Wish::Outside && !any_likely(&l.body) {
            return None;
        }
        let mut search = Search {
            var: Sym::Loop(l.id),
            wish,
            program,
            facts,
            heavy: false,
            in_masks: Set::default(),
            inner: Vec::new(),
            values: Map::default(),
            definitions: Map::default(),
            opaque: Set::default(),
            answers: Map::default(),
            first: Vec::new(),
            last: Vec::new(),
            invariants: Vec::new(),
            solved: 0,
            has_masks: false,
            unsolved: Vec::new(),
            worthwhile: false,
        };
        let mut body = search.statement(&l.body);
        if wish == Wish::Outside && search.worthwhile {
            // Only conditions outside of the loops inside were solved; now all that say the same are answered.
            search.values.clear();
            search.definitions.clear();
            body = search.statement(&l.body);
        }
        if !search.worthwhile {
            return None;
        }
        let Search { first, last, invariants, solved, has_masks, unsolved, .. } = search;
        let invariant = invariants.into_iter().reduce(build::and);
        Some(Steady { body, first, last, invariant, solved, has_masks, unsolved })
    }
}

/// The cost of a condition in every iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// A scalar minimum or maximum.
    Light,
    /// A scalar condition.
    Condition,
    /// A vector, a mask, or a branch.
    Heavy,
}

/// The answer to a condition: it holds in the steady state, or this is not known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Holds,
    Unknown,
}

struct Search<'a> {
    var: Sym,
    wish: Wish,
    program: &'a mut Program,
    facts: &'a Facts,
    /// True if conditions at hand decide on vectors or branches.
    heavy: bool,
    /// The comparisons of which masks are conjunctions, which are asked for whether marked or not.
    in_masks: Set<Expr>,
    /// The loops inside that the search is in: variable, first and last value.
    inner: Vec<(Sym, Expr, Expr)>,
    /// Ramps that stand for symbols of the body.
    values: Map<Sym, Expr>,
    /// The definitions of symbols of the body in terms of symbols outside, the loop variables, and memory.
    definitions: Map<Sym, Expr>,
    /// Vectors of data that are named in the body: no condition on them can stand outside of it.
    opaque: Set<Sym>,
    answers: Map<Expr, Answer>,
    first: Vec<Expr>,
    last: Vec<Expr>,
    invariants: Vec<Expr>,
    solved: usize,
    has_masks: bool,
    unsolved: Vec<Expr>,
    /// True if a condition that was solved justifies the cut.
    worthwhile: bool,
}

impl Search<'_> {
    fn statement(&mut self, s: &Stmt) -> Stmt {
        match s {
            Stmt::Let { bindings, body } => {
                let mut made = Vec::with_capacity(bindings.len());
                for (s, e) in bindings {
                    self.bind(*s, e, &mut made);
                }
                build::let_in(made, self.statement(body))
            }
            Stmt::For(l) => {
                let (min, extent) = (self.expression(&l.min), self.expression(&l.extent));
                let (low, steps) = (self.expanded(&min), self.expanded(&extent));
                let high = build::offset(build::add(low.clone(), steps), -1);
                self.inner.push((Sym::Loop(l.id), low, high));
                let body = self.statement(&l.body);
                self.inner.pop();
                let condition = l.condition.as_ref().map(|e| self.expression(e));
                build::loop_of(For { id: l.id, kind: l.kind, min, extent, condition, body })
            }
            Stmt::Block(list) => build::block(list.iter().map(|s| self.statement(s)).collect::<Vec<_>>()),
            Stmt::If { cond, then, otherwise } => {
                let cond = self.rewritten(cond, true);
                match build::as_bool(&cond) {
                    Some(true) => self.statement(then),
                    Some(false) => self.statement(otherwise),
                    None => build::if_else(cond, self.statement(then), self.statement(otherwise)),
                }
            }
            Stmt::Produce { func, body } => Stmt::Produce { func: *func, body: Box::new(self.statement(body)) },
            Stmt::Atomic { func, body } => Stmt::Atomic { func: *func, body: Box::new(self.statement(body)) },
            Stmt::Alloc { buf, count, constant, body } => {
                let count = self.expression(count);
                Stmt::Alloc { buf: *buf, count, constant: *constant, body: Box::new(self.statement(body)) }
            }
            Stmt::Store { buf, index, value, mask } => {
                let (index, value) = (self.expression(index), self.expression(value));
                let mask = mask.as_ref().map(|m| self.mask(m)).filter(|m| build::as_bool(m) != Some(true));
                Stmt::Store { buf: *buf, index, value, mask }
            }
            Stmt::Assert { .. }
            | Stmt::Print { .. }
            | Stmt::Free { .. }
            | Stmt::Prefetch { .. }
            | Stmt::Call { .. }
            | Stmt::Count { .. }
            | Stmt::Launch { .. }
            | Stmt::Dispatch { .. }
            | Stmt::Reside { .. }
            | Stmt::Barrier
            | Stmt::Realize { .. }
            | Stmt::Provide { .. } => visit::map_stmt(s.clone(), |e| self.expression(e), |inner| inner),
        }
    }

    /// Names the steady value of `e`. A vector that is a ramp now is named by its base, so that it can be seen to be
    /// one.
    fn bind(&mut self, s: Sym, e: &Expr, made: &mut Vec<(Sym, Expr)>) {
        let value = self.expression(e);
        if value.lanes() == 1 {
            self.definitions.insert(s, self.expanded(&value));
            made.push((s, value));
            return;
        }
        let stands = match lanes::shape(&value) {
            Shape::Ramp(base, stride) if build::as_int(&stride).is_some() => {
                build::ramp(self.name(base, made), stride, value.lanes())
            }
            Shape::Uniform(scalar) => build::broadcast(self.name(scalar, made), value.lanes()),
            _ => {
                if value.ty().is_index() || value.ty().is_bool() {
                    self.definitions.insert(s, self.expanded(&value));
                } else {
                    self.opaque.insert(s);
                }
                made.push((s, value));
                return;
            }
        };
        self.values.insert(s, stands);
    }

    fn name(&mut self, scalar: Expr, made: &mut Vec<(Sym, Expr)>) -> Expr {
        if matches!(scalar.kind(), ExprKind::Sym(_) | ExprKind::Int(_) | ExprKind::Const(_)) {
            return scalar;
        }
        let temp = fresh_temp(self.program);
        self.definitions.insert(temp, self.expanded(&scalar));
        let ty = scalar.ty();
        made.push((temp, scalar));
        build::typed_sym(temp, ty)
    }

    /// `e` in terms of symbols outside the loop, loop variables and memory.
    fn expanded(&self, e: &Expr) -> Expr {
        visit::substitute(e, &|s| self.definitions.get(&s).cloned())
    }

    /// The mask `m` in the steady state.
    fn mask(&mut self, m: &Expr) -> Expr {
        self.note_mask(m);
        self.rewritten(m, true)
    }

    /// Notes the comparisons of which a mask is made, if all of them may hold in a steady state, which then has none.
    fn note_mask(&mut self, m: &Expr) {
        let mut parts = Vec::new();
        conjuncts(m, &mut parts);
        let is_order = |part: &Expr| match part.kind() {
            ExprKind::Binary(BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, of, _) => of.ty().is_index(),
            _ => false,
        };
        if parts.iter().all(is_order) {
            self.in_masks.extend(parts);
        }
    }

    /// `e` in the steady state.
    fn expression(&mut self, e: &Expr) -> Expr {
        self.rewritten(e, false)
    }

    fn rewritten(&mut self, e: &Expr, branch: bool) -> Expr {
        let may_change = |n: &Expr| match n.kind() {
            ExprKind::Sym(s) => self.values.contains_key(s),
            ExprKind::Likely(_) | ExprKind::Select(..) => true,
            ExprKind::Binary(op, ..) => matches!(op, BinOp::Min | BinOp::Max) || op.is_comparison(),
            _ => false,
        };
        if !visit::any_node(e, may_change) {
            return e.clone();
        }
        visit::for_each_node(e, &mut |n| {
            if let ExprKind::Load { mask: Some(mask), .. } = n.kind() {
                self.note_mask(mask);
            }
        });
        let mut marks: Map<Expr, Marks> = Map::default();
        if visit::any_node(e, |n| matches!(n.kind(), ExprKind::Likely(_))) {
            visit::fold(e, &mut marks, &mut |n, of| Marks::of(n, of));
        }
        // Without a mark in it, no node has an entry.
        let marks = |n: &Expr| marks.get(n).copied().unwrap_or_default();
        self.heavy = e.lanes() > 1 || branch;
        Memo::new().rewrite(e, |n, done| self.node(n, done, &marks))
    }

    fn node(&mut self, n: &Expr, done: &dyn Fn(&Expr) -> Expr, marks: &dyn Fn(&Expr) -> Marks) -> Expr {
        match n.kind() {
            ExprKind::Sym(s) => self.values.get(s).cloned().unwrap_or_else(|| n.clone()),
            ExprKind::Likely(cond) if n.ty().is_bool() => {
                let cond = done(cond);
                let weight = if n.lanes() > 1 || self.heavy { Weight::Heavy } else { Weight::Condition };
                match self.ask(&cond, weight) {
                    Answer::Holds => build::broadcast(build::boolean(true), n.lanes()),
                    Answer::Unknown => build::likely(cond),
                }
            }
            ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) if n.ty().is_index() => {
                let (x, y) = (done(a), done(b));
                let side = likely_side(&marks(a), &marks(b)).or_else(|| self.changing_side(&x, &y));
                let (kept, other) = match side {
                    Some(true) => (&x, &y),
                    Some(false) => (&y, &x),
                    None => return lanes::binary(*op, x, y),
                };
                let cmp = if *op == BinOp::Min { BinOp::Le } else { BinOp::Ge };
                let weight = if n.lanes() > 1 { Weight::Heavy } else { Weight::Light };
                match self.ask(&lanes::binary(cmp, kept.clone(), other.clone()), weight) {
                    Answer::Holds => without_likely(kept),
                    Answer::Unknown => lanes::binary(*op, x, y),
                }
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                let cond = lanes::binary(*op, done(a), done(b));
                let Some(weight) = self.weight(n, &marks(a), &marks(b), &cond) else { return cond };
                match self.ask(&cond, weight) {
                    Answer::Holds => {
                        self.has_masks |= marks(a).open == marks(b).open;
                        build::broadcast(build::boolean(true), n.lanes())
                    }
                    Answer::Unknown => cond,
                }
            }
            ExprKind::Select(c, a, b) => {
                let (cond, x, y) = (done(c), done(a), done(b));
                let side = if marks(c).any { None } else { likely_side(&marks(a), &marks(b)) };
                let wanted = match side {
                    Some(true) => cond.clone(),
                    Some(false) => build::not(cond.clone()),
                    None => return build::select(cond, x, y),
                };
                let weight = if n.lanes() > 1 || self.heavy { Weight::Heavy } else { Weight::Condition };
                match self.ask(&wanted, weight) {
                    Answer::Holds if side == Some(true) => build::broadcast(without_likely(&x), n.lanes()),
                    Answer::Holds => build::broadcast(without_likely(&y), n.lanes()),
                    Answer::Unknown => build::select(cond, x, y),
                }
            }
            _ => lanes::map_children(n, done),
        }
    }

    /// The cost of a comparison `n` of operands with these marks, which is `cond` now; `None` if it is not to be asked.
    fn weight(&self, n: &Expr, a: &Marks, b: &Marks, cond: &Expr) -> Option<Weight> {
        let is_marked = a.open != b.open;
        match n.lanes() {
            // The lanes that are inside of a tail or a triangle.
            2.. => (is_marked || self.in_masks.contains(n)).then_some(Weight::Heavy),
            // A scalar that does not change is asked once in front of the loop, without a copy of it.
            _ if self.in_masks.contains(n) => Some(Weight::Light),
            // A part of a tail that is written out, as a branch. Loops end where conditions on their own variables do
            // (`loop_trimming`).
            _ => (is_marked && self.heavy && !visit::uses(&self.expanded(cond), self.var)).then_some(Weight::Heavy),
        }
    }

    /// In an innermost loop, the side of an unmarked minimum that changes with the loop variable, if just one does: the
    /// last chunk of a loop that is shifted inwards, or a clamp that the user wrote.
    fn changing_side(&self, a: &Expr, b: &Expr) -> Option<bool> {
        if self.wish == Wish::Outside || !self.inner.is_empty() {
            return None;
        }
        let changes = |e: &Expr| visit::uses(&self.expanded(e), self.var);
        match (changes(a), changes(b)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Decides if `cond` (all lanes of it) holds in the steady state, which is made smaller to that end.
    fn ask(&mut self, cond: &Expr, weight: Weight) -> Answer {
        let expanded = without_likely(&self.expanded(cond));
        if let Some(&known) = self.answers.get(&expanded) {
            return known;
        }
        let cond = simplify(&expanded, self.facts);
        if build::as_bool(&cond) == Some(true) {
            return Answer::Holds;
        }
        if self.wish == Wish::Outside && !(weight == Weight::Heavy && self.inner.is_empty()) {
            return Answer::Unknown;
        }
        let answer = self.decide(cond, weight);
        self.worthwhile |= answer == Answer::Holds;
        self.answers.insert(expanded, answer);
        answer
    }

    fn decide(&mut self, cond: Expr, weight: Weight) -> Answer {
        let is_inside = |n: &Expr| match n.kind() {
            ExprKind::Load { .. } | ExprKind::Read { .. } => true,
            ExprKind::Sym(s) => self.opaque.contains(s),
            _ => false,
        };
        if visit::any_node(&cond, is_inside) {
            return Answer::Unknown;
        }
        let Some(cond) = self.for_all_inner(&cond) else { return Answer::Unknown };
        if !visit::uses(&cond, self.var) {
            // A scalar minimum that does not change costs less than a test and a copy.
            if self.wish != Wish::Innermost || weight == Weight::Light {
                return Answer::Unknown;
            }
            self.invariants.push(lanes::reduce_if_vector(BinOp::BitAnd, &cond));
            return Answer::Holds;
        }
        match solve_for(&cond, self.var, self.facts) {
            Some(Interval { min, max }) => {
                self.first.extend(min.filter(|e| !self.first.contains(e)));
                self.last.extend(max.filter(|e| !self.last.contains(e)));
                self.solved += 1;
                Answer::Holds
            }
            None => {
                self.unsolved.push(cond);
                Answer::Unknown
            }
        }
    }

    /// A condition that implies `cond` for all values of the variables of loops inside.
    fn for_all_inner(&self, cond: &Expr) -> Option<Expr> {
        let mut cond = cond.clone();
        for (var, low, high) in self.inner.iter().rev() {
            if visit::uses(&cond, *var) {
                cond = at_worst(&cond, *var, low, high, self.facts)?;
            }
        }
        Some(cond)
    }
}

/// `cond` with `var` at that end of `low ..= high` where it is hardest to fulfil.
fn at_worst(cond: &Expr, var: Sym, low: &Expr, high: &Expr, facts: &Facts) -> Option<Expr> {
    let ExprKind::Binary(op, a, b) = cond.kind() else { return None };
    if *op == BinOp::BitAnd {
        return Some(build::and(at_worst(a, var, low, high, facts)?, at_worst(b, var, low, high, facts)?));
    }
    let at = |end: &Expr| visit::substitute(cond, &|s| (s == var).then(|| end.clone()));
    if !a.ty().is_index() {
        return None;
    }
    let difference = lanes::lane(&lanes::binary(BinOp::Sub, a.clone(), b.clone()), 0);
    let falls = matches!(op, BinOp::Gt | BinOp::Ge);
    match (op, monotone_under(&difference, var, facts, &|_| None)) {
        (_, Monotone::Constant) => Some(at(low)),
        (BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, Monotone::Increasing) => {
            Some(at(if falls { low } else { high }))
        }
        (BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, Monotone::Decreasing) => {
            Some(at(if falls { high } else { low }))
        }
        _ => None,
    }
}

/// `e` without marks: in the steady state they have done their work.
fn without_likely(e: &Expr) -> Expr {
    Memo::new().rewrite(e, |n, done| match n.kind() {
        ExprKind::Likely(a) => done(a),
        _ => lanes::map_children(n, done),
    })
}
