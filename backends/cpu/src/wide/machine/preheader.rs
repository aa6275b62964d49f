//! Sums computed in front of a loop.

use super::inst::{Arg, BlockId, Body, Inst, Mem, View};
use super::value::Sum;
use iced_x86::Code;
use regalloc2::VReg;
use std::collections::BTreeMap;

/// The block in front of a loop, at whose end sums are computed.
pub(super) struct Preheader<'a> {
    pub(super) body: &'a mut Body,
    block: BlockId,
    /// The registers of sums that are there already.
    known: BTreeMap<Sum, VReg>,
}

impl Preheader<'_> {
    pub(super) fn new(body: &mut Body, block: BlockId) -> Preheader<'_> {
        Preheader { body, block, known: BTreeMap::new() }
    }
    /// A multiple of a stride: odd.
    pub(super) fn multiple(&mut self, stride: &Sum, multiple: u64) -> VReg {
        let Some(whole) = Sum::default().plus(stride, multiple as i64).filter(|_| multiple > 1) else {
            return self.sum(stride, None);
        };
        if let Some(known) = self.known.get(&whole) {
            return *known;
        }
        let once = self.sum(stride, None);
        let made = match multiple {
            3 => self.lea(once, Some((once, 2)), 0),
            5 => self.lea(once, Some((once, 4)), 0),
            _ => {
                let least = self.multiple(stride, multiple - 4);
                self.lea(least, Some((once, 4)), 0)
            }
        };
        self.known.insert(whole, made);
        made
    }
    /// The value of a sum and a register.
    pub(super) fn sum(&mut self, sum: &Sum, base: Option<VReg>) -> VReg {
        if base.is_none()
            && let Some(known) = self.known.get(sum)
        {
            return *known;
        }
        let mut made = base;
        for (register, factor) in &sum.terms {
            made = Some(match (made, factor) {
                (None, 1) => *register,
                (Some(made), 1 | 2 | 4 | 8) => self.lea(made, Some((*register, *factor as u8)), 0),
                _ => {
                    let product = self.times(*register, *factor);
                    made.map_or(product, |made| self.lea(made, Some((product, 1)), 0))
                }
            });
        }
        let made = match (made, i32::try_from(sum.constant)) {
            (Some(made), Ok(0)) => made,
            (Some(made), Ok(constant)) => self.lea(made, None, constant),
            (made, _) => {
                let constant = self.constant(sum.constant);
                made.map_or(constant, |made| self.lea(made, Some((constant, 1)), 0))
            }
        };
        if base.is_none() {
            self.known.insert(sum.clone(), made);
        }
        made
    }
    fn times(&mut self, register: VReg, factor: i64) -> VReg {
        if factor > 0 && factor.count_ones() == 1 {
            let bits = Arg::Imm(i64::from(factor.trailing_zeros()));
            return self.changed(Code::Shl_rm64_imm8, register, bits);
        }
        if i32::try_from(factor).is_ok() {
            let to = self.body.register(View::G64);
            let args = vec![Arg::Def(to, View::G64), Arg::Use(register, View::G64), Arg::Imm(factor)];
            self.push(Code::Imul_r64_rm64_imm32, args);
            return to;
        }
        let factor = self.constant(factor);
        self.changed(Code::Imul_r64_rm64, register, Arg::Use(factor, View::G64))
    }
    /// The result of an instruction that changes its first operand.
    fn changed(&mut self, code: Code, from: VReg, other: Arg) -> VReg {
        let to = self.body.register(View::G64);
        self.push(code, vec![Arg::Mod { to, from, view: View::G64 }, other]);
        to
    }
    fn constant(&mut self, value: i64) -> VReg {
        let to = self.body.register(View::G64);
        self.push(Code::Mov_r64_imm64, vec![Arg::Def(to, View::G64), Arg::Imm(value)]);
        to
    }
    fn lea(&mut self, base: VReg, index: Option<(VReg, u8)>, offset: i32) -> VReg {
        let index = index.map(|(v, scale)| (v, View::G64, scale));
        let (to, inst) = self.body.lea(Mem { index, ..Mem::at(base, offset) });
        self.body.blocks[self.block.0].insts.push(inst);
        to
    }
    fn push(&mut self, code: Code, args: Vec<Arg>) {
        self.body.blocks[self.block.0].insts.push(Inst::new(code, args));
    }
}
