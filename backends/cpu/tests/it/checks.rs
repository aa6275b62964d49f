//! Checks inside of loop nests: kernels of wide vectors leave them to the code around, which makes them if the nest would.

use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::I32;
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, Executable, Tier};
use halide_sched::ir::{BufId, Expr, Fault, FaultId, ForKind, Program, Stmt, build};

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

/// Such nests are not kernels, and fail where they did.
#[test]
fn what_is_known_inside_stays_inside() {
    let of_row = |y: Expr| build::lt(y, build::sub(build::int(8), build::div(extent_of(BufId(0)), build::int(LANES))));
    let odd = |y: Expr, s: Stmt| {
        let one = build::binary(BinOp::Mod, y, build::int(7));
        build::if_else(build::lt(build::int(5), one), s, build::nothing())
    };
    for tier in wide_tiers() {
        for (p, why) in [
            (rows(build::int(ROWS), of_row, always), "a check of what is only known inside"),
            (rows(build::int(ROWS), at_most(32), odd), "a check, and whether it is ever made is only known inside"),
        ] {
            let code = compiled_for(tier, &p);
            let reasons: Vec<&str> = code.refusals().iter().map(|(_, why)| &why[..]).collect();
            assert_eq!(reasons, [why]);
            assert_eq!(run_rows(&code, 48), Ok(copied(ROWS, 48)));
        }
        let code = compiled_for(tier, &rows(build::int(ROWS), of_row, always));
        assert!(run_rows(&code, 64).is_err());
    }
}
