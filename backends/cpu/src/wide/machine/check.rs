//! The check of chosen registers, in debug builds: after all moves that were added and taken away, each operand reads
//! the value that it names. By the checker of `regalloc2`, an abstract interpretation that knows nothing of how the
//! registers were chosen.

use super::allocate::{Laid, environment};
use regalloc2::checker::Checker;
use regalloc2::{Block, Function, Inst, InstRange, Operand, OperandConstraint, Output, PRegSet, RegClass, VReg};

/// A function of which operands may be in the slots that they were given.
struct Chosen<'a> {
    laid: &'a Laid<'a>,
    operands: Vec<Vec<Operand>>,
}

/// Panics if an operand reads another value than its own.
pub(super) fn check(laid: &Laid<'_>, output: &Output) {
    let of = |number| {
        let inst = Inst::new(number);
        let pairs = laid.inst_operands(inst).iter().zip(output.inst_allocs(inst));
        let chosen = |(operand, place): (&Operand, &regalloc2::Allocation)| match place.is_stack() {
            true => Operand::new(operand.vreg(), OperandConstraint::Any, operand.kind(), operand.pos()),
            false => *operand,
        };
        pairs.map(chosen).collect()
    };
    let chosen = Chosen { laid, operands: (0..laid.num_insts()).map(of).collect() };
    let environment = environment(laid.body);
    let mut checker = Checker::new(&chosen, &environment);
    checker.prepare(output);
    if let Err(errors) = checker.run() {
        panic!("registers were chosen wrongly: {errors:?}");
    }
}

impl Function for Chosen<'_> {
    fn num_insts(&self) -> usize {
        self.laid.num_insts()
    }
    fn num_blocks(&self) -> usize {
        self.laid.num_blocks()
    }
    fn entry_block(&self) -> Block {
        self.laid.entry_block()
    }
    fn block_insns(&self, block: Block) -> InstRange {
        self.laid.block_insns(block)
    }
    fn block_succs(&self, block: Block) -> &[Block] {
        self.laid.block_succs(block)
    }
    fn block_preds(&self, block: Block) -> &[Block] {
        self.laid.block_preds(block)
    }
    fn block_params(&self, block: Block) -> &[VReg] {
        self.laid.block_params(block)
    }
    fn is_ret(&self, inst: Inst) -> bool {
        self.laid.is_ret(inst)
    }
    fn is_branch(&self, inst: Inst) -> bool {
        self.laid.is_branch(inst)
    }
    fn branch_blockparams(&self, block: Block, inst: Inst, successor: usize) -> &[VReg] {
        self.laid.branch_blockparams(block, inst, successor)
    }
    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        &self.operands[inst.index()]
    }
    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        self.laid.inst_clobbers(inst)
    }
    fn num_vregs(&self) -> usize {
        self.laid.num_vregs()
    }
    fn spillslot_size(&self, class: RegClass) -> usize {
        self.laid.spillslot_size(class)
    }
}

#[cfg(test)]
mod tests {
    use super::super::allocate::{Laid, allocate};
    use super::super::inst::{Arg, Body, End, Inst, Mem, View};
    use super::check;
    use iced_x86::Code;
    use regalloc2::Function;

    /// Checks the registers of a difference of two words, of which the second is read where `wrong` is true from the
    /// register of the first.
    fn difference(wrong: bool) {
        let mut body = Body::new(View::Z, true);
        let [a, b, to] = [(); 3].map(|()| body.register(View::G64));
        let word = |body: &Body, number: i32| Arg::Mem(Mem::at(body.argument, 8 * number));
        let list = [
            (Code::Mov_r64_rm64, vec![Arg::Def(a, View::G64), word(&body, 0)]),
            (Code::Mov_r64_rm64, vec![Arg::Def(b, View::G64), word(&body, 1)]),
            (Code::Sub_r64_rm64, vec![Arg::Mod { to, from: a, view: View::G64 }, Arg::Use(b, View::G64)]),
            (Code::Mov_rm64_r64, vec![word(&body, 0), Arg::Use(to, View::G64)]),
        ];
        let insts = list.map(|(code, args)| Inst::new(code, args));
        body.blocks[0].insts.extend(insts);
        body.blocks[0].end = Some(End::Return);
        let laid = Laid::new(&body);
        let mut output = allocate(&laid).unwrap();
        let inst = (0..laid.num_insts()).map(regalloc2::Inst::new).find(|i| laid.inst_operands(*i).len() == 3).unwrap();
        let first = output.inst_alloc_offsets[inst.index()] as usize;
        if wrong {
            output.allocs[first + 2] = output.allocs[first + 1];
        }
        check(&laid, &output);
    }

    #[test]
    fn operands_read_the_values_that_they_name() {
        difference(false);
    }

    #[test]
    #[should_panic(expected = "chosen wrongly")]
    fn an_operand_that_reads_another_value_is_found() {
        difference(true);
    }
}
