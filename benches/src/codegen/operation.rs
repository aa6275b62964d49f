//! The meaning of an instruction for those who count: its kind, its width, and its operand in memory.

use iced_x86::{
    Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
};

/// Instructions that the execution ports of a microarchitecture treat alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A read of memory into a general register.
    Load,
    /// A read of memory into a vector or a mask.
    VectorLoad,
    /// A write of a general register to memory.
    Store,
    /// A write of a vector or a mask to memory.
    VectorStore,
    /// Arithmetic of general registers.
    General,
    /// A product of general registers.
    GeneralMultiply,
    /// A jump, or a comparison and the jump that asks for it.
    Jump,
    /// A product of floats, with or without a sum.
    Multiply,
    /// A sum or a difference of floats.
    FloatAdd,
    /// A comparison, a minimum or a maximum of floats.
    FloatCompare,
    /// A conversion of lanes, or their rounding.
    Convert,
    /// A quotient of 32-bit floats.
    Divide32,
    /// A quotient of 64-bit floats.
    Divide64,
    /// A square root of 32-bit floats.
    Root32,
    /// A square root of 64-bit floats.
    Root64,
    /// A product of integer lanes, or a sum of such.
    IntMultiply,
    /// A product of integer lanes of 32 or 64 bits, of which the low half is kept.
    LongMultiply,
    /// A sum or a difference of integer lanes.
    IntAdd,
    /// A comparison, minimum, maximum, mean, absolute value or saturating sum of integer lanes.
    IntCompare,
    /// Bitwise logic or a blend.
    Logic,
    /// A shift of lanes.
    Shift,
    /// A permutation within 128 bits.
    Shuffle,
    /// A permutation across 128 bits, or lanes from a general register.
    Cross,
    /// Lanes to a general register.
    ToGeneral,
    /// A comparison of vectors into a mask.
    MaskCompare,
    /// An operation on masks.
    Mask,
    /// Work of a front end alone: copies of registers, and what is not known.
    Nothing,
}

/// The place of an operand in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Relative to the stack pointer or the frame pointer.
    Stack,
    /// Relative to the instruction: a constant behind the code.
    Constant,
    /// Data of buffers.
    Data,
}

/// An operand in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The place.
    pub place: Place,
    /// The number of bytes, of one lane for gathers and scatters.
    pub bytes: usize,
    /// The number of lanes with an address each; 1 for others.
    pub lanes: usize,
    /// True if it is read.
    pub reads: bool,
    /// True if it is written.
    pub writes: bool,
    /// The distance from the stack pointer; `None` if that varies or it is relative to something else.
    pub slot: Option<u64>,
}

/// An instruction as it is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The work beside that of its operand in memory.
    pub kind: Kind,
    /// The width in bits of the widest vector that it works on; 0 of none. A lane alone counts as a vector that has no
    /// other.
    pub bits: usize,
    /// True if an operand is a vector or a mask.
    pub is_lanes: bool,
    /// True if it works on all lanes of vectors.
    pub is_packed: bool,
    /// True if it is a product of lanes and a sum.
    pub is_multiply_add: bool,
    /// The operand in memory.
    pub access: Option<Access>,
}

/// Reads instructions.
#[derive(Debug)]
pub struct Reader {
    factory: InstructionInfoFactory,
}

impl Default for Reader {
    fn default() -> Self {
        Reader { factory: InstructionInfoFactory::new() }
    }
}

impl Reader {
    /// The operation of an instruction.
    pub fn read(&mut self, instruction: &Instruction) -> Operation {
        let access = self.access(instruction);
        let registers = (0..instruction.op_count()).filter(|&i| instruction.op_kind(i) == OpKind::Register);
        let registers: Vec<Register> = registers.map(|i| instruction.op_register(i)).collect();
        let vector = registers.iter().filter(|r| r.is_vector_register()).map(|r| r.size() * 8).max().unwrap_or(0);
        let bits = vector.max(8 * access.filter(|_| vector > 0).map_or(0, |a| if a.lanes == 1 { a.bytes } else { 0 }));
        let is_lanes = vector > 0 || registers.iter().any(|r| r.is_k());
        let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
        let kind = match is_lanes {
            true => lane_kind(&name, instruction, &registers, access),
            false => general_kind(instruction, access),
        };
        // What has no form with memory has no size of one.
        let size = instruction.memory_size();
        let is_packed = vector > 128 || (vector > 0 && (size.is_packed() || size.size() >= 16 || size.size() == 0));
        let is_multiply_add = ["vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "vpdp", "vpmadd"];
        let is_multiply_add = is_multiply_add.iter().any(|start| name.starts_with(start));
        Operation { kind, bits, is_lanes, is_packed, is_multiply_add, access }
    }

    /// The operand in memory, if it is read or written.
    fn access(&mut self, instruction: &Instruction) -> Option<Access> {
        let at = (0..instruction.op_count()).find(|&i| instruction.op_kind(i) == OpKind::Memory)?;
        let info = self.factory.info_options(instruction, InstructionInfoOptions::NO_REGISTER_USAGE);
        let (reads, writes) = match info.op_access(at) {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write | OpAccess::CondWrite => (false, true),
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            OpAccess::None | OpAccess::NoMemAccess => return None,
        };
        let base = instruction.memory_base();
        let place = match base {
            Register::RSP | Register::RBP => Place::Stack,
            Register::RIP => Place::Constant,
            _ => Place::Data,
        };
        let is_slot = base == Register::RSP && instruction.memory_index() == Register::None;
        let slot = is_slot.then(|| instruction.memory_displacement64());
        let bytes = info.used_memory().first().map_or(0, |m: &UsedMemory| m.memory_size().size());
        Some(Access { place, bytes, lanes: lanes(instruction), reads, writes, slot })
    }
}

/// The number of lanes with an address each.
fn lanes(instruction: &Instruction) -> usize {
    if !instruction.is_vsib() {
        return 1;
    }
    let index = instruction.memory_index().size() / if instruction.is_vsib64() { 8 } else { 4 };
    let data = (0..instruction.op_count()).filter(|&i| instruction.op_kind(i) == OpKind::Register);
    let data = data.map(|i| instruction.op_register(i)).find(|r| r.is_vector_register());
    let element = instruction.memory_size().element_size().max(1);
    data.map_or(index, |data| (data.size() / element).min(index)).max(1)
}

/// Mnemonics of instructions on lanes by their first letters, without the `v` that many begin with. The first row that
/// fits is taken.
const LANE_KINDS: [(Kind, &[&str]); 20] = [
    (Kind::Multiply, &["fmadd", "fmsub", "fnmadd", "fnmsub", "mulp", "muls"]),
    (Kind::FloatAdd, &["addp", "adds", "subp", "subs"]),
    (Kind::FloatCompare, &["minp", "mins", "maxp", "maxs", "cmpp", "cmps", "comis", "ucomis"]),
    (Kind::Divide32, &["divps", "divss"]),
    (Kind::Divide64, &["divpd", "divsd"]),
    (Kind::Root32, &["sqrtps", "sqrtss"]),
    (Kind::Root64, &["sqrtpd", "sqrtsd"]),
    (Kind::Convert, &["cvt", "round", "rndscale", "rcp", "rsqrt", "getexp", "getmant", "scalef"]),
    (Kind::LongMultiply, &["pmulld", "pmullq"]),
    (Kind::IntMultiply, &["pmul", "pmadd", "pdp", "psadbw", "gf2p8"]),
    (Kind::IntCompare, &["pmin", "pmax", "padds", "paddus", "psubs", "psubus", "pavg", "pabs", "pcmp", "psign"]),
    (Kind::IntAdd, &["padd", "psub"]),
    (Kind::Shuffle, &["pslldq", "psrldq", "pshuf", "shufp", "unpck", "punpck", "pack", "palignr", "permilp", "movs"]),
    (Kind::Shuffle, &["movddup", "movlhps", "movhlps", "movhp", "movlp"]),
    (Kind::ToGeneral, &["movmsk", "pmovmsk"]),
    (Kind::Cross, &["perm", "pmov", "align", "insert", "extract", "pextr", "pinsr", "shuff", "shufi"]),
    (Kind::Cross, &["broadcast", "pbroadcast", "compress", "expand", "pcompress", "pexpand"]),
    (Kind::Logic, &["pand", "por", "pxor", "and", "or", "xor", "pternlog", "blend", "pblend", "ptest", "test"]),
    (Kind::Shift, &["psll", "psrl", "psra", "prol", "pror", "pshld", "pshrd"]),
    (Kind::Mask, &["k"]),
];

/// The kind of an instruction with an operand in a vector register or a mask register.
fn lane_kind(name: &str, instruction: &Instruction, registers: &[Register], access: Option<Access>) -> Kind {
    let name = name.strip_prefix('v').unwrap_or(name);
    let is_copy = name.starts_with("mov") && registers.iter().all(|r| r.is_vector_register());
    let kind = match LANE_KINDS.iter().find(|(_, starts)| starts.iter().any(|start| name.starts_with(start))) {
        // Two operands are a copy or a load, three join lanes.
        Some((Kind::Shuffle, _)) if matches!(name, "movss" | "movsd") && instruction.op_count() < 3 => Kind::Nothing,
        Some((kind, _)) => *kind,
        None if is_copy && access.is_none() && instruction.op_mask() != Register::None => Kind::Logic,
        None if is_copy || access.is_some() => Kind::Nothing,
        // Between a vector and a general register.
        None if name.starts_with("mov") && instruction.op0_register().is_gpr() => Kind::ToGeneral,
        None if name.starts_with("mov") => Kind::Cross,
        None => Kind::Nothing,
    };
    let is_store = access.is_some_and(|a| a.writes);
    let alike = registers.len() == 3 && registers[1] == registers[2];
    match kind {
        Kind::Cross if is_store && name.contains("extr") => Kind::Nothing,
        Kind::Mask if access.is_some() => Kind::Nothing,
        Kind::Cross | Kind::Shuffle if access.is_some() && is_broadcast(name) => Kind::Nothing,
        // The load brings the lanes to their place; a blend is left.
        Kind::Cross if access.is_some() && (name.starts_with("insert") || name.starts_with("pinsr")) => Kind::Logic,
        Kind::FloatCompare | Kind::IntCompare | Kind::Logic if registers[0].is_k() => Kind::MaskCompare,
        // Zeros: no port is needed.
        Kind::Logic if alike && (name.starts_with("pxor") || name.starts_with("xorp")) => Kind::Nothing,
        kind => kind,
    }
}

fn is_broadcast(name: &str) -> bool {
    name.contains("broadcast") || matches!(name, "movddup" | "movshdup" | "movsldup")
}

/// The kind of an instruction on general registers.
fn general_kind(instruction: &Instruction, access: Option<Access>) -> Kind {
    let is_register = instruction.op_count() > 1 && instruction.op_kind(1) == OpKind::Register;
    match instruction.mnemonic() {
        Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd if access.is_some() => Kind::Nothing,
        Mnemonic::Mov if is_register => Kind::Nothing,
        Mnemonic::Nop | Mnemonic::Push | Mnemonic::Pop | Mnemonic::Endbr64 | Mnemonic::Vzeroupper => Kind::Nothing,
        Mnemonic::Imul | Mnemonic::Mul | Mnemonic::Mulx => Kind::GeneralMultiply,
        _ if instruction.is_jcc_short_or_near() || instruction.is_jmp_short_or_near() => Kind::Jump,
        // A prefetch.
        _ if access.is_none() && instruction.op_count() == 1 && instruction.op_kind(0) == OpKind::Memory => {
            Kind::Nothing
        }
        _ => Kind::General,
    }
}
