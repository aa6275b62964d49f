//! In which types of the shader language values are computed.

use crate::error::Feature;
use halide_core::types::ScalarType;
use halide_ir::Elem;
use naga::{Scalar, ScalarKind};

/// A type of values in shaders: a *register* type, in the sense that a value of a narrow type lives in a wider
/// register.
///
/// Integers of 8 and 16 bits are kept sign- or zero-extended to 32 bits. 16-bit floats are kept as their bits, in a
/// `U32`. An Index is an `I32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reg {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Reg {
    /// Returns the register type for values of a data type.
    pub(super) fn of_type(ty: ScalarType) -> Reg {
        use ScalarType::*;
        match ty {
            Bool => Reg::Bool,
            I8 | I16 | I32 => Reg::I32,
            U8 | U16 | U32 | F16 | BF16 => Reg::U32,
            I64 => Reg::I64,
            U64 => Reg::U64,
            F32 => Reg::F32,
            F64 => Reg::F64,
        }
    }
    /// Returns the register type for lanes of a kind.
    pub(super) fn of_elem(elem: Elem) -> Reg {
        match elem {
            Elem::Index => Reg::I32,
            Elem::Data(ty) => Reg::of_type(ty),
        }
    }
    /// The shader language's name for it.
    pub(super) fn scalar(self) -> Scalar {
        let (kind, width) = match self {
            Reg::Bool => (ScalarKind::Bool, 1),
            Reg::I32 => (ScalarKind::Sint, 4),
            Reg::U32 => (ScalarKind::Uint, 4),
            Reg::I64 => (ScalarKind::Sint, 8),
            Reg::U64 => (ScalarKind::Uint, 8),
            Reg::F32 => (ScalarKind::Float, 4),
            Reg::F64 => (ScalarKind::Float, 8),
        };
        Scalar { kind, width }
    }
    /// Width in bits; a Bool has 1.
    pub(super) fn bits(self) -> u32 {
        match self {
            Reg::Bool => 1,
            Reg::I32 | Reg::U32 | Reg::F32 => 32,
            Reg::I64 | Reg::U64 | Reg::F64 => 64,
        }
    }
    /// I32 or I64.
    pub(super) fn is_signed(self) -> bool {
        matches!(self, Reg::I32 | Reg::I64)
    }
    /// F32 or F64.
    pub(super) fn is_float(self) -> bool {
        matches!(self, Reg::F32 | Reg::F64)
    }
    /// The unsigned integer of this width, which is also that of the bits of a float.
    pub(super) fn unsigned(self) -> Reg {
        if self.bits() == 64 { Reg::U64 } else { Reg::U32 }
    }
    /// The signed integer of this width.
    pub(super) fn signed(self) -> Reg {
        if self.bits() == 64 { Reg::I64 } else { Reg::I32 }
    }
    /// The name of functions on it: `u32`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Reg::Bool => "bool",
            Reg::I32 => "i32",
            Reg::U32 => "u32",
            Reg::I64 => "i64",
            Reg::U64 => "u64",
            Reg::F32 => "f32",
            Reg::F64 => "f64",
        }
    }
}

/// Returns the features that a device needs to compute in a type, in the order in which a missing one is reported. The
/// bits of an f64 are those of a 64-bit integer in memory.
pub(super) fn needed(ty: ScalarType) -> &'static [Feature] {
    match ty {
        ScalarType::I64 | ScalarType::U64 => &[Feature::Int64],
        ScalarType::F64 => &[Feature::Float64, Feature::Int64],
        _ => &[],
    }
}
