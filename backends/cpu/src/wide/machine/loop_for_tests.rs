//! A loop to try passes on.

use super::encode::Encoded;
use super::inst::{Arg, Base, Block, BlockId, Body, Condition, End, Inst, Mem, Right, View};
use iced_x86::Code;
use regalloc2::VReg;
use std::collections::BTreeMap;

/// A function of one loop. Its argument is the address of the elements, which have 4 bytes.
pub(super) struct Loop {
    pub(super) body: Body,
    pub(super) head: BlockId,
    /// The block that instructions go to.
    at: BlockId,
    pub(super) counter: VReg,
}

/// The text of a function's code, an instruction with its offset a line.
pub(super) fn text_of(encoded: &Encoded) -> String {
    let lines = crate::listing::lines(&encoded.bytes, encoded.code_bytes, &[], &BTreeMap::new());
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// Returns a loop from 0 to a limit, or to the word at the argument, whose counter times `1 << shift` is the index that
/// `fill` gets.
pub(super) fn counting(shift: i64, limit: Option<i32>, fill: impl FnOnce(&mut Loop, VReg)) -> Loop {
    let mut body = Body::new(View::Y, false);
    let [head, latch, leave, done] = [(); 4].map(|()| body.block());
    body.order.extend([head, latch, leave, done]);
    let [zero, counter, end, index, next] = [(); 5].map(|()| body.register(View::G64));
    let mut l = Loop { body, head, at: head, counter };
    l.at = BlockId(0);
    l.push(Code::Mov_r32_imm32, vec![Arg::Def(zero, View::G32), Arg::Imm(0)]);
    let word = Arg::Mem(Mem::at(l.body.argument, 0));
    l.push(Code::Mov_r64_rm64, vec![Arg::Def(end, View::G64), word]);
    l.at = head;
    l.body.blocks[0].end = Some(End::Jump(head, vec![zero]));
    l.body.blocks[head.0] = Block { params: vec![counter], ..Block::default() };
    let shifted = vec![Arg::Mod { to: index, from: counter, view: View::G64 }, Arg::Imm(shift)];
    l.push(Code::Shl_rm64_imm8, shifted);
    fill(&mut l, index);
    l.push(Code::Lea_r64_m, vec![Arg::Def(next, View::G64), Arg::Mem(Mem::at(counter, 1))]);
    let right = limit.map_or(Right::Reg(end), Right::Const);
    let test = End::Branch { condition: Condition::Less, left: next, right, yes: latch, no: leave };
    l.body.blocks[l.at.0].end = Some(test);
    l.body.blocks[latch.0].end = Some(End::Jump(head, vec![next]));
    l.body.blocks[leave.0].end = Some(End::Jump(done, Vec::new()));
    l.body.blocks[done.0].end = Some(End::Return);
    l
}

impl Loop {
    pub(super) fn push(&mut self, code: Code, args: Vec<Arg>) {
        self.body.blocks[self.at.0].insts.push(Inst::new(code, args));
    }
    fn element(&self, offset: i32, index: VReg) -> Arg {
        let base = Base::Reg(self.body.argument);
        Arg::Mem(Mem { base, index: Some((index, View::G64, 4)), offset, broadcast: false })
    }
    /// Loads 32 bytes from an element on.
    pub(super) fn load(&mut self, offset: i32, index: VReg) -> VReg {
        let to = self.body.register(View::Y);
        let args = vec![Arg::Def(to, View::Y), self.element(offset, index)];
        self.push(Code::VEX_Vmovups_ymm_ymmm256, args);
        to
    }
    /// Stores 32 bytes from an element on.
    pub(super) fn store(&mut self, offset: i32, index: VReg, value: VReg) {
        let args = vec![self.element(offset, index), Arg::Use(value, View::Y)];
        self.push(Code::VEX_Vmovups_ymmm256_ymm, args);
    }
    /// Stores a word at the argument plus an offset.
    pub(super) fn store_general(&mut self, offset: i32, value: VReg) {
        let args = vec![Arg::Mem(Mem::at(self.body.argument, offset)), Arg::Use(value, View::G64)];
        self.push(Code::Mov_rm64_r64, args);
    }
    /// An operation on two vectors.
    pub(super) fn vector(&mut self, code: Code, a: VReg, b: VReg) -> VReg {
        let to = self.body.register(View::Y);
        self.push(code, vec![Arg::Def(to, View::Y), Arg::Use(a, View::Y), Arg::Use(b, View::Y)]);
        to
    }
    /// Stores 32 bytes from an element on, past the caches where the address allows it.
    pub(super) fn stream(&mut self, offset: i32, index: VReg, value: VReg) {
        let [address, reasons] = [(); 2].map(|()| self.body.register(View::G64));
        self.push(Code::Lea_r64_m, vec![Arg::Def(address, View::G64), self.element(offset, index)]);
        let masked = Arg::Mod { to: reasons, from: address, view: View::G64 };
        self.push(Code::And_rm64_imm32, vec![masked, Arg::Imm(31)]);
        self.body.stream_tests.push((reasons, 32));
        let [yes, no, join] = [(); 3].map(|()| self.body.block());
        let (condition, right) = (Condition::Equal, Right::Const(0));
        let test = End::Branch { condition, left: reasons, right, yes, no };
        let latch = self.body.order.iter().position(|b| *b == self.at).unwrap() + 1;
        self.body.blocks[self.at.0].end = Some(test);
        self.body.order.splice(latch..latch, [yes, join]);
        self.body.order.push(no);
        for (block, code) in [(yes, Code::VEX_Vmovntdq_m256_ymm), (no, Code::VEX_Vmovups_ymmm256_ymm)] {
            self.at = block;
            let args = vec![self.element(offset, index), Arg::Use(value, View::Y)];
            self.push(code, args);
            self.body.blocks[block.0].end = Some(End::Jump(join, Vec::new()));
        }
        self.at = join;
    }
}
