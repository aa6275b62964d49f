//! Locations of values after registers are chosen, and walks through the steps of a block.

use super::allocate::Laid;
use regalloc2::{Allocation, Block, Edit, Function, Inst, Output, PReg, ProgPoint};

/// The registers and spill slots in use, numbered.
pub(super) struct Locations {
    registers: Vec<Option<usize>>,
    slots: Vec<Option<usize>>,
    /// The registers among them.
    used: Vec<Allocation>,
    count: usize,
}

impl Locations {
    /// Numbers the locations that a function uses.
    pub(super) fn new(output: &Output) -> Locations {
        let (registers, slots) = (vec![None; PReg::NUM_INDEX], vec![None; output.num_spillslots]);
        let mut locations = Locations { registers, slots, used: Vec::new(), count: 0 };
        let edits = output.edits.iter().flat_map(|(_, Edit::Move { from, to })| [*from, *to]);
        for location in output.allocs.iter().copied().chain(edits) {
            let number = match (location.as_reg(), location.as_stack()) {
                (Some(register), _) => &mut locations.registers[register.index()],
                (_, Some(slot)) => &mut locations.slots[slot.index()],
                _ => continue,
            };
            if number.is_none() {
                *number = Some(locations.count);
                locations.count += 1;
                if location.is_reg() {
                    locations.used.push(location);
                }
            }
        }
        locations
    }
    pub(super) fn count(&self) -> usize {
        self.count
    }
    pub(super) fn has_slots(&self) -> bool {
        self.count > self.used.len()
    }
    pub(super) fn registers(&self) -> impl Iterator<Item = Allocation> + '_ {
        self.used.iter().copied()
    }
    /// Returns the number of a location.
    pub(super) fn number(&self, location: Allocation) -> Option<usize> {
        match location.as_reg() {
            Some(register) => self.registers[register.index()],
            None => self.slots[location.as_stack()?.index()],
        }
    }
}

/// A part of a block.
pub(super) enum Step {
    /// The move of this number, from a location to another one.
    Move(usize, Allocation, Allocation),
    Inst(Inst),
}

/// Calls `f` with each step of a block, in order.
pub(super) fn walk(laid: &Laid<'_>, output: &Output, block: usize, mut f: impl FnMut(Step)) {
    let insts = laid.block_insns(Block::new(block));
    let mut edit = output.edits.partition_point(|(at, _)| *at < ProgPoint::before(insts.first()));
    for inst in insts.iter() {
        while let Some((at, Edit::Move { from, to })) = output.edits.get(edit)
            && *at <= ProgPoint::before(inst)
        {
            f(Step::Move(edit, *from, *to));
            edit += 1;
        }
        f(Step::Inst(inst));
    }
}

/// Moves to be added, each with its rank among those of its point: those that are there already have 1.
pub(super) type Added = Vec<(ProgPoint, u8, Edit)>;

/// Keeps some of the moves, and adds others.
pub(super) fn replace(output: &mut Output, kept: &[bool], added: Added) {
    retain(output, kept);
    let old = output.edits.drain(..).map(|(at, edit)| (at, 1, edit));
    let mut all: Added = old.chain(added).collect();
    all.sort_by_key(|(at, rank, _)| (*at, *rank));
    output.edits = all.into_iter().map(|(at, _, edit)| (at, edit)).collect();
}

/// Keeps some of the moves.
pub(super) fn retain(output: &mut Output, kept: &[bool]) {
    let mut kept = kept.iter();
    output.edits.retain(|_| kept.next().copied().unwrap_or(true));
}
