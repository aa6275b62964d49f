//! Counts what is computed and what is allocated.
//!
//! Before: `Stage::Bounded`. After: the same with `Count` statements: for every Func the points computed (a point that
//! is computed twice counts twice), the elements allocated in all, and the number of allocations. An allocation counts
//! what the algorithm needs, folded as scheduled, without padding.
//!
//! The pass runs before storage is flattened, since a later pass may compute several points by one statement.
//!
//! Example:
//! ```text
//! realize f#f0 [0 extent out#b2.extent0] {
//!   for x#L0 from 0 extent out#b2.extent0 {
//!     provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!   }
//! }
//! ```
//! becomes
//! ```text
//! count c1 += max(out#b2.extent0, 0)
//! count c2 += 1
//! realize f#f0 [0 extent out#b2.extent0] {
//!   for x#L0 from 0 extent out#b2.extent0 {
//!     count c0 += 1
//!     provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!   }
//! }
//! ```

use crate::lower::walk;
use halide_core::ids::FuncId;
use halide_ir::visit::{nested, substitute};
use halide_ir::{Expr, Program, Stmt, Sym, build};
use std::collections::BTreeMap;

/// The names of the counters of the Func `func`: points computed, elements allocated, allocations.
pub fn counter_names(func: &str) -> [String; 3] {
    [format!("{func}: points computed"), format!("{func}: elements allocated"), format!("{func}: allocations")]
}

/// Adds a count to every definition and every allocation.
pub fn instrument(program: Program) -> Program {
    walk::map_body(program, |body, program| statement(&mut Instrument { program, first: BTreeMap::new() }, body))
}

struct Instrument<'p> {
    program: &'p mut Program,
    /// The number of the first of the three counters of each Func seen.
    first: BTreeMap<FuncId, u32>,
}

impl Instrument<'_> {
    fn counters(&mut self, func: FuncId) -> u32 {
        let Instrument { program, first } = self;
        *first.entry(func).or_insert_with(|| {
            let start = program.counters.len() as u32;
            program.counters.extend(counter_names(program.func_name(func)));
            start
        })
    }
}

fn statement(cx: &mut Instrument<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Provide { func, ref mask, .. } => {
            let count = Stmt::Count { counter: cx.counters(func), amount: stored(mask.as_ref()) };
            build::block([count, s])
        }
        // A step holds names and stores only, so its points are counted in front of it.
        Stmt::Atomic { func, ref body } => {
            let mut amounts = Vec::new();
            stored_in(body, &mut BTreeMap::new(), &mut amounts);
            let counter = cx.counters(func);
            let counts = amounts.into_iter().map(|amount| Stmt::Count { counter, amount });
            build::block(counts.chain([s.clone()]))
        }
        Stmt::Realize { func, bounds, when, body } => {
            let first = cx.counters(func);
            let needed = |amount| when.iter().fold(amount, |n, when| build::select(when.clone(), n, build::int(0)));
            let elements = Stmt::Count { counter: first + 1, amount: needed(elements(cx.program, func, &bounds)) };
            let once = Stmt::Count { counter: first + 2, amount: needed(build::int(1)) };
            let body = statement(cx, *body);
            build::block([elements, once, Stmt::Realize { func, bounds, when, body: Box::new(body) }])
        }
        other => walk::map_stmt(other, cx, |_, e| e.clone(), statement),
    }
}

/// The number of points that a definition under a mask stores: one or none.
fn stored(mask: Option<&Expr>) -> Expr {
    let one = build::int(1);
    mask.map_or(one.clone(), |m| build::select(m.clone(), one, build::int(0)))
}

/// The numbers of points that the definitions of an atomic step store, without the names of the step.
fn stored_in(step: &Stmt, names: &mut BTreeMap<Sym, Expr>, amounts: &mut Vec<Expr>) {
    match step {
        Stmt::Provide { mask, .. } => amounts.push(substitute(&stored(mask.as_ref()), &|s| names.get(&s).cloned())),
        Stmt::Let { bindings, body } => {
            for (symbol, value) in bindings {
                let value = substitute(value, &|s| names.get(&s).cloned());
                names.insert(*symbol, value);
            }
            stored_in(body, names, amounts);
        }
        other => nested(other).for_each(|inner| stored_in(inner, names, amounts)),
    }
}

/// The number of elements of one tuple element that a realization holds.
fn elements(program: &Program, func: FuncId, bounds: &[(Expr, Expr)]) -> Expr {
    let info = &program.buffers[program.func_buffers[func][0]];
    let extents = bounds.iter().enumerate().map(|(d, (_, extent))| match info.fold[d] {
        Some(factor) => build::int(factor),
        None => build::max(extent.clone(), build::int(0)),
    });
    extents.fold(build::int(1), build::mul)
}
