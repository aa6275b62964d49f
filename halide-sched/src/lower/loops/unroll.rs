//! Loop unrolling: copies out the bodies of unrolled loops.
//!
//! Before: `Stage::Flat`. After: `Stage::Flat` without `ForKind::Unrolled`; every copy has loops and names of its own.
//!
//! A loop whose extent is not a constant stays a serial loop, and the trace says so.
//!
//! Example:
//! ```text
//! unrolled x#L0 from 4 extent 2 {
//!   let t0 = x#L0 * 8
//!   for xi#L2 from 0 extent 8 {
//!     out#b2[t0 + xi#L2] = in#b0[t0 + xi#L2]
//!   }
//! }
//! ```
//! becomes
//! ```text
//! scope {
//!   let t4 = 32
//!   for xi#L4 from 0 extent 8 {
//!     out#b2[t4 + xi#L4] = in#b0[t4 + xi#L4]
//!   }
//! }
//! let t5 = 40
//! for xi#L5 from 0 extent 8 {
//!   out#b2[t5 + xi#L5] = in#b0[t5 + xi#L5]
//! }
//! ```

use crate::lower::loops::copy::fresh_copy;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use halide_ir::{Expr, For, ForKind, Program, Stmt, Sym, build};

/// Replaces every unrolled loop of constant extent by copies of its body.
pub fn unroll(program: Program, trace: &mut LoweringTrace) -> Program {
    walk::map_body(program, |body, program| statement(&mut Unroll { program, trace }, body))
}

struct Unroll<'p> {
    program: &'p mut Program,
    trace: &'p mut LoweringTrace,
}

fn statement(cx: &mut Unroll<'_>, s: Stmt) -> Stmt {
    match walk::map_stmt(s, cx, |_, e| e.clone(), statement) {
        Stmt::For(l) if l.kind == ForKind::Unrolled => unrolled(cx, *l),
        other => other,
    }
}

fn unrolled(cx: &mut Unroll<'_>, l: For) -> Stmt {
    let name = cx.program.loops[l.id].with_case();
    match build::as_int(&l.extent) {
        Some(extent) => {
            cx.trace.did(name, format!("unrolled by {extent}"));
            copies(l, extent, cx.program)
        }
        None => {
            cx.trace.did_not(name, "unrolled", "its extent is not a constant");
            Stmt::For(Box::new(For { kind: ForKind::Serial, ..l }))
        }
    }
}

/// The body of `l` once for each of its `extent` values.
pub(crate) fn copies(l: For, extent: i64, program: &mut Program) -> Stmt {
    let at = |i: i64| -> [(Sym, Expr); 1] { [(Sym::Loop(l.id), build::offset(l.min.clone(), i))] };
    build::block((0..extent).map(|i| fresh_copy(&l.body, &at(i), program)).collect::<Vec<_>>())
}
