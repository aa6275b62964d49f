//! Dead stages: skips stages that nobody needs.
//!
//! Before: `Stage::Bounded`, every symbol bound once. After: the same; a Func that is read only under conditions that
//! are the same for the whole run (of parameters and of sizes of the caller's buffers) is computed under the union of
//! them, and has memory only then. One that is not read at all is neither computed nor stored. What only a skipped
//! stage reads is skipped with it.
//!
//! A read stands under the branches around it, and under the selects whose arm it is in. Selects evaluate both arms, so
//! where an arm has such a read, the code with the select is made twice, once for either value of its condition; loops
//! around become two as far as they compute nothing else. So no unwritten memory is read.
//!
//! The conditions hold or do not for the whole run, so no iteration of a loop that slides over a window, and no thread,
//! misses what another one left out. Kernels run or do not as a whole. Stages with requirements or prints are computed
//! whoever needs them, as are those that are computed together with others.
//!
//! Example:
//! ```text
//! realize f#f0 [0 extent out#b2.extent0] {
//!   produce f#f0 {
//!     for x#L0 from 0 extent out#b2.extent0 {
//!       provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!     }
//!   }
//!   produce out#f1 {
//!     for xi#L2 from 0 extent out#b2.extent0 {
//!       provide out#f1(xi#L2): out#b2 = select(in#b0.extent0 < 8, f#b1(xi#L2), 7u8)
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! realize f#f0 [0 extent out#b2.extent0] when in#b0.extent0 <= 7 {
//!   if in#b0.extent0 <= 7 {
//!     produce f#f0 {
//!       for x#L0 from 0 extent out#b2.extent0 {
//!         provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!       }
//!     }
//!   }
//!   produce out#f1 {
//!     if in#b0.extent0 < 8 {
//!       for xi#L2 from 0 extent out#b2.extent0 {
//!         provide out#f1(xi#L2): out#b2 = f#b1(xi#L2)
//!       }
//!     } else {
//!       for xi#L4 from 0 extent out#b2.extent0 {
//!         provide out#f1(xi#L4): out#b2 = 7u8
//!       }
//!     }
//!   }
//! }
//! ```

mod condition;
mod needs;
mod uniform;
mod units;

use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use condition::Condition;
use halide_core::ids::FuncId;
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, build, print, visit};
use halide_solve::simplify::{Facts, prove, simplify};
use needs::Survey;
use std::collections::BTreeMap;
use uniform::Uniform;
use units::{is_kernel, is_unit, split, splits_of};

/// Computes and stores what is needed only. `facts` holds what is known of arguments.
pub fn skip_stages(program: Program, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    let uniform = Uniform::new(&program);
    let survey = Survey::new(&program, &uniform);
    let needs = survey.needs();
    explain_kept(&program, &survey, &needs, trace);
    let skipped: BTreeMap<FuncId, Expr> = needs
        .iter()
        .filter(|(_, need)| !need.is_always())
        .map(|(func, need)| (*func, simplify(&need.expr(), facts)))
        .filter(|(_, need)| !prove(need, facts))
        .collect();
    if skipped.is_empty() {
        return program;
    }
    for (func, need) in &skipped {
        let what = match build::as_bool(need) {
            Some(_) => "skipped, since nobody needs it".to_string(),
            None => format!("computed and stored only if {}", print::expr_in(need, &program)),
        };
        trace.did(program.func_name(*func), what);
    }
    walk::map_body(program, |body, program| {
        let mut cx = Skip { program, uniform: &uniform, survey: &survey, skipped: &skipped };
        statement(&mut cx, body)
    })
}

struct Skip<'p> {
    program: &'p mut Program,
    uniform: &'p Uniform,
    survey: &'p Survey<'p>,
    /// The Funcs that are not always needed, and when they are.
    skipped: &'p BTreeMap<FuncId, Expr>,
}

fn statement(cx: &mut Skip<'_>, s: Stmt) -> Stmt {
    if is_unit(&s) {
        let splits = splits_of(&s, cx.uniform, cx.survey.owner()).into_iter();
        let matters = |f: &FuncId| cx.skipped.contains_key(f);
        let conds: Vec<Expr> = splits.filter(|split| split.funcs.iter().any(matters)).map(|split| split.cond).collect();
        return split(s, &conds, cx.uniform, cx.program);
    }
    match s {
        // What is not a unit as a whole has no unit inside.
        _ if is_kernel(&s) => s,
        Stmt::Produce { func, body } => {
            let made = Stmt::Produce { func, body: Box::new(statement(cx, *body)) };
            match cx.skipped.get(&func) {
                Some(need) => build::if_else(need.clone(), made, build::nothing()),
                None => made,
            }
        }
        Stmt::Realize { func, bounds, when, body } => {
            let body = statement(cx, *body);
            match cx.skipped.get(&func) {
                // Code that nobody comes to may still read it.
                Some(_) if !uses(&body, func, &cx.program.func_buffers[func]) => body,
                Some(need) => Stmt::Realize { func, bounds, when: Some(need.clone()), body: Box::new(body) },
                None => Stmt::Realize { func, bounds, when, body: Box::new(body) },
            }
        }
        other => walk::map_stmt(other, cx, |_, e| e.clone(), statement),
    }
}

/// Returns true if `s` reads or stores `func`, whose buffers are `bufs`.
fn uses(s: &Stmt, func: FuncId, bufs: &[BufId]) -> bool {
    let reads = |n: &Expr| matches!(n.kind(), ExprKind::Read { buf, .. } if bufs.contains(buf));
    walk::any_stmt(s, &mut |s| {
        let mut found = match s {
            Stmt::Provide { func: f, .. } => *f == func,
            Stmt::Prefetch { buf, .. } => bufs.contains(buf),
            Stmt::Call { args, .. } => args.iter().any(|arg| bufs.contains(&arg.buf)),
            _ => false,
        };
        visit::for_each_expr(s, |e| found = found || visit::any_node(e, reads));
        found
    })
}

/// Records the stages that are not needed always and are computed nevertheless.
fn explain_kept(
    program: &Program,
    survey: &Survey<'_>,
    needs: &BTreeMap<FuncId, Condition>,
    trace: &mut LoweringTrace,
) {
    for &func in needs.keys() {
        let Some(why) = survey.kept(func) else { continue };
        let asked = survey.asked(func, &mut needs.clone());
        if !asked.is_always() && !asked.is_never() {
            trace.did_not(program.func_name(func), "skipped where nobody needs it", why);
        }
    }
}
