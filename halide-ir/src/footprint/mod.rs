//! The memory of a program that is known before it runs.
//!
//! A [`Footprint`] is made once per program: its allocations on the heap in the order of the code, with what decides
//! about them. For given arguments it says how many bytes are allocated at once, at least: allocations whose sizes,
//! loops and conditions depend on nothing that the run computes count, and others do not.

mod limit;
mod text;

use crate::buffer_info::BufferRole;
use crate::buffer_info::Side;
use crate::build;
use crate::expr::{Elem, Expr, ExprKind};
use crate::hash::Map;
use crate::program::Program;
use crate::stmt::Stmt;
use crate::sym::{BufId, Sym};
use crate::tuning::{DEEPEST_TASK, SMALL_ALLOCATION};
use crate::visit::{deep, for_each_node, for_each_stmt};
use halide_core::buffer::Dim;
use halide_core::ids::Id;
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::DimField;
use halide_core::value::{self, Scalar};

/// The allocations of a program.
#[derive(Default)]
pub struct Footprint {
    steps: Vec<Step>,
    /// The values of names, as far as a step needs them.
    names: Map<Sym, Expr>,
}

/// An event that decides about memory, in the order of the code.
enum Step {
    /// So many elements of this size begin to live.
    Begin { buf: BufId, count: Expr, size: u64 },
    /// They end.
    End(BufId),
    /// The run ends here unless a condition holds.
    Check(Expr),
    /// Goes on at a later step unless a condition is known to hold.
    Unless { holds: Expr, next: usize },
}

/// The memory that a run has at once, at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// The bytes of all allocations together.
    pub bytes: u64,
    /// The largest of those that live then.
    pub largest: Option<(BufId, u64)>,
}

impl Footprint {
    /// The allocations of `program`, which is at stage `Final`.
    pub fn new(program: &Program) -> Footprint {
        let mut made = Footprint::default();
        let mut names = Map::default();
        collect(program, &program.body, &mut made.steps, &mut names, 0);
        // Names of what no step asks for are left out.
        let mut open: Vec<Expr> = made.steps.iter().filter_map(Step::expr).cloned().collect();
        while let Some(e) = open.pop() {
            for_each_node(&e, &mut |n| {
                if let ExprKind::Sym(s) = n.kind()
                    && let Some(value) = names.remove(s)
                {
                    open.push(value.clone());
                    made.names.insert(*s, value);
                }
            });
        }
        made
    }

    /// Returns true if nothing is ever known.
    pub fn is_empty(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step, Step::Begin { .. }))
    }

    /// The memory of a run with these parameters, where `dims` has the dimensions of each input and output. With
    /// `checks`, up to a check of the program that fails.
    pub fn known(&self, params: &[Scalar], dims: &dyn Fn(BufId) -> Option<Vec<Dim>>, checks: bool) -> Known {
        let mut known = Known { bytes: 0, largest: None };
        if self.is_empty() {
            return known;
        }
        let (known_names, buffers, nodes) = (Map::default(), Map::default(), Map::default());
        let mut values = Values { footprint: self, params, dims, known: known_names, buffers, nodes };
        let mut live: Vec<(BufId, u64)> = Vec::new();
        let mut at = 0;
        while let Some(step) = self.steps.get(at) {
            at += 1;
            match step {
                Step::Begin { buf, count, size } => {
                    let count = deep(|| values.index(count)).unwrap_or(0).max(0) as u64;
                    live.push((*buf, count.saturating_mul(*size)));
                    let bytes = live.iter().fold(0u64, |all, (_, bytes)| all.saturating_add(*bytes));
                    if bytes > known.bytes {
                        known = Known { bytes, largest: live.iter().copied().max_by_key(|(_, bytes)| *bytes) };
                    }
                }
                Step::End(buf) => {
                    if let Some(place) = live.iter().rposition(|(b, _)| b == buf) {
                        live.remove(place);
                    }
                }
                Step::Check(holds) => {
                    if checks && deep(|| values.truth(holds)) == Some(false) {
                        return known;
                    }
                }
                Step::Unless { holds, next } => {
                    if deep(|| values.truth(holds)) != Some(true) {
                        at = *next;
                    }
                }
            }
        }
        known
    }
}

impl Step {
    fn expr(&self) -> Option<&Expr> {
        match self {
            Step::Begin { count, .. } => Some(count),
            Step::Unless { holds, .. } | Step::Check(holds) => Some(holds),
            Step::End(_) => None,
        }
    }
}

fn collect(program: &Program, s: &Stmt, steps: &mut Vec<Step>, names: &mut Map<Sym, Expr>, tasks: usize) {
    deep(|| match s {
        Stmt::Let { bindings, body } => {
            names.extend(bindings.iter().filter(|(_, e)| e.lanes() == 1).cloned());
            collect(program, body, steps, names, tasks);
        }
        Stmt::Alloc { buf, count, constant, body } => {
            let info = &program.buffers[*buf];
            let size = info.elem.bytes() as u64;
            let small = constant.and_then(|n| n.checked_mul(size)).is_some_and(|bytes| bytes <= SMALL_ALLOCATION);
            let counts = !small && info.side != Side::Device && info.role == BufferRole::Internal;
            if counts {
                steps.push(Step::Begin { buf: *buf, count: count.clone(), size });
            }
            collect(program, body, steps, names, tasks);
            if counts {
                steps.push(Step::End(*buf));
            }
        }
        Stmt::Free { buf } => steps.push(Step::End(*buf)),
        Stmt::Assert { cond, .. } => steps.push(Step::Check(cond.clone())),
        Stmt::For(l) => {
            if build::as_int(&l.extent) == Some(1) {
                names.insert(Sym::Loop(l.id), l.min.clone());
            }
            let runs = build::lt(build::int(0), l.extent.clone());
            guarded(runs, steps, |steps| collect(program, &l.body, steps, names, tasks));
        }
        Stmt::If { cond, then, otherwise } => {
            guarded(cond.clone(), steps, |steps| collect(program, then, steps, names, tasks));
            guarded(build::not(cond.clone()), steps, |steps| collect(program, otherwise, steps, names, tasks));
        }
        Stmt::Launch { task, min, extent } if tasks < DEEPEST_TASK => {
            let Some(task) = program.tasks.get(*task) else { return };
            if build::as_int(extent) == Some(1) {
                names.insert(Sym::Loop(task.id), min.clone());
            }
            let runs = build::lt(build::int(0), extent.clone());
            guarded(runs, steps, |steps| collect(program, &task.body, steps, names, tasks + 1));
        }
        _ => for_each_stmt(s, |inner| collect(program, inner, steps, names, tasks)),
    });
}

/// Puts the steps that `make` adds under a condition; drops them if none allocates.
fn guarded(holds: Expr, steps: &mut Vec<Step>, make: impl FnOnce(&mut Vec<Step>)) {
    let first = steps.len();
    steps.push(Step::Unless { holds, next: 0 });
    make(steps);
    let end = steps.len();
    if !steps[first..].iter().any(|step| matches!(step, Step::Begin { .. })) {
        // What is allocated outside is not freed here, and checks matter where something is allocated behind them.
        steps.truncate(first);
    } else if let Some(Step::Unless { next, .. }) = steps.get_mut(first) {
        *next = end;
    }
}

/// Values of expressions for given arguments.
struct Values<'a> {
    footprint: &'a Footprint,
    params: &'a [Scalar],
    dims: &'a dyn Fn(BufId) -> Option<Vec<Dim>>,
    known: Map<Sym, Option<Value>>,
    buffers: Map<BufId, Option<Vec<Dim>>>,
    /// Nodes are shared, and would be met very often.
    nodes: Map<usize, Option<Value>>,
}

#[derive(Clone, Copy)]
enum Value {
    Index(i64),
    Data(Scalar),
}

impl Values<'_> {
    fn index(&mut self, e: &Expr) -> Option<i64> {
        match self.value(e)? {
            Value::Index(v) => Some(v),
            Value::Data(_) => None,
        }
    }
    fn truth(&mut self, e: &Expr) -> Option<bool> {
        match self.value(e)? {
            Value::Data(v) => Some(v.as_bool()),
            Value::Index(_) => None,
        }
    }
    fn value(&mut self, e: &Expr) -> Option<Value> {
        match e.kind() {
            ExprKind::Int(v) => Some(Value::Index(*v)),
            ExprKind::Const(v) => Some(Value::Data(*v)),
            ExprKind::Param(id) => self.params.get(id.index()).copied().map(Value::Data),
            ExprKind::Sym(s) => self.symbol(*s),
            _ => match self.nodes.get(&e.id()) {
                Some(known) => *known,
                None => {
                    let value = self.node(e);
                    self.nodes.insert(e.id(), value);
                    value
                }
            },
        }
    }
    /// The value of a node with operands.
    fn node(&mut self, e: &Expr) -> Option<Value> {
        match e.kind() {
            ExprKind::Likely(a) => self.value(a),
            ExprKind::Unary(op, a) => match self.value(a)? {
                Value::Index(a) if *op == UnOp::Neg => a.checked_neg().map(Value::Index),
                Value::Index(_) => None,
                Value::Data(a) => Some(Value::Data(value::unary(*op, a))),
            },
            ExprKind::Binary(op, a, b) => match (self.value(a)?, self.value(b)?) {
                (Value::Index(a), Value::Index(b)) => of_indices(*op, a, b),
                (Value::Data(a), Value::Data(b)) => Some(Value::Data(value::binary(*op, a, b))),
                _ => None,
            },
            ExprKind::Select(c, a, b) => match self.truth(c)? {
                true => self.value(a),
                false => self.value(b),
            },
            ExprKind::Cast(a) if e.lanes() == 1 => match (self.value(a)?, e.ty().elem) {
                (Value::Index(v), Elem::Index) => Some(Value::Index(v)),
                (Value::Index(v), Elem::Data(ty)) => Some(Value::Data(value::cast(ty, Scalar::from(v)))),
                (Value::Data(v), Elem::Index) => i64::try_from(v.as_i128()).ok().map(Value::Index),
                (Value::Data(v), Elem::Data(ty)) => Some(Value::Data(value::cast(ty, v))),
            },
            ExprKind::SaturatingCast(a) => match (self.value(a)?, e.ty().scalar()?) {
                (Value::Data(v), ty) => Some(Value::Data(value::saturating_cast(ty, v))),
                _ => None,
            },
            _ => None,
        }
    }
    fn symbol(&mut self, s: Sym) -> Option<Value> {
        if let Sym::Buffer { buf, dim, field } = s
            && !self.footprint.names.contains_key(&s)
        {
            let dims = self.dims;
            let own = self.buffers.entry(buf).or_insert_with(|| dims(buf));
            let dim = own.as_ref()?.get(usize::from(dim))?;
            return Some(Value::Index(match field {
                DimField::Min => dim.min,
                DimField::Extent => dim.extent,
                DimField::Stride => dim.stride,
            }));
        }
        if let Some(known) = self.known.get(&s) {
            return *known;
        }
        let footprint = self.footprint;
        let value = footprint.names.get(&s).and_then(|e| deep(|| self.value(e)));
        self.known.insert(s, value);
        value
    }
}

/// Exact arithmetic; `None` where it leaves 64 bits.
fn of_indices(op: BinOp, a: i64, b: i64) -> Option<Value> {
    let truth = |t: bool| Some(Value::Data(Scalar::bool(t)));
    match op {
        BinOp::Eq => truth(a == b),
        BinOp::Ne => truth(a != b),
        BinOp::Lt => truth(a < b),
        BinOp::Le => truth(a <= b),
        BinOp::Gt => truth(a > b),
        BinOp::Ge => truth(a >= b),
        BinOp::Add => a.checked_add(b).map(Value::Index),
        BinOp::Sub => a.checked_sub(b).map(Value::Index),
        BinOp::Mul => a.checked_mul(b).map(Value::Index),
        BinOp::Div if b == 0 => Some(Value::Index(0)),
        BinOp::Div => a.checked_div_euclid(b).map(Value::Index),
        BinOp::Mod if b == 0 => Some(Value::Index(0)),
        BinOp::Mod => Some(Value::Index(a.wrapping_rem_euclid(b))),
        BinOp::Min => Some(Value::Index(a.min(b))),
        BinOp::Max => Some(Value::Index(a.max(b))),
        _ => None,
    }
}
