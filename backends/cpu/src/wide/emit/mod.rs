//! From statements and expressions of loop IR to machine code.
//!
//! [`level`] says where in the code a value is computed: as far out as it stays the same. [`value`] says how lanes live
//! in registers, [`mask`] how their truth does. Then the operators ([`int`], [`bits`], [`divide`], [`product`],
//! [`divide64`], [`dot`], [`float`], [`compare`], [`half`], [`convert`], [`narrow`], [`math`]), scalars that count
//! ([`index`]), memory ([`address`], [`load`], [`clamped`], [`lookup`], [`each`], [`pairs`], [`store`], [`gather`], and
//! [`guarded`] where some lanes must not be touched), lanes that move ([`shuffle`], [`alternate`]) and statements
//! ([`stmt`], [`slots`], [`heap`], [`check`], [`poll`]).
//!
//! AVX2 lacks some of the instructions that AVX-512 has. What it has none for is made of others in [`built`],
//! [`narrow`] and [`permute`], and refused where that is not worth it.

mod address;
mod bits;
mod boundary_load;
mod check;
mod compare;
mod convert;
mod divide;
mod divide64;
mod dot;
mod expr;
mod float;
mod gather;
mod guarded;
mod half;
mod heap;
mod index;
mod int;
mod interleave;
mod invariant_placement;
mod lane_ops;
mod load;
mod mask;
mod math;
mod narrow;
mod paired_gather;
mod permute;
mod poll;
mod polyfills;
mod product;
mod scalarised_gather;
mod shuffle;
mod slots;
mod stmt;
mod store;
mod table_lookup;
mod value;

use super::instruction_table::Op;
use super::machine::{Arg, BlockId, Body, End, Inst, Mem, View};
use super::{Capture, Check, Claim, CpuOptions, Made, Refusal, Tier, refuse, widest};
use crate::codegen::{Linear, Memo, Sums};
use crate::host::LARGE;
use halide_ir::features::CpuFeature;
use halide_ir::hash::Map;
use halide_ir::{BufId, Expr, For, Program, Sym, Type};
use heap::Heap;
use iced_x86::Code;
use invariant_placement::Level;
use paired_gather::Neighbours;
use poll::Polls;
use regalloc2::VReg;
use slots::Slots;
use value::{Constant, Val};

/// The facts about the code around it that a kernel may ask for.
pub(crate) trait Surroundings {
    /// Returns true if a buffer that is allocated outside is in memory.
    fn in_memory(&self, buf: BufId) -> bool;
    /// Returns the number of elements of an allocation outside, if that is known.
    fn elements(&self, buf: BufId) -> Option<u64>;
}

/// A kernel before registers are chosen.
pub(super) struct Finished {
    pub(super) body: Body,
    pub(super) captures: Vec<(Capture, usize)>,
    pub(super) words: usize,
    pub(super) heap: Vec<Vec<Claim>>,
    pub(super) checks: Vec<Check>,
    /// The number of its instructions.
    pub(super) count: usize,
}

/// A kernel under construction.
struct Emit<'a> {
    program: &'a Program,
    around: &'a dyn Surroundings,
    body: Body,
    /// The open levels, outermost first.
    levels: Vec<Level>,
    /// The level whose block gets what is emitted.
    cursor: usize,
    memo: Memo<Val>,
    /// The levels of expressions, until something changes.
    homes: Map<Expr, usize>,
    symbols: Map<Sym, (Val, usize)>,
    /// Constants in registers, and their levels.
    constants: Map<Constant, (VReg, usize)>,
    /// The sums that symbols stand for.
    sums: Sums,
    /// Vectors of indices that symbols stand for.
    vectors: Map<Sym, Expr>,
    slots: Slots,
    /// Loads of neighbouring elements.
    neighbours: Neighbours,
    heap: Heap,
    checks: Vec<Check>,
    captures: Vec<(Capture, usize)>,
    words: usize,
    /// The masks of the address bits that rule out non-temporal stores, by buffer.
    small: Map<BufId, VReg>,
    /// Blocks that stand behind all others, since they rarely run.
    cold: Vec<BlockId>,
    /// Looks at the flag that ends the run.
    polls: Polls,
    /// True if some stores may be non-temporal.
    streams: bool,
    /// True if bytes can be permuted.
    vbmi: bool,
    /// True if sums of products of bytes are one instruction.
    vnni: bool,
    /// Names of lanes that were made wider, and of their products.
    small_names: dot::Names,
    /// The offset in the frame of memory whose contents mean nothing.
    scratch: Option<u32>,
    /// The memory for indices that are looked up.
    looked_up: table_lookup::Scratch,
    /// The number of its instructions.
    count: usize,
}

/// Emits a loop nest as a function.
pub(super) fn nest(
    program: &Program,
    around: &dyn Surroundings,
    nest: &For,
    options: &CpuOptions,
) -> Result<Finished, Refusal> {
    let tier = options.tier;
    let mut e = Emit {
        program,
        around,
        body: Body::new(widest(tier), tier == Tier::Avx512),
        levels: vec![Level::first()],
        cursor: 0,
        memo: Memo::default(),
        homes: Map::default(),
        symbols: Map::default(),
        constants: Map::default(),
        sums: Sums::default(),
        vectors: Map::default(),
        slots: Slots::default(),
        neighbours: Neighbours::default(),
        heap: Heap::default(),
        checks: Vec::new(),
        cold: Vec::new(),
        captures: Vec::new(),
        words: 0,
        small: Map::default(),
        polls: Polls::default(),
        streams: false,
        vbmi: tier == Tier::Avx512 && options.may_use(CpuFeature::Avx512vbmi),
        vnni: options.may_use(if tier == Tier::Avx512 { CpuFeature::Avx512vnni } else { CpuFeature::Avxvnni }),
        small_names: dot::Names::default(),
        scratch: None,
        looked_up: table_lookup::Scratch::default(),
        count: 0,
    };
    e.for_loop(nest)?;
    if e.streams {
        // Other threads are told by ordinary stores that these have been made.
        e.push(Code::Sfence, Vec::new());
    }
    let last = e.levels[0].block;
    e.body.blocks[last.0].end = Some(End::Return);
    e.body.order.append(&mut e.cold);
    e.end_early();
    e.check_size()?;
    let heap = e.heap.claims();
    Ok(Finished { body: e.body, captures: e.captures, words: e.words, heap, checks: e.checks, count: e.count })
}

impl Emit<'_> {
    // Instructions.

    fn push(&mut self, code: Code, args: Vec<Arg>) {
        self.push_inst(Inst { code, args, folds: false, loads_whole: false });
    }
    fn push_inst(&mut self, inst: Inst) {
        let block = self.levels[self.cursor].block;
        self.body.blocks[block.0].insts.push(inst);
        self.count += 1;
    }
    /// Refuses more instructions than registers are chosen for in good time: on the way, before there are too many to
    /// hold.
    fn check_size(&self) -> Made<()> {
        if self.count > LARGE {
            return refuse(format!("it has {} instructions or more, more than {LARGE}", self.count));
        }
        Ok(())
    }
    fn code(&self, op: Op, view: View) -> Made<Code> {
        let code = op.code(self.body.evex, view);
        code.ok_or_else(|| Refusal(format!("no instruction for {op:?} in {} bits", 8 * view.bytes())))
    }
    fn register(&mut self, view: View) -> VReg {
        self.body.register(view)
    }
    /// `op` of registers, or of memory as the last operand; all of one width.
    fn op(&mut self, op: Op, view: View, args: &[Arg]) -> Made<VReg> {
        let code = self.code(op, view)?;
        let to = self.register(view);
        let all: Vec<Arg> = std::iter::once(Arg::Def(to, view)).chain(args.iter().copied()).collect();
        let loads_whole = op == Op::Load && matches!(all[..], [_, Arg::Mem(_)]);
        self.push_inst(Inst { code, args: all, folds: false, loads_whole });
        Ok(to)
    }
    fn op1(&mut self, op: Op, view: View, a: VReg) -> Made<VReg> {
        if let Some(built) = self.built1(op, view, a)? {
            return Ok(built);
        }
        self.op(op, view, &[Arg::Use(a, view)])
    }
    fn op2(&mut self, op: Op, view: View, a: VReg, b: VReg) -> Made<VReg> {
        if let Some(built) = self.built2(op, view, a, b)? {
            return Ok(built);
        }
        let made = self.op(op, view, &[Arg::Use(a, view), Arg::Use(b, view)])?;
        // All operations of two operands take the second one from memory as well.
        self.last_folds();
        Ok(made)
    }
    /// The last operand of the newest instruction may be memory instead.
    fn last_folds(&mut self) {
        let block = self.levels[self.cursor].block;
        if let Some(last) = self.body.blocks[block.0].insts.last_mut() {
            last.folds = true;
        }
    }
    fn op_imm(&mut self, op: Op, view: View, a: VReg, imm: i64) -> Made<VReg> {
        if let Some(built) = self.built_imm(op, view, a, imm)? {
            return Ok(built);
        }
        self.op(op, view, &[Arg::Use(a, view), Arg::Imm(imm)])
    }
    /// `op` that reads and writes its first operand.
    fn op_mod(&mut self, op: Op, view: View, from: VReg, rest: &[Arg]) -> Made<VReg> {
        let code = self.code(op, view)?;
        let to = self.register(view);
        let all = std::iter::once(Arg::Mod { to, from, view }).chain(rest.iter().copied()).collect();
        self.push(code, all);
        Ok(to)
    }
    /// Returns true if there is no instruction for an operation.
    fn lacks(&self, op: Op, view: View) -> bool {
        op.code(self.body.evex, view).is_none()
    }
    /// Any three-input function of bits: bit `4 * a + 2 * b + c` of `table` is the result.
    fn ternary(&mut self, view: View, a: VReg, b: VReg, c: VReg, table: u8) -> Made<VReg> {
        let rest = [Arg::Use(b, view), Arg::Use(c, view), Arg::Imm(i64::from(table))];
        self.op_mod(Op::Ternary, view, a, &rest)
    }
    /// An instruction that is there for what it does to memory.
    fn effect(&mut self, op: Op, view: View, args: Vec<Arg>) -> Made<()> {
        let code = self.code(op, view)?;
        self.push(code, args);
        Ok(())
    }
    /// An instruction with a result of its own.
    fn made(&mut self, code: Code, view: View, args: &[Arg]) -> VReg {
        let to = self.register(view);
        self.push(code, std::iter::once(Arg::Def(to, view)).chain(args.iter().copied()).collect());
        to
    }

    // What comes from outside.

    /// The number of the first word of a captured thing.
    fn capture(&mut self, what: Capture, words: usize) -> usize {
        if let Some((_, word)) = self.captures.iter().find(|(c, _)| *c == what) {
            return *word;
        }
        self.captures.push((what, self.words));
        self.words += words;
        self.words - words
    }
    /// A word of the argument block.
    fn word(&mut self, word: usize) -> Mem {
        Mem::at(self.body.argument, 8 * word as i32)
    }
    /// Runs `f` with what it emits going to the first block.
    fn at_start<T>(&mut self, f: impl FnOnce(&mut Self) -> Made<T>) -> Made<T> {
        let cursor = std::mem::replace(&mut self.cursor, 0);
        let made = f(self);
        self.cursor = cursor;
        made
    }
    /// A captured symbol.
    fn captured(&mut self, symbol: Sym, ty: Type) -> Made<Val> {
        let words = value::words(ty);
        let word = self.capture(Capture::Sym(symbol, ty), words);
        let made = self.at_start(|e| {
            let mem = e.word(word);
            e.unpack(mem, ty)
        })?;
        self.symbols.insert(symbol, (made.clone(), 0));
        Ok(made)
    }
    /// The index as a sum.
    fn linear(&self, index: &Expr) -> Linear {
        Linear::of(index, &self.sums)
    }
}
