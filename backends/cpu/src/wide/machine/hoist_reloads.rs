//! Reloads of spilled values in front of the innermost loops that use them.
//!
//! The register allocator splits live ranges where registers run out, and does not join the pieces again: a loop loads
//! a value from its slot in each iteration although some registers hold nothing in it, or what is only used outside.
//! A register that only ever gets the value of one slot in an innermost loop is loaded before it. Then registers that
//! the loop does not name are given to the slots that it reads most: first those that hold nothing, then those whose
//! values can wait in slots of their own, stored before the loop and loaded behind it. A slot that the loop also stores
//! to is in its register until the loop is left, and stored there.

use super::allocate::{Laid, registers};
use super::inner_loops::{NaturalLoop, inner_loops};
use super::liveness::{Liveness, Registers};
use super::locations::{self, Added};
use regalloc2::{Allocation, Edit, Function, OperandKind, Output, PReg, ProgPoint, RegClass, SpillSlot};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A slot that a loop reads.
struct Read {
    /// The class of the values in it; `None` of several, which may share memory one after the other.
    class: Option<RegClass>,
    /// Reads in an iteration, but for those of rare blocks.
    count: usize,
    /// Stores in an iteration, of all blocks.
    stores: usize,
}

/// Accesses of a loop.
#[derive(Default)]
struct Survey {
    /// The slots that it reads or stores to.
    reads: BTreeMap<usize, Read>,
    /// The registers that it names.
    touched: Registers,
    /// The registers that it writes: the slot that each is loaded from, if it is always that one.
    written: BTreeMap<usize, Option<usize>>,
}

/// Gives registers to the slots that innermost loops read. Returns true if there are any.
pub(super) fn hoist(laid: &Laid<'_>, output: &mut Output) -> bool {
    let first_slot = output.num_spillslots;
    if first_slot == 0 {
        return false;
    }
    let live = Liveness::new(laid, output);
    let mut added = Added::new();
    let mut kept = vec![true; output.edits.len()];
    for l in inner_loops(laid) {
        let mut survey = Survey::new(laid, output, &l);
        for (register, slot) in survey.loaded(&live.starts[l.blocks.start]) {
            added.extend(load(laid, &l, slot, register));
            l.edits(laid, output).filter(|i| is_to(&output.edits[*i].1, register)).for_each(|i| kept[i] = false);
        }
        let waiting = give(laid, output, &l, (survey, &live, first_slot), &mut added);
        output.num_spillslots = output.num_spillslots.max(first_slot + waiting);
    }
    if added.is_empty() {
        return false;
    }
    locations::replace(output, &kept, added);
    true
}

/// Gives the slots that a loop reads most registers that it does not name. Returns how many slots from `first_slot` on
/// hold what was in these.
fn give(
    laid: &Laid<'_>,
    output: &mut Output,
    l: &NaturalLoop,
    (survey, live, first_slot): (Survey, &Liveness, usize),
    added: &mut Added,
) -> usize {
    let mut free = Free::new(laid, &survey.touched, &live.starts[l.blocks.start]);
    let mut waiting = 0;
    let mut order: Vec<(usize, Read)> = survey.reads.into_iter().filter(|(_, r)| r.count > 0).collect();
    order.sort_by_key(|(slot, r)| (Reverse(r.count + r.stores), *slot));
    for (slot, read) in order {
        let Some((register, waits)) = read.class.and_then(|class| free.take(class)) else { continue };
        let (register, slot) = (Allocation::reg(register), stack(slot));
        if read.stores > 0 {
            let store = Edit::Move { from: register, to: slot };
            added.extend(l.exits.iter().map(|exit| (exit.at, exit.rank(), store.clone())));
        }
        if waits {
            set_aside(laid, live, l, (register, stack(first_slot + waiting)), added);
            waiting += 1;
        }
        added.extend(load(laid, l, slot, register));
        replace(laid, output, l, slot, register);
    }
    waiting
}

/// Returns the moves that load a slot before a loop.
fn load<'a>(
    laid: &'a Laid<'_>,
    l: &'a NaturalLoop,
    from: Allocation,
    to: Allocation,
) -> impl Iterator<Item = (ProgPoint, u8, Edit)> + 'a {
    l.before.iter().map(move |b| (l.end(laid, *b), 2, Edit::Move { from, to }))
}

fn is_to(edit: &Edit, location: Allocation) -> bool {
    let Edit::Move { to, .. } = edit;
    *to == location
}

fn stack(slot: usize) -> Allocation {
    Allocation::stack(SpillSlot::new(slot))
}

impl Survey {
    fn new(laid: &Laid<'_>, output: &Output, l: &NaturalLoop) -> Survey {
        let mut survey = Survey::default();
        for (at, Edit::Move { from, to }) in &output.edits[l.edits(laid, output)] {
            let class = from.as_reg().or(to.as_reg()).map_or(RegClass::Int, |r| r.class());
            survey.read(*from, class, l.weight(at.inst()));
            survey.write(*to, class, from.as_stack().map(SpillSlot::index));
        }
        for inst in l.insts(laid).iter() {
            for (operand, location) in laid.inst_operands(inst).iter().zip(output.inst_allocs(inst)) {
                match operand.kind() {
                    OperandKind::Use => survey.read(*location, operand.class(), l.weight(inst)),
                    OperandKind::Def => survey.write(*location, operand.class(), None),
                }
            }
        }
        survey
    }
    fn slot(&mut self, slot: SpillSlot, class: RegClass) -> &mut Read {
        let read = self.reads.entry(slot.index()).or_insert(Read { class: Some(class), count: 0, stores: 0 });
        read.class = read.class.filter(|known| *known == class);
        read
    }
    fn read(&mut self, from: Allocation, class: RegClass, count: usize) {
        from.as_reg().into_iter().for_each(|r| self.touched.set(r, true));
        from.as_stack().into_iter().for_each(|slot| self.slot(slot, class).count += count);
    }
    /// Notes a write to a location, of the value of a slot if it is one.
    fn write(&mut self, to: Allocation, class: RegClass, from: Option<usize>) {
        to.as_stack().into_iter().for_each(|slot| self.slot(slot, class).stores += 1);
        if let Some(register) = to.as_reg() {
            self.touched.set(register, true);
            let known = self.written.entry(register.index()).or_insert(from);
            *known = known.filter(|slot| Some(*slot) == from);
        }
    }
    /// Takes out the registers that are only loaded from one slot each, and hold nothing at the start of the loop.
    fn loaded(&mut self, live: &Registers) -> Vec<(Allocation, Allocation)> {
        let mut loaded = Vec::new();
        for (register, slot) in &self.written {
            let register = PReg::from_index(*register);
            if let Some(slot) = slot
                && !live.has(register)
                && let Some(read) = self.reads.get_mut(slot)
                && read.stores == 0
                && read.count > 0
            {
                // Other reads of the slot may stay.
                read.count -= 1;
                loaded.push((Allocation::reg(register), stack(*slot)));
            }
        }
        loaded
    }
}

/// Accesses a register instead of a slot in a loop.
fn replace(laid: &Laid<'_>, output: &mut Output, l: &NaturalLoop, slot: Allocation, register: Allocation) {
    let edits = l.edits(laid, output);
    for (_, Edit::Move { from, to }) in &mut output.edits[edits] {
        for place in [from, to] {
            if *place == slot {
                *place = register;
            }
        }
    }
    for inst in l.insts(laid).iter() {
        let first = output.inst_alloc_offsets[inst.index()] as usize;
        let count = laid.inst_operands(inst).len();
        output.allocs[first..first + count].iter_mut().filter(|a| **a == slot).for_each(|a| *a = register);
    }
}

/// Lets what a register holds wait in a slot during a loop.
fn set_aside(laid: &Laid<'_>, live: &Liveness, l: &NaturalLoop, at: (Allocation, Allocation), added: &mut Added) {
    let (register, slot) = at;
    added.extend(l.before.iter().map(|b| (l.end(laid, *b), 2, Edit::Move { from: register, to: slot })));
    for exit in &l.exits {
        let is_live = register.as_reg().is_some_and(|r| live.starts[exit.to].has(r));
        if is_live {
            added.push((exit.at, exit.rank(), Edit::Move { from: slot, to: register }));
        }
    }
}

/// Registers that a loop does not name.
struct Free {
    /// Registers that hold nothing.
    empty: [Vec<PReg>; 3],
    /// Registers that hold what is used behind the loop.
    holding: Vec<PReg>,
}

impl Free {
    fn new(laid: &Laid<'_>, touched: &Registers, live: &Registers) -> Free {
        let unnamed = |class| {
            let all = registers(laid.body, class).into_iter().rev().map(move |number| PReg::new(number, class));
            all.filter(|r| !touched.has(*r))
        };
        let empty = [RegClass::Int, RegClass::Float, RegClass::Vector]
            .map(|class| unnamed(class).filter(|r| !live.has(*r)).collect::<Vec<_>>());
        Free { empty, holding: unnamed(RegClass::Int).filter(|r| live.has(*r)).collect() }
    }
    /// Takes a register; true if what it holds must wait.
    fn take(&mut self, class: RegClass) -> Option<(PReg, bool)> {
        if let Some(register) = self.empty[class as usize].pop() {
            return Some((register, false));
        }
        // A slot of a vector would be large.
        if class == RegClass::Int { self.holding.pop().map(|register| (register, true)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::inst::{Arg, Block as Part, BlockId, Body, Condition, End, Inst, Mem, Right, View};
    use super::super::loop_for_tests::text_of;
    use super::*;
    use iced_x86::Code;
    use regalloc2::{Block, VReg};

    fn push(body: &mut Body, block: usize, code: Code, args: Vec<Arg>, memory_bytes: u8) {
        body.blocks[block].insts.push(Inst { memory_bytes, ..Inst::new(code, args) });
    }

    /// The text of the loop of a function that loads 20 words, subtracts some of them from a sum until nothing is left,
    /// and stores all of them doubled.
    fn loop_between_uses(words_in_loop: usize) -> String {
        let mut body = Body::new(View::Z, true);
        let word = |body: &Body, number: usize| Arg::Mem(Mem::at(body.argument, 8 * number as i32));
        let [head, back, leave] = [(); 3].map(|()| body.block());
        body.order.extend([head, back, leave]);
        let words: Vec<VReg> = (0..20).map(|_| body.register(View::G64)).collect();
        for (i, to) in words.iter().enumerate() {
            let args = vec![Arg::Def(*to, View::G64), word(&body, i)];
            push(&mut body, 0, Code::Mov_r64_rm64, args, 0);
        }
        let mut sum = body.register(View::G64);
        body.blocks[0].end = Some(End::Jump(head, vec![words[0]]));
        body.blocks[head.0] = Part { params: vec![sum], ..Part::default() };
        for from in words.iter().take(words_in_loop) {
            let to = body.register(View::G64);
            let args = vec![Arg::Mod { to, from: sum, view: View::G64 }, Arg::Use(*from, View::G64)];
            push(&mut body, head.0, Code::Sub_r64_rm64, args, 8);
            sum = to;
        }
        let (condition, right) = (Condition::Greater, Right::Const(0));
        body.blocks[head.0].end = Some(End::Branch { condition, left: sum, right, yes: back, no: leave });
        body.blocks[back.0].end = Some(End::Jump(head, vec![sum]));
        for (i, from) in words.iter().enumerate() {
            let to = body.register(View::G64);
            let args = vec![Arg::Mod { to, from: *from, view: View::G64 }, Arg::Use(*from, View::G64)];
            push(&mut body, leave.0, Code::Add_r64_rm64, args, 8);
            let result = vec![word(&body, i), Arg::Use(to, View::G64)];
            push(&mut body, leave.0, Code::Mov_rm64_r64, result, 0);
        }
        body.blocks[leave.0].end = Some(End::Return);
        let text = text_of(&finish(body).unwrap());
        let is_first = |l: &&str| l.contains(" sub r") && !l.contains("sub rsp");
        let lines = text.lines().skip_while(|l| !is_first(l)).take_while(|l| !l.contains(" j"));
        lines.map(|l| format!("{l}\n")).collect()
    }

    #[test]
    fn what_is_only_used_around_a_loop_leaves_it_the_registers() {
        for words in [2, 6, 11] {
            let text = loop_between_uses(words);
            assert!(!text.contains("rsp"), "{words} words:\n{text}");
        }
    }

    /// A block between the loop's first and last that leaves it: its moves may read a register that the loop was given,
    /// so what waits comes back behind them. Where an edge leaves, it comes back before the moves of what follows.
    #[test]
    fn what_waits_comes_back_behind_the_moves_of_the_loop() {
        let mut body = Body::new(View::Z, true);
        let [head, out, back, latch, leave, end] = [(); 6].map(|()| body.block());
        body.order.extend([head, out, back, latch, leave, end]);
        let index = body.register(View::G64);
        body.blocks[head.0].params = vec![index];
        let (condition, right) = (Condition::Greater, Right::Const(0));
        let branch = |yes, no| End::Branch { condition, left: index, right, yes, no };
        let ends = [
            (BlockId(0), End::Jump(head, vec![body.argument])),
            (head, branch(out, back)),
            (out, End::Jump(end, Vec::new())),
            (back, branch(latch, leave)),
            (latch, End::Jump(head, vec![index])),
            (leave, End::Jump(end, Vec::new())),
            (end, End::Return),
        ];
        ends.into_iter().for_each(|(block, end)| body.blocks[block.0].end = Some(end));
        let laid = Laid::new(&body);
        let loops = inner_loops(&laid);
        let [l] = &loops[..] else { panic!("{} loops", loops.len()) };
        let mut in_use = Registers::default();
        in_use.set(PReg::new(3, RegClass::Int), true);
        let live = Liveness { starts: vec![in_use; laid.num_blocks()], ends: vec![in_use; laid.num_blocks()] };
        let mut added = Vec::new();
        set_aside(&laid, &live, l, (Allocation::reg(PReg::new(3, RegClass::Int)), stack(0)), &mut added);
        let place = |block: BlockId| Block::new(laid.position(block));
        let jump = ProgPoint::before(laid.block_insns(place(out)).last());
        let edge = ProgPoint::before(laid.block_insns(place(leave)).first());
        let mut ranks: Vec<_> = added.iter().skip(1).map(|(at, rank, _)| (*at, *rank)).collect();
        ranks.sort();
        assert_eq!(ranks, if jump < edge { [(jump, 2), (edge, 0)] } else { [(edge, 0), (jump, 2)] });
    }

    #[test]
    fn a_loop_with_more_words_than_registers_reads_the_others_from_slots() {
        let text = loop_between_uses(20);
        let slots = text.lines().filter(|l| l.contains("[rsp")).count();
        // 14 registers, of which one has the argument and one the sum.
        assert!((6..=10).contains(&slots), "{text}");
    }
}
