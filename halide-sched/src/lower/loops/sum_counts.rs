//! Counts outside of loops.
//!
//! Before: `Stage::Bounded` with `Count` statements. After: equal counts at the end of a run by fewer statements. A
//! count whose amount is the same in each iteration stands behind the loop, times the number of iterations; counts of
//! one counter that come to stand side by side are one.
//!
//! An amount stays where it depends on the loop, on a condition that reads data, or on a name whose value does.
//!
//! Example:
//! ```text
//! for y#L1 from 0 extent image#b3.extent1 {
//!   for x#L0 from 0 extent min(y#L1, 8) {
//!     count c0 += 2
//!     count c1 += y#L1
//!   }
//! }
//! ```
//! becomes
//! ```text
//! for y#L1 from 0 extent image#b3.extent1 {
//!   count c0 += max(min(y#L1, 8), 0) * 2
//!   count c1 += max(min(y#L1, 8), 0) * y#L1
//! }
//! ```

use crate::lower::walk;
use halide_ir::visit::{any_node, substitute, uses};
use halide_ir::{BufferRole, Expr, ExprKind, For, Program, Stmt, Sym, build};
use std::collections::BTreeMap;

/// Moves counts out of loops.
pub fn sum_counts(program: Program) -> Program {
    walk::map_body(program, |body, program| {
        let (body, lifted) = lift(program, body);
        build::block([body, counts(lifted)])
    })
}

/// The amounts to count behind a statement, by counter.
type Lifted = BTreeMap<u32, Expr>;

fn add(lifted: &mut Lifted, counter: u32, amount: Expr) {
    let sum = match lifted.remove(&counter) {
        Some(before) => build::add(before, amount),
        None => amount,
    };
    lifted.insert(counter, sum);
}

fn counts(lifted: Lifted) -> Stmt {
    build::block(lifted.into_iter().map(|(counter, amount)| Stmt::Count { counter, amount }))
}

/// Splits a list of amounts: those that may stand outside, as `outside` makes them of it, and those that may not.
fn split(lifted: Lifted, outside: impl Fn(&Expr) -> Option<Expr>) -> (Lifted, Lifted) {
    let (mut out, mut inside) = (Lifted::new(), Lifted::new());
    for (counter, amount) in lifted {
        match outside(&amount) {
            Some(amount) => add(&mut out, counter, amount),
            None => add(&mut inside, counter, amount),
        }
    }
    (out, inside)
}

/// A statement without the counts that may stand behind it, and these.
fn lift(program: &Program, s: Stmt) -> (Stmt, Lifted) {
    match s {
        Stmt::Count { counter, amount } if !reads(&amount) => (build::nothing(), Lifted::from([(counter, amount)])),
        Stmt::Block(list) => {
            let mut all = Lifted::new();
            let mut rest = Vec::with_capacity(list.len());
            for s in list {
                let (s, lifted) = lift(program, s);
                rest.push(s);
                lifted.into_iter().for_each(|(counter, amount)| add(&mut all, counter, amount));
            }
            (build::block(rest), all)
        }
        Stmt::For(l) => lift_of_loop(program, *l),
        Stmt::Let { bindings, body } => {
            let (body, lifted) = lift(program, *body);
            let (out, inside) = split(lifted, |amount| without_names(amount, &bindings));
            (build::let_in(bindings, build::block([body, counts(inside)])), out)
        }
        Stmt::If { cond, then, otherwise } => lift_of_branch(program, cond, *then, *otherwise),
        Stmt::Produce { func, body } => {
            let (body, lifted) = lift(program, *body);
            (Stmt::Produce { func, body: Box::new(body) }, lifted)
        }
        Stmt::Realize { func, bounds, when, body } => {
            let (body, lifted) = lift(program, *body);
            // The properties of a buffer are known while it lives.
            let (out, inside) = split(lifted, |amount| (!speaks_of_storage(program, amount)).then(|| amount.clone()));
            let body = Box::new(build::block([body, counts(inside)]));
            (Stmt::Realize { func, bounds, when, body }, out)
        }
        other => (other, Lifted::new()),
    }
}

fn lift_of_loop(program: &Program, l: For) -> (Stmt, Lifted) {
    let For { id, kind, min, extent, condition, body } = l;
    let (body, lifted) = lift(program, body);
    let times = build::max(extent.clone(), build::int(0));
    let runs_all = condition.is_none();
    let same = |amount: &Expr| runs_all && !uses(amount, Sym::Loop(id)) && !reads(&times);
    let (out, inside) = split(lifted, |amount| same(amount).then(|| build::mul(times.clone(), amount.clone())));
    let body = build::block([body, counts(inside)]);
    match body {
        Stmt::Block(list) if list.is_empty() => (build::nothing(), out),
        body => (build::loop_of(For { id, kind, min, extent, condition, body }), out),
    }
}

fn lift_of_branch(program: &Program, cond: Expr, then: Stmt, otherwise: Stmt) -> (Stmt, Lifted) {
    let ((then, yes), (otherwise, no)) = (lift(program, then), lift(program, otherwise));
    if reads(&cond) {
        let arms = [(then, yes), (otherwise, no)].map(|(arm, lifted)| build::block([arm, counts(lifted)]));
        let [then, otherwise] = arms;
        return (build::if_else(cond, then, otherwise), Lifted::new());
    }
    let mut all = Lifted::new();
    for (counter, amount) in yes {
        add(&mut all, counter, build::select(cond.clone(), amount, build::int(0)));
    }
    for (counter, amount) in no {
        add(&mut all, counter, build::select(cond.clone(), build::int(0), amount));
    }
    match (&then, &otherwise) {
        (Stmt::Block(a), Stmt::Block(b)) if a.is_empty() && b.is_empty() => (build::nothing(), all),
        _ => (build::if_else(cond, then, otherwise), all),
    }
}

/// An amount in terms of what is visible around names; `None` if a name that it uses reads data.
fn without_names(amount: &Expr, bindings: &[(Sym, Expr)]) -> Option<Expr> {
    // A binding sees those before it.
    let whole = bindings.iter().rev().fold(amount.clone(), |amount, (symbol, value)| {
        substitute(&amount, &|s| (s == *symbol).then(|| value.clone()))
    });
    (!reads(&whole)).then_some(whole)
}

fn reads(e: &Expr) -> bool {
    any_node(e, |e| matches!(e.kind(), ExprKind::Read { .. } | ExprKind::Load { .. }))
}

/// Returns true if an amount depends on the shape of a buffer that the program allocates.
fn speaks_of_storage(program: &Program, amount: &Expr) -> bool {
    any_node(amount, |e| match e.kind() {
        ExprKind::Sym(Sym::Buffer { buf, .. }) => program.buffers[*buf].role == BufferRole::Internal,
        _ => false,
    })
}
