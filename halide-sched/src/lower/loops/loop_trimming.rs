//! Loop trimming: shrinks loops to the iterations that have effects.
//!
//! Before: `Stage::Shaped`. After: the same; a serial or parallel loop all of whose effects are guarded by conditions
//! on its variable runs only from the first to the last value for which one of them may hold. The first and the last
//! value may depend on loops around (triangles), and on data that stays the same while the loop runs (ragged rows), but
//! for loops of kernels, whose grids are boxes. Of variables of loops inside, those values count that admit most.
//!
//! The guards stay: where the new range implies them, simplification removes them.
//!
//! Example:
//! ```text
//! for x#L0 from 0 extent 100 {
//!   if 2 * x#L0 < out#b2.extent0 {
//!     out#b2[x#L0] = 1u8
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for x#L0 from 0 extent min((out#b2.extent0 + 1) / 2, 100) {
//!   if 2 * x#L0 < out#b2.extent0 {
//!     out#b2[x#L0] = 1u8
//!   }
//! }
//! ```

use crate::lower::nests::guards::guards;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::MOST_TRIMMED_CONDITIONS;
use halide_ir::hash::Set;
use halide_ir::visit::any_node;
use halide_ir::{Expr, ExprKind, For, ForKind, Program, Stmt, Sym, build};
use halide_solve::bounds::{Interval, solve_outer};
use halide_solve::simplify::{Facts, simplify};

/// Shrinks loops whose bodies are guarded. `facts` holds what is known of arguments.
pub fn loop_trimming(program: Program, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    // Nothing to do, and no need to learn what holds where.
    if !walk::any_stmt(&program.body, &mut |s| matches!(s, Stmt::If { .. } | Stmt::Store { mask: Some(_), .. })) {
        return program;
    }
    let facts = facts.clone();
    walk::map_body(program, |body, program| statement(&mut Trim { program, facts, trace, in_kernel: false }, body))
}

struct Trim<'p> {
    program: &'p Program,
    facts: Facts,
    trace: &'p mut LoweringTrace,
    /// True if the loops at hand are those of a kernel.
    in_kernel: bool,
}

fn statement(cx: &mut Trim<'_>, s: Stmt) -> Stmt {
    let outside = cx.in_kernel;
    let s = match s {
        Stmt::For(l) => {
            cx.in_kernel |= l.kind.is_gpu();
            trimmed(cx, *l)
        }
        other => other,
    };
    let s = walk::map_stmt_under(s, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement);
    cx.in_kernel = outside;
    s
}

fn trimmed(cx: &mut Trim<'_>, l: For) -> Stmt {
    // An iteration over lanes is the lane that runs it.
    if l.kind == ForKind::GpuLanes {
        return Stmt::For(Box::new(l));
    }
    let Some(found) = needed(cx, &l).filter(|i| *i != Interval::everything()) else {
        return Stmt::For(Box::new(l));
    };
    let varies = |e: &Expr| any_node(e, |n| matches!(n.kind(), ExprKind::Sym(Sym::Loop(_))));
    if l.kind.is_gpu() && [&found.min, &found.max].into_iter().flatten().any(varies) {
        return Stmt::For(Box::new(l));
    }
    let For { id, kind, min, extent, condition, body } = l;
    let end = build::add(min.clone(), extent);
    let first = found.min.map_or(min.clone(), |first| build::max(first, min));
    let last = found.max.map_or(end.clone(), |last| build::min(build::offset(last, 1), end));
    let extent = simplify(&build::sub(last, first.clone()), &cx.facts);
    cx.trace.did(cx.program.loops[id].with_case(), "shrunk to the iterations that store something");
    let min = simplify(&first, &cx.facts);
    build::loop_of(For { id, kind, min, extent, condition, body })
}

/// An interval of the variable of `l` outside of which the body does nothing.
fn needed(cx: &mut Trim<'_>, l: &For) -> Option<Interval> {
    cx.facts.push_scope();
    cx.facts.bind_loop(l.id, &l.min, &l.extent);
    // In kernels, coordinates that are data are kept near by other means.
    let var = Sym::Loop(l.id);
    let found = guards(&l.body, var, !cx.in_kernel, &cx.facts).and_then(|conditions| hull(conditions, var, &cx.facts));
    cx.facts.pop_scope();
    found
}

/// An interval outside of which no condition holds. Each is solved by itself: a block that is written out has one for
/// each of its vectors, which together are more than one question may be about.
fn hull(mut conditions: Vec<Expr>, var: Sym, facts: &Facts) -> Option<Interval> {
    let mut seen = Set::default();
    conditions.retain(|c| seen.insert(c.clone()));
    if conditions.len() > MOST_TRIMMED_CONDITIONS {
        return solve_outer(&conditions.into_iter().reduce(build::or)?, var, facts);
    }
    let mut all: Option<Interval> = None;
    for condition in conditions {
        let own = solve_outer(&condition, var, facts)?;
        all = Some(all.map_or(own.clone(), |all| all.union(&own, facts)));
    }
    all
}
