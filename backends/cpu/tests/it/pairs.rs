//! Lanes with addresses of their own: neighbours that are loaded together, others one by one, rows that are some number
//! of elements apart.

use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_cpu::{RunArgs, Tier};
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, build};

const TABLE: i64 = 300;
const INDICES: i64 = 192;

fn element(i: i64) -> i64 {
    (i * 37 + 11) % 127
}

fn number(ty: ScalarType, v: i64) -> Scalar {
    if ty.is_float() { Scalar::float(ty, v as f64) } else { Scalar::int(ty, v.into()) }
}

/// The relation of an index to the data that it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It is the data.
    Plain,
    /// It is the data times a number that is known when the code runs: 1.
    Scaled,
    /// It is the data and the lane's number.
    Slanted,
}

/// `out[i] = sum of table[index[i] + step] * weight` for each of `taps`, in vectors of `lanes`; the table is the first
/// input, its indices from 4 to its size less 70 the second one.
fn taps(ty: ScalarType, index: ScalarType, way: Way, lanes: u16, taps: &[(i64, i64)]) -> Program {
    let mut p = program(&[ty, index], &[ty]);
    let loops = serial(&mut p, build::int(INDICES / i64::from(lanes)), |i| {
        let at = dense(build::mul(i, build::int(i64::from(lanes))), lanes);
        let data = build::to_index(build::load(BufId(1), index, at.clone(), None));
        let data = match way {
            Way::Plain => data,
            Way::Scaled => {
                let one = build::binary(BinOp::Div, extent_of(BufId(0)), build::int(TABLE));
                build::mul(data, build::broadcast(one, lanes))
            }
            Way::Slanted => build::add(data, dense(build::int(0), lanes)),
        };
        let tap = |(step, weight): &(i64, i64)| {
            let place = build::add(data.clone(), build::broadcast(build::int(*step), lanes));
            let value = build::load(BufId(0), ty, place, None);
            build::mul(value, build::broadcast(build::constant(number(ty, *weight)), lanes))
        };
        store(BufId(2), at, taps.iter().map(tap).reduce(build::add).unwrap())
    });
    p.body = loops;
    p
}

fn check(ty: ScalarType, index: ScalarType, way: Way, lanes: u16, list: &[(i64, i64)]) {
    let p = taps(ty, index, way, lanes, list);
    let mut noise = SplitMix(lanes.into());
    let most = (TABLE - 70).min(index.int_max().map_or(i64::MAX, |m| m as i64));
    // Both ends of the table are asked for: beside these nothing is to be touched.
    let mut at: Vec<i64> = (0..INDICES).map(|_| 4 + (noise.next() >> 8) as i64 % (most - 3)).collect();
    (at[0], at[1]) = (4, most);
    let table: Vec<Scalar> = (0..TABLE).map(|i| number(ty, element(i))).collect();
    let indices: Vec<Scalar> = at.iter().map(|v| Scalar::int(index, (*v).into())).collect();
    let inputs = [buffer(ty, &table), buffer(index, &indices)];
    let (out, _) = run_everywhere(&p, &[], &inputs, &[(ty, INDICES as usize)]).unwrap();
    for i in 0..INDICES / i64::from(lanes) * i64::from(lanes) {
        let slant = if way == Way::Slanted { i % i64::from(lanes) } else { 0 };
        let want: i64 = list.iter().map(|(step, weight)| element(at[i as usize] + slant + step) * weight).sum();
        let got = out[0][i as usize];
        assert_eq!(got, number(ty, want), "{ty} by {index}, {way:?}, {lanes} lanes, {list:?}, lane {i}");
    }
}

#[test]
fn neighbours_of_every_type() {
    for (ty, index) in [(F32, I32), (U32, U8), (I32, I64), (F32, U32), (F64, I32), (I64, U16), (U16, I32)] {
        for way in [Way::Plain, Way::Scaled, Way::Slanted] {
            for lanes in [2, 3, 4, 7, 8, 16, 17, 32] {
                check(ty, index, way, lanes, &[(0, 3), (1, 5)]);
            }
        }
    }
}

#[test]
fn more_than_two_neighbours() {
    for list in [
        &[(1, 2), (0, 3)][..],
        &[(-4, 2), (-3, 3), (-2, 4)],
        &[(0, 1), (1, 2), (2, 3), (3, 4)],
        &[(5, 1), (1, 2), (2, 3), (-1, 4), (0, 7)],
        &[(0, 1), (2, 2)],
        &[(0, 1)],
        &[(3, 2), (3, 5), (4, 1)],
    ] {
        for way in [Way::Plain, Way::Scaled] {
            for lanes in [5, 8, 16] {
                check(F32, I32, way, lanes, list);
                check(U32, I32, way, lanes, list);
            }
        }
    }
}

/// A neighbour that is loaded after the table has changed is another value; one in a branch is loaded there only.
#[test]
fn stores_and_branches_come_between() {
    let lanes = 8;
    let mut p = program(&[I32, I32], &[I32]);
    let table = BufId(2);
    let loops = serial(&mut p, build::int(INDICES / i64::from(lanes)), |i| {
        let rows = dense(build::mul(i.clone(), build::int(i64::from(lanes))), lanes);
        let at = build::to_index(build::load(BufId(1), I32, rows.clone(), None));
        let place = |step| build::add(at.clone(), build::broadcast(build::int(step), lanes));
        let load = |step| build::load(table, I32, place(step), None);
        let first = store(table, rows.clone(), load(0));
        let last = store(table, rows.clone(), build::add(load(1), load(0)));
        // Only as far as the last loop but one: the indices of that one are beyond the table, where they are even.
        let inside = build::binary(BinOp::Lt, i, build::int(INDICES / i64::from(lanes) - 1));
        build::block([first, build::if_else(inside, last, build::nothing())])
    });
    p.body = loops;
    let n = INDICES as usize;
    let mut at: Vec<usize> = (0..n).map(|i| (i * 29 + 5) % (n - 1)).collect();
    at[n - 8..].fill(n - 1);
    let mut want: Vec<i64> = vec![0; n];
    for chunk in (0..n).step_by(8) {
        let picked: Vec<i64> = (0..8).map(|k| want[at[chunk + k]]).collect();
        want[chunk..chunk + 8].copy_from_slice(&picked);
        if chunk + 8 < n {
            let sums: Vec<i64> = (0..8).map(|k| want[at[chunk + k] + 1] + want[at[chunk + k]] + 1).collect();
            want[chunk..chunk + 8].copy_from_slice(&sums);
        }
    }
    // One is added, so that there is something to see.
    let p = with_one_added(p);
    let indices: Vec<Scalar> = at.iter().map(|v| Scalar::int(I32, *v as i128)).collect();
    let inputs = [buffer(I32, &indices), buffer(I32, &indices)];
    let (out, _) = run_everywhere(&p, &[], &inputs, &[(I32, n)]).unwrap();
    assert_eq!(out[0], want.iter().map(|v| Scalar::int(I32, i128::from(*v))).collect::<Vec<_>>());
}

/// Loads that are joined in a branch are not joined after it, nor after a store that changes their index. There are
/// tables of a page, with nothing behind them.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_loaded_that_is_not_asked_for() {
    let lanes = 8;
    let mut p = program(&[I32, I32], &[I32]);
    let again = internal(&mut p, I32, halide_ir::Memory::Heap);
    let loops = serial(&mut p, build::int(2), |i| {
        let rows = dense(build::mul(i.clone(), build::int(i64::from(lanes))), lanes);
        let moving = build::to_index(build::load(again, I32, dense(build::int(0), lanes), None));
        let at = build::to_index(build::load(BufId(1), I32, rows.clone(), None));
        let load = |at: &Expr, step| {
            let place = build::add(at.clone(), build::broadcast(build::int(step), lanes));
            build::load(BufId(0), I32, place, None)
        };
        let sum = build::add(load(&at, 0), load(&at, 1));
        let first = build::binary(BinOp::Lt, i, build::int(1));
        let branch = build::if_else(first, store(BufId(2), rows.clone(), sum), build::nothing());
        let alone = store(BufId(2), build::add(rows.clone(), build::broadcast(build::int(16), lanes)), load(&at, 0));
        let low = store(BufId(2), build::add(rows.clone(), build::broadcast(build::int(32), lanes)), load(&moving, 0));
        let back = store(
            again,
            dense(build::int(0), lanes),
            build::cast_data(I32, build::sub(moving.clone(), build::broadcast(build::int(1), lanes))),
        );
        let high = store(BufId(2), build::add(rows, build::broadcast(build::int(48), lanes)), load(&moving, 1));
        build::block([branch, alone, low, back, high])
    });
    let elements = 1024i64;
    let last = build::broadcast(build::constant(Scalar::int(I32, (elements - 1).into())), lanes);
    let start = store(again, dense(build::int(0), lanes), last);
    let body = Box::new(build::block([start, loops]));
    p.body = Stmt::Alloc { buf: again, count: build::int(i64::from(lanes)), constant: Some(8), body };
    let table: Vec<Scalar> = (0..elements).map(|i| number(I32, element(i))).collect();
    let mut at: Vec<i64> = (0..8).map(|i| 100 * i).collect();
    at.extend([elements - 1; 8]);
    let indices: Vec<Scalar> = at.iter().map(|v| Scalar::int(I32, (*v).into())).collect();
    let guarded = crate::guarded::Guarded::new();
    let first = guarded.end(4 * elements as usize);
    guarded.fill(first, &bytes_of(&table));
    for code in compiled_everywhere(&p) {
        let index = buffer(I32, &indices);
        let mut out = buffer(I32, &[Scalar::int(I32, 0); 64]);
        let raws = [raw(first, I32, elements as usize), index.raw(), out.view_mut().unwrap().raw_mut()];
        code.run(&RunArgs { buffers: &raws, ..RunArgs::default() }).unwrap();
        let got = values(&out);
        for i in 0..16 {
            let want = if i < 8 { element(at[i]) + element(at[i] + 1) } else { 0 };
            assert_eq!(got[i], number(I32, want), "in the branch, {i}");
            assert_eq!(got[16 + i], number(I32, element(at[i])), "after the branch, {i}");
            let moving = elements - 1 - i as i64 / 8;
            assert_eq!(got[32 + i], number(I32, element(moving)), "before what moves has moved, {i}");
            assert_eq!(got[48 + i], number(I32, element(moving)), "after it, {i}");
        }
    }
}

/// The program with every sum of two loads one larger.
fn with_one_added(mut p: Program) -> Program {
    fn walk(s: Stmt) -> Stmt {
        match s {
            Stmt::Block(list) => Stmt::Block(list.into_iter().map(walk).collect()),
            Stmt::For(mut l) => {
                l.body = walk(l.body);
                Stmt::For(l)
            }
            Stmt::If { cond, then, otherwise } => {
                Stmt::If { cond, then: Box::new(walk(*then)), otherwise: Box::new(walk(*otherwise)) }
            }
            Stmt::Store { buf, index, value, mask } => Stmt::Store { buf, index, value: plus_one(value), mask },
            other => other,
        }
    }
    fn plus_one(e: Expr) -> Expr {
        let is_sum = matches!(e.kind(), ExprKind::Binary(BinOp::Add, ..));
        let one = build::broadcast(build::constant(Scalar::int(I32, 1)), e.lanes());
        if is_sum { build::add(e, one) } else { e }
    }
    p.body = walk(p.body);
    p
}

/// Two neighbours are one load of 64 bits for each lane.
#[test]
fn neighbours_are_loaded_together() {
    for tier in wide_tiers() {
        for (list, together) in [(&[(0, 3), (1, 5)][..], true), (&[(0, 3), (2, 5)], false)] {
            let asm = compiled_for(tier, &taps(F32, I32, Way::Plain, 16, list)).asm().unwrap_or_default().to_string();
            assert_eq!(asm.contains("vmovhps"), together, "{tier:?} {list:?}\n{asm}");
            assert_eq!(asm.contains("vpinsrd"), !together, "{tier:?} {list:?}\n{asm}");
            assert!(!asm.contains("gather"), "{tier:?} {list:?}\n{asm}");
        }
    }
}

/// Lanes that are a number of elements apart which is known only when the code runs.
#[test]
fn rows_of_any_distance() {
    for ty in [I8, U16, F32, I32, F64] {
        for lanes in [2, 3, 4, 5, 8, 13, 16, 32] {
            for (distance, start) in [(1, 0), (2, 1), (7, 3), (-3, 96), (0, 2)] {
                let mut p = program(&[ty, I64], &[ty]);
                let step = build::to_index(build::load(BufId(1), I64, build::int(0), None));
                let rows = serial(&mut p, build::int(4), |i| {
                    let first = build::add(i.clone(), build::int(start));
                    let value = build::load(BufId(0), ty, build::ramp(first, step.clone(), lanes), None);
                    store(BufId(2), dense(build::mul(i, build::int(lanes.into())), lanes), value)
                });
                p.body = rows;
                let table: Vec<Scalar> = (0..TABLE).map(|i| number(ty, element(i))).collect();
                let inputs = [buffer(ty, &table), buffer(I64, &[Scalar::int(I64, distance.into())])];
                let count = 4 * usize::from(lanes);
                let (out, _) = run_everywhere(&p, &[], &inputs, &[(ty, count)]).unwrap();
                for (k, got) in out[0].iter().enumerate() {
                    let (row, lane) = (k as i64 / i64::from(lanes), k as i64 % i64::from(lanes));
                    let want = number(ty, element(start + row + lane * distance));
                    assert_eq!(*got, want, "{ty}, {lanes} lanes, {distance} apart, lane {lane} of row {row}");
                }
            }
        }
    }
    assert!(Tier::Baseline.available());
}
