//! A program of loop IR: its statement, the tables that its ids index, and its stage.

use super::buffer_info::BufferInfo;
use super::build;
use super::callee::Callee;
use super::fault::Fault;
use super::kernel::Kernel;
use super::loops::{LoopInfo, loops_in};
use super::stmt::{Stmt, Task};
use super::sym::{BufId, CalleeId, FaultId, KernelId, LoopId, PrintId, TaskId};
use super::visit::{deep, for_each_stmt};
use halide_core::ids::{FuncId, IdVec, ImageId, ParamId};
use halide_core::pipeline::Piece;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::collections::BTreeSet;

/// The stages of the lowering of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// Loops and realizations as scheduled; bounds are free symbols.
    Nest,
    /// Every symbol is bound; storage is multi-dimensional.
    Bounded,
    /// Storage is linear.
    Flat,
    /// No vectorized or unrolled loops; expressions may be vectors.
    Shaped,
    /// Parallel loops are tasks.
    Final,
}

/// A program: a statement and the tables that its ids index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The stage of lowering that it has reached.
    pub stage: Stage,
    /// The statement that it runs.
    pub body: Stmt,
    /// Every buffer.
    pub buffers: IdVec<BufId, BufferInfo>,
    /// The buffer of each input image.
    pub image_buffers: IdVec<ImageId, BufId>,
    /// The name of each Func.
    pub func_names: IdVec<FuncId, String>,
    /// The buffers of each Func, one per tuple element (also of inlined Funcs, which no statement uses).
    pub func_buffers: IdVec<FuncId, Vec<BufId>>,
    /// Names and types of scalar parameters.
    pub params: IdVec<ParamId, (String, ScalarType)>,
    /// Every loop, copies of loops among them.
    pub loops: IdVec<LoopId, LoopInfo>,
    /// Funcs whose memory is allocated outside of all loops, though they are stored inside.
    pub hoisted: BTreeSet<FuncId>,
    /// The errors that can occur at run time.
    pub faults: IdVec<FaultId, Fault>,
    /// The lines that are printed: texts, and the places of values.
    pub prints: IdVec<PrintId, Vec<Piece>>,
    /// Outlined parallel loops (Final stage).
    pub tasks: IdVec<TaskId, Task>,
    /// Code for a GPU (from `Shaped` on).
    pub kernels: IdVec<KernelId, Kernel>,
    /// The closures of the caller that it calls.
    pub callees: IdVec<CalleeId, Callee>,
    /// Names of counters, in the order of their numbers.
    pub counters: Vec<String>,
    /// The next free number for `Sym::Temp`.
    pub next_temp: u32,
}

impl Program {
    /// Returns a program of a stage that does nothing.
    pub fn empty(stage: Stage) -> Program {
        Program {
            stage,
            body: build::nothing(),
            buffers: IdVec::new(),
            image_buffers: IdVec::new(),
            func_names: IdVec::new(),
            func_buffers: IdVec::new(),
            params: IdVec::new(),
            loops: IdVec::new(),
            hoisted: BTreeSet::new(),
            faults: IdVec::new(),
            prints: IdVec::new(),
            tasks: IdVec::new(),
            kernels: IdVec::new(),
            callees: IdVec::new(),
            counters: Vec::new(),
            next_temp: 0,
        }
    }

    /// Returns the program without its statements, but for those that print, which say the types of what they show: all
    /// that runs of its code ask for.
    pub fn without_statements(&self) -> Program {
        let task = |task: &Task| Task { body: prints(&task.body), ..task.clone() };
        Program { body: prints(&self.body), tasks: self.tasks.iter().map(task).collect(), ..self.clone() }
    }

    /// Returns the name of a Func: of its buffer, if the program was made without names.
    pub fn func_name(&self, func: FuncId) -> &str {
        let own = self.func_names.get(func);
        own.unwrap_or_else(|| &self.buffers[self.func_buffers[func][0]].name)
    }

    /// Adds a copy of the loop `like` and returns its id.
    pub fn copy_loop(&mut self, like: LoopId) -> LoopId {
        let copy = LoopInfo { origin: Some(self.origin(like)), ..self.loops[like].clone() };
        self.loops.push(copy)
    }

    /// Returns the loop of the nest that `l` is a copy of, or `l` itself.
    pub fn origin(&self, l: LoopId) -> LoopId {
        self.loops[l].origin.unwrap_or(l)
    }

    /// Marks the loops as dead that the body does not have.
    pub fn mark_dropped_loops(&mut self) {
        let mut present = BTreeSet::new();
        loops_in(&self.body, &mut present);
        let ids: Vec<LoopId> = self.loops.ids().filter(|id| !present.contains(id)).collect();
        ids.into_iter().for_each(|id| self.loops[id].is_dead = true);
    }
}

/// The statements of `s` that print, showing zeros.
fn prints(s: &Stmt) -> Stmt {
    fn collect(s: &Stmt, all: &mut Vec<Stmt>) {
        if let Stmt::Print { line, args, .. } = s {
            let zeros = args.iter().filter_map(|a| a.ty().scalar()).map(|ty| build::constant(Scalar::from_bits(ty, 0)));
            all.push(Stmt::Print { line: *line, when: build::boolean(false), args: zeros.collect() });
        }
        for_each_stmt(s, |inner| deep(|| collect(inner, all)));
    }
    let mut all = Vec::new();
    collect(s, &mut all);
    build::block(all)
}
