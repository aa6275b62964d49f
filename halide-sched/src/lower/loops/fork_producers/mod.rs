//! Asynchronous producers: what an iteration of a loop reads is computed while the iteration before it runs.
//!
//! Before and after: `Stage::Bounded`, every symbol bound once. Where a schedule asks for it (`async`), a serial loop
//! whose iterations compute a Func in storage outside of the loop begins one iteration earlier, and each of its
//! iterations runs two tasks at once: one computes the Func for the next iteration, with all that only it needs; the
//! other one does the rest of this iteration. This is software pipelining in two stages (Lam, PLDI 1988), of tasks that
//! join in place of semaphores, so it needs no more than one thread and cannot block.
//!
//! Tasks that would disturb each other stay one after the other, and the trace says why: neither may write what the
//! other one accesses, but for the storage of the Func itself. Of that the two iterations use different copies
//! (`ring_buffer`), or what the next one computes is shown to lie beside what this one reads, as in a window that
//! slides. A loop that ends by what it stores (`stop_early`) stays as it is: a task cannot begin an iteration that the
//! other one may find not to be needed.
//!
//! Example, of `g` asked to run ahead:
//! ```text
//! realize g#f2 [0 extent 16] [0 extent 2] {
//!   for y#L1 from 0 extent 8 {
//!     produce g#f2 {
//!       for x#L0 from 0 extent 16 {
//!         provide g#f2(x#L0, y#L1 % 2): g#b4 = image#b3(x#L0, y#L1)
//!       }
//!     }
//!     for xi#L2 from 0 extent 8 {
//!       provide result#f3(xi#L2, y#L1): result#b5 = g#b4(xi#L2 * 2, y#L1 % 2)
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! realize g#f2 [0 extent 16] [0 extent 2] {
//!   for y#L1 from -1 extent 9 {
//!     parallel y.async#L5 from 0 extent 2 {
//!       if y.async#L5 == 0 {
//!         if y#L1 + 1 < 8 {
//!           produce g#f2 {
//!             for x#L4 from 0 extent 16 {
//!               provide g#f2(x#L4, (y#L1 + 1) % 2): g#b4 = image#b3(x#L4, y#L1 + 1)
//!             }
//!           }
//!         }
//!       } else {
//!         if 0 <= y#L1 {
//!           for xi#L2 from 0 extent 8 {
//!             provide result#f3(xi#L2, y#L1): result#b5 = g#b4(xi#L2 * 2, y#L1 % 2)
//!           }
//!         }
//!       }
//!     }
//!   }
//! }
//! ```

mod apart;

use crate::lower::loops::accesses::Accesses;
use crate::lower::loops::copy::fresh_copy;
use crate::lower::loops::stop_early::{ends_by_stores, marked};
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::plan::{Level, Plan};
use apart::are_apart;
use halide_core::ids::FuncId;
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, Expr, For, ForKind, LoopInfo, Partition, Program, Stmt, Sym, build};
use halide_solve::simplify::Facts;
use std::collections::{BTreeMap, BTreeSet};

/// The Funcs that are asked to run ahead of the loop that they are computed in.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// All of them.
    pub funcs: BTreeSet<FuncId>,
    /// Funcs of which each iteration of that loop has a copy of its own, and the next one another.
    pub in_turn: BTreeSet<FuncId>,
    /// Funcs, asked or not, whose values no iteration of the loop that computes them leaves to a later one.
    pub transient: BTreeSet<FuncId>,
}

/// Returns the Funcs of a plan that are asked to run ahead.
pub fn asked(plan: &Plan) -> Asked {
    let mut asked = Asked { transient: marked(plan).transient, ..Asked::default() };
    for (id, func) in plan.funcs.enumerate().filter(|(_, f)| f.is_async && f.compute != Level::Root) {
        asked.funcs.insert(id);
        if func.ring.is_some() && func.store == func.compute {
            asked.in_turn.insert(id);
        }
    }
    asked
}

/// Runs producers ahead of the loops that compute them. `facts` holds what is known of arguments.
pub fn fork_producers(program: Program, asked: &Asked, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    if asked.funcs.is_empty() {
        return program;
    }
    walk::map_body(program, |body, program| {
        let mut cx = Fork { program, asked, facts: facts.clone(), trace, seen: BTreeSet::new(), in_kernel: false };
        let body = statement(&mut cx, body);
        for func in asked.funcs.difference(&cx.seen) {
            let why = "no loop computes it by itself";
            cx.trace.did_not(name(cx.program, *func).to_string(), "computed for a next iteration", why);
        }
        body
    })
}

struct Fork<'p> {
    program: &'p mut Program,
    asked: &'p Asked,
    facts: Facts,
    trace: &'p mut LoweringTrace,
    /// The Funcs that loops compute.
    seen: BTreeSet<FuncId>,
    /// True inside of a loop that a GPU runs.
    in_kernel: bool,
}

fn statement(cx: &mut Fork<'_>, s: Stmt) -> Stmt {
    let around = cx.in_kernel;
    cx.in_kernel |= matches!(&s, Stmt::For(l) if l.kind.is_gpu());
    let s = deep(|| walk::map_stmt_under(s, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement));
    cx.in_kernel = around;
    match s {
        Stmt::For(l) => forked(cx, *l),
        other => other,
    }
}

/// A loop whose iterations compute what the next ones read, where that can be.
fn forked(cx: &mut Fork<'_>, l: For) -> Stmt {
    let mut ahead = BTreeSet::new();
    for_each_production(&l.body, &mut |func| _ = cx.asked.funcs.contains(&func) && ahead.insert(func));
    cx.seen.extend(&ahead);
    for func in ahead.clone().into_iter().filter(|func| realizes(&l.body, *func)) {
        let (subject, place) = (name(cx.program, func).to_string(), &cx.program.loops[l.id]);
        let why = "it has the memory of one iteration only: hoist_storage and ring_buffer(2)";
        cx.trace.did_not(subject, format!("computed for the next iteration of {place}"), why);
        ahead.remove(&func);
    }
    if ahead.is_empty() {
        return Stmt::For(Box::new(l));
    }
    let names: Vec<&str> = ahead.iter().map(|func| name(cx.program, *func)).collect();
    let (subject, place) = (names.join(", "), cx.program.loops[l.id].to_string());
    match parts(cx, &l, &ahead) {
        Ok((producer, rest)) => {
            cx.trace.did(subject, format!("computed for the next iteration of {place} while this one runs"));
            two_tasks(cx, l, producer, rest)
        }
        Err(why) => {
            cx.trace.did_not(subject, format!("computed for the next iteration of {place}"), why);
            Stmt::For(Box::new(l))
        }
    }
}

/// The part of the next iteration that it needs, and the rest of this one; the reason if they cannot run at once.
fn parts(cx: &mut Fork<'_>, l: &For, ahead: &BTreeSet<FuncId>) -> Result<(Stmt, Stmt), String> {
    let names: BTreeMap<FuncId, String> =
        ahead.iter().map(|func| (*func, format!("`{}`", name(cx.program, *func)))).collect();
    let name = |func: &FuncId| &names[func];
    if l.kind != ForKind::Serial {
        return Err("its iterations do not run one after the other".into());
    }
    if cx.in_kernel || walk::any_stmt(&l.body, &mut |s| matches!(s, Stmt::For(l) if l.kind.is_gpu())) {
        return Err("kernels run one after the other".into());
    }
    if ends_by_stores(cx.program, l, &cx.asked.transient) {
        return Err("it ends by what its iterations store, so none is known to be the next one".into());
    }
    let needed = needed(cx.program, &l.body, ahead);
    let producer = part(&l.body, &|func| needed.contains(&func), false);
    let rest = without_unread(cx.program, part(&l.body, &|func| !ahead.contains(&func), true), &needed);
    if walk::any_stmt(&producer, &mut |s| matches!(s, Stmt::Print { .. })) {
        return Err("it prints, and lines are printed in order".into());
    }
    let own: BTreeSet<BufId> = ahead.iter().flat_map(|func| &cx.program.func_buffers[*func]).copied().collect();
    let (made, other) = (Accesses::of(cx.program, &producer), Accesses::of(cx.program, &rest));
    if let Some(buf) = made.shared(&other, &own) {
        return Err(format!("both iterations use `{}`, and one of them writes it", cx.program.buffers[buf].name));
    }
    let next = build::offset(build::loop_var(l.id), 1);
    let producer = fresh_copy(&producer, &[(Sym::Loop(l.id), next)], cx.program);
    let shared: Vec<FuncId> = ahead.difference(&cx.asked.in_turn).copied().collect();
    if let Some(func) = shared.into_iter().find(|func| !apart(cx, l, *func, (&producer, &rest))) {
        return Err(format!("the next iteration may write what this one reads of {}: ring_buffer(2)", name(&func)));
    }
    Ok((producer, rest))
}

/// Returns true if what is computed of a Func for the next iteration is nothing that this one reads, where both run.
fn apart(cx: &mut Fork<'_>, l: &For, func: FuncId, (producer, rest): (&Stmt, &Stmt)) -> bool {
    cx.facts.push_scope();
    cx.facts.bind_loop(l.id, &l.min, &build::offset(l.extent.clone(), -1));
    let is_apart = |buf: &BufId| are_apart(producer, rest, *buf, &cx.program.buffers[*buf].fold, &cx.facts);
    let all = cx.program.func_buffers[func].iter().all(is_apart);
    cx.facts.pop_scope();
    all
}

/// Calls `f` with what is computed per iteration, in loops of its own.
fn for_each_production(s: &Stmt, f: &mut dyn FnMut(FuncId)) {
    match s {
        Stmt::Produce { func, .. } => f(*func),
        Stmt::For(_) => {}
        other => visit::nested(other).for_each(|inner| deep(|| for_each_production(inner, f))),
    }
}

fn name(program: &Program, func: FuncId) -> &str {
    program.func_buffers[func].first().map_or("?", |buf| &program.buffers[*buf].name)
}

fn realizes(s: &Stmt, func: FuncId) -> bool {
    walk::any_stmt(s, &mut |s| matches!(s, Stmt::Realize { func: f, .. } if *f == func))
}

/// `ahead`, and what is computed per iteration that these need.
fn needed(program: &Program, body: &Stmt, ahead: &BTreeSet<FuncId>) -> BTreeSet<FuncId> {
    let mut needed = ahead.clone();
    loop {
        let before = needed.len();
        let accesses = Accesses::of(program, &part(body, &|func| needed.contains(&func), false));
        let mut add = |func: FuncId| {
            if program.func_buffers[func].iter().any(|buf| accesses.all.contains(buf)) {
                needed.insert(func);
            }
        };
        for_each_production(body, &mut add);
        if needed.len() == before {
            return needed;
        }
    }
}

/// The part of an iteration that computes the Funcs which `keep` says, with what is no computation of a Func's own if
/// `others`.
fn part(s: &Stmt, keep: &dyn Fn(FuncId) -> bool, others: bool) -> Stmt {
    match s {
        Stmt::Produce { func, .. } if keep(*func) => s.clone(),
        Stmt::Produce { .. } => build::nothing(),
        Stmt::Realize { func, bounds, when, body } => {
            let body = deep(|| part(body, keep, others));
            // What is kept may compute it inside of its own loops.
            let is_needed = || others || keep(*func) || walk::any_stmt(&body, &mut |s| produces(s, *func));
            if is_nothing(&body) || !is_needed() {
                return body;
            }
            Stmt::Realize { func: *func, bounds: bounds.clone(), when: when.clone(), body: Box::new(body) }
        }
        Stmt::Let { .. } | Stmt::Block(_) | Stmt::If { .. } => {
            let made = visit::map_stmt(s.clone(), Expr::clone, |inner| deep(|| part(&inner, keep, others)));
            let is_empty = match &made {
                Stmt::Let { body, .. } => is_nothing(body),
                Stmt::If { then, otherwise, .. } => is_nothing(then) && is_nothing(otherwise),
                other => is_nothing(other),
            };
            if is_empty { build::nothing() } else { made }
        }
        _ if others => s.clone(),
        _ => build::nothing(),
    }
}

fn produces(s: &Stmt, func: FuncId) -> bool {
    matches!(s, Stmt::Produce { func: f, .. } if *f == func)
}

fn is_nothing(s: &Stmt) -> bool {
    matches!(s, Stmt::Block(all) if all.is_empty())
}

/// The rest of an iteration without those of `needed` that nothing in it reads.
fn without_unread(program: &Program, mut rest: Stmt, needed: &BTreeSet<FuncId>) -> Stmt {
    loop {
        let without = |func: FuncId| without_storage(part(&rest, &|f| f != func, true), func);
        let is_unread = |func: FuncId, others: &Stmt| {
            let accesses = Accesses::of(program, others);
            !program.func_buffers[func].iter().any(|buf| accesses.all.contains(buf))
        };
        let mut shorter = None;
        for_each_production(&rest, &mut |func| {
            if shorter.is_none() && needed.contains(&func) {
                shorter = Some(without(func)).filter(|others| is_unread(func, others));
            }
        });
        let Some(others) = shorter else { return rest };
        rest = others;
    }
}

fn without_storage(s: Stmt, func: FuncId) -> Stmt {
    match s {
        Stmt::Realize { func: f, body, .. } if f == func => *body,
        Stmt::For(_) | Stmt::Produce { .. } => s,
        other => visit::map_stmt(other, Expr::clone, |inner| deep(|| without_storage(inner, func))),
    }
}

/// The loop that begins an iteration earlier and runs both parts at once.
fn two_tasks(cx: &mut Fork<'_>, l: For, producer: Stmt, rest: Stmt) -> Stmt {
    let For { id, min, extent, .. } = l;
    let next = build::offset(build::loop_var(id), 1);
    let info = &cx.program.loops[id];
    let tasks = LoopInfo {
        definition: info.definition,
        case: info.case.clone(),
        at: info.at,
        partition: Partition::Never,
        ..LoopInfo::new(format!("{}.async", info.name))
    };
    let tasks = cx.program.loops.push(tasks);
    let there_is_one = build::lt(build::sub(next, min.clone()), extent.clone());
    let producer = build::if_else(there_is_one, producer, build::nothing());
    let rest = build::if_else(build::le(min.clone(), build::loop_var(id)), rest, build::nothing());
    let body = build::if_else(build::eq(build::loop_var(tasks), build::int(0)), producer, rest);
    let (first, two) = (build::int(0), build::int(2));
    let body =
        build::loop_of(For { id: tasks, kind: ForKind::Parallel, min: first, extent: two, condition: None, body });
    let (min, extent) = (build::offset(min, -1), build::offset(extent, 1));
    build::loop_of(For { id, kind: ForKind::Serial, min, extent, condition: None, body })
}
