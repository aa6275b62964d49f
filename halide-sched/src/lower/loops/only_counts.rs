//! A program that counts and does nothing else.
//!
//! Before: `Stage::Bounded` with `Count` statements. After: the same counts in the same loops, all of them serial, and
//! no storage, definitions, prints or prefetches; checks of data are gone. `None` where a count depends on what a
//! definition stores, since then somebody has to store it.
//!
//! The counts of a run are so known without the work of the run.
//!
//! Example:
//! ```text
//! count c1 += max(out#b2.extent0, 0)
//! realize f#f0 [0 extent out#b2.extent0] {
//!   parallel x#L0 from 0 extent out#b2.extent0 {
//!     count c0 += 1
//!     provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!   }
//! }
//! ```
//! becomes
//! ```text
//! count c1 += max(out#b2.extent0, 0)
//! for x#L0 from 0 extent out#b2.extent0 {
//!   count c0 += 1
//! }
//! ```

use halide_ir::visit::{any_node, for_each_expr, map_stmt, nested};
use halide_ir::{BufferRole, Expr, ExprKind, For, ForKind, Program, Stmt, build};

/// Drops all but counts, and what decides how often they are come to.
pub fn only_counts(mut program: Program) -> Option<Program> {
    let body = std::mem::replace(&mut program.body, build::nothing());
    let body = kept(body);
    let alone = stands_alone(&program, &body);
    program.body = body;
    alone.then_some(program)
}

fn kept(s: Stmt) -> Stmt {
    match s {
        Stmt::Realize { body, .. } | Stmt::Produce { body, .. } => kept(*body),
        Stmt::Provide { .. } | Stmt::Atomic { .. } | Stmt::Print { .. } | Stmt::Prefetch { .. } => build::nothing(),
        Stmt::Call { .. } => build::nothing(),
        Stmt::Assert { ref cond, ref args, .. } => {
            let of_data = std::iter::once(cond).chain(args).any(|e| any_node(e, is_read));
            if of_data { build::nothing() } else { s }
        }
        Stmt::For(l) => {
            let For { id, min, extent, body, .. } = *l;
            let body = kept(body);
            if is_empty(&body) { body } else { build::for_loop(id, ForKind::Serial, min, extent, body) }
        }
        Stmt::Let { bindings, body } => {
            let body = kept(*body);
            if is_empty(&body) { body } else { build::let_in(bindings, body) }
        }
        Stmt::If { cond, then, otherwise } => {
            let (then, otherwise) = (kept(*then), kept(*otherwise));
            if is_empty(&then) && is_empty(&otherwise) { then } else { build::if_else(cond, then, otherwise) }
        }
        other => map_stmt(other, Expr::clone, kept),
    }
}

fn is_empty(s: &Stmt) -> bool {
    matches!(s, Stmt::Block(list) if list.is_empty())
}

fn is_read(e: &Expr) -> bool {
    matches!(e.kind(), ExprKind::Read { .. } | ExprKind::Load { .. })
}

/// Returns true if nothing in a statement reads what a definition stores.
fn stands_alone(program: &Program, s: &Stmt) -> bool {
    let mut alone = true;
    let is_given = |e: &Expr| match e.kind() {
        ExprKind::Read { buf, .. } | ExprKind::Load { buf, .. } => {
            matches!(program.buffers[*buf].role, BufferRole::Input(_))
        }
        _ => true,
    };
    for_each_expr(s, |e| alone = alone && !any_node(e, |e| !is_given(e)));
    alone && nested(s).all(|inner| stands_alone(program, inner))
}
