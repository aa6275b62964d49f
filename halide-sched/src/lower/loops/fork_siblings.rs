//! Independent producers: productions at the root that do not need each other run at once.
//!
//! Before and after: `Stage::Bounded`, every symbol bound once. Where a schedule asks for it (`async` of a Func that is
//! computed at the root), its production and those behind it become the tasks of one parallel loop, up to the first
//! that needs another one of them. Outputs are not among them: an output may be in the memory of an input.
//!
//! Example, of `f` asked to run beside others:
//! ```text
//! realize f#f0 [0 extent 16] {
//!   produce f#f0 {
//!     for x#L0 from 0 extent 16 {
//!       provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!     }
//!   }
//!   realize g#f2 [0 extent 16] [0 extent 1] {
//!     produce g#f2 {
//!       for xi#L2 from 0 extent 16 {
//!         provide g#f2(xi#L2, 0): g#b4 = image#b3(xi#L2, 0)
//!       }
//!     }
//!     produce out#f1 {
//!       for y#L1 from 0 extent 16 {
//!         provide out#f1(y#L1): out#b2 = f#b1(y#L1) + u8(g#b4(y#L1, 0))
//!       }
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! realize f#f0 [0 extent 16] {
//!   realize g#f2 [0 extent 16] [0 extent 1] {
//!     parallel async#L4 from 0 extent 2 {
//!       if async#L4 == 0 {
//!         produce f#f0 {
//!           for x#L0 from 0 extent 16 {
//!             provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!           }
//!         }
//!       } else {
//!         produce g#f2 {
//!           for xi#L2 from 0 extent 16 {
//!             provide g#f2(xi#L2, 0): g#b4 = image#b3(xi#L2, 0)
//!           }
//!         }
//!       }
//!     }
//!     produce out#f1 {
//!       for y#L1 from 0 extent 16 {
//!         provide out#f1(y#L1): out#b2 = f#b1(y#L1) + u8(g#b4(y#L1, 0))
//!       }
//!     }
//!   }
//! }
//! ```

use crate::lower::loops::accesses::Accesses;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::plan::{Level, Plan};
use halide_core::ids::FuncId;
use halide_ir::visit::{self, deep};
use halide_ir::{BufferRole, Expr, For, ForKind, LoopInfo, Partition, Program, Stmt, build};
use std::collections::BTreeSet;

/// Returns the Funcs of a plan that are computed at the root and asked to run beside others.
pub fn asked(plan: &Plan) -> BTreeSet<FuncId> {
    let at_root = plan.funcs.enumerate().filter(|(_, f)| f.is_async && f.compute == Level::Root);
    at_root.map(|(id, _)| id).collect()
}

/// Runs productions at the root at once.
pub fn fork_siblings(program: Program, asked: &BTreeSet<FuncId>, trace: &mut LoweringTrace) -> Program {
    if asked.is_empty() {
        return program;
    }
    walk::map_body(program, |body, program| statement(&mut Fork { program, asked, trace }, body))
}

struct Fork<'p> {
    program: &'p mut Program,
    asked: &'p BTreeSet<FuncId>,
    trace: &'p mut LoweringTrace,
}

fn statement(cx: &mut Fork<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Block(mut list) => {
            let is_asked = |s: &Stmt| production(s).is_some_and(|func| cx.asked.contains(&func));
            let Some(at) = list.iter().position(is_asked) else {
                return build::block(list.into_iter().map(|s| deep(|| statement(cx, s))));
            };
            let behind = build::block(list.split_off(at + 1));
            let first = list.pop().into_iter();
            let made = deep(|| beside(cx, first.collect(), behind));
            build::block(list.into_iter().chain([made]))
        }
        Stmt::Let { .. } | Stmt::Realize { .. } | Stmt::If { .. } => {
            walk::map_stmt(s, cx, |_, e| e.clone(), |cx, inner| deep(|| statement(cx, inner)))
        }
        other => other,
    }
}

/// The Func that a statement computes, if that is all it does.
fn production(s: &Stmt) -> Option<FuncId> {
    match s {
        Stmt::Produce { func, .. } => Some(*func),
        Stmt::If { then, otherwise, .. } if matches!(&**otherwise, Stmt::Block(all) if all.is_empty()) => {
            production(then)
        }
        _ => None,
    }
}

/// A production, with what stands behind it: with as many of the productions there as can run at the same time.
fn beside(cx: &mut Fork<'_>, mut tasks: Vec<Stmt>, behind: Stmt) -> Stmt {
    let original = behind.clone();
    let mut around: Vec<Stmt> = Vec::new();
    let mut rest = behind;
    let why = loop {
        match rest {
            // Storage and names of what comes later may be there before.
            Stmt::Realize { func, bounds, when, body } if !reads_of(cx, &bounds_of(&bounds, &when), &tasks) => {
                around.push(Stmt::Realize { func, bounds, when, body: Box::new(build::nothing()) });
                rest = *body;
            }
            Stmt::Let { bindings, body } if !reads_of(cx, &values_of(&bindings), &tasks) => {
                around.push(Stmt::Let { bindings, body: Box::new(build::nothing()) });
                rest = *body;
            }
            Stmt::Block(mut list) if !list.is_empty() => match refusal(cx, &list[0], &tasks) {
                None => {
                    tasks.push(list.remove(0));
                    rest = build::block(list);
                }
                Some(_) if matches!(list[0], Stmt::Realize { .. } | Stmt::Let { .. }) && list.len() == 1 => {
                    rest = list.remove(0);
                }
                Some(why) => {
                    rest = build::block(list);
                    break why;
                }
            },
            other => {
                let why = refusal(cx, &other, &tasks).unwrap_or("nothing is computed after it");
                rest = other;
                break why;
            }
        }
    };
    let names: Vec<String> = tasks.iter().filter_map(production).map(|func| name(cx.program, func)).collect();
    if tasks.len() < 2 {
        cx.trace.did_not(names.join(", "), "computed at the same time as others at the root", why);
        return build::block(tasks.into_iter().chain([statement(cx, original)]));
    }
    cx.trace.did(names.join(", "), "computed at the same time at the root");
    let rest = statement(cx, rest);
    let inner = build::block([at_once(cx.program, tasks), rest]);
    around.into_iter().rev().fold(inner, |inner, around| match around {
        Stmt::Realize { func, bounds, when, .. } => Stmt::Realize { func, bounds, when, body: Box::new(inner) },
        Stmt::Let { bindings, .. } => build::let_in(bindings, inner),
        _ => inner,
    })
}

/// The reason that a statement cannot run at the same time as some productions.
fn refusal(cx: &Fork<'_>, s: &Stmt, tasks: &[Stmt]) -> Option<&'static str> {
    let has = |s: &Stmt, is: &dyn Fn(&Stmt) -> bool| walk::any_stmt(s, &mut |s| is(s));
    let is_kernel = |s: &Stmt| matches!(s, Stmt::For(l) if l.kind.is_gpu());
    let Some(func) = production(s) else { return Some("what follows it is no production") };
    let all = || tasks.iter().chain([s]);
    if cx.program.func_buffers[func].iter().any(|buf| cx.program.buffers[*buf].role != BufferRole::Internal) {
        return Some("what follows it is an output");
    }
    if all().any(|s| has(s, &is_kernel)) {
        return Some("kernels run one after the other");
    }
    if all().any(|s| has(s, &|s| matches!(s, Stmt::Print { .. }))) {
        return Some("lines are printed in order");
    }
    let own = Accesses::of(cx.program, s);
    let is_apart = |task: &Stmt| own.shared(&Accesses::of(cx.program, task), &BTreeSet::new()).is_none();
    (!tasks.iter().all(is_apart)).then_some("what follows it needs it")
}

/// Returns true if one of these expressions reads what the tasks write.
fn reads_of(cx: &Fork<'_>, all: &[&Expr], tasks: &[Stmt]) -> bool {
    let written = |buf| tasks.iter().any(|task| Accesses::of(cx.program, task).written.contains(&buf));
    all.iter()
        .any(|e| visit::any_node(e, |n| matches!(n.kind(), halide_ir::ExprKind::Read { buf, .. } if written(*buf))))
}

fn bounds_of<'e>(bounds: &'e [(Expr, Expr)], when: &'e Option<Expr>) -> Vec<&'e Expr> {
    bounds.iter().flat_map(|(min, extent)| [min, extent]).chain(when).collect()
}

fn values_of<S>(bindings: &[(S, Expr)]) -> Vec<&Expr> {
    bindings.iter().map(|(_, value)| value).collect()
}

fn name(program: &Program, func: FuncId) -> String {
    program.func_buffers[func].first().map_or("?".to_string(), |buf| program.buffers[*buf].name.clone())
}

/// A parallel loop of which each iteration is a task.
fn at_once(program: &mut Program, tasks: Vec<Stmt>) -> Stmt {
    let id = program.loops.push(LoopInfo { partition: Partition::Never, ..LoopInfo::new("async".to_string()) });
    let count = tasks.len() as i64;
    let numbered = (0..count).zip(tasks).collect::<Vec<_>>().into_iter().rev();
    let body = numbered.fold(build::nothing(), |others, (n, task)| {
        if n + 1 == count {
            return task;
        }
        build::if_else(build::eq(build::loop_var(id), build::int(n)), task, others)
    });
    let (min, extent) = (build::int(0), build::int(count));
    build::loop_of(For { id, kind: ForKind::Parallel, min, extent, condition: None, body })
}
