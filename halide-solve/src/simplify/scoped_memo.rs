//! Simplified expressions by the facts that they were simplified under, for as long as anyone knows the same facts.
//!
//! Passes come by the same places one after the other: they bind the same lets and loops and learn the same conditions,
//! and what they find there was mostly simplified by the pass before. What is known at a place is a number here, the
//! same for all who learned the same, in the same order, from the same beginning.

use halide_ir::hash::{Map, begin};
use halide_ir::{BufId, Expr, LoopId, Sym};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Something that was learned.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    Let(Sym, Expr),
    Loop(LoopId, Expr, Expr),
    Holds(Expr),
    Range(Expr, Option<i64>, Option<i64>),
    Congruence(Expr, i64, i64),
    Floats(Expr, u64, u64),
    Elements(BufId, Option<i128>, Option<i128>),
    Coordinates(BufId, BufId, usize),
    Grows(BufId, usize),
    Scalar(BufId),
}

/// All that is known at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct State(u32);

/// Shared by all clones of one [`super::Facts`].
#[derive(Clone, Default)]
pub(super) struct Memory(Rc<Shared>);

#[derive(Default)]
struct Shared {
    tables: RefCell<Tables>,
    /// Counts expressions that were looked at.
    visits: Cell<u64>,
}

#[derive(Default)]
struct Tables {
    /// The state that follows another when a fact is learned.
    next: Map<(State, Fact), State>,
    /// Expressions and what they are simplified; the latter as well, to themselves.
    simple: Map<(State, Expr), Expr>,
}

impl Memory {
    /// Counts a visit of an expression.
    pub(super) fn count_visit(&self) {
        self.0.visits.set(self.0.visits.get() + 1);
    }
    /// The visits so far.
    pub(super) fn visits(&self) -> u64 {
        self.0.visits.get()
    }
    /// Returns the state after `fact` is learned in `state`.
    pub(super) fn after(&self, state: State, fact: Fact) -> State {
        let mut tables = self.0.tables.borrow_mut();
        begin(&mut tables.next, 200);
        let new = State(tables.next.len() as u32 + 1);
        *tables.next.entry((state, fact)).or_insert(new)
    }
    /// Returns the simplified form of `e` in `state`, if it was kept.
    pub(super) fn simple(&self, state: State, e: &Expr) -> Option<Expr> {
        self.0.tables.borrow().simple.get(&(state, e.clone())).cloned()
    }
    /// Keeps what `e` is simplified in `state`.
    pub(super) fn keep(&self, state: State, e: &Expr, simple: &Expr) {
        let mut tables = self.0.tables.borrow_mut();
        begin(&mut tables.simple, 200);
        if e != simple {
            tables.simple.insert((state, e.clone()), simple.clone());
        }
        tables.simple.insert((state, simple.clone()), simple.clone());
    }
}

#[cfg(test)]
mod tests {
    use crate::simplify::{Facts, simplify};
    use halide_ir::build::*;
    use halide_ir::{LoopId, Sym};

    /// Clones that learn the same know each other's results; what is learned besides, or is no longer known, tells them
    /// apart.
    #[test]
    fn results_stay_with_what_is_known() {
        let (x, n) = (loop_var(LoopId(0)), sym(Sym::Temp(0)));
        let e = min(x.clone(), int(7));
        let facts = Facts::new();
        let (mut small, mut large) = (facts.clone(), facts.clone());
        small.push_scope();
        small.bind_loop(LoopId(0), &int(0), &int(8));
        assert_eq!(simplify(&e, &small), x);
        large.push_scope();
        large.bind_loop(LoopId(0), &int(0), &n);
        assert_eq!(simplify(&e, &large), e);
        large.push_scope();
        large.learn(&lt(x.clone(), int(8)));
        assert_eq!(simplify(&e, &large), x);
        large.pop_scope();
        assert_eq!(simplify(&e, &large), e);
        small.pop_scope();
        assert_eq!(simplify(&e, &small), e);
    }
}
