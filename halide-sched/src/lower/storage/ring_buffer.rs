//! Ring buffers: several copies of a Func's storage, which the iterations of the loop that it is stored in take in
//! turn.
//!
//! Before and after: `Stage::Bounded`, every symbol bound once. Where a schedule asks for it (`ring_buffer`), the
//! buffers of a Func have a dimension more, behind all others, for the number of the copy, which is the number of the
//! iteration modulo that of the copies. `hoist_storage` then moves the storage out of the loop, so that a copy lives on
//! while the next one is written; `fork_producers` makes use of that.
//!
//! Example, of `f` with two copies:
//! ```text
//! for y#L1 from 1 extent 8 {
//!   realize f#f0 [y#L1 extent 2] {
//!     provide f#f0(y#L1): f#b1 = in#b0(y#L1)
//!     provide out#f1(y#L1): out#b2 = f#b1(y#L1)
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 1 extent 8 {
//!   realize f#f0 [y#L1 extent 2] [0 extent 2] {
//!     provide f#f0(y#L1, (y#L1 - 1) % 2): f#b1 = in#b0(y#L1)
//!     provide out#f1(y#L1): out#b2 = f#b1(y#L1, (y#L1 - 1) % 2)
//!   }
//! }
//! ```

use crate::lower::walk;
use crate::plan::Plan;
use halide_core::ids::FuncId;
use halide_core::types::ScalarType;
use halide_ir::hash::Map;
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, For, Program, Stmt, build};
use std::collections::BTreeMap;

/// The Funcs that have copies of their storage, with the number of these.
pub type Rings = BTreeMap<FuncId, i64>;

/// Returns the Funcs of a plan that have copies of their storage.
pub fn rings(plan: &Plan) -> Rings {
    plan.funcs.enumerate().filter_map(|(id, f)| Some((id, f.ring?))).collect()
}

/// Adds the dimension of the copies to the buffers of Funcs, and to what accesses them.
pub fn ring_buffer(program: Program, rings: &Rings) -> Program {
    if rings.is_empty() {
        return program;
    }
    walk::map_body(program, |body, program| {
        let mut buffers = Map::default();
        for func in rings.keys() {
            for &buf in &program.func_buffers[*func] {
                let info = &mut program.buffers[buf];
                info.order.push(info.dims);
                info.align.push(1);
                info.fold.push(None);
                info.dims += 1;
                buffers.insert(buf, (*func, info.elem));
            }
        }
        statement(&mut Ring { rings, buffers, copies: Map::default(), iteration: build::int(0) }, body)
    })
}

struct Ring<'r> {
    rings: &'r Rings,
    /// The buffers of these Funcs, with their elements.
    buffers: Map<BufId, (FuncId, ScalarType)>,
    /// The number of the copy that is used inside of a realization.
    copies: Map<FuncId, Expr>,
    /// The number of the iteration of the innermost loop.
    iteration: Expr,
}

impl Ring<'_> {
    /// The number of the copy of a buffer that is used here, if there are several.
    fn copy_of(&self, buf: BufId) -> Option<Expr> {
        let (func, _) = self.buffers.get(&buf)?;
        self.copies.get(func).cloned()
    }
}

fn statement(cx: &mut Ring<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::For(l) => {
            let For { id, kind, min, extent, condition, body } = *l;
            let (min, extent) = (expression(cx, &min), expression(cx, &extent));
            let condition = condition.map(|e| expression(cx, &e));
            let number = build::sub(build::loop_var(id), min.clone());
            let around = std::mem::replace(&mut cx.iteration, number);
            let body = visit::deep(|| statement(cx, body));
            cx.iteration = around;
            build::loop_of(For { id, kind, min, extent, condition, body })
        }
        Stmt::Realize { func, bounds, when, body } if let Some(&count) = cx.rings.get(&func) => {
            let ends = |cx: &Ring<'_>, (min, extent): &(Expr, Expr)| (expression(cx, min), expression(cx, extent));
            let mut bounds: Vec<(Expr, Expr)> = bounds.iter().map(|b| ends(cx, b)).collect();
            bounds.push((build::int(0), build::int(count)));
            let when = when.map(|when| expression(cx, &when));
            let copy = build::rem(cx.iteration.clone(), build::int(count));
            let around = cx.copies.insert(func, copy);
            let body = statement(cx, *body);
            match around {
                Some(around) => cx.copies.insert(func, around),
                None => cx.copies.remove(&func),
            };
            Stmt::Realize { func, bounds, when, body: Box::new(body) }
        }
        Stmt::Provide { func, args, values, mask } if let Some(copy) = cx.copies.get(&func) => {
            let mut args: Vec<Expr> = args.iter().map(|e| expression(cx, e)).collect();
            args.push(copy.clone());
            let values = values.iter().map(|(buf, value)| (*buf, expression(cx, value))).collect();
            let mask = mask.map(|mask| expression(cx, &mask));
            Stmt::Provide { func, args, values, mask }
        }
        Stmt::Prefetch { buf, at, cache } if let Some(copy) = cx.copy_of(buf) => {
            let at = at.iter().map(|e| expression(cx, e)).chain([copy]).collect();
            Stmt::Prefetch { buf, at, cache }
        }
        other => walk::map_stmt(other, cx, |cx, e| expression(cx, e), statement),
    }
}

fn expression(cx: &Ring<'_>, e: &Expr) -> Expr {
    Memo::new().rewrite(e, |e, done| match e.kind() {
        ExprKind::Read { buf, args } if let Some((_, elem)) = cx.buffers.get(buf) => {
            build::read(*buf, *elem, args.iter().map(done).chain(cx.copy_of(*buf)).collect())
        }
        _ => visit::map_children(e, done),
    })
}
