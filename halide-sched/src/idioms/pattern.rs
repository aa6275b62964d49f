//! Patterns of integer arithmetic, and rows of the table of idioms.

use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_ir::Intrinsic;

/// A pattern of integers of one wide type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pattern {
    /// The operand of this number, of the narrow type, made wider; the same wherever it stands.
    Wide(usize),
    /// An operand of the wide type.
    Whole,
    /// A constant.
    Number(i128),
    /// The number of bits of the narrow type.
    Bits,
    /// The least value of the result's type.
    Least,
    /// The largest value of the result's type.
    Most,
    /// A sum, in any order.
    Sum(&'static [Pattern]),
    /// An operator of two operands, in either order where it commutes.
    Binary(BinOp, &'static [Pattern; 2]),
    /// Half of a value, rounded down: a quotient or a shift.
    Half(&'static Pattern),
}

/// The operation around a pattern, which leaves the wide type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// None: the result has the wide type.
    Value,
    /// The absolute value.
    Abs,
    /// The conversion to a type.
    Narrow,
    /// The conversion that clamps to a type.
    Saturate,
}

/// The replacement of a pattern, which is converted to the type of the result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Replacement {
    /// An intrinsic of both operands.
    Intrinsic(Intrinsic),
    /// An operator of both operands.
    Binary(BinOp),
    /// The operand of the wide type, clamped.
    Saturated,
    /// The operand.
    Operand,
}

/// A condition on the types of a pattern, or on the values in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The wide type is signed: an unsigned difference wraps around.
    Signed,
    /// The wide type holds the product of any two operands.
    HoldsProducts,
    /// The wide type has twice the bits of the narrow one.
    TwiceAsWide,
    /// Operands are of this type.
    Narrow(ScalarType),
    /// The result has the type of the operands.
    ResultIsNarrow,
    /// The result has fewer bits than the wide type.
    ResultHasFewerBits,
    /// The value that is converted is at most the largest one of the result's type.
    AtMost,
    /// The value that is converted is at least the least one of the result's type.
    AtLeast,
}

/// A machine instruction for the replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// The type of the operands.
    pub(crate) narrow: ScalarType,
    /// The instruction, as assemblers write it.
    pub(crate) mnemonic: &'static str,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idiom {
    /// The name of what the replacement computes.
    pub(crate) name: &'static str,
    /// The operation around the pattern.
    pub(crate) root: Root,
    /// The pattern: the meaning.
    pub(crate) pattern: Pattern,
    /// The replacement.
    pub(crate) replacement: Replacement,
    /// The conditions under which both are the same.
    pub(crate) conditions: &'static [Condition],
    /// The machine instructions.
    pub(crate) machine: &'static [Machine],
}

/// The types of a pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types {
    /// The type of operands.
    pub(crate) narrow: ScalarType,
    /// The type that these are widened to.
    pub(crate) wide: ScalarType,
    /// The type of the result.
    pub(crate) result: ScalarType,
}

impl Idiom {
    /// Returns true if types meet the conditions on them.
    pub(super) fn takes(&self, types: Types) -> bool {
        let Types { narrow, wide, result } = types;
        let same_sign = wide.is_signed_int() == narrow.is_signed_int();
        self.conditions.iter().all(|condition| match condition {
            Condition::Signed => wide.is_signed_int(),
            Condition::HoldsProducts => {
                wide.bits() > 2 * narrow.bits() || (wide.bits() == 2 * narrow.bits() && same_sign)
            }
            Condition::TwiceAsWide => wide.bits() == 2 * narrow.bits(),
            Condition::Narrow(ty) => narrow == *ty,
            Condition::ResultIsNarrow => result == narrow,
            Condition::ResultHasFewerBits => result.bits() < wide.bits(),
            Condition::AtMost | Condition::AtLeast => true,
        })
    }
}

/// Returns true if every value of `narrow` is one of the wider type `wide`.
pub(super) fn widens(narrow: ScalarType, wide: ScalarType) -> bool {
    let ints = narrow.is_int() && wide.is_int() && wide.bits() > narrow.bits();
    ints && narrow.int_min() >= wide.int_min() && narrow.int_max() <= wide.int_max()
}
