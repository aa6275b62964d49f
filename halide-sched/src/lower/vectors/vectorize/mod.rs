//! Vectorization: turns vectorized loops into vector expressions, under masks where tails need them.
//!
//! Before: `Stage::Flat`. After: `Stage::Shaped`; the loop variable has become a ramp, what depends on it is a vector
//! with a lane per iteration, and what does not stays scalar.
//!
//! - A name for a value that varies becomes a name for a vector; index arithmetic on ramps stays a ramp, so that
//!   accesses that were linear in the loop variable are dense or strided, and all others are gathers and scatters.
//! - A condition that varies becomes a mask on the stores, and on the loads, that it guards. It gets a name where what
//!   it guards changes what it reads, so that it is evaluated once, as the scalar condition was.
//! - An allocation inside the loop gets room for every lane, the lanes of one element side by side.
//! - A loop inside runs for all lanes at once; where its bounds vary, it runs as long as any lane needs.
//! - Of two nested vectorized loops, the outer one is copied out; but the inner one, if all its lanes change one
//!   element: then each lane of the outer one has an element for itself.
//! - Where all lanes change one element by an operation whose order does not matter, what they bring is combined first.
//!   Other steps that must be atomic are taken lane by lane. Floats whose order may change are combined in a tree.
//! - Where each lane combines what the one before it stored, a scan, the lanes are scanned in a few steps.
//!
//! Iterations are independent where they are vectorized (`plan` saw to it), so all lanes may run a statement before any
//! runs the next. Where the code itself shows otherwise, the loop stays serial, and the trace says why.
//!
//! Example:
//! ```text
//! vectorized x#L0 from 8 extent 4 {
//!   if x#L0 < out#b2.extent0 {
//!     out#b2[x#L0] = in#b0[x#L0 * 2] + in#b0[3]
//!   }
//! }
//! ```
//! becomes
//! ```text
//! out#b2[ramp(8, 1, 4) where ramp(8, 1, 4) < x4(out#b2.extent0)] = in#b0[ramp(16, 2, 4) where ramp(8, 1, 4) < x4(out#b2.extent0)] + x4(in#b0[3 where 8 < out#b2.extent0])
//! ```

mod body;
mod combine;
mod mask;
mod scan;
pub(super) mod step;
mod vary;

use crate::lower::loops::unroll::copies;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::{CHUNK_LANES, MOST_LANE_COPIES, MOST_VECTOR_LANES};
use halide_ir::{For, ForKind, LoopId, Program, Stage, Stmt, Sym, build, visit};
use halide_solve::simplify::Linear;

/// Replaces every vectorized loop by vector expressions.
pub fn vectorize(program: Program, trace: &mut LoweringTrace) -> Program {
    let mut program = walk::map_body(program, |body, program| statement(&mut Vectorize { program, trace }, body));
    program.stage = Stage::Shaped;
    program
}

struct Vectorize<'p> {
    program: &'p mut Program,
    trace: &'p mut LoweringTrace,
}

fn statement(cx: &mut Vectorize<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::For(l) if l.kind == ForKind::Vectorized => vectorized(cx, *l),
        other => walk::map_stmt(other, cx, |_, e| e.clone(), statement),
    }
}

fn vectorized(cx: &mut Vectorize<'_>, l: For) -> Stmt {
    let name = cx.program.loops[l.id].with_case();
    let Some(extent) = build::as_int(&l.extent) else {
        cx.trace.did_not(name, "vectorized", "its extent is not a constant");
        return serial(cx, l);
    };
    let l = For { body: without_sums(cx, l.id, l.body), ..l };
    let nested = walk::any_stmt(&l.body, &mut |s| matches!(s, Stmt::For(i) if i.kind == ForKind::Vectorized));
    if nested || extent <= 1 {
        cx.trace.did(name, format!("copied {extent} times around the vectors inside"));
        let copied = copies(l, extent, cx.program);
        return statement(cx, copied);
    }
    if extent > MOST_VECTOR_LANES {
        return chunked(cx, l, extent);
    }
    match body::widen(&l, extent as u16, cx.program) {
        Ok(made) => {
            cx.trace.did(name, format!("vectorized by {extent}"));
            made
        }
        Err(because) => {
            cx.trace.did_not(name, "vectorized", because);
            serial(cx, l)
        }
    }
}

/// The body of a vectorized loop, in which those vectorized loops are copied out that change one element for each of
/// its lanes.
fn without_sums(cx: &mut Vectorize<'_>, lanes: LoopId, body: Stmt) -> Stmt {
    let made = walk::map_stmt(body, cx, |_, e| e.clone(), |cx, s| without_sums(cx, lanes, s));
    let Stmt::For(l) = made else { return made };
    match build::as_int(&l.extent).filter(|n| *n <= MOST_LANE_COPIES) {
        Some(extent) if l.kind == ForKind::Vectorized && changes_one_element(&l, lanes) => {
            let name = cx.program.loops[l.id].with_case();
            cx.trace.did(name, format!("copied {extent} times inside the vectors around it"));
            copies(*l, extent, cx.program)
        }
        _ => Stmt::For(l),
    }
}

/// Returns true if a loop does nothing but change an element that is the same in all iterations and differs between
/// lanes.
fn changes_one_element(l: &For, lanes: LoopId) -> bool {
    let Stmt::Store { index, .. } = &l.body else { return false };
    let lane = build::loop_var(lanes);
    let has_own = Linear::of(index).terms.iter().any(|(e, factor)| *e == lane && *factor != 0);
    has_own && !visit::uses(index, Sym::Loop(l.id))
}

fn serial(cx: &mut Vectorize<'_>, l: For) -> Stmt {
    statement(cx, Stmt::For(Box::new(For { kind: ForKind::Serial, ..l })))
}

/// A loop that is too long for one vector as a serial loop over vectors.
fn chunked(cx: &mut Vectorize<'_>, l: For, extent: i64) -> Stmt {
    let lanes = (1..=CHUNK_LANES).rev().find(|n| extent % n == 0).unwrap_or(1);
    if lanes == 1 {
        let name = cx.program.loops[l.id].with_case();
        cx.trace.did_not(name, "vectorized", format!("{extent} lanes are too many and have no divisor to go by"));
        return serial(cx, l);
    }
    let chunk = cx.program.copy_loop(l.id);
    let first = build::add(l.min.clone(), build::mul(build::loop_var(chunk), build::int(lanes)));
    let inner = For { min: first, extent: build::int(lanes), ..l };
    let body = vectorized(cx, inner);
    build::for_loop(chunk, ForKind::Serial, build::int(0), build::int(extent / lanes), body)
}
