//! Turns statements into a tree of [`Body`] whose expressions are code on registers. Every node of an expression gets
//! registers of its own; constants, parameters and properties of the caller's buffers are in theirs from the start.

use super::code::{Conversion, Handed, Instr, Op, Reg};
use super::error::{Check, EvalError};
use super::machine::Memory;
use crate::buffer_info::Residency;
use crate::build::{self, as_const, as_int};
use crate::expr::{Elem, Expr, ExprKind, Type};
use crate::kernel::Kernel;
use crate::print;
use crate::program::Program;
use crate::stmt::{For, Stmt, Task};
use crate::sym::{BufId, CalleeId, FaultId, KernelId, LoopId, PrintId, Sym, TaskId};
use crate::visit;
use halide_core::ids::{FuncId, IdVec};
use halide_core::ops::UnOp;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::collections::HashMap;

/// A program ready to run.
pub(super) struct Compiled {
    /// The registers as they are at the start.
    pub(super) regs: Vec<u64>,
    pub(super) body: Body,
    pub(super) tasks: IdVec<TaskId, TaskBody>,
    pub(super) kernels: IdVec<KernelId, KernelBody>,
    /// True if there are parallel loops, launches or dispatches.
    pub(super) parallel: bool,
    /// Instructions and statements.
    pub(super) size: u64,
}

/// A task: its variable, and what an iteration does.
pub(super) struct TaskBody {
    pub(super) var: Reg,
    pub(super) body: Body,
}

/// A kernel: its block loops, innermost first, and what a block does.
pub(super) struct KernelBody {
    pub(super) vars: Vec<(Reg, LoopId)>,
    pub(super) body: Body,
}

/// The code of all expressions of one statement.
#[derive(Default)]
pub(super) struct Code {
    pub(super) instrs: Vec<Instr>,
}

/// A loop.
pub(super) struct Loop {
    pub(super) id: LoopId,
    pub(super) parallel: bool,
    /// In a kernel: the dimension of the block whose threads run it.
    pub(super) thread: Option<usize>,
    pub(super) code: Code,
    pub(super) var: Reg,
    pub(super) min: Reg,
    pub(super) extent: Reg,
    /// The code of the condition, and its value.
    pub(super) condition: Option<(Code, Reg)>,
    pub(super) body: Body,
}

/// A compiled statement; see [`Stmt`].
pub(super) enum Body {
    Block(Vec<Body>),
    Let { code: Code, bound: Vec<(Reg, u16)>, body: Box<Body> },
    For(Box<Loop>),
    If { code: Code, cond: Reg, then: Box<Body>, otherwise: Box<Body> },
    Assert { code: Code, cond: Reg, fault: FaultId, args: Vec<Reg> },
    Print { code: Code, when: Reg, line: PrintId, args: Vec<(Reg, ScalarType)> },
    Produce { func: FuncId, body: Box<Body> },
    Atomic { func: FuncId, body: Box<Body> },
    Realize { func: FuncId, bufs: Vec<BufId>, code: Code, bounds: Vec<(Reg, Reg)>, body: Box<Body> },
    Provide { code: Code, args: Vec<Reg>, values: Vec<(BufId, Reg)>, mask: Option<Reg>, lanes: u16 },
    Alloc { buf: BufId, code: Code, count: Reg, constant: Option<u64>, body: Box<Body> },
    Free { buf: BufId },
    Call { callee: CalleeId, code: Code, args: Vec<Handed>, scratch: Reg },
    Store { code: Code, buf: BufId, index: Reg, value: Reg, mask: Option<Reg>, lanes: u16 },
    Count { counter: usize, code: Code, amount: Reg },
    Launch { task: TaskId, code: Code, min: Reg, extent: Reg, captures: Vec<(Reg, Reg, u16)> },
    Reside { buf: BufId, what: Residency },
    Barrier,
    Dispatch { kernel: KernelId, code: Code, grid: Vec<Reg>, captures: Vec<(Reg, Reg, u16)> },
}

pub(super) type Failed = Box<EvalError>;

/// Returns the number of loops over threads that are directly in each other in `s`.
fn threads_below(s: &Stmt) -> usize {
    match s {
        Stmt::For(l) if l.kind.is_gpu_threads() => 1 + threads_below(&l.body),
        _ => 0,
    }
}

/// Compiles a program for these arguments; the error says what is malformed.
pub(super) fn compile(program: &Program, params: &[Scalar], external: &Memory) -> Result<Compiled, Failed> {
    let mut c = Compiler {
        program,
        params,
        external,
        regs: Vec::new(),
        constants: HashMap::new(),
        bound: HashMap::new(),
        memo: HashMap::new(),
        captures: IdVec::new(),
        kernel_captures: IdVec::new(),
        parallel: false,
        size: 0,
    };
    // Launches need the registers of captures, also of tasks that come later.
    for task in program.tasks.iter() {
        let regs = task.captures.iter().map(|(_, ty)| c.fresh(ty.lanes)).collect();
        c.captures.push(regs);
    }
    for kernel in program.kernels.iter() {
        let regs = kernel.captures.iter().map(|(_, ty)| c.fresh(ty.lanes)).collect();
        c.kernel_captures.push(regs);
    }
    let body = c.stmt(&program.body)?;
    let tasks = program.tasks.enumerate().map(|(id, t)| c.task(id, t)).collect::<Result<_, Failed>>()?;
    let kernels = program.kernels.enumerate().map(|(id, k)| c.kernel(id, k)).collect::<Result<_, Failed>>()?;
    Ok(Compiled { regs: c.regs, body, tasks, kernels, parallel: c.parallel, size: c.size })
}

pub(super) struct Compiler<'a> {
    pub(super) program: &'a Program,
    params: &'a [Scalar],
    external: &'a Memory,
    regs: Vec<u64>,
    constants: HashMap<(u64, u16), Reg>,
    /// The registers of each symbol in scope, innermost last.
    bound: HashMap<Sym, Vec<(Reg, Type)>>,
    /// The registers of the nodes of the statement at hand.
    memo: HashMap<usize, Reg>,
    captures: IdVec<TaskId, Vec<Reg>>,
    kernel_captures: IdVec<KernelId, Vec<Reg>>,
    parallel: bool,
    size: u64,
}

pub(super) fn malformed<T>(message: impl Into<String>) -> Result<T, Failed> {
    Err(EvalError::failed(Check::Malformed, message))
}

impl Compiler<'_> {
    pub(super) fn fresh(&mut self, lanes: u16) -> Reg {
        let reg = self.regs.len() as Reg;
        self.regs.resize(self.regs.len() + lanes as usize, 0);
        reg
    }

    fn constant(&mut self, bits: u64, lanes: u16) -> Reg {
        if let Some(&reg) = self.constants.get(&(bits, lanes)) {
            return reg;
        }
        let reg = self.fresh(lanes);
        self.regs[reg as usize..].fill(bits);
        self.constants.insert((bits, lanes), reg);
        reg
    }

    fn bind(&mut self, s: Sym, ty: Type, reg: Reg) {
        self.bound.entry(s).or_default().push((reg, ty));
    }

    fn unbind(&mut self, s: Sym) {
        if let Some(stack) = self.bound.get_mut(&s) {
            stack.pop();
        }
    }

    fn stmt(&mut self, s: &Stmt) -> Result<Body, Failed> {
        visit::deep(|| self.one(s))
    }

    fn one(&mut self, s: &Stmt) -> Result<Body, Failed> {
        self.memo.clear();
        self.size += 1;
        let mut code = Code::default();
        Ok(match s {
            Stmt::Block(list) => Body::Block(list.iter().map(|s| self.stmt(s)).collect::<Result<_, Failed>>()?),
            Stmt::Let { bindings, body } => return self.let_in(bindings, body),
            Stmt::For(l) => return self.for_loop(l),
            Stmt::If { cond, then, otherwise } => {
                let cond = self.expr(cond, &mut code)?;
                let then = Box::new(self.stmt(then)?);
                Body::If { code, cond, then, otherwise: Box::new(self.stmt(otherwise)?) }
            }
            Stmt::Assert { cond, fault, args } => {
                let cond = self.expr(cond, &mut code)?;
                let args = self.exprs(args, &mut code)?;
                Body::Assert { code, cond, fault: *fault, args }
            }
            Stmt::Print { line, when, args } => return self.print(*line, when, args),
            Stmt::Produce { func, body } => Body::Produce { func: *func, body: Box::new(self.stmt(body)?) },
            Stmt::Atomic { func, body } => Body::Atomic { func: *func, body: Box::new(self.stmt(body)?) },
            Stmt::Realize { func, bounds, when, body } => return self.realize(*func, bounds, when.as_ref(), body),
            Stmt::Provide { args, values, mask, .. } => {
                let args = self.exprs(args, &mut code)?;
                let mut stored = Vec::new();
                for (buf, value) in values {
                    stored.push((*buf, self.expr(value, &mut code)?));
                }
                let mask = mask.as_ref().map(|m| self.expr(m, &mut code)).transpose()?;
                let lanes = values.first().map_or(1, |(_, v)| v.lanes());
                Body::Provide { code, args, values: stored, mask, lanes }
            }
            Stmt::Alloc { buf, count, constant, body } => {
                let count = self.expr(count, &mut code)?;
                Body::Alloc { buf: *buf, code, count, constant: *constant, body: Box::new(self.stmt(body)?) }
            }
            Stmt::Store { buf, index, value, mask } => {
                let (at, bits) = (self.expr(index, &mut code)?, self.expr(value, &mut code)?);
                let mask = mask.as_ref().map(|m| self.expr(m, &mut code)).transpose()?;
                Body::Store { code, buf: *buf, index: at, value: bits, mask, lanes: index.lanes() }
            }
            Stmt::Call { callee, args } => return self.call(*callee, args),
            Stmt::Free { buf } => Body::Free { buf: *buf },
            // Where it is does not matter: there need not be anything.
            Stmt::Prefetch { .. } => Body::Block(Vec::new()),
            Stmt::Count { counter, amount } => {
                let amount = self.expr(amount, &mut code)?;
                if *counter as usize >= self.program.counters.len() {
                    return malformed(format!("counter {counter} is not in the table"));
                }
                Body::Count { counter: *counter as usize, code, amount }
            }
            Stmt::Launch { task, min, extent } => {
                let (min, extent) = (self.expr(min, &mut code)?, self.expr(extent, &mut code)?);
                self.parallel = true;
                Body::Launch { task: *task, code, min, extent, captures: self.launch_captures(*task)? }
            }
            Stmt::Dispatch { kernel, grid } => {
                let grid = self.exprs(grid, &mut code)?;
                self.parallel = true;
                let captures = self.dispatch_captures(*kernel, grid.len())?;
                Body::Dispatch { kernel: *kernel, code, grid, captures }
            }
            Stmt::Reside { buf, what } => Body::Reside { buf: *buf, what: *what },
            Stmt::Barrier => Body::Barrier,
        })
    }

    fn for_loop(&mut self, l: &For) -> Result<Body, Failed> {
        let mut code = Code::default();
        let (min, extent) = (self.expr(&l.min, &mut code)?, self.expr(&l.extent, &mut code)?);
        let parallel = l.kind.is_threads();
        self.parallel |= parallel;
        // It runs again and again, so it shares nothing with what is computed once.
        self.memo.clear();
        let mut asked = Code::default();
        let condition = l.condition.as_ref().map(|e| self.expr(e, &mut asked)).transpose()?;
        let condition = condition.map(|value| (asked, value));
        let var = self.fresh(1);
        self.bind(Sym::Loop(l.id), Type::INDEX, var);
        let body = self.stmt(&l.body)?;
        self.unbind(Sym::Loop(l.id));
        let thread = l.kind.is_gpu_threads().then(|| threads_below(&l.body));
        Ok(Body::For(Box::new(Loop { id: l.id, parallel, thread, code, var, min, extent, condition, body })))
    }

    fn print(&mut self, line: PrintId, when: &Expr, args: &[Expr]) -> Result<Body, Failed> {
        let mut code = Code::default();
        let when = self.expr(when, &mut code)?;
        let types = args.iter().map(|a| a.ty().scalar()).collect::<Option<Vec<ScalarType>>>();
        let (Some(types), Some(_)) = (types, self.program.prints.get(line)) else {
            return malformed(format!("{line:?} is printed of an Index, or is not in the table"));
        };
        let args = self.exprs(args, &mut code)?;
        Ok(Body::Print { code, when, line, args: args.into_iter().zip(types).collect() })
    }

    fn realize(
        &mut self,
        func: FuncId,
        bounds: &[(Expr, Expr)],
        when: Option<&Expr>,
        body: &Stmt,
    ) -> Result<Body, Failed> {
        let mut code = Code::default();
        let sized = |extent: &Expr| {
            when.iter().fold(extent.clone(), |e, when| build::select((*when).clone(), e, build::int(0)))
        };
        let bounds = bounds
            .iter()
            .map(|(min, extent)| Ok((self.expr(min, &mut code)?, self.expr(&sized(extent), &mut code)?)))
            .collect::<Result<_, Failed>>()?;
        let Some(bufs) = self.program.func_buffers.get(func).cloned() else {
            return malformed(format!("{func:?} has no buffers"));
        };
        Ok(Body::Realize { func, bufs, code, bounds, body: Box::new(self.stmt(body)?) })
    }

    fn let_in(&mut self, bindings: &[(Sym, Expr)], body: &Stmt) -> Result<Body, Failed> {
        let mut code = Code::default();
        let mut bound = Vec::new();
        for (s, value) in bindings {
            // An earlier binding may shadow a symbol of a shared node.
            self.memo.clear();
            let from = self.expr(value, &mut code)?;
            let dst = self.fresh(value.lanes());
            code.instrs.push(Instr { op: Op::Copy(from), dst, lanes: value.lanes() });
            self.size += 1;
            bound.push((dst, value.lanes()));
            self.bind(*s, value.ty(), dst);
        }
        let body = Box::new(self.stmt(body)?);
        for (s, _) in bindings.iter().rev() {
            self.unbind(*s);
        }
        Ok(Body::Let { code, bound, body })
    }

    fn launch_captures(&mut self, task: TaskId) -> Result<Vec<(Reg, Reg, u16)>, Failed> {
        let Some(info) = self.program.tasks.get(task) else {
            return malformed(format!("{task:?} is not in the table"));
        };
        let mut copies = Vec::new();
        for (i, (s, ty)) in info.captures.iter().enumerate() {
            match self.bound.get(s).and_then(|stack| stack.last()) {
                Some((reg, here)) if here == ty => copies.push((*reg, self.captures[task][i], ty.lanes)),
                _ => {
                    return malformed(format!(
                        "{task:?} captures {}, which is not bound",
                        print::sym_in(*s, self.program)
                    ));
                }
            }
        }
        Ok(copies)
    }

    fn task(&mut self, id: TaskId, task: &Task) -> Result<TaskBody, Failed> {
        self.bound.clear();
        for (i, (s, ty)) in task.captures.iter().enumerate() {
            self.bind(*s, *ty, self.captures[id][i]);
        }
        let var = self.fresh(1);
        self.bind(Sym::Loop(task.id), Type::INDEX, var);
        Ok(TaskBody { var, body: self.stmt(&task.body)? })
    }

    fn dispatch_captures(&mut self, kernel: KernelId, extents: usize) -> Result<Vec<(Reg, Reg, u16)>, Failed> {
        let Some(info) = self.program.kernels.get(kernel) else {
            return malformed(format!("{kernel:?} is not in the table"));
        };
        if info.blocks.len() != extents {
            return malformed(format!("{kernel:?} has {} loops over blocks, and gets {extents}", info.blocks.len()));
        }
        let mut copies = Vec::new();
        for (i, (s, ty)) in info.captures.iter().enumerate() {
            copies.push((self.symbol(*s, *ty)?, self.kernel_captures[kernel][i], ty.lanes));
        }
        Ok(copies)
    }

    fn kernel(&mut self, id: KernelId, kernel: &Kernel) -> Result<KernelBody, Failed> {
        self.bound.clear();
        for (i, (s, ty)) in kernel.captures.iter().enumerate() {
            self.bind(*s, *ty, self.kernel_captures[id][i]);
        }
        let mut vars = Vec::new();
        for block in &kernel.blocks {
            let var = self.fresh(1);
            self.bind(Sym::Loop(*block), Type::INDEX, var);
            vars.push((var, *block));
        }
        Ok(KernelBody { vars, body: self.stmt(&kernel.body)? })
    }

    fn exprs(&mut self, list: &[Expr], code: &mut Code) -> Result<Vec<Reg>, Failed> {
        list.iter().map(|e| self.expr(e, code)).collect()
    }

    /// The registers of a node, after the code that fills them.
    pub(super) fn expr(&mut self, e: &Expr, code: &mut Code) -> Result<Reg, Failed> {
        if let Some(&reg) = self.memo.get(&e.id()) {
            return Ok(reg);
        }
        let reg = match self.ready(e)? {
            Some(reg) => reg,
            None => match e.kind() {
                ExprKind::Likely(a) => self.expr(a, code)?,
                _ => {
                    let op = self.op(e, code)?;
                    let dst = self.fresh(e.lanes());
                    code.instrs.push(Instr { op, dst, lanes: e.lanes() });
                    self.size += 1;
                    dst
                }
            },
        };
        self.memo.insert(e.id(), reg);
        Ok(reg)
    }

    /// The registers of what is known before the code runs.
    fn ready(&mut self, e: &Expr) -> Result<Option<Reg>, Failed> {
        if let Some(v) = as_int(e) {
            return Ok(Some(self.constant(v as u64, e.lanes())));
        }
        if let Some(v) = as_const(e) {
            return Ok(Some(self.constant(v.bits(), e.lanes())));
        }
        match e.kind() {
            ExprKind::Sym(s) => self.symbol(*s, e.ty()).map(Some),
            ExprKind::Param(id) => match self.params.get(id.0 as usize) {
                Some(v) if Type::data(v.ty()) == e.ty() => Ok(Some(self.constant(v.bits(), 1))),
                _ => malformed(format!("{id:?} is not in the table")),
            },
            _ => Ok(None),
        }
    }

    fn symbol(&mut self, s: Sym, ty: Type) -> Result<Reg, Failed> {
        if let Some((reg, bound)) = self.bound.get(&s).and_then(|stack| stack.last()) {
            if *bound != ty {
                return malformed(format!("{} is {bound}, not {ty}", print::sym_in(s, self.program)));
            }
            return Ok(*reg);
        }
        if let Sym::Buffer { buf, dim, field } = s
            && let Some(Some(storage)) = self.external.get(buf)
            && let Some(v) = storage.field(dim as usize, field)
        {
            return Ok(self.constant(v as u64, 1));
        }
        malformed(format!("{} is not bound", print::sym_in(s, self.program)))
    }

    fn op(&mut self, e: &Expr, code: &mut Code) -> Result<Op, Failed> {
        let data = |a: &Expr| a.ty().scalar().unwrap_or(ScalarType::I64);
        Ok(match e.kind() {
            ExprKind::Unary(UnOp::Neg, a) if a.ty().is_index() => Op::IndexNeg(self.expr(a, code)?),
            ExprKind::Unary(op, a) if !a.ty().is_index() => Op::Unary(*op, data(a), self.expr(a, code)?),
            ExprKind::Binary(op, a, b) if a.ty().is_index() => Op::Index(*op, self.expr(a, code)?, self.expr(b, code)?),
            ExprKind::Binary(op, a, b) => {
                Op::Binary(*op, (data(a), self.expr(a, code)?), (data(b), self.expr(b, code)?))
            }
            ExprKind::Select(c, a, b) => Op::Select(self.expr(c, code)?, self.expr(a, code)?, self.expr(b, code)?),
            ExprKind::Cast(a) => self.convert(Conversion::Cast, a, e.ty().elem, code)?,
            ExprKind::SaturatingCast(a) => self.convert(Conversion::Saturating, a, e.ty().elem, code)?,
            ExprKind::Reinterpret(a) => self.convert(Conversion::Reinterpret, a, e.ty().elem, code)?,
            ExprKind::Math(f, args) if !args.is_empty() => Op::Math(*f, data(&args[0]), self.exprs(args, code)?),
            ExprKind::Intrinsic(op, args) if args.len() == 2 => {
                Op::Intrinsic(*op, data(&args[0]), self.expr(&args[0], code)?, self.expr(&args[1], code)?)
            }
            ExprKind::Read { buf, args } => Op::Read(*buf, self.exprs(args, code)?),
            ExprKind::Load { buf, index, mask } => {
                let index = self.expr(index, code)?;
                Op::Load(*buf, index, mask.as_ref().map(|m| self.expr(m, code)).transpose()?)
            }
            ExprKind::Ramp { base, stride } => Op::Ramp(self.expr(base, code)?, self.expr(stride, code)?),
            ExprKind::Broadcast(a) => Op::Broadcast(self.expr(a, code)?),
            ExprKind::Shuffle(vectors, lanes) => self.shuffle(vectors, lanes, code)?,
            _ => return malformed(format!("{} cannot be evaluated", print::expr_in(e, self.program))),
        })
    }

    fn convert(&mut self, how: Conversion, a: &Expr, to: Elem, code: &mut Code) -> Result<Op, Failed> {
        Ok(Op::Convert(how, a.ty().elem, to, self.expr(a, code)?))
    }

    fn shuffle(&mut self, vectors: &[Expr], lanes: &[u16], code: &mut Code) -> Result<Op, Failed> {
        let mut sources = Vec::new();
        for v in vectors {
            let reg = self.expr(v, code)?;
            sources.extend((0..v.lanes() as u32).map(|lane| reg + lane));
        }
        let picked: Option<Vec<Reg>> = lanes.iter().map(|&l| sources.get(l as usize).copied()).collect();
        match picked {
            Some(picked) => Ok(Op::Gather(picked)),
            None => malformed("a shuffle picks a lane that is not there"),
        }
    }
}
