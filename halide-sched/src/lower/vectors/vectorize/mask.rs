//! Conditions that become masks, and are evaluated again by every statement that they guard.

use halide_ir::hash::Set;
use halide_ir::visit;
use halide_ir::{BufId, Expr, ExprKind, Stmt};

/// Returns true if `cond` is evaluated after a store to what it loads, where every expression in `guarded`, which run
/// one after the other, evaluates it.
pub(super) fn is_asked_after_a_change(cond: &Expr, guarded: [&Stmt; 2]) -> bool {
    let mut loaded = Set::default();
    visit::for_each_node(cond, &mut |n| {
        if let ExprKind::Load { buf, .. } = n.kind() {
            loaded.insert(*buf);
        }
    });
    let mut order = Order { loaded, changed: false, asked: false };
    if !order.loaded.is_empty() {
        guarded.into_iter().for_each(|s| order.run(s));
    }
    order.asked
}

/// Statements in the order in which they run.
struct Order {
    loaded: Set<BufId>,
    /// True once a buffer that the condition loads from has changed.
    changed: bool,
    /// True once the condition has been evaluated since.
    asked: bool,
}

impl Order {
    fn run(&mut self, s: &Stmt) {
        match s {
            Stmt::Block(list) => list.iter().for_each(|s| self.run(s)),
            Stmt::Let { bindings, body } => {
                self.asked |= self.changed && !bindings.is_empty();
                self.run(body);
            }
            Stmt::For(l) => {
                let before = self.changed;
                self.asked |= before;
                self.run(&l.body);
                // The next iteration evaluates it before the same stores.
                self.asked |= self.changed && !before;
            }
            Stmt::Store { buf, .. } => {
                self.asked |= self.changed;
                self.changed |= self.loaded.contains(buf);
            }
            other => {
                self.asked |= self.changed;
                visit::for_each_stmt(other, |inner| self.run(inner));
            }
        }
    }
}
