//! The types of lanes in registers.

use cranelift_codegen::ir::{Type, types};
use halide_core::types::ScalarType;
use halide_ir::Elem;

/// The type of one lane in a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Lane {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Lane {
    /// The lane of an element kind.
    pub(crate) fn of_elem(elem: Elem) -> Lane {
        Lane::of_data(data(elem))
    }
    /// The lane of a data type.
    pub(crate) fn of_data(ty: ScalarType) -> Lane {
        match ty {
            ScalarType::F32 => Lane::F32,
            ScalarType::F64 => Lane::F64,
            _ => Lane::int(ty.bits()),
        }
    }
    /// The integer lane of a width (8 or less, 16, 32 or 64).
    pub(crate) fn int(bits: u32) -> Lane {
        match bits {
            0..=8 => Lane::I8,
            9..=16 => Lane::I16,
            17..=32 => Lane::I32,
            _ => Lane::I64,
        }
    }
    /// The integer lane of the same width.
    pub(crate) fn as_int(self) -> Lane {
        Lane::int(self.bits())
    }
    /// Width in bits.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Lane::I8 => 8,
            Lane::I16 => 16,
            Lane::I32 | Lane::F32 => 32,
            Lane::I64 | Lane::F64 => 64,
        }
    }
    /// Width in bytes.
    pub(crate) fn bytes(self) -> usize {
        self.bits() as usize / 8
    }
    /// Returns true if it is a float lane.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Lane::F32 | Lane::F64)
    }
    /// The Cranelift type of one lane.
    pub(crate) fn scalar(self) -> Type {
        match self {
            Lane::I8 => types::I8,
            Lane::I16 => types::I16,
            Lane::I32 => types::I32,
            Lane::I64 => types::I64,
            Lane::F32 => types::F32,
            Lane::F64 => types::F64,
        }
    }
    /// The Cranelift type of a 128-bit part.
    pub(crate) fn vector(self) -> Type {
        match self {
            Lane::I8 => types::I8X16,
            Lane::I16 => types::I16X8,
            Lane::I32 => types::I32X4,
            Lane::I64 => types::I64X2,
            Lane::F32 => types::F32X4,
            Lane::F64 => types::F64X2,
        }
    }
    /// The type of each part of a value of `lanes` lanes.
    pub(crate) fn part(self, lanes: u16) -> Type {
        if lanes == 1 { self.scalar() } else { self.vector() }
    }
    /// Lanes in a part.
    pub(crate) fn per_part(self) -> usize {
        128 / self.bits() as usize
    }
    /// Parts that hold `lanes` lanes.
    pub(crate) fn parts(self, lanes: u16) -> usize {
        if lanes == 1 { 1 } else { (lanes as usize).div_ceil(self.per_part()) }
    }
}

/// The data type that computes as `elem` does: Index is I64.
pub(crate) fn data(elem: Elem) -> ScalarType {
    match elem {
        Elem::Index => ScalarType::I64,
        Elem::Data(ty) => ty,
    }
}
