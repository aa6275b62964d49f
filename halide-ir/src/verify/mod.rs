//! Checks that a program is well formed for its [`Stage`]. Run after every pass in debug and test builds.
//!
//! At every stage:
//! - Ids index their tables; table rows are consistent (one entry per dimension, unique buffer names, an order that is
//!   a permutation, positive alignments and folds).
//! - Every expression has the type that its smart constructor gives it. Bounds of loops, sizes and arguments of faults
//!   are scalar Index, conditions of `If` and `Assert` scalar `Bool`.
//! - A symbol that is not a `Temp` is bound to a scalar Index. Temps and loop variables are bound where they are used.
//!   Every loop has an id of its own. Properties of inputs and outputs are given by the caller and never bound.
//! - Coordinates and values agree in lanes with each other and with their mask; values have their buffer's type.
//! - Inputs are never written. An internal buffer is used only inside its `Realize` or `Alloc`, which do not nest.
//! - A buffer is not used after its `Free`, which stands in the same loops and branches as its allocation.
//! - A `Call` hands internal buffers to its closure, each once, those that it writes first, with a box of as many
//!   dimensions as each has, which is one for all that it writes.
//! - An `Assert` gives its fault as many arguments as the message shows; a `Print` has as many values as its line.
//! - No block directly holds a block.
//!
//! By stage:
//! - until `Nest` only: `Sym::Bound`, `Sym::Stored` and properties of internal buffers may be free.
//! - before `Flat`: no `Alloc`, `Load`, `Store`. From `Flat` on: no `Realize`, `Read`, `Provide`, and each symbol is
//!   bound once in the whole program.
//! - before `Shaped`: all expressions are scalar, and nothing is freed early. From `Shaped` on: no `Vectorized` or
//!   `Unrolled` loops.
//! - before `Final`: no tasks. `Final`: no `Parallel` loops; a task uses nothing but its variable, captures, listed
//!   buffers and what the caller gives; captures and buffers are available, with these types, at each launch; tasks do
//!   not launch themselves.
//! - before `Shaped`: no kernels. `Final`: no loops over blocks or threads outside of kernels.
//!
//! In kernels:
//! - Captures are scalars, available with these types at each dispatch, which gives one extent for each loop over
//!   blocks. The body uses nothing but captures, its loops over blocks, and the parameters and buffers that are listed,
//!   these as listed. From `Final` on these buffers have a copy on the device.
//! - Loops over threads stand directly in each other, at most three. Stores are inside of them, barriers outside.
//! - Allocations have constant sizes; those outside of loops over threads have a place in shared memory.
//! - There are no checks, calls, counts, launches, or host code for devices.
//!
//! The cost is near-linear: a shared expression is visited once for as long as the scopes it depends on stay open.

mod call;
mod expr;
mod kernel;
mod memory;
mod tables;
mod tasks;
#[cfg(test)]
mod tests;

use super::stmt::{For, ForKind, Stmt, Task};
use super::sym::{BufId, FaultId, KernelId, LoopId, PrintId, Sym, TaskId};
use crate::buffer_info::BufferRole;
use crate::expr::{Expr, Type};
use crate::hash::{Map, Set};
use crate::print;
use crate::program::{Program, Stage};
use crate::tuning::MOST_ERRORS;
use crate::visit;
use halide_core::ids::{FuncId, Id};
use halide_core::pipeline::Piece;
use std::collections::BTreeMap;
use std::fmt;

/// A rule that does not hold: always a bug of the pass that made the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The enclosing loops, Funcs and tasks, outermost first; empty at the top.
    pub place: String,
    /// The broken rule, and what breaks it.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.place, self.message) }
    }
}

/// Checks every rule of the program's stage; the error lists what does not hold (the first hundred).
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut v = Verifier::new(program);
    v.tables();
    v.enter_root();
    v.stmt(&program.body);
    for (id, task) in program.tasks.enumerate() {
        v.task(id, task);
    }
    for (id, kernel) in program.kernels.enumerate() {
        v.kernel(id, kernel);
    }
    v.launch_cycles();
    if v.errors.is_empty() { Ok(()) } else { Err(v.errors) }
}

/// One enclosing construct, for messages.
#[derive(Clone, Copy)]
enum Place {
    Loop(LoopId),
    Func(FuncId),
    Task(TaskId),
    Kernel(KernelId),
}

struct Verifier<'a> {
    program: &'a Program,
    errors: Vec<VerifyError>,
    place: Vec<Place>,
    /// Serial numbers of the open scopes, outermost first. A scope binds symbols or makes buffers available.
    scopes: Vec<u32>,
    next_serial: u32,
    /// The scope that binds each symbol (a position in `scopes`) and its type, innermost binding last.
    bound: Map<Sym, Vec<(usize, Type)>>,
    /// The scope that makes each internal buffer available (a position in `scopes`).
    available: Map<BufId, usize>,
    /// The number of loops and branches around the allocation of each available buffer.
    allocated_in: Map<BufId, u32>,
    /// The number of loops and branches around the statement at hand.
    nesting: u32,
    /// For each checked node: position and serial of the innermost scope that it depends on.
    checked: Map<usize, (usize, u32)>,
    /// Symbols that were bound somewhere, for the rule that each is bound once.
    ever_bound: Set<Sym>,
    loops: Set<LoopId>,
    /// The tasks that each task launches.
    launches: BTreeMap<TaskId, Vec<TaskId>>,
    /// The kind of code that the statement at hand is in.
    code: Code,
}

impl<'a> Verifier<'a> {
    fn new(program: &'a Program) -> Verifier<'a> {
        Verifier {
            program,
            errors: Vec::new(),
            place: Vec::new(),
            scopes: Vec::new(),
            next_serial: 0,
            bound: Map::default(),
            available: Map::default(),
            allocated_in: Map::default(),
            nesting: 0,
            checked: Map::default(),
            ever_bound: Set::default(),
            loops: Set::default(),
            launches: BTreeMap::new(),
            code: Code::Host,
        }
    }

    fn error(&mut self, message: impl Into<String>) {
        if self.errors.len() < MOST_ERRORS {
            let place: Vec<String> = self.place.iter().map(|p| self.place_text(*p)).collect();
            self.errors.push(VerifyError { place: place.join(" > "), message: message.into() });
        }
    }

    fn place_text(&self, place: Place) -> String {
        match place {
            Place::Loop(id) => print::sym_in(Sym::Loop(id), self.program),
            Place::Func(id) => print::func_in(id, self.program),
            Place::Task(id) => format!("{id:?}"),
            Place::Kernel(id) => format!("{id:?}"),
        }
    }

    /// `what`, and the expression as text, cut where it is long.
    fn bad(&mut self, what: impl fmt::Display, e: &Expr) {
        let text = print::expr_in(e, self.program);
        let short: String = text.chars().take(160).collect();
        let dots = if short.len() < text.len() { "..." } else { "" };
        self.error(format!("{what}: {short}{dots}"));
    }

    fn stage(&self) -> Stage {
        self.program.stage
    }

    /// A fresh outermost scope: of the program, or of a task.
    fn enter_root(&mut self) {
        self.scopes.clear();
        self.bound.clear();
        self.available.clear();
        self.allocated_in.clear();
        self.open();
    }

    fn open(&mut self) {
        self.scopes.push(self.next_serial);
        self.next_serial += 1;
    }

    fn depth(&self) -> usize {
        self.scopes.len() - 1
    }

    fn stmt(&mut self, s: &Stmt) {
        visit::deep(|| self.one(s));
    }

    fn one(&mut self, s: &Stmt) {
        self.allowed(s);
        match s {
            Stmt::Block(list) => self.block(list),
            Stmt::Let { bindings, body } => self.let_in(bindings, body),
            Stmt::For(l) => self.for_loop(l),
            Stmt::If { cond, then, otherwise } => {
                self.scalar(cond, Type::BOOL, "a condition");
                self.nesting += 1;
                self.stmt(then);
                self.stmt(otherwise);
                self.nesting -= 1;
            }
            Stmt::Assert { cond, fault, args } => self.assert(cond, *fault, args),
            Stmt::Print { line, when, args } => self.print(*line, when, args),
            Stmt::Produce { func, body } => {
                self.known_func(*func);
                self.inside(Place::Func(*func), |v| v.stmt(body));
            }
            Stmt::Atomic { func, body } => {
                self.known_func(*func);
                let simple = |s: &Stmt| {
                    matches!(s, Stmt::Let { .. } | Stmt::Block(_) | Stmt::Provide { .. } | Stmt::Store { .. })
                };
                if walk_any(body, &mut |s| !simple(s)) {
                    self.error("an Atomic holds more than names and stores");
                }
                self.inside(Place::Func(*func), |v| v.stmt(body));
            }
            Stmt::Realize { func, bounds, when, body } => self.realize(*func, bounds, when.as_ref(), body),
            Stmt::Provide { func, args, values, mask } => self.provide(*func, args, values, mask.as_ref()),
            Stmt::Alloc { buf, count, constant, body } => self.alloc(*buf, count, *constant, body),
            Stmt::Store { buf, index, value, mask } => self.store(*buf, index, value, mask.as_ref()),
            Stmt::Free { buf } => self.free(*buf),
            Stmt::Prefetch { buf, at, .. } => self.prefetch(*buf, at),
            Stmt::Call { callee, args } => self.call(*callee, args),
            Stmt::Count { counter, amount } => {
                if *counter as usize >= self.program.counters.len() {
                    self.error(format!("counter {counter} is not in the table"));
                }
                self.scalar(amount, Type::INDEX, "the amount of a count");
            }
            Stmt::Launch { task, min, extent } => self.launch(*task, min, extent),
            Stmt::Dispatch { kernel, grid } => self.dispatch(*kernel, grid),
            Stmt::Reside { buf, .. } => self.reside(*buf),
            Stmt::Barrier => {}
        }
    }

    fn inside(&mut self, place: Place, f: impl FnOnce(&mut Self)) {
        self.place.push(place);
        f(self);
        self.place.pop();
    }

    fn block(&mut self, list: &[Stmt]) {
        for s in list {
            if matches!(s, Stmt::Block(_)) {
                self.error("a block directly in a block");
            }
            self.stmt(s);
        }
    }

    fn let_in(&mut self, bindings: &[(Sym, Expr)], body: &Stmt) {
        self.open();
        for (s, value) in bindings {
            self.expr(value);
            if !matches!(s, Sym::Temp(_)) && value.ty() != Type::INDEX {
                self.bad(format!("{} is bound to {}, not to a scalar Index", self.sym(*s), value.ty()), value);
            }
            if let Sym::Buffer { buf, .. } = s
                && self.program.buffers.get(*buf).is_some_and(|b| b.role != BufferRole::Internal)
            {
                self.error(format!("{} belongs to the caller and is bound", self.sym(*s)));
            }
            self.bind(*s, value.ty());
        }
        self.stmt(body);
        for (s, _) in bindings.iter().rev() {
            self.unbind(*s);
        }
        self.scopes.pop();
    }

    /// Binds a symbol in the innermost scope.
    fn bind(&mut self, s: Sym, ty: Type) {
        self.known_sym(s);
        if !self.ever_bound.insert(s) && self.stage() >= Stage::Flat {
            self.error(format!("{} is bound twice", self.sym(s)));
        }
        let depth = self.depth();
        self.bound.entry(s).or_default().push((depth, ty));
    }

    fn unbind(&mut self, s: Sym) {
        if let Some(stack) = self.bound.get_mut(&s) {
            stack.pop();
        }
    }

    fn for_loop(&mut self, l: &For) {
        self.scalar(&l.min, Type::INDEX, "the min of a loop");
        self.scalar(&l.extent, Type::INDEX, "the extent of a loop");
        self.loop_condition(l);
        if !self.loops.insert(l.id) {
            self.error(format!("two loops are {}", self.sym(Sym::Loop(l.id))));
        }
        let gone = match l.kind {
            ForKind::Serial | ForKind::GpuBlocks | ForKind::GpuThreads | ForKind::GpuLanes => false,
            ForKind::Parallel => self.stage() >= Stage::Final,
            ForKind::Vectorized | ForKind::Unrolled => self.stage() >= Stage::Shaped,
        };
        if gone {
            self.error(format!("{} is {:?} at {:?}", self.sym(Sym::Loop(l.id)), l.kind, self.stage()));
        }
        self.open();
        self.bind(Sym::Loop(l.id), Type::INDEX);
        self.nesting += 1;
        let code = self.enter_loop(l);
        let outer = std::mem::replace(&mut self.code, code);
        self.inside(Place::Loop(l.id), |v| v.stmt(&l.body));
        self.code = outer;
        self.nesting -= 1;
        self.unbind(Sym::Loop(l.id));
        self.scopes.pop();
    }

    /// A condition is asked before its loop's variable has a value, of loops whose iterations follow each other.
    fn loop_condition(&mut self, l: &For) {
        let Some(condition) = &l.condition else { return };
        self.scalar(condition, Type::BOOL, "the condition of a loop");
        if l.kind != ForKind::Serial {
            self.error(format!("{} is {:?} and has a condition", self.sym(Sym::Loop(l.id)), l.kind));
        }
        if self.stage() < Stage::Shaped {
            self.error(format!("{} has a condition at {:?}", self.sym(Sym::Loop(l.id)), self.stage()));
        }
    }

    fn assert(&mut self, cond: &Expr, fault: FaultId, args: &[Expr]) {
        self.scalar(cond, Type::BOOL, "an asserted condition");
        match self.program.faults.get(fault).map(|f| f.arity()) {
            None => self.error(format!("{fault:?} is not in the table")),
            Some(Some(n)) if n != args.len() => {
                self.error(format!("{fault:?} takes {n} arguments and gets {}", args.len()));
            }
            Some(_) => {}
        }
        for a in args {
            self.scalar(a, Type::INDEX, "an argument of a fault");
        }
    }

    fn print(&mut self, line: PrintId, when: &Expr, args: &[Expr]) {
        self.scalar(when, Type::BOOL, "the condition of a print");
        let places = |pieces: &Vec<Piece>| pieces.iter().filter(|p| **p == Piece::Value).count();
        match self.program.prints.get(line).map(places) {
            None => self.error(format!("{line:?} is not in the table")),
            Some(n) if n != args.len() => self.error(format!("{line:?} shows {n} values and gets {}", args.len())),
            Some(_) => {}
        }
        for a in args {
            self.expr(a);
            if a.ty().is_index() || a.lanes() != 1 {
                self.bad(format!("a print shows {}, not scalar data", a.ty()), a);
            }
        }
    }

    fn until_flat(&mut self, what: &str) {
        if self.stage() >= Stage::Flat {
            self.error(format!("a {what} at {:?}", self.stage()));
        }
    }

    fn since_flat(&mut self, what: &str) {
        if self.stage() < Stage::Flat {
            self.error(format!("{what} at {:?}", self.stage()));
        }
    }

    fn sym(&self, s: Sym) -> String {
        print::sym_in(s, self.program)
    }

    fn buf(&self, b: BufId) -> String {
        print::buf_in(b, self.program)
    }
}

/// Returns true if `s` or a statement in it satisfies `test`.
fn walk_any(s: &Stmt, test: &mut impl FnMut(&Stmt) -> bool) -> bool {
    let mut found = test(s);
    visit::for_each_stmt(s, |inner| found = found || walk_any(inner, test));
    found
}

/// The kinds of code that a statement may be in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Host,
    /// Kernel code outside of phases.
    Block,
    /// Kernel code in a loop over threads.
    Phase,
}
