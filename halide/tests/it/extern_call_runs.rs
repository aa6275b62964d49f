//! Runs of pipelines whose extern stages are called in loops: requirements, limits, counts, profiles, traces.

use crate::engines_agree::noise;
use halide::externs::Extern;
use halide::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const ENGINES: [Engine; 2] = [Engine::Eval, crate::CPU];

/// `out(x, y) = blur(x, y) + blur(x, y + 1)`, where a closure blurs rows of `half(x, y) = input(x, y) / 2`.
fn blurred(calls: &Arc<AtomicUsize>, half: impl FnOnce(Expr) -> Expr) -> Pipeline {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut out) = (Func::new("half"), Func::new("out"));
    f[(x, y)] = half(input[(x, y)] / 2);
    let calls = calls.clone();
    let blur = Extern::new("blur", [I32], 2)
        .input(&f)
        .needs_box(|region| vec![vec![(region.min(0) - 1, region.max(0) + 1), region.ends(1)]])
        .compute(move |call| {
            calls.fetch_add(1, Ordering::Relaxed);
            let from = call.input(0).typed::<i32>()?;
            for at in call.region().clone().coords() {
                let near = (-1..=1).map(|d| from.get([at[0] + d, at[1]]).unwrap_or(i32::MIN));
                call.output(0).set(&at, Scalar::from(near.fold(0, i32::wrapping_add)))?;
            }
            Ok(())
        });
    out[(x, y)] = blur[(x, y)] + blur[(x, y + 1)];
    Pipeline::new([&out]).unwrap()
}

fn compiled(pipeline: &Pipeline, text: &str, engine: Engine) -> Compiled {
    let compiled = Compiler::new(pipeline).engine(engine).schedule(&text.parse().unwrap()).compile();
    compiled.unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn image() -> AnyBuffer {
    noise(I32, &Region::of_spans([(-1, 34), (0, 18)]), 4)
}

const TILES: &str = "out: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)\n blur: compute_at(out, xo)";

/// A requirement that fails only where nobody needs the point fails nowhere; the interpreter says which it is.
#[test]
fn requirements_are_those_of_points_that_are_needed() {
    let calls = Arc::default();
    let strict = |limit: i32| blurred(&calls, |half| require(half.ne(limit), half, "not this"));
    let buffer = Buffer::from_fn(&Region::of_spans([(-1, 34), (0, 18)]), |at| 2 * (at[0] * 100 + at[1])).unwrap();
    let run = |pipeline: &Pipeline, text, engine, size: [i64; 2]| {
        compiled(pipeline, text, engine).inputs().image_named("input", buffer.as_any().clone()).realize::<i32>(size)
    };
    // The stage needs columns -1 to 7 and rows 0 to 4 of the half; tails that round up need more.
    let text = "out: split(x, xo, xi, 8, RoundUp) blur: compute_at(out, y)\n half: compute_root() split(x, xo, xi, 16)";
    for engine in ENGINES {
        let fails = run(&strict(7 * 100 + 2), text, engine, [8, 4]).unwrap_err();
        assert!(fails.to_string().contains("not this"), "{fails}");
        let fine = run(&strict(15 * 100), text, engine, [8, 4]).unwrap();
        assert_eq!(fine, run(&strict(-1), "", Engine::Interp, [8, 4]).unwrap());
    }
}

#[test]
fn limits_hold_for_calls() {
    let calls = Arc::default();
    let pipeline = blurred(&calls, |half| half);
    for engine in ENGINES {
        let compiled = compiled(&pipeline, "blur: compute_at(out, y)", engine);
        let call = compiled.inputs().image_named("input", image());
        // The closure's buffers count: 33 elements of an input and 31 of a result, but no row fits.
        let error = call.clone().memory_cap(32 * 16 * 4 + 100).realize::<i32>([32, 16]).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{engine:?}: {error}");
        call.realize::<i32>([32, 16]).unwrap();
    }
}

/// A run that is ended by a closure, or by who waits, calls no more.
#[test]
fn runs_that_end_early_call_no_more() {
    let input = ImageParam::new("input", U8, 1);
    let x = vars!(x);
    let (mut f, mut out) = (Func::new("f"), Func::new("out"));
    f[x] = input[x];
    let calls = Arc::new(AtomicUsize::new(0));
    let token = Arc::new(Mutex::new(Cancel::new()));
    let (count, cancel) = (calls.clone(), token.clone());
    let stage = Extern::new("stage", [U8], 1).input(&f).compute(move |_| {
        if count.fetch_add(1, Ordering::Relaxed) == 2 {
            cancel.lock().unwrap().cancel();
        }
        Ok(())
    });
    out[x] = stage[x];
    let pipeline = Pipeline::new([&out]).unwrap();
    for engine in ENGINES {
        let compiled = compiled(&pipeline, "stage: compute_at(out, x)", engine);
        calls.store(0, Ordering::Relaxed);
        let handle = Cancel::new();
        *token.lock().unwrap() = handle.clone();
        let call = compiled.inputs().image_named("input", AnyBuffer::new(U8, [1000]).unwrap());
        let error = call.cancel_with(&handle).realize::<u8>([1000]).unwrap_err();
        assert!(matches!(error, Error::Cancelled), "{engine:?}: {error}");
        assert_eq!(calls.load(Ordering::Relaxed), 3, "{engine:?}");
    }
}

/// Counts are exact: points that closures compute, bytes that they are handed and give back, and copies around them.
#[test]
fn counts_and_work_of_calls() {
    let calls = Arc::default();
    let pipeline = blurred(&calls, |half| half);
    for engine in ENGINES {
        let text = "out: split(y, yo, yi, 4) blur: compute_at(out, yo) half: compute_at(out, yo)";
        let compiled = compiled(&pipeline, text, engine);
        let call = compiled.inputs().image_named("input", image());
        let mut memory = AnyBuffer::new(I32, [32, 16]).unwrap();
        let stats = call.clone().count().realize_all_into(&mut [memory.view_mut().unwrap()]).unwrap();
        let counts = stats.counts.unwrap();
        let of = |name: &str| counts.iter().find(|c| c.func == name).unwrap_or_else(|| panic!("no {name}: {counts:?}"));
        // Four tiles of five rows.
        let values = of("blur$out");
        assert_eq!((values.points, values.stored, values.loaded), (640, 640 * 4, 34 * 20 * 4), "{engine:?}");
        assert_eq!((of("blur$in0").points, of("blur").points, of("half").points), (34 * 20, 640, 34 * 20));
        assert_eq!((values.allocations, values.needed), (4, Some(32 * 17)), "{engine:?}");
        // The work is that of the copies around.
        let work = call.work(&[Region::of_extents([32, 16])]).unwrap();
        assert_eq!(work.bytes_read("half"), 34 * 20 * 4);
        let nest = call.nest(&[Region::of_extents([32, 16])]).unwrap();
        assert_eq!((nest.points("blur"), nest.points("half")), (640.0, 680.0));
    }
}

#[test]
fn views_tell_of_calls() {
    let calls = Arc::default();
    let pipeline = blurred(&calls, |half| half);
    let compiled = compiled(&pipeline, TILES, crate::CPU);
    let explained = compiled.explain().unwrap();
    assert!(explained.contains("blur: its closure is called once per iteration of out.xo"), "{explained}");
    let loops = compiled.loops().unwrap();
    assert!(loops.contains("call the closure of `blur`"), "{loops}");
    // The nest around a call is Cranelift's, and only that.
    let narrow = "out.xo: compiled for 128 bits, or loop by loop: a call of a closure";
    assert!(explained.contains(narrow), "{explained}");
    let mut told = Vec::new();
    let call = compiled.inputs().image_named("input", image());
    let traced = call.trace(&[Region::of_extents([8, 2])], |event| told.push(format!("{event:?}"))).unwrap();
    assert_eq!(traced, call.realize_all(&[Region::of_extents([8, 2])]).unwrap());
    assert!(told.iter().any(|event| event.contains("Produce { func: \"blur$out\" }")), "{told:?}");
    let profiled = call.profile().realize_all(&[Region::of_extents([32, 16])]);
    assert!(profiled.is_ok());
}

#[test]
fn outputs_in_the_memory_of_inputs_are_refused() {
    let calls = Arc::default();
    let pipeline = blurred(&calls, |half| half);
    for engine in ENGINES {
        let compiled = compiled(&pipeline, TILES, engine);
        let mut memory = AnyBuffer::new(I32, [9, 9]).unwrap();
        let call = compiled.inputs().in_place_named("input", 0);
        let error = call.realize_all_into(&mut [memory.view_mut().unwrap()]).unwrap_err().to_string();
        assert!(error.contains("the extern stage `blur` may read that memory at any time"), "{error}");
    }
}

/// Code that is kept calls the closures of whoever runs it.
#[test]
fn code_that_is_kept_calls_closures() {
    let folder = std::env::temp_dir().join(format!("halide-extern-calls-{}", std::process::id()));
    let cache = CodeCache::in_folder(&folder);
    let mut all = Vec::new();
    for n in 0..2 {
        let calls = Arc::new(AtomicUsize::new(0));
        let pipeline = blurred(&calls, |half| half);
        let compiled = Compiler::new(&pipeline).schedule(&TILES.parse().unwrap()).code_cache(&cache).compile().unwrap();
        all.push(compiled.inputs().image_named("input", image()).realize::<i32>([32, 16]).unwrap());
        assert_eq!(calls.load(Ordering::Relaxed), 16, "run {n}");
    }
    assert_eq!(all[0], all[1]);
    let _ = std::fs::remove_dir_all(&folder);
}

/// Calls between kernels are the host's; in kernels they are refused.
#[cfg(feature = "gpu")]
#[test]
fn calls_beside_kernels() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let calls = Arc::default();
    let pipeline = blurred(&calls, |half| half);
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let compile =
        |text: &str| Compiler::new(&pipeline).gpu(gpu).schedule(&text.parse().unwrap()).target(&target).compile();
    let refused = compile("out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n blur: compute_at(out, xo)").unwrap_err();
    assert!(refused.to_string().contains("the closure of `blur` would be called on a GPU: `"), "{refused}");
    // What is copied for a closure may come from a kernel, and what it computes go to one.
    let text = "half: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n out: split(y, yo, yi, 4) \
                blur: compute_at(out, yo)";
    let device = compile(text).unwrap().inputs().image_named("input", image()).realize::<i32>([32, 16]).unwrap();
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).target(&target).compile().unwrap();
    assert_eq!(device, reference.inputs().image_named("input", image()).realize::<i32>([32, 16]).unwrap());
}
