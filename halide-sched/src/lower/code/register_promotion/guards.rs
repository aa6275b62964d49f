//! Conditions around statements, as a tree: conditions inside of others are below them.

use halide_ir::hash::Map;
use halide_ir::{Expr, build};

/// A condition, and the arm that is meant.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Condition {
    pub cond: Expr,
    pub holds: bool,
}

/// The conditions from the outermost to one of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct GuardId(usize);

/// All conditions of some code.
#[derive(Default)]
pub(super) struct Guards {
    all: Vec<(GuardId, Condition)>,
    known: Map<(GuardId, Condition), GuardId>,
}

impl Condition {
    /// True where code in the arm runs.
    pub(super) fn truth(&self) -> Expr {
        if self.holds { self.cond.clone() } else { build::not(self.cond.clone()) }
    }
}

impl Guards {
    /// No conditions.
    pub(super) const NONE: GuardId = GuardId(0);

    /// The conditions of `parent` and one more; equal ones have one name.
    pub(super) fn under(&mut self, parent: GuardId, condition: Condition) -> GuardId {
        *self.known.entry((parent, condition)).or_insert_with_key(|key| {
            self.all.push(key.clone());
            GuardId(self.all.len())
        })
    }
    /// The conditions that both have, from the outermost on.
    pub(super) fn common(&self, a: GuardId, b: GuardId) -> GuardId {
        let (mut a, mut b) = (a, b);
        // Conditions have greater names than those around them.
        while a != b {
            match a.0 > b.0 {
                true => a = self.parent(a),
                false => b = self.parent(b),
            }
        }
        a
    }
    /// The conditions around the outermost one that `changes`.
    pub(super) fn stable(&self, guard: GuardId, changes: impl Fn(&Expr) -> bool) -> GuardId {
        let mut stable = guard;
        let mut at = guard;
        while at != Guards::NONE {
            let (parent, condition) = &self.all[at.0 - 1];
            if changes(&condition.cond) {
                stable = *parent;
            }
            at = *parent;
        }
        stable
    }
    /// The conditions, the outermost first.
    pub(super) fn conditions(&self, guard: GuardId) -> Vec<Condition> {
        let mut list = Vec::new();
        let mut at = guard;
        while at != Guards::NONE {
            let (parent, condition) = &self.all[at.0 - 1];
            list.push(condition.clone());
            at = *parent;
        }
        list.reverse();
        list
    }
    fn parent(&self, guard: GuardId) -> GuardId {
        guard.0.checked_sub(1).map_or(Guards::NONE, |at| self.all[at].0)
    }
}
