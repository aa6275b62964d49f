//! The rules of kernels and of what hands work to them.

use super::{Code, Place, Verifier};
use crate::buffer_info::BufferRole;
use crate::buffer_info::Side;
use crate::expr::{Expr, ExprKind, Type};
use crate::hash::Set;
use crate::kernel::{Kernel, Writes};
use crate::lanes::{Held, loaded_apart};
use crate::program::Stage;
use crate::stmt::{For, ForKind, Stmt};
use crate::sym::{BufId, KernelId, Sym};
use crate::visit;

/// The most loops over blocks, and over threads.
const DIMENSIONS: usize = 3;

impl Verifier<'_> {
    pub(super) fn kernel(&mut self, id: KernelId, kernel: &Kernel) {
        if self.stage() < Stage::Shaped {
            self.error(format!("{id:?} at {:?}", self.stage()));
        }
        self.enter_root();
        self.place.push(Place::Kernel(id));
        if kernel.blocks.len() > DIMENSIONS || kernel.threads.contains(&0) {
            self.error(format!("{} loops over blocks of {:?} threads", kernel.blocks.len(), kernel.threads));
        }
        if self.program.kernels.enumerate().any(|(other, k)| other != id && k.name == kernel.name) {
            self.error(format!("two kernels are named `{}`", kernel.name));
        }
        for (s, ty) in &kernel.captures {
            self.known_sym(*s);
            if ty.lanes != 1 || (!matches!(s, Sym::Temp(_)) && *ty != Type::INDEX) {
                self.error(format!("{id:?} captures {} as {ty}", self.sym(*s)));
            }
            if self.bound.insert(*s, vec![(0, *ty)]).is_some() {
                self.error(format!("{id:?} captures {} twice", self.sym(*s)));
            }
        }
        for block in &kernel.blocks {
            if !self.loops.insert(*block) {
                self.error(format!("two loops are {}", self.sym(Sym::Loop(*block))));
            }
            self.bind(Sym::Loop(*block), Type::INDEX);
        }
        self.rows(kernel);
        let internal = |b: &BufId| self.program.buffers.get(*b).is_some_and(|i| i.role == BufferRole::Internal);
        let outside: Vec<BufId> = kernel.buffers.iter().map(|b| b.buf).filter(internal).collect();
        self.code = Code::Block;
        self.storage(&outside, |v| v.stmt(&kernel.body));
        self.code = Code::Host;
        self.uses(kernel);
        self.place.pop();
    }

    /// The places of allocations of block code are in the memory, and each has one.
    fn rows(&mut self, kernel: &Kernel) {
        if let Some(held) = &kernel.lanes {
            self.lanes(kernel, held);
        }
        for row in &kernel.shared {
            if row.first_word.checked_add(row.words).is_none_or(|end| end > kernel.shared_words) {
                self.error(format!("{} is beyond the {} shared words", self.buf(row.buf), kernel.shared_words));
            }
        }
        let mut twice: Vec<BufId> = kernel.shared.iter().map(|r| r.buf).collect();
        twice.extend(kernel.buffers.iter().map(|b| b.buf));
        twice.extend(kernel.lanes.iter().flatten().map(|h| h.buf));
        twice.sort_unstable();
        if twice.windows(2).any(|w| w[0] == w[1]) {
            self.error("a buffer is listed twice");
        }
        for b in &kernel.buffers {
            let side = self.program.buffers.get(b.buf).map(|info| info.side);
            if self.stage() >= Stage::Final && side == Some(Side::Host) {
                self.error(format!("{} is the host's", self.buf(b.buf)));
            }
            let own = |s: &Sym| matches!(s, Sym::Buffer { buf, .. } if *buf == b.buf);
            if !b.word_strides.iter().all(own) {
                self.error(format!("{} has strides of another buffer", self.buf(b.buf)));
            }
        }
    }

    /// Rows are subgroups or equal parts of them, and together where a lane needs what another holds.
    fn lanes(&mut self, kernel: &Kernel, held: &[Held]) {
        if !kernel.threads[0].is_power_of_two() {
            self.error(format!("a row has {} lanes", kernel.threads[0]));
        }
        if let Some(h) = held.iter().find(|h| h.run == 0 || h.each == 0 || h.each % h.run != 0) {
            self.error(format!("a lane holds {} of {} in runs of {}", h.each, self.buf(h.buf), h.run));
        }
        let bufs = held.iter().map(|h| h.buf).collect();
        if let Some(buf) = loaded_apart(&kernel.body, kernel.threads[0], &bufs) {
            self.error(format!("{} is loaded where lanes are apart", self.buf(buf)));
        }
    }

    /// Every buffer and parameter that the body uses is listed with what it does with it.
    fn uses(&mut self, kernel: &Kernel) {
        let (mut loads, mut stores, mut own, mut params) =
            (Set::default(), Set::default(), Set::default(), Set::default());
        let mut steps = Set::default();
        collect(&kernel.body, &mut |s| {
            match s {
                Stmt::Alloc { buf, .. } => _ = own.insert(*buf),
                Stmt::Store { buf, .. } => _ = stores.insert(*buf),
                Stmt::Atomic { body, .. } => collect(body, &mut |s| {
                    if let Stmt::Store { buf, .. } = s {
                        steps.insert(*buf);
                    }
                }),
                _ => {}
            }
            visit::for_each_expr(s, |e| {
                visit::for_each_node(e, &mut |n| match n.kind() {
                    ExprKind::Load { buf, .. } => _ = loads.insert(*buf),
                    ExprKind::Param(id) => _ = params.insert(*id),
                    _ => {}
                });
            });
        });
        let row = |buf: &BufId| kernel.buffers.iter().find(|b| b.buf == *buf);
        let unread = loads.iter().find(|b| !own.contains(*b) && row(b).is_none_or(|r| !r.reads));
        let unwritten = stores.iter().find(|b| !own.contains(*b) && row(b).is_none_or(|r| r.writes == Writes::None));
        let torn = steps.iter().find(|b| !own.contains(*b) && row(b).is_none_or(|r| r.writes != Writes::Pieces));
        if let Some(buf) = unread.or(unwritten).or(torn) {
            self.error(format!("{} is used in another way than is listed", self.buf(*buf)));
        }
        if params.iter().any(|p| !kernel.params.contains(p)) {
            self.error("a parameter is not listed");
        }
    }

    /// Reports a statement that may not stand in this code.
    pub(super) fn allowed(&mut self, s: &Stmt) {
        let what = match (self.code, s) {
            (Code::Host, Stmt::Barrier) => "a Barrier in host code",
            (Code::Phase, Stmt::Barrier) => "a Barrier in a phase",
            (Code::Block, Stmt::Store { .. }) => "a Store outside of phases",
            (Code::Block | Code::Phase, Stmt::Assert { .. }) => "an Assert in a kernel",
            (Code::Block | Code::Phase, Stmt::Print { .. }) => "a Print in a kernel",
            (Code::Block | Code::Phase, Stmt::Call { .. }) => "a Call in a kernel",
            (Code::Block | Code::Phase, Stmt::Count { .. }) => "a Count in a kernel",
            (Code::Block | Code::Phase, Stmt::Free { .. }) => "a Free in a kernel",
            (Code::Block | Code::Phase, Stmt::Prefetch { .. }) => "a Prefetch in a kernel",
            (Code::Block | Code::Phase, Stmt::Launch { .. }) => "a Launch in a kernel",
            (Code::Block | Code::Phase, Stmt::Dispatch { .. } | Stmt::Reside { .. }) => "host code in a kernel",
            _ => return,
        };
        self.error(what);
    }

    /// Checks where a loop stands; the result is the code in it.
    pub(super) fn enter_loop(&mut self, l: &For) -> Code {
        match (self.code, l.kind) {
            (Code::Host, kind) if kind.is_gpu() && self.stage() >= Stage::Final => {
                self.error("a loop of a kernel in host code");
            }
            (Code::Block, ForKind::GpuThreads) => {
                if !is_phase(l) {
                    self.error("loops over threads are not directly in each other");
                }
                return Code::Phase;
            }
            (Code::Block | Code::Phase, ForKind::GpuBlocks) => self.error("a loop over blocks in a kernel"),
            (Code::Block | Code::Phase, ForKind::GpuLanes) => self.error("a loop over lanes in a kernel"),
            _ => {}
        }
        self.code
    }

    /// An allocation of a kernel.
    pub(super) fn kernel_alloc(&mut self, buf: BufId, constant: Option<u64>) {
        let Some(Place::Kernel(id)) = self.place.first().copied() else { return };
        let kernel = &self.program.kernels[id];
        let row = kernel.shared.iter().find(|r| r.buf == buf);
        if self.code == Code::Block && constant.is_some() && kernel.lanes.iter().flatten().any(|h| h.buf == buf) {
            return;
        }
        match (constant, self.code, row) {
            (None, ..) => self.error(format!("{} has no constant size in a kernel", self.buf(buf))),
            (_, Code::Block, None) => {
                self.error(format!("{} has no place in shared memory, nor in lanes", self.buf(buf)))
            }
            (Some(n), Code::Block, Some(row)) if n > u64::from(row.words) => {
                self.error(format!("{} has {n} elements in {} words", self.buf(buf), row.words));
            }
            _ => {}
        }
    }

    pub(super) fn dispatch(&mut self, id: KernelId, grid: &[Expr]) {
        if self.stage() < Stage::Shaped {
            self.error(format!("a Dispatch at {:?}", self.stage()));
        }
        for n in grid {
            self.scalar(n, Type::INDEX, "an extent of a grid");
        }
        let Some(kernel) = self.program.kernels.get(id) else {
            return self.error(format!("{id:?} is not in the table"));
        };
        if grid.len() != kernel.blocks.len() {
            self.error(format!("{id:?} has {} loops over blocks, and gets {}", kernel.blocks.len(), grid.len()));
        }
        for (s, ty) in &kernel.captures {
            let here = self.bound.get(s).and_then(|stack| stack.last()).map(|(_, ty)| *ty);
            let callers = matches!(s, Sym::Buffer { buf, .. }
                if self.program.buffers.get(*buf).is_some_and(|info| info.role != BufferRole::Internal));
            if here.or(callers.then_some(Type::INDEX)) != Some(*ty) {
                let found = here.map_or("not bound".to_string(), |t| t.to_string());
                self.error(format!("{id:?} captures {} of {ty}, which is {found} at its dispatch", self.sym(*s)));
            }
        }
        for b in &kernel.buffers {
            self.used(b.buf);
        }
    }

    pub(super) fn reside(&mut self, buf: BufId) {
        if self.stage() < Stage::Shaped {
            self.error(format!("a Reside at {:?}", self.stage()));
        }
        self.used(buf);
        if self.program.buffers.get(buf).is_some_and(|info| info.side == Side::Host) {
            self.error(format!("{} has one copy, the host's", self.buf(buf)));
        }
    }
}

fn collect(s: &Stmt, f: &mut dyn FnMut(&Stmt)) {
    f(s);
    visit::for_each_stmt(s, |inner| collect(inner, f));
}

/// Returns true if `l` is at most three loops over threads directly in each other, without others inside.
fn is_phase(l: &For) -> bool {
    let (mut depth, mut inner) = (1, &l.body);
    while let Stmt::For(next) = inner
        && next.kind == ForKind::GpuThreads
    {
        depth += 1;
        inner = &next.body;
    }
    let mut more = false;
    collect(inner, &mut |s| more |= matches!(s, Stmt::For(l) if l.kind == ForKind::GpuThreads));
    depth <= DIMENSIONS && !more
}
