//! Register allocation, by `regalloc2`.

use super::block_order::{reverse_postorder, successors};
use super::inst::{Arg, Base, BlockId, Body, End, Inst, Right, View};
use regalloc2::{
    Algorithm, Block, InstRange, MachineEnv, Operand, OperandConstraint, OperandKind, OperandPos, Output, PReg,
    PRegSet, RegAllocError, RegClass, RegallocOptions, VReg,
};

/// The register of the argument: the first one of the System V convention.
const ARGUMENT: usize = 7;
/// rsp and rbp are not for values.
const SCRATCH: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];
/// Registers that belong to the caller.
pub(super) const SAVED: [usize; 5] = [3, 12, 13, 14, 15];

/// A body whose blocks are numbered in the order in which registers are chosen.
pub(super) struct Laid<'a> {
    pub(super) body: &'a Body,
    /// The blocks in that order.
    order: Vec<BlockId>,
    /// The position in the order of each block.
    positions: Vec<usize>,
    insts: Vec<Laying<'a>>,
    ranges: Vec<InstRange>,
    predecessors: Vec<Vec<Block>>,
    successors: Vec<Vec<Block>>,
}

/// An instruction as it is laid out.
pub(super) enum LaidInst<'a> {
    /// The argument arrives.
    Enter,
    Inst(&'a Inst),
    End(&'a End),
}

struct Laying<'a> {
    step: LaidInst<'a>,
    operands: Vec<Operand>,
}

/// Returns the numbers of the registers of a class that values may be in, those of the caller last.
pub(super) fn registers(body: &Body, class: RegClass) -> Vec<usize> {
    match class {
        RegClass::Int => SCRATCH.into_iter().chain(SAVED).collect(),
        RegClass::Float => (0..body.vector_registers()).collect(),
        RegClass::Vector if body.evex => (1..8).collect(),
        RegClass::Vector => Vec::new(),
    }
}

/// Chooses registers.
pub(super) fn allocate(laid: &Laid<'_>) -> Result<Output, RegAllocError> {
    let options =
        RegallocOptions { verbose_log: false, validate_ssa: cfg!(debug_assertions), algorithm: Algorithm::Ion };
    regalloc2::run(laid, &environment(laid.body), &options)
}

/// Returns the registers that there are.
pub(super) fn environment(body: &Body) -> MachineEnv {
    let set = |registers: &mut dyn Iterator<Item = usize>, class| {
        registers.fold(PRegSet::empty(), |set, i| set.with(PReg::new(i, class)))
    };
    let vectors = body.vector_registers();
    let masks = if body.evex { 1..8 } else { 0..0 };
    MachineEnv {
        preferred_regs_by_class: [
            set(&mut SCRATCH.into_iter(), RegClass::Int),
            set(&mut (0..vectors), RegClass::Float),
            set(&mut masks.into_iter(), RegClass::Vector),
        ],
        non_preferred_regs_by_class: [set(&mut SAVED.into_iter(), RegClass::Int), PRegSet::empty(), PRegSet::empty()],
        scratch_by_class: [None, None, None],
        fixed_stack_slots: Vec::new(),
    }
}

impl<'a> Laid<'a> {
    /// Lays the blocks out.
    pub(super) fn new(body: &'a Body) -> Laid<'a> {
        let order = reverse_postorder(body);
        let mut positions = vec![usize::MAX; body.blocks.len()];
        order.iter().enumerate().for_each(|(i, b)| positions[b.0] = i);
        let count = order.len();
        let mut laid = Laid {
            body,
            order: Vec::new(),
            positions,
            insts: vec![Laying { step: LaidInst::Enter, operands: vec![argument(body.argument)] }],
            ranges: Vec::new(),
            predecessors: vec![Vec::new(); count],
            successors: vec![Vec::new(); count],
        };
        for (position, id) in order.iter().enumerate() {
            let first = if position == 0 { 0 } else { laid.insts.len() };
            let block = &body.blocks[id.0];
            for inst in &block.insts {
                laid.insts.push(Laying { step: LaidInst::Inst(inst), operands: operands(inst) });
            }
            let end = block.end.as_ref().unwrap_or(&End::Return);
            laid.insts.push(Laying { step: LaidInst::End(end), operands: end_operands(end) });
            laid.ranges.push(InstRange::new(regalloc2::Inst::new(first), regalloc2::Inst::new(laid.insts.len())));
            for to in successors(body, *id) {
                let to = laid.positions[to.0];
                laid.successors[position].push(Block::new(to));
                laid.predecessors[to].push(Block::new(position));
            }
        }
        laid.order = order;
        laid
    }
    /// Returns the positions of the blocks in the order of their code.
    pub(super) fn code_order(&self) -> Vec<usize> {
        self.body.order.iter().map(|b| self.positions[b.0]).collect()
    }
    /// The position of a block in the order.
    pub(super) fn position(&self, block: BlockId) -> usize {
        self.positions[block.0]
    }
    pub(super) fn step(&self, inst: regalloc2::Inst) -> &LaidInst<'a> {
        &self.insts[inst.index()].step
    }
    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.ranges.len()
    }
}

fn argument(register: VReg) -> Operand {
    Operand::reg_fixed_def(register, PReg::new(ARGUMENT, RegClass::Int))
}

/// The registers of an instruction in the order of its arguments; a `Mod` or a spent mask has two.
fn operands(inst: &Inst) -> Vec<Operand> {
    let mut all = Vec::new();
    let late = |v| Operand::new(v, OperandConstraint::Reg, OperandKind::Use, OperandPos::Late);
    for arg in &inst.args {
        match *arg {
            Arg::Def(v, _) => all.push(Operand::reg_def(v)),
            Arg::Use(v, _) | Arg::Mask(v) | Arg::ZeroMask(v) => all.push(Operand::reg_use(v)),
            Arg::Mod { to, from, .. } | Arg::SpentMask { to, from } => {
                let position = all.len();
                all.push(Operand::reg_reuse_def(to, position + 1));
                all.push(Operand::reg_use(from));
            }
            Arg::Mem(mem) => {
                if let Base::Reg(v) = mem.base {
                    all.push(Operand::reg_use(v));
                }
                match mem.index {
                    Some((v, View::G64, _)) => all.push(Operand::reg_use(v)),
                    Some((v, ..)) => all.push(late(v)),
                    None => {}
                }
            }
            Arg::UseIn(v, number) => {
                let register = PReg::new(number, RegClass::Int);
                all.push(Operand::new(v, OperandConstraint::FixedReg(register), OperandKind::Use, OperandPos::Early));
            }
            Arg::Imm(_) => {}
        }
    }
    all
}

fn end_operands(end: &End) -> Vec<Operand> {
    match end {
        End::Branch { left, right: Right::Reg(right), .. } => vec![Operand::reg_use(*left), Operand::reg_use(*right)],
        End::Branch { left, .. } => vec![Operand::reg_use(*left)],
        _ => Vec::new(),
    }
}

impl regalloc2::Function for Laid<'_> {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }
    fn num_blocks(&self) -> usize {
        self.ranges.len()
    }
    fn entry_block(&self) -> Block {
        Block::new(0)
    }
    fn block_insns(&self, block: Block) -> InstRange {
        self.ranges[block.index()]
    }
    fn block_succs(&self, block: Block) -> &[Block] {
        &self.successors[block.index()]
    }
    fn block_preds(&self, block: Block) -> &[Block] {
        &self.predecessors[block.index()]
    }
    fn block_params(&self, block: Block) -> &[VReg] {
        &self.body.blocks[self.order[block.index()].0].params
    }
    fn is_ret(&self, inst: regalloc2::Inst) -> bool {
        matches!(self.insts[inst.index()].step, LaidInst::End(End::Return))
    }
    fn is_branch(&self, inst: regalloc2::Inst) -> bool {
        matches!(self.insts[inst.index()].step, LaidInst::End(End::Jump(..) | End::Branch { .. }))
    }
    fn branch_blockparams(&self, _: Block, inst: regalloc2::Inst, _: usize) -> &[VReg] {
        match &self.insts[inst.index()].step {
            LaidInst::End(End::Jump(_, values)) => values,
            _ => &[],
        }
    }
    fn inst_operands(&self, inst: regalloc2::Inst) -> &[Operand] {
        &self.insts[inst.index()].operands
    }
    fn inst_clobbers(&self, _: regalloc2::Inst) -> PRegSet {
        PRegSet::empty()
    }
    fn num_vregs(&self) -> usize {
        self.body.registers
    }
    fn spillslot_size(&self, class: RegClass) -> usize {
        match class {
            RegClass::Float => self.body.widest.bytes() / 8,
            _ => 1,
        }
    }
}
