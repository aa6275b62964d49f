//! What code is compiled for: plain data.

use halide_core::types::ScalarType;

/// A machine, as far as lowering and schedules need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The instruction set family.
    pub arch: Arch,
    /// Width of the vector registers that generated code uses, in bits.
    pub vector_bits: u32,
    /// Number of threads that a parallel loop may use.
    pub threads: u32,
    /// Size of one core's private last-level cache in bytes.
    pub cache_bytes: u64,
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
    /// How many elements of `ty` one vector register holds, at least 1: what `vectorize(x, natural)` uses.
    pub fn natural_lanes(&self, ty: ScalarType) -> i64 {
        i64::from((self.vector_bits / 8) / ty.bytes() as u32).max(1)
    }
}
