//! Kernel extraction: makes loops over blocks and threads code for a GPU.
//!
//! Before and after: `Stage::Shaped`, symbols bound once. Every outermost nest of loops over blocks becomes a row of
//! `Program::kernels` and a `Dispatch` of it; no such loops are left in host code.
//!
//! - `grid` takes the loops over blocks off; what does not depend on the block, the host computes.
//! - `host` moves checks to the host, in front of the kernel, and storage in the device's memory around it.
//! - `phases` shapes block code: loops over threads directly in each other, and nothing else that stores.
//! - `shared` lays out what the threads of a block share; allocations that are not alive at one time overlap.
//! - `barriers` puts a `Barrier` where a phase touches what another one writes, and nowhere else.
//! - `patterns` sees where one thread alone touches an element, so that it need not wait for others.
//! - `lanes` says which lane of a subgroup holds what, and moves loads of that to where all lanes are.
//! - `near` keeps coordinates that are data within 32 bits.
//! - `uses` finds what the kernel needs from outside, and whether it stores whole words.
//!
//! Loops that are not nested so are fissioned, or refused with a reason. Threads may be lanes of subgroups
//! (`gpu_lanes`): what they hold in registers for each other needs no barrier. `place_copies` then says which side has
//! each buffer, and puts a `Reside` where host code meets kernels.
//!
//! Example:
//! ```text
//! let t0 = out#b2.extent0 / 8
//! gpu_blocks y#L1 from 0 extent t0 {
//!   alloc f#b1[8] at_most 8 {
//!     gpu_threads x#L0 from 0 extent 8 {
//!       f#b1[x#L0] = in#b0[y#L1 * 8 + x#L0]
//!     }
//!     gpu_threads xi#L2 from 0 extent 8 {
//!       out#b2[y#L1 * 8 + xi#L2] = f#b1[7 - xi#L2]
//!     }
//!   }
//! }
//! ```
//! becomes
//! ```text
//! kernel0 "y" blocks (y#L1) threads (8, 1, 1) captures () params () buffers (in#b0 reads, out#b2 pieces) shared (f#b1 at 0 words 8) words 8 {
//!   alloc f#b1[8] at_most 8 {
//!     gpu_threads x#L0 from 0 extent 8 {
//!       f#b1[x#L0] = in#b0[y#L1 * 8 + x#L0]
//!     }
//!     barrier
//!     gpu_threads xi#L2 from 0 extent 8 {
//!       out#b2[y#L1 * 8 + xi#L2] = f#b1[7 - xi#L2]
//!     }
//!   }
//! }
//! body {
//!   let t0 = out#b2.extent0 / 8
//!   dispatch kernel0(t0)
//! }
//! ```

mod barriers;
pub(crate) mod error;
mod grid;
mod host;
mod lanes;
mod near;
mod patterns;
mod phases;
mod shared;
#[cfg(test)]
mod tests;
mod uses;

pub use error::KernelProblem;

use crate::lower::code::outline_tasks::scalars_only;
use crate::lower::error::LowerError;
use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use halide_core::ids::FuncId;
use halide_ir::hash::Set;
use halide_ir::lanes::Held;
use halide_ir::target::Gpu;
use halide_ir::{BufId, Expr, For, ForKind, Kernel, LoopId, Program, Stmt, Sym, build};
use halide_solve::simplify::Facts;
use std::collections::{BTreeMap, BTreeSet};

/// Makes kernels for `gpu` of all loops over blocks. `facts` holds what is known of arguments.
///
/// # Errors
/// Every nest that cannot be a kernel, with the reason.
pub fn offload(
    program: Program,
    facts: &Facts,
    gpu: &Gpu,
    trace: &mut LoweringTrace,
) -> Result<Program, Vec<LowerError>> {
    // Nothing to do, and no need to learn what holds where.
    if !walk::any_stmt(&program.body, &mut |s| matches!(s, Stmt::For(l) if l.kind == ForKind::GpuBlocks)) {
        return Ok(program);
    }
    let mut errors = Vec::new();
    let program = walk::map_body(program, |body, program| {
        let (funcs, names) = (Vec::new(), BTreeSet::new());
        let (facts, errors) = (facts.clone(), &mut errors);
        statement(&mut Offload { program, facts, gpu, trace, errors, funcs, names }, body)
    });
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}

struct Offload<'p> {
    program: &'p mut Program,
    facts: Facts,
    gpu: &'p Gpu,
    trace: &'p mut LoweringTrace,
    errors: &'p mut Vec<LowerError>,
    /// The Funcs that are being produced, outermost first.
    funcs: Vec<FuncId>,
    /// The names of kernels so far.
    names: BTreeSet<String>,
}

fn statement(cx: &mut Offload<'_>, s: Stmt) -> Stmt {
    match s {
        Stmt::For(l) if l.kind == ForKind::GpuBlocks => {
            let (name, at) = (cx.name(&l), cx.program.loops[l.id].at);
            cx.facts.push_scope();
            let made = kernel(cx, &name, *l);
            cx.facts.pop_scope();
            made.unwrap_or_else(|problem| {
                cx.errors.push(LowerError::Kernel { kernel: name, at, problem });
                build::nothing()
            })
        }
        Stmt::Produce { func, body } => {
            cx.funcs.push(func);
            let body = Box::new(statement(cx, *body));
            cx.funcs.pop();
            Stmt::Produce { func, body }
        }
        other => walk::map_stmt_under(other, cx, |cx| &mut cx.facts, |_, e| e.clone(), statement),
    }
}

impl Offload<'_> {
    /// A name for the kernel of `l`.
    fn name(&mut self, l: &For) -> String {
        let producing = self.funcs.last().and_then(|f| self.program.func_buffers[*f].first());
        let first = producing.map_or(&self.program.loops[l.id].name, |buf| &self.program.buffers[*buf].name).clone();
        let numbered = (1..).map(|n| format!("{first}.{n}"));
        let free = std::iter::once(first.clone()).chain(numbered).find(|name| !self.names.contains(name));
        let name = free.unwrap_or(first);
        self.names.insert(name.clone());
        name
    }

    /// The threads of a block, if the device has as many; `lanes` of them in the first dimension are (part of) a
    /// subgroup.
    fn threads(&self, [x, y, z]: [u64; 3], lanes: Option<u64>) -> Result<[u32; 3], KernelProblem> {
        if let Some(lanes) = lanes.filter(|lanes| x > *lanes) {
            return Err(KernelProblem::MoreThreadsThanLanes { threads: x, lanes });
        }
        let x = lanes.unwrap_or(x);
        let all = x.saturating_mul(y).saturating_mul(z);
        // Blocks of lanes are whole subgroups, all in the first dimension.
        let whole = lanes.and(self.gpu.subgroup).map_or(1, u64::from);
        let all = all.div_ceil(whole).saturating_mul(whole);
        let most = self.gpu.most_threads;
        let flat = lanes.is_none() || all <= u64::from(most[0]);
        let fits = flat && [x, y, z].iter().zip(&most).all(|(n, most)| *n <= u64::from(*most));
        if !fits || all > u64::from(self.gpu.most_threads_in_all) {
            let in_all = self.gpu.most_threads_in_all;
            return Err(KernelProblem::TooManyThreads { threads: [x, y, z], most, in_all });
        }
        Ok([x, y, z].map(|n| n as u32))
    }
}

/// The kernel of a nest, and the host code that stands for it. Facts that it learns are in a scope of their own.
fn kernel(cx: &mut Offload<'_>, name: &str, l: For) -> Result<Stmt, KernelProblem> {
    let grid::Grid { loops, extents, outside, body } = grid::take(cx.program, l, &cx.facts)?;
    outside.iter().for_each(|(s, value)| cx.facts.bind_let(*s, value));
    for (id, extent) in loops.iter().zip(&extents) {
        cx.facts.bind_loop(*id, &build::int(0), extent);
    }
    let blocks: Vec<(LoopId, Expr)> = loops.iter().copied().zip(extents.iter().cloned()).collect();
    let (body, host::Taken { checks, storage, counted }) = host::take(cx.program, &blocks, body, &mut cx.facts)?;
    let phases::Shaped { body, threads, lanes, held } = phases::shape(cx.program, body, &mut cx.facts)?;
    let threads = cx.threads(threads, lanes)?;
    let body = match lanes {
        Some(_) => lanes::together(cx.program, body, threads[0], &held)?,
        None => body,
    };
    let bufs: Set<BufId> = held.iter().map(|h| h.buf).collect();
    let (shared, shared_words) = shared::place(cx.program, &body, &bufs, cx.gpu.shared_bytes)?;
    let body = near::keep(cx.program, barriers::insert(body, &shared, &bufs, threads));
    let lanes = lanes.map(|_| held);
    let blocks: Vec<_> = loops.into_iter().rev().collect();
    let uses = uses::of(&body, &blocks);
    let strides = uses.word_strides(cx.program);
    let pieces = uses::pieces(&body, cx.program, &mut cx.facts, &strides);
    let buffers = uses.buffers(&pieces, &strides);
    if let Some(kept) = buffers.iter().map(|b| &cx.program.buffers[b.buf]).find(|info| info.keeps) {
        return Err(KernelProblem::Kept { func: kept.name.clone() });
    }
    let params = uses.params.into_iter().collect();
    let scalars = scalars_only(cx.program, uses.syms, body);
    let captures = scalars.captures;
    say(cx, name, threads, shared_words, lanes.as_deref(), &pieces);
    if counted {
        cx.trace.did_not(name, "counted", "it runs on the GPU");
    }
    let body = scalars.body;
    let name = name.to_string();
    let row = Kernel { name, blocks, threads, captures, params, buffers, shared, shared_words, lanes, body };
    let kernel = cx.program.kernels.push(row);
    let grid: Vec<Expr> = extents.into_iter().rev().collect();
    let dispatch = build::let_in(scalars.outside, Stmt::Dispatch { kernel, grid });
    let bindings: Vec<(Sym, Expr)> = outside;
    let mut made = build::block(checks.into_iter().chain([dispatch]));
    for (buf, count) in storage {
        made = Stmt::Alloc { buf, count, constant: None, body: Box::new(made) };
    }
    Ok(build::let_in(bindings, made))
}

/// Records what became a kernel.
fn say(
    cx: &mut Offload<'_>,
    name: &str,
    [x, y, z]: [u32; 3],
    words: u32,
    lanes: Option<&[Held]>,
    pieces: &BTreeMap<BufId, uses::Pieces>,
) {
    let memory = if words == 0 { String::new() } else { format!(", which share {} bytes", 4 * words) };
    let rows = if lanes.is_some() { format!(", rows of {x} of which are lanes of a subgroup") } else { String::new() };
    cx.trace.did(name, format!("a kernel of blocks of {x} x {y} x {z} threads{rows}{memory}"));
    for h in lanes.into_iter().flatten() {
        let func = cx.program.buffers[h.buf].name.clone();
        cx.trace.did(name, format!("`{func}` in registers of lanes, {} of its elements in each", h.each));
    }
    for (buf, why) in pieces {
        let info = &cx.program.buffers[*buf];
        let because = why.text(4 / info.elem.bytes() as i64);
        let what = format!("stores `{}` in whole words", info.name);
        cx.trace.did_not(name, what, because);
    }
}
