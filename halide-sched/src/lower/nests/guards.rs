//! Conditions under which the body of a loop has effects, in terms of what is fixed while the loop runs and of its own
//! variable. Part of `loop_trimming`.
//!
//! A condition may load. Put in front of the loop, that load is done once instead of in every iteration, so the body
//! must leave its buffer alone, and the body must do it whatever other conditions say: a load under a guard may only be
//! valid where the guard holds.

use crate::lower::vectors::lanes;
use crate::tuning::{MOST_GUARDS, MOST_NESTED_GUARDS};
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, any_node};
use halide_ir::{BufId, Elem, Expr, ExprKind, Stmt, Sym, Type, build};
use halide_solve::bounds::{Interval, interval_of};
use halide_solve::simplify::{Facts, simplify};
use std::cell::RefCell;

/// Conditions (scalar) on `var` of which one holds wherever `body` has an effect; `None` if none can be told, or an
/// effect does not depend on `var`. They may load only if `loads` says so. `facts` hold where `body` stands.
pub(crate) fn guards(body: &Stmt, var: Sym, loads: bool, facts: &Facts) -> Option<Vec<Expr>> {
    if has_bare_effect(body) {
        return None;
    }
    let mut changed = Changed { all: !loads, buffers: Set::default() };
    changed.find(body);
    let (conditions, definitions, inner) = (Vec::new(), Map::default(), Map::default());
    let ranges = RefCell::default();
    let mut guards = Guards { var, facts, conditions, definitions, inner, ranges, changed };
    guards.collect(body, &Guard { cond: None, under: false })?;
    Some(guards.conditions)
}

/// Returns true if an effect stands under no condition: found before anything is expanded.
fn has_bare_effect(s: &Stmt) -> bool {
    match s {
        Stmt::If { .. }
        | Stmt::Store { mask: Some(_), .. }
        | Stmt::Free { .. }
        | Stmt::Prefetch { .. }
        | Stmt::Reside { .. } => false,
        Stmt::Block(_)
        | Stmt::Let { .. }
        | Stmt::For(_)
        | Stmt::Produce { .. }
        | Stmt::Atomic { .. }
        | Stmt::Alloc { .. }
        | Stmt::Realize { .. } => {
            let mut found = false;
            visit::for_each_stmt(s, |inner| found = found || has_bare_effect(inner));
            found
        }
        Stmt::Assert { .. }
        | Stmt::Print { .. }
        | Stmt::Provide { .. }
        | Stmt::Store { mask: None, .. }
        | Stmt::Call { .. }
        | Stmt::Count { .. }
        | Stmt::Launch { .. }
        | Stmt::Dispatch { .. }
        | Stmt::Barrier => true,
    }
}

/// The buffers that a statement may change or begin.
struct Changed {
    all: bool,
    buffers: Set<BufId>,
}

impl Changed {
    fn find(&mut self, s: &Stmt) {
        match s {
            Stmt::Store { buf, .. } | Stmt::Alloc { buf, .. } => drop(self.buffers.insert(*buf)),
            Stmt::Call { args, .. } => self.buffers.extend(args.iter().map(|arg| arg.buf)),
            Stmt::Provide { .. } | Stmt::Realize { .. } | Stmt::Launch { .. } | Stmt::Dispatch { .. } => {
                self.all = true
            }
            _ => {}
        }
        visit::for_each_stmt(s, |inner| self.find(inner));
    }

    fn is_load_of(&self, n: &Expr) -> bool {
        match n.kind() {
            ExprKind::Load { buf, .. } => self.all || self.buffers.contains(buf),
            ExprKind::Read { .. } => true,
            _ => false,
        }
    }
}

/// The conditions under which a statement in the body runs.
struct Guard {
    /// As far as it can be told in front of the loop.
    cond: Option<Expr>,
    /// True if there is any condition at all.
    under: bool,
}

/// The variable of a loop inside.
struct Inner {
    first: Expr,
    last: Expr,
    /// True if its values depend on the variable that is asked about.
    depends: bool,
}

struct Guards<'f> {
    /// The variable that conditions must depend on to count: what does not change with it says nothing of where it may
    /// be.
    var: Sym,
    facts: &'f Facts,
    conditions: Vec<Expr>,
    /// The values of names bound inside the body, without such names.
    definitions: Map<Sym, Expr>,
    /// The variables of loops inside.
    inner: Map<Sym, Inner>,
    /// Ranges found for them, by the number of loops further out that these may depend on: each is asked for by all
    /// further in, which ask each other, so without this there would be as many questions as paths between them.
    ranges: RefCell<Map<(Sym, u32), Interval>>,
    changed: Changed,
}

impl Guards<'_> {
    /// Adds the conditions of the effects in `s`; `None` if an effect is not guarded.
    fn collect(&mut self, s: &Stmt, guard: &Guard) -> Option<()> {
        match s {
            Stmt::Block(list) => list.iter().try_for_each(|s| self.collect(s, guard)),
            Stmt::Let { bindings, body } => {
                for (s, e) in bindings {
                    let value = self.expanded(e);
                    self.definitions.insert(*s, value);
                }
                self.collect(body, guard)
            }
            Stmt::Produce { body, .. }
            | Stmt::Atomic { body, .. }
            | Stmt::Alloc { body, .. }
            | Stmt::Realize { body, .. } => self.collect(body, guard),
            Stmt::For(l) => {
                let (min, extent) = (self.expanded(&l.min), self.expanded(&l.extent));
                let last = build::offset(build::add(min.clone(), extent), -1);
                let depends = self.depends(&min) || self.depends(&last);
                self.inner.insert(Sym::Loop(l.id), Inner { first: min, last, depends });
                self.ranges.borrow_mut().retain(|(s, _), _| *s != Sym::Loop(l.id));
                self.collect(&l.body, guard)
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.expanded(cond);
                let opposite = build::not(cond.clone());
                self.collect(then, &self.both(guard, &cond))?;
                self.collect(otherwise, &self.both(guard, &opposite))
            }
            Stmt::Store { mask: Some(mask), .. } => {
                let all = self.both(guard, &self.expanded(mask));
                self.add(&all)
            }
            Stmt::Free { .. } | Stmt::Prefetch { .. } | Stmt::Reside { .. } => Some(()),
            Stmt::Assert { .. }
            | Stmt::Print { .. }
            | Stmt::Provide { .. }
            | Stmt::Store { mask: None, .. }
            | Stmt::Call { .. }
            | Stmt::Count { .. }
            | Stmt::Launch { .. }
            | Stmt::Dispatch { .. }
            | Stmt::Barrier => self.add(guard),
        }
    }

    fn add(&mut self, guard: &Guard) -> Option<()> {
        let cond = guard.cond.as_ref()?;
        if !self.conditions.contains(cond) {
            self.conditions.push(cond.clone());
        }
        (self.conditions.len() <= MOST_GUARDS).then_some(())
    }

    /// Returns true if a value may change with the variable that is asked about.
    fn depends(&self, e: &Expr) -> bool {
        any_node(e, |n| match n.kind() {
            ExprKind::Sym(s) => *s == self.var || self.inner.get(s).is_some_and(|inner| inner.depends),
            _ => false,
        })
    }

    fn expanded(&self, e: &Expr) -> Expr {
        visit::substitute(e, &|s| self.definitions.get(&s).cloned())
    }

    fn both(&self, guard: &Guard, cond: &Expr) -> Guard {
        let cond = self.outside(cond, guard.under);
        let cond = match (&guard.cond, cond) {
            (Some(a), Some(b)) => Some(build::and(a.clone(), b)),
            (a, b) => b.or_else(|| a.clone()),
        };
        Guard { cond, under: true }
    }

    /// A condition (scalar) on the variable that follows from `cond` in any lane and can be asked in front of the loop;
    /// `None` if there is none to be told.
    fn outside(&self, cond: &Expr, under: bool) -> Option<Expr> {
        if !self.depends(cond) {
            return None;
        }
        match cond.kind() {
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => return self.outside(a, under),
            ExprKind::Binary(BinOp::BitAnd, a, b) => {
                return match (self.outside(a, under), self.outside(b, under)) {
                    (Some(a), Some(b)) => Some(build::and(a, b)),
                    (a, b) => a.or(b),
                };
            }
            ExprKind::Binary(BinOp::BitOr, a, b) => {
                return Some(build::or(self.outside(a, under)?, self.outside(b, under)?));
            }
            _ => {}
        }
        let cond = &lanes::reduce_if_vector(BinOp::BitOr, cond);
        let stays = |n: &Expr| self.changed.is_load_of(n) || under && matches!(n.kind(), ExprKind::Load { .. });
        let is_inner = |n: &Expr| matches!(n.kind(), ExprKind::Sym(s) if self.inner.contains_key(s));
        match (any_node(cond, stays), any_node(cond, is_inner)) {
            (true, _) => None,
            (false, false) => Some(cond.clone()),
            (false, true) => self.for_some_inner(cond),
        }
    }

    /// Returns the range of the variable of a loop inside, in terms of what is outside.
    fn range(&self, s: Sym, deep: u32) -> Option<Interval> {
        let Inner { first, last, .. } = self.inner.get(&s)?;
        if deep == 0 {
            return Some(Interval::everything());
        }
        if let Some(known) = self.ranges.borrow().get(&(s, deep)) {
            return Some(known.clone());
        }
        let of = |e: &Expr| interval_of(e, &|s| self.range(s, deep - 1), self.facts);
        let found = Interval { min: of(first).min, max: of(last).max };
        self.ranges.borrow_mut().insert((s, deep), found.clone());
        Some(found)
    }

    /// A comparison that holds if `cond` does for any values of the variables of loops inside.
    fn for_some_inner(&self, cond: &Expr) -> Option<Expr> {
        let ExprKind::Binary(op, a, b) = cond.kind() else { return None };
        let whole = |t: Type| t == Type::INDEX || t.lanes == 1 && matches!(t.elem, Elem::Data(ty) if ty.is_int());
        if !op.is_comparison() || !whole(a.ty()) {
            return None;
        }
        let difference = build::sub(build::to_index(a.clone()), build::to_index(b.clone()));
        let Interval { min, max } =
            interval_of(&simplify(&difference, self.facts), &|s| self.range(s, MOST_NESTED_GUARDS), self.facts);
        match op {
            BinOp::Lt => Some(build::lt(min?, build::int(0))),
            BinOp::Le => Some(build::le(min?, build::int(0))),
            BinOp::Gt => Some(build::gt(max?, build::int(0))),
            BinOp::Ge => Some(build::ge(max?, build::int(0))),
            BinOp::Eq => match (min, max) {
                (Some(min), Some(max)) => {
                    Some(build::and(build::le(min, build::int(0)), build::ge(max, build::int(0))))
                }
                (Some(min), None) => Some(build::le(min, build::int(0))),
                (None, max) => Some(build::ge(max?, build::int(0))),
            },
            _ => None,
        }
    }
}
