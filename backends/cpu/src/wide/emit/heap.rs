//! Memory that allocations of a nest need and that neither registers nor the frame hold.
//!
//! It is obtained before the kernel is called, once for all iterations, and handed in. So its size must be known there:
//! as an expression of what is visible outside of the nest, or as a constant that it never exceeds. Allocations that do
//! not live at the same time share a piece of memory ([`super::claims::Slot`]), which is as large as the largest of
//! them.
//!
//! An allocation that never comes about, as a loop around it does not run, claims nothing where the conditions that say
//! so are known outside, or whether they ever hold. Where that is not so, sizes may mean nothing either: then only
//! constants are taken.

use super::super::interface::{Capture, Emitted, refuse};
use super::kernel::Emit;
use super::places::Place;
use halide_ir::{BufId, Expr, Stmt, Type};

impl Emit<'_> {
    /// An allocation in memory that the kernel is handed.
    pub(super) fn heap_alloc(&mut self, buf: BufId, count: &Expr, constant: Option<u64>, body: &Stmt) -> Emitted<()> {
        let info = &self.program.buffers[buf];
        let Some(claim) = self.heap.claim(buf, count, constant, info.elem.bytes() as u64) else {
            return refuse(format!("{} is on the heap, and how large it is only known inside", info.name));
        };
        let slot = self.heap.take(claim);
        let word = self.capture(Capture::Heap(slot), 1);
        let pointer = self.at_start(|e| {
            let mem = e.word(word);
            e.unpack(mem, Type::INDEX)
        })?;
        let symbol = self.pointer_symbol(buf);
        self.symbols.insert(symbol, (pointer, 0));
        self.slots.places.insert(buf, Place::Pointer(symbol));
        let level = self.innermost();
        self.heap.live.insert(buf, (slot, level));
        self.heap.inner.push(buf);
        self.stmt(body)?;
        self.free(buf);
        self.slots.places.remove(&buf);
        self.stored(buf);
        Ok(())
    }
    /// The memory of an allocation is not used any more.
    pub(super) fn free(&mut self, buf: BufId) {
        // In a loop or a branch inside of the allocation, others may still come to use it.
        if let Some(&(slot, level)) = self.heap.live.get(&buf)
            && level == self.innermost()
        {
            self.heap.live.remove(&buf);
            self.heap.slots[slot].used = false;
        }
    }
}
