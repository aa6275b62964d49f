//! One scalar value, and the exact meaning of every operator on it: the interpreter, the IR evaluator and constant
//! folding all call the functions here, so that they cannot disagree.

use crate::types::ScalarType;

/// A typed scalar: the type and its bits, zero-extended to 64. Equality is of type and bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scalar {
    ty: ScalarType,
    bits: u64,
}

impl Scalar {
    /// The scalar of type `ty` with the low bits of `bits` (as many as the type has).
    pub fn from_bits(ty: ScalarType, bits: u64) -> Scalar {
        let mask = if ty.bits() == 64 { u64::MAX } else { (1u64 << ty.bits()) - 1 };
        Scalar { ty, bits: bits & mask }
    }
    /// Its type.
    pub fn ty(self) -> ScalarType {
        self.ty
    }
    /// Its bits, zero-extended.
    pub fn bits(self) -> u64 {
        self.bits
    }
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{:#x}", self.ty, self.bits)
    }
}
