//! Closure conversion: makes the body of every parallel loop a function of its own.
//!
//! Before: `Stage::Shaped`, symbols bound once. After: `Stage::Final`; a parallel loop is a `Launch` of a task, and
//! the task lists what it needs from outside: scalar symbols and allocations. Properties of inputs and outputs and the
//! parameters are known everywhere and are not listed.
//!
//! Captures are scalars. A vector that is named outside is taken apart there and put together again in the task.
//!
//! Example:
//! ```text
//! let t0 = out#b2.extent0 * 2
//! parallel x#L0 from 0 extent 8 {
//!   out#b2[x#L0] = in#b0[x#L0 + t0]
//! }
//! ```
//! becomes
//! ```text
//! task0 x#L0 captures (t0: int) buffers () {
//!   out#b2[x#L0] = in#b0[x#L0 + t0]
//! }
//! body {
//!   let t0 = out#b2.extent0 * 2
//!   launch task0 from 0 extent 8
//! }
//! ```

use crate::lower::loops::copy::fresh_temp;
use crate::lower::walk;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, BufferRole, Expr, ExprKind, For, ForKind, Program, Stage, Stmt, Sym, Task, Type, build};
use std::collections::{BTreeMap, BTreeSet};

/// Replaces every parallel loop by a launch of a task.
pub fn outline_tasks(program: Program) -> Program {
    let mut program = walk::map_body(program, |body, program| statement(program, body));
    program.stage = Stage::Final;
    program
}

fn statement(program: &mut Program, s: Stmt) -> Stmt {
    match walk::map_stmt(s, program, |_, e| e.clone(), statement) {
        Stmt::For(l) if l.kind == ForKind::Parallel => {
            let needs = Needs::of(&l.body, l.id, program);
            outline(program, *l, needs)
        }
        other => other,
    }
}

/// A launch of a new task that runs the body of `l`, which needs `needs`.
pub(crate) fn outline(program: &mut Program, l: For, needs: Needs) -> Stmt {
    let For { id, min, extent, body, .. } = l;
    let Scalars { captures, outside, body } = scalars_only(program, needs.syms, body);
    let task = program.tasks.push(Task { id, captures, buffers: needs.buffers.into_iter().collect(), body });
    build::let_in(outside, Stmt::Launch { task, min, extent })
}

/// A body that is handed scalars.
pub(crate) struct Scalars {
    /// The scalars that it is handed.
    pub(crate) captures: Vec<(Sym, Type)>,
    /// Bindings to be made outside of it: the lanes of vectors that it uses.
    pub(crate) outside: Vec<(Sym, Expr)>,
    /// The body, with the vectors that it uses put together from their lanes.
    pub(crate) body: Stmt,
}

/// `body`, which uses `syms` of the code around it, with vectors among these taken apart.
pub(crate) fn scalars_only(program: &mut Program, syms: BTreeMap<Sym, Type>, body: Stmt) -> Scalars {
    let (scalars, vectors): (Vec<_>, Vec<_>) = syms.into_iter().partition(|(_, ty)| ty.lanes == 1);
    let mut captures = scalars;
    let (mut outside, mut inside, mut renamed) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (s, ty) in vectors {
        let whole = build::typed_sym(s, ty);
        let mut parts = Vec::new();
        for lane in 0..ty.lanes {
            let part = fresh_temp(program);
            outside.push((part, build::shuffle(vec![whole.clone()], vec![lane])));
            captures.push((part, ty.with_lanes(1)));
            parts.push(build::typed_sym(part, ty.with_lanes(1)));
        }
        let again = fresh_temp(program);
        inside.push((again, build::shuffle(parts, (0..ty.lanes).collect())));
        renamed.insert(s, build::typed_sym(again, ty));
    }
    if renamed.is_empty() {
        return Scalars { captures, outside, body };
    }
    let mut memo = Memo::new();
    let rename = &mut |e: &Expr| visit::substitute_with(e, &|s| renamed.get(&s).cloned(), &mut memo);
    let body = build::let_in(inside, visit::map_exprs(body, rename));
    Scalars { captures, outside, body }
}

/// The symbols and buffers that a body uses and does not make itself.
pub(crate) struct Needs {
    syms: BTreeMap<Sym, Type>,
    buffers: BTreeSet<BufId>,
    /// The number of those that it uses besides what it launches.
    own: usize,
}

impl Needs {
    /// Returns the needs of `body`, the body of loop `id`.
    pub(crate) fn of(body: &Stmt, id: halide_ir::LoopId, program: &Program) -> Needs {
        let mut uses = Uses::default();
        uses.made_syms.insert(Sym::Loop(id));
        uses.collect(body, program);
        let Uses { code, mut launched, made_syms, made_buffers } = uses;
        let internal = |buf: &BufId| program.buffers[*buf].role == BufferRole::Internal;
        let is_needed = |s: &Sym| !made_syms.contains(s) && !matches!(s, Sym::Buffer { buf, .. } if !internal(buf));
        let is_needed_buffer = |buf: &BufId| !made_buffers.contains(buf) && internal(buf);
        let mut syms: BTreeMap<Sym, Type> = code.syms.into_iter().filter(|(s, _)| is_needed(s)).collect();
        let mut buffers: BTreeSet<BufId> = code.buffers.into_iter().filter(is_needed_buffer).collect();
        let own = syms.len() + buffers.len();
        syms.extend(launched.syms.drain().filter(|(s, _)| is_needed(s)));
        buffers.extend(launched.buffers.drain().filter(is_needed_buffer));
        Needs { syms, buffers, own }
    }

    /// Returns the number of symbols and buffers that the body uses itself, whatever the tasks and kernels need that it
    /// launches.
    pub(crate) fn own(&self) -> usize {
        self.own
    }

    /// The allocations.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = BufId> {
        self.buffers.iter().copied()
    }
}

/// Symbols and buffers.
#[derive(Default)]
struct Used {
    syms: Map<Sym, Type>,
    buffers: Set<BufId>,
}

/// The uses of a body: by its own code, and by what it launches.
#[derive(Default)]
struct Uses {
    code: Used,
    launched: Used,
    /// The symbols and buffers that the body makes itself.
    made_syms: Set<Sym>,
    made_buffers: Set<BufId>,
}

impl Uses {
    fn collect(&mut self, s: &Stmt, program: &Program) {
        match s {
            Stmt::Let { bindings, .. } => self.made_syms.extend(bindings.iter().map(|(s, _)| *s)),
            Stmt::For(l) => {
                self.made_syms.insert(Sym::Loop(l.id));
            }
            Stmt::Alloc { buf, .. } => {
                self.made_buffers.insert(*buf);
            }
            Stmt::Store { buf, .. } | Stmt::Prefetch { buf, .. } | Stmt::Reside { buf, .. } => {
                self.code.buffers.insert(*buf);
            }
            Stmt::Call { args, .. } => self.code.buffers.extend(args.iter().map(|arg| arg.buf)),
            Stmt::Launch { task, .. } => {
                let inner = &program.tasks[*task];
                self.launched.syms.extend(inner.captures.iter().copied());
                self.launched.buffers.extend(inner.buffers.iter().copied());
            }
            Stmt::Dispatch { kernel, .. } => {
                let inner = &program.kernels[*kernel];
                self.launched.syms.extend(inner.captures.iter().copied());
                self.launched.buffers.extend(inner.buffers.iter().map(|b| b.buf));
            }
            _ => {}
        }
        let Used { syms, buffers } = &mut self.code;
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| match n.kind() {
                ExprKind::Sym(s) => {
                    syms.insert(*s, n.ty());
                }
                ExprKind::Load { buf, .. } => {
                    buffers.insert(*buf);
                }
                _ => {}
            });
        });
        visit::for_each_stmt(s, |inner| self.collect(inner, program));
    }
}
