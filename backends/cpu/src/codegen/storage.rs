//! The storage of buffers: registers, the stack, the run's heap, or the caller's memory.

use super::abi::RuntimeFn;
use super::func::{Callee, Func, REGION_SCRATCH, REGION_SLOTS};
use super::places::{Area, Place, RegisterBuffer, Scratch};
use super::scalar_replacement;
use crate::shared::lane::Lane;
use crate::tuning::{FRAME_BUDGET_BYTES, STACK_ALLOCATION_BYTES};
use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use halide_ir::{BufId, BufferRole, Expr, Memory, Side, Stmt};
use std::rc::Rc;

/// Bytes after an allocation that may be read (and mean nothing), so that a last partial vector is loaded whole.
const STACK_SLACK: u64 = 16;

impl Func<'_> {
    /// The place of a buffer that is visible here.
    pub(super) fn place(&mut self, buf: BufId) -> Place {
        if let Some(known) = self.places.get(&buf) {
            return known.clone();
        }
        let Some(word) = self.env.layout.data(buf) else {
            self.wrong(format!("{buf:?} is used outside of its allocation"));
            let base = self.index(0);
            return Place::Memory(Area { base, region: buf.0, readonly: false, slack: false });
        };
        // Loaded anew in each use: Cranelift shares these loads, wherever they are.
        let base = self.argument(word, types::I64);
        let readonly = matches!(self.env.program.buffers[buf].role, BufferRole::Input(_));
        Place::Memory(Area { base, region: buf.0, readonly, slack: false })
    }

    /// An allocation for the time of `body`.
    pub(super) fn alloc(&mut self, buf: BufId, count: &Expr, constant: Option<u64>, body: &Stmt) {
        let info = &self.env.program.buffers[buf];
        let (memory, size) = (info.memory, info.elem.bytes() as u64);
        let bytes = constant.and_then(|n| n.checked_mul(size)?.checked_add(STACK_SLACK));
        if info.side != Side::Host {
            self.device_alloc(buf, count, size as i64, body);
            self.memo.stored(buf);
            return;
        }
        let on_heap = matches!(memory, Memory::Heap | Memory::Global) || bytes.is_none();
        let lane = Lane::of_data(info.elem);
        let registers = if on_heap { None } else { scalar_replacement::plan(self.env.program, buf, lane, body) };
        let is_alone = || !self.places.values().any(|place| matches!(place, Place::Registers(_)));
        let whole = || Stmt::Alloc { buf, count: count.clone(), constant, body: Box::new(body.clone()) };
        if registers.is_some() && is_alone() && self.outline_scope(body, whole) {
            // The kernel has it.
        } else if let Some(plan) = registers {
            let registers = RegisterBuffer::declare(self, lane, plan);
            self.places.insert(buf, Place::Registers(Rc::new(registers)));
            self.stmt(body);
        } else if let Some((slot, size)) = bytes.filter(|_| !on_heap).and_then(|b| self.take_slot(b)) {
            let base = self.ins().stack_addr(types::I64, slot, 0);
            let region = REGION_SLOTS - slot.as_u32();
            self.places.insert(buf, Place::Memory(Area { base, region, readonly: false, slack: true }));
            self.stmt(body);
            self.slots.free.push((slot, size));
        } else {
            self.heap_memory(buf, count, size as i64, |f, _| f.stmt(body));
        }
        self.places.remove(&buf);
        self.memo.stored(buf);
    }

    /// Memory of the heap for the time of what `body` makes, which gets its address.
    pub(super) fn heap_memory(&mut self, buf: BufId, count: &Expr, size: i64, body: impl FnOnce(&mut Self, Value)) {
        let (count, id) = (self.scalar(count), self.index(i64::from(buf.0)));
        let base = self.heap_bytes(count, size, id);
        self.places.insert(buf, Place::Memory(Area { base, region: buf.0, readonly: false, slack: true }));
        self.on_heap.insert(buf, base);
        body(self, base);
        let worker = self.worker;
        self.call(Callee::Runtime(RuntimeFn::Release), &[worker]);
        self.on_heap.remove(&buf);
        self.places.remove(&buf);
    }

    /// The address of so many elements of `size` bytes on the heap for the buffer with number `id`; leaves the function
    /// with a fault if there is not that much.
    pub(super) fn heap_bytes(&mut self, count: Value, size: i64, id: Value) -> Value {
        let (worker, size) = (self.worker, self.index(size));
        let base = self.call_value(Callee::Runtime(RuntimeFn::Allocate), &[worker, count, size, id]);
        let null = self.icmp_const(cranelift_codegen::ir::condcodes::IntCC::Equal, base, 0);
        self.check_code(null);
        base
    }

    /// Gives a heap allocation back before it ends. What is on the stack or in registers stays.
    pub(super) fn free(&mut self, buf: BufId) {
        if self.env.program.buffers[buf].side != Side::Host {
            let id = self.index(i64::from(buf.0));
            self.device_end(id);
        }
        if let Some(&base) = self.on_heap.get(&buf) {
            let worker = self.worker;
            self.call(Callee::Runtime(RuntimeFn::FreeEarly), &[worker, base]);
        }
    }

    /// A stack slot of at least `bytes` within the budget, and its size.
    fn take_slot(&mut self, bytes: u64) -> Option<(StackSlot, u64)> {
        if bytes > STACK_ALLOCATION_BYTES + STACK_SLACK {
            return None;
        }
        if let Some(i) = self.slots.free.iter().position(|(_, size)| *size >= bytes && *size <= 2 * bytes) {
            return Some(self.slots.free.swap_remove(i));
        }
        let size = bytes.next_multiple_of(16);
        if self.slots.used + size > FRAME_BUDGET_BYTES {
            return None;
        }
        self.slots.used += size;
        Some((self.new_slot(size as u32), size))
    }

    /// The address of scratch space that lasts until the next use for the same purpose.
    pub(super) fn scratch(&mut self, purpose: Scratch, bytes: usize) -> Value {
        let bytes = (bytes as u32).next_multiple_of(16);
        let known = self.slots.scratch.iter().position(|(p, _, size)| *p == purpose && *size >= bytes);
        let slot = match known {
            Some(i) => self.slots.scratch[i].1,
            None => {
                let slot = self.new_slot(bytes);
                self.slots.scratch.push((purpose, slot, bytes));
                slot
            }
        };
        self.ins().stack_addr(types::I64, slot, 0)
    }
    /// A stack slot of its own.
    pub(super) fn new_slot(&mut self, bytes: u32) -> StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
    }
    /// Stores a word into scratch space.
    pub(super) fn store_scratch(&mut self, value: Value, at: Value, offset: usize) {
        let flags = self.flags(REGION_SCRATCH);
        self.ins().store(flags, value, at, offset as i32);
    }
    /// A word of scratch space.
    pub(super) fn load_scratch(&mut self, at: Value, offset: usize) -> Value {
        let flags = self.flags(REGION_SCRATCH);
        self.ins().load(types::I64, flags, at, offset as i32)
    }
}
