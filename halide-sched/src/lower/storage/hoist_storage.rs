//! Allocation hoisting: allocates the memory of a Func once for many uses of its storage.
//!
//! Before and after: `Stage::Bounded`, every symbol bound once. Where a schedule asks for it (`hoist_storage`), the
//! realization stands at the hoist level instead of the storage level, as large as the largest of those it replaces,
//! and coordinates inside count from what was the minimum there. What is stored lives no longer than before: a run of
//! the statements that were inside of the realization writes all that it reads.
//!
//! The size must be known at the hoist level: it is the upper bound of each extent over the loops between. Where there
//! is none, the realization stays where it is, and the trace says so.
//!
//! Example, `hoist_storage_root`:
//! ```text
//! for y#L1 from 0 extent 8 {
//!   realize f#f0 [y#L1 * 4 extent min(out#b2.extent0 - y#L1 * 4, 4)] {
//!     provide f#f0(y#L1 * 4): f#b1 = in#b0(y#L1)
//!     provide out#f1(y#L1): out#b2 = f#b1(y#L1 * 4)
//!   }
//! }
//! ```
//! becomes
//! ```text
//! realize f#f0 [0 extent min(out#b2.extent0, 4)] {
//!   for y#L1 from 0 extent 8 {
//!     let t4 = y#L1 * 4
//!     provide f#f0(y#L1 * 4 - t4): f#b1 = in#b0(y#L1)
//!     provide out#f1(y#L1): out#b2 = f#b1(y#L1 * 4 - t4)
//!   }
//! }
//! ```

use crate::lower::loops::copy::fresh_temp;
use crate::lower::outer_scope_values::SeenFrom;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use crate::tuning::MOST_HOISTED_EXTENT;
use halide_core::ids::FuncId;
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, Program, Scope, Stmt, build};
use halide_solve::simplify::{BoundQuery, Facts, simplify};

/// Moves realizations out to the loops that say so (`LoopInfo::hoisted`), or out of all (`Program::hoisted`). `facts`
/// holds what is known of arguments.
pub fn hoist_storage(program: Program, facts: &Facts, trace: &mut LoweringTrace) -> Program {
    if program.hoisted.is_empty() && program.loops.iter().all(|l| l.hoisted.is_empty()) {
        return program;
    }
    walk::map_body(program, |body, program| {
        let mut cx = Hoist { program, facts: facts.clone(), trace };
        let body = at_scope(&mut cx, Scope::Root, body);
        statement(&mut cx, body)
    })
}

struct Hoist<'p> {
    program: &'p mut Program,
    facts: Facts,
    trace: &'p mut LoweringTrace,
}

fn statement(cx: &mut Hoist<'_>, s: Stmt) -> Stmt {
    let s = match s {
        Stmt::For(mut l) => {
            cx.facts.push_scope();
            cx.facts.bind_loop(l.id, &l.min, &l.extent);
            l.body = at_scope(cx, Scope::Body(l.id), l.body);
            cx.facts.pop_scope();
            Stmt::For(l)
        }
        other => other,
    };
    walk::map_stmt_under(s, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement)
}

/// The body of `scope` with all storage that is to be allocated there.
fn at_scope(cx: &mut Hoist<'_>, scope: Scope, mut body: Stmt) -> Stmt {
    let hoisted = match scope {
        Scope::Root => cx.program.hoisted.clone(),
        Scope::Body(l) => cx.program.loops[l].hoisted.clone(),
    };
    for func in hoisted {
        if realizes(&body, func) {
            body = place(cx, func, scope, body);
        }
    }
    body
}

fn realizes(s: &Stmt, func: FuncId) -> bool {
    walk::any_stmt(s, &mut |s| matches!(s, Stmt::Realize { func: f, .. } if *f == func))
}

/// Allocates around the smallest part of `s` that holds all storage of `func`, but outside of loops.
fn place(cx: &mut Hoist<'_>, func: FuncId, scope: Scope, s: Stmt) -> Stmt {
    match s {
        Stmt::Realize { func: f, .. } if f == func => s,
        Stmt::Block(mut list) => {
            let holds = |s: &Stmt| realizes(s, func);
            let first = list.iter().position(holds).expect("storage is in here");
            let last = list.iter().rposition(holds).expect("storage is in here");
            let rest = list.split_off(last + 1);
            let part = build::block(list.split_off(first));
            let placed = if first == last { place(cx, func, scope, part) } else { around(cx, func, scope, part) };
            build::block(list.into_iter().chain([placed]).chain(rest))
        }
        Stmt::If { ref then, ref otherwise, .. } if realizes(then, func) && realizes(otherwise, func) => {
            around(cx, func, scope, s)
        }
        Stmt::For(_) => around(cx, func, scope, s),
        other => walk::map_stmt_under(
            other,
            cx,
            |cx| &mut cx.facts,
            |_, e| e.clone(),
            |cx, inner| if realizes(&inner, func) { place(cx, func, scope, inner) } else { inner },
        ),
    }
}

/// One allocation of `func` around `s`, instead of those in it.
fn around(cx: &mut Hoist<'_>, func: FuncId, scope: Scope, s: Stmt) -> Stmt {
    let dims = cx.program.buffers[cx.program.func_buffers[func][0]].dims;
    let name = cx.program.buffers[cx.program.func_buffers[func][0]].name.clone();
    let mut inside = Inside { cx, func, seen: SeenFrom::default(), sizes: vec![Some(build::int(0)); dims], when: None };
    let made = replaced(&mut inside, s.clone());
    let when = inside.when.take().flatten();
    let Some(sizes) = inside.sizes.into_iter().collect::<Option<Vec<Expr>>>() else {
        let why = format!("nothing known {} bounds its extent", place_text(cx.program, scope));
        cx.trace.did_not(name, "hoisted", why);
        return s;
    };
    let sizes: Vec<Expr> = sizes.iter().map(|e| simplify(e, &cx.facts)).collect();
    let text = |e: &Expr| build::as_int(e).map_or("?".to_string(), |n| n.to_string());
    let texts: Vec<String> = sizes.iter().map(text).collect();
    cx.trace.did(name, format!("allocated once {}, {} elements", place_text(cx.program, scope), texts.join(" x ")));
    let bounds = sizes.into_iter().map(|e| (build::int(0), e)).collect();
    Stmt::Realize { func, bounds, when, body: Box::new(made) }
}

fn place_text(program: &Program, scope: Scope) -> String {
    match scope {
        Scope::Root => "at the root".to_string(),
        Scope::Body(l) => format!("per iteration of {}", program.loops[l]),
    }
}

/// The context between the allocation and the storage.
struct Inside<'c, 'p> {
    cx: &'c mut Hoist<'p>,
    func: FuncId,
    /// The names and loop variables that are bound in between.
    seen: SeenFrom,
    /// The largest extent so far per dimension; `None` where there is no bound.
    sizes: Vec<Option<Expr>>,
    /// The condition of all, which is the same for the whole run; the inner one is `None` for always.
    when: Option<Option<Expr>>,
}

/// `s` without realizations of the Func, whose sizes are noted.
fn replaced(inside: &mut Inside<'_, '_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Realize { func, bounds, when, body } if func == inside.func => {
            let known = inside.when.get_or_insert_with(|| when.clone());
            if *known != when {
                *known = None;
            }
            for (d, (_, extent)) in bounds.iter().enumerate() {
                let most = largest(inside, extent);
                inside.sizes[d] = inside.sizes[d].take().zip(most).map(|(a, b)| build::max(a, b));
            }
            from_zero(inside.cx.program, func, bounds, *body)
        }
        Stmt::Let { ref bindings, .. } => {
            for (s, value) in bindings {
                inside.seen.bind_let(*s, value, &inside.cx.facts);
            }
            nested(inside, s)
        }
        Stmt::For(ref l) => {
            inside.seen.bind_loop(l.id, &l.min, &l.extent, &inside.cx.facts);
            nested(inside, s)
        }
        other => nested(inside, other),
    }
}

fn nested(inside: &mut Inside<'_, '_>, s: Stmt) -> Stmt {
    walk::map_stmt_under(s, inside, |inside| &mut inside.cx.facts, |_, e| e.clone(), replaced)
}

/// An upper bound of an extent that holds in all iterations of the loops in between.
fn largest(inside: &Inside<'_, '_>, extent: &Expr) -> Option<Expr> {
    // A mark would keep what is likely at one end from cancelling against the other end.
    let extent = simplify(&visit::without_likely(&inside.seen.expanded(extent, &inside.cx.facts)), &inside.cx.facts);
    let constant = BoundQuery::difference(&extent, &build::int(0), &inside.cx.facts).upper(MOST_HOISTED_EXTENT - 1);
    let constant = constant.map(|n| build::int(n.max(0)));
    let says_something = |e: &Expr| inside.cx.facts.range(e).0.is_none_or(|least| least < MOST_HOISTED_EXTENT);
    match (inside.seen.within(&extent, &inside.cx.facts).max.filter(says_something), constant) {
        (Some(a), Some(b)) => Some(build::min(a, b)),
        (a, b) => a.or(b),
    }
}

/// `body` where the coordinates of `func` are counted from the first of `bounds`.
fn from_zero(program: &mut Program, func: FuncId, bounds: Vec<(Expr, Expr)>, body: Stmt) -> Stmt {
    let mut names = Vec::new();
    let mins: Vec<Expr> = bounds
        .into_iter()
        .map(|(min, _)| {
            if build::as_int(&min).is_some() {
                return min;
            }
            let name = fresh_temp(program);
            names.push((name, min));
            build::sym(name)
        })
        .collect();
    let move_all = |args: &[Expr]| args.iter().zip(&mins).map(|(a, m)| build::sub(a.clone(), m.clone())).collect();
    let buffers: Vec<BufId> = program.func_buffers[func].clone();
    let mut memo = Memo::new();
    let mut reads = |e: &Expr| {
        memo.rewrite(e, |n, done| {
            let made = visit::map_children(n, done);
            match made.kind() {
                ExprKind::Read { buf, args } if buffers.contains(buf) => {
                    build::read(*buf, program.buffers[*buf].elem, move_all(args))
                }
                _ => made,
            }
        })
    };
    let body = visit::map_exprs(body, &mut reads);
    build::let_in(names, writes((func, &buffers), &move_all, body))
}

fn writes((func, buffers): (FuncId, &[BufId]), move_all: &impl Fn(&[Expr]) -> Vec<Expr>, s: Stmt) -> Stmt {
    match s {
        Stmt::Provide { func: f, args, values, mask } if f == func => {
            Stmt::Provide { func, args: move_all(&args), values, mask }
        }
        Stmt::Call { callee, mut args } => {
            for arg in args.iter_mut().filter(|arg| buffers.contains(&arg.buf)) {
                let (mins, extents): (Vec<Expr>, Vec<Expr>) = arg.bounds.drain(..).unzip();
                arg.bounds = move_all(&mins).into_iter().zip(extents).collect();
            }
            Stmt::Call { callee, args }
        }
        other => visit::map_stmt(other, Expr::clone, |inner| writes((func, buffers), move_all, inner)),
    }
}
