//! Runs: many threads, faults among them, memory limits, wrong arguments, and the end of it all.

use crate::harness::*;
use halide_core::buffer::AnyBuffer;
use halide_core::limits::{Limits, OverCap};
use halide_core::ops::MathFn;
use halide_core::types::ScalarType::*;
use halide_core::value::Scalar;
use halide_cpu::{CpuError, CpuFault, CpuOptions, Executable, RunArgs, Tier, compile};
use halide_ir::features::{CpuFeature, CpuFeatures};
use halide_ir::target::Target;
use halide_ir::{BufId, Fault, FaultId, Memory, Program, Stmt, Sym, Task, Type, build};
use halide_skips::{Need, skip};

/// `out[i] = sum of a heap buffer filled with in[i], ...` over parallel i, with a check that fails for in[i] < 0.
fn parallel_sums(count: i64) -> Program {
    let mut p = program(&[I32], &[I32]);
    p.faults.push(Fault::NotThisVariant);
    let tmp = internal(&mut p, I32, Memory::Heap);
    p.body = task(&mut p, build::int(0), build::int(count), vec![], vec![], |p, id| {
        let i = || build::loop_var(id);
        let x = build::load(BufId(0), I32, i(), None);
        let check = Stmt::Assert {
            cond: build::ge(x.clone(), build::constant(Scalar::from(0i32))),
            fault: FaultId(0),
            args: vec![i()],
        };
        let fill = serial(p, build::int(100), |k| {
            let value = build::add(x.clone(), build::cast_data(I32, k.clone()));
            store(tmp, k, value)
        });
        let zero = store(BufId(1), i(), build::constant(Scalar::from(0i32)));
        let add = serial(p, build::int(100), |k| {
            let sum = build::add(build::load(BufId(1), I32, i(), None), build::load(tmp, I32, k, None));
            store(BufId(1), i(), sum)
        });
        let body = build::block([fill, check, zero, add]);
        Stmt::Alloc { buf: tmp, count: build::int(100), constant: None, body: Box::new(body) }
    });
    p
}

fn input(count: i64, bad: Option<i64>) -> AnyBuffer {
    let value = |i: i64| Scalar::from(if Some(i) == bad { -1i32 } else { i as i32 });
    buffer(I32, &(0..count).map(value).collect::<Vec<_>>())
}

fn assert_sums(out: &[Scalar]) {
    for (i, v) in out.iter().enumerate() {
        assert_eq!(v.as_i64(), 100 * i as i64 + 4950);
    }
}

#[test]
fn eight_threads_call_one_executable() {
    let e = compiled(&parallel_sums(200));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let (out, stats) = run(&e, &[], &[input(200, None)], &[(I32, 200)]).unwrap();
                    assert_sums(&out[0]);
                    assert_eq!(stats.allocations, 200);
                }
            });
        }
    });
}

#[test]
fn a_fault_in_a_task_ends_the_run() {
    let e = compiled(&parallel_sums(5000));
    for bad in [0, 77, 4999] {
        let fault = run(&e, &[], &[input(5000, Some(bad))], &[(I32, 5000)]).unwrap_err();
        assert_eq!(fault, CpuFault::Check { fault: FaultId(0), args: vec![bad] });
    }
    let (out, _) = run(&e, &[], &[input(5000, None)], &[(I32, 5000)]).unwrap();
    assert_sums(&out[0]);
}

/// Tasks of which some ask for memory that there is not, also tasks in tasks: the run ends with the first of them, the
/// rest is left, and nothing stays allocated.
#[test]
fn allocations_that_fail_in_tasks_end_the_run() {
    const N: i64 = 40_000;
    let mut p = program(&[I64], &[I64]);
    let outer = p.loops.push("outer".into());
    let tmp = internal(&mut p, I64, Memory::Heap);
    let inner = task(&mut p, build::int(0), build::int(100), vec![(Sym::Loop(outer), Type::INDEX)], vec![], |_, id| {
        let at = build::add(build::mul(build::loop_var(outer), build::int(100)), build::loop_var(id));
        let one = store(tmp, build::int(0), build::constant(Scalar::from(5i64)));
        let copy = store(BufId(1), at.clone(), build::load(tmp, I64, build::int(0), None));
        let count = build::to_index(build::load(BufId(0), I64, at, None));
        Stmt::Alloc { buf: tmp, count, constant: None, body: Box::new(build::block([one, copy])) }
    });
    let id = p.tasks.push(Task { id: outer, captures: vec![], buffers: vec![], body: inner });
    p.body = Stmt::Launch { task: id, min: build::int(0), extent: build::int(N / 100) };
    let e = compiled(&p);
    let run = |bad: bool, threads: usize| {
        let count = |i: i64| Scalar::from(if bad && i % 500 == 7 { 1i64 << 57 } else { 1 + i % 3000 });
        let source = buffer(I64, &(0..N).map(count).collect::<Vec<_>>());
        let mut out = AnyBuffer::new(I64, [N]).unwrap();
        let raws = [source.raw(), out.view_mut().unwrap().raw_mut()];
        let result = e.run(&RunArgs { buffers: &raws, threads: Some(threads), ..RunArgs::default() });
        let written = values(&out).iter().filter(|v| v.as_i64() == 5).count();
        (result.map(drop), written)
    };
    for threads in [1, 2, 8] {
        let (failed, written) = run(true, threads);
        assert_eq!(failed, Err(CpuFault::OutOfMemory { buf: tmp, bytes: 1 << 60 }));
        assert!(written < 500 * threads, "{written} of {N} by {threads} threads");
        assert_eq!(run(false, threads), (Ok(()), N as usize));
        e.trim();
        assert_eq!(e.retained_bytes(), 0);
    }
}

#[test]
fn threads_can_be_chosen() {
    let e = compiled(&parallel_sums(300));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for (threads, pool) in [(Some(1), None), (Some(2), None), (None, Some(&pool)), (Some(100), Some(&pool))] {
        let (source, mut out) = (input(300, None), AnyBuffer::new(I32, [300i64]).unwrap());
        let raws = [source.raw(), out.view_mut().unwrap().raw_mut()];
        e.run(&RunArgs { buffers: &raws, threads, pool, ..RunArgs::default() }).unwrap();
        assert_sums(&values(&out));
    }
}

/// One thread runs the iterations in order.
#[test]
fn one_thread_runs_in_order() {
    let mut p = program(&[], &[I32, I32]);
    p.body = task(&mut p, build::int(0), build::int(100), vec![], vec![], |_, id| {
        let next = build::load(BufId(1), I32, build::int(0), None);
        build::block([
            store(BufId(0), build::loop_var(id), next.clone()),
            store(BufId(1), build::int(0), build::add(next, build::constant(Scalar::from(1i32)))),
        ])
    });
    let e = compiled(&p);
    let (mut a, mut b) = (AnyBuffer::new(I32, [100i64]).unwrap(), AnyBuffer::new(I32, [1i64]).unwrap());
    let raws = [a.view_mut().unwrap().raw_mut(), b.view_mut().unwrap().raw_mut()];
    e.run(&RunArgs { buffers: &raws, threads: Some(1), ..RunArgs::default() }).unwrap();
    assert!(values(&a).iter().enumerate().all(|(i, v)| v.as_i64() == i as i64));
}

/// A program that allocates as many elements as its input says.
fn allocating() -> Executable {
    let mut p = program(&[I64], &[I64]);
    let tmp = internal(&mut p, I64, Memory::Auto);
    let n = build::to_index(build::load(BufId(0), I64, build::int(0), None));
    let one = store(tmp, build::int(0), build::constant(Scalar::from(5i64)));
    let body = build::block([one, store(BufId(1), build::int(0), build::load(tmp, I64, build::int(0), None))]);
    p.body = Stmt::Alloc { buf: tmp, count: n, constant: None, body: Box::new(body) };
    compiled(&p)
}

#[test]
fn allocations_that_fail_are_faults() {
    let e = allocating();
    let allocate = |count: i64, memory_cap: Option<u64>| {
        let (source, mut out) = (buffer(I64, &[Scalar::from(count)]), AnyBuffer::new(I64, [1i64]).unwrap());
        let raws = [source.raw(), out.view_mut().unwrap().raw_mut()];
        let limits = memory_cap.map(Limits::with_cap);
        e.run(&RunArgs { buffers: &raws, limits: limits.as_ref(), ..RunArgs::default() })
    };
    let oom = |bytes| Err(CpuFault::OutOfMemory { buf: BufId(2), bytes });
    assert_eq!(allocate(i64::MAX, None), oom(u64::MAX));
    assert_eq!(allocate(1 << 57, None), oom(1 << 60));
    // There is slack behind every allocation.
    let over = OverCap { bytes: 8064, held: 0, cap: 4000, of_machine: false };
    assert_eq!(allocate(1000, Some(4000)), Err(CpuFault::OverCap { buf: BufId(2), over }));
    assert!(allocate(1000, Some(9000)).is_ok());
    assert!(allocate(1, Some(4000)).is_ok(), "a failed run leaves nothing behind");
    let peak = allocate(1 << 20, None).unwrap().peak_bytes;
    assert!((8 << 20..9 << 20).contains(&peak), "{peak}");
    assert!(e.retained_bytes() >= 8 << 20);
    e.trim();
    assert_eq!(e.retained_bytes(), 0);
}

#[test]
fn wrong_arguments_are_refused() {
    let e = allocating();
    let wrong = |buffers: &[&AnyBuffer], params: &[Scalar]| {
        let raws: Vec<_> = buffers.iter().map(|b| b.raw()).collect();
        match e.run(&RunArgs { params, buffers: &raws, ..RunArgs::default() }) {
            Err(CpuFault::Arguments(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let (a, b) = (AnyBuffer::new(I64, [1i64]).unwrap(), AnyBuffer::new(I32, [1i64]).unwrap());
    assert_eq!(wrong(&[&a], &[]), "0 parameters and 2 buffers are needed, 0 and 1 were given");
    assert_eq!(wrong(&[&a, &a], &[Scalar::from(1i32)]), "0 parameters and 2 buffers are needed, 1 and 2 were given");
    assert_eq!(wrong(&[&a, &b], &[]), "out0 has 1 dimensions of i64, not 1 of i32");
    let flat = AnyBuffer::new(I64, [1i64, 1]).unwrap();
    assert_eq!(wrong(&[&flat, &a], &[]), "in0 has 1 dimensions of i64, not 2 of i64");
}

#[test]
fn text_is_kept_where_asked_for() {
    let p = parallel_sums(10);
    let e = compiled(&p);
    assert!(e.clif().is_some_and(|t| t.contains("; pipeline") && t.contains("; task0")));
    assert!(e.asm().is_some_and(|t| t.contains("; pipeline")));
    assert_eq!((e.stats().functions, e.stats().bytes > 0), (2, true));
    let silent = compile(&p, &CpuOptions::default()).unwrap();
    assert_eq!((silent.clif(), silent.asm()), (None, None));
}

#[test]
fn the_host_is_described() {
    let target = Target::host();
    assert_eq!(target.vector_bits, Tier::host().vector_bits());
    assert_eq!(target.natural_lanes(U16), i64::from(target.vector_bits) / 16);
    assert!(target.threads >= 1);
}

#[test]
fn vectors_that_a_machine_lacks_are_refused() {
    let p = parallel_sums(10);
    for tier in Tier::ALL {
        assert_eq!((Tier::named(tier.name()), Tier::for_bits(tier.vector_bits())), (Some(tier), tier));
        match compile(&p, &CpuOptions { tier, ..CpuOptions::default() }) {
            Ok(_) => assert!(tier.available()),
            Err(CpuError::Host(why)) => {
                assert!(!tier.available());
                assert_eq!(why, format!("this machine has no {} instructions", tier.name()));
            }
            Err(e) => panic!("{e}"),
        }
    }
    assert_eq!(Tier::for_bits(64), Tier::Baseline);
}

/// Whatever extensions are left out, results stay, and so do instructions of theirs.
#[test]
fn extensions_that_are_not_listed_are_not_used() {
    if !cfg!(target_arch = "x86_64") {
        return skip(Need::Architecture("x86_64"), "");
    }
    let lists = [
        "",
        "popcnt,lzcnt,bmi1,bmi2",
        "avx2",
        "avx2,fma,f16c,bmi2",
        "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi2",
        "avx512vbmi,avx512dq,avx512vl,avx512cd,bmi2",
    ];
    // Every second byte, and a product and sum.
    let (bytes, floats) = (dense(build::int(0), 64), dense(build::int(0), 16));
    let mut p = program(&[U8, F32], &[U8, F32]);
    let second = build::ramp(build::int(0), build::int(2), 64);
    let x = build::load(BufId(1), F32, floats.clone(), None);
    let sum = build::math(MathFn::MulAdd, vec![x.clone(), x.clone(), x]);
    p.body = serial(&mut p, build::int(2), |_| {
        build::block([store(BufId(2), bytes, build::load(BufId(0), U8, second, None)), store(BufId(3), floats, sum)])
    });
    let bytes: Vec<Scalar> = (0..128).map(|i| Scalar::from(i as u8)).collect();
    let floats: Vec<Scalar> = (0..16).map(|i| Scalar::from(i as f32)).collect();
    let inputs = [buffer(U8, &bytes), buffer(F32, &floats)];
    for list in lists {
        let features = CpuFeatures::parse(list).unwrap();
        let options = CpuOptions {
            tier: Tier::of_features(features),
            features: Some(features),
            keep_text: true,
            ..CpuOptions::default()
        };
        let code = match compile(&p, &options) {
            Ok(code) => code,
            Err(why) => {
                assert!(!has_all(features), "{list}: {why}");
                continue;
            }
        };
        let (out, _) = run(&code, &[], &inputs, &[(U8, 64), (F32, 16)]).unwrap();
        assert!(out[0].iter().enumerate().all(|(i, v)| *v == Scalar::from(2 * i as u8)), "{list}");
        assert!(out[1].iter().enumerate().all(|(i, v)| *v == Scalar::from((i * i + i) as f32)), "{list}");
        let asm = code.asm().unwrap_or_default();
        let uses = |what: &str| asm.contains(what);
        let has = |feature| features.has(feature);
        assert!(has(CpuFeature::Avx) || !uses(" v"), "{list}: {asm}");
        assert!(has(CpuFeature::Fma) || !uses("vfmadd"), "{list}: {asm}");
        assert_eq!(uses("ymm") || uses("zmm"), options.tier > Tier::Baseline, "{list}: {asm}");
        // Without permutations of bytes, this loop has vectors of 256 bits.
        let permutes = has(CpuFeature::Avx512vbmi);
        assert_eq!(uses("zmm"), options.tier == Tier::Avx512 && permutes, "{list}: {asm}");
        assert_eq!(uses("vpermt2b") || uses("vpermb"), permutes, "{list}: {asm}");
    }
}

/// The bytes of functions are there where text is asked for, each from its first instruction on.
#[test]
fn bytes_of_functions_are_kept_with_their_text() {
    let p = parallel_sums(10);
    assert_eq!(compile(&p, &CpuOptions::default()).unwrap().functions(), []);
    let code = compile(&p, &CpuOptions { keep_text: true, ..CpuOptions::default() }).unwrap();
    let functions = code.functions();
    assert_eq!(functions[0].name, "pipeline");
    assert!(functions.iter().all(|f| !f.bytes.is_empty()));
    let kernels = functions.iter().filter(|f| f.spill_bytes.is_some()).count();
    assert_eq!(kernels, code.stats().kernels, "only the generator of kernels says where it spills");
    assert_eq!(functions.len(), code.stats().functions + kernels);
}

/// Code is unmapped when the last clone goes.
#[test]
fn dropping_frees_the_code() {
    if !cfg!(target_os = "linux") {
        return skip(Need::System("linux"), "the list of mapped pages");
    }
    let mapped =
        || std::fs::read_to_string("/proc/self/maps").unwrap().lines().filter(|l| l.contains("r-xp 0000")).count();
    let p = parallel_sums(10);
    let before = mapped();
    let kept: Vec<Executable> = (0..200).map(|_| compile(&p, &CpuOptions::default()).unwrap()).collect();
    let clones = kept.clone();
    drop(kept);
    run(&clones[0], &[], &[input(10, None)], &[(I32, 10)]).unwrap();
    let during = mapped();
    drop(clones);
    assert!(during >= before, "{before} {during}");
    assert!(mapped() <= before + 20, "{before}, {during}, {}", mapped());
    // Many more than there is room for if they leaked.
    for _ in 0..2000 {
        compile(&p, &CpuOptions::default()).unwrap();
    }
    assert!(mapped() <= before + 20, "{before}, {}", mapped());
}
