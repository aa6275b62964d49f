//! Random programs: compiled code against the checked evaluator of loop IR.

use crate::harness::{SplitMix, random};
use halide_core::buffer::{AnyBuffer, RawBuffer};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, CpuOptions, RunArgs, compile};
use halide_sched::ir::arbitrary::{Random, program};
use halide_sched::ir::eval::{self, EvalError};
use halide_sched::ir::{BufferInfo, BufferRole, Program, Stage};

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

/// Whether the two agree; `None` where the evaluator finds the program to be one that must not run.
fn check(p: &Program, seed: u64) -> Option<()> {
    let mut r = SplitMix(seed);
    let params: Vec<Scalar> = p.params.iter().map(|(_, ty)| random(*ty, &mut r)).collect();
    let of = |wanted: fn(BufferRole) -> bool| p.buffers.iter().filter(move |b| wanted(b.role));
    let images: Vec<AnyBuffer> =
        of(|role| matches!(role, BufferRole::Input(_))).map(|b| filled(b.elem, b, &mut r)).collect();
    let outputs: Vec<AnyBuffer> =
        of(|role| matches!(role, BufferRole::Output(_))).map(|b| filled(b.elem, b, &mut r)).collect();
    let (mut expected, mut found) = (outputs.clone(), outputs.iter().map(|b| b.compact().unwrap()).collect::<Vec<_>>());
    let evaluated = eval::run(p, &params, &images, &mut expected);
    let fault = match &evaluated {
        Ok(_) => None,
        Err(EvalError::Fault { fault, garbage: false, .. }) => Some(*fault),
        // By what machine code goes, nobody knows; nor is anything compared that observes what was never written.
        Err(_) => return None,
    };
    let e = compile(p, &CpuOptions::default()).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{p}"));
    let mut raws: Vec<RawBuffer> = images.iter().map(|b| b.raw()).collect();
    raws.extend(found.iter_mut().map(|b| b.view_mut().unwrap().raw_mut()));
    let ran = e.run(&RunArgs { params: &params, buffers: &raws, threads: Some(1), ..RunArgs::default() });
    match (ran, fault) {
        // What a message shows may be an element that was never written.
        (Err(CpuFault::Check { fault: found, .. }), Some(expected)) => assert_eq!(found, expected, "seed {seed}\n{p}"),
        (Ok(stats), None) => {
            assert_eq!(Some(stats.counters), evaluated.ok().map(|s| s.counters), "seed {seed}\n{p}");
            for (n, (a, b)) in expected.iter().zip(&found).enumerate() {
                for at in a.coords() {
                    let (a, b) = (a.get(&at).unwrap(), b.get(&at).unwrap());
                    assert!(a.same(b), "seed {seed}: output {n} at {at:?} is {b:?}, not {a:?}\n{p}");
                }
            }
        }
        (ran, fault) => panic!("seed {seed}: {ran:?} for {fault:?}\n{p}"),
    }
    Some(())
}

#[test]
fn random_programs() {
    let (first, count) = (0, 1500);
    let mut ran = 0;
    for seed in first..first + count {
        let p = program(&mut Random::new(seed), Stage::Final, 1 + (seed % 40) as u32);
        ran += u64::from(check(&p, seed).is_some());
    }
    assert!(ran * 5 > count, "only {ran} of {count} programs could run");
}
