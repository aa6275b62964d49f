//! Products of lanes of which the range is known or one is a constant, widening ones, and sums with a product.

use crate::harness::*;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_ir::{BufId, Expr, Intrinsic, Stmt, Sym, build};

/// Lanes of `to` times lanes of `to`, made of `a` and `b`.
fn check(to: ScalarType, [a, b]: [ScalarType; 2], lanes: u16) {
    let (x, y) = pairs(a, b, 21);
    let mut p = program(&[a, b], &[to]);
    p.body = serial(&mut p, build::int((x.len() / usize::from(lanes)) as i64), |i| {
        let at = dense(build::mul(i, build::int(i64::from(lanes))), lanes);
        let load = |buf: u32, ty| build::cast_data(to, build::load(BufId(buf), ty, at.clone(), None));
        store(BufId(2), at.clone(), build::mul(load(0, a), load(1, b)))
    });
    let n = x.len() / usize::from(lanes) * usize::from(lanes);
    let inputs = [buffer(a, &x), buffer(b, &y)];
    let (out, _) = run_everywhere(&p, &[], &inputs, &[(to, n)]).unwrap();
    for (i, got) in out[0].iter().enumerate() {
        let want = value::binary(BinOp::Mul, value::cast(to, x[i]), value::cast(to, y[i]));
        assert_eq!(*got, want, "{a} {:?} by {b} {:?} as {to}, {lanes} lanes", x[i], y[i]);
    }
}

#[test]
fn lanes_that_were_narrow() {
    for to in [I64, U64] {
        for a in [U8, I8, U16, I16, U32, I32, I64, U64] {
            for b in [U8, I16, U32, I32, I64] {
                for lanes in [2, 3, 8, 16] {
                    check(to, [a, b], lanes);
                }
            }
        }
    }
}

#[test]
fn constants() {
    for ty in [I8, U8, I16, U16, I32, U32, I64, U64] {
        let (x, _) = pairs(ty, ty, 22);
        let factors = [0, 1, 2, 3, 4, 8, 1 << 15, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 62, -1, -4];
        let factors: Vec<Scalar> = factors.into_iter().map(|v: i128| Scalar::int(ty, v)).collect();
        for lanes in [4, 5, 16] {
            let wide = wider(ty);
            let outputs = [vec![ty; factors.len()], vec![wide; factors.len()]].concat();
            let mut p = program(&[ty], &outputs);
            p.body = serial(&mut p, build::int((x.len() / usize::from(lanes)) as i64), |i| {
                let at = dense(build::mul(i, build::int(i64::from(lanes))), lanes);
                let load = build::load(BufId(0), ty, at.clone(), None);
                let factor = |f: &Scalar| build::broadcast(build::constant(*f), lanes);
                let times = |f: &Scalar| build::mul(load.clone(), factor(f));
                let widened = |f: &Scalar| match ty.bits() {
                    64 => times(f),
                    _ => build::intrinsic(Intrinsic::WideningMul, vec![factor(f), load.clone()]),
                };
                let values = factors.iter().map(times).chain(factors.iter().map(widened));
                let each = values.enumerate().map(|(k, value)| store(BufId(1 + k as u32), at.clone(), value));
                build::block(each.collect::<Vec<_>>())
            });
            let n = x.len() / usize::from(lanes) * usize::from(lanes);
            let sizes: Vec<_> = outputs.iter().map(|ty| (*ty, n)).collect();
            let (out, _) = run_everywhere(&p, &[], &[buffer(ty, &x)], &sizes).unwrap();
            for (k, found) in out.iter().enumerate() {
                let (factor, to) = (factors[k % factors.len()], outputs[k]);
                for (got, x) in found.iter().zip(&x) {
                    let want = value::binary(BinOp::Mul, value::cast(to, *x), value::cast(to, factor));
                    assert_eq!(*got, want, "{x:?} {factor:?} as {to}, {lanes} lanes");
                }
            }
        }
    }
}

/// The type of twice the width, or the same of 64 bits.
fn wider(ty: ScalarType) -> ScalarType {
    let bits = (2 * ty.bits()).min(64);
    if ty.is_signed_int() { ScalarType::signed(bits) } else { ScalarType::unsigned(bits) }
}

/// Sums with a product, each factor and the other summand with either sign, the summand from memory, computed before,
/// in all lanes, or a constant.
#[test]
fn fused_products_with_signs() {
    for ty in [F16, BF16, F32, F64] {
        let (x, y) = pairs(ty, ty, 23);
        let (z, _) = pairs(ty, ty, 24);
        let signed = |e: Expr, less: bool| if less { build::unary(UnOp::Neg, e) } else { e };
        let sign = |v: Scalar, less: bool| if less { value::unary(UnOp::Neg, v) } else { v };
        for lanes in [1u16, 3, 8, 16, 17, 32] {
            let mut p = program(&[ty, ty, ty], &[ty; 32]);
            p.body = serial(&mut p, build::int((x.len() / usize::from(lanes)) as i64), |i| {
                let first = build::mul(i, build::int(i64::from(lanes)));
                let at = dense(first.clone(), lanes);
                let load = |buf, at: &Expr| build::load(BufId(buf), ty, at.clone(), None);
                let (a, b, c) = (load(0, &at), load(1, &at), load(2, &at));
                let sums = [
                    c.clone(),
                    build::binary(BinOp::Max, c.clone(), a.clone()),
                    build::broadcast(load(2, &first), lanes),
                    build::broadcast(build::constant(Scalar::float(ty, 1.5)), lanes),
                ];
                let each = (0..32u32).map(|k| {
                    let [less_a, less_b, less_c] = [1, 2, 4].map(|bit| k & bit != 0);
                    let args = [(a.clone(), less_a), (b.clone(), less_b), (sums[k as usize / 8].clone(), less_c)];
                    let args = args.map(|(e, less)| signed(e, less)).to_vec();
                    store(BufId(3 + k), at.clone(), build::math(MathFn::Fma, args))
                });
                build::block(each.collect::<Vec<_>>())
            });
            let n = x.len() / usize::from(lanes) * usize::from(lanes);
            let inputs = [buffer(ty, &x), buffer(ty, &y), buffer(ty, &z)];
            let (out, _) = run_everywhere(&p, &[], &inputs, &[(ty, n); 32]).unwrap();
            for (k, found) in out.iter().enumerate() {
                for (at, got) in found.iter().enumerate() {
                    let sum = match k / 8 {
                        0 => z[at],
                        1 => value::binary(BinOp::Max, z[at], x[at]),
                        2 => z[at / usize::from(lanes) * usize::from(lanes)],
                        _ => Scalar::float(ty, 1.5),
                    };
                    let args = [(x[at], k & 1 != 0), (y[at], k & 2 != 0), (sum, k & 4 != 0)];
                    let want = value::math(MathFn::Fma, &args.map(|(v, less)| sign(v, less)));
                    assert!(got.same(want), "{args:?} x{lanes} {k}: {got:?}, not {want:?}");
                }
            }
        }
    }
}

#[test]
fn high_products_in_functions_that_store_nothing() {
    let mut p = program(&[U16], &[]);
    let load = build::load(BufId(0), U16, dense(build::int(0), 8), None);
    let seven = build::broadcast(build::constant(Scalar::from(7u16)), 8);
    let product = build::intrinsic(Intrinsic::MulHigh, vec![load, seven]);
    // Nothing uses it, which only Cranelift's optimiser finds out.
    p.body = Stmt::Let { bindings: vec![(Sym::Temp(0), product)], body: Box::new(build::nothing()) };
    p.next_temp = 1;
    run_everywhere(&p, &[], &[buffer(U16, &ascending(U16, 8))], &[]).unwrap();
}
