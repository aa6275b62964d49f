//! Stores of registers to their slots, moved out of loops that do not read the slots.
//!
//! The register allocator stores a value where it is defined, so that any later use may load it. A sum that waits in
//! its slot behind a loop is then stored in each iteration. Where the register still has the value of the slot at all
//! exits of the loop, it is stored there alone: from the innermost loop outwards, as far as that holds.

use super::allocate::Laid;
use super::inner_loops::{NaturalLoop, loops};
use super::locations::{self, Added, Step, walk};
use regalloc2::{Allocation, Block, Edit, Function, OperandKind, Output};
use std::collections::BTreeMap;

/// Moves stores out of loops.
pub(super) fn sink(laid: &Laid<'_>, output: &mut Output) {
    if output.num_spillslots > 0 {
        loops(laid).iter().for_each(|l| sink_in(laid, output, l));
    }
}

/// The stores of a loop to a slot: the register that is stored, and the numbers of the moves.
struct Stored {
    from: Allocation,
    slot: Allocation,
    moves: Vec<usize>,
}

fn sink_in(laid: &Laid<'_>, output: &mut Output, l: &NaturalLoop) {
    let stored = only_stored(laid, output, l);
    if stored.is_empty() {
        return;
    }
    let agree = agree_at_exits(laid, output, l, &stored);
    let (mut kept, mut added) = (vec![true; output.edits.len()], Added::new());
    for Stored { from, slot, moves } in stored.into_iter().zip(agree).filter(|(_, agrees)| *agrees).map(|(s, _)| s) {
        moves.into_iter().for_each(|number| kept[number] = false);
        added.extend(l.exits.iter().map(|exit| (exit.at, exit.rank(), Edit::Move { from, to: slot })));
    }
    if !added.is_empty() {
        locations::replace(output, &kept, added);
    }
}

/// The slots that a loop stores to, each from one register, and does nothing else with.
fn only_stored(laid: &Laid<'_>, output: &Output, l: &NaturalLoop) -> Vec<Stored> {
    let mut slots: BTreeMap<usize, Option<Stored>> = BTreeMap::new();
    let number = |location: Allocation| location.as_stack().map(|slot| slot.index());
    for edit in l.edits(laid, output) {
        let Edit::Move { from, to } = output.edits[edit].1;
        number(from).into_iter().for_each(|slot| drop(slots.insert(slot, None)));
        let Some(slot) = number(to) else { continue };
        let stored = slots.entry(slot).or_insert_with(|| Some(Stored { from, slot: to, moves: Vec::new() }));
        match stored {
            Some(stored) if stored.from == from && from.is_reg() => stored.moves.push(edit),
            other => *other = None,
        }
    }
    if slots.values().any(Option::is_some) {
        let accessed = l.insts(laid).iter().flat_map(|inst| output.inst_allocs(inst));
        accessed.filter_map(|place| number(*place)).for_each(|slot| drop(slots.insert(slot, None)));
    }
    slots.into_values().flatten().collect()
}

/// Tells for each store if its register has the value of its slot at all exits of a loop, and has been stored on all
/// ways to them from its start: a forward dataflow analysis.
fn agree_at_exits(laid: &Laid<'_>, output: &Output, l: &NaturalLoop, stored: &[Stored]) -> Vec<bool> {
    let blocks = l.blocks.clone();
    let at = |block: usize| block - blocks.start;
    // Nothing is known at the start of the loop, and all at that of other blocks, until a way says otherwise.
    let mut starts: Vec<Vec<bool>> = blocks.clone().map(|b| vec![b != blocks.start; stored.len()]).collect();
    let mut ends: Vec<Option<Vec<bool>>> = vec![None; blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for block in blocks.clone() {
            let end = behind(laid, output, block, starts[at(block)].clone(), stored);
            if ends[at(block)].as_ref() == Some(&end) {
                continue;
            }
            for next in laid.block_succs(Block::new(block)).iter().map(|next| next.index()) {
                if blocks.contains(&next) && next != blocks.start {
                    join(&mut starts[at(next)], &end);
                }
            }
            (ends[at(block)], changed) = (Some(end), true);
        }
    }
    let leaves =
        |block: &usize| laid.block_succs(Block::new(*block)).iter().any(|next| !blocks.contains(&next.index()));
    let mut agree = vec![!l.exits.is_empty(); stored.len()];
    for end in blocks.clone().filter(leaves).filter_map(|block| ends[at(block)].as_ref()) {
        join(&mut agree, end);
    }
    agree
}

fn join(all: &mut [bool], other: &[bool]) {
    all.iter_mut().zip(other).for_each(|(a, b)| *a &= b);
}

/// Tells of each store behind a block if its register has the value of its slot.
fn behind(laid: &Laid<'_>, output: &Output, block: usize, start: Vec<bool>, stored: &[Stored]) -> Vec<bool> {
    let mut agree = start;
    let written = |agree: &mut [bool], to: Allocation| {
        if to.is_reg() {
            agree.iter_mut().zip(stored).filter(|(_, s)| s.from == to).for_each(|(agrees, _)| *agrees = false);
        }
    };
    walk(laid, output, block, |step| match step {
        Step::Move(_, from, to) if to.is_stack() => {
            let own = agree.iter_mut().zip(stored).filter(|(_, s)| s.slot == to);
            own.for_each(|(agrees, s)| *agrees = s.from == from);
        }
        Step::Move(_, _, to) => written(&mut agree, to),
        Step::Inst(inst) => {
            let all = laid.inst_operands(inst).iter().zip(output.inst_allocs(inst));
            let defs = all.filter(|(operand, _)| operand.kind() == OperandKind::Def);
            defs.for_each(|(_, at)| written(&mut agree, *at));
        }
    });
    agree
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::inst::{Arg, Block as Part, Body, Condition, End, Inst, Mem, Right, View};
    use super::super::loop_for_tests::text_of;
    use iced_x86::Code;
    use regalloc2::VReg;

    fn push(body: &mut Body, block: usize, code: Code, args: Vec<Arg>) {
        body.blocks[block].insts.push(Inst::new(code, args));
    }

    /// The text of two loops, one after the other, that add to so many sums of vectors each, and then store all of
    /// them.
    fn two_loops(sums: usize) -> String {
        let mut body = Body::new(View::Z, true);
        let [first, between, second, leave] = [(); 4].map(|()| body.block());
        body.order.extend([first, between, second, leave]);
        let vector = |body: &Body, number: usize| Arg::Mem(Mem::at(body.argument, 64 * number as i32));
        let mut results = Vec::new();
        for (before, head, next) in [(0, first, between), (between.0, second, leave)] {
            let loaded: Vec<VReg> = (0..=sums).map(|_| body.register(View::Z)).collect();
            for (number, to) in loaded.iter().enumerate() {
                let args = vec![Arg::Def(*to, View::Z), vector(&body, number)];
                push(&mut body, before, Code::EVEX_Vmovups_zmm_k1z_zmmm512, args);
            }
            let count = body.register(View::G64);
            push(&mut body, before, Code::Mov_r32_imm32, vec![Arg::Def(count, View::G32), Arg::Imm(0)]);
            body.blocks[before].end = Some(End::Jump(head, [&[count], &loaded[..sums]].concat()));
            let own: Vec<VReg> = (0..sums).map(|_| body.register(View::Z)).collect();
            let [number, after] = [(); 2].map(|()| body.register(View::G64));
            body.blocks[head.0] = Part { params: [&[number], &own[..]].concat(), ..Part::default() };
            let mut added = Vec::new();
            for sum in &own {
                let to = body.register(View::Z);
                let args = vec![Arg::Def(to, View::Z), Arg::Use(*sum, View::Z), Arg::Use(loaded[sums], View::Z)];
                push(&mut body, head.0, Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, args);
                added.push(to);
            }
            let args = vec![Arg::Def(after, View::G64), Arg::Mem(Mem::at(number, 1))];
            push(&mut body, head.0, Code::Lea_r64_m, args);
            let latch = body.block();
            let place = body.order.iter().position(|block| *block == head).unwrap() + 1;
            body.order.insert(place, latch);
            let (condition, right) = (Condition::Less, Right::Const(100));
            body.blocks[head.0].end = Some(End::Branch { condition, left: after, right, yes: latch, no: next });
            body.blocks[latch.0].end = Some(End::Jump(head, [&[after], &added[..]].concat()));
            results.extend(added);
        }
        for (number, from) in results.iter().enumerate() {
            let args = vec![vector(&body, number), Arg::Use(*from, View::Z)];
            push(&mut body, leave.0, Code::EVEX_Vmovups_zmmm512_k1z_zmm, args);
        }
        body.blocks[leave.0].end = Some(End::Return);
        text_of(&finish(body).unwrap())
    }

    /// Sums that have registers in their own loop, but not beside those of the other one, wait in slots, which no loop
    /// accesses.
    #[test]
    fn sums_that_wait_are_stored_behind_their_loop() {
        for sums in [12, 16, 17, 18, 20] {
            let text = two_loops(sums);
            let lines: Vec<&str> = text.lines().collect();
            let has_slots = lines.iter().any(|line| line.contains("[rsp"));
            assert_eq!(has_slots, sums > 15, "{sums} sums:\n{text}");
            let adds: Vec<usize> = (0..lines.len()).filter(|n| lines[*n].contains("vaddps")).collect();
            assert_eq!(adds.len(), 2 * sums);
            for own in adds.chunks(sums) {
                let accesses = lines[own[0]..own[sums - 1]].iter().filter(|line| line.contains("[rsp")).count();
                assert_eq!(accesses, 0, "{sums} sums:\n{text}");
            }
        }
    }
}
