//! Local value numbering (Cocke and Schwartz, Programming Languages and Their Compilers, 1970): an instruction that
//! computes what an earlier one of its block has computed goes, and its uses read the earlier result. General registers
//! are scarce, and most take one instruction to make again, so that these are only kept for a while.
//!
//! The generator computes each expression of the loop IR once. What it makes of one takes several instructions, and
//! those of two may have some in common: masks and picks of loads at a border that read the same columns of different
//! rows, for one.
//!
//! Before: `kmovq k1,rax; vmovdqu32 zmm0{k1}{z},[a]; kmovq k2,rax; vmovdqu32 zmm1{k2}{z},[b]`
//! After: `kmovq k1,rax; vmovdqu32 zmm0{k1}{z},[a]; vmovdqu32 zmm1{k1}{z},[b]`
//! Example: `what_is_known_is_not_computed_again` in this file.

use super::inst::{Arg, Base, Block, Body, Inst, Mem};
use crate::tuning::REUSED_WITHIN;
use halide_ir::hash::Map;
use iced_x86::Code;
use regalloc2::{RegClass, VReg};

/// An instruction without the register that it writes.
type Computed = (Code, Vec<(u8, u64, u64)>);

/// Takes out repeated instructions. Returns true if there are any.
pub(super) fn number_values(body: &mut Body) -> bool {
    let mut names: Map<VReg, VReg> = Map::default();
    for block in &mut body.blocks {
        number_block(block, &mut names);
    }
    if names.is_empty() {
        return false;
    }
    let name = |v: VReg| names.get(&v).copied().unwrap_or(v);
    for block in &mut body.blocks {
        block.insts.iter_mut().for_each(|inst| inst.rename_uses(&name));
        if let Some(end) = &mut block.end {
            end.rename_uses(&name);
        }
    }
    true
}

/// A value that a block has computed.
struct Known {
    /// The register that stands for it in what depends on it.
    number: VReg,
    /// The last register that was made for it, and the instruction.
    nearest: (VReg, usize),
}

/// Takes out the repeated instructions of a block; `names` gets the registers to read in place of theirs.
fn number_block(block: &mut Block, names: &mut Map<VReg, VReg>) {
    let mut known: Map<Computed, Known> = Map::default();
    // Registers that were made again, by what stands for them.
    let mut equal: Map<VReg, VReg> = Map::default();
    // What stands right behind a comparison reads its flags.
    let mut is_behind_comparison = false;
    let mut at = 0;
    block.insts.retain(|inst| {
        at += 1;
        let reads_flags = std::mem::replace(&mut is_behind_comparison, !inst.has_result() && !inst.stores());
        if reads_flags {
            return true;
        }
        let number = |v: VReg| {
            let v = names.get(&v).copied().unwrap_or(v);
            equal.get(&v).copied().unwrap_or(v)
        };
        let Some((result, computed)) = computed(inst, number) else { return true };
        let Some(earlier) = known.get_mut(&computed) else {
            known.insert(computed, Known { number: result, nearest: (result, at) });
            return true;
        };
        if result.class() == RegClass::Int && at - earlier.nearest.1 > REUSED_WITHIN {
            equal.insert(result, earlier.number);
            earlier.nearest = (result, at);
            return true;
        }
        names.insert(result, earlier.nearest.0);
        false
    });
}

/// The register that an instruction writes, and all that its value depends on; `None` if it depends on more than its
/// operands, which are registers and constants, or writes more than one register.
fn computed(inst: &Inst, number: impl Fn(VReg) -> VReg) -> Option<(VReg, Computed)> {
    let mut result = None;
    let mut operands = Vec::with_capacity(inst.args.len());
    let register = |v: VReg| number(v).vreg() as u64;
    for arg in &inst.args {
        let operand = match *arg {
            Arg::Def(v, view) if result.is_none() => {
                result = Some(v);
                (0, view as u64, 0)
            }
            Arg::Mod { to, from, view } if result.is_none() => {
                result = Some(to);
                (1, register(from), view as u64)
            }
            Arg::Use(v, view) => (2, register(v), view as u64),
            Arg::ZeroMask(v) => (3, register(v), 0),
            Arg::Imm(n) => (4, n as u64, 0),
            Arg::Mem(mem) if inst.code == Code::Lea_r64_m => address(&mut operands, mem, &register)?,
            // Lanes that a mask leaves are of a register that the instruction modifies.
            Arg::Mask(v) => (5, register(v), 0),
            _ => return None,
        };
        operands.push(operand);
    }
    Some((result?, (inst.code, operands)))
}

/// The parts of an address.
fn address(operands: &mut Vec<(u8, u64, u64)>, mem: Mem, register: &impl Fn(VReg) -> u64) -> Option<(u8, u64, u64)> {
    let Base::Reg(base) = mem.base else { return None };
    if let Some((v, _, scale)) = mem.index {
        operands.push((6, register(v), u64::from(scale)));
    }
    Some((7, register(base), mem.offset as u64))
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::inst::{Arg, View};
    use super::super::loop_for_tests::{Loop, counting};
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
        finish(body, true).unwrap().text
    }
}
