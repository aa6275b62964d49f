//! Every operator on every type in every number of lanes.

use crate::harness::*;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_ir::{BufId, Expr, ForKind, Intrinsic, Sym, build};

type Make = Box<dyn Fn(&[Expr]) -> Expr>;
type Meaning = Box<dyn Fn(&[Scalar]) -> Scalar>;

/// One output: how it is computed, and what it should be.
struct Case {
    name: String,
    ty: ScalarType,
    make: Make,
    meaning: Meaning,
}

fn case(
    name: String,
    ty: ScalarType,
    make: impl Fn(&[Expr]) -> Expr + 'static,
    meaning: impl Fn(&[Scalar]) -> Scalar + 'static,
) -> Case {
    Case { name, ty, make: Box::new(make), meaning: Box::new(meaning) }
}

/// Computes every case on every tuple of operands, `lanes` at a time, for every family of vector instructions: a loop
/// for each case.
fn check(types: &[ScalarType], operands: &[Vec<Scalar>], cases: &[Case], lanes: u16) {
    let count = operands[0].len();
    let chunks = count / lanes as usize;
    let outputs: Vec<ScalarType> = cases.iter().map(|c| c.ty).collect();
    let mut p = program(types, &outputs);
    let loops = cases.iter().enumerate().map(|(i, c)| {
        let id = p.loops.push(c.name.clone().into());
        let index = dense(build::mul(build::loop_var(id), build::int(i64::from(lanes))), lanes);
        let loaded: Vec<Expr> =
            types.iter().enumerate().map(|(i, ty)| build::load(BufId(i as u32), *ty, index.clone(), None)).collect();
        let body = store(BufId((types.len() + i) as u32), index, (c.make)(&loaded));
        build::for_loop(id, ForKind::Serial, build::int(0), build::int(chunks as i64), body)
    });
    p.body = build::block(loops.collect::<Vec<_>>());
    let inputs: Vec<_> = types.iter().zip(operands).map(|(ty, v)| buffer(*ty, v)).collect();
    let sizes: Vec<_> = outputs.iter().map(|ty| (*ty, count)).collect();
    for tier in tiers() {
        let code = compiled_for(tier, &p);
        let (results, _) = run(&code, &[], &inputs, &sizes).unwrap();
        for (c, result) in cases.iter().zip(&results) {
            for i in 0..chunks * lanes as usize {
                let args: Vec<Scalar> = operands.iter().map(|v| v[i]).collect();
                let (expected, got) = ((c.meaning)(&args), result[i]);
                assert!(got.same(expected), "{tier:?} {} x{lanes} of {args:?}: {got:?}, not {expected:?}", c.name);
            }
        }
    }
}

const BINARY: [BinOp; 20] = [
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
    BinOp::Shl,
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

/// The type that `f` gives for operands of `types`.
fn result_type(types: &[ScalarType], f: &dyn Fn(&[Scalar]) -> Scalar) -> ScalarType {
    let zeros: Vec<Scalar> = types.iter().map(|t| Scalar::zero(*t)).collect();
    f(&zeros).ty()
}

#[test]
fn binary_operators() {
    for ty in ScalarType::ALL {
        let types = [ty, ty];
        let (x, y) = pairs(ty, ty, 1);
        let mut cases = Vec::new();
        for op in BINARY.into_iter().filter(|op| *op != BinOp::Shl) {
            let meaning = move |v: &[Scalar]| value::binary(op, v[0], v[1]);
            let out = result_type(&types, &meaning);
            // A bitwise operator on a bool gives a bool; the constructor agrees with `value` on all result types.
            cases.push(case(
                format!("{op:?} {ty}"),
                out,
                move |e| build::binary(op, e[0].clone(), e[1].clone()),
                meaning,
            ));
        }
        for lanes in LANES {
            check(&types, &[x.clone(), y.clone()], &cases, lanes);
        }
    }
}

#[test]
fn shifts() {
    for ty in ScalarType::ALL.into_iter().filter(|t| t.bits() > 1) {
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
            let meaning = move |v: &[Scalar]| value::binary(op, v[0], v[1]);
            cases.push(case(
                format!("{op:?} {ty}"),
                ty,
                move |e| build::binary(op, e[0].clone(), e[1].clone()),
                meaning,
            ));
            for n in [-70i128, -9, -1, 0, 1, 3, 7, 8, 15, 16, 31, 32, 63, 64] {
                let n = Scalar::int(amount, n);
                let make = move |e: &[Expr]| build::binary(op, e[0].clone(), build::constant(n));
                cases.push(case(format!("{op:?} {ty} {n}"), ty, make, move |v| value::binary(op, v[0], n)));
            }
        }
        for lanes in LANES {
            check(&[ty, amount], &[x.clone(), y.clone()], &cases, lanes);
        }
    }
}

#[test]
fn shifts_by_one_amount_for_all_lanes() {
    for ty in ScalarType::ALL.into_iter().filter(|t| t.is_int()) {
        let amount = ScalarType::signed(ty.bits());
        let lanes = 32;
        let mut p = program(&[ty, amount], &[ty, ty]);
        let amounts: Vec<Scalar> = edges(amount).into_iter().chain((-70..70).map(|n| Scalar::int(amount, n))).collect();
        let (x, _) = pairs(ty, ty, 3);
        let values: Vec<Scalar> = (0..amounts.len() * lanes).map(|i| x[i % x.len()]).collect();
        p.body = serial(&mut p, build::int(amounts.len() as i64), |v| {
            let n = build::load(BufId(1), amount, v.clone(), None);
            let index = dense(build::mul(v, build::int(lanes as i64)), lanes as u16);
            let x = build::load(BufId(0), ty, index.clone(), None);
            let shift = |op, to| store(BufId(to), index.clone(), build::binary(op, x.clone(), n.clone()));
            build::block([shift(BinOp::Shl, 2), shift(BinOp::Shr, 3)])
        });
        let inputs = [buffer(ty, &values), buffer(amount, &amounts)];
        let (results, _) = run_everywhere(&p, &[], &inputs, &[(ty, values.len()); 2]).unwrap();
        for (i, v) in values.iter().enumerate() {
            for (op, result) in [BinOp::Shl, BinOp::Shr].into_iter().zip(&results) {
                let n = amounts[i / lanes];
                assert_eq!(result[i], value::binary(op, *v, n), "{op:?} {v:?} {n:?}");
            }
        }
    }
}

#[test]
fn unary_operators() {
    for ty in ScalarType::ALL {
        let (x, _) = pairs(ty, ty, 4);
        let mut cases = Vec::new();
        for op in UNARY {
            let meaning = move |v: &[Scalar]| value::unary(op, v[0]);
            let out = result_type(&[ty], &meaning);
            cases.push(case(format!("{op:?} {ty}"), out, move |e| build::unary(op, e[0].clone()), meaning));
        }
        for lanes in LANES {
            check(&[ty], std::slice::from_ref(&x), &cases, lanes);
        }
    }
}

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
        if from.is_int() {
            cases.push(case(
                format!("{from} by way of Index"),
                from,
                move |e| build::cast_data(from, build::to_index(e[0].clone())),
                |v| v[0],
            ));
        }
        for lanes in LANES {
            check(&[from], std::slice::from_ref(&x), &cases, lanes);
        }
    }
}

/// Conversions leave out fix-ups if their operand was clamped before; that must not change results.
#[test]
fn conversions_of_known_ranges() {
    for from in ScalarType::ALL.into_iter().filter(|t| t.bits() > 1) {
        let (x, _) = pairs(from, from, 7);
        let mut cases = Vec::new();
        for to in ScalarType::ALL.into_iter().filter(|t| t.is_int()) {
            for (low, high) in
                [(0i128, 255i128), (-128, 127), (0, 65535), (-32768, 32767), (5, 100), (0, i128::from(u32::MAX))]
            {
                let (low, high) = (value::saturating_cast(from, Scalar::from(low as i64)), {
                    value::saturating_cast(from, Scalar::from(high as i64))
                });
                let make = move |e: &[Expr]| {
                    let clamped = build::max(build::min(e[0].clone(), build::constant(high)), build::constant(low));
                    build::cast_data(to, clamped)
                };
                let meaning = move |v: &[Scalar]| {
                    let clamped = value::binary(BinOp::Max, value::binary(BinOp::Min, v[0], high), low);
                    value::cast(to, clamped)
                };
                cases.push(case(format!("{from} in {low}..={high} to {to}"), to, make, meaning));
            }
        }
        for lanes in [1, 3, 16, 17, 32, 48, 64] {
            check(&[from], std::slice::from_ref(&x), &cases, lanes);
        }
    }
}

/// A float that is not zero is true, also where it truncates to zero: its range says nothing of the truth.
#[test]
fn truths_of_fractions() {
    for from in ScalarType::ALL.into_iter().filter(|t| t.is_float()) {
        let (x, _) = pairs(from, from, 9);
        let limits = [(-9.0, 0.75), (0.25, 0.75), (-0.75, 0.75), (-0.75, -0.25), (-3.0, 0.0)];
        let cases = limits.map(|(low, high)| {
            let (low, high) = (Scalar::float(from, low), Scalar::float(from, high));
            let clamped = move |v| value::binary(BinOp::Max, value::binary(BinOp::Min, v, high), low);
            let meaning = move |v: &[Scalar]| Scalar::int(U8, i128::from(clamped(v[0]).as_bool()) * 255);
            let make = move |e: &[Expr]| {
                let clamped = build::max(build::min(e[0].clone(), build::constant(high)), build::constant(low));
                let truth = build::cast_data(I32, build::cast_data(Bool, clamped));
                build::saturating_cast(U8, build::mul(truth, build::constant(Scalar::int(I32, 1000))))
            };
            case(format!("a thousand truths of {from} in {low}..={high}"), U8, make, meaning)
        });
        [1, 3, 16, 17].into_iter().for_each(|lanes| check(&[from], std::slice::from_ref(&x), &cases, lanes));
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
        for lanes in LANES {
            check(&[ty, ty, Bool], &[x.clone(), y.clone(), truth.clone()], &cases, lanes);
        }
    }
}

#[test]
fn division_by_constants() {
    for ty in ScalarType::ALL.into_iter().filter(|t| t.is_int()) {
        let (x, _) = pairs(ty, ty, 9);
        let mut divisors = edges(ty);
        divisors.extend([5, 6, 9, 10, 11, 12, 13, 25, 60, 127, 128, 129, 641].map(|v| Scalar::int(ty, v)));
        let mut r = SplitMix(10);
        divisors.extend((0..6).map(|_| random(ty, &mut r)));
        for chunk in divisors.chunks(8) {
            let mut cases = Vec::new();
            for &d in chunk {
                for op in [BinOp::Div, BinOp::Mod, BinOp::DivToZero, BinOp::ModToZero] {
                    let make = move |e: &[Expr]| build::binary(op, e[0].clone(), build::constant(d));
                    cases.push(case(format!("{op:?} {ty} by {d}"), ty, make, move |v| value::binary(op, v[0], d)));
                }
            }
            for lanes in [1, 3, 8, 17, 32] {
                check(&[ty], std::slice::from_ref(&x), &cases, lanes);
            }
        }
    }
}

/// Every u16 by divisors whose reciprocals fit into 16 bits and by such whose do not; in two branches at once, which
/// makes the optimiser copy what they have in common.
#[test]
fn every_word_by_constants() {
    let all: Vec<Scalar> = (0..=u16::MAX).map(Scalar::from).collect();
    let input = [buffer(U16, &all)];
    for divisor in [3u16, 5, 7, 9, 10, 11, 255, 641, 32767, 32769, 40000, 65535] {
        let mut p = program(&[U16], &[U16, U16]);
        let (out, other) = (BufId(1), BufId(2));
        p.body = serial(&mut p, build::int(8192), |i| {
            let at = || dense(build::mul(i.clone(), build::int(8)), 8);
            let x = build::load(BufId(0), U16, at(), None);
            let divisor = build::broadcast(build::constant(Scalar::from(divisor)), 8);
            let quotient = build::binary(BinOp::Div, x, divisor);
            let odd = build::eq(build::rem(i.clone(), build::int(2)), build::int(1));
            let s = Sym::Temp(0);
            let named = build::typed_sym(s, quotient.ty());
            build::let_in(
                vec![(s, quotient)],
                build::if_else(odd, store(out, at(), named.clone()), store(other, at(), named)),
            )
        });
        let e = compiled(&p);
        let outs = run(&e, &[], &input, &[(U16, 65536), (U16, 65536)]).unwrap().0;
        for (i, x) in all.iter().enumerate() {
            let found = outs[usize::from(i / 8 % 2 == 0)][i];
            assert_eq!(found, value::binary(BinOp::Div, *x, Scalar::from(divisor)), "{x:?} / {divisor}");
        }
        #[cfg(target_arch = "x86_64")]
        assert_eq!(e.asm().unwrap().contains("vpmulhuw"), std::arch::is_x86_feature_detected!("avx"));
    }
}

#[test]
fn intrinsics() {
    let exact = |op: Intrinsic, a: Scalar, b: Scalar| {
        let (ty, x, y) = (a.ty(), a.as_i128(), b.as_i128());
        let clamp = |v: i128| Scalar::int(ty, v.clamp(ty.int_min().unwrap(), ty.int_max().unwrap()));
        let wide = if ty.is_signed_int() { ScalarType::signed } else { ScalarType::unsigned };
        match op {
            Intrinsic::SaturatingAdd => clamp(x + y),
            Intrinsic::SaturatingSub => clamp(x - y),
            Intrinsic::HalvingAdd => Scalar::int(ty, (x + y) >> 1),
            Intrinsic::RoundingHalvingAdd => Scalar::int(ty, (x + y + 1) >> 1),
            Intrinsic::MulRounded => clamp((x * y + (1 << 14)) >> 15),
            Intrinsic::MulHigh if ty == U64 => Scalar::int(ty, ((x as u128 * y as u128) >> 64) as i128),
            Intrinsic::MulHigh => Scalar::int(ty, (x * y) >> ty.bits()),
            Intrinsic::WideningMul => Scalar::int(wide(2 * ty.bits()), x.wrapping_mul(y)),
        }
    };
    for ty in ScalarType::ALL.into_iter().filter(|t| t.is_int()) {
        let (x, y) = pairs(ty, ty, 11);
        let all = [
            Intrinsic::SaturatingAdd,
            Intrinsic::SaturatingSub,
            Intrinsic::HalvingAdd,
            Intrinsic::RoundingHalvingAdd,
            Intrinsic::MulHigh,
            Intrinsic::MulRounded,
            Intrinsic::WideningMul,
        ];
        let cases: Vec<Case> = all
            .into_iter()
            .filter(|op| *op != Intrinsic::MulRounded || ty == I16)
            .map(|op| {
                let meaning = move |v: &[Scalar]| exact(op, v[0], v[1]);
                let out = result_type(&[ty, ty], &meaning);
                case(format!("{op:?} {ty}"), out, move |e| build::intrinsic(op, e.to_vec()), meaning)
            })
            .collect();
        for lanes in LANES {
            check(&[ty, ty], &[x.clone(), y.clone()], &cases, lanes);
        }
    }
}

#[test]
fn math_functions() {
    for ty in [F16, BF16, F32, F64, I16] {
        let (x, y) = pairs(ty, ty, 12);
        let cases: Vec<Case> = MathFn::ALL
            .into_iter()
            // It may round once or twice, as the machine does it.
            .filter(|f| *f != MathFn::MulAdd)
            .map(|f| {
                // A third operand is the first again.
                let operands = move |n: usize| (0..n).map(|i| i % 2);
                case(
                    format!("{f:?} {ty}"),
                    ty,
                    move |e| build::math(f, operands(f.arity()).map(|i| e[i].clone()).collect()),
                    move |v| value::math(f, &operands(f.arity()).map(|i| v[i]).collect::<Vec<_>>()),
                )
            })
            .collect();
        for lanes in [1, 3, 8, 17] {
            check(&[ty, ty], &[x.clone(), y.clone()], &cases, lanes);
        }
    }
}

/// Index arithmetic in vectors: as coordinates that become data again.
#[test]
fn index_vectors() {
    let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div, BinOp::Mod, BinOp::Min, BinOp::Max];
    let (x, y) = pairs(I32, I32, 13);
    let mut cases = Vec::new();
    for op in ops {
        let make = move |e: &[Expr]| {
            let result = build::binary(op, build::to_index(e[0].clone()), build::to_index(e[1].clone()));
            build::cast_data(I64, result)
        };
        let wide = |v: Scalar| value::cast(I64, v);
        cases.push(case(format!("{op:?} Index"), I64, make, move |v| value::binary(op, wide(v[0]), wide(v[1]))));
        for d in [-7i64, 0, 1, 3, 8] {
            let make = move |e: &[Expr]| {
                let x = build::to_index(e[0].clone());
                let d = build::broadcast(build::int(d), x.lanes());
                build::cast_data(I64, build::binary(op, x, d))
            };
            let meaning = move |v: &[Scalar]| value::binary(op, value::cast(I64, v[0]), Scalar::from(d));
            cases.push(case(format!("{op:?} Index {d}"), I64, make, meaning));
        }
    }
    let make = |e: &[Expr]| {
        let ramp = dense(build::int(-3), e[0].lanes());
        build::select(build::lt(build::to_index(e[0].clone()), ramp), e[0].clone(), e[1].clone())
    };
    for lanes in LANES {
        let n = i128::from(lanes);
        let position = std::cell::Cell::new(0i128);
        let meaning = move |v: &[Scalar]| {
            let lane = position.get() % n;
            position.set(position.get() + 1);
            if v[0].as_i128() < lane - 3 { v[0] } else { v[1] }
        };
        let compare = [case("compare with a ramp".into(), I32, make, meaning)];
        check(&[I32, I32], &[x.clone(), y.clone()], &compare, lanes);
        check(&[I32, I32], &[x.clone(), y.clone()], &cases, lanes);
    }
}
