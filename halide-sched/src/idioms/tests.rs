//! Each row of the table against the values of its operands, and in loop IR.

use super::pattern::{Condition, Idiom, Pattern, Replacement, Root, Types, widens};
use super::{IDIOMS, PRODUCTS, replace};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_ir::{BufId, Expr, build, intrinsic};
use halide_solve::simplify::Facts;

const INTS: [ScalarType; 8] = [U8, U16, U32, U64, I8, I16, I32, I64];

/// All rows that take some types, with each of these.
fn rows() -> impl Iterator<Item = (&'static Idiom, Types)> {
    let types = INTS.into_iter().flat_map(|narrow| {
        let wides = INTS.into_iter().filter(move |wide| widens(narrow, *wide));
        wides.flat_map(move |wide| INTS.into_iter().map(move |result| Types { narrow, wide, result }))
    });
    let fits = |row: &Idiom, types: Types| {
        // The result of a conversion is of any type; of others, it is said by the operation.
        let result = match row.root {
            Root::Value => types.wide,
            Root::Abs => ScalarType::unsigned(types.wide.bits()),
            Root::Narrow | Root::Saturate => types.result,
        };
        // An operand of the wide type has no narrow one.
        let narrow = if matches!(row.replacement, Replacement::Saturated) { types.result } else { types.narrow };
        let is_converted = !matches!(row.root, Root::Narrow | Root::Saturate) || types.result != types.wide;
        row.takes(types) && types.result == result && types.narrow == narrow && is_converted
    };
    let all = IDIOMS.iter().chain(PRODUCTS);
    all.flat_map(move |row| types.clone().filter(move |types| fits(row, *types)).map(move |types| (row, types)))
}

/// All values of 8 bits, or the ends, the middle and what is beside them.
fn values(ty: ScalarType) -> Vec<Scalar> {
    if ty.bits() == 8 {
        return (0..256).map(|bits| Scalar::from_bits(ty, bits)).collect();
    }
    let powers = (0..ty.bits()).map(|n| 1i128 << n);
    let near = powers.flat_map(|p| [-p - 1, -p, -p + 1, p - 1, p, p + 1, p + 12_345]);
    let mut all: Vec<Scalar> = near.map(|v| Scalar::int(ty, v)).collect();
    all.sort_by_key(|v| v.as_i128());
    all.dedup_by_key(|v| v.as_i128());
    all
}

/// The value of a pattern, in the wide type.
fn meant(pattern: &Pattern, types: Types, operands: [Scalar; 2]) -> Scalar {
    let number = |v: i128| Scalar::int(types.wide, v);
    let of = |pattern: &Pattern| meant(pattern, types, operands);
    match pattern {
        Pattern::Wide(n) => value::cast(types.wide, operands[*n]),
        Pattern::Whole => operands[0],
        Pattern::Number(v) => number(*v),
        Pattern::Bits => number(types.narrow.bits().into()),
        Pattern::Least => number(types.result.int_min().unwrap()),
        Pattern::Most => number(types.result.int_max().unwrap()),
        Pattern::Sum(terms) => terms.iter().map(of).reduce(|a, b| value::binary(BinOp::Add, a, b)).unwrap(),
        Pattern::Binary(op, [a, b]) => value::binary(*op, of(a), of(b)),
        Pattern::Half(inner) => value::binary(BinOp::Shr, of(inner), number(1)),
    }
}

fn replaced(replacement: Replacement, types: Types, [a, b]: [Scalar; 2]) -> Scalar {
    let made = match replacement {
        Replacement::Intrinsic(op) => intrinsic::apply(op, a, b),
        Replacement::Binary(op) => value::binary(op, a, b),
        Replacement::Saturated => value::saturating_cast(types.result, a),
        Replacement::Operand => a,
    };
    value::cast(types.result, made)
}

/// Returns true if a limit of the result's type is a value of the wide type, as the pattern has it.
fn has_limits(row: &Idiom, types: Types) -> bool {
    let is_one = |limit: Option<i128>| limit.is_some_and(|v| Scalar::int(types.wide, v).as_i128() == v);
    !matches!(row.replacement, Replacement::Saturated)
        || is_one(types.result.int_min()) && is_one(types.result.int_max())
}

/// The replacement has the value of the pattern wherever the conditions hold: for all operands of 8 bits, and for the
/// corners of wider ones.
#[test]
fn replacements_mean_their_patterns() {
    let mut compared = 0u64;
    for (row, types) in rows().filter(|(row, types)| has_limits(row, *types)) {
        let is_whole = matches!(row.replacement, Replacement::Saturated);
        let first = values(if is_whole { types.wide } else { types.narrow });
        let second = if is_whole { vec![first[0]] } else { values(types.narrow) };
        for a in &first {
            for b in &second {
                let inner = meant(&row.pattern, types, [*a, *b]);
                let holds = row.conditions.iter().all(|condition| match condition {
                    Condition::AtMost => inner.as_i128() <= types.result.int_max().unwrap(),
                    Condition::AtLeast => inner.as_i128() >= types.result.int_min().unwrap(),
                    _ => true,
                });
                if !holds {
                    continue;
                }
                let expected = match row.root {
                    Root::Value | Root::Narrow => value::cast(types.result, inner),
                    Root::Abs => value::cast(types.result, value::unary(UnOp::Abs, inner)),
                    Root::Saturate => value::saturating_cast(types.result, inner),
                };
                let made = replaced(row.replacement, types, [*a, *b]);
                assert_eq!(made, expected, "{} of {a:?} and {b:?} in {types:?}", row.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 1_000_000, "{compared} compared");
}

/// The pattern of a row as loop IR.
fn in_loops(pattern: &Pattern, types: Types, operands: &[Expr; 2], divides: bool) -> Expr {
    let number = |v: i128| build::broadcast(build::constant(Scalar::int(types.wide, v)), 8);
    let of = |pattern: &Pattern| in_loops(pattern, types, operands, divides);
    match pattern {
        Pattern::Wide(n) => build::cast_data(types.wide, operands[*n].clone()),
        // So that both sides are known to be in range.
        Pattern::Whole => build::max(build::min(operands[0].clone(), number(100)), number(1)),
        Pattern::Number(v) => number(*v),
        Pattern::Bits => number(types.narrow.bits().into()),
        Pattern::Least => number(types.result.int_min().unwrap()),
        Pattern::Most => number(types.result.int_max().unwrap()),
        Pattern::Sum(terms) => terms.iter().rev().map(of).reduce(build::add).unwrap(),
        Pattern::Binary(op, [a, b]) => build::binary(*op, of(a), of(b)),
        Pattern::Half(inner) if divides => build::binary(BinOp::Div, of(inner), number(2)),
        Pattern::Half(inner) => build::binary(BinOp::Shr, of(inner), number(1)),
    }
}

/// Each row is found where it stands in loop IR, whatever the order of terms; none stands behind one that takes all of
/// its patterns for something else.
#[test]
fn rows_are_found_in_loop_ir() {
    let load =
        |buf: u32, ty: ScalarType| build::load(BufId(buf), ty, build::ramp(build::int(0), build::int(1), 8), None);
    for (row, types) in rows().filter(|(row, types)| has_limits(row, *types)) {
        let is_whole = matches!(row.replacement, Replacement::Saturated);
        let ty = if is_whole { types.wide } else { types.narrow };
        // A product by a small number is known to be no larger than any of its operands.
        let small = build::broadcast(build::constant(Scalar::int(types.narrow, 7)), 8);
        let second = if row.conditions.contains(&Condition::AtMost) { small } else { load(1, types.narrow) };
        let operands = [load(0, ty), second];
        for divides in [false, true] {
            let inner = in_loops(&row.pattern, types, &operands, divides);
            let e = match row.root {
                Root::Value => inner,
                Root::Abs => build::unary(UnOp::Abs, inner),
                Root::Narrow => build::cast_data(types.result, inner),
                Root::Saturate => build::saturating_cast(types.result, inner),
            };
            let table = if IDIOMS.iter().any(|other| other.name == row.name) { IDIOMS } else { PRODUCTS };
            let made = replace(table, &e, &Facts::new());
            let Some(made) = made else { panic!("{} is not found in {e} ({types:?})", row.name) };
            let text = made.to_string();
            match row.replacement {
                Replacement::Intrinsic(_) => assert!(text.contains(&format!("{}(", row.name)), "{}: {text}", row.name),
                Replacement::Binary(_) => assert!(text.contains("absd("), "{}: {text}", row.name),
                Replacement::Saturated => assert!(text.contains("saturating"), "{}: {text}", row.name),
                Replacement::Operand => assert_eq!(made, build::cast_data(types.result, operands[0].clone())),
            }
        }
    }
}
