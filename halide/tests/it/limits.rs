//! Limits of runs: memory, time and cancellation, on every engine.

use halide::externs::Extern;
use halide::limits::Cancel;
use halide::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// Generous, since machines are shared.
const SOON: Duration = Duration::from_secs(20);

/// `f(x, y)` is a sum of `n` terms: 2^24 are more than anybody waits for.
fn sums() -> (Pipeline, Param<i32>) {
    let n = Param::<i32>::new("n").with_range(0, 1 << 24);
    let (x, y) = vars!(x, y);
    let r = RDom::new([(0, n)]);
    let mut f = Func::new("f");
    f[(x, y)] = 0u32.expr();
    f[(x, y)] += cast::<u32>(x + y * 3) ^ cast::<u32>(r.x);
    (Pipeline::new([&f]).unwrap(), n)
}

const SCHEDULES: [&str; 5] = [
    "",
    "f.update(0): vectorize(x, 8)",
    "f.update(0): reorder(x, y, r.x)",
    "f: parallel(y)\n f.update(0): parallel(y) vectorize(x, 16)",
    "f.update(0): split(y, yo, yi, 16) parallel(yo) reorder(x, yi, r.x, yo)",
];

fn compiled(pipeline: &Pipeline, engine: Engine, schedule: &str) -> Compiled {
    Compiler::new(pipeline)
        .engine(engine)
        .schedule(&schedule.parse().unwrap())
        .compile()
        .unwrap_or_else(|e| panic!("{schedule}: {e}"))
}

/// The sums of few terms, which a compiled pipeline still computes after a run that was ended.
fn assert_usable(f: &Compiled, n: &Param<i32>) {
    let out = f.inputs().param(n, 3).realize::<u32>([5, 4]).unwrap();
    for (at, value) in out.iter() {
        let base = (at[0] + at[1] * 3) as u32;
        assert_eq!(value, (0..3).map(|r| base ^ r).sum::<u32>(), "{at:?}");
    }
}

#[test]
fn runs_give_up_after_their_time_on_every_engine_under_every_schedule() {
    let (pipeline, n) = sums();
    for engine in ENGINES {
        for schedule in SCHEDULES {
            let f = compiled(&pipeline, engine, schedule);
            let started = Instant::now();
            let time = Duration::from_millis(40);
            let result = f.inputs().param(&n, 1 << 24).give_up_after(time).realize::<u32>([256, 256]);
            let took = started.elapsed();
            let error = result.map(drop).unwrap_err();
            assert!(matches!(error, Error::GaveUp { after } if after == time), "{engine:?} {schedule}: {error}");
            assert!(took >= time && took < SOON, "{engine:?} {schedule}: {took:?}");
            assert_usable(&f, &n);
        }
    }
}

#[test]
fn no_time_is_up_before_anything_is_written() {
    let (pipeline, n) = sums();
    for engine in ENGINES {
        let f = compiled(&pipeline, engine, "");
        let mut out = Buffer::<u32>::from_fn(&Region::of_extents([4, 4]), |_| 9).unwrap();
        let call = f.inputs().param(&n, 1).give_up_after(Duration::ZERO);
        let error = call.realize_into(out.view_mut().unwrap()).unwrap_err();
        assert!(matches!(error, Error::GaveUp { .. }), "{error}");
        assert_eq!(out.to_vec(), [9; 16]);
        // As much time as there can be is no limit.
        let call = f.inputs().param(&n, 1).give_up_after(Duration::MAX);
        call.realize_into(out.view_mut().unwrap()).unwrap();
        assert_eq!(out.to_vec()[1], 1);
    }
}

#[test]
fn another_thread_cancels_runs_once_and_for_all() {
    let (pipeline, n) = sums();
    for engine in ENGINES {
        let f = compiled(&pipeline, engine, "f: parallel(y)\n f.update(0): parallel(y)");
        let cancel = Cancel::new();
        let run = || f.inputs().param_named("n", 1i32 << 24).cancel_with(&cancel).realize::<u32>([256, 256]).map(drop);
        std::thread::scope(|scope| {
            // Two runs with one handle; a third without it goes on.
            let two: Vec<_> = (0..2).map(|_| scope.spawn(run)).collect();
            std::thread::sleep(Duration::from_millis(30));
            assert!(!cancel.is_cancelled());
            let other = cancel.clone();
            other.cancel();
            assert_usable(&f, &n);
            for run in two {
                let error = run.join().unwrap().unwrap_err();
                assert!(matches!(error, Error::Cancelled), "{engine:?}: {error}");
            }
        });
        cancel.cancel();
        assert!(cancel.is_cancelled());
        let started = Instant::now();
        assert!(matches!(run(), Err(Error::Cancelled)), "before it starts, too");
        assert!(started.elapsed() < SOON);
        assert_usable(&f, &n);
    }
}

#[test]
fn a_run_with_a_handle_that_nobody_uses_is_as_any_other() {
    let (pipeline, n) = sums();
    let f = compiled(&pipeline, crate::CPU, SCHEDULES[4]);
    let cancel = Cancel::new();
    let call = f.inputs().param(&n, 50).cancel_with(&cancel).give_up_after(SOON).memory_cap(1 << 20);
    let same = f.inputs().param(&n, 50).realize::<u32>([20, 9]).unwrap();
    assert_eq!(call.realize::<u32>([20, 9]).unwrap().first_difference(&same), None);
}

/// The run has the outputs that the call makes, and a stage of as many bytes.
fn stages() -> (Pipeline, ImageParam) {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut wide, mut out) = (Func::new("wide"), Func::new("out"));
    wide[(x, y)] = cast::<u32>(input[(x, y)]) * 3;
    out[(x, y)] = wide[(x, y)] + wide[(x, y + 1)];
    (Pipeline::new([&out]).unwrap(), input)
}

/// The text of a run's error, which is that its memory is refused.
fn refused<T>(result: Result<T, Error>) -> String {
    match result.map(drop) {
        Err(error @ Error::Memory { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The text that refuses `bytes` for `func` beside `held` bytes.
fn refusal(func: &str, bytes: u64, held: u64, cap: u64) -> String {
    let beside = if held == 0 { String::new() } else { format!(" beside the {held} that the run has") };
    format!(
        "`{func}` needs {bytes} bytes{beside}, and the run's cap on memory is {cap}\n  \
         help: compute a smaller output, store it at an inner loop, or raise the cap: Call::memory_cap"
    )
}

#[test]
fn memory_beyond_the_cap_is_refused_before_anything_is_written() {
    let (pipeline, input) = stages();
    let image = AnyBuffer::new(U8, [1000, 501]).unwrap();
    for engine in ENGINES {
        let f = compiled(&pipeline, engine, "wide: compute_root()");
        let call = |cap: u64| f.inputs().image(&input, image.clone()).memory_cap(cap);
        let text = |cap: u64| refused(call(cap).realize::<u32>([1000, 500]));
        for cap in [0, 1_999_999] {
            assert_eq!(text(cap), refusal("out", 2_000_000, 0, cap), "{engine:?}");
        }
        // The interpreter makes outputs of its own; the others make room for a stage, whose rows are padded.
        let (func, bytes) = if engine == Engine::Interp { ("out", 2_000_000) } else { ("wide", 2_020_032) };
        assert_eq!(text(3_000_000), refusal(func, bytes, 2_000_000, 3_000_000), "{engine:?}");
        let mut out = Buffer::<u32>::from_fn(&Region::of_extents([1000, 500]), |_| 9).unwrap();
        refused(call(1_500_000).realize_into(out.view_mut().unwrap()));
        assert!(out.to_vec().iter().all(|v| *v == 9), "{engine:?}: nothing was written");
        assert!(call(200_000_000).realize::<u32>([1000, 500]).is_ok(), "{engine:?}");
        assert!(f.inputs().image(&input, image.clone()).realize::<u32>([1000, 500]).is_ok(), "{engine:?}");
    }
}

/// Buffers of the caller do not count, and machine code needs little more than the values.
#[test]
fn a_cap_as_large_as_the_need_is_enough() {
    let (pipeline, input) = stages();
    let image = AnyBuffer::new(U8, [1000, 501]).unwrap();
    let f = compiled(&pipeline, crate::CPU, "wide: compute_root()");
    let mut out = AnyBuffer::new(U32, [1000, 500]).unwrap();
    let call = |cap: u64| f.inputs().image(&input, image.clone()).memory_cap(cap);
    let stats = call(u64::MAX).realize_all_into(&mut [out.view_mut().unwrap()]).unwrap();
    assert!(call(stats.peak_bytes).realize_all_into(&mut [out.view_mut().unwrap()]).is_ok());
    assert!(call(stats.peak_bytes - 1).realize_all_into(&mut [out.view_mut().unwrap()]).is_err());
    // Memory that is kept for the next run counts only when it is used.
    let small = f.inputs().image(&input, image.clone()).memory_cap(1000);
    assert!(small.realize_into(Buffer::<u32>::new([2, 2]).unwrap().view_mut().unwrap()).is_ok());
}

/// Sizes that depend on a loop are known only when the allocation comes.
#[test]
fn memory_that_is_not_known_before_ends_the_run() {
    let (x, y, i) = vars!(x, y, i);
    let (mut table, mut out) = (Func::new("table"), Func::new("out"));
    table[i] = cast::<u32>(i) * 5;
    out[(x, y)] = table[x * y * 8];
    let pipeline = Pipeline::new([&out]).unwrap();
    for engine in ENGINES {
        let f = compiled(&pipeline, engine, "table: compute_at(out, y)");
        let run = |rows: i64| f.inputs().memory_cap(1_000_000).realize::<u32>([500, rows]);
        assert_eq!(run(5).unwrap().get([3, 4]), Some(480), "{engine:?}");
        let error = run(100).map(drop).unwrap_err();
        let of_table = matches!(&error, Error::Memory { func, .. } if func == "table" || engine == Engine::Interp);
        assert!(of_table, "{engine:?}: {error}");
        assert!(run(5).is_ok(), "memory was given back");
    }
}

/// A table of which any `i32` is an index takes 16 GiB, which is known before the run.
#[test]
fn a_table_indexed_by_an_unbounded_integer_is_refused_before_the_run() {
    let index = ImageParam::new("index", I32, 1);
    let (x, i) = vars!(x, i);
    let (mut table, mut out) = (Func::new("table"), Func::new("out"));
    table[i] = cast::<u32>(i) * 5;
    out[x] = table[index[x]];
    let pipeline = Pipeline::new([&out]).unwrap();
    let index = Buffer::from_slice([3], &[5i32, -7, 100_000]).unwrap();
    for engine in [Engine::Eval, crate::CPU] {
        let f = compiled(&pipeline, engine, "table: compute_root()");
        let started = Instant::now();
        let call = f.inputs().image_named("index", index.clone()).memory_cap(4 << 30);
        assert_eq!(refused(call.realize::<u32>([3])), refusal("table", 1 << 34, 12, 4 << 30), "{engine:?}");
        assert!(started.elapsed() < SOON);
    }
    let f = compiled(&pipeline, crate::CPU, "");
    assert_eq!(f.inputs().image_named("index", index).realize::<u32>([3]).unwrap().to_vec()[0], 25);
}

/// The default is what the machine has, for outputs as well.
#[test]
fn outputs_larger_than_the_machine_are_refused_at_once() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = cast::<f64>(x + y);
    let pipeline = Pipeline::new([&f]).unwrap();
    for engine in ENGINES {
        let f = compiled(&pipeline, engine, "");
        let error = f.inputs().realize::<f64>([1 << 24, 1 << 24]).map(drop).unwrap_err().to_string();
        let parts =
            ["`f` needs 2251799813685248 bytes, and this machine has ", "available\n  help: ", "Call::memory_cap"];
        assert!(parts.iter().all(|part| error.contains(part)), "{engine:?}: {error}");
    }
}

/// The pipelines that compute inputs of an extern stage are part of the run, and so are its results.
#[test]
fn extern_stages_share_the_limits_of_their_run() {
    let (x, y) = vars!(x, y);
    let (n, calls) = (Param::<i32>::new("n"), Arc::new(AtomicUsize::new(0)));
    let r = RDom::new([(0, n)]);
    let (mut slow, mut out) = (Func::new("slow"), Func::new("out"));
    slow[(x, y)] = 0u32.expr();
    slow[(x, y)] += cast::<u32>(r.x);
    let counted = calls.clone();
    let copy = Extern::new("copy", [U32], 2).input(&slow).needs(|query| Ok(vec![query.region().clone()])).compute(
        move |call| {
            counted.fetch_add(1, Ordering::Relaxed);
            let from = call.input(0).clone();
            Ok(call.output(0).view_mut()?.copy_from(&from)?)
        },
    );
    out[(x, y)] = copy[(x, y)] + 1;
    let pipeline = Pipeline::new([&out]).unwrap();
    for engine in ENGINES {
        let f = compiled(&pipeline, engine, "");
        calls.store(0, Ordering::Relaxed);
        let time = Duration::from_millis(30);
        let call = f.inputs().param(&n, i32::MAX).give_up_after(time);
        assert!(matches!(call.realize::<u32>([100, 100]), Err(Error::GaveUp { .. })), "{engine:?}");
        let call = f.inputs().param(&n, 1).memory_cap(100_000);
        refused(call.realize::<u32>([100, 100]));
        assert_eq!(calls.load(Ordering::Relaxed), 0, "{engine:?}");
        assert_eq!(f.inputs().param(&n, 3).realize::<u32>([2, 2]).unwrap().to_vec(), [4; 4], "{engine:?}");
    }
}

#[test]
fn a_trace_keeps_to_the_limits() {
    let (pipeline, n) = sums();
    let f = compiled(&pipeline, Engine::Eval, "");
    let region = [Region::of_extents([256, 256])];
    let call = f.inputs().param(&n, 1 << 24).give_up_after(Duration::from_millis(20));
    assert!(matches!(call.trace(&region, &mut |_| {}), Err(Error::GaveUp { .. })));
    let call = f.inputs().param(&n, 1).memory_cap(1000);
    assert!(matches!(call.trace(&region, &mut |_| {}), Err(Error::Memory { .. })));
}
