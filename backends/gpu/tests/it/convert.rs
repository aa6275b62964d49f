//! Every conversion of every type, against `halide_core::value`.

use crate::check::*;
use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use halide_ir::{Expr, build};

#[test]
fn conversions() {
    for from in ScalarType::ALL {
        let (mut x, _) = pairs(from, from, 5);
        let mut r = SplitMix(6);
        while x.len() < 4096 {
            x.push(random(from, &mut r));
        }
        let mut cases = Vec::new();
        for to in ScalarType::ALL {
            cases.push(case(
                format!("{from} to {to}"),
                to,
                move |e| build::cast_data(to, e[0].clone()),
                move |v| value::cast(to, v[0]),
            ));
            cases.push(case(
                format!("{from} saturated to {to}"),
                to,
                move |e| build::saturating_cast(to, e[0].clone()),
                move |v| value::saturating_cast(to, v[0]),
            ));
            if to.bits() == from.bits() {
                cases.push(case(
                    format!("bits of {from} as {to}"),
                    to,
                    move |e| build::reinterpret(to, e[0].clone()),
                    move |v| value::reinterpret(to, v[0]),
                ));
            }
        }
        if from.is_int() && from.bits() <= 32 {
            cases.push(case(
                format!("{from} by way of Index"),
                from,
                move |e| build::cast_data(from, build::to_index(e[0].clone())),
                |v| v[0],
            ));
        }
        check(&[from], std::slice::from_ref(&x), &cases, 4);
    }
}

/// Every 16-bit float to f32 and back, and to the other.
#[test]
fn all_small_floats() {
    use ScalarType::*;
    for from in [F16, BF16] {
        let x: Vec<_> = (0..=u16::MAX).map(|bits| Scalar::from_bits(from, bits.into())).collect();
        let cases: Vec<Case> = [F16, BF16, F32, F64, I16, U8]
            .into_iter()
            .map(|to| {
                let name = format!("{from} to {to}");
                case(name, to, move |e| build::cast_data(to, e[0].clone()), move |v| value::cast(to, v[0]))
            })
            .collect();
        check(&[from], std::slice::from_ref(&x), &cases, 4);
    }
}

/// Comparisons of widened integers with constants, which drivers like to narrow again.
#[test]
fn comparisons_of_widened_integers() {
    use ScalarType::*;
    for (from, to) in [(I32, I64), (U32, I64), (U32, U64), (I32, U64), (I16, I64), (U8, U64), (I16, I32), (U8, I16)] {
        let (x, _) = pairs(from, from, 18);
        let mut cases = Vec::new();
        for c in edges(to) {
            for op in [BinOp::Lt, BinOp::Ge, BinOp::Eq, BinOp::Min, BinOp::Max] {
                let out = value::binary_type(op, to).unwrap();
                let make = move |e: &[Expr]| build::binary(op, build::cast_data(to, e[0].clone()), build::constant(c));
                let meaning = move |v: &[Scalar]| value::binary(op, value::cast(to, v[0]), c);
                cases.push(case(format!("{to} of {from} {op:?} {c}"), out, make, meaning));
            }
        }
        check(&[from], std::slice::from_ref(&x), &cases, 4);
    }
}
