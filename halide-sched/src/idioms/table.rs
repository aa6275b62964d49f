//! The table of idioms.

use super::pattern::Condition::*;
use super::pattern::Pattern::{self, *};
use super::pattern::{Condition, Idiom, Machine, Replacement, Root};
use halide_core::ops::BinOp::{Absd, BitAnd, Max, Min, Mul, Shr, Sub};
use halide_core::types::ScalarType::{self, *};
use halide_ir::Intrinsic;

/// The product of both operands.
const PRODUCT: Pattern = Binary(Mul, &[Wide(0), Wide(1)]);
/// The product of fractions of 15 bits, rounded: the product without its last 15 bits, and the first of these.
const ROUNDED_PRODUCT: Pattern =
    Sum(&[Binary(Shr, &[PRODUCT, Number(15)]), Binary(BitAnd, &[Binary(Shr, &[PRODUCT, Number(14)]), Number(1)])]);
const FRACTIONS: &[Condition] = &[Narrow(I16), ResultIsNarrow];

/// The idioms, in the order in which they are tried.
pub(crate) static IDIOMS: &[Idiom] = &[
    row("halving_add", Root::Value, Half(&Sum(&[Wide(0), Wide(1)])))
        .replaced_by(Replacement::Intrinsic(Intrinsic::HalvingAdd)),
    row("rounding_halving_add", Root::Value, Half(&Sum(&[Wide(0), Wide(1), Number(1)])))
        .replaced_by(Replacement::Intrinsic(Intrinsic::RoundingHalvingAdd))
        .on(&[machine(U8, "vpavgb"), machine(U16, "vpavgw")]),
    row("mul_high", Root::Value, Binary(Shr, &[PRODUCT, Bits]))
        .replaced_by(Replacement::Intrinsic(Intrinsic::MulHigh))
        .if_all(&[HoldsProducts])
        .on(&[machine(I16, "vpmulhw"), machine(U16, "vpmulhuw")]),
    row("absolute_difference", Root::Abs, Binary(Sub, &[Wide(0), Wide(1)]))
        .replaced_by(Replacement::Binary(Absd))
        .if_all(&[Signed]),
    row("saturating_add", Root::Saturate, Sum(&[Wide(0), Wide(1)]))
        .replaced_by(Replacement::Intrinsic(Intrinsic::SaturatingAdd))
        .if_all(&[ResultIsNarrow])
        .on(&[machine(I8, "vpaddsb"), machine(U8, "vpaddusb"), machine(I16, "vpaddsw"), machine(U16, "vpaddusw")]),
    row("saturating_sub", Root::Saturate, Binary(Sub, &[Wide(0), Wide(1)]))
        .replaced_by(Replacement::Intrinsic(Intrinsic::SaturatingSub))
        .if_all(&[ResultIsNarrow, Signed])
        .on(&[machine(I8, "vpsubsb"), machine(U8, "vpsubusb"), machine(I16, "vpsubsw"), machine(U16, "vpsubusw")]),
    row("mul_rounded", Root::Saturate, ROUNDED_PRODUCT)
        .replaced_by(Replacement::Intrinsic(Intrinsic::MulRounded))
        .if_all(FRACTIONS)
        .on(&[machine(I16, "vpmulhrsw")]),
    // Made wider only to be made narrow again.
    row("conversion_back", Root::Narrow, Wide(0)).replaced_by(Replacement::Operand),
    row("saturating_cast", Root::Narrow, Binary(Min, &[Binary(Max, &[Whole, Least]), Most]))
        .replaced_by(Replacement::Saturated)
        .if_all(&[ResultHasFewerBits]),
    row("saturating_cast", Root::Narrow, Binary(Max, &[Binary(Min, &[Whole, Most]), Least]))
        .replaced_by(Replacement::Saturated)
        .if_all(&[ResultHasFewerBits]),
    row("saturating_cast", Root::Narrow, Binary(Max, &[Whole, Least]))
        .replaced_by(Replacement::Saturated)
        .if_all(&[ResultHasFewerBits, AtMost]),
    row("saturating_cast", Root::Narrow, Binary(Min, &[Whole, Most]))
        .replaced_by(Replacement::Saturated)
        .if_all(&[ResultHasFewerBits, AtLeast]),
    row("mul_rounded", Root::Narrow, ROUNDED_PRODUCT)
        .replaced_by(Replacement::Intrinsic(Intrinsic::MulRounded))
        .if_all(&[Narrow(I16), ResultIsNarrow, AtMost]),
];

/// Idioms that are found when all others are: these know a product as one.
pub(crate) static PRODUCTS: &[Idiom] = &[row("widening_mul", Root::Value, PRODUCT)
    .replaced_by(Replacement::Intrinsic(Intrinsic::WideningMul))
    .if_all(&[TwiceAsWide])
    .on(&[machine(I32, "vpmuldq"), machine(U32, "vpmuludq")])];

const fn row(name: &'static str, root: Root, pattern: Pattern) -> Idiom {
    Idiom { name, root, pattern, replacement: Replacement::Operand, conditions: &[], machine: &[] }
}

const fn machine(narrow: ScalarType, mnemonic: &'static str) -> Machine {
    Machine { narrow, mnemonic }
}

impl Idiom {
    const fn replaced_by(mut self, replacement: Replacement) -> Idiom {
        self.replacement = replacement;
        self
    }
    const fn if_all(mut self, conditions: &'static [Condition]) -> Idiom {
        self.conditions = conditions;
        self
    }
    const fn on(mut self, machine: &'static [Machine]) -> Idiom {
        self.machine = machine;
        self
    }
}
