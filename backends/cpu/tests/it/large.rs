//! Functions of more instructions than registers are assigned well for.

use crate::harness::*;
use halide_core::types::ScalarType::I32;
use halide_core::value::Scalar;
use halide_cpu::{Executable, Tier};
use halide_ir::{BufId, Program, Stmt, build};

const MANY: i64 = 14_000;
const LANES: u16 = 16;

/// Value `i` of the input, which has one more than there are stores and lanes.
fn value(i: i64) -> i64 {
    i * 7 - 5
}

/// As many stores as there are, of `lanes` each: the sums of neighbours.
fn stores(lanes: u16) -> impl Iterator<Item = Stmt> {
    (0..MANY).map(move |i| {
        let load = |at: i64| build::load(BufId(0), I32, dense(build::int(at), lanes), None);
        store(BufId(1), dense(build::int(i), lanes), build::add(load(i), load(i + 1)))
    })
}

fn agree(p: &Program) {
    let count = MANY + i64::from(LANES);
    let input: Vec<Scalar> = (0..=count).map(|i| Scalar::from(value(i) as i32)).collect();
    let (outs, _) = run_everywhere(p, &[], &[buffer(I32, &input)], &[(I32, count as usize)]).unwrap();
    for (i, v) in (0..MANY).zip(&outs[0]) {
        assert_eq!(v.as_i128(), i128::from(value(i) + value(i + 1)), "{i}");
    }
}

#[test]
fn functions_of_very_many_instructions_get_their_registers_in_one_pass() {
    let mut p = program(&[I32], &[I32]);
    p.body = build::block(stores(1));
    agree(&p);
    assert!(compiled_everywhere(&p).iter().all(|e| e.large() == ["pipeline"]));
    p.body = build::block(stores(1).take(1000));
    assert!(compiled_everywhere(&p).iter().all(|e| e.large().is_empty()));
}

#[test]
fn kernels_of_very_many_instructions_are_left_to_cranelift() {
    let mut p = program(&[I32], &[I32]);
    p.body = serial(&mut p, build::int(2), |_| build::block(stores(LANES)));
    agree(&p);
    let narrow = |e: &Executable| e.stats().kernels == 0 && e.large() == ["pipeline"];
    assert!(compiled_everywhere(&p).iter().all(narrow));
    for tier in wide_tiers() {
        let e = compiled_for(tier, &p);
        let [(_, why)] = e.refusals() else { panic!("{tier:?}") };
        assert!(why.contains("more than 40000"), "{why}");
    }
    assert!(compiled_for(Tier::Baseline, &p).refusals().is_empty());
}
