//! Host and device coherence: keeps what host code and kernels see of a buffer the same.
//!
//! Before and after: `Stage::Shaped`, without loops over blocks. `BufferInfo::side` says who uses each buffer, and a
//! `Reside` stands before host code that touches what a kernel may have written (`OnHost`), and after host code that
//! stores to what kernels use (`ChangedOnHost`). Kernels themselves bring what they use to the device. They stand
//! around the largest pieces of host code without kernels in them, so not inside of their loops.
//!
//! Where a schedule asks for copies, these stand behind the production of the Func.
//!
//! An input may have been written by a kernel of an earlier run. Who started the run gets outputs back to the host.
//!
//! Example:
//! ```text
//! alloc f#b1[8] at_most 8 {
//!   for x#L0 from 0 extent 8 {
//!     f#b1[x#L0] = in#b0[x#L0]
//!   }
//!   gpu_blocks y#L1 from 0 extent 8 {
//!     gpu_threads xi#L2 from 0 extent 1 {
//!       out#b2[y#L1] = f#b1[y#L1]
//!     }
//!   }
//!   for yi#L3 from 0 extent 7 {
//!     out#b2[yi#L3] = out#b2[yi#L3] + out#b2[yi#L3 + 1]
//!   }
//! }
//! ```
//! becomes
//! ```text
//! kernel0 "y" blocks (y#L1) threads (1, 1, 1) captures () params () buffers (f#b1 reads, out#b2 pieces) shared () words 0 {
//!   gpu_threads xi#L2 from 0 extent 1 {
//!     out#b2[y#L1] = f#b1[y#L1]
//!   }
//! }
//! body {
//!   alloc f#b1[8] at_most 8 {
//!     for x#L0 from 0 extent 8 {
//!       f#b1[x#L0] = in#b0[x#L0]
//!     }
//!     changed_on_host f#b1
//!     dispatch kernel0(8)
//!     on_host out#b2
//!     for yi#L3 from 0 extent 7 {
//!       out#b2[yi#L3] = out#b2[yi#L3] + out#b2[yi#L3 + 1]
//!     }
//!     changed_on_host out#b2
//!   }
//! }
//! ```

use crate::lower::trace::LoweringTrace;
use crate::lower::walk;
use halide_core::ids::FuncId;
use halide_ir::hash::Set;
use halide_ir::memory_uses::MemoryUses;
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, BufferRole, KernelId, Program, Residency, Side, Stmt, Writes, build};
use std::collections::{BTreeMap, BTreeSet};

/// The sides, host or device, to which the schedule brings the values of Funcs as soon as they are computed.
pub type Asked = BTreeMap<FuncId, BTreeSet<Residency>>;

/// Says which side uses each buffer, and puts in what keeps its two copies in step, and what is `asked` for.
pub fn place_copies(program: Program, asked: &Asked, trace: &mut LoweringTrace) -> Program {
    if program.kernels.is_empty() {
        not_copied(&program, asked, trace);
        return program;
    }
    walk::map_body(program, |body, program| {
        sides(&body, program);
        let both = |b: &BufId| program.buffers[*b].side == Side::Both;
        let newer = program.image_buffers.iter().copied().filter(both);
        let newer = newer.collect();
        let mut copies = Copies { program, asked, newer };
        let body = copies.stmt(body);
        not_copied(program, asked, trace);
        body
    })
}

/// Sets the side of every buffer.
fn sides(body: &Stmt, program: &mut Program) {
    let mut host = MemoryUses::default();
    host.collect(body);
    let mut device = Set::default();
    program.kernels.iter().for_each(|k| device.extend(k.buffers.iter().map(|b| b.buf)));
    let ids: Vec<BufId> = program.buffers.ids().collect();
    for id in ids {
        let callers = program.buffers[id].role != BufferRole::Internal;
        let on_host = callers || host.loads.contains(&id) || host.stores.contains(&id);
        program.buffers[id].side = match (device.contains(&id), on_host) {
            (false, _) => Side::Host,
            (true, true) => Side::Both,
            (true, false) => Side::Device,
        };
    }
}

/// Says which Funcs are not copied as asked for, since one side alone uses them.
fn not_copied(program: &Program, asked: &Asked, trace: &mut LoweringTrace) {
    for (func, to) in asked {
        let Some(info) = program.func_buffers[*func].first().map(|b| &program.buffers[*b]) else { continue };
        let because = match info.side {
            Side::Both => continue,
            Side::Host => "no kernel uses it",
            Side::Device => "no host code uses it",
        };
        for to in to {
            let what = if *to == Residency::OnDevice { "copied to the device" } else { "copied to the host" };
            trace.did_not(info.name.clone(), what, because);
        }
    }
}

struct Copies<'p> {
    program: &'p Program,
    asked: &'p Asked,
    /// The buffers whose copy on the device may be the newest.
    newer: Set<BufId>,
}

impl Copies<'_> {
    /// Returns true if kernels run in `s`, or copies are asked for.
    fn has_kernels(&self, s: &Stmt) -> bool {
        walk::any_stmt(s, &mut |s| match s {
            Stmt::Dispatch { .. } => true,
            Stmt::Produce { func, .. } => self.asked.contains_key(func),
            _ => false,
        })
    }

    /// The copies that are asked for behind the production of `func`.
    fn copied(&mut self, func: FuncId) -> Vec<Stmt> {
        let both = |b: &BufId| self.program.buffers[*b].side == Side::Both;
        let bufs: Vec<BufId> = self.program.func_buffers[func].iter().copied().filter(both).collect();
        let mut made = Vec::new();
        for to in self.asked.get(&func).into_iter().flatten() {
            if *to == Residency::OnHost {
                bufs.iter().for_each(|b| _ = self.newer.remove(b));
            }
            made.extend(residencies(bufs.iter().copied(), *to));
        }
        made
    }

    fn stmt(&mut self, s: Stmt) -> Stmt {
        deep(|| self.one(s))
    }

    fn one(&mut self, s: Stmt) -> Stmt {
        if !self.has_kernels(&s) {
            return self.host(s);
        }
        match s {
            Stmt::Block(list) => self.block(list),
            Stmt::Produce { func, body } => {
                let produce = Stmt::Produce { func, body: Box::new(self.stmt(*body)) };
                let asked = self.copied(func);
                build::block(std::iter::once(produce).chain(asked))
            }
            Stmt::Dispatch { kernel, .. } => {
                let made = self.before(s);
                self.written(kernel);
                made
            }
            Stmt::For(_) => {
                let Stmt::For(mut l) = s else { return s };
                let mut touched = MemoryUses::default();
                touched.note(&Stmt::For(l.clone()));
                let mut made = self.ready(&touched);
                let body = l.body.clone();
                let mut around = self.newer.clone();
                loop {
                    self.newer = around.clone();
                    l.body = self.stmt(body.clone());
                    if self.newer.iter().all(|b| around.contains(b)) {
                        break;
                    }
                    around.extend(self.newer.iter().copied());
                }
                // The loop may run no iteration.
                self.newer = around;
                made.push(Stmt::For(l));
                build::block(made)
            }
            Stmt::If { .. } => {
                let mut touched = MemoryUses::default();
                touched.note(&s);
                let mut made = self.ready(&touched);
                let Stmt::If { cond, then, otherwise } = s else { return s };
                let entry = self.newer.clone();
                let then = self.stmt(*then);
                let after = std::mem::replace(&mut self.newer, entry);
                let otherwise = self.stmt(*otherwise);
                self.newer.extend(after);
                made.push(build::if_else(cond, then, otherwise));
                build::block(made)
            }
            other => self.before(other),
        }
    }

    fn block(&mut self, list: Vec<Stmt>) -> Stmt {
        let mut made = Vec::new();
        let mut run = Vec::new();
        for s in list {
            if self.has_kernels(&s) {
                if !run.is_empty() {
                    made.push(self.host(build::block(std::mem::take(&mut run))));
                }
                made.push(self.stmt(s));
            } else {
                run.push(s);
            }
        }
        if !run.is_empty() {
            made.push(self.host(build::block(run)));
        }
        build::block(made)
    }

    /// A statement with kernels in it, after what its own expressions need.
    fn before(&mut self, s: Stmt) -> Stmt {
        let mut touched = MemoryUses::default();
        touched.note(&s);
        let mut made = self.ready(&touched);
        if let Stmt::Alloc { buf, .. } = &s {
            self.newer.remove(buf);
        }
        made.push(visit::map_stmt(s, |e| e.clone(), |inner| self.stmt(inner)));
        build::block(made)
    }

    /// Host code without kernels in it.
    fn host(&mut self, s: Stmt) -> Stmt {
        let mut touched = MemoryUses::default();
        touched.collect(&s);
        let mut made = self.ready(&touched);
        made.push(s);
        let changed = touched.stores.into_iter().filter(|b| self.program.buffers[*b].side == Side::Both);
        made.extend(residencies(changed, Residency::ChangedOnHost));
        build::block(made)
    }

    /// Emits statements that make the host's copies of the touched buffers the newest. A store counts too: it may leave
    /// some of what was there.
    fn ready(&mut self, touched: &MemoryUses) -> Vec<Stmt> {
        let all = touched.loads.iter().chain(&touched.stores).copied();
        let old: Set<BufId> = all.filter(|b| self.newer.contains(b)).collect();
        self.newer.retain(|b| !old.contains(b));
        residencies(old, Residency::OnHost)
    }

    fn written(&mut self, kernel: KernelId) {
        let written = self.program.kernels[kernel].buffers.iter().filter(|b| b.writes != Writes::None);
        let both = written.map(|b| b.buf).filter(|b| self.program.buffers[*b].side == Side::Both);
        self.newer.extend(both);
    }
}

fn residencies(bufs: impl IntoIterator<Item = BufId>, what: Residency) -> Vec<Stmt> {
    let mut all: Vec<BufId> = bufs.into_iter().collect();
    all.sort_unstable();
    all.into_iter().map(|buf| Stmt::Reside { buf, what }).collect()
}
