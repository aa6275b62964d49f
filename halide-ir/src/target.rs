//! The machine that code is compiled for: plain data.

use crate::features::CpuFeatures;
use halide_core::types::ScalarType;

/// A machine, as far as lowering and schedules need to know it.
///
/// ```
/// use halide_core::types::ScalarType;
/// use halide_ir::target::Target;
/// let narrow = Target { vector_bits: 128, features: None, ..Target::host() };
/// assert_eq!(narrow.natural_lanes(ScalarType::U8), 16);
/// assert!(Target::host().vector_bits >= 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The instruction set family: for who chooses a schedule. No pass asks it, and machine code is for the machine
    /// that compiles it, whatever this says.
    pub arch: Arch,
    /// Width of the vector registers that generated code uses, in bits.
    pub vector_bits: u32,
    /// The extensions of x86-64 that code may use: all that the machine has, as far as that width needs them, if it is
    /// not said.
    pub features: Option<CpuFeatures>,
    /// Number of threads that a parallel loop may use, unless a call says otherwise; never more than the pool has that
    /// it runs in. No pass asks it: code is the same for any number.
    pub threads: u32,
    /// Size of one core's private last-level cache in bytes: for who chooses a schedule. No pass asks it.
    pub cache_bytes: u64,
    /// The GPU that `gpu_blocks` and `gpu_threads` are for, if there is one.
    pub gpu: Option<Gpu>,
    /// The largest sizes of code.
    pub budget: Budget,
}

/// The largest sizes of a program and its code. A larger one is refused: a schedule can ask for more copies of code
/// than there is memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Budget {
    /// Nodes of the lowered program: statements, and nodes of their expressions.
    pub nodes: u64,
    /// Instructions that machine code is made of, before a code generator makes them fewer.
    pub instructions: u64,
    /// Bytes of machine code.
    pub code_bytes: u64,
    /// Bytes of stack that machine code may need along the deepest chain of calls. Where a thread has less, the code
    /// runs on a stack of its own.
    pub stack_bytes: u64,
}

impl Budget {
    /// At least 30 times what the largest of the apps needs: 20,300 nodes, 30,400 instructions, 175,000 bytes of code
    /// and 20,000 of stack.
    pub const DEFAULT: Budget =
        Budget { nodes: 2_000_000, instructions: 2_000_000, code_bytes: 64 << 20, stack_bytes: 8 << 20 };
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::DEFAULT
    }
}

/// The limits of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gpu {
    /// The largest extents of a block's thread loops, innermost first.
    pub most_threads: [u32; 3],
    /// The most threads that a block may have in all.
    pub most_threads_in_all: u32,
    /// Bytes of memory that the threads of a block may share.
    pub shared_bytes: u32,
    /// The number of lanes of a subgroup, a power of two, if all of its subgroups have as many and their lanes can hand
    /// values to each other, which `gpu_lanes` needs.
    pub subgroup: Option<u32>,
    /// True if kernels can compute with 64-bit integers.
    pub int64: bool,
    /// True if kernels can compute with 64-bit floats; the bits of these pass through 64-bit integers.
    pub float64: bool,
}

impl Gpu {
    /// The limits that every device that implements WebGPU has at least.
    pub const LEAST: Gpu = Gpu {
        most_threads: [256, 256, 64],
        most_threads_in_all: 256,
        shared_bytes: 16 << 10,
        subgroup: None,
        int64: false,
        float64: false,
    };
}

/// An instruction set family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// x86-64.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
    /// Any other; only portable code is generated.
    Other,
}

impl Target {
    /// The machine that this runs on, with the widest vectors that code is generated for, and without a GPU: the one
    /// question to the environment that compiling asks. No pass asks it.
    pub fn host() -> Target {
        let arch = if cfg!(target_arch = "x86_64") {
            Arch::X86_64
        } else if cfg!(target_arch = "aarch64") {
            Arch::Aarch64
        } else {
            Arch::Other
        };
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let vector_bits = CpuFeatures::host().vector_bits();
        // Typical of current cores; nothing in std tells it.
        let cache_bytes = 1 << 20;
        Target { arch, vector_bits, features: None, threads, cache_bytes, gpu: None, budget: Budget::DEFAULT }
    }
    /// Returns the number of elements of `ty` that one vector register holds, at least 1, which `vectorize(x, natural)`
    /// uses.
    pub fn natural_lanes(&self, ty: ScalarType) -> i64 {
        i64::from((self.vector_bits / 8) / ty.bytes() as u32).max(1)
    }
}
