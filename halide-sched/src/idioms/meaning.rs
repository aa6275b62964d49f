//! The meaning of an idiom as the algorithm that a user would write.

use super::pattern::{Condition, Idiom, Pattern, Root, Types, widens};
use halide_core::expr::dynamic::{binary, constant, saturating_cast_to, unary};
use halide_core::expr::{Expr, IntoExpr, cast_to};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

impl Idiom {
    /// Returns the types of the pattern for operands of type `narrow`: each wide type that users would write, the one
    /// of twice the bits first.
    pub(crate) fn types(&self, narrow: ScalarType) -> impl Iterator<Item = Types> {
        let twice = 2 * narrow.bits();
        let signs = |bits: u32| [narrow.is_signed_int(), !narrow.is_signed_int()].map(|signed| (bits, signed));
        let wides = signs(twice).into_iter().chain(signs(32).into_iter().filter(move |(bits, _)| *bits > twice));
        let types = wides.filter(|(bits, _)| *bits <= 64).map(move |(bits, signed)| {
            let wide = if signed { ScalarType::signed(bits) } else { ScalarType::unsigned(bits) };
            let result = if self.conditions.contains(&Condition::TwiceAsWide) { wide } else { narrow };
            Types { narrow, wide, result }
        });
        types.filter(|types| widens(types.narrow, types.wide) && self.takes(*types))
    }
    /// Returns the value that the idiom computes of its operands: the pattern, converted to the result's type.
    pub(crate) fn meaning(&self, types: Types, operands: &[Expr; 2]) -> Expr {
        let inner = written(&self.pattern, types, operands);
        match self.root {
            Root::Value | Root::Narrow => cast_to(types.result, inner),
            Root::Abs => cast_to(types.result, unary(UnOp::Abs, inner)),
            Root::Saturate => saturating_cast_to(types.result, inner),
        }
    }
}

fn written(pattern: &Pattern, types: Types, operands: &[Expr; 2]) -> Expr {
    // A literal takes the type of what it stands beside.
    let number = |v: i128| i32::try_from(v).map_or_else(|_| constant(Scalar::int(types.wide, v)), i32::expr);
    let of = |pattern: &Pattern| written(pattern, types, operands);
    match pattern {
        Pattern::Wide(n) => cast_to(types.wide, operands[*n]),
        Pattern::Whole => operands[0],
        Pattern::Number(v) => number(*v),
        Pattern::Bits => number(types.narrow.bits().into()),
        Pattern::Least => number(types.result.int_min().unwrap_or(0)),
        Pattern::Most => number(types.result.int_max().unwrap_or(0)),
        Pattern::Sum(terms) => {
            let mut terms = terms.iter().map(of);
            let first = terms.next().unwrap_or_else(|| number(0));
            terms.fold(first, |sum, term| binary(BinOp::Add, sum, term))
        }
        Pattern::Binary(op, [a, b]) => binary(*op, of(a), of(b)),
        Pattern::Half(inner) => binary(BinOp::Shr, of(inner), number(1)),
    }
}
