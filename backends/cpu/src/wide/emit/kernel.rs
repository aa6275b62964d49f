//! A kernel under construction: its state, and the smallest operations on it.

use super::super::instruction_table::Op;
use super::super::interface::{Capture, Check, Emitted, Loads, Refusal, Surroundings, refuse};
use super::super::machine::{Arg, BlockId, Body, Inst, Mem, View};
use super::captured_sums::CapturedSums;
use super::claims::Heap;
use super::levels::Level;
use super::neighbours::Neighbours;
use super::open_lines::OpenLines;
use super::places::Allocations;
use super::value::{Constant, Mask, Predicate, Val, words};
use crate::shared::linear::{Linear, Sums};
use crate::shared::memo::Memo;
use crate::tuning::ONE_PASS_INSTRUCTIONS;
use halide_ir::code_place::PlaceTable;
use halide_ir::hash::Map;
use halide_ir::{BufId, Expr, LoopId, Program, Sym, Type};
use iced_x86::Code;
use regalloc2::VReg;

/// A kernel under construction.
pub(super) struct Emit<'a> {
    pub(super) program: &'a Program,
    pub(super) around: &'a dyn Surroundings,
    pub(super) body: Body,
    /// The heads of loops.
    pub(super) heads: Vec<(BlockId, LoopId)>,
    /// The open levels, outermost first.
    pub(super) levels: Vec<Level>,
    /// The level whose block gets what is emitted.
    pub(super) cursor: usize,
    pub(super) memo: Memo<Val>,
    /// The levels of expressions, until something changes.
    pub(super) homes: Map<Expr, usize>,
    pub(super) symbols: Map<Sym, (Val, usize)>,
    /// Constants in registers, and their levels.
    pub(super) constants: Map<Constant, (VReg, usize)>,
    /// Truths cut for registers of lanes, and their levels.
    pub(super) predicates: Map<Predicate, (Mask, usize)>,
    /// The sums that symbols stand for.
    pub(super) sums: Sums,
    /// Vectors of indices and of truths, and loads, that symbols stand for.
    pub(super) vectors: Map<Sym, Expr>,
    pub(super) slots: Allocations,
    /// Loads of neighbouring elements.
    pub(super) neighbours: Neighbours,
    pub(super) heap: Heap,
    pub(super) checks: Vec<Check>,
    pub(super) captures: Vec<(Capture, usize)>,
    pub(super) words: usize,
    /// The masks of the address bits that rule out non-temporal stores, by buffer; those of rows that must not collide
    /// by themselves.
    pub(super) small: Map<(BufId, bool), VReg>,
    /// The lines that loops fill in parts.
    pub(super) open_lines: OpenLines,
    /// Blocks that stand behind all others, since they rarely run.
    pub(super) cold: Vec<BlockId>,
    /// Looks at the flag that ends the run.
    pub(super) polls: Polls,
    /// The definition at hand, of code that says so.
    pub(super) mark: Option<u64>,
    /// The places of instructions, if they are asked for.
    pub(super) code_places: Option<PlaceTable>,
    /// True if some stores may be non-temporal.
    pub(super) streams: bool,
    /// True if bytes can be permuted.
    pub(super) vbmi: bool,
    /// True if sums of products of bytes are one instruction.
    pub(super) vnni: bool,
    /// Names of lanes that were made wider, and of their products.
    pub(super) small_names: Names,
    /// The offset in the frame of memory whose contents mean nothing.
    pub(super) scratch: Option<u32>,
    /// The memory for indices that are looked up.
    pub(super) index_scratch: IndexScratch,
    /// Its loads.
    pub(super) loads: Vec<Loads>,
    /// The number of its instructions.
    pub(super) count: usize,
}

/// Definitions of names that may be part of such a sum, and the buffers that these read.
pub(super) type Names = Map<Sym, (Expr, Vec<BufId>)>;

/// Memory for indices on their way to general registers.
#[derive(Clone, Copy, Default)]
pub(super) struct IndexScratch {
    pub(super) start: u32,
    pub(super) bytes: u32,
}

/// The register and the block that polls share.
#[derive(Default)]
pub(super) struct Polls {
    /// The address of the flag.
    pub(super) flag: Option<VReg>,
    /// The block that ends the kernel early.
    pub(super) exit: Option<BlockId>,
}

impl Emit<'_> {
    // Instructions.

    pub(super) fn push(&mut self, code: Code, args: Vec<Arg>) {
        self.push_inst(Inst::new(code, args));
    }
    pub(super) fn push_inst(&mut self, mut inst: Inst) {
        inst.place = self.place_number();
        let block = self.levels[self.cursor].block;
        self.body.blocks[block.0].insts.push(inst);
        self.count += 1;
    }
    /// Refuses more instructions than registers are chosen for in good time: on the way, before there are too many to
    /// hold.
    pub(super) fn check_size(&self) -> Emitted<()> {
        if self.count > ONE_PASS_INSTRUCTIONS {
            return refuse(format!("it has {} instructions or more, more than {ONE_PASS_INSTRUCTIONS}", self.count));
        }
        Ok(())
    }
    pub(super) fn code(&self, op: Op, view: View) -> Emitted<Code> {
        let code = op.code(self.body.evex, view);
        code.ok_or_else(|| Refusal(format!("no instruction for {op:?} in {} bits", 8 * view.bytes())))
    }
    pub(super) fn register(&mut self, view: View) -> VReg {
        self.body.register(view)
    }
    /// `op` of registers, or of memory as the last operand; all of one width.
    pub(super) fn op(&mut self, op: Op, view: View, args: &[Arg]) -> Emitted<VReg> {
        let code = self.code(op, view)?;
        let to = self.register(view);
        let all: Vec<Arg> = std::iter::once(Arg::Def(to, view)).chain(args.iter().copied()).collect();
        let loads_whole = op == Op::Load && matches!(all[..], [_, Arg::Mem(_)]);
        self.push_inst(Inst { loads_whole, ..Inst::new(code, all) });
        Ok(to)
    }
    pub(super) fn op1(&mut self, op: Op, view: View, a: VReg) -> Emitted<VReg> {
        if let Some(built) = self.polyfill1(op, view, a)? {
            return Ok(built);
        }
        self.op(op, view, &[Arg::Use(a, view)])
    }
    pub(super) fn op2(&mut self, op: Op, view: View, a: VReg, b: VReg) -> Emitted<VReg> {
        if let Some(built) = self.polyfill2(op, view, a, b)? {
            return Ok(built);
        }
        let made = self.op(op, view, &[Arg::Use(a, view), Arg::Use(b, view)])?;
        // All operations of two operands take the second one from memory as well.
        self.last_folds(view.bytes());
        Ok(made)
    }
    /// The last operand of the newest instruction may be so many bytes of memory instead.
    pub(super) fn last_folds(&mut self, bytes: usize) {
        let block = self.levels[self.cursor].block;
        if let Some(last) = self.body.blocks[block.0].insts.last_mut() {
            last.memory_bytes = bytes as u8;
        }
    }
    pub(super) fn op_imm(&mut self, op: Op, view: View, a: VReg, imm: i64) -> Emitted<VReg> {
        if let Some(built) = self.polyfill_imm(op, view, a, imm)? {
            return Ok(built);
        }
        self.op(op, view, &[Arg::Use(a, view), Arg::Imm(imm)])
    }
    /// `op` that reads and writes its first operand.
    pub(super) fn op_mod(&mut self, op: Op, view: View, from: VReg, rest: &[Arg]) -> Emitted<VReg> {
        let code = self.code(op, view)?;
        let to = self.register(view);
        let all = std::iter::once(Arg::Mod { to, from, view }).chain(rest.iter().copied()).collect();
        self.push(code, all);
        Ok(to)
    }
    /// Returns true if there is no instruction for an operation.
    pub(super) fn lacks(&self, op: Op, view: View) -> bool {
        op.code(self.body.evex, view).is_none()
    }
    /// Any three-input function of bits: bit `4 * a + 2 * b + c` of `table` is the result.
    pub(super) fn ternary(&mut self, view: View, a: VReg, b: VReg, c: VReg, table: u8) -> Emitted<VReg> {
        let rest = [Arg::Use(b, view), Arg::Use(c, view), Arg::Imm(i64::from(table))];
        self.op_mod(Op::Ternary, view, a, &rest)
    }
    /// An instruction that is there for what it does to memory.
    pub(super) fn effect(&mut self, op: Op, view: View, args: Vec<Arg>) -> Emitted<()> {
        let code = self.code(op, view)?;
        self.push(code, args);
        Ok(())
    }
    /// An instruction with a result of its own.
    pub(super) fn result_of(&mut self, code: Code, view: View, args: &[Arg]) -> VReg {
        let to = self.register(view);
        self.push(code, std::iter::once(Arg::Def(to, view)).chain(args.iter().copied()).collect());
        to
    }

    // What comes from outside.

    /// The number of the first word of a captured thing.
    pub(super) fn capture(&mut self, what: Capture, words: usize) -> usize {
        if let Some((_, word)) = self.captures.iter().find(|(c, _)| *c == what) {
            return *word;
        }
        self.captures.push((what, self.words));
        self.words += words;
        self.words - words
    }
    /// A word of the argument block.
    pub(super) fn word(&mut self, word: usize) -> Mem {
        Mem::at(self.body.argument, 8 * word as i32)
    }
    /// Runs `f` with what it emits going to the first block.
    pub(super) fn at_start<T>(&mut self, f: impl FnOnce(&mut Self) -> Emitted<T>) -> Emitted<T> {
        let cursor = std::mem::replace(&mut self.cursor, 0);
        let made = f(self);
        self.cursor = cursor;
        made
    }
    /// A captured symbol.
    pub(super) fn captured(&mut self, symbol: Sym, ty: Type) -> Emitted<Val> {
        let words = words(ty);
        let word = self.capture(Capture::Sym(symbol, ty), words);
        let made = self.at_start(|e| {
            let mem = e.word(word);
            e.unpack(mem, ty)
        })?;
        self.symbols.insert(symbol, (made.clone(), 0));
        Ok(made)
    }
    /// Tells the body what captured indices are sums of: of which expressions around the kernel.
    pub(super) fn note_captured_sums(&mut self) {
        let mut sums = CapturedSums::new(self.around.definitions());
        for (what, _) in &self.captures {
            if let Capture::Sym(symbol, Type::INDEX) = *what
                && let Some((Val::Scalar(register), 0)) = self.symbols.get(&symbol)
            {
                self.body.captured.push((*register, sums.of(symbol)));
            }
        }
    }
    /// The index as a sum.
    pub(super) fn linear(&self, index: &Expr) -> Linear {
        Linear::of_index(index, &self.sums)
    }
}
