//! Constant trip counts: gives vectorized and unrolled loops a number of iterations that is known when compiling.
//!
//! Before and after: `Stage::Bounded`. Where the extent of such a loop is no constant but has a constant upper bound
//! under the loops and conditions around it, the loop runs that often, and a condition inside skips what is too much. A
//! loop without such a bound is an error.
//!
//! Example:
//! ```text
//! for y#L1 from 0 extent out#b2.extent0 {
//!   vectorized x#L0 from y#L1 extent min(out#b2.extent0 - y#L1, 4) {
//!     provide out#f1(x#L0): out#b2 = 1u8
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 0 extent out#b2.extent0 {
//!   vectorized x#L0 from y#L1 extent 4 {
//!     if likely(x#L0 - y#L1) < min(out#b2.extent0 - y#L1, 4) {
//!       provide out#f1(x#L0): out#b2 = 1u8
//!     }
//!   }
//! }
//! ```

use crate::lower::error::LowerError;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::MOST_COPIES;
use halide_ir::{For, ForKind, LoopInfo, Program, Stmt, build};
use halide_solve::simplify::{BoundQuery, Facts};

/// Bounds the extents of vectorized and unrolled loops by constants. `facts` holds what is known of arguments.
///
/// # Errors
/// [`LowerError::NoConstantExtent`] for every loop that has none.
pub fn bound_loops(program: Program, facts: &Facts, trace: &mut LoweringTrace) -> Result<Program, Vec<LowerError>> {
    let mut errors = Vec::new();
    let made = walk::map_body(program, |body, program| {
        let mut cx = Bound { program, facts: facts.clone(), trace, errors: &mut errors };
        statement(&mut cx, body)
    });
    if errors.is_empty() { Ok(made) } else { Err(errors) }
}

struct Bound<'p> {
    program: &'p Program,
    facts: Facts,
    trace: &'p mut LoweringTrace,
    errors: &'p mut Vec<LowerError>,
}

fn statement(cx: &mut Bound<'_>, s: Stmt) -> Stmt {
    let s = match s {
        Stmt::For(l) if matches!(l.kind, ForKind::Vectorized | ForKind::Unrolled) => {
            Stmt::For(Box::new(bounded(cx, *l)))
        }
        other => other,
    };
    walk::map_stmt_under(s, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement)
}

fn bounded(cx: &mut Bound<'_>, l: For) -> For {
    if build::as_int(&l.extent).is_some() {
        return l;
    }
    let LoopInfo { name, at, .. } = cx.program.loops[l.id].clone();
    match BoundQuery::difference(&l.extent, &build::int(0), &cx.facts).upper(MOST_COPIES) {
        Some(most) => {
            let most = most.max(0);
            let name = cx.program.loops[l.id].with_case();
            cx.trace.did(name, format!("runs {most} times, as often as it ever needs to, under a condition"));
            let offset = build::sub(build::loop_var(l.id), l.min.clone());
            let needed = build::lt(build::likely(offset), l.extent);
            let body = build::if_else(needed, l.body, build::nothing());
            For { extent: build::int(most), body, ..l }
        }
        None => {
            let most = BoundQuery::difference(&l.extent, &build::int(0), &cx.facts).range().ends().1;
            cx.errors.push(LowerError::NoConstantExtent { name, kind: l.kind, most, at });
            l
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::example::TABLES;

    /// Whole programs know at least that extents are of i32.
    #[test]
    fn loops_of_which_nothing_is_known() {
        let body = "unrolled x#L0 from 0 extent out#b2.extent0 {\n provide out#f1(x#L0): out#b2 = 1u8\n}\n";
        let text = format!("program bounded{TABLES}body {{\n{body}}}");
        let program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let refused = bound_loops(program, &Facts::new(), &mut LoweringTrace::new());
        let errors = refused.map(|p| panic!("accepted:\n{p}")).unwrap_err();
        assert_eq!(
            errors[0].to_string(),
            "`x` cannot be unrolled: no constant bounds how often it runs\n  \
             help: say unroll with a factor, or promise the extent with bound_extent"
        );
    }
}
