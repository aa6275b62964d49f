//! Bytes of machine code: prologue, instructions with their registers, moves between them, constants behind the code.

use super::allocate::{Laid, LaidInst, SAVED};
use super::inst::{Arg, Base, BlockId, Condition, End, Inst, Mem, Right, View};
use super::operands::{general, register, set_displacement, set_immediate, set_register, set_slot};
use halide_ir::code_place::{CodePart, NOWHERE};
use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, Block, Edit, InstOrEdit, InstPosition, Output, RegClass};

/// Constants lie at a multiple of this from the start, and so must the code.
pub(crate) const ALIGN: usize = 64;

/// The alignment of frames.
const FRAME_ALIGN: i32 = 64;
/// The smallest page of memory, which a guard page at the end of a stack has at least.
const PAGE: i32 = 4096;

/// A finished function.
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes in front of the constants.
    pub(crate) code_bytes: usize,
    /// The first byte of each instruction, with the number of its place, and its purpose if that is not what the place
    /// says.
    pub(crate) places: Vec<(usize, u32, Option<CodePart>)>,
    /// Bytes of stack that it needs, from its return address on.
    pub(crate) frame: u64,
    /// Bytes at the stack pointer in which the register allocator keeps values.
    pub(crate) spills: u64,
    /// The heads of loops that were unrolled, each with the number of copies.
    pub(crate) unrolled: Vec<(BlockId, usize)>,
}

/// An instruction, and what is filled in when all places are known.
struct Item {
    inst: Instruction,
    link: Option<Link>,
    /// The number of its place, of the one before it if it has none.
    place: u32,
    part: Option<CodePart>,
}

#[derive(Clone, Copy)]
enum Link {
    /// A jump to the block at this position.
    Block(usize),
    /// An operand in the pool.
    Pool(i32),
    /// A jump to the item of this number.
    Item(usize),
}

struct Encoder64<'a> {
    laid: &'a Laid<'a>,
    output: &'a Output,
    /// Bytes of spill slots, which come before the allocations.
    spills: i32,
    saved: Vec<usize>,
    items: Vec<Item>,
    /// The place of the instruction at hand, and its purpose if that is not what the place says.
    place: u32,
    part: Option<CodePart>,
    /// The positions of the blocks that have code, in the order of their code.
    order: Vec<usize>,
    /// The index of each block's first item.
    starts: Vec<usize>,
    /// The block that a jump to each block arrives at in the end.
    arrives: Vec<usize>,
}

/// Encodes a function whose registers have been chosen.
pub(super) fn encode(laid: &Laid<'_>, output: &Output) -> Result<Encoded, String> {
    let spills = (output.num_spillslots * 8).next_multiple_of(64) as i32;
    let arrives = arrivals(laid, output);
    let order = laid.code_order().into_iter().filter(|p| *p == 0 || arrives[*p] == *p).collect();
    let starts = vec![0; laid.blocks()];
    let (items, saved) = (Vec::new(), saved(output));
    let mut e = Encoder64 { laid, output, spills, saved, items, place: NOWHERE, part: None, order, starts, arrives };
    for i in 0..e.order.len() {
        e.starts[e.order[i]] = e.items.len();
        e.place = e.first_place(e.order[i]);
        e.block(e.order[i], e.order.get(i + 1).copied()).map_err(|e| e.to_string())?;
    }
    e.finish()
}

/// The registers of the caller that are used.
fn saved(output: &Output) -> Vec<usize> {
    let edits = output.edits.iter().flat_map(|(_, Edit::Move { from, to })| [*from, *to]);
    let all = output.allocs.iter().copied().chain(edits);
    let used: Vec<usize> =
        all.filter_map(|a| a.as_reg()).filter(|r| r.class() == RegClass::Int).map(|r| r.hw_enc()).collect();
    SAVED.into_iter().filter(|r| used.contains(r)).collect()
}

/// Blocks that only jump on, and move nothing, are passed over.
fn arrivals(laid: &Laid<'_>, output: &Output) -> Vec<usize> {
    use regalloc2::Function;
    let next = |position: usize| {
        let range = laid.block_insns(Block::new(position));
        match laid.step(range.first()) {
            LaidInst::End(End::Jump(to, _)) => {
                let edits = output.edits.binary_search_by(|(point, _)| {
                    point.cmp(&regalloc2::ProgPoint::new(range.first(), InstPosition::Before))
                });
                edits.is_err().then_some(laid.position(*to))
            }
            _ => None,
        }
    };
    let follow = |mut position: usize| {
        // A loop without a body would go round for ever.
        for _ in 0..laid.blocks() {
            match next(position) {
                Some(to) => position = to,
                None => break,
            }
        }
        position
    };
    (0..laid.blocks()).map(follow).collect()
}

impl Encoder64<'_> {
    fn push(&mut self, inst: Instruction) {
        self.add(inst, None);
    }
    fn add(&mut self, inst: Instruction, link: Option<Link>) {
        self.items.push(Item { inst, link, place: self.place, part: self.part });
    }
    /// Adds what `f` does as instructions of one purpose.
    fn part(&mut self, part: CodePart, f: impl FnOnce(&mut Self) -> Result<(), IcedError>) -> Result<(), IcedError> {
        let around = self.part.replace(part);
        let done = f(self);
        self.part = around;
        done
    }
    /// The place of the first instruction of a block that has one; else that of the block before it.
    fn first_place(&self, position: usize) -> u32 {
        use regalloc2::Function;
        let range = self.laid.block_insns(Block::new(position));
        let place = |i| match self.laid.step(i) {
            LaidInst::Inst(inst) => Some(inst.place).filter(|place| *place != NOWHERE),
            _ => None,
        };
        range.iter().find_map(place).unwrap_or(self.place)
    }
    fn frame(&self) -> i32 {
        self.spills + (self.laid.body.frame as i32 + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN
    }

    /// Encodes a block, in front of the block `next`.
    fn block(&mut self, position: usize, next: Option<usize>) -> Result<(), IcedError> {
        let (output, laid) = (self.output, self.laid);
        for step in output.block_insts_and_edits(laid, Block::new(position)) {
            match step {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.part(CodePart::Move, |e| e.transfer(*from, *to))?,
                InstOrEdit::Inst(inst) => match laid.step(inst) {
                    LaidInst::Enter => self.part(CodePart::Frame, Self::prologue)?,
                    LaidInst::Inst(i) => self.instruction(i, output.inst_allocs(inst)),
                    LaidInst::End(end) => self.end((position, next), end, output.inst_allocs(inst))?,
                },
            }
        }
        Ok(())
    }

    fn prologue(&mut self) -> Result<(), IcedError> {
        for r in self.saved.clone() {
            self.push(Instruction::with1(Code::Push_r64, general(r, View::G64))?);
        }
        let frame = self.frame();
        if frame > 0 {
            self.push(Instruction::with1(Code::Push_r64, Register::RBP)?);
            self.push(Instruction::with2(Code::Mov_r64_rm64, Register::RBP, Register::RSP)?);
            let rest = self.probe(frame)?;
            self.push(Instruction::with2(Code::Sub_rm64_imm32, Register::RSP, rest)?);
            self.push(Instruction::with2(Code::And_rm64_imm8, Register::RSP, -64)?);
        }
        Ok(())
    }
    /// Moves the stack pointer down by whole pages and touches each of them, in order, so that no frame steps over a
    /// guard page. Returns how much of the frame is left: with what its alignment takes, less than a page.
    fn probe(&mut self, frame: i32) -> Result<i32, IcedError> {
        if frame < PAGE {
            return Ok(frame);
        }
        // Neither for arguments nor the caller's.
        let end = Register::R11;
        self.push(Instruction::with2(Code::Mov_r64_rm64, end, Register::RSP)?);
        self.push(Instruction::with2(Code::Sub_rm64_imm32, end, frame / PAGE * PAGE)?);
        let top = self.items.len();
        self.push(Instruction::with2(Code::Sub_rm64_imm32, Register::RSP, PAGE)?);
        let touched = MemoryOperand::with_base(Register::RSP);
        self.push(Instruction::with2(Code::Mov_rm32_imm32, touched, 0)?);
        self.push(Instruction::with2(Code::Cmp_r64_rm64, Register::RSP, end)?);
        let back = Instruction::with_branch(Code::Jne_rel32_64, 0)?;
        self.add(back, Some(Link::Item(top)));
        Ok(frame % PAGE)
    }
    /// Bytes of stack with the return address, what is saved, and what the alignment of the frame may take.
    fn stack(&self) -> u64 {
        let words = 2 + self.saved.len() as u64;
        8 * words + self.frame() as u64 + FRAME_ALIGN as u64
    }
    fn epilogue(&mut self) -> Result<(), IcedError> {
        if self.frame() > 0 {
            self.push(Instruction::with2(Code::Mov_r64_rm64, Register::RSP, Register::RBP)?);
            self.push(Instruction::with1(Code::Pop_r64, Register::RBP)?);
        }
        for r in self.saved.clone().into_iter().rev() {
            self.push(Instruction::with1(Code::Pop_r64, general(r, View::G64))?);
        }
        // What runs next may use instructions without VEX, which the upper halves would slow down.
        self.push(Instruction::with(Code::VEX_Vzeroupper));
        self.push(Instruction::with(Code::Retnq));
        Ok(())
    }

    /// A move that the register allocator asks for.
    fn transfer(&mut self, from: Allocation, to: Allocation) -> Result<(), IcedError> {
        let body = self.laid.body;
        let slot =
            |a: Allocation| a.as_stack().map(|s| MemoryOperand::with_base_displ(Register::RSP, 8 * s.index() as i64));
        let class = from.as_reg().or(to.as_reg()).map_or(RegClass::Int, |r| r.class());
        let (load, store) = match (class, body.evex) {
            (RegClass::Int, _) => (Code::Mov_r64_rm64, Code::Mov_rm64_r64),
            (RegClass::Vector, _) => (Code::VEX_Kmovq_kr_km64, Code::VEX_Kmovq_m64_kr),
            (_, true) => (Code::EVEX_Vmovaps_zmm_k1z_zmmm512, Code::EVEX_Vmovaps_zmmm512_k1z_zmm),
            (_, false) => (Code::VEX_Vmovaps_ymm_ymmm256, Code::VEX_Vmovaps_ymmm256_ymm),
        };
        let view = match class {
            RegClass::Int => View::G64,
            RegClass::Vector => View::K,
            RegClass::Float => body.widest,
        };
        let name = |a: Allocation| a.as_reg().map(|r| register(r.hw_enc(), view));
        let inst = match (name(from), name(to), slot(from), slot(to)) {
            (Some(from), Some(to), ..) => Instruction::with2(load, to, from)?,
            (None, Some(to), Some(from), _) => Instruction::with2(load, to, from)?,
            (Some(from), None, _, Some(to)) => Instruction::with2(store, to, from)?,
            // The allocator makes no moves from memory to memory.
            _ => return Ok(()),
        };
        self.push(inst);
        Ok(())
    }

    /// Encodes the end of a block at a position, in front of another one.
    fn end(&mut self, at: (usize, Option<usize>), end: &End, allocs: &[Allocation]) -> Result<(), IcedError> {
        let (position, next) = at;
        match end {
            End::Return => self.part(CodePart::Frame, Self::epilogue),
            End::Jump(to, _) => {
                let to = self.arrives[self.laid.position(*to)];
                if next == Some(to) { Ok(()) } else { self.jump(Code::Jmp_rel32_64, to) }
            }
            End::Branch { condition, right, yes, no, .. } => {
                self.compare(position, *condition, right, allocs);
                let (yes, no) = (self.arrives[self.laid.position(*yes)], self.arrives[self.laid.position(*no)]);
                if next == Some(yes) {
                    return self.jump(jump_if(condition.opposite()), no);
                }
                self.jump(jump_if(*condition), yes)?;
                if next != Some(no) {
                    self.jump(Code::Jmp_rel32_64, no)?;
                }
                Ok(())
            }
        }
    }
    /// Sets the flags for the branch at the end of a block.
    fn compare(&mut self, position: usize, condition: Condition, right: &Right, allocs: &[Allocation]) {
        let left = allocs[0];
        let zero = matches!(right, Right::Const(0)) && left.is_reg();
        let register = general(encoding(left), View::G64);
        if zero && self.says_if_zero(position, register, condition) {
            return;
        }
        let mut made = Instruction::default();
        made.set_code(match right {
            Right::Reg(_) if left.is_reg() => Code::Cmp_r64_rm64,
            Right::Reg(_) => Code::Cmp_rm64_r64,
            Right::Const(_) if zero => Code::Test_rm64_r64,
            Right::Const(_) => Code::Cmp_rm64_imm32,
        });
        let mut at = 0;
        set_operand(&mut made, &mut at, left, View::G64);
        match right {
            Right::Reg(_) => set_operand(&mut made, &mut at, allocs[1], View::G64),
            Right::Const(_) if zero => set_register(&mut made, &mut at, register),
            Right::Const(v) => set_immediate(&mut made, at, i64::from(*v)),
        }
        self.push(made);
    }
    /// Returns true if the last instruction of a block sets the flags by whether `of` is 0: all that the branch asks.
    fn says_if_zero(&self, position: usize, of: Register, asked: Condition) -> bool {
        let ands = [Code::And_r64_rm64, Code::And_rm64_imm32];
        let last = self.items[self.starts[position]..].last();
        matches!(asked, Condition::Equal | Condition::NotEqual)
            && last.is_some_and(|i| ands.contains(&i.inst.code()) && i.inst.op0_register() == of)
    }
    fn jump(&mut self, code: Code, to: usize) -> Result<(), IcedError> {
        let inst = Instruction::with_branch(code, 0)?;
        self.add(inst, Some(Link::Block(to)));
        Ok(())
    }

    fn instruction(&mut self, inst: &Inst, allocs: &[Allocation]) {
        let mut made = Instruction::default();
        made.set_code(inst.code);
        let mut link = None;
        let mut allocs = allocs.iter().copied();
        let mut next = || allocs.next().unwrap_or(Allocation::none());
        let mut at = 0;
        for arg in &inst.args {
            match *arg {
                Arg::Def(_, view) => set_register(&mut made, &mut at, register(encoding(next()), view)),
                Arg::Use(_, view) => set_operand(&mut made, &mut at, next(), view),
                Arg::UseIn(..) => _ = next(),
                Arg::Mod { view, .. } => {
                    set_register(&mut made, &mut at, register(encoding(next()), view));
                    next();
                }
                Arg::Mask(_) => made.set_op_mask(register(encoding(next()), View::K)),
                Arg::ZeroMask(_) => {
                    made.set_op_mask(register(encoding(next()), View::K));
                    made.set_zeroing_masking(true);
                }
                Arg::SpentMask { .. } => {
                    made.set_op_mask(register(encoding(next()), View::K));
                    next();
                }
                Arg::Imm(value) => {
                    set_immediate(&mut made, at, value);
                    at += 1;
                }
                Arg::Mem(mem) => {
                    link = link.or(self.memory(&mut made, at, &mem, &mut next));
                    at += 1;
                }
            }
        }
        if inst.place != NOWHERE {
            self.place = inst.place;
        }
        self.add(made, link);
    }

    fn memory(
        &self,
        made: &mut Instruction,
        at: u32,
        mem: &Mem,
        next: &mut impl FnMut() -> Allocation,
    ) -> Option<Link> {
        made.set_op_kind(at, OpKind::Memory);
        made.set_is_broadcast(mem.broadcast);
        let mut offset = mem.offset;
        match mem.base {
            Base::Reg(_) => made.set_memory_base(register(encoding(next()), View::G64)),
            Base::Frame => {
                made.set_memory_base(Register::RSP);
                offset += self.spills;
            }
            Base::Pool => {
                made.set_memory_base(Register::RIP);
                made.set_memory_displ_size(8);
                return Some(Link::Pool(offset));
            }
        }
        if let Some((_, view, scale)) = mem.index {
            made.set_memory_index(register(encoding(next()), view));
            made.set_memory_index_scale(u32::from(scale));
        }
        set_displacement(made, offset);
        None
    }

    /// Encodes all items, then fills in distances.
    fn finish(self) -> Result<Encoded, String> {
        let mut encoder = Encoder::new(64);
        let mut at = 0;
        let mut offsets = Vec::with_capacity(self.items.len() + 1);
        let mut links = Vec::new();
        for item in &self.items {
            offsets.push(at);
            let length = encoder.encode(&item.inst, at as u64);
            at += length.map_err(|e| format!("{:?}: {e}", item.inst.code()))?;
            if let Some(link) = item.link {
                let constants = encoder.get_constant_offsets();
                let field = match link {
                    Link::Block(_) | Link::Item(_) => at - 4,
                    Link::Pool(_) => offsets[offsets.len() - 1] + constants.displacement_offset(),
                };
                links.push((field, at, link));
            }
        }
        offsets.push(at);
        let mut bytes = encoder.take_buffer();
        let pool = bytes.len().next_multiple_of(ALIGN);
        let target = |link| match link {
            Link::Block(position) => offsets[self.starts[position]],
            Link::Pool(offset) => pool + offset as usize,
            Link::Item(item) => offsets[item],
        };
        for (field, end, link) in links {
            let distance = (target(link) as i64 - end as i64) as i32;
            bytes[field..field + 4].copy_from_slice(&distance.to_le_bytes());
        }
        let code_bytes = bytes.len();
        let places = self.items.iter().zip(offsets).map(|(item, at)| (at, item.place, item.part)).collect();
        if !self.laid.body.pool.is_empty() {
            bytes.resize(pool, 0xcc);
            bytes.extend_from_slice(&self.laid.body.pool);
        }
        let (frame, spills, unrolled) = (self.stack(), self.spills as u64, Vec::new());
        Ok(Encoded { bytes, code_bytes, places, frame, spills, unrolled })
    }
}

impl Condition {
    /// Returns the condition that holds if this one does not.
    pub(crate) fn opposite(self) -> Condition {
        match self {
            Condition::Equal => Condition::NotEqual,
            Condition::NotEqual => Condition::Equal,
            Condition::Less => Condition::GreaterOrEqual,
            Condition::LessOrEqual => Condition::Greater,
            Condition::Greater => Condition::LessOrEqual,
            Condition::GreaterOrEqual => Condition::Less,
        }
    }
}

fn jump_if(condition: Condition) -> Code {
    match condition {
        Condition::Equal => Code::Je_rel32_64,
        Condition::NotEqual => Code::Jne_rel32_64,
        Condition::Less => Code::Jl_rel32_64,
        Condition::LessOrEqual => Code::Jle_rel32_64,
        Condition::Greater => Code::Jg_rel32_64,
        Condition::GreaterOrEqual => Code::Jge_rel32_64,
    }
}

/// Makes a register or a spill slot the next operand.
fn set_operand(made: &mut Instruction, at: &mut u32, from: Allocation, view: View) {
    match from.as_stack() {
        Some(slot) => set_slot(made, at, slot),
        None => set_register(made, at, register(encoding(from), view)),
    }
}

fn encoding(a: Allocation) -> usize {
    a.as_reg().map_or(0, |r| r.hw_enc())
}
