//! Random programs: compiled code against the checked evaluator of loop IR.

use crate::harness::{SplitMix, random, tiers, well_formed};
use halide_core::buffer::{AnyBuffer, RawBuffer};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, CpuOptions, RunArgs, Tier, compile};
use halide_ir::eval::{self, EvalError};
use halide_ir::{BufferInfo, BufferRole, FaultId, Program, Stage};
use halide_testing::programs::{Random, program};

fn filled(ty: ScalarType, info: &BufferInfo, r: &mut SplitMix) -> AnyBuffer {
    let extents = vec![4i64; info.dims];
    let mut b = AnyBuffer::new(ty, &extents).unwrap();
    let points: Vec<Vec<i32>> = b.coords().collect();
    let mut view = b.view_mut().unwrap();
    for at in points {
        view.set(&at, random(ty, r)).unwrap();
    }
    drop(view);
    b
}

/// The inputs of a program, and the results that the evaluator found.
struct Evaluated {
    params: Vec<Scalar>,
    images: Vec<AnyBuffer>,
    /// Before the run.
    outputs: Vec<AnyBuffer>,
    expected: Vec<AnyBuffer>,
    /// Its counters, or the check that ended it.
    end: Result<Vec<i64>, FaultId>,
}

/// `None` where the evaluator finds the program to be one that must not run.
fn evaluate(p: &Program, seed: u64) -> Option<Evaluated> {
    let mut r = SplitMix(seed);
    let params: Vec<Scalar> = p.params.iter().map(|(_, ty)| random(*ty, &mut r)).collect();
    let of = |wanted: fn(BufferRole) -> bool| p.buffers.iter().filter(move |b| wanted(b.role));
    let images: Vec<AnyBuffer> =
        of(|role| matches!(role, BufferRole::Input(_))).map(|b| filled(b.elem, b, &mut r)).collect();
    let outputs: Vec<AnyBuffer> =
        of(|role| matches!(role, BufferRole::Output(_))).map(|b| filled(b.elem, b, &mut r)).collect();
    let mut expected = outputs.clone();
    let end = match eval::run(p, &params, &images, &mut expected) {
        Ok(stats) => Ok(stats.counters),
        Err(EvalError::Fault { fault, garbage: false, .. }) => Err(fault),
        // By what machine code goes, nobody knows; nor is anything compared that observes what was never written.
        Err(_) => return None,
    };
    Some(Evaluated { params, images, outputs, expected, end })
}

/// Machine code for a tier does the same.
fn check(p: &Program, seed: u64, tier: Tier, evaluated: &Evaluated) {
    let Evaluated { params, images, outputs, expected, end } = evaluated;
    let e = compile(p, &CpuOptions { tier, ..CpuOptions::default() });
    let e = well_formed(e.unwrap_or_else(|e| panic!("seed {seed}, {tier:?}: {e}\n{p}")));
    let mut found: Vec<AnyBuffer> = outputs.iter().map(|b| b.compact().unwrap()).collect();
    let mut raws: Vec<RawBuffer> = images.iter().map(|b| b.raw()).collect();
    raws.extend(found.iter_mut().map(|b| b.view_mut().unwrap().raw_mut()));
    match (e.run(&RunArgs { params, buffers: &raws, threads: Some(1), ..RunArgs::default() }), end) {
        // What a message shows may be an element that was never written.
        (Err(CpuFault::Check { fault, .. }), Err(expected)) => {
            assert_eq!(fault, *expected, "seed {seed}, {tier:?}\n{p}")
        }
        (Ok(stats), Ok(counters)) => {
            assert_eq!(stats.counters, *counters, "seed {seed}, {tier:?}\n{p}");
            for (n, (a, b)) in expected.iter().zip(&found).enumerate() {
                for at in a.coords() {
                    let (a, b) = (a.get(&at).unwrap(), b.get(&at).unwrap());
                    assert!(a.same(b), "seed {seed}, {tier:?}: output {n} at {at:?} is {b:?}, not {a:?}\n{p}");
                }
            }
        }
        (ran, end) => panic!("seed {seed}, {tier:?}: {ran:?} for {end:?}\n{p}"),
    }
}

/// At every tier that this machine has; `HALIDE_FUZZ_CASES` and `HALIDE_FUZZ_SEED` make it a long run.
#[test]
fn random_programs() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let (first, count) = (number("HALIDE_FUZZ_SEED").unwrap_or(0), number("HALIDE_FUZZ_CASES").unwrap_or(1500));
    let mut ran = 0;
    for seed in first..first + count {
        let p = program(&mut Random::new(seed), Stage::Final, 1 + (seed % 40) as u32);
        let Some(evaluated) = evaluate(&p, seed) else { continue };
        tiers().for_each(|tier| check(&p, seed, tier, &evaluated));
        ran += 1;
    }
    assert!(ran * 5 > count, "only {ran} of {count} programs could run");
}
