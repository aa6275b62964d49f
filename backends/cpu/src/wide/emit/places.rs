//! The places of buffers in a kernel.

use crate::shared::pieces::Piece;
use halide_ir::hash::Map;
use halide_ir::{BufId, Sym};
use regalloc2::VReg;

/// The location of a buffer.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// At the address that a symbol of ours stands for.
    Pointer(Sym),
    /// In the kernel's frame, so many bytes from its start.
    Frame(u32),
    /// In registers.
    Registers,
}

/// The locations of allocations.
#[derive(Default)]
pub(super) struct Allocations {
    pub(super) places: Map<BufId, Place>,
    pub(super) registers: Map<BufId, Pieces>,
}

/// A buffer in registers: what each piece holds at the moment.
#[derive(Clone)]
pub(super) struct Pieces {
    pub(super) pieces: Vec<(Piece, Vec<VReg>)>,
    /// The level of the newest value.
    pub(super) level: usize,
}

impl Allocations {
    /// The level of what a buffer in registers holds.
    pub(super) fn level(&self, buf: BufId) -> Option<usize> {
        self.registers.get(&buf).map(|p| p.level)
    }
    /// Buffers in registers of a set, in a fixed order.
    fn among(&self, bufs: impl Fn(BufId) -> bool) -> Vec<BufId> {
        let mut all: Vec<BufId> = self.registers.keys().copied().filter(|b| bufs(*b)).collect();
        all.sort();
        all
    }
    /// Returns the registers of such buffers, one after the other.
    pub(super) fn values(&self, bufs: impl Fn(BufId) -> bool) -> Vec<VReg> {
        let all = self.among(bufs);
        all.iter().flat_map(|b| self.registers[b].pieces.iter().flat_map(|(_, regs)| regs.iter().copied())).collect()
    }
    /// Gives registers of such buffers new values, in the same order, which are of this level.
    pub(super) fn set(&mut self, bufs: impl Fn(BufId) -> bool, values: &[VReg], level: usize) {
        let mut values = values.iter().copied();
        for b in self.among(bufs) {
            let Some(p) = self.registers.get_mut(&b) else { continue };
            p.level = level;
            for reg in p.pieces.iter_mut().flat_map(|(_, regs)| regs) {
                *reg = values.next().unwrap_or(*reg);
            }
        }
    }
}
