//! Every operator on every type, against `halide_core::value`.

use crate::check::*;
use crate::harness::*;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar, binary_type, unary_type};
use halide_ir::{Expr, Intrinsic, build, intrinsic};

const BINARY: [BinOp; 19] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Mod,
    BinOp::DivToZero,
    BinOp::ModToZero,
    BinOp::Min,
    BinOp::Max,
    BinOp::BitAnd,
    BinOp::BitOr,
    BinOp::BitXor,
    BinOp::Absd,
    BinOp::Eq,
    BinOp::Ne,
    BinOp::Lt,
    BinOp::Le,
    BinOp::Gt,
    BinOp::Ge,
];

const UNARY: [UnOp; 14] = [
    UnOp::Neg,
    UnOp::Not,
    UnOp::Abs,
    UnOp::Popcount,
    UnOp::Clz,
    UnOp::Ctz,
    UnOp::Floor,
    UnOp::Ceil,
    UnOp::Round,
    UnOp::Trunc,
    UnOp::Sqrt,
    UnOp::IsNan,
    UnOp::IsInf,
    UnOp::IsFinite,
];

#[test]
fn binary_operators() {
    for ty in ScalarType::ALL {
        let types = [ty, ty];
        let (x, y) = pairs(ty, ty, 1);
        let mut cases = Vec::new();
        for op in BINARY {
            let Some(out) = binary_type(op, ty) else { continue };
            cases.push(case(
                format!("{op:?} {ty}"),
                out,
                move |e| build::binary(op, e[0].clone(), e[1].clone()),
                move |v| value::binary(op, v[0], v[1]),
            ));
        }
        for lanes in [1, 4] {
            check(&types, &[x.clone(), y.clone()], &cases, lanes);
        }
    }
}

#[test]
fn unary_operators() {
    for ty in ScalarType::ALL {
        let (x, _) = pairs(ty, ty, 4);
        let mut cases = Vec::new();
        for op in UNARY {
            let Some(out) = unary_type(op, ty) else { continue };
            let make = move |e: &[Expr]| build::unary(op, e[0].clone());
            cases.push(case(format!("{op:?} {ty}"), out, make, move |v| value::unary(op, v[0])));
        }
        for lanes in [1, 4] {
            check(&[ty], std::slice::from_ref(&x), &cases, lanes);
        }
    }
}

#[test]
fn shifts() {
    for ty in ScalarType::ALL.into_iter().filter(|t| t.is_int()) {
        let amount = ScalarType::signed(ty.bits());
        let (x, mut y) = pairs(ty, amount, 2);
        // Most amounts are small.
        for (i, n) in y.iter_mut().enumerate() {
            if i % 3 == 0 {
                *n = Scalar::int(amount, (i as i128 / 3) % 140 - 70);
            }
        }
        let mut cases = Vec::new();
        for op in [BinOp::Shl, BinOp::Shr] {
            let make = move |e: &[Expr]| build::binary(op, e[0].clone(), e[1].clone());
            cases.push(case(format!("{op:?} {ty}"), ty, make, move |v| value::binary(op, v[0], v[1])));
            for n in [-70i128, -9, -1, 0, 1, 3, 7, 8, 15, 16, 31, 32, 63, 64] {
                let n = Scalar::int(amount, n);
                let make = move |e: &[Expr]| build::binary(op, e[0].clone(), build::constant(n));
                cases.push(case(format!("{op:?} {ty} {n}"), ty, make, move |v| value::binary(op, v[0], n)));
            }
        }
        check(&[ty, amount], &[x, y], &cases, 4);
    }
}

#[test]
fn division_by_constants() {
    for ty in ScalarType::ALL.into_iter().filter(|t| t.is_int()) {
        let (x, _) = pairs(ty, ty, 9);
        let mut divisors = edges(ty);
        divisors.extend([5, 6, 10, 60, 127, 128, 641].map(|v| Scalar::int(ty, v)));
        let mut cases = Vec::new();
        for d in divisors {
            for op in [BinOp::Div, BinOp::Mod, BinOp::DivToZero, BinOp::ModToZero] {
                let make = move |e: &[Expr]| build::binary(op, e[0].clone(), build::constant(d));
                cases.push(case(format!("{op:?} {ty} by {d}"), ty, make, move |v| value::binary(op, v[0], d)));
            }
        }
        check(&[ty], std::slice::from_ref(&x), &cases, 4);
    }
}

#[test]
fn float_operators_with_constants() {
    for ty in [F16, BF16, F32, F64] {
        let (x, _) = pairs(ty, ty, 14);
        let mut cases = Vec::new();
        for c in edges(ty) {
            for op in [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Min, BinOp::Max, BinOp::Lt, BinOp::Eq] {
                let out = binary_type(op, ty).unwrap();
                let make = move |e: &[Expr]| build::binary(op, e[0].clone(), build::constant(c));
                cases.push(case(format!("{op:?} {ty} {c}"), out, make, move |v| value::binary(op, v[0], c)));
                let make = move |e: &[Expr]| build::binary(op, build::constant(c), e[0].clone());
                cases.push(case(format!("{c} {op:?} {ty}"), out, make, move |v| value::binary(op, c, v[0])));
            }
        }
        check(&[ty], std::slice::from_ref(&x), &cases, 4);
    }
}

/// Operators that a compiler would fuse, reassociate or cancel if it could.
#[test]
fn chains_of_float_operators() {
    use BinOp::*;
    // Each is an operator on the first two operands, and one on its result and the third.
    let shapes: [(BinOp, BinOp, bool); 10] = [
        (Mul, Add, false),
        (Mul, Sub, false),
        (Mul, Sub, true),
        (Add, Sub, false),
        (Sub, Add, false),
        (Add, Add, true),
        (Mul, Mul, false),
        (Mul, Div, false),
        (Div, Mul, false),
        (Add, Lt, false),
    ];
    for ty in [F16, BF16, F32, F64] {
        let (x, y) = pairs(ty, ty, 15);
        let mut cases = Vec::new();
        for (first, second, swapped) in shapes {
            for third in [0usize, 1] {
                let make = move |e: &[Expr]| {
                    let inner = build::binary(first, e[0].clone(), e[1].clone());
                    let (a, b) = if swapped { (e[third].clone(), inner) } else { (inner, e[third].clone()) };
                    build::binary(second, a, b)
                };
                let meaning = move |v: &[Scalar]| {
                    let inner = value::binary(first, v[0], v[1]);
                    let (a, b) = if swapped { (v[third], inner) } else { (inner, v[third]) };
                    value::binary(second, a, b)
                };
                let out = binary_type(second, ty).unwrap();
                cases.push(case(format!("{first:?} {second:?} {swapped} {third} {ty}"), out, make, meaning));
            }
        }
        let negated = |op: BinOp| {
            let make = move |e: &[Expr]| build::not(build::binary(op, e[0].clone(), e[1].clone()));
            case(format!("not {op:?} {ty}"), Bool, make, move |v| {
                value::unary(UnOp::Not, value::binary(op, v[0], v[1]))
            })
        };
        cases.extend([Lt, Le, Gt, Ge].map(negated));
        let same = |op: BinOp| {
            let make = move |e: &[Expr]| build::binary(op, e[0].clone(), e[0].clone());
            let out = binary_type(op, ty).unwrap();
            case(format!("{op:?} of {ty} and itself"), out, make, move |v| value::binary(op, v[0], v[0]))
        };
        cases.extend([Add, Sub, Mul, Div, Mod, Min, Eq, Ne, Lt, Le, Ge].map(same));
        let same_sums = |op: BinOp| {
            let make = move |e: &[Expr]| {
                let sum = build::add(e[0].clone(), e[1].clone());
                build::binary(op, sum.clone(), sum)
            };
            let meaning = move |v: &[Scalar]| {
                let sum = value::binary(Add, v[0], v[1]);
                value::binary(op, sum, sum)
            };
            case(format!("{op:?} of a sum of {ty} and itself"), binary_type(op, ty).unwrap(), make, meaning)
        };
        cases.extend([Sub, Div, Eq, Le].map(same_sums));
        check(&[ty, ty], &[x, y], &cases, 4);
    }
}

#[test]
fn selects() {
    for ty in ScalarType::ALL {
        let (x, y) = pairs(ty, ty, 8);
        let cases = [
            case(
                format!("select {ty}"),
                ty,
                |e| build::select(build::lt(e[0].clone(), e[1].clone()), e[0].clone(), e[1].clone()),
                |v| value::select(value::binary(BinOp::Lt, v[0], v[1]), v[0], v[1]),
            ),
            case(
                format!("select {ty} by bool"),
                ty,
                |e| build::select(e[2].clone(), e[1].clone(), e[0].clone()),
                |v| value::select(v[2], v[1], v[0]),
            ),
            case(
                format!("select {ty} by both"),
                ty,
                |e| {
                    let both = build::and(build::not(e[2].clone()), build::le(e[0].clone(), e[1].clone()));
                    build::select(both, e[1].clone(), e[0].clone())
                },
                |v| {
                    let both = !v[2].as_bool() && value::binary(BinOp::Le, v[0], v[1]).as_bool();
                    value::select(Scalar::bool(both), v[1], v[0])
                },
            ),
        ];
        let truth: Vec<Scalar> = (0..x.len()).map(|i| Scalar::bool(i % 3 == 0)).collect();
        check(&[ty, ty, Bool], &[x, y, truth], &cases, 4);
    }
}

/// With 64-bit integers and without: high halves are computed in two ways.
#[test]
fn intrinsics() {
    let all = [
        Intrinsic::SaturatingAdd,
        Intrinsic::SaturatingSub,
        Intrinsic::HalvingAdd,
        Intrinsic::RoundingHalvingAdd,
        Intrinsic::MulHigh,
        Intrinsic::MulRounded,
        Intrinsic::WideningMul,
    ];
    for ty in ScalarType::ALL.into_iter().filter(|t| t.is_int()) {
        let (x, y) = pairs(ty, ty, 11);
        for int64 in [true, false] {
            let wide = |op: &Intrinsic| ty.bits() == 64 || (ty.bits() == 32 && *op == Intrinsic::WideningMul);
            let possible = |op: &Intrinsic| match op {
                Intrinsic::MulRounded => ty == I16,
                Intrinsic::WideningMul => (int64 || !wide(op)) && ty.bits() < 64,
                _ => int64 || !wide(op),
            };
            let cases: Vec<Case> = all
                .into_iter()
                .filter(possible)
                .map(|op| {
                    let out = intrinsic::apply(op, Scalar::zero(ty), Scalar::zero(ty)).ty();
                    let make = move |e: &[Expr]| build::intrinsic(op, e.to_vec());
                    case(format!("{op:?} {ty}"), out, make, move |v| intrinsic::apply(op, v[0], v[1]))
                })
                .collect();
            check_with(int64, &[ty, ty], &[x.clone(), y.clone()], &cases, 4);
        }
    }
}

/// Index arithmetic, as coordinates that become data again, where it fits.
#[test]
fn index_arithmetic() {
    let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Mod, BinOp::Min, BinOp::Max];
    let (x, y) = pairs(I16, I16, 13);
    let mut cases = Vec::new();
    let wide = |v: Scalar| value::cast(I32, v);
    for op in ops {
        let make = move |e: &[Expr]| {
            let result = build::binary(op, build::to_index(e[0].clone()), build::to_index(e[1].clone()));
            build::cast_data(I32, result)
        };
        cases.push(case(format!("{op:?} Index"), I32, make, move |v| value::binary(op, wide(v[0]), wide(v[1]))));
        for d in [-7i64, 0, 1, 3, 8] {
            let make = move |e: &[Expr]| {
                let x = build::to_index(e[0].clone());
                let d = build::broadcast(build::int(d), x.lanes());
                build::cast_data(I32, build::binary(op, x, d))
            };
            let meaning = move |v: &[Scalar]| value::binary(op, wide(v[0]), Scalar::from(d as i32));
            cases.push(case(format!("{op:?} Index {d}"), I32, make, meaning));
        }
    }
    check(&[I16, I16], &[x, y], &cases, 4);
}
