//! Checks inside of loop nests: the code around a kernel of wide vectors makes those that it can, the kernel the
//! others.

use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::I32;
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, Executable, Tier};
use halide_ir::{BufId, Expr, Fault, FaultId, ForKind, Memory, Program, Stmt, build};

const LANES: i64 = 16;
const ROWS: i64 = 5;

/// For each row `y` of the output: `guard` of a check of `cond`, and the row is a copy of the input.
fn rows(rows: Expr, cond: impl Fn(Expr) -> Expr, guard: impl Fn(Expr, Stmt) -> Stmt) -> Program {
    let mut p = program(&[I32], &[I32]);
    p.faults.push(Fault::NotThisVariant);
    let y = p.loops.push("y".into());
    let row = || build::loop_var(y);
    let n = extent_of(BufId(0));
    let args = vec![n.clone()];
    let check = guard(row(), Stmt::Assert { cond: cond(row()), fault: FaultId(0), args });
    let copy = serial(&mut p, build::div(n.clone(), build::int(LANES)), |x| {
        let at = |first: Expr| dense(build::add(build::mul(x.clone(), build::int(LANES)), first), LANES as u16);
        let value = build::load(BufId(0), I32, at(build::int(0)), None);
        store(BufId(1), at(build::mul(row(), n.clone())), value)
    });
    p.body = build::for_loop(y, ForKind::Serial, build::int(0), rows, build::block([check, copy]));
    p
}

fn run_rows(code: &Executable, n: i64) -> Result<Vec<i64>, CpuFault> {
    let input: Vec<Scalar> = (0..n).map(|i| Scalar::from(i as i32)).collect();
    let (out, _) = run(code, &[], &[buffer(I32, &input)], &[(I32, (ROWS * n) as usize)])?;
    Ok(out[0].iter().map(|v| v.as_i64()).collect())
}

fn copied(rows: i64, n: i64) -> Vec<i64> {
    (0..ROWS * n).map(|i| if i / n < rows { i % n } else { 0 }).collect()
}

fn at_most(n: i64) -> impl Fn(Expr) -> Expr {
    move |_| build::le(extent_of(BufId(0)), build::int(n))
}
fn always(_: Expr, s: Stmt) -> Stmt {
    s
}
fn from(first: i64) -> impl Fn(Expr, Stmt) -> Stmt {
    move |y, s| build::if_else(build::ge(y, build::int(first)), s, build::nothing())
}

/// The code for a tier, all of which is one kernel.
fn kernel(tier: Tier, p: &Program) -> Executable {
    let code = compiled_for(tier, p);
    assert_eq!((code.refusals(), code.stats().kernels), (&[][..], 1));
    code
}

#[test]
fn what_is_known_outside_is_checked_before() {
    let failed = |n| Err(CpuFault::Check { fault: FaultId(0), args: vec![n] });
    for tier in wide_tiers() {
        let code = kernel(tier, &rows(build::int(ROWS), at_most(32), always));
        assert_eq!((run_rows(&code, 32), run_rows(&code, 48)), (Ok(copied(ROWS, 32)), failed(48)));
        let code = kernel(tier, &rows(build::int(ROWS), at_most(32), from(ROWS - 1)));
        assert_eq!((run_rows(&code, 32), run_rows(&code, 48)), (Ok(copied(ROWS, 32)), failed(48)));
    }
}

/// A check is not made where no iteration comes to it.
#[test]
fn what_is_never_reached_is_not_checked() {
    for tier in wide_tiers() {
        let code = kernel(tier, &rows(build::int(ROWS), at_most(32), from(ROWS)));
        assert_eq!(run_rows(&code, 48), Ok(copied(ROWS, 48)));
        // As many rows as the input has vectors beyond the first three.
        let few = build::sub(build::div(extent_of(BufId(0)), build::int(LANES)), build::int(3));
        let code = kernel(tier, &rows(few, at_most(32), always));
        assert_eq!(run_rows(&code, 48), Ok(copied(0, 48)));
        assert!(run_rows(&code, 64).is_err());
    }
}

fn of_row(y: Expr) -> Expr {
    build::lt(y, build::sub(build::int(8), build::div(extent_of(BufId(0)), build::int(LANES))))
}

/// True in iterations of which nothing is known outside.
fn odd(y: Expr, s: Stmt) -> Stmt {
    let one = build::binary(BinOp::Mod, y, build::int(7));
    build::if_else(build::lt(build::int(3), one), s, build::nothing())
}

#[test]
fn what_is_known_inside_ends_the_kernel() {
    let failed = |n| Err(CpuFault::Check { fault: FaultId(0), args: vec![n] });
    for tier in wide_tiers() {
        for p in [rows(build::int(ROWS), of_row, always), rows(build::int(ROWS), of_row, odd)] {
            let code = kernel(tier, &p);
            assert_eq!((run_rows(&code, 48), run_rows(&code, 64)), (Ok(copied(ROWS, 48)), failed(64)));
            assert_eq!(run_rows(&code, 32), Ok(copied(ROWS, 32)), "the words of a failed call are not kept");
        }
        let code = kernel(tier, &rows(build::int(ROWS), at_most(32), odd));
        assert_eq!((run_rows(&code, 32), run_rows(&code, 48)), (Ok(copied(ROWS, 32)), failed(48)));
    }
}

/// Loads stay in the loop whose check forbids them.
#[test]
fn loads_stay_behind_checks() {
    for tier in wide_tiers() {
        let mut p = rows(build::int(ROWS), |y| build::lt(build::int(100), y), always);
        let far = dense(build::int(1 << 40), LANES as u16);
        let Stmt::For(l) = &mut p.body else { panic!("{p}") };
        let check = match &l.body {
            Stmt::Block(list) => list[0].clone(),
            other => panic!("{other:?}"),
        };
        let store = store(BufId(1), dense(build::int(0), LANES as u16), build::load(BufId(0), I32, far, None));
        l.body = build::block([check, store]);
        let failed = Err(CpuFault::Check { fault: FaultId(0), args: vec![16] });
        assert_eq!(run_rows(&kernel(tier, &p), 16), failed);
    }
}

/// Values that are in registers when a check is made are so after it.
#[test]
fn registers_outlive_checks() {
    for tier in wide_tiers() {
        let mut p = program(&[I32], &[I32]);
        p.faults.push(Fault::Unproved);
        let y = p.loops.push("y".into());
        let sum = internal(&mut p, I32, Memory::Register);
        let lanes = |first: Expr| dense(first, LANES as u16);
        let load = |buf, at: Expr| build::load(buf, I32, at, None);
        let row = build::mul(build::loop_var(y), build::int(LANES));
        let added = build::add(load(sum, lanes(build::int(0))), load(BufId(0), lanes(row.clone())));
        let check =
            Stmt::Assert { cond: build::lt(build::loop_var(y), build::int(100)), fault: FaultId(0), args: Vec::new() };
        let body = build::block([
            store(sum, lanes(build::int(0)), load(BufId(0), lanes(build::int(0)))),
            serial(&mut p, build::int(3), |_| {
                build::block([check.clone(), store(sum, lanes(build::int(0)), added.clone())])
            }),
            store(BufId(1), lanes(row), load(sum, lanes(build::int(0)))),
        ]);
        let held =
            Stmt::Alloc { buf: sum, count: build::int(LANES), constant: Some(LANES as u64), body: Box::new(body) };
        p.body = build::for_loop(y, ForKind::Serial, build::int(0), build::int(ROWS), held);
        let code = kernel(tier, &p);
        let out = run_rows(&code, ROWS * LANES).unwrap();
        let expected = |i: i64| i % LANES + 3 * (i % LANES + i / LANES * LANES);
        assert_eq!(out[..(ROWS * LANES) as usize], (0..ROWS * LANES).map(expected).collect::<Vec<_>>());
    }
}

/// Memory of a nest is obtained before it: a size that is checked inside keeps the nest from being a kernel.
#[test]
fn sizes_are_not_checked_inside() {
    for tier in wide_tiers() {
        let mut p = rows(build::int(ROWS), of_row, always);
        p.faults[FaultId(0)] = Fault::OutOfMemory { buf: BufId(1) };
        let code = compiled_for(tier, &p);
        let reasons: Vec<&str> = code.refusals().iter().map(|(_, why)| &why[..]).collect();
        assert_eq!(reasons, ["a check of a size that is only known inside"]);
        assert_eq!(run_rows(&code, 48), Ok(copied(ROWS, 48)));
        assert!(run_rows(&code, 64).is_err());
    }
}
