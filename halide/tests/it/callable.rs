//! A compiled pipeline as something to call: typed, from many threads at once, with different sizes and outcomes.

use crate::engines_agree::noise;
use halide::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn assert_shared<T: Send + Sync + Clone + 'static>(_: &T) {}

/// `out(x, y)` is the input, brightened and blurred, where all pixels are at most `limit`.
fn pipeline() -> (Pipeline, ImageParam, Param<f32>, Param<u8>) {
    let input = ImageParam::new("input", U8, 2);
    let (gain, limit) = (Param::<f32>::new("gain").with_range(0.0, 4.0), Param::<u8>::new("limit").with_default(255));
    let (x, y) = vars!(x, y);
    let (mut bright, mut out) = (Func::new("bright"), Func::new("out"));
    let pixel = require(input[(x, y)].le(limit), input[(x, y)], ("too bright:", input[(x, y)]));
    bright[(x, y)] = pixel.cast(F32) * gain;
    out[(x, y)] = saturating_cast::<u8>(bright[(x, y)] + bright[(x + 1, y)] * 0.5);
    (Pipeline::new([&out]).unwrap(), input, gain, limit)
}

fn expected(image: &AnyBuffer, gain: f32, at: &[i32]) -> u8 {
    let of = |x: i32| image.get([x, at[1]]).unwrap().as_i64() as f32 * gain;
    (of(at[0]) + of(at[0] + 1) * 0.5).clamp(0.0, 255.0) as u8
}

#[test]
fn calls_from_many_threads_do_not_disturb_each_other() {
    let (pipeline, input, gain, limit) = pipeline();
    let schedule = "bright: compute_at(out, y) vectorize(x, 8)\n out: parallel(y) vectorize(x, 16)".parse().unwrap();
    for engine in [crate::CPU, Engine::Eval] {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule).compile().unwrap();
        assert_shared(&compiled);
        let (good, bad) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let rounds = if engine == crate::CPU { 12 } else { 2 };
        std::thread::scope(|scope| {
            for seed in 0..6u64 {
                let (compiled, input, gain, limit) =
                    (compiled.clone(), input.name().to_string(), gain.name(), limit.name());
                let (good, bad) = (&good, &bad);
                scope.spawn(move || {
                    for round in 0..rounds {
                        let (w, h) = (1 + (seed as i32 * 7 + round * 5) % 40, 1 + (seed as i32 + round) % 9);
                        let image = noise(U8, &Region::of_extents([w + 1, h]), seed * 100 + round as u64);
                        let factor = 0.25 * (1 + round % 8) as f32;
                        let call = compiled.inputs().image_named(&input, &image).param_named(&gain, factor).threads(2);
                        // Every third call fails, before or while it runs.
                        let call = if round % 3 == 1 { call.param_named(&limit, 0u8) } else { call };
                        match call.realize::<u8>([w, h]) {
                            Ok(out) => {
                                for (at, value) in out.iter() {
                                    assert_eq!(value, expected(&image, factor, &at), "{engine:?} {w} x {h} at {at:?}");
                                }
                                good.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(error) => {
                                assert!(error.to_string().contains("requirement failed: too bright: "), "{error}");
                                assert_eq!(round % 3, 1);
                                bad.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(good.into_inner() + bad.into_inner(), 6 * rounds as usize);
    }
}

#[test]
fn a_call_is_prepared_once_and_run_often() {
    let (pipeline, input, gain, _) = pipeline();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let image = noise(U8, &Region::of_extents([30, 6]), 3);
    let call = compiled.inputs().image(&input, &image).param(&gain, 0.5);
    let first = call.clone().realize::<u8>([29, 6]).unwrap();
    for n in 1..29 {
        let mut part = Buffer::<u8>::new([n, 6]).unwrap();
        call.realize_into(part.view_mut().unwrap()).unwrap();
        assert!(part.iter().all(|(at, value)| Some(value) == first.get(&at)));
    }
    // A later value takes the place of an earlier one.
    let other = call.clone().param(&gain, 2.0).realize::<u8>([29, 6]).unwrap();
    assert!(other.iter().all(|(at, value)| value == expected(&image, 2.0, &at)));
}

#[test]
fn wrong_arguments_are_errors_with_texts() {
    let (pipeline, input, gain, limit) = pipeline();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let image = noise(U8, &Region::of_extents([9, 4]), 3);
        let good = || compiled.inputs().image(&input, &image).param(&gain, 1.0);
        let text = |call: Call<'_>| call.realize::<u8>([8, 4]).unwrap_err().to_string();
        assert!(good().realize::<u8>([8, 4]).is_ok());
        assert_eq!(
            good().realize::<i8>([8, 4]).unwrap_err().to_string(),
            "output `out`: the buffer holds u8, not i8; name its own type or convert the elements"
        );
        assert_eq!(
            good().realize::<u8>([8]).unwrap_err().to_string(),
            "output `out` has 2 dimensions, but the region given for it has 1; give one span per dimension"
        );
        assert_eq!(
            good().realize::<u8>([8, -1]).unwrap_err().to_string(),
            "output `out`: the extent of dimension 1 is -1; use 0 or more"
        );
        let mut wrong = Buffer::<u16>::new([8, 4]).unwrap();
        assert_eq!(
            good().realize_into(wrong.view_mut().unwrap()).unwrap_err().to_string(),
            "output `out`: the buffer holds u8, not u16; name its own type or convert the elements"
        );
        let mut flat = Buffer::<u8>::new([8]).unwrap();
        assert_eq!(
            good().realize_into(flat.view_mut().unwrap()).unwrap_err().to_string(),
            "output `out`: the buffer has 2 dimensions, but 1 were given; give one value per dimension"
        );
        assert_eq!(
            good().realize_all(&[]).unwrap_err().to_string(),
            "the pipeline has 1 outputs, but 0 regions were given; give one per output Func"
        );
        assert_eq!(
            good().realize_all_into(&mut []).unwrap_err().to_string(),
            "the pipeline's outputs have 1 elements in all, but 0 buffers were given; give one per element"
        );
        assert_eq!(
            text(compiled.inputs().image(&input, &image)),
            "parameter `gain` was not given and has no default; give it a value"
        );
        assert_eq!(text(compiled.inputs().param(&gain, 1.0)), "input image `input` was not given; bind a buffer to it");
        assert_eq!(text(good().param(&gain, 5.0)), "parameter `gain` is 5.0; give a value from 0.0 to 4.0");
        assert_eq!(text(good().param(&gain, f32::NAN)), "parameter `gain` is NaN; give a value from 0.0 to 4.0");
        assert_eq!(
            text(good().param_named(&limit.name(), 3i32)),
            "parameter `limit` is of u8, but i32 was given; convert the value"
        );
        assert_eq!(
            text(good().param_named("gian", 1.0f32)),
            "the pipeline reads no parameter `gian`; its parameters are limit, gain"
        );
        assert_eq!(
            text(good().image_named("input", noise(I8, &Region::of_extents([9, 4]), 3))),
            "input image `input` is of u8, but the buffer given is of i8; convert the buffer"
        );
        assert_eq!(
            text(good().image_named("input", noise(U8, &Region::of_extents([9]), 3))),
            "input image `input` has 2 dimensions, but the buffer given has 1; slice or embed the buffer"
        );
        assert_eq!(
            text(good().image_named("other", noise(U8, &Region::of_extents([9]), 3))),
            "the pipeline reads no image `other`; its images are input"
        );
    }
}

/// Each call has its own handler of what is printed.
#[test]
fn handlers_belong_to_calls() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = print(x, ("at", x));
    let pipeline = Pipeline::new([&f]).unwrap();
    let compiled = pipeline.compile(&"f: parallel(x)".parse().unwrap(), &Target::host()).unwrap();
    std::thread::scope(|scope| {
        for n in 1..6 {
            let compiled = compiled.clone();
            scope.spawn(move || {
                let lines = Arc::new(Mutex::new(Vec::new()));
                let sink = lines.clone();
                let call =
                    compiled.inputs().threads(2).print_to(move |line| sink.lock().unwrap().push(line.to_string()));
                call.realize::<i32>([n * 10]).unwrap();
                assert_eq!(lines.lock().unwrap().len(), n as usize * 10);
            });
        }
    });
}

/// Inputs that an algorithm does without are an error, unless the caller says that they may be.
#[test]
fn inputs_that_are_not_read() {
    let (x, input, gain) = (vars!(x), ImageParam::new("in", U8, 1), Param::<u8>::new("gain"));
    let mut f = Func::new("f");
    f[x] = select(false.expr(), input[x] * gain, cast::<u8>(7));
    let compiled = Pipeline::new([&f]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let image = Buffer::<u8>::from_fn(&Region::of_extents([3]), |_| 1).unwrap();
    let call = || compiled.inputs().image(&input, image.clone()).param(&gain, 2);
    assert_eq!(call().ignore_unused().realize::<u8>([3]).unwrap().to_vec(), [7, 7, 7]);
    let without = Pipeline::new([&{
        let mut g = Func::new("g");
        g[x] = cast::<u8>(7);
        g
    }])
    .unwrap()
    .compile(&Schedule::new(), &Target::host())
    .unwrap();
    let call = || without.inputs().image(&input, image.clone()).param(&gain, 2);
    assert_eq!(call().ignore_unused().realize::<u8>([3]).unwrap().to_vec(), [7, 7, 7]);
    let error = call().realize::<u8>([3]).unwrap_err().to_string();
    assert!(error.contains("`in`") || error.contains("`gain`"), "{error}");
}

/// A schedule's text may come from a file whose name is known at run time only.
#[test]
fn names_of_schedule_files() {
    let name = format!("{}.sched", "blur".repeat(2));
    let errors = Schedule::parse("f: compute_rot()", &name).unwrap_err().to_string();
    drop(name);
    assert!(errors.starts_with("blurblur.sched:1:"), "{errors}");
}
