//! Gives small storage a size that is known when compiling.
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

use super::trace::LoweringTrace;
use super::walk;
use crate::bounds::upper_difference;
use crate::ir::{BufferInfo, Expr, ForKind, Program, Stmt, build};
use crate::simplify::Facts;
use halide_core::ids::FuncId;

/// A realization of at most this many bytes gets constant extents, if the bounds are close.
const SMALL_BYTES: i64 = 128 << 10;
/// And one of at most this many if they are not.
const TINY_BYTES: i64 = 8 << 10;
/// No constant beyond this is of use: it fits no stack and no kernel.
const MOST: i64 = 1 << 24;

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
        Stmt::Realize { func, bounds, body } => {
            let bounds = realization(cx, func, bounds);
            Stmt::Realize { func, bounds, body: Box::new(statement(cx, *body)) }
        }
        Stmt::Alloc { buf, count, constant, body } => {
            let bound = largest(cx, &count, MOST).map(|n| n.max(0) as u64);
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
        (None, true) => upper_difference(e, &build::int(0), &cx.facts, limit),
    }
}

/// A constant that an Index expression is never below, if it is at least `limit`.
fn smallest(cx: &Bound<'_>, e: &Expr, limit: i64) -> Option<i64> {
    match (build::as_int(e), cx.in_loop) {
        (Some(n), _) => Some(n),
        (None, false) => cx.facts.range(e).0,
        (None, true) => upper_difference(&build::int(0), e, &cx.facts, limit.saturating_neg()).map(i64::saturating_neg),
    }
}

fn realization(cx: &mut Bound<'_>, func: FuncId, bounds: Vec<(Expr, Expr)>) -> Vec<(Expr, Expr)> {
    let buffers = &cx.program.func_buffers[func];
    let info: &BufferInfo = &cx.program.buffers[buffers[0]];
    let bytes = buffers.iter().map(|b| cx.program.buffers[*b].elem.bytes() as i64).max().unwrap_or(1);
    // Of each dimension: the largest extent, whether it is always that, and whether it is never less than half of it.
    let limit = if cx.in_kernel { MOST } else { SMALL_BYTES / bytes };
    let known: Vec<Option<(i64, bool, bool)>> = (0..info.dims)
        .map(|d| match info.fold[d] {
            Some(factor) => Some((factor, true, true)),
            None => {
                let most = largest(cx, &bounds[d].1, limit)?;
                let least = smallest(cx, &bounds[d].1, most / 2);
                Some((most.max(0), least == Some(most), least.is_some_and(|least| least >= most / 2)))
            }
        })
        .collect();
    let total = known.iter().try_fold(bytes, |product, k| product.checked_mul((*k)?.0));
    let close = known.iter().all(|k| k.is_some_and(|(.., close)| close));
    let all = total.is_some_and(|n| n <= if close || cx.in_kernel { SMALL_BYTES } else { TINY_BYTES });
    let mut fixed = Vec::new();
    let made = bounds
        .into_iter()
        .enumerate()
        .map(|(d, (min, extent))| match known[d] {
            // A large one does not grow: only what is constant whatever the arguments is written as a constant.
            Some((n, exact, _)) if info.fold[d].is_none() && (all || exact) => {
                if build::as_int(&extent).is_none() {
                    fixed.push(format!("{n} in dimension {d}"));
                }
                (min, build::int(n))
            }
            _ => (min, extent),
        })
        .collect();
    if !fixed.is_empty() {
        cx.trace.did(info.name.clone(), format!("stored with a constant extent of {}", fixed.join(", ")));
    }
    made
}
