//! The rules of order, each by programs that keep it and programs that break it: `b0` is the output, `b1` an allocation
//! of `f1`, both of eight elements of u16.

use super::*;
use crate::Task;

/// Runs the text of a body, which may break a rule of `verify`.
fn ran(stage: Stage, text: &str) -> Result<Vec<i64>, EvalError> {
    ran_program(&small(stage, text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))))
}

fn ran_program(p: &Program) -> Result<Vec<i64>, EvalError> {
    let mut outputs = [buffer(&[(0, 8)], |_, _| 9)];
    run(p, &[Scalar::int(I32, 5)], &[], &mut outputs)?;
    Ok(outputs[0].coords().map(|at| outputs[0].get(at).unwrap().as_i64()).collect())
}

#[track_caller]
fn right(stage: Stage, text: &str, first: &[i64]) {
    let got = ran(stage, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(got[..first.len()], *first, "{text}");
}

#[track_caller]
fn wrong(stage: Stage, text: &str, check: Check, part: &str) {
    let e = ran(stage, text).map(|values| panic!("{text}: {values:?}")).unwrap_err();
    assert_eq!(e.check(), Some(check), "{text}: {e}");
    assert!(e.to_string().contains(part), "{text}: {e}");
}

use Stage::{Bounded, Final, Shaped};

#[test]
fn what_is_read_was_written() {
    let filled = |n| format!("alloc b1[8] {{ for L0 from 0 extent {n} {{ b1[L0] = u16(L0) }} b0[0] = b1:u16[7] }}");
    right(Shaped, &filled(8), &[7]);
    wrong(Shaped, &filled(7), Check::Uninitialised, "`out`(0) depends on `tmp`[7], which was never written");
}

#[test]
fn memory_that_was_given_back_is_not_used() {
    let with = |end: &str| format!("alloc b1[8] {{ b1[0] = 3u16 b0[0] = b1:u16[0] free b1 {end} }} b0[1] = 4u16");
    right(Final, &with(""), &[3, 4]);
    let after = "is used after its memory was given back";
    wrong(Final, &with("b0[1] = b1:u16[0]"), Check::Freed, after);
    wrong(Final, &with("b1[0] = 1u16"), Check::Freed, after);
    wrong(Final, &with("free b1"), Check::Freed, "the memory of `tmp` is given back twice");
    // An allocation in a loop is fresh each time.
    right(Final, &format!("for L0 from 0 extent 3 {{ {} }}", with("")), &[3, 4]);
    // In another order, the memory is gone before another iteration is done with it.
    let last = "alloc b1[8] { parallel L0 from 0 extent 4 { b1[L0] = 1u16 if L0 == 3 { free b1 } } }";
    wrong(Final, last, Check::Race, "one iteration gives back `tmp`[0], which another touches");
}

/// An iteration that stores what another one has stored, and then something else.
#[test]
fn values_that_agree_at_first_still_race() {
    let stores = |place| format!("parallel L0 from 0 extent 2 {{ b0[0] = 1u16 if L0 == 1 {{ b0[{place}] = 2u16 }} }}");
    right(Shaped, &stores(1), &[1, 2]);
    wrong(Shaped, &stores(0), Check::Race, "one iteration writes `out`(0)");
    // An iteration that sees what it has stored itself, where another one stores something else for a while.
    let reads = |other| {
        let first = format!("if L0 == 0 {{ b1[0] = {other}u16 }} b1[0] = 1u16 b0[L0] = b1:u16[0]");
        format!("alloc b1[8] {{ parallel L0 from 0 extent 2 {{ {first} }} }}")
    };
    right(Shaped, &reads(1), &[1, 1]);
    wrong(Shaped, &reads(2), Check::Race, "one iteration reads `tmp`[0]");
}

/// A reader is not forgotten for later ones, which the store waits for.
#[test]
fn readers_before_a_nested_loop_count() {
    let program = |place| {
        let many = "parallel L1 from 0 extent 3 { b0[L1 + 2] = b1:u16[0] }";
        let one = format!("if L0 == 0 {{ b0[1] = b1:u16[0] }} else {{ {many} b1[{place}] = 9u16 }}");
        format!("alloc b1[8] {{ b1[0] = 7u16 parallel L0 from 0 extent 2 {{ {one} }} b0[0] = b1:u16[{place}] }}")
    };
    right(Shaped, &program(1), &[9, 7, 7, 7, 7]);
    wrong(Shaped, &program(0), Check::Race, "one iteration writes `tmp`[0]");
}

#[test]
fn tasks_leave_each_other_alone() {
    let launched = |place: &str| {
        let mut p = small(Final, "launch task0 from 0 extent 3".parse().unwrap());
        let body = format!("b0[{place}] = u16(L0)").parse().unwrap();
        p.tasks.push(Task { id: LoopId(0), captures: vec![], buffers: vec![BufId(0)], body });
        ran_program(&p)
    };
    assert_eq!(launched("L0 + 1").unwrap()[1..4], [0, 1, 2]);
    assert_eq!(launched("L0 / 2").unwrap_err().check(), Some(Check::Race));
}

#[test]
fn steps_wait_for_steps_of_their_own_func_only() {
    let around = |body: &str, behind: &str| {
        let sum = "atomic f1 { b1[0] = b1:u16[0] + 1u16 }";
        format!("b0[0] = 0u16 alloc b1[8] {{ b1[0] = 0u16 parallel L0 from 0 extent 3 {{ {sum} {body} }} {behind} }}")
    };
    right(Shaped, &around("", "b0[0] = b1:u16[0]"), &[3]);
    let add = "atomic f0 { b0[0] = b0:u16[0] + 1u16 }";
    right(Shaped, &around(add, ""), &[3]);
    wrong(Shaped, &around("b0[L0] = b1:u16[0]", ""), Check::Race, "one iteration writes `tmp`[0]");
    let other = "atomic f0 { b0[0] = b0:u16[0] + b1:u16[0] }";
    right(Shaped, &around("", &format!("parallel L1 from 0 extent 2 {{ {other} }}")), &[6]);
    wrong(Shaped, &around(other, ""), Check::Race, "one iteration writes `tmp`[0]");
    // What the element holds now is what it held in this order only.
    wrong(Shaped, &around("if L0 == 2 { b1[0] = 3u16 }", ""), Check::Race, "one iteration writes `tmp`[0]");
}

#[test]
fn lanes_of_one_store_agree() {
    let at = |index: &str, value: &str| format!("b0[{index}] = {value}");
    right(Shaped, &at("ramp(3, -1, 4)", "u16x4(ramp(0, 1, 4))"), &[3, 2, 1, 0]);
    right(Shaped, &at("min(ramp(0, 1, 4), x4(2))", "x4(5u16)"), &[5, 5, 5, 9]);
    let clamped = at("min(ramp(0, 1, 4), x4(2))", "u16x4(ramp(0, 1, 4))");
    wrong(Shaped, &clamped, Check::Race, "two lanes of one store write `out`(2)");
}

/// Before storage is flat, elements of a fold know whose they are; afterwards, they are elements like others, so only
/// what they hold shows a mistake.
#[test]
fn folds_keep_what_is_live() {
    let p = |fold: i64, kind: &str, behind: i64| {
        let body = format!(
            "realize f1 [0 extent 8] {{ provide f1(0): b1 = 0u16 {kind} L0 from 1 extent 6 {{ provide f1(L0): b1 = u16(L0) \
             provide f0(L0): b0 = b1:u16(L0 - {behind}) }} }}"
        );
        let mut p = small(Bounded, body.parse().unwrap());
        p.buffers[BufId(1)].fold = vec![Some(fold)];
        ran_program(&p)
    };
    assert_eq!(p(2, "for", 1).unwrap()[1..7], [0, 1, 2, 3, 4, 5]);
    let e = p(1, "for", 1).unwrap_err();
    assert_eq!(e.check(), Some(Check::Uninitialised));
    assert!(e.to_string().contains("`tmp`(0), whose place in the fold holds [1]"), "{e}");
    // Iterations that run at the same time must not share places.
    assert_eq!(p(8, "parallel", 0).unwrap()[1..7], [1, 2, 3, 4, 5, 6]);
    assert_eq!(p(4, "parallel", 0).unwrap_err().check(), Some(Check::Race));
}
