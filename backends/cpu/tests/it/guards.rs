//! Loads stay behind the conditions that make them right, wherever else Cranelift would put them.

use crate::guarded::Guarded;
use crate::harness::*;
use halide_core::buffer::AnyBuffer;
use halide_core::types::ScalarType::*;
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, RunArgs};
use halide_ir::{BufId, Expr, Fault, ForKind, Program, Stmt, build};

const IN: BufId = BufId(0);
const OUT: BufId = BufId(1);

/// A load whose address does not change in a loop stays behind the condition or the check that makes it right.
#[test]
fn conditions_in_loops_protect_loads() {
    let from = Guarded::new();
    for checked in [false, true] {
        let mut p = program(&[I32], &[I32]);
        let fault = p.faults.push(Fault::NotThisVariant);
        let there = build::lt(build::int(0), extent_of(IN));
        p.body = serial(&mut p, build::int(5), |i| {
            let first = build::load(IN, I32, build::int(0), None);
            let copy = store(OUT, i, first);
            match checked {
                true => build::block([Stmt::Assert { cond: there, fault, args: vec![] }, copy]),
                false => build::if_else(there, copy, build::nothing()),
            }
        });
        let e = compiled(&p);
        let mut out = AnyBuffer::new(I32, [5]).unwrap();
        let mut view = out.view_mut().unwrap();
        let empty = e.run(&RunArgs { buffers: &[raw(from.end(0), I32, 0), view.raw_mut()], ..RunArgs::default() });
        match checked {
            true => assert_eq!(empty.unwrap_err(), CpuFault::Check { fault, args: vec![] }),
            false => _ = empty.unwrap(),
        }
        let one = [Scalar::from(7i32)];
        let at = from.end(4);
        from.fill(at, &bytes_of(&one));
        e.run(&RunArgs { buffers: &[raw(at, I32, 1), view.raw_mut()], ..RunArgs::default() }).unwrap();
        assert_eq!(values(&out), [one[0]; 5]);
    }
}

/// A condition inside a loop, with loops inside of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Condition {
    /// The second loop may not run at all.
    SecondExtent,
    /// The third loop, inside of the second one, may not run at all.
    ThirdExtent,
    If,
    Check,
    /// A check in a function of its own.
    CalledCheck,
    /// The same in a loop that ends before the load.
    EndedCheck,
}

/// The form of the index of a load.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// As the sum that it is.
    Sum,
    /// As the variable of a loop that runs once, from a sum in which Cranelift finds the innermost variable to cancel.
    Once,
    /// As such a variable and the innermost one, which cancels.
    Both,
}

/// Three loops, of which the first runs: `out[lanes] = in[sum of coefficients * loop variables + lanes]` behind a
/// condition that holds if `in` has elements, of which it has 3 then. Bytes, because factors in addresses keep
/// Cranelift from moving loads far.
fn loads_behind(condition: Condition, outer: &Expr, coefficients: [i64; 3], form: Form, lanes: u16) -> Program {
    let mut p = program(&[U8], &[U8]);
    let fault = p.faults.push(Fault::NotThisVariant);
    let there = || build::lt(build::int(0), extent_of(IN));
    let names = ["a", "b", "c"].map(|name| p.loops.push(name.into()));
    let mut index = build::int(0);
    for (id, k) in names.into_iter().zip(coefficients) {
        index = build::add(index, build::mul(build::loop_var(id), build::int(k)));
    }
    let last = build::loop_var(names[2]);
    let once = p.loops.push("once".into());
    let (index, min) = match form {
        Form::Sum => (index, build::int(0)),
        Form::Once => (build::loop_var(once), build::sub(build::add(index, last.clone()), last)),
        Form::Both => (build::add(build::loop_var(once), last.clone()), build::sub(index, last)),
    };
    let (from, to) = match lanes {
        1 => (index, build::int(0)),
        _ => (dense(index, lanes), dense(build::int(0), lanes)),
    };
    let body = store(OUT, to, build::load(IN, U8, from, None));
    let body = build::for_loop(once, ForKind::Serial, min, build::int(1), body);
    let extent = |asks| if condition == asks { extent_of(IN) } else { build::int(3) };
    let nest = |id, extent, body| build::for_loop(id, ForKind::Serial, build::int(0), extent, body);
    let body = nest(names[2], extent(Condition::ThirdExtent), body);
    let body = nest(names[1], extent(Condition::SecondExtent), body);
    let check = Stmt::Assert { cond: there(), fault, args: vec![] };
    let body = match condition {
        Condition::SecondExtent | Condition::ThirdExtent => body,
        Condition::If => build::if_else(there(), body, build::nothing()),
        Condition::Check => build::block([check, body]),
        Condition::CalledCheck | Condition::EndedCheck => {
            let call = task(&mut p, build::int(0), build::int(1), vec![], vec![], |_, _| check);
            let ended = condition == Condition::EndedCheck;
            build::block([if ended { serial(&mut p, build::int(2), |_| call) } else { call }, body])
        }
    };
    p.body = nest(names[0], outer.clone(), body);
    p
}

/// A load stays behind a condition of a loop around, also when its address does not change in that loop, and it may
/// leave loops further in: where the condition does not hold, what it would load is not there.
#[test]
fn conditions_of_outer_loops_protect_loads() {
    let from = Guarded::new();
    let source: Vec<Scalar> = ascending(U8, 32);
    use Condition::*;
    for condition in [SecondExtent, ThirdExtent, If, Check, CalledCheck, EndedCheck] {
        for outer in [build::int(8), extent_of(OUT)] {
            for coefficients in [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]] {
                for (form, lanes) in [(Form::Sum, 1), (Form::Sum, 7), (Form::Once, 1), (Form::Both, 4)] {
                    let first: i64 = coefficients.iter().zip([7, 2, 2]).map(|(k, last)| k * last).sum();
                    let expected = &source[first as usize..][..lanes as usize];
                    let fails = matches!(condition, Check | CalledCheck | EndedCheck);
                    let what = format!("{condition:?} {coefficients:?} {form:?}");
                    for e in compiled_everywhere(&loads_behind(condition, &outer, coefficients, form, lanes)) {
                        let mut out = AnyBuffer::new(U8, [8]).unwrap();
                        let mut view = out.view_mut().unwrap();
                        let mut run = |at, extent| {
                            e.run(&RunArgs { buffers: &[raw(at, U8, extent), view.raw_mut()], ..RunArgs::default() })
                        };
                        assert_eq!(run(from.end(0), 0).is_err(), fails, "{what}");
                        let at = from.end(source.len());
                        from.fill(at, &bytes_of(&source));
                        run(at, 3).unwrap();
                        assert_eq!(&values(&out)[..lanes as usize], expected, "{what}");
                    }
                }
            }
        }
    }
}

/// A scalar under a condition that goes to all lanes is 0 where the condition fails, and nothing is read then. Lanes
/// that a mask leaves out are neither read nor stored, also where elements of two widths are under one mask that stays
/// in a loop.
#[test]
fn masks_that_stay_in_loops_protect_scalars_and_lanes() {
    const ROWS: usize = 3;
    let wide = BufId(2);
    for (ty, lanes) in [U8, I16, I32, F32, F64].into_iter().flat_map(|ty| LANES.map(|lanes| (ty, lanes))) {
        let mut p = program(&[ty, ty, F64], &[ty, F64]);
        let (out, wide_out) = (BufId(3), BufId(4));
        let there = build::lt(build::int(2), extent_of(IN));
        // Some lanes of none to all.
        let some = build::lt(dense(build::int(0), lanes), build::broadcast(extent_of(IN), lanes));
        p.body = serial(&mut p, build::int(ROWS as i64), |i| {
            let far = build::select(there.clone(), build::int(0), build::int(1 << 44));
            let scalar =
                build::load(IN, ty, build::add(far, build::min(i.clone(), build::int(2))), Some(there.clone()));
            let at = dense(build::mul(i, build::int(lanes.into())), lanes);
            let load = |buf, ty| build::load(buf, ty, at.clone(), Some(some.clone()));
            let store = |buf, value| Stmt::Store { buf, index: at.clone(), value, mask: Some(some.clone()) };
            let sum = build::add(load(BufId(1), ty), build::broadcast(scalar, lanes));
            build::block([store(out, sum), store(wide_out, load(wide, F64))])
        });
        let count = ROWS * usize::from(lanes);
        let number = |ty, i: usize| halide_core::value::cast(ty, Scalar::from(i as i32 % 50 + 1));
        let of = |ty, count: usize| (0..count).map(|i| number(ty, i)).collect::<Vec<Scalar>>();
        for there in [0, 1, 2, 3, 5, usize::from(lanes)] {
            let inputs = [buffer(ty, &of(ty, there.max(1))), buffer(ty, &of(ty, count)), buffer(F64, &of(F64, count))];
            let there = there.max(1);
            let (outs, _) = run_everywhere(&p, &[], &inputs, &[(ty, count), (F64, count)]).unwrap();
            for (i, got) in outs[0].iter().zip(&outs[1]).enumerate() {
                let (row, lane) = (i / usize::from(lanes), i % usize::from(lanes));
                let scalar = if there > 2 { row.min(2) + 1 } else { 0 };
                let sum = if lane < there { i % 50 + 1 + scalar } else { 0 };
                let copied = if lane < there { number(F64, i) } else { Scalar::zero(F64) };
                let expected = halide_core::value::cast(ty, Scalar::from(sum as i32));
                assert_eq!(got, (&expected, &copied), "{ty:?} {lanes} lanes, {there} there, at {i}");
            }
        }
    }
}
