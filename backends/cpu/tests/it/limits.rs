//! Runs that are ended early, and loops that look whether they are.

use crate::cleanup::{H, W, image, pipeline};
use crate::harness::*;
use halide_core::buffer::AnyBuffer;
use halide_core::interp::PrintSink;
use halide_core::limits::{Limits, Stop};
use halide_core::types::ScalarType::*;
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, CpuOptions, Executable, RunArgs, RunStats, compile};
use halide_ir::footprint::Footprint;
use halide_ir::target::Target;
use halide_ir::{BufId, BufferRole, Expr, Memory, Program, Stmt, build};
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::resolve;
use std::time::{Duration, Instant};

const OUT: BufId = BufId(0);
/// Far more iterations than anybody waits for.
const ENDLESS: i64 = 1 << 50;

/// `out[i] += 1` for `inner` vectors, `outer` times.
fn sums(outer: Expr, inner: Expr, lanes: u16) -> Program {
    let mut p = program(&[], &[I32]);
    let id = p.loops.push("row".into());
    let step = serial(&mut p, inner, |i| {
        let at = build::mul(i, build::int(i64::from(lanes)));
        let at = if lanes == 1 { at } else { dense(at, lanes) };
        let one = build::broadcast(build::constant(Scalar::from(1i32)), lanes);
        store(OUT, at.clone(), build::add(build::load(OUT, I32, at, None), one))
    });
    p.body = build::for_loop(id, halide_ir::ForKind::Serial, build::int(0), outer, step);
    p
}

fn run_with(code: &Executable, n: i64, limits: &Limits, threads: usize) -> (Result<RunStats, CpuFault>, Vec<Scalar>) {
    let mut out = AnyBuffer::new(I32, [n]).unwrap();
    let raws = [out.view_mut().unwrap().raw_mut()];
    let args = RunArgs { buffers: &raws, limits: Some(limits), threads: Some(threads), ..RunArgs::default() };
    (code.run(&args), values(&out))
}

/// Runs until another thread says stop after some milliseconds; how long it took from then on.
fn stopped_after(code: &Executable, n: i64, threads: usize) -> Duration {
    let limits = Limits::default();
    std::thread::scope(|scope| {
        let told = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            limits.stop(Stop::Cancelled);
            Instant::now()
        });
        let (result, _) = run_with(code, n, &limits, threads);
        let ended = Instant::now();
        assert_eq!(result, Err(CpuFault::Stopped(Stop::Cancelled)));
        ended.saturating_duration_since(told.join().unwrap())
    })
}

/// Generous, since machines are shared: it takes microseconds.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn serial_nests_end_early_in_both_generators() {
    for lanes in [1, 16] {
        for code in compiled_everywhere(&sums(build::int(ENDLESS), build::int(1000), lanes)) {
            let n = 1000 * i64::from(lanes);
            assert!(stopped_after(&code, n, 1) < SOON);
            code.trim();
            assert_eq!(code.retained_bytes(), 0);
        }
    }
}

/// Counts the polls of the flag: loads of a byte in a program that has no others.
fn looks(code: &Executable) -> usize {
    let kernels = code.functions().iter().filter(|f| f.spill_bytes.is_some()).flat_map(|f| &f.lines);
    let kernels = kernels.filter(|line| line.text.contains("movzx")).count();
    kernels + code.clif().unwrap_or_default().matches("load.i8").count()
}

#[test]
fn only_loops_of_long_iterations_look_whether_they_are_to_end() {
    let unknown =
        || build::sym(halide_ir::Sym::Buffer { buf: OUT, dim: 0, field: halide_core::pipeline::DimField::Extent });
    for lanes in [1, 16] {
        let of = |outer: Expr, inner: Expr| sums(outer, inner, lanes);
        let cases = [
            (of(unknown(), build::int(64)), 1),
            (of(unknown(), unknown()), 1),
            (of(build::int(9), unknown()), 1),
            (of(unknown(), build::int(63)), 0),
            (of(build::int(1), unknown()), 0),
            (of(unknown(), build::int(1)), 0),
        ];
        for (i, (p, wanted)) in cases.into_iter().enumerate() {
            for code in compiled_everywhere(&p) {
                // The caller of a kernel looks once more.
                let kernels = code.stats().kernels;
                assert_eq!(looks(&code), wanted * (1 + kernels), "{i}, {lanes} lanes, {kernels} kernels");
            }
        }
    }
}

#[test]
fn three_loops_deep_both_outer_ones_look() {
    let mut p = sums(build::int(5), build::int(1000), 16);
    let inner = std::mem::replace(&mut p.body, build::nothing());
    p.body = serial(&mut p, build::int(7), |_| inner);
    for code in compiled_everywhere(&p) {
        assert_eq!(looks(&code), 2 + code.stats().kernels);
        let (result, out) = run_with(&code, 16_000, &Limits::default(), 1);
        assert!(result.is_ok() && out.iter().all(|v| *v == Scalar::from(35i32)));
    }
}

#[test]
fn parallel_loops_end_early_and_free_their_memory() {
    for code in compiled_everywhere(&parallel_nests()) {
        let limits = Limits::default();
        limits.stop(Stop::TimeUp);
        let (result, out) = run_with(&code, 64, &limits, 2);
        assert_eq!(result, Err(CpuFault::Stopped(Stop::TimeUp)));
        assert_eq!(out, [Scalar::from(0i32); 64], "it had been told before it began");
    }
    for threads in [1, 2, 8] {
        let code = compiled(&parallel_nests());
        assert!(stopped_after(&code, 64, threads) < SOON, "{threads}");
        code.trim();
        assert_eq!(code.retained_bytes(), 0, "{threads}");
        assert!(stopped_after(&code, 64, threads) < SOON, "{threads}: the same code again");
    }
}

/// A task for each element, which is an endless serial nest with memory of its own.
fn parallel_nests() -> Program {
    let mut p = program(&[], &[I32]);
    let tmp = internal(&mut p, I32, Memory::Heap);
    p.body = task(&mut p, build::int(0), build::int(64), vec![], vec![], |p, id| {
        let own = build::loop_var(id);
        let inner = serial(p, build::int(1000), |i| store(tmp, i.clone(), build::cast_data(I32, i)));
        let outer = serial(p, build::int(ENDLESS), |_| inner);
        let copy = store(OUT, own, build::load(tmp, I32, build::int(7), None));
        let body = Box::new(build::block([outer, copy]));
        Stmt::Alloc { buf: tmp, count: build::int(100_000), constant: None, body }
    });
    p
}

/// One run that is ended does not disturb others of the same code on the same threads.
#[test]
fn other_runs_of_the_same_code_go_on() {
    let mut p = program(&[I64], &[I32]);
    let rounds = build::to_index(build::load(BufId(0), I64, build::int(0), None));
    p.body = task(&mut p, build::int(0), build::int(16), vec![], vec![], |p, id| {
        let own = build::loop_var(id);
        let inner = serial(p, build::int(100), |_| {
            let old = build::load(BufId(1), I32, own.clone(), None);
            store(BufId(1), own.clone(), build::add(old, build::constant(Scalar::from(1i32))))
        });
        let line = p.prints.push(Vec::new());
        let begun = Stmt::Print { line, when: build::boolean(true), args: Vec::new() };
        build::block([begun, serial(p, rounds, |_| inner)])
    });
    let code = compiled(&p);
    // The run that does not end keeps two of four threads: with none left, others would wait for it.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let run = |rounds: i64, limits: &Limits, print: Option<&PrintSink>| {
        let (source, mut out) = (buffer(I64, &[Scalar::from(rounds)]), AnyBuffer::new(I32, [16i64]).unwrap());
        let raws = [source.raw(), out.view_mut().unwrap().raw_mut()];
        let result = code.run(&RunArgs {
            buffers: &raws,
            limits: Some(limits),
            threads: Some(2),
            pool: Some(&pool),
            print,
            ..RunArgs::default()
        });
        (result.map(drop), values(&out))
    };
    let limits = Limits::default();
    let (begins, begun) = std::sync::mpsc::channel();
    let tell = move |_: &str| begins.send(()).unwrap_or_default();
    std::thread::scope(|scope| {
        let endless = scope.spawn(|| run(ENDLESS, &limits, Some(&tell)).0);
        // A thread of the pool that waits takes up what waits to begin, also of other runs.
        (0..2).for_each(|_| begun.recv().unwrap());
        for _ in 0..20 {
            let (result, out) = run(5, &Limits::default(), None);
            assert_eq!(result, Ok(()));
            assert!(out.iter().all(|v| *v == Scalar::from(500i32)), "{out:?}");
        }
        limits.stop(Stop::Cancelled);
        assert_eq!(endless.join().unwrap(), Err(CpuFault::Stopped(Stop::Cancelled)));
    });
    assert_eq!(run(1, &Limits::default(), None).0, Ok(()));
}

/// A footprint is no more than a run takes, and all of it where stages are computed at the root.
#[test]
fn memory_at_the_root_is_known_before_the_run() {
    let schedules = [
        ("a: compute_root()\n b: compute_root()\n c: compute_root()", true),
        ("a: compute_root()\n b: compute_root() parallel(y)\n c: compute_root() parallel(y) vectorize(x, 8)", true),
        ("a: compute_root()\n b: compute_at(out, y)\n c: compute_at(out, x)", false),
        (
            "out: split(y, yo, yi, 16, GuardWithIf) parallel(yo)\n a: compute_at(out, yo)\n b: compute_at(out, yo)",
            false,
        ),
    ];
    for (schedule, all) in schedules {
        let plan =
            resolve(&pipeline(), &schedule.parse().unwrap(), &Target::host()).unwrap_or_else(|e| panic!("{e:?}"));
        let program = lower(&plan, &LowerOptions::default()).unwrap().program;
        let footprint = Footprint::new(&program);
        let code = compile(&program, &CpuOptions::default()).unwrap();
        let (source, mut out) = (image(None), AnyBuffer::new(U16, [W, H]).unwrap());
        let known = {
            let dims = |buf: BufId| match program.buffers[buf].role {
                BufferRole::Input(_) => Some(source.dims().to_vec()),
                BufferRole::Output(_) => Some(out.dims().to_vec()),
                BufferRole::Internal => None,
            };
            footprint.known(&[], &dims, false).bytes
        };
        let raws = [source.raw(), out.view_mut().unwrap().raw_mut()];
        let peak = code.run(&RunArgs { buffers: &raws, threads: Some(1), ..RunArgs::default() }).unwrap().peak_bytes;
        assert!(known <= peak, "{schedule}: {known} of {peak}");
        // There is slack behind every allocation.
        assert!(!all || known + 64 * 3 >= peak, "{schedule}: {known} of {peak}");
        // A smaller input is told by the program, and not by what it would have allocated.
        let short = |buf: BufId| match program.buffers[buf].role {
            BufferRole::Input(_) => Some(vec![halide_core::buffer::Dim { min: 0, extent: 1, stride: 1 }; 2]),
            _ => Some(out.dims().to_vec()),
        };
        assert_eq!(footprint.known(&[], &short, true).bytes, 0, "{schedule}");
    }
}
