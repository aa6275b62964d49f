//! Moves between registers and spill slots that change nothing.
//!
//! `regalloc2` finds them within a block. This looks at all blocks, so that a loop does not store again what it has
//! loaded from the same slot, and does not load again what a register still holds: a forward dataflow analysis of which
//! locations hold the same value on every path. Any solution of its equations is true of every run, since a block is
//! entered with no more than what holds behind all that lead to it.

use super::allocate::Laid;
use super::locations::{Locations, Step, retain, walk};
use crate::tuning::MOVE_ROUNDS;
use regalloc2::{Allocation, Block, Edit, Function, Inst, OperandKind, Output};

/// A number for the value that each location holds: equal where the values are; 0 where nothing is known.
type Values = Vec<u32>;

struct Analysis<'a> {
    laid: &'a Laid<'a>,
    output: &'a Output,
    locations: Locations,
}

/// Takes out of the moves those that change nothing; a load of what a register holds becomes a move from that one.
pub(super) fn remove(laid: &Laid<'_>, output: &mut Output) {
    let locations = Locations::new(output);
    if !locations.has_slots() {
        return;
    }
    let analysis = Analysis { laid, output, locations };
    let Some(entries) = analysis.solve() else { return };
    let mut kept = vec![true; output.edits.len()];
    let mut sources = Vec::new();
    for (block, entry) in entries.into_iter().enumerate() {
        let Some(mut values) = entry else { continue };
        walk(laid, output, block, |step| {
            if let Step::Move(edit, from, to) = step
                && from.is_stack()
                && let Some(register) = analysis.register_like(&values, from, to)
            {
                sources.push((edit, register));
            }
            let changes = analysis.step(&mut values, &step);
            if let Step::Move(edit, ..) = step {
                kept[edit] = changes;
            }
        });
    }
    for (edit, register) in sources {
        let (_, Edit::Move { from, .. }) = &mut output.edits[edit];
        *from = register;
    }
    retain(output, &kept);
}

/// Takes out stores to slots that nothing reads.
pub(super) fn remove_unread(output: &mut Output) {
    let mut is_read = vec![false; output.num_spillslots];
    let sources = output.edits.iter().map(|(_, Edit::Move { from, .. })| from);
    for slot in sources.chain(&output.allocs).filter_map(|a| a.as_stack()) {
        is_read[slot.index()] = true;
    }
    output.edits.retain(|(_, Edit::Move { to, .. })| to.as_stack().is_none_or(|slot| is_read[slot.index()]));
}

impl Analysis<'_> {
    /// Returns what holds at the start of each block; `None` for blocks that nothing leads to. `None` if that takes too
    /// many rounds.
    fn solve(&self) -> Option<Vec<Option<Values>>> {
        let count = self.laid.num_blocks();
        let mut entries: Vec<Option<Values>> = vec![None; count];
        let mut exits: Vec<Option<Values>> = vec![None; count];
        for _ in 0..MOVE_ROUNDS {
            let mut changed = false;
            for block in 0..count {
                let entry = self.entry(block, &exits);
                if entry == entries[block] {
                    continue;
                }
                let Some(mut values) = entry.clone() else { continue };
                entries[block] = entry;
                walk(self.laid, self.output, block, |step| _ = self.step(&mut values, &step));
                exits[block] = Some(values);
                changed = true;
            }
            if !changed {
                return Some(entries);
            }
        }
        None
    }
    /// Joins what holds at the ends of the blocks that lead to one.
    fn entry(&self, block: usize, exits: &[Option<Values>]) -> Option<Values> {
        // The first block is entered from outside, with nothing known.
        let mut entry = (block == 0).then(|| vec![0; self.locations.count()]);
        for exit in self.laid.block_preds(Block::new(block)).iter().filter_map(|b| exits[b.index()].as_ref()) {
            match &mut entry {
                None => entry = Some(exit.clone()),
                Some(entry) => entry.iter_mut().zip(exit).filter(|(a, b)| *a != *b).for_each(|(a, _)| *a = 0),
            }
        }
        entry
    }
    /// Takes account of a step; false if it is a move that changes nothing.
    fn step(&self, values: &mut [u32], step: &Step) -> bool {
        match *step {
            Step::Move(edit, from, to) => {
                let (Some(from), Some(to)) = (self.locations.number(from), self.locations.number(to)) else {
                    return true;
                };
                if values[from] == 0 {
                    // From here on the value has the number of the move.
                    let value = (self.laid.num_vregs() + edit) as u32 + 1;
                    forget(values, value);
                    values[from] = value;
                }
                let changes = values[to] != values[from];
                values[to] = values[from];
                changes
            }
            Step::Inst(inst) => {
                self.define(values, inst);
                true
            }
        }
    }
    fn define(&self, values: &mut [u32], inst: Inst) {
        for (operand, at) in self.laid.inst_operands(inst).iter().zip(self.output.inst_allocs(inst)) {
            if operand.kind() == OperandKind::Def
                && let Some(location) = self.locations.number(*at)
            {
                let value = operand.vreg().vreg() as u32 + 1;
                forget(values, value);
                values[location] = value;
            }
        }
    }
    /// Returns another register than `to`, of its class, that holds what a slot does.
    fn register_like(&self, values: &[u32], slot: Allocation, to: Allocation) -> Option<Allocation> {
        let value = values[self.locations.number(slot)?];
        let class = to.as_reg()?.class();
        let like = |r: &Allocation| {
            *r != to
                && r.as_reg().is_some_and(|r| r.class() == class)
                && self.locations.number(*r).is_some_and(|n| values[n] == value)
        };
        if value == 0 { None } else { self.locations.registers().find(like) }
    }
}

/// Forgets the locations that hold an older value of this number.
fn forget(values: &mut [u32], value: u32) {
    // Without a branch, so that several are compared at once.
    values.iter_mut().for_each(|v| *v = if *v == value { 0 } else { *v });
}

#[cfg(test)]
mod tests {
    use super::super::allocate::{Laid, allocate};
    use super::super::inst::{Arg, Block as Part, BlockId, Body, Condition, End, Inst, Mem, Right, View};
    use super::{remove, remove_unread};
    use iced_x86::Code;
    use regalloc2::{Allocation, Block, Edit, Function, PReg, ProgPoint, RegClass, SpillSlot};

    /// Makes a loop that counts the argument up: the first block, the loop, its way back, and the end.
    fn counting() -> Body {
        let mut body = Body::new(View::Z, true);
        let (index, next) = (body.register(View::G64), body.register(View::G64));
        let [head, back, leave] = [(); 3].map(|()| body.block());
        body.order.extend([head, back, leave]);
        let add = vec![Arg::Def(next, View::G64), Arg::Mem(Mem::at(index, 1))];
        let add = Inst::new(Code::Lea_r64_m, add);
        let (condition, right) = (Condition::Less, Right::Const(100));
        body.blocks[0].end = Some(End::Jump(head, vec![body.argument]));
        let end = Some(End::Branch { condition, left: next, right, yes: back, no: leave });
        body.blocks[head.0] = Part { params: vec![index], insts: vec![add], end };
        body.blocks[back.0].end = Some(End::Jump(head, vec![next]));
        body.blocks[leave.0].end = Some(End::Return);
        body
    }
    /// The moves that are left of those that `moves` makes, each in front of the first instruction of a block; it is
    /// given the register that the loop's instruction overwrites.
    fn left(moves: impl Fn(Allocation) -> Vec<(usize, Allocation, Allocation)>) -> Vec<[String; 2]> {
        let body = counting();
        let laid = Laid::new(&body);
        let mut output = allocate(&laid).unwrap();
        let first = |block| laid.block_insns(Block::new(laid.position(BlockId(block)))).first();
        let changed = output.inst_allocs(first(1))[0];
        let edit = |(block, from, to)| (ProgPoint::before(first(block)), Edit::Move { from, to });
        output.num_spillslots = 2;
        output.edits = moves(changed).into_iter().map(edit).collect();
        output.edits.sort_by_key(|(at, _)| *at);
        remove(&laid, &mut output);
        remove_unread(&mut output);
        output.edits.iter().map(|(_, Edit::Move { from, to })| [from.to_string(), to.to_string()]).collect()
    }
    fn slot(number: usize) -> Allocation {
        Allocation::stack(SpillSlot::new(number))
    }
    fn register(number: usize) -> Allocation {
        Allocation::reg(PReg::new(number, RegClass::Int))
    }

    #[test]
    fn a_loop_does_not_store_what_it_has_loaded_nor_load_what_it_holds() {
        let moves = [(1, slot(0), register(15)), (2, register(15), slot(0)), (3, slot(0), register(14))];
        // The load behind the loop is a move from the register that holds the value.
        let expected = [[slot(0), register(15)], [register(15), register(14)]];
        assert_eq!(left(|_| moves.to_vec()), expected.map(|all| all.map(|a| a.to_string())));
    }

    #[test]
    fn a_value_that_the_loop_changes_is_stored_again() {
        // Behind the loop the slot holds an older value than the register.
        let moves = |changed| [(1, slot(0), changed), (2, changed, slot(0)), (3, slot(0), register(14))];
        let all = left(|changed| moves(changed).to_vec());
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(all[2], [slot(0), register(14)].map(|a| a.to_string()));
    }

    #[test]
    fn a_slot_that_nothing_reads_is_not_stored_to() {
        assert!(left(|_| vec![(2, register(15), slot(1))]).is_empty());
    }
}
