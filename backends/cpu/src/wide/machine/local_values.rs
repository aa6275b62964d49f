//! Local value numbering (Cocke and Schwartz, Programming Languages and Their Compilers, 1970): an instruction that
//! computes what an earlier one of its block has computed goes, and its uses read the earlier result. General registers
//! are scarce, and most take one instruction to make again, so that these are only kept for a while.
//!
//! The generator computes each expression of the loop IR once. What it makes of one takes several instructions, and
//! those of two may have some in common: masks and picks of loads at a border that read the same columns of different
//! rows, for one.
//!
//! A block that goes on behind the condition of a loop knows what the condition is made of.
//!
//! Before: `kmovq k1,rax; vmovdqu32 zmm0{k1}{z},[a]; kmovq k2,rax; vmovdqu32 zmm1{k2}{z},[b]`
//! After: `kmovq k1,rax; vmovdqu32 zmm0{k1}{z},[a]; vmovdqu32 zmm1{k1}{z},[b]`
//! Example: `what_is_known_is_not_computed_again` in this file.

use super::block_order::successors;
use super::inst::{Arg, Base, Block, BlockId, Body, Inst, Mem, View};
use crate::tuning::REUSED_WITHIN;
use halide_ir::hash::Map;
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use std::collections::hash_map::Entry;

/// Operands of an instruction: a result, a mask, two registers and a constant.
const OPERANDS: usize = 5;

/// An instruction without the register that it writes.
type Computed = (Code, [Operand; OPERANDS]);

/// An operand that a value depends on: registers stand for all that are equal to them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    None,
    /// The part of the result that is written.
    Result(View),
    Modified(VReg, View),
    Register(VReg, View),
    ZeroMask(VReg),
    Mask(VReg),
    Const(i64),
    /// A register that is part of an address, and its factor.
    Index(VReg, u8),
    /// The other register of an address, and its offset.
    Base(VReg, i32),
}

/// Takes out repeated instructions. Returns true if there are any.
pub(super) fn number_values(body: &mut Body) -> bool {
    let mut names = vec![None; body.registers];
    let mut changed = false;
    let continued = continued(body);
    for block in 0..body.blocks.len() {
        if continued.iter().any(|(_, to)| *to == block) {
            continue;
        }
        let (mut at, mut values) = (block, Values::default());
        loop {
            changed |= number_block(&mut body.blocks[at], &mut names, &mut values);
            match continued.iter().find(|(from, _)| *from == at) {
                Some((_, to)) => at = *to,
                None => break,
            }
        }
    }
    if !changed {
        return false;
    }
    let name = |v: VReg| names[v.vreg()].unwrap_or(v);
    for block in &mut body.blocks {
        block.insts.iter_mut().for_each(|inst| inst.rename_uses(&name));
        if let Some(end) = &mut block.end {
            end.rename_uses(&name);
        }
    }
    true
}

/// Blocks that go on from another one, which is the only one that comes to them: what that has computed is known.
fn continued(body: &Body) -> Vec<(usize, usize)> {
    if body.continued.is_empty() {
        return Vec::new();
    }
    let mut before = vec![Vec::new(); body.blocks.len()];
    for from in 0..body.blocks.len() {
        successors(body, BlockId(from)).into_iter().for_each(|to| before[to.0].push(from));
    }
    let only = |to: &BlockId| match before[to.0][..] {
        [from] if from != to.0 => Some((from, to.0)),
        _ => None,
    };
    body.continued.iter().filter_map(only).collect()
}

/// The values that are known in a block.
#[derive(Default)]
struct Values {
    known: Map<Computed, Known>,
    /// Registers that were made again, by what stands for them.
    equal: Map<VReg, VReg>,
    /// The number of instructions so far.
    at: usize,
}

/// A value that a block has computed.
struct Known {
    /// The register that stands for it in what depends on it.
    number: VReg,
    /// The last register that was made for it, and the instruction.
    nearest: (VReg, usize),
}

/// Takes out the repeated instructions of a block; `names` gets the registers to read in place of theirs. Returns true
/// if there are any.
fn number_block(block: &mut Block, names: &mut [Option<VReg>], values: &mut Values) -> bool {
    let count = block.insts.len();
    let Values { known, equal, at } = values;
    if count < 2 && known.is_empty() {
        return false;
    }
    // What stands right behind a comparison reads its flags.
    let mut is_behind_comparison = false;
    block.insts.retain(|inst| {
        *at += 1;
        let reads_flags = std::mem::replace(&mut is_behind_comparison, !inst.has_result() && !inst.stores());
        if reads_flags {
            return true;
        }
        let number = |v: VReg| {
            let v = names[v.vreg()].unwrap_or(v);
            equal.get(&v).copied().unwrap_or(v)
        };
        let Some((result, computed)) = computed(inst, number) else { return true };
        let earlier = match known.entry(computed) {
            Entry::Occupied(earlier) => earlier.into_mut(),
            Entry::Vacant(entry) => {
                entry.insert(Known { number: result, nearest: (result, *at) });
                return true;
            }
        };
        if result.class() == RegClass::Int && *at - earlier.nearest.1 > REUSED_WITHIN {
            equal.insert(result, earlier.number);
            earlier.nearest = (result, *at);
            return true;
        }
        names[result.vreg()] = Some(earlier.nearest.0);
        false
    });
    block.insts.len() < count
}

/// The register that an instruction writes, and all that its value depends on; `None` if it depends on more than its
/// operands, which are registers and constants, or writes more than one register.
fn computed(inst: &Inst, number: impl Fn(VReg) -> VReg) -> Option<(VReg, Computed)> {
    let mut result = None;
    let mut operands = [Operand::None; OPERANDS];
    let mut places = operands.iter_mut();
    let mut add = |operand| places.next().map(|place| *place = operand);
    for arg in &inst.args {
        match *arg {
            Arg::Def(v, view) if result.is_none() => {
                result = Some(v);
                add(Operand::Result(view))
            }
            Arg::Mod { to, from, view } if result.is_none() => {
                result = Some(to);
                add(Operand::Modified(number(from), view))
            }
            Arg::Use(v, view) => add(Operand::Register(number(v), view)),
            Arg::ZeroMask(v) => add(Operand::ZeroMask(number(v))),
            Arg::Imm(n) => add(Operand::Const(n)),
            Arg::Mem(Mem { base: Base::Reg(base), index, offset, .. }) if inst.code == Code::Lea_r64_m => {
                index.map_or(Some(()), |(v, _, scale)| add(Operand::Index(number(v), scale)))?;
                add(Operand::Base(number(base), offset))
            }
            // Lanes that a mask leaves are of a register that the instruction modifies.
            Arg::Mask(v) => add(Operand::Mask(number(v))),
            _ => None,
        }?;
    }
    Some((result?, (inst.code, operands)))
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::inst::{Arg, View};
    use super::super::loop_for_tests::{Loop, counting, text_of};
    use iced_x86::Code;
    use regalloc2::VReg;

    fn general(l: &mut Loop, code: Code, from: VReg, rest: Arg) -> VReg {
        let to = l.body.register(View::G64);
        l.push(code, vec![Arg::Mod { to, from, view: View::G64 }, rest]);
        to
    }

    #[test]
    fn what_is_known_is_not_computed_again() {
        let text = text(|l, index| {
            for place in 0..2 {
                let mask = l.body.register(View::G32);
                l.push(Code::Mov_r32_imm32, vec![Arg::Def(mask, View::G32), Arg::Imm(12345)]);
                let masked = general(l, Code::And_r64_rm64, index, Arg::Use(mask, View::G64));
                let vector = l.body.register(View::X);
                l.push(Code::VEX_Vmovq_xmm_rm64, vec![Arg::Def(vector, View::X), Arg::Use(masked, View::G64)]);
                let all = l.body.register(View::Y);
                l.push(Code::VEX_Vpbroadcastq_ymm_xmmm64, vec![Arg::Def(all, View::Y), Arg::Use(vector, View::X)]);
                l.store(64 + 32 * place, index, all);
            }
        });
        assert_eq!(["and ", "vmovq", "vpbroadcastq"].map(|word| text.matches(word).count()), [1; 3], "{text}");
    }

    #[test]
    fn the_choices_of_two_comparisons_are_made_both() {
        let text = text(|l, index| {
            let (argument, counter) = (l.body.argument, l.counter);
            for (place, other) in [argument, counter].into_iter().enumerate() {
                l.push(Code::Cmp_r64_rm64, vec![Arg::Use(other, View::G64), Arg::Use(index, View::G64)]);
                let chosen = general(l, Code::Cmovl_r64_rm64, index, Arg::Use(argument, View::G64));
                l.store_general(64 + 8 * place as i32, chosen);
            }
        });
        assert_eq!(text.matches("cmovl").count(), 2, "{text}");
    }

    fn text(fill: impl FnOnce(&mut Loop, VReg)) -> String {
        let Loop { mut body, head, .. } = counting(3, None, fill);
        body.kept_rolled.push(head);
        text_of(&finish(body).unwrap())
    }
}
