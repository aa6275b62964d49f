//! Machine code before registers are chosen: instructions on virtual registers, in blocks.

use halide_ir::code_place::NOWHERE;
use iced_x86::Code;
use regalloc2::{RegClass, VReg};

/// The part of a register that an instruction names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum View {
    /// 128 bits of a vector register.
    X,
    /// 256 bits of a vector register.
    Y,
    /// 512 bits of a vector register.
    Z,
    /// 8 bits of a general register.
    G8,
    /// 32 bits of a general register.
    G32,
    /// 64 bits of a general register.
    G64,
    /// A mask register.
    K,
}

impl View {
    /// Bytes of a vector register.
    pub(crate) fn bytes(self) -> usize {
        match self {
            View::X => 16,
            View::Y => 32,
            View::Z => 64,
            View::G8 => 1,
            View::G32 => 4,
            View::G64 | View::K => 8,
        }
    }
    /// The smallest vector register of at least so many bytes, at most `most`.
    pub(crate) fn holding(bytes: usize, most: View) -> View {
        [View::X, View::Y, View::Z].into_iter().find(|v| *v >= most || v.bytes() >= bytes).unwrap_or(most)
    }
}

/// An operand, in the order in which the instruction has them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    /// A register that is written.
    Def(VReg, View),
    /// A register that is read.
    Use(VReg, View),
    /// A register that is read and that the instruction does not name: the one of this number.
    UseIn(VReg, usize),
    /// A register that is read and written.
    Mod {
        /// The value after the instruction.
        to: VReg,
        /// The value before it.
        from: VReg,
        view: View,
    },
    Mem(Mem),
    Imm(i64),
    /// Only lanes of this mask are written; the others keep what they hold.
    Mask(VReg),
    /// Only lanes of this mask are written; the others become 0.
    ZeroMask(VReg),
    /// The mask of a gather or scatter, which is used up.
    SpentMask {
        to: VReg,
        from: VReg,
    },
}

/// An address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mem {
    pub(crate) base: Base,
    /// A register and what it is multiplied with: 1, 2, 4 or 8. A vector register is read late, so that a gather's
    /// result does not take its place.
    pub(crate) index: Option<(VReg, View, u8)>,
    pub(crate) offset: i32,
    /// True if one element is loaded into all lanes.
    pub(crate) broadcast: bool,
}

/// The base that an address is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    Reg(VReg),
    /// The constants behind the code.
    Pool,
    /// The memory of the kernel's own allocations.
    Frame,
}

/// One machine instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) code: Code,
    pub(crate) args: Vec<Arg>,
    /// Bytes that it reads if its last register is memory instead; 0 if that must be a register.
    pub(crate) memory_bytes: u8,
    /// True if it loads a whole register and does nothing else.
    pub(crate) loads_whole: bool,
    /// The number of its place, for whoever reads the code (see `shared/code_map`).
    pub(crate) place: u32,
}

impl Inst {
    /// An instruction whose registers stay registers, of no place in particular.
    pub(crate) fn new(code: Code, args: Vec<Arg>) -> Inst {
        Inst { code, args, memory_bytes: 0, loads_whole: false, place: NOWHERE }
    }
}

/// The number of a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BlockId(pub(crate) usize);

/// A condition on two signed 64-bit integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The right operand of the comparison that a branch makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Right {
    Reg(VReg),
    Const(i32),
}

/// The terminator of a block.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// Goes on in a block, whose parameters get these values.
    Jump(BlockId, Vec<VReg>),
    /// Goes on in one of two blocks, neither of which has parameters or other predecessors.
    Branch {
        condition: Condition,
        left: VReg,
        right: Right,
        yes: BlockId,
        no: BlockId,
    },
    Return,
}

/// Instructions that run one after the other.
#[derive(Default, Debug)]
pub(crate) struct Block {
    pub(crate) params: Vec<VReg>,
    pub(crate) insts: Vec<Inst>,
    pub(crate) end: Option<End>,
}

/// A sum of values around a function, modulo 2^64.
#[derive(Clone, Debug)]
pub(crate) struct CapturedSum {
    /// Numbers of values, each with a factor.
    pub(crate) terms: Vec<(usize, i64)>,
    pub(crate) constant: i64,
}

/// A function under construction. It gets one pointer and returns nothing.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) blocks: Vec<Block>,
    /// The blocks in the order of their code; the first is entered.
    pub(crate) order: Vec<BlockId>,
    /// The argument.
    pub(crate) argument: VReg,
    pub(crate) registers: usize,
    /// The sums around the function that registers have the values of.
    pub(crate) captured: Vec<(VReg, CapturedSum)>,
    /// Registers that a branch compares with 0 for a non-temporal store, each with the bytes by whose multiples its
    /// address may change without an effect on that.
    pub(crate) stream_tests: Vec<(VReg, i64)>,
    /// Heads of loops that are not to be unrolled.
    pub(crate) kept_rolled: Vec<BlockId>,
    /// Blocks that go on behind the condition of a loop.
    pub(crate) continued: Vec<BlockId>,
    /// Constants, each aligned to its size.
    pub(crate) pool: Vec<u8>,
    /// Bytes of memory for allocations.
    pub(crate) frame: u32,
    /// The widest vector register in use.
    pub(crate) widest: View,
    /// True if there are 32 vector registers and masks.
    pub(crate) evex: bool,
}

impl Body {
    /// A function with an empty first block.
    pub(crate) fn new(widest: View, evex: bool) -> Body {
        let mut body = Body {
            blocks: vec![Block::default()],
            order: vec![BlockId(0)],
            argument: VReg::new(0, RegClass::Int),
            registers: 0,
            captured: Vec::new(),
            stream_tests: Vec::new(),
            kept_rolled: Vec::new(),
            continued: Vec::new(),
            pool: Vec::new(),
            frame: 0,
            widest,
            evex,
        };
        body.argument = body.register(View::G64);
        body
    }
    /// Returns the number of vector registers.
    pub(crate) fn vector_registers(&self) -> usize {
        if self.evex { 32 } else { 16 }
    }
    /// A new virtual register.
    pub(crate) fn register(&mut self, view: View) -> VReg {
        let class = match view {
            View::X | View::Y | View::Z => RegClass::Float,
            View::G8 | View::G32 | View::G64 => RegClass::Int,
            View::K => RegClass::Vector,
        };
        self.registers += 1;
        VReg::new(self.registers - 1, class)
    }
    /// An instruction that computes an address, and its result.
    pub(crate) fn lea(&mut self, mem: Mem) -> (VReg, Inst) {
        let to = self.register(View::G64);
        let args = vec![Arg::Def(to, View::G64), Arg::Mem(mem)];
        (to, Inst::new(Code::Lea_r64_m, args))
    }
    /// A new block, not yet in the order.
    pub(crate) fn block(&mut self) -> BlockId {
        self.blocks.push(Block::default());
        BlockId(self.blocks.len() - 1)
    }
    /// Returns the offset of these bytes among the constants, and adds them if needed; their number is a power of two
    /// up to 64.
    pub(crate) fn constant(&mut self, bytes: &[u8]) -> i32 {
        let size = bytes.len();
        let known = self.pool.chunks_exact(size).position(|c| c == bytes);
        let at = known.map(|i| i * size).unwrap_or_else(|| {
            self.pool.resize(self.pool.len().next_multiple_of(size), 0);
            self.pool.extend_from_slice(bytes);
            self.pool.len() - size
        });
        at as i32
    }
}

impl Mem {
    /// Returns the memory at a register's address, plus an offset.
    pub(crate) fn at(base: VReg, offset: i32) -> Mem {
        Mem { base: Base::Reg(base), index: None, offset, broadcast: false }
    }
    /// A constant of the pool.
    pub(crate) fn pool(offset: i32) -> Mem {
        Mem { base: Base::Pool, index: None, offset, broadcast: false }
    }
    /// The same, `bytes` further on.
    pub(crate) fn plus(self, bytes: i32) -> Mem {
        Mem { offset: self.offset + bytes, ..self }
    }
}
