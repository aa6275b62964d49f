//! Registers in use after they are chosen: a backward dataflow analysis.

use super::allocate::Laid;
use regalloc2::{Block, Edit, Function, OperandKind, Output, PReg, ProgPoint};
use std::ops::Range;

/// A set of registers.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Registers([u64; PReg::NUM_INDEX.div_ceil(64)]);

/// The registers in use at the start and at the end of each block.
pub(super) struct Liveness {
    pub(super) starts: Vec<Registers>,
    pub(super) ends: Vec<Registers>,
}

impl Liveness {
    /// Finds the registers that are used later on some path.
    pub(super) fn new(laid: &Laid<'_>, output: &Output) -> Liveness {
        let count = laid.num_blocks();
        let mut starts = vec![Registers::default(); count];
        let mut ends = vec![None; count];
        let mut kept = vec![true; output.edits.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..count).rev() {
                let mut live = Registers::default();
                for next in laid.block_succs(Block::new(block)) {
                    live.join(&starts[next.index()]);
                }
                if ends[block] == Some(live) {
                    continue;
                }
                ends[block] = Some(live);
                walk_back(laid, output, block, &mut live, &mut kept, |_, _, _| {});
                starts[block] = live;
                changed = true;
            }
        }
        Liveness { starts, ends: ends.into_iter().map(Option::unwrap_or_default).collect() }
    }
}

/// Goes through a block from its end, at which the registers `live` are in use. Calls `f` with each instruction, the
/// moves between the one before and it, and the registers in use behind it, but for its results. Moves that nothing
/// uses are not kept.
pub(super) fn walk_back(
    laid: &Laid<'_>,
    output: &Output,
    block: usize,
    live: &mut Registers,
    kept: &mut [bool],
    mut f: impl FnMut(regalloc2::Inst, Range<usize>, &Registers),
) {
    let insts = laid.block_insns(Block::new(block));
    let first = output.edits.partition_point(|(at, _)| *at < ProgPoint::before(insts.first()));
    let mut end = output.edits.partition_point(|(at, _)| *at <= ProgPoint::before(insts.last()));
    for inst in insts.iter().rev() {
        let (operands, allocs) = (laid.inst_operands(inst), output.inst_allocs(inst));
        let registers = |kind| {
            let all = operands.iter().zip(allocs).filter(move |(o, _)| o.kind() == kind);
            all.filter_map(|(_, a)| a.as_reg())
        };
        registers(OperandKind::Def).for_each(|r| live.set(r, false));
        let mut start = if inst == insts.first() { first } else { end };
        // There are few between two instructions: a step back is shorter than a search.
        while start > first && output.edits[start - 1].0 > ProgPoint::before(inst.prev()) {
            start -= 1;
        }
        f(inst, start..end, live);
        registers(OperandKind::Use).for_each(|r| live.set(r, true));
        for edit in (start..end).rev() {
            kept[edit] = live.before_move(output.edits[edit].1.clone());
        }
        end = start;
    }
}

impl Registers {
    pub(super) fn has(&self, register: PReg) -> bool {
        self.0[register.index() / 64] & (1 << (register.index() % 64)) != 0
    }
    pub(super) fn set(&mut self, register: PReg, used: bool) {
        let bit = 1 << (register.index() % 64);
        let word = &mut self.0[register.index() / 64];
        *word = if used { *word | bit } else { *word & !bit };
    }
    fn join(&mut self, other: &Registers) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
    /// Goes back in front of a move; false if nothing uses it.
    fn before_move(&mut self, edit: Edit) -> bool {
        let Edit::Move { from, to } = edit;
        if let Some(register) = to.as_reg() {
            if !self.has(register) {
                return false;
            }
            self.set(register, false);
        }
        from.as_reg().into_iter().for_each(|r| self.set(r, true));
        true
    }
}
