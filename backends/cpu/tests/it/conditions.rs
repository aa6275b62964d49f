//! Loops with conditions: how often they run, by type, by lane count, in registers and in memory.

use crate::harness::*;
use halide_core::buffer::AnyBuffer;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_ir::any_lane::any_lane;
use halide_ir::{BufId, Expr, For, ForKind, LoopId, Memory, Program, Stmt, build};

const IN: BufId = BufId(0);
const OUT: BufId = BufId(1);
const TURNS: BufId = BufId(2);

fn spread(n: i32, ty: ScalarType, lanes: u16) -> Expr {
    build::broadcast(build::constant(value::cast(ty, Scalar::from(n))), lanes)
}

/// A loop of at most `extent` iterations while a lane of `at` in `buf` is greater than 0. Each takes 1 from those that
/// are, and adds 1 to the number of turns.
fn down(p: &mut Program, (buf, at): (BufId, Expr), ty: ScalarType, extent: Expr) -> Stmt {
    let lanes = at.lanes();
    let old = build::load(buf, ty, at.clone(), None);
    let left = build::binary(BinOp::Gt, old.clone(), spread(0, ty, lanes));
    let less = build::binary(BinOp::Sub, old.clone(), spread(1, ty, lanes));
    let turns = build::load(TURNS, I32, build::int(0), None);
    let body = build::block([
        store(buf, at, build::select(left.clone(), less, old)),
        store(TURNS, build::int(0), build::add(turns, build::constant(Scalar::from(1i32)))),
    ]);
    let id: LoopId = p.loops.push("down".into());
    build::loop_of(For {
        id,
        kind: ForKind::Serial,
        min: build::int(-3),
        extent,
        condition: Some(any_lane(&left)),
        body,
    })
}

/// Copies the input to the output, through a register or in place of it, and counts down there.
fn counting(ty: ScalarType, lanes: u16, extent: &Expr, in_register: bool) -> Program {
    let mut p = program(&[ty], &[ty, I32]);
    let whole = || if lanes == 1 { build::int(0) } else { dense(build::int(0), lanes) };
    let input = build::load(IN, ty, whole(), None);
    let zero = store(TURNS, build::int(0), build::constant(Scalar::from(0i32)));
    let body = match in_register {
        false => {
            let first = store(OUT, whole(), input);
            build::block([zero, first, down(&mut p, (OUT, whole()), ty, extent.clone())])
        }
        true => {
            let register = internal(&mut p, ty, Memory::Register);
            let first = store(register, whole(), input);
            let down = down(&mut p, (register, whole()), ty, extent.clone());
            let last = store(OUT, whole(), build::load(register, ty, whole(), None));
            let (count, constant) = (build::int(i64::from(lanes)), Some(u64::from(lanes)));
            let body = Box::new(build::block([first, down, last]));
            build::block([zero, Stmt::Alloc { buf: register, count, constant, body }])
        }
    };
    // A kernel of wide vectors is a loop.
    p.body = twice(&mut p, body);
    p
}

fn starts(ty: ScalarType, lanes: u16) -> Vec<Scalar> {
    (0..lanes).map(|i| value::cast(ty, Scalar::from((i32::from(i) * 5 + 2) % 11))).collect()
}

#[test]
fn the_slowest_lane_decides() {
    for ty in [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64] {
        for lanes in 1..=16 {
            let given = starts(ty, lanes);
            let most = given.iter().map(|v| v.as_f64() as i64).max().unwrap();
            for (extent, register) in [(1 << 31, false), (1 << 31, true), (5, false), (5, true), (1, true), (0, false)]
            {
                let p = counting(ty, lanes, &build::int(extent), register);
                let inputs = [buffer(ty, &given)];
                let (out, _) = run_everywhere(&p, &[], &inputs, &[(ty, lanes.into()), (I32, 1)]).unwrap();
                assert_eq!(out[1][0].as_i64(), most.min(extent), "{ty} {lanes} {extent} {register}");
                let less = |v: &Scalar| (v.as_f64() as i64 - extent).max(0);
                let expected: Vec<i64> = given.iter().map(less).collect();
                let found: Vec<i64> = out[0].iter().map(|v| v.as_f64() as i64).collect();
                assert_eq!(found, expected, "{ty} {lanes} {extent} {register}");
            }
        }
    }
}

/// An extent that is known at run time only, a condition that never holds, and one that only the loop's end ends.
#[test]
fn conditions_and_extents_at_run_time() {
    for lanes in [1, 4, 7, 16] {
        let extent = build::add(extent_of(IN), build::int(-2 * i64::from(lanes)));
        for register in [false, true] {
            let p = counting(I32, lanes, &extent, register);
            for (more, first) in [(0, 3), (2, 3), (9, 3), (9, 0), (9, 100)] {
                let mut given = vec![Scalar::from(first); usize::from(lanes)];
                given.resize(2 * usize::from(lanes) + more, Scalar::from(7));
                let outputs = [(I32, lanes.into()), (I32, 1)];
                let (out, _) = run_everywhere(&p, &[], &[buffer(I32, &given)], &outputs).unwrap();
                let turns = (more as i64).min(i64::from(first));
                assert_eq!(out[1][0].as_i64(), turns, "{lanes} {more} {first}");
                assert!(out[0].iter().all(|v| v.as_i64() == i64::from(first) - turns), "{lanes} {more} {first}");
            }
        }
    }
}

/// The wide generator takes them.
#[test]
fn they_are_kernels() {
    for tier in wide_tiers() {
        for (ty, lanes) in [(I32, 16), (F32, 8), (U8, 32), (F64, 8)] {
            let code = compiled_for(tier, &counting(ty, lanes, &build::int(1 << 31), true));
            assert_eq!((code.refusals(), code.stats().kernels), (&[][..], 1), "{tier:?} {ty} {lanes}");
        }
    }
}

/// Loops in each other that both end, with counters, which only Cranelift has.
#[test]
fn nested_loops_end() {
    let mut p = program(&[I32], &[I32, I32]);
    p.counters = vec!["inner".into(), "outer".into()];
    let left =
        || build::binary(BinOp::Gt, build::load(OUT, I32, build::int(0), None), build::constant(Scalar::from(0)));
    let one = build::constant(Scalar::from(1));
    let less = build::binary(BinOp::Sub, build::load(OUT, I32, build::int(0), None), one);
    let count = |counter| Stmt::Count { counter, amount: build::int(1) };
    let nest = |p: &mut Program, extent: i64, body: Stmt| {
        let (id, kind, min, extent) = (p.loops.push("l".into()), ForKind::Serial, build::int(0), build::int(extent));
        build::loop_of(For { id, kind, min, extent, condition: Some(left()), body })
    };
    let inner = nest(&mut p, 4, build::block([store(OUT, build::int(0), less), count(0)]));
    let outer = nest(&mut p, 1 << 40, build::block([inner, count(1)]));
    let first = store(OUT, build::int(0), build::load(IN, I32, build::int(0), None));
    let zero = store(TURNS, build::int(0), build::constant(Scalar::from(0i32)));
    p.body = build::block([zero, first, outer]);
    for n in [-1, 0, 1, 4, 5, 31] {
        let given: [AnyBuffer; 1] = [buffer(I32, &[Scalar::from(n)])];
        let (_, stats) = run_everywhere(&p, &[], &given, &[(I32, 1), (I32, 1)]).unwrap();
        let n = i64::from(n.max(0));
        assert_eq!(stats.counters, [n, (n + 3) / 4], "{n}");
    }
}
