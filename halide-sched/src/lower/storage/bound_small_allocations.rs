//! Constant allocation sizes: gives small storage a size that is known when compiling.
//!
//! Before: `Stage::Bounded`, or `Flat` and later. After: the same stage. An extent of a realization that has a small
//! constant upper bound is that bound, so that strides are constants and the allocation may live on the stack; an
//! allocation whose count has a constant upper bound carries it.
//!
//! In a kernel every size with a constant bound is constant.
//! The storage grows to its bound; it is looked for under the ranges of the loops and the values of the names around.
//!
//! Example:
//! ```text
//! for y#L1 from 0 extent out#b2.extent0 {
//!   realize f#f0 [y#L1 extent min(out#b2.extent0 - y#L1, 4)] {
//!     provide f#f0(y#L1): f#b1 = 1u8
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 0 extent out#b2.extent0 {
//!   realize f#f0 [y#L1 extent 4] {
//!     provide f#f0(y#L1): f#b1 = 1u8
//!   }
//! }
//! ```

use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::{MOST_BOUNDED_ELEMENTS, SMALL_BYTES, TINY_BYTES};
use halide_core::ids::FuncId;
use halide_ir::{BufferInfo, Expr, ForKind, Program, Stmt, build};
use halide_solve::simplify::{BoundQuery, Facts};

/// Bounds the sizes of realizations and allocations by constants. `facts` holds what is known of arguments.
pub fn bound_small_allocations(program: Program, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    walk::map_body(program, |body, program| {
        let (in_loop, in_kernel) = (false, false);
        statement(&mut Bound { program, facts: facts.clone(), trace, in_loop, in_kernel }, body)
    })
}

struct Bound<'p> {
    program: &'p Program,
    facts: Facts,
    trace: &'p mut LoweringTrace,
    /// Outside of all loops, sizes are those of whole images, and looking for bounds would be in vain.
    in_loop: bool,
    /// In kernels, every size must have a constant bound.
    in_kernel: bool,
}

fn statement(cx: &mut Bound<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Realize { func, bounds, when, body } => {
            let bounds = realization(cx, func, bounds);
            Stmt::Realize { func, bounds, when, body: Box::new(statement(cx, *body)) }
        }
        Stmt::Alloc { buf, count, constant, body } => {
            let bound = largest(cx, &count, MOST_BOUNDED_ELEMENTS).map(|n| n.max(0) as u64);
            let constant = constant.into_iter().chain(bound).min();
            Stmt::Alloc { buf, count, constant, body: Box::new(statement(cx, *body)) }
        }
        Stmt::For(ref l) if l.kind == ForKind::GpuBlocks && !cx.in_kernel => {
            cx.in_kernel = true;
            let made = statement(cx, s);
            cx.in_kernel = false;
            made
        }
        Stmt::For(_) if !cx.in_loop => {
            cx.in_loop = true;
            let made = statement(cx, s);
            cx.in_loop = false;
            made
        }
        other => walk::map_stmt_under(other, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement),
    }
}

/// A constant that an Index expression never exceeds, if in loops it is at most `limit`.
fn largest(cx: &Bound<'_>, e: &Expr, limit: i64) -> Option<i64> {
    match (build::as_int(e), cx.in_loop) {
        (Some(n), _) => Some(n),
        (None, false) => cx.facts.range(e).1,
        (None, true) => BoundQuery::difference(e, &build::int(0), &cx.facts).upper(limit),
    }
}

/// Returns true if an Index expression is never below `least`.
fn never_below(cx: &Bound<'_>, e: &Expr, least: i64) -> bool {
    match (build::as_int(e), cx.in_loop) {
        (Some(n), _) => n >= least,
        (None, false) => cx.facts.range(e).0.is_some_and(|n| n >= least),
        (None, true) => BoundQuery::difference(&build::int(0), e, &cx.facts).is_at_most(least.saturating_neg()),
    }
}

fn realization(cx: &mut Bound<'_>, func: FuncId, bounds: Vec<(Expr, Expr)>) -> Vec<(Expr, Expr)> {
    let buffers = &cx.program.func_buffers[func];
    let info: &BufferInfo = &cx.program.buffers[buffers[0]];
    let bytes = buffers.iter().map(|b| cx.program.buffers[*b].elem.bytes() as i64).max().unwrap_or(1);
    let limit = if cx.in_kernel { MOST_BOUNDED_ELEMENTS } else { SMALL_BYTES / bytes };
    let largest: Vec<Option<i64>> = (0..info.dims)
        .map(|d| info.fold[d].or_else(|| largest(cx, &bounds[d].1, limit).map(|most| most.max(0))))
        .collect();
    let total = largest.iter().try_fold(bytes, |product, most| product.checked_mul((*most)?));
    let is_never_below = |d: usize, least: i64| info.fold[d].is_some() || never_below(cx, &bounds[d].1, least);
    // Whether no extent is ever less than half of the largest.
    let close = || (0..info.dims).all(|d| largest[d].is_some_and(|most| is_never_below(d, most / 2)));
    let all = total.is_some_and(|n| n <= TINY_BYTES || n <= SMALL_BYTES && (cx.in_kernel || close()));
    // A large one does not grow: only what is constant whatever the arguments is written as a constant.
    let constant = |d: usize| {
        let most = largest[d].filter(|_| info.fold[d].is_none())?;
        (all || is_never_below(d, most)).then_some(most)
    };
    let constants: Vec<Option<i64>> = (0..info.dims).map(constant).collect();
    let mut fixed = Vec::new();
    let made = bounds
        .into_iter()
        .enumerate()
        .map(|(d, (min, extent))| match constants[d] {
            Some(n) => {
                if build::as_int(&extent).is_none() {
                    fixed.push(format!("{n} in dimension {d}"));
                }
                (min, build::int(n))
            }
            None => (min, extent),
        })
        .collect();
    if !fixed.is_empty() {
        cx.trace.did(info.name.clone(), format!("stored with a constant extent of {}", fixed.join(", ")));
    }
    made
}
