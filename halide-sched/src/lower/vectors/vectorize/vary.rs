//! The symbols and allocations that differ between the lanes of a loop that is to become vectors.

use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{BufId, Expr, ExprKind, For, Stmt, Sym};

/// The symbols and allocations of a loop body that differ between iterations, and what the body does with memory.
#[derive(Default)]
pub(super) struct Varying {
    /// Symbols with a value per lane.
    syms: Set<Sym>,
    /// Allocations inside the body that hold something else in every iteration: each lane needs its own.
    pub(super) per_lane: Set<BufId>,
    /// All allocations inside the body.
    pub(super) inner: Set<BufId>,
    /// Buffers that the body loads from.
    pub(super) loaded: Set<BufId>,
    /// The results of `expr`, by expression.
    memo: Map<Expr, bool>,
}

impl Varying {
    /// Finds the symbols and allocations that vary with the variable of `l`.
    pub(super) fn of(l: &For) -> Varying {
        let mut varying = Varying::default();
        varying.syms.insert(Sym::Loop(l.id));
        survey(&l.body, &mut varying);
        // What a statement stores may reach an earlier one through memory, hence the repetition.
        loop {
            let known = varying.syms.len() + varying.per_lane.len();
            spread(&l.body, false, &mut varying);
            varying.memo.clear();
            if varying.syms.len() + varying.per_lane.len() == known {
                return varying;
            }
        }
    }

    /// Returns true if `e` differs between lanes.
    pub(super) fn expr(&mut self, e: &Expr) -> bool {
        let Varying { syms, per_lane, memo, .. } = self;
        visit::fold(e, memo, &mut |n, known| {
            let mut varies = match n.kind() {
                ExprKind::Sym(s) => syms.contains(s),
                ExprKind::Load { buf, .. } => per_lane.contains(buf),
                _ => false,
            };
            visit::for_each_child(n, |c| varies = varies || known(c));
            varies
        })
    }
}

/// Records the allocations and the loads of `s`.
fn survey(s: &Stmt, varying: &mut Varying) {
    if let Stmt::Alloc { buf, .. } = s {
        varying.inner.insert(*buf);
    }
    visit::for_each_expr(s, |e| {
        visit::for_each_node(e, &mut |n| {
            if let ExprKind::Load { buf, .. } = n.kind() {
                varying.loaded.insert(*buf);
            }
        });
    });
    visit::for_each_stmt(s, |inner| survey(inner, varying));
}

/// One round of inference. `guarded` says that not all lanes may run `s`.
fn spread(s: &Stmt, guarded: bool, varying: &mut Varying) {
    match s {
        Stmt::Let { bindings, body } => {
            for (s, e) in bindings {
                if varying.expr(e) {
                    varying.syms.insert(*s);
                }
            }
            spread(body, guarded, varying);
        }
        Stmt::For(l) => {
            if varying.expr(&l.min) {
                varying.syms.insert(Sym::Loop(l.id));
            }
            let guarded = guarded || varying.expr(&l.extent);
            spread(&l.body, guarded, varying);
        }
        Stmt::If { cond, then, otherwise } => {
            let guarded = guarded || varying.expr(cond);
            spread(then, guarded, varying);
            spread(otherwise, guarded, varying);
        }
        Stmt::Store { buf, index, value, mask } => {
            let varies =
                guarded || varying.expr(index) || varying.expr(value) || mask.as_ref().is_some_and(|m| varying.expr(m));
            if varies && varying.inner.contains(buf) {
                varying.per_lane.insert(*buf);
            }
        }
        _ => visit::for_each_stmt(s, |inner| spread(inner, guarded, varying)),
    }
}
