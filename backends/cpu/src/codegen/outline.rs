//! Loops that the generator of wide vectors takes: each becomes a function of its own, called with a block of words on
//! the stack that holds what it uses from around it.

use super::abi::RuntimeFn;
use super::func::{Callee, Func};
use super::outlined::{OutlinedKernel, has_vectors, only_prefetches};
use super::places::Place;
use super::value::Val;
use crate::options::KernelLoads;
use crate::shared::lane::Lane;
use crate::shared::linear::Sums;
use crate::shared::marks::Marks;
use crate::tuning::{NON_TEMPORAL_BYTES, PAGE_BYTES};
use crate::wide;
use crate::wide::interface::{Capture, Claim, Loads, Surroundings};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_core::ids::Id;
use halide_ir::code_place::CodePlace;
use halide_ir::{BufId, DimField, For, ForKind, LoopId, Stmt, Sym, build, visit};
use std::sync::PoisonError;

impl Surroundings for Func<'_> {
    fn in_memory(&self, buf: BufId) -> bool {
        matches!(self.places.get(&buf), Some(Place::Memory(_)))
    }
    fn elements(&self, buf: BufId) -> Option<u64> {
        self.env.sizes.get(&buf).copied()
    }
    fn definitions(&self) -> &Sums {
        &self.definitions
    }
    fn marks(&self) -> Option<(&Marks, u64)> {
        Some((self.env.marks?, self.mark))
    }
    fn code_place(&self) -> CodePlace {
        Func::code_place(self)
    }
}

impl Func<'_> {
    /// Makes a kernel of a loop and calls it; false if the loop is Cranelift's.
    pub(super) fn outline(&mut self, l: &For) -> bool {
        self.outline_called(l, l.id)
    }
    /// Makes a kernel of an allocation with the loops of its `body`; false if none of them could be one, or they are
    /// Cranelift's. Loops alone could not have it in registers.
    pub(super) fn outline_scope(&mut self, body: &Stmt, scope: impl FnOnce() -> Stmt) -> bool {
        // There is a symbol for each such loop: the kernel takes that of the first one.
        let Some(named) = self.env.outlined.and_then(|_| first_with_vectors(body)) else { return false };
        let id = LoopId::new(self.env.program.loops.len());
        let (min, extent, body) = (build::int(0), build::int(1), scope());
        self.outline_called(&For { id, kind: ForKind::Serial, min, extent, condition: None, body }, named)
    }
    /// Makes a kernel of a loop, with the name of one.
    fn outline_called(&mut self, l: &For, named: LoopId) -> bool {
        let Some(outlined) = self.env.outlined else { return false };
        if !has_vectors(&l.body) && !only_prefetches(&l.body) {
            return false;
        }
        let mut outlined = outlined.lock().unwrap_or_else(PoisonError::into_inner);
        let name_of = |id| self.env.program.loops.get(id).map_or_else(|| format!("{id:?}"), |info| info.name.clone());
        let name = name_of(named);
        let kernel = match wide::compile(self.env.program, self, l, &outlined.options) {
            Ok(kernel) => kernel,
            Err(refusal) => {
                outlined.refusals.push((name, refusal.0));
                return false;
            }
        };
        let Some(&id) = outlined.symbols.get(outlined.kernels.len()) else {
            self.wrong("more kernels than loops".to_string());
            return true;
        };
        let (captures, heap, words) = (kernel.captures.clone(), kernel.heap.clone(), kernel.words);
        let checks = kernel.checks.clone();
        self.outside += kernel.count as u64;
        outlined.unrolled.extend(kernel.unrolled.iter().map(|(id, copies)| (name_of(*id), *copies)));
        let noted = |&Loads { way, operations, count }: &Loads| KernelLoads {
            kernel: name.clone(),
            way: way.to_string(),
            operations,
            count,
        };
        outlined.loads.extend(kernel.loads.iter().map(noted));
        outlined.kernels.push(OutlinedKernel { id, name, kernel });
        drop(outlined);

        for check in checks {
            let asserted = Stmt::Assert { cond: check.cond, fault: check.fault, args: check.args };
            match check.when {
                Some(when) => self.stmt(&build::if_else(when, asserted, build::nothing())),
                None => self.stmt(&asserted),
            }
        }
        let pieces: Vec<Value> = heap.iter().map(|claims| self.obtain(claims)).collect();
        let slot = self.new_slot((8 * words.max(1)) as u32);
        let block = self.ins().stack_addr(types::I64, slot, 0);
        let polls = captures.iter().any(|(what, _)| *what == Capture::Stop);
        let failed = captures.iter().find(|(what, _)| *what == Capture::Failed).map(|(_, word)| *word);
        for (what, word) in captures {
            self.hand_over(what, word, block, &pieces);
        }
        self.call(Callee::Kernel(id), &[block]);
        if let Some(word) = failed {
            self.end_if_failed(block, word);
        }
        if polls {
            self.poll();
        }
        for _ in &pieces {
            let worker = self.worker;
            self.call(Callee::Runtime(RuntimeFn::Release), &[worker]);
        }
        for buf in super::stmt::stored(self.env.program, &l.body) {
            self.memo.stored(buf);
        }
        true
    }
    /// Ends the run with the fault that a kernel left in its words, if any.
    fn end_if_failed(&mut self, block: Value, word: usize) {
        let number = self.load_scratch(block, 8 * word);
        let (failed, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(failed);
        self.ins().brif(number, failed, &[], next, &[]);
        self.guards.check();
        self.enter(failed);
        let fault = self.ins().iadd_imm_s(number, -1);
        let count = self.load_scratch(block, 8 * (word + 1));
        let numbers = self.ins().iadd_imm_s(block, 8 * (word as i64 + 2));
        let worker = self.worker;
        self.call(Callee::Runtime(RuntimeFn::Fail), &[worker, fault, numbers, count]);
        self.return_code(1);
        self.enter(next);
    }
    /// Prefetches outside of kernels, as a kernel of their own: Cranelift has no instruction for them.
    pub(super) fn prefetches(&mut self, all: &[Stmt]) {
        let id = LoopId::new(self.env.program.loops.len());
        let body = build::block(all.iter().cloned());
        // If it is refused, the list of refusals says so; nothing else depends on it.
        let (min, extent) = (build::int(0), build::int(1));
        self.outline(&For { id, kind: ForKind::Serial, min, extent, condition: None, body });
    }
    /// Memory of the heap as large as the largest claim, until it is released.
    fn obtain(&mut self, claims: &[Claim]) -> Value {
        let mut most = (build::int(0), build::int(0));
        for claim in claims {
            let size = self.env.program.buffers[claim.buf].elem.bytes() as i64;
            let bytes = build::mul(build::min(claim.count.clone(), build::int(MOST_ELEMENTS)), build::int(size));
            let bytes = claim.when.iter().fold(bytes, |b, when| build::select(when.clone(), b, build::int(0)));
            let id = build::int(i64::from(claim.buf.0));
            // If there is not that much, the error names the largest.
            let more = build::lt(most.0.clone(), bytes.clone());
            most = (build::max(most.0, bytes), build::select(more, id, most.1));
        }
        let (bytes, id) = (self.scalar(&most.0), self.scalar(&most.1));
        self.heap_bytes(bytes, 1, id)
    }
    /// All bits if a buffer is too small for non-temporal stores, or if its rows must be `apart` and are not.
    fn is_small(&mut self, buf: BufId, apart: bool) -> Value {
        let info = &self.env.program.buffers[buf];
        let field = |dim, field| build::sym(Sym::Buffer { buf, dim: dim as u16, field });
        let element = build::int(info.elem.bytes() as i64);
        let bytes = (0..info.dims).map(|dim| field(dim, DimField::Extent)).fold(element.clone(), build::mul);
        let bytes = self.scalar(&bytes);
        let mut small = self.ins().icmp_imm_s(IntCC::SignedLessThan, bytes, NON_TEMPORAL_BYTES);
        for dim in if apart { 1..info.dims } else { 0..0 } {
            let distance = self.scalar(&build::mul(field(dim, DimField::Stride), element.clone()));
            let within = self.ins().band_imm_u(distance, PAGE_BYTES - 1);
            let collide = self.ins().icmp_imm_u(IntCC::Equal, within, 0);
            small = self.ins().bor(small, collide);
        }
        let small = self.ins().uextend(types::I64, small);
        self.ins().ineg(small)
    }
    /// Stores what a kernel uses into its words.
    fn hand_over(&mut self, what: Capture, word: usize, block: Value, heap: &[Value]) {
        let parts = match what {
            Capture::Sym(symbol, ty) => match self.eval(&build::typed_sym(symbol, ty)) {
                Val::Data(parts) => parts,
                Val::Mask(lane, parts) => self.resize_mask(lane, &parts, ty.lanes, Lane::I8),
            },
            Capture::Heap(piece) => Func::single(heap[piece]),
            Capture::Stop => Func::single(self.stop_flag()),
            Capture::Mark => Func::single(self.mark_word()),
            Capture::Failed => Func::single(self.index(0)),
            Capture::Param(id) => {
                let (_, ty) = self.env.program.params[id];
                self.data(&build::param(id, ty))
            }
            Capture::Buffer(buf) => match self.place(buf) {
                Place::Memory(area) => Func::single(area.base),
                Place::Registers(_) => return self.wrong(format!("{buf:?} is handed over but in registers")),
            },
            Capture::Small { buf, apart } => Func::single(self.is_small(buf, apart)),
        };
        for (i, part) in parts.iter().enumerate() {
            self.store_scratch(*part, block, 8 * word + 16 * i);
        }
    }
}

/// More elements than there is memory for anywhere, whose bytes can be counted.
const MOST_ELEMENTS: i64 = 1 << 56;

/// The first loop of a statement that stores vectors.
fn first_with_vectors(s: &Stmt) -> Option<LoopId> {
    if let Stmt::For(l) = s
        && has_vectors(&l.body)
    {
        return Some(l.id);
    }
    let mut found = None;
    visit::for_each_stmt(s, |inner| found = found.or_else(|| first_with_vectors(inner)));
    found
}
