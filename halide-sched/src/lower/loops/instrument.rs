//! Counts what is computed and what is allocated.
//!
//! Before: `Stage::Bounded`. After: the same with `Count` statements of every quantity of [`Counted`].
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
//! count c3 += max(out#b2.extent0, 0)
//! count c4 += 1
//! realize f#f0 [0 extent out#b2.extent0] {
//!   for x#L0 from 0 extent out#b2.extent0 {
//!     count c2 += 1
//!     count c5 += 1
//!     count c6 += 1
//!     count c8 += 1
//!     provide f#f0(x#L0): f#b1 = in#b0(x#L0)
//!   }
//! }
//! ```

use crate::lower::walk;
use halide_core::ids::FuncId;
use halide_ir::visit::{for_each_node, nested, substitute};
use halide_ir::{BufId, CallArg, CalleeId, Expr, ExprKind, Program, Stmt, Sym, build};
use std::collections::BTreeMap;

/// The quantities that are counted of each Func.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counted {
    /// Points computed, by all definitions; one that is computed twice counts twice.
    Points,
    /// Elements allocated in all, as the algorithm needs them and folded as scheduled, without padding.
    Elements,
    /// Allocations.
    Allocations,
    /// Bytes that its definitions read: each distinct access once for a point, on whichever side of a selection.
    Loaded,
    /// Bytes that its definitions store.
    Stored,
    /// Operations on data of its definitions: each distinct one once for a point, whatever the vectors.
    Operations,
}

impl Counted {
    /// All of them, in the order of their counters.
    pub const ALL: [Counted; 6] = [
        Counted::Points,
        Counted::Elements,
        Counted::Allocations,
        Counted::Loaded,
        Counted::Stored,
        Counted::Operations,
    ];

    /// Returns the name of the counter of the Func `func`.
    pub fn counter(self, func: &str) -> String {
        let what = match self {
            Counted::Points => "points computed",
            Counted::Elements => "elements allocated",
            Counted::Allocations => "allocations",
            Counted::Loaded => "bytes loaded",
            Counted::Stored => "bytes stored",
            Counted::Operations => "operations",
        };
        format!("{func}: {what}")
    }
}

/// The meaning of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The Func whose definitions do what is counted.
    pub func: FuncId,
    /// The quantity.
    pub what: Counted,
    /// The buffer that bytes are read from, where one is counted apart; `None` for all of the quantity.
    pub from: Option<BufId>,
}

/// Adds counts to every definition and every allocation. Also returns what the program's counters count, in their
/// order.
pub fn instrument(program: Program) -> (Program, Vec<Counter>) {
    let mut counters = Vec::new();
    let program = walk::map_body(program, |body, program| {
        let (first, sources) = (BTreeMap::new(), BTreeMap::new());
        statement(&mut Instrument { program, first, sources, counters: &mut counters }, body)
    });
    (program, counters)
}

struct Instrument<'p> {
    program: &'p mut Program,
    /// The number of the first counter of each Func seen.
    first: BTreeMap<FuncId, u32>,
    /// The counter of the bytes that a Func reads from a buffer.
    sources: BTreeMap<(FuncId, BufId), u32>,
    counters: &'p mut Vec<Counter>,
}

impl Instrument<'_> {
    fn count(&mut self, func: FuncId, what: Counted, amount: Expr) -> Stmt {
        let Instrument { program, first, counters, .. } = self;
        let first = *first.entry(func).or_insert_with(|| {
            let start = program.counters.len() as u32;
            program.counters.extend(Counted::ALL.map(|what| what.counter(program.func_name(func))));
            counters.extend(Counted::ALL.map(|what| Counter { func, what, from: None }));
            start
        });
        Stmt::Count { counter: first + what as u32, amount }
    }

    /// Counts bytes that a Func reads from one buffer.
    fn count_source(&mut self, func: FuncId, buf: BufId, amount: Expr) -> Stmt {
        let Instrument { program, sources, counters, .. } = self;
        let counter = *sources.entry((func, buf)).or_insert_with(|| {
            let all = Counted::Loaded.counter(program.func_name(func));
            program.counters.push(format!("{all} from {}", program.buffers[buf].name));
            counters.push(Counter { func, what: Counted::Loaded, from: Some(buf) });
            program.counters.len() as u32 - 1
        });
        Stmt::Count { counter, amount }
    }

    /// The counts of `points` points of one definition, which do this work each.
    fn of_points(&mut self, func: FuncId, points: &Expr, work: &Work) -> Vec<Stmt> {
        let mut counts = vec![self.count(func, Counted::Points, points.clone())];
        let each =
            [(Counted::Loaded, work.loaded), (Counted::Stored, work.stored), (Counted::Operations, work.operations)];
        for (what, amount) in each.into_iter().filter(|(_, amount)| *amount > 0) {
            counts.push(self.count(func, what, build::mul(points.clone(), build::int(amount))));
        }
        for (buf, bytes) in &work.sources {
            counts.push(self.count_source(func, *buf, build::mul(points.clone(), build::int(*bytes))));
        }
        counts
    }

    /// The counts of a call: the points of its box, and the bytes of all boxes. What the closure does is its own.
    fn of_call(&mut self, callee: CalleeId, args: &[CallArg]) -> Vec<Stmt> {
        let (results, updates) = (self.program.callees[callee].results, self.program.callees[callee].updates);
        let owner = args.first().and_then(|first| {
            let has_it = |(_, bufs): &(FuncId, &Vec<BufId>)| bufs.contains(&first.buf);
            self.program.func_buffers.enumerate().find(has_it).map(|(func, _)| func)
        });
        let Some(func) = owner else { return Vec::new() };
        let points = |arg: &CallArg| {
            let extents = arg.bounds.iter().map(|(_, extent)| build::max(extent.clone(), build::int(0)));
            extents.fold(build::int(1), build::mul)
        };
        let all = args.first().map_or(build::int(0), points);
        // Inputs are not looked at where there is nothing to compute.
        let is_called = build::lt(build::int(0), all.clone());
        let mut counts = vec![self.count(func, Counted::Points, all)];
        for (n, arg) in args.iter().enumerate() {
            let bytes = build::mul(points(arg), build::int(self.program.buffers[arg.buf].elem.bytes() as i64));
            if n < results {
                counts.push(self.count(func, Counted::Stored, bytes.clone()));
                if updates {
                    counts.push(self.count(func, Counted::Loaded, bytes));
                }
                continue;
            }
            let bytes = build::select(is_called.clone(), bytes, build::int(0));
            counts.push(self.count(func, Counted::Loaded, bytes.clone()));
            counts.push(self.count_source(func, arg.buf, bytes));
        }
        counts
    }
}

fn statement(cx: &mut Instrument<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::Provide { func, ref mask, .. } => {
            let work = Work::of(cx.program, &s);
            let counts = cx.of_points(func, &stored(mask.as_ref()), &work);
            build::block(counts.into_iter().chain([s]))
        }
        // A step holds names and stores only, so its points are counted in front of it.
        Stmt::Atomic { func, ref body } => {
            let mut provides = Vec::new();
            stored_in(body, &mut BTreeMap::new(), &mut provides);
            let mut counts = Vec::new();
            for (points, provide) in provides {
                let work = Work::of(cx.program, provide);
                counts.extend(cx.of_points(func, &points, &work));
            }
            build::block(counts.into_iter().chain([s]))
        }
        Stmt::Call { callee, ref args } => {
            let counts = cx.of_call(callee, args);
            build::block(counts.into_iter().chain([s]))
        }
        Stmt::Realize { func, bounds, when, body } => {
            let needed = |amount| when.iter().fold(amount, |n, when| build::select(when.clone(), n, build::int(0)));
            let all = needed(elements(cx.program, func, &bounds));
            let elements = cx.count(func, Counted::Elements, all);
            let once = cx.count(func, Counted::Allocations, needed(build::int(1)));
            let body = statement(cx, *body);
            build::block([elements, once, Stmt::Realize { func, bounds, when, body: Box::new(body) }])
        }
        other => walk::map_stmt(other, cx, |_, e| e.clone(), statement),
    }
}

/// The work of a definition for one point.
#[derive(Clone, Default)]
struct Work {
    loaded: i64,
    /// The bytes that are loaded from each buffer.
    sources: BTreeMap<BufId, i64>,
    stored: i64,
    operations: i64,
}

impl Work {
    /// The work of a store.
    fn of(program: &Program, provide: &Stmt) -> Work {
        let Stmt::Provide { args, values, mask, .. } = provide else { return Work::default() };
        let size = |buf| program.buffers[buf].elem.bytes() as i64;
        let mut work = Work { stored: values.iter().map(|(buf, _)| size(*buf)).sum(), ..Work::default() };
        // One expression of all of them has each distinct node once.
        let mut seen = halide_ir::hash::Set::default();
        let roots = args.iter().chain(mask).chain(values.iter().map(|(_, value)| value));
        for root in roots {
            for_each_node(root, &mut |e| {
                if !seen.insert(e.clone()) {
                    return;
                }
                match e.kind() {
                    ExprKind::Read { buf, .. } => {
                        work.loaded += size(*buf);
                        *work.sources.entry(*buf).or_default() += size(*buf);
                    }
                    kind => work.operations += i64::from(is_operation(kind) && !e.ty().is_index()),
                }
            });
        }
        work
    }
}

/// Returns true for what a processor has an instruction for, or several.
fn is_operation(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Select(..)
        | ExprKind::Cast(_)
        | ExprKind::SaturatingCast(_)
        | ExprKind::Math(..)
        | ExprKind::Intrinsic(..) => true,
        ExprKind::Const(_)
        | ExprKind::Int(_)
        | ExprKind::Sym(_)
        | ExprKind::Param(_)
        | ExprKind::Reinterpret(_)
        | ExprKind::Likely(_)
        | ExprKind::Read { .. }
        | ExprKind::Load { .. }
        | ExprKind::Ramp { .. }
        | ExprKind::Broadcast(_)
        | ExprKind::Shuffle(..) => false,
    }
}

/// The number of points that a definition under a mask stores: one or none.
fn stored(mask: Option<&Expr>) -> Expr {
    let one = build::int(1);
    mask.map_or(one.clone(), |m| build::select(m.clone(), one, build::int(0)))
}

/// The definitions of an atomic step, each with the number of points that it stores, without the names of the step.
fn stored_in<'s>(step: &'s Stmt, names: &mut BTreeMap<Sym, Expr>, provides: &mut Vec<(Expr, &'s Stmt)>) {
    match step {
        Stmt::Provide { mask, .. } => {
            provides.push((substitute(&stored(mask.as_ref()), &|s| names.get(&s).cloned()), step));
        }
        Stmt::Let { bindings, body } => {
            for (symbol, value) in bindings {
                let value = substitute(value, &|s| names.get(&s).cloned());
                names.insert(*symbol, value);
            }
            stored_in(body, names, provides);
        }
        other => nested(other).for_each(|inner| stored_in(inner, names, provides)),
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
