//! Products of 32 and 64-bit lanes of which the range is known, or one is a constant.

use crate::harness::*;
use halide_core::ops::BinOp;
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
    for ty in [I32, U32, I64, U64] {
        let (x, _) = pairs(ty, ty, 22);
        let factors = [0, 1, 2, 3, 4, 8, 1 << 15, 1 << 30, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 62, -1, -4];
        let factors: Vec<Scalar> = factors.into_iter().map(|v: i128| Scalar::int(ty, v)).collect();
        for lanes in [4, 5, 16] {
            let mut p = program(&[ty], &vec![ty; factors.len()]);
            p.body = serial(&mut p, build::int((x.len() / usize::from(lanes)) as i64), |i| {
                let at = dense(build::mul(i, build::int(i64::from(lanes))), lanes);
                let load = build::load(BufId(0), ty, at.clone(), None);
                let times =
                    |f: &Scalar| -> Expr { build::mul(load.clone(), build::broadcast(build::constant(*f), lanes)) };
                let each = factors.iter().enumerate().map(|(k, f)| store(BufId(1 + k as u32), at.clone(), times(f)));
                build::block(each.collect::<Vec<_>>())
            });
            let n = x.len() / usize::from(lanes) * usize::from(lanes);
            let sizes = vec![(ty, n); factors.len()];
            let (out, _) = run_everywhere(&p, &[], &[buffer(ty, &x)], &sizes).unwrap();
            for (factor, found) in factors.iter().zip(&out) {
                for (got, x) in found.iter().zip(&x) {
                    assert_eq!(*got, value::binary(BinOp::Mul, *x, *factor), "{x:?} {factor:?} {lanes} lanes");
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
