//! Many threads change the same elements, in one step each: nothing is lost.

use crate::harness::*;
use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_ir::{BufId, Expr, Program, Stmt, build};

/// Iterations, and elements that they change.
const STEPS: i64 = 60_000;
const PLACES: i64 = 3;

const TYPES: [ScalarType; 13] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64];

/// `out[i % 3] = new(out[i % 3], in[i])` in parallel, each in one step, where `when(in[i])`.
fn steps(
    types: &[ScalarType],
    new: impl Fn(&[Expr], &[Expr]) -> Vec<Expr>,
    when: impl Fn(&[Expr]) -> Option<Expr>,
) -> Program {
    let mut p = program(types, types);
    let first_out = types.len();
    p.body = task(&mut p, build::int(0), build::int(STEPS), vec![], vec![], |_, id| {
        let i = build::loop_var(id);
        let place = build::rem(i.clone(), build::int(PLACES));
        let load = |n: usize, at: &Expr| build::load(BufId(n as u32), types[n % first_out], at.clone(), None);
        let news: Vec<Expr> = (0..first_out).map(|n| load(n, &i)).collect();
        let olds: Vec<Expr> = (0..first_out).map(|n| load(first_out + n, &place)).collect();
        // As lowering does it: what is stored is evaluated before anything is.
        let temps: Vec<_> = (0..first_out as u32).map(halide_ir::Sym::Temp).collect();
        let values = new(&olds, &news);
        let names = temps.iter().zip(&values).map(|(t, v)| build::typed_sym(*t, v.ty()));
        let stores: Vec<Stmt> = names
            .enumerate()
            .map(|(n, v)| Stmt::Store {
                buf: BufId((first_out + n) as u32),
                index: place.clone(),
                value: v,
                mask: when(&news),
            })
            .collect();
        let body = build::let_in(temps.into_iter().zip(values).collect(), build::block(stores));
        Stmt::Atomic { func: FuncId(types.len() as u32), body: Box::new(body) }
    });
    p
}

/// Small numbers, whose sums and products are exact in every type.
fn inputs(types: &[ScalarType]) -> Vec<Vec<Scalar>> {
    let mut random = SplitMix(3);
    let mut column = |&ty: &ScalarType| {
        let small = |bits: u64| if ty.is_float() { i128::from(bits % 2) } else { i128::from(bits % 7) };
        (0..STEPS).map(|_| Scalar::int(ty, small(random.next() >> 8))).collect()
    };
    types.iter().map(&mut column).collect()
}

/// Runs it and compares with one step after the other.
fn check(what: &str, p: &Program, types: &[ScalarType], serial: impl Fn(&[Scalar], &[Scalar]) -> Vec<Scalar>) {
    let columns = inputs(types);
    let mut expected: Vec<Vec<Scalar>> =
        (0..PLACES).map(|_| types.iter().map(|&t| Scalar::zero(t)).collect()).collect();
    for i in 0..STEPS as usize {
        let news: Vec<Scalar> = columns.iter().map(|c| c[i]).collect();
        let place = &mut expected[i % PLACES as usize];
        *place = serial(place, &news);
    }
    let given: Vec<_> = types.iter().zip(&columns).map(|(&ty, c)| buffer(ty, c)).collect();
    let outputs: Vec<_> = types.iter().map(|&ty| (ty, PLACES as usize)).collect();
    let (got, _) = run_everywhere(p, &[], &given, &outputs).unwrap();
    for (place, want) in expected.iter().enumerate() {
        let have: Vec<Scalar> = got.iter().map(|column| column[place]).collect();
        assert_eq!(&have, want, "{what} of {types:?}");
    }
}

#[test]
fn operators_of_every_type() {
    let ops = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Min, BinOp::Max, BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor];
    for ty in TYPES {
        for op in ops {
            let bits = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
            // Sums of so many ones are not exact in 16-bit floats.
            let inexact = matches!(ty, F16 | BF16) && matches!(op, BinOp::Add | BinOp::Sub);
            if inexact || ty.is_float() && bits || ty == Bool && !bits {
                continue;
            }
            let p = steps(&[ty], |old, new| vec![build::binary(op, old[0].clone(), new[0].clone())], |_| None);
            check(&format!("{op:?}"), &p, &[ty], |old, new| vec![value::binary(op, old[0], new[0])]);
            if !matches!(op, BinOp::Sub) {
                let p = steps(&[ty], |old, new| vec![build::binary(op, new[0].clone(), old[0].clone())], |_| None);
                check(&format!("{op:?} turned"), &p, &[ty], |old, new| vec![value::binary(op, new[0], old[0])]);
            }
        }
    }
}

/// Anything else of one element: a new value is tried until nobody came between.
#[test]
fn other_values_of_one_element() {
    for ty in [I8, U16, I32, U64, F32, F64] {
        let p = steps(
            &[ty],
            |old, new| {
                let sum = build::add(build::add(old[0].clone(), new[0].clone()), new[0].clone());
                vec![build::select(build::lt(old[0].clone(), sum.clone()), sum, old[0].clone())]
            },
            |new| Some(build::ne(new[0].clone(), build::constant(Scalar::int(ty, 0)))),
        );
        check("growth", &p, &[ty], |old, new| {
            let sum = value::binary(BinOp::Add, value::binary(BinOp::Add, old[0], new[0]), new[0]);
            let grows = value::binary(BinOp::Lt, old[0], sum);
            if new[0].as_bool() { vec![value::select(grows, sum, old[0])] } else { old.to_vec() }
        });
    }
}

/// Several elements under a lock.
#[test]
fn tuples() {
    let product = |old: &[Expr], new: &[Expr], i: usize, j: usize| build::mul(old[i].clone(), new[j].clone());
    let types = [I32, I32];
    let p = steps(
        &types,
        |old, new| {
            // An odd real part and an even imaginary one, so that no product is zero.
            let twice = |e: &Expr| build::mul(e.clone(), build::constant(Scalar::from(2i32)));
            let new = [build::add(twice(&new[0]), build::constant(Scalar::from(1i32))), twice(&new[1])];
            let re = build::sub(product(old, &new, 0, 0), product(old, &new, 1, 1));
            let im = build::add(product(old, &new, 0, 1), product(old, &new, 1, 0));
            let start = build::constant(Scalar::from(0i32));
            let unset = build::and(build::eq(old[0].clone(), start.clone()), build::eq(old[1].clone(), start));
            vec![build::select(unset.clone(), new[0].clone(), re), build::select(unset, new[1].clone(), im)]
        },
        |_| None,
    );
    check("complex products", &p, &types, |old, new| {
        let [a, b, c, d] = [old[0], old[1], new[0], new[1]].map(|s| s.as_i64() as i32);
        let (c, d) = (2 * c + 1, 2 * d);
        let (re, im) =
            (a.wrapping_mul(c).wrapping_sub(b.wrapping_mul(d)), a.wrapping_mul(d).wrapping_add(b.wrapping_mul(c)));
        let result = if a == 0 && b == 0 { (c, d) } else { (re, im) };
        vec![Scalar::from(result.0), Scalar::from(result.1)]
    });
    let types = [U8, F64, I64];
    let p = steps(&types, |old, new| (0..3).map(|n| build::add(old[n].clone(), new[n].clone())).collect(), |_| None);
    check("sums", &p, &types, |old, new| (0..3).map(|n| value::binary(BinOp::Add, old[n], new[n])).collect());
}

/// Steps that store two sites hold one lock for all of them: what one element gives, another one gets.
#[test]
fn two_sites_in_one_step() {
    const SITES: i64 = 37;
    let mut p = program(&[I64], &[I64]);
    let (input, out) = (BufId(0), BufId(1));
    p.body = task(&mut p, build::int(0), build::int(STEPS), vec![], vec![], |_, id| {
        let i = build::loop_var(id);
        let load = |buf, at: &Expr| build::load(buf, I64, at.clone(), None);
        let a = build::rem(build::mul(i.clone(), build::int(11)), build::int(SITES));
        let b = build::rem(build::add(build::mul(i.clone(), build::int(5)), build::int(1)), build::int(SITES));
        let names = [halide_ir::Sym::Temp(0), halide_ir::Sym::Temp(1)];
        let step = build::constant(Scalar::from(1i64));
        let bound = [(names[0], load(out, &a)), (names[1], load(out, &b))];
        let old = names.map(|n| build::typed_sym(n, load(input, &a).ty()));
        let (more, less) = (build::add(old[0].clone(), step.clone()), build::sub(old[1].clone(), step));
        let same = build::eq(a.clone(), b.clone());
        let store = |index: &Expr, value: Expr, kept: &Expr| Stmt::Store {
            buf: out,
            index: index.clone(),
            value: build::select(same.clone(), kept.clone(), value),
            mask: None,
        };
        let stores = build::block([store(&a, more, &old[0]), store(&b, less, &old[1])]);
        let body = build::let_in(bound.to_vec(), stores);
        Stmt::Atomic { func: FuncId(1), body: Box::new(body) }
    });
    let column = inputs(&[I64]).remove(0);
    let (got, _) = run_everywhere(&p, &[], &[buffer(I64, &column)], &[(I64, SITES as usize)]).unwrap();
    let sum: i64 = got[0].iter().map(|v| v.as_i64()).sum();
    assert_eq!(sum, 0);
    assert!(got[0].iter().any(|v| v.as_i64() != 0));
}
