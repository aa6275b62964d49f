//! Loops, conditions, symbols, checks, tasks and counters.

use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::*;
use halide_core::value::Scalar;
use halide_cpu::{CpuError, CpuFault, CpuOptions, compile};
use halide_ir::{BufId, Expr, Fault, FaultId, Memory, Stage, Stmt, Sym, Type, build};

const OUT: BufId = BufId(0);

fn data(e: Expr) -> Expr {
    build::cast_data(I32, e)
}

fn numbers(values: &[Scalar]) -> Vec<i64> {
    values.iter().map(|v| v.as_i64()).collect()
}

/// Loops whose bounds are only known at run time: empty, of one iteration, of more; with negative minimum.
#[test]
fn loops_of_any_extent() {
    let mut p = program(&[I32], &[I32]);
    let bound = |i: i64| build::to_index(build::load(BufId(0), I32, build::int(i), None));
    let outer = p.loops.push("outer".into());
    let inner = serial(&mut p, bound(2), |j| {
        let i = build::loop_var(outer);
        let at = build::add(build::mul(build::sub(i.clone(), bound(0)), build::int(4)), j.clone());
        store(BufId(1), at, data(build::add(build::mul(i, build::int(10)), j)))
    });
    p.body = build::for_loop(outer, halide_ir::ForKind::Serial, bound(0), bound(1), inner);
    let e = compiled(&p);
    for (min, outer, inner) in [(0, 3, 4), (-2, 3, 2), (5, 0, 4), (5, 2, 0), (5, -1, 1), (7, 1, 1), (0, 2, -3)] {
        let bounds: Vec<Scalar> = [min, outer, inner].iter().map(|v| Scalar::from(*v)).collect();
        let (out, _) = run(&e, &[], &[buffer(I32, &bounds)], &[(I32, 16)]).unwrap();
        let mut expected = vec![0i64; 16];
        for i in 0..i64::from(outer) {
            for j in 0..i64::from(inner) {
                expected[(4 * i + j) as usize] = (i64::from(min) + i) * 10 + j;
            }
        }
        assert_eq!(numbers(&out[0]), expected, "{min} {outer} {inner}");
    }
}

/// A symbol that is bound again means its new value, also after the inner scope.
#[test]
fn symbols_bound_again() {
    let mut p = program(&[], &[I32]);
    let t = Sym::Temp(0);
    let use_at = |i: i64| store(OUT, build::int(i), data(build::mul(build::sym(t), build::int(3))));
    let inner = build::let_in(vec![(t, build::int(20))], use_at(1));
    let outer =
        Stmt::Let { bindings: vec![(t, build::int(10))], body: Box::new(build::block([use_at(0), inner, use_at(3)])) };
    let last = build::let_in(vec![(t, build::int(30))], use_at(2));
    p.body = build::block([outer, last]);
    let (out, _) = run_everywhere(&p, &[], &[], &[(I32, 4)]).unwrap();
    assert_eq!(numbers(&out[0]), [30, 60, 90, 30]);
}

/// Values computed on one side of a condition are not used on the other.
#[test]
fn conditions() {
    let mut p = program(&[I32], &[I32]);
    let x = || build::load(BufId(0), I32, build::int(0), None);
    let seven = || build::constant(Scalar::from(7i32));
    let product = || build::mul(x(), seven());
    let positive = build::gt(x(), build::constant(Scalar::from(0i32)));
    p.body = build::block([
        build::if_else(
            positive.clone(),
            store(BufId(1), build::int(0), product()),
            store(BufId(1), build::int(1), build::add(product(), seven())),
        ),
        store(BufId(1), build::int(2), product()),
        build::if_else(build::not(positive), build::nothing(), store(BufId(1), build::int(3), x())),
    ]);
    let e = compiled(&p);
    for (x, expected) in [(3, [21, 0, 21, 3]), (-3, [0, -14, -21, 0])] {
        let (out, _) = run(&e, &[], &[buffer(I32, &[Scalar::from(x)])], &[(I32, 4)]).unwrap();
        assert_eq!(numbers(&out[0]), expected);
    }
}

#[test]
fn parameters_of_every_type() {
    for ty in halide_core::types::ScalarType::ALL {
        let mut p = program(&[], &[ty]);
        let id = p.params.push(("p".into(), ty));
        p.body = store(OUT, dense(build::int(0), 5), build::broadcast(build::param(id, ty), 5));
        let e = compiled(&p);
        for value in edges(ty) {
            let (out, _) = run(&e, &[value], &[], &[(ty, 5)]).unwrap();
            assert!(out[0].iter().all(|v| v.same(value)), "{value:?}");
        }
    }
}

#[test]
fn checks_give_their_fault_and_arguments() {
    let mut p = program(&[I32], &[I32]);
    let fault = p.faults.push(Fault::NotThisVariant);
    let x = build::to_index(build::load(BufId(0), I32, build::int(0), None));
    p.body = build::block([
        Stmt::Assert {
            cond: build::lt(x.clone(), build::int(10)),
            fault,
            args: vec![x.clone(), build::int(-1), build::mul(x.clone(), x.clone())],
        },
        store(BufId(1), build::int(0), data(x)),
    ]);
    let e = compiled(&p);
    let input = |v: i32| [buffer(I32, &[Scalar::from(v)])];
    assert_eq!(numbers(&run(&e, &[], &input(9), &[(I32, 1)]).unwrap().0[0]), [9]);
    let failed = run(&e, &[], &input(12), &[(I32, 1)]).unwrap_err();
    assert_eq!(failed, CpuFault::Check { fault, args: vec![12, -1, 144] });
}

#[test]
fn counters_add_up() {
    let mut p = program(&[], &[I32]);
    p.counters = vec!["rows".into(), "points".into()];
    let launch = task(&mut p, build::int(-3), build::int(100), vec![], vec![], |_, id| {
        build::block([
            Stmt::Count { counter: 0, amount: build::int(1) },
            Stmt::Count { counter: 1, amount: build::loop_var(id) },
        ])
    });
    p.body = launch;
    let (_, stats) = run_everywhere(&p, &[], &[], &[(I32, 1)]).unwrap();
    assert_eq!(stats.counters, [100, (-3..97).sum()]);
}

/// Tasks see captured scalars, vectors and buffers, and write where their iteration says.
#[test]
fn tasks_capture_what_they_use() {
    let mut p = program(&[I16], &[I16, I16]);
    let tmp = internal(&mut p, I16, Memory::Heap);
    let small = internal(&mut p, I16, Memory::Auto);
    let (s, v, m, f) = (Sym::Temp(0), Sym::Temp(1), Sym::Temp(2), Sym::Temp(3));
    let lanes = 11;
    let vector = Type::data(I16).with_lanes(lanes);
    let truth = Type::BOOL.with_lanes(lanes);
    let all = dense(build::int(0), lanes);
    let captures = vec![(s, Type::INDEX), (v, vector), (m, truth), (f, Type::data(F32))];
    let launch = task(&mut p, build::int(2), build::sym(s), captures, vec![tmp, small], |_, id| {
        let i = build::sub(build::loop_var(id), build::int(2));
        let at = dense(build::mul(i.clone(), build::int(i64::from(lanes))), lanes);
        let sum = build::add(build::typed_sym(v, vector), build::load(tmp, I16, dense(build::int(0), lanes), None));
        let chosen =
            build::select(build::typed_sym(m, truth), sum, build::broadcast(build::cast_data(I16, i.clone()), lanes));
        let scaled = build::cast_data(I16, build::typed_sym(f, Type::data(F32)));
        let added = build::add(scaled, build::load(small, I16, build::int(0), None));
        build::block([store(BufId(1), at, chosen), store(BufId(2), i, added)])
    });
    let input = build::load(BufId(0), I16, all.clone(), None);
    let bindings = vec![
        (s, build::int(40)),
        (v, input.clone()),
        (m, build::gt(input.clone(), build::broadcast(build::constant(Scalar::from(5i16)), lanes))),
        (f, build::constant(Scalar::from(100.75f32))),
    ];
    let filled = build::block([
        store(tmp, all.clone(), build::mul(input.clone(), input)),
        store(small, build::int(0), build::constant(Scalar::from(3i16))),
        launch,
    ]);
    let inner = Stmt::Alloc { buf: small, count: build::int(1), constant: Some(1), body: Box::new(filled) };
    let body = Stmt::Alloc { buf: tmp, count: build::int(11), constant: Some(11), body: Box::new(inner) };
    p.body = build::let_in(bindings, body);
    let source: Vec<Scalar> = (0..11).map(|i| Scalar::from(i as i16)).collect();
    let (out, _) = run_everywhere(&p, &[], &[buffer(I16, &source)], &[(I16, 440), (I16, 40)]).unwrap();
    for i in 0..40 {
        for l in 0..11i64 {
            let expected = if l > 5 { l + l * l } else { i };
            assert_eq!(out[0][(i * 11 + l) as usize].as_i64(), expected, "iteration {i}, lane {l}");
        }
        assert_eq!(out[1][i as usize].as_i64(), 103);
    }
}

#[test]
fn tasks_inside_tasks() {
    let mut p = program(&[], &[I32]);
    let outer = p.loops.push("outer".into());
    let inner = task(&mut p, build::int(0), build::int(50), vec![(Sym::Loop(outer), Type::INDEX)], vec![], |_, id| {
        let at = build::add(build::mul(build::loop_var(outer), build::int(50)), build::loop_var(id));
        store(OUT, at.clone(), data(build::mul(at.clone(), at)))
    });
    let id = p.tasks.push(halide_ir::Task { id: outer, captures: vec![], buffers: vec![], body: inner });
    p.body = Stmt::Launch { task: id, min: build::int(0), extent: build::int(60) };
    let (out, _) = run_everywhere(&p, &[], &[], &[(I32, 3000)]).unwrap();
    assert!(out[0].iter().enumerate().all(|(i, v)| v.as_i64() == (i * i) as i64));
}

#[test]
fn a_long_sum_does_not_overflow_the_stack() {
    let mut p = program(&[I32], &[I32]);
    let x = build::load(BufId(0), I32, build::int(0), None);
    let mut sum = x.clone();
    for i in 0..20_000 {
        sum = build::binary(if i % 2 == 0 { BinOp::Add } else { BinOp::BitXor }, sum, x.clone());
    }
    p.body = store(BufId(1), build::int(0), sum.clone());
    let (out, _) = run_everywhere(&p, &[], &[buffer(I32, &[Scalar::from(3i32)])], &[(I32, 1)]).unwrap();
    let expected = (0..20_000).fold(3i32, |s, i| if i % 2 == 0 { s.wrapping_add(3) } else { s ^ 3 });
    assert_eq!(out[0][0], Scalar::from(expected));
}

#[test]
fn malformed_programs_are_refused() {
    let refused = |change: &dyn Fn(&mut halide_ir::Program)| {
        let mut p = program(&[I32], &[I32]);
        change(&mut p);
        match compile(&p, &CpuOptions::default()) {
            Err(CpuError::Program(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&|p| p.stage = Stage::Shaped), "its stage is Shaped, not Final");
    let why = refused(&|p| p.body = store(BufId(1), build::sym(Sym::Temp(9)), build::constant(Scalar::from(1i32))));
    assert_eq!(why, "Temp(9) is not bound");
    let why = refused(&|p| p.body = store(BufId(1), build::int(0), build::constant(Scalar::from(1u8))));
    assert!(why.starts_with("b1 has elements of i32"), "{why}");
    let why = refused(&|p| {
        let id = p.loops.push("x".into());
        let body = store(BufId(1), build::loop_var(id), build::constant(Scalar::from(1i32)));
        p.body = build::for_loop(id, halide_ir::ForKind::Vectorized, build::int(0), build::int(4), body);
    });
    assert_eq!(why, "a Vectorized loop is left");
    let why = refused(&|p| p.body = store(BufId(1), build::int(0), build::read(BufId(0), I32, vec![build::int(0)])));
    assert_eq!(why, "a multi-dimensional read of b0 is left");
    let why = refused(&|p| {
        let tmp = internal(p, I32, Memory::Auto);
        p.body = store(BufId(1), build::int(0), build::load(tmp, I32, build::int(0), None));
    });
    assert_eq!(why, "b2 is used outside of its allocation");
    let _ = FaultId(0);
}
