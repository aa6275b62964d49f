//! Copy propagation: moves become operands of the only instruction that uses them.
//!
//! The register allocator gives every operand a register, and moves a value into one before its use. Where nothing else
//! uses that register, the instruction reads the other register itself, or the spill slot if it takes that operand from
//! memory as well. Slots are as wide as registers, and no instruction with VEX or EVEX asks for alignment. The
//! allocator is not told of it: it would keep no register for a value whose uses all may be memory. Moves to registers
//! that nothing uses go.

use super::allocate::{Laid, LaidInst};
use super::inst::{Arg, End, Inst, Right};
use super::liveness::{Liveness, Registers, walk_back};
use super::locations::retain;
use regalloc2::{Edit, Function, OperandConstraint, OperandKind, OperandPos, Output};
use std::ops::Range;

/// A change of an instruction: these operands are read from another place, and the move of this number goes.
struct Change {
    inst: regalloc2::Inst,
    operands: Vec<usize>,
    edit: usize,
}

/// Makes moves operands of the only instruction that uses them, and takes out those that nothing uses.
pub(super) fn propagate(laid: &Laid<'_>, output: &mut Output) {
    if output.edits.is_empty() {
        return;
    }
    let live = Liveness::new(laid, output);
    let mut kept = vec![true; output.edits.len()];
    for (block, mut after) in live.ends.into_iter().enumerate() {
        let mut changes = Vec::new();
        walk_back(laid, output, block, &mut after, &mut kept, |inst, edits, after| {
            changes.extend(change(laid, output, inst, edits, after));
        });
        for Change { inst, operands, edit } in changes {
            let (_, Edit::Move { from, .. }) = output.edits[edit];
            let first = output.inst_alloc_offsets[inst.index()] as usize;
            operands.into_iter().for_each(|operand| output.allocs[first + operand] = from);
            kept[edit] = false;
        }
    }
    retain(output, &kept);
}

/// Returns a change that does without one of the moves `edits`, which come right before an instruction. `after` are the
/// registers in use behind the instruction, but for its results.
fn change(
    laid: &Laid<'_>,
    output: &Output,
    inst: regalloc2::Inst,
    edits: Range<usize>,
    after: &Registers,
) -> Option<Change> {
    let allocs = output.inst_allocs(inst);
    let operands = laid.inst_operands(inst);
    edits.clone().rev().find_map(|edit| {
        let (_, Edit::Move { from, to }) = output.edits[edit];
        let register = to.as_reg()?;
        // What comes between may neither read the register nor change either.
        let between = output.edits[edit + 1..edits.end].iter();
        let mut between = between.map(|(_, Edit::Move { from: f, to: t })| *f != to && *t != to && *t != from);
        if after.has(register) || !between.all(|apart| apart) {
            return None;
        }
        let reads = |i: &usize| operands[*i].kind() == OperandKind::Use && allocs[*i] == to;
        let uses: Vec<usize> = (0..operands.len()).filter(reads).collect();
        let fits = match uses[..] {
            [] => false,
            [one] if from.is_stack() => {
                // Of the two that a branch compares, one may be memory already.
                let places = memory_operands(laid.step(inst));
                places.contains(&Some(one)) && !places.iter().flatten().any(|i| allocs[*i].is_stack())
            }
            _ => from.is_reg() && uses.iter().all(|i| is_free(operands, *i)),
        };
        fits.then_some(Change { inst, operands: uses, edit })
    })
}

/// Returns true if an operand may be any register.
fn is_free(operands: &[regalloc2::Operand], number: usize) -> bool {
    let tied = |o: &regalloc2::Operand| o.constraint() == OperandConstraint::Reuse(number);
    let operand = operands[number];
    let early = operand.pos() == OperandPos::Early;
    early && operand.constraint() == OperandConstraint::Reg && !operands.iter().any(tied)
}

/// Returns the operands of an instruction of which one may be memory.
fn memory_operands(step: &LaidInst<'_>) -> [Option<usize>; 2] {
    match step {
        LaidInst::Inst(inst) => [inst.memory_operand(), None],
        LaidInst::End(End::Branch { right: Right::Reg(_), .. }) => [Some(1), Some(0)],
        LaidInst::End(End::Branch { .. }) => [Some(0), None],
        _ => [None, None],
    }
}

impl Inst {
    /// Returns the position among the operands of the register that may be memory.
    fn memory_operand(&self) -> Option<usize> {
        if self.memory_bytes == 0 || self.args.iter().any(|a| matches!(a, Arg::Mem(_))) {
            return None;
        }
        let last = self.args.iter().rposition(|a| matches!(a, Arg::Use(..)))?;
        let count = |arg: &Arg| match arg {
            Arg::Mod { .. } | Arg::SpentMask { .. } => 2,
            Arg::Imm(_) => 0,
            _ => 1,
        };
        Some(self.args[..last].iter().map(count).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::inst::{Arg, Block, Body, Condition, End, Inst, Mem, Right, View};
    use super::super::loop_for_tests::text_of;
    use iced_x86::Code;
    use regalloc2::VReg;

    fn push(body: &mut Body, block: usize, code: Code, args: Vec<Arg>, memory_bytes: u8) {
        body.blocks[block].insts.push(Inst { memory_bytes, ..Inst::new(code, args) });
    }
    fn word(body: &Body, number: i32) -> Arg {
        Arg::Mem(Mem::at(body.argument, 8 * number))
    }

    /// The text of a loop that subtracts `count` words of the argument, all loaded before it, until nothing is left.
    fn subtracting(count: i32) -> String {
        let mut body = Body::new(View::Z, true);
        let [head, back, leave] = [(); 3].map(|()| body.block());
        body.order.extend([head, back, leave]);
        let words: Vec<VReg> = (0..count).map(|_| body.register(View::G64)).collect();
        for (i, to) in words.iter().enumerate() {
            let args = vec![Arg::Def(*to, View::G64), word(&body, i as i32)];
            push(&mut body, 0, Code::Mov_r64_rm64, args, 0);
        }
        let first = body.register(View::G64);
        body.blocks[0].end = Some(End::Jump(head, vec![words[0]]));
        body.blocks[head.0] = Block { params: vec![first], ..Block::default() };
        let mut sum = first;
        for from in &words {
            let to = body.register(View::G64);
            let args = vec![Arg::Mod { to, from: sum, view: View::G64 }, Arg::Use(*from, View::G64)];
            push(&mut body, head.0, Code::Sub_r64_rm64, args, 8);
            sum = to;
        }
        let (condition, right) = (Condition::Greater, Right::Reg(words[1]));
        body.blocks[head.0].end = Some(End::Branch { condition, left: sum, right, yes: back, no: leave });
        body.blocks[back.0].end = Some(End::Jump(head, vec![sum]));
        let result = vec![word(&body, 0), Arg::Use(sum, View::G64)];
        push(&mut body, leave.0, Code::Mov_rm64_r64, result, 0);
        body.blocks[leave.0].end = Some(End::Return);
        text_of(&finish(body).unwrap())
    }

    #[test]
    fn spilled_words_are_memory_operands() {
        let text = subtracting(20);
        let subtractions: Vec<&str> = text.lines().filter(|l| l.contains(" sub r") && !l.contains("sub rsp")).collect();
        assert_eq!(subtractions.len(), 20, "{text}");
        assert!(subtractions.iter().any(|l| l.contains("[rsp")), "{text}");
    }

    #[test]
    fn words_that_registers_hold_stay_there() {
        assert!(!subtracting(8).contains("[rsp"));
    }
}
