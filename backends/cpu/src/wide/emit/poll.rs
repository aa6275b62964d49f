//! Polls: loops whose iterations are long look at the flag that ends a run early, and leave the kernel. What they have
//! stored by then stays; the caller looks at the flag again.

use super::super::interface::{Capture, Emitted, refuse};
use super::super::machine::{Arg, BlockId, Condition, End, Inst, Mem, Right, View};
use super::kernel::Emit;
use super::value::Val;
use halide_ir::Type;
use iced_x86::Code;

impl Emit<'_> {
    /// Ends `block`, which is in the order already, by a look at the flag; gives the block that follows it.
    pub(super) fn poll(&mut self, block: BlockId) -> Emitted<BlockId> {
        let flag = match self.polls.flag {
            Some(flag) => flag,
            None => {
                let word = self.capture(Capture::Stop, 1);
                let loaded = self.at_start(|e| {
                    let mem = e.word(word);
                    e.unpack(mem, Type::INDEX)
                })?;
                let Val::Scalar(flag) = loaded else { return refuse("an address that is no scalar") };
                *self.polls.flag.insert(flag)
            }
        };
        let raised = self.register(View::G32);
        let args = vec![Arg::Def(raised, View::G32), Arg::Mem(Mem::at(flag, 0))];
        let look = Inst::new(Code::Movzx_r32_rm8, args);
        self.body.blocks[block.0].insts.push(look);
        let (leave, next, exit) = (self.body.block(), self.body.block(), self.exit());
        let (condition, right) = (Condition::NotEqual, Right::Const(0));
        self.body.blocks[block.0].end = Some(End::Branch { condition, left: raised, right, yes: leave, no: next });
        self.cold.push(leave);
        self.body.blocks[leave.0].end = Some(End::Jump(exit, Vec::new()));
        self.body.order.push(next);
        Ok(next)
    }
    /// The block that ends the kernel early.
    pub(super) fn exit(&mut self) -> BlockId {
        match self.polls.exit {
            Some(exit) => exit,
            None => *self.polls.exit.insert(self.body.block()),
        }
    }
    /// The end of a kernel that was left early, behind all other code.
    pub(super) fn end_early(&mut self) {
        let Some(exit) = self.polls.exit else { return };
        if self.streams {
            // As at the usual end.
            let fence = Inst::new(Code::Sfence, Vec::new());
            self.body.blocks[exit.0].insts.push(fence);
        }
        self.body.blocks[exit.0].end = Some(End::Return);
        self.body.order.push(exit);
    }
}
