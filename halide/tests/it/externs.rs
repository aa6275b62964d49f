//! Extern stages: Funcs whose values come from closures, on every engine.

use crate::engines_agree::noise;
use halide::externs::{Extern, ExternCall};
use halide::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

fn region(spans: &[(i64, i64)]) -> Region {
    Region::of_spans(spans)
}

/// The median of five neighbours in a row, which needs two more pixels on each side.
fn median(of: &Func, calls: Arc<AtomicUsize>) -> Func {
    Extern::new("median", [U16], 2)
        .input(of)
        .needs(|query| {
            let spans = query.region().spans();
            Ok(vec![Region::of_spans([(spans[0].min - 2, spans[0].extent + 4), (spans[1].min, spans[1].extent)])])
        })
        .compute(move |call| {
            calls.fetch_add(1, Ordering::Relaxed);
            let (from, wanted) = (call.input(0).typed::<u16>()?, call.region().clone());
            for at in wanted.coords() {
                let mut near: Vec<u16> = (-2..=2).filter_map(|d| from.get([at[0] + d, at[1]])).collect();
                near.sort_unstable();
                call.output(0).set(&at, Scalar::from(*near.get(2).ok_or("a row is too short")?))?;
            }
            Ok(())
        })
}

/// The same in the language: the one of five of which exactly two others are smaller, or as small and before it.
fn median_here(of: &Func) -> Func {
    let (x, y, d) = vars!(x, y, d);
    let others = RDom::named("others", [(-2, 5)]);
    let mut smaller = Func::new("smaller");
    smaller[(x, y, d)] = 0i32.expr();
    let (own, other) = (of[(x + d, y)], of[(x + others.x, y)]);
    smaller[(x, y, d)] += select(other.lt(own).or(other.eq(own).and(others.x.lt(d))), 1, 0);
    let all = RDom::named("all", [(-2, 5)]);
    let mut middle = Func::new("middle");
    middle[(x, y)] = 0u16.expr();
    middle[(x, y)] += select(smaller[(x, y, all.x)].eq(2), of[(x + all.x, y)], 0);
    middle
}

fn around(median: impl Fn(&Func) -> Func) -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let mut bright = Func::new("bright");
    bright[(x, y)] = input[(x, y)] / 4 + input[(x, y + 1)] / 4;
    let middle = median(&bright);
    let mut out = Func::new("out");
    out[(x, y)] = middle[(x, y)] + middle[(x + 1, y)] - bright[(x, y)];
    Pipeline::new([&out]).unwrap()
}

#[test]
fn a_closure_between_funcs() {
    let calls = Arc::new(AtomicUsize::new(0));
    let pipeline = around(|f| median(f, calls.clone()));
    let reference = around(median_here);
    let expected = Compiler::new(&reference).engine(Engine::Interp).compile().unwrap();
    let schedules = [
        "",
        "bright: compute_root() vectorize(x, 8) parallel(y)\n out: vectorize(x, 4)",
        "out: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)\n median: compute_at(out, xo)",
    ];
    for (w, h) in [(1, 1), (7, 3), (33, 9)] {
        let wanted = region(&[(-3, w), (2, h)]);
        let tight = region(&[(-5, w + 5), (2, h + 1)]);
        let image = noise(U16, &tight, 8);
        let want = expected.inputs().image_named("input", &image).realize_all(std::slice::from_ref(&wanted)).unwrap();
        for text in schedules {
            for engine in ENGINES {
                let compiled =
                    Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile().unwrap();
                let before = calls.load(Ordering::Relaxed);
                let got = compiled.inputs().image_named("input", &image).realize_all(std::slice::from_ref(&wanted));
                assert_eq!(got.unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}")), want, "{text}\n{engine:?}");
                assert_eq!(calls.load(Ordering::Relaxed) - before, 1, "{text}: once per run");
                // What the stage needs counts as well.
                let needs = compiled.inputs().infer_input_bounds(std::slice::from_ref(&wanted)).unwrap();
                assert_eq!((needs.len(), &needs[0].region), (1, &tight));
            }
        }
    }
}

/// A stage asks for no more than it needs, whatever is promised of the regions of its inputs.
#[test]
fn inputs_whose_regions_are_rounded_up() {
    let calls = Arc::new(AtomicUsize::new(0));
    let pipeline = around(|f| median(f, calls.clone()));
    let expected = Compiler::new(&around(median_here)).engine(Engine::Interp).compile().unwrap();
    let image = noise(U16, &region(&[(-40, 120), (-40, 120)]), 8);
    let schedules = [
        "bright: compute_root() align_bounds(x, 8, 3)",
        "bright: compute_root() align_bounds(x, 8, 0) align_extent(y, 4) vectorize(x, 8)",
        "bright: compute_root() bound(x, -16, 64) vectorize(x, 16)",
    ];
    for (w, h) in [(1, 1), (7, 3), (33, 9)] {
        let wanted = [region(&[(-3, w), (2, h)])];
        let want = expected.inputs().image_named("input", &image).realize_all(&wanted).unwrap();
        for (text, engine) in schedules.iter().flat_map(|text| ENGINES.map(|engine| (text, engine))) {
            let compiled = Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile().unwrap();
            let got = compiled.inputs().image_named("input", &image).realize_all(&wanted);
            assert_eq!(got.unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}")), want, "{text}\n{engine:?}");
        }
    }
}

/// Updates may write and read more of their Func than the stage asks for.
#[test]
fn inputs_with_updates_anywhere() {
    let x = vars!(x);
    let input = ImageParam::new("input", I32, 1);
    let mut marked = Func::new("marked");
    marked[x] = input[x];
    marked[-3] = input[0] * 2;
    let r = RDom::named("r", [(0, 4)]);
    marked[r.x] = marked[r.x - 1] + marked[7];
    let same = Extern::new("same", [I32], 1).input(&marked).compute(|call| {
        let from = call.input(0).clone();
        for at in call.region().clone().coords() {
            call.output(0).set(&at, from.get(&at).ok_or("too little")?)?;
        }
        Ok(())
    });
    let (mut out, mut plain) = (Func::new("out"), Func::new("out"));
    out[x] = same[x] + 1;
    plain[x] = marked[x] + 1;
    let (staged, plain) = (Pipeline::new([&out]).unwrap(), Pipeline::new([&plain]).unwrap());
    let image = noise(I32, &region(&[(-3, 20)]), 5);
    for spans in [(0, 1), (2, 5), (-3, 1)] {
        let wanted = [region(&[spans])];
        let run = |pipeline: &Pipeline, engine, text: &str| {
            let compiled = Compiler::new(pipeline).engine(engine).schedule(&text.parse().unwrap()).compile().unwrap();
            compiled.inputs().image_named("input", &image).realize_all(&wanted).unwrap_or_else(|e| panic!("{e}"))
        };
        let expected = run(&plain, Engine::Interp, "");
        for engine in ENGINES {
            for text in ["", "marked: compute_root() vectorize(x, 4)"] {
                assert_eq!(run(&staged, engine, text), expected, "{engine:?} {text} {spans:?}");
            }
        }
    }
}

#[cfg(feature = "gpu")]
#[test]
fn a_closure_between_kernels() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let pipeline = around(|f| median(f, Arc::default()));
    let text =
        "bright: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let wanted = [region(&[(0, 30), (0, 9)])];
    let image = noise(U16, &region(&[(-2, 35), (0, 10)]), 8);
    let run = |compiled: Compiled| compiled.inputs().image_named("input", &image).realize_all(&wanted).unwrap();
    let device =
        run(Compiler::new(&pipeline).gpu(gpu).schedule(&text.parse().unwrap()).target(&target).compile().unwrap());
    assert_eq!(device, run(Compiler::new(&pipeline).engine(Engine::Interp).target(&target).compile().unwrap()));
}

/// Stages run also in a run that does not wait for a device.
#[cfg(feature = "gpu")]
#[test]
fn a_closure_in_a_run_that_does_not_wait() {
    use std::future::Future;
    use std::task::{Context, Poll, Waker};
    let pipeline = around(|f| median(f, Arc::default()));
    let wanted = [region(&[(0, 7), (0, 3)])];
    let image = noise(U16, &region(&[(-2, 12), (0, 4)]), 8);
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let call = compiled.inputs().image_named("input", &image);
        let want = call.realize_all(&wanted).unwrap();
        let running = std::pin::pin!(call.realize_all_async(&wanted));
        let Poll::Ready(got) = running.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("{engine:?} waits")
        };
        assert_eq!(got.unwrap(), want, "{engine:?}");
    }
}

#[test]
fn stages_read_stages_images_tuples_and_parameters() {
    let (input, table) = (ImageParam::new("input", I32, 1), ImageParam::new("table", I32, 1));
    let gain = Param::<i32>::new("gain").with_default(3);
    let x = vars!(x);
    let (mut both, mut first) = (Func::new("both"), Func::new("first"));
    both[x] = (input[x] * 2, input[x + 1]).into();
    let pair = Extern::new("pair", [I32, F32], 1).input(&both).image(&table).param(&gain).compute(|call| {
        let gain = call.param(0).ok_or("no gain")?.as_i64();
        let (a, b, t) = (call.input(0).clone(), call.input(1).clone(), call.input(2).clone());
        for at in call.region().clone().coords() {
            let of = |buffer: &AnyBuffer| buffer.get(&at).map_or(0, |v| v.as_i64());
            call.output(0).set(&at, Scalar::from((of(&a) + of(&b) * gain) as i32))?;
            call.output(1).set(&at, Scalar::from(of(&t) as f32 / 2.0))?;
        }
        Ok(())
    });
    first[x] = pair[x].at(0) + 1;
    // Backwards, of another stage.
    let turned = Extern::new("turned", [I32], 1)
        .input(&first)
        .needs(|query| {
            let span = query.region().spans()[0];
            Ok(vec![Region::of_spans([(-span.min - span.extent + 1, span.extent)])])
        })
        .compute(|call| {
            let from = call.input(0).clone();
            for at in call.region().clone().coords() {
                call.output(0).set(&at, from.get([-at[0]]).ok_or("outside")?)?;
            }
            Ok(())
        });
    let mut out = Func::new("out");
    out[x] = turned[x - 1] * 1000 + cast::<i32>(pair[x].at(1) * 2.0);
    // An output may be a stage itself.
    let pipeline = Pipeline::new([&out, &turned]).unwrap();
    let image = noise(I32, &region(&[(-9, 20)]), 1);
    let small = Buffer::from_fn(&region(&[(-9, 20)]), |at| at[0] * 10).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let call = compiled.inputs().image(&input, &image).image(&table, &small).param(&gain, 5);
        let got = call.realize_all(&[region(&[(-2, 6)]), region(&[(-4, 7)])]).unwrap();
        let of = |at: i32| image.get([at]).unwrap().as_i64() as i32;
        let turned = |at: i32| of(-at).wrapping_mul(2).wrapping_add(of(1 - at).wrapping_mul(5)).wrapping_add(1);
        for at in -2..4 {
            let want = turned(at - 1).wrapping_mul(1000).wrapping_add(at * 10);
            assert_eq!(got[0].get([at]), Some(Scalar::from(want)), "{engine:?} at {at}");
        }
        for at in -4..3 {
            assert_eq!(got[1].get([at]), Some(Scalar::from(turned(at))), "{engine:?} at {at}");
        }
    }
}

/// The error of a stage with these closures, without the place.
fn failing(build: impl Fn(Extern) -> Func) -> String {
    let input = ImageParam::new("input", U8, 1);
    let x = vars!(x);
    let (mut f, mut out) = (Func::new("f"), Func::new("out"));
    f[x] = input[x];
    let stage = build(Extern::new("stage", [U8], 1).input(&f));
    out[x] = stage[x];
    let pipeline = Pipeline::new([&out]).unwrap();
    let mut texts = Vec::new();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let image = AnyBuffer::new(U8, [8]).unwrap();
        let mut memory = Buffer::<u8>::from_fn(&Region::of_extents([4]), |_| 9).unwrap();
        let error = compiled.inputs().image_named("input", image).realize_into(memory.view_mut().unwrap()).unwrap_err();
        assert_eq!(memory.to_vec(), [9; 4], "nothing was written");
        texts.push(error.to_string());
    }
    assert!(texts.windows(2).all(|two| two[0] == two[1]), "{texts:?}");
    let (before, after) =
        texts[0].split_once(" at halide/tests/it/externs.rs:").unwrap_or_else(|| panic!("{}", texts[0]));
    format!("{before}: {}", after.split_once(": ").unwrap().1)
}

#[test]
fn errors_and_panics_in_closures_come_back() {
    let fine = |call: &mut ExternCall<'_>| call.output(0).fill(Scalar::from(1u8)).map_err(Into::into);
    assert_eq!(failing(|e| e.compute(|_| Err("no licence".into()))), "extern stage `stage`: it failed: no licence");
    assert_eq!(failing(|e| e.compute(|_| panic!("oh dear"))), "extern stage `stage`: it panicked: oh dear");
    assert_eq!(
        failing(|e| e.needs(|_| Err("who knows".into())).compute(fine)),
        "extern stage `stage`: its bounds query failed: who knows"
    );
    assert_eq!(
        failing(|e| e.needs(|query| Ok(vec![query.region().clone(); 2])).compute(fine)),
        "extern stage `stage`: its bounds query gave 2 regions, but it has 1 inputs; give one region per input"
    );
    assert_eq!(
        failing(|e| e.needs(|_| Ok(vec![Region::of_extents([2, 2])])).compute(fine)),
        "extern stage `stage`: it cannot have what it needs of `f`: the buffer has 1 dimensions, but 2 were given; give one \
         value per dimension"
    );
    let other = |call: &mut ExternCall<'_>| {
        *call.output(0) = AnyBuffer::new(U16, [4])?;
        Ok(())
    };
    assert_eq!(
        failing(|e| e.compute(other)),
        "extern stage `stage`: it replaced an output by a buffer of another type or region; write into the one that is there"
    );
}

#[test]
fn a_stage_that_asks_for_too_much_says_of_what() {
    let input = ImageParam::new("input", U8, 1);
    let wide = Extern::new("wide", [U8], 1)
        .image(&input)
        .needs(|query| Ok(vec![Region::of_extents([query.region().spans()[0].extent + 6])]))
        .compute(|_| Ok(()));
    let pipeline = Pipeline::new([&wide]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let run = |extent: i64| {
        let call = compiled.inputs().image_named("input", AnyBuffer::new(U8, [extent]).unwrap());
        call.realize::<u8>([4])
    };
    assert_eq!(run(10).unwrap().to_vec(), [0; 4]);
    let text = run(9).unwrap_err().to_string();
    assert!(text.starts_with("extern stage `wide` at halide/tests/it/externs.rs:"), "{text}");
    assert!(
        text.ends_with(
            ": it cannot have what it needs of `input`: dimension 0 was asked for coordinates 0..=9, but the buffer has \
             coordinates 0..=8; stay inside or make the buffer larger"
        ),
        "{text}"
    );
    let unknown = compiled.inputs().image_named("imput", AnyBuffer::new(U8, [9]).unwrap()).realize::<u8>([4]);
    assert_eq!(unknown.unwrap_err().to_string(), "the pipeline reads no image `imput`; its images are input");
    let missing = compiled.inputs().realize::<u8>([4]).unwrap_err().to_string();
    assert_eq!(missing, "input image `input` was not given; bind a buffer to it");
}

#[test]
fn mistakes_of_the_schedule_and_runs_by_oneself_are_errors() {
    let pipeline = around(|f| median(f, Arc::default()));
    let error = pipeline.compile(&"brigt: compute_root()".parse().unwrap(), &Target::host()).unwrap_err().to_string();
    assert!(error.contains("brigt"), "{error}");
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let mut memory = AnyBuffer::new(U16, [9, 9]).unwrap();
    let call = compiled.inputs().in_place_named("input", 0);
    let error = call.realize_all_into(&mut [memory.view_mut().unwrap()]).unwrap_err().to_string();
    assert_eq!(
        error,
        "`out` cannot be computed in the memory of `input`: the extern stage `median` may read that memory at any time\n  \
         help: give two buffers"
    );
}

/// Closures are called by what was compiled only: the interpreter by itself has nobody to ask them.
#[test]
fn stages_of_a_pipeline_that_nobody_compiled() {
    let pipeline = around(|f| median(f, Arc::default()));
    let image = AnyBuffer::new(U16, [9, 9]).unwrap();
    let inputs = halide_core::interp::Inputs::new().image("input", image);
    let error = halide_core::interp::run(&pipeline, &inputs, &[Region::of_extents([3, 3])]).unwrap_err().to_string();
    let (before, after) = error.split_once(" at halide/tests/it/externs.rs:").unwrap_or_else(|| panic!("{error}"));
    assert_eq!(before, "extern stage `median`");
    let (place, what) = after.split_once(": ").unwrap();
    assert_eq!(place.split(':').filter(|n| n.parse::<u32>().is_ok()).count(), 2, "line and column: {error}");
    assert_eq!(what, "its closures run only in a pipeline that is compiled; compile it with `halide::Compiler`");
}

#[test]
fn a_stage_cannot_read_an_output_that_keeps_elements() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = undef::<u8>();
    f[3] = 7u8.expr();
    let stage = Extern::new("stage", [U8], 1).input(&f).compute(|_| Ok(()));
    let pipeline = Pipeline::new([&f, &stage]).unwrap();
    let error = pipeline.compile(&Schedule::new(), &Target::host()).unwrap_err().to_string();
    assert!(
        error.ends_with(
            ": it needs `f`, which leaves some elements as its buffer holds them, and that is not at hand before the stage runs; \
             give those elements a value, or read an image instead"
        ),
        "{error}"
    );
}

/// Requests to a stage are not refused because another input, which is given, is read as data says. (Seed 520145 of
/// random_gpu_schedules.)
#[test]
fn stages_beside_inputs_that_are_read_as_data_says() {
    let (offsets, values) = (ImageParam::new("offsets", I32, 1), ImageParam::new("values", I32, 1));
    offsets.promise_growing(0);
    let x = vars!(x);
    let same = Extern::new("same", [I32], 1).compute(|call| {
        for at in call.region().clone().coords() {
            call.output(0).set(&at, Scalar::from(at[0]))?;
        }
        Ok(())
    });
    let mut sums = Func::new("sums");
    sums[x] = same[x + 1];
    let r = RDom::named("r", [(0.expr(), values.width())]);
    r.where_(r.x.ge(offsets[x]) & r.x.lt(offsets[x + 1]));
    sums[x] += values[r.x];
    let pipeline = Pipeline::new([&sums]).unwrap();
    let starts = Buffer::<i32>::from_slice([4], &[0, 2, 2, 5]).unwrap().into_any();
    let data = Buffer::<i32>::from_slice([5], &[10, 20, 30, 40, 50]).unwrap().into_any();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let call = compiled.inputs().image_named("offsets", &starts).image_named("values", &data);
        let out = call.realize_all(&[Region::of_extents([3])]).unwrap();
        assert_eq!(out[0].typed::<i32>().unwrap().to_vec(), [31, 2, 123], "{engine:?}");
        // Which data these are decides. Without them there is no answer.
        let needs = compiled.inputs().image_named("offsets", &starts).infer_input_bounds(&[Region::of_extents([3])]);
        let needs = needs.unwrap();
        let read = needs.iter().find(|need| need.name == "values").unwrap();
        assert_eq!(read.region, Region::of_extents([5]), "{engine:?}");
        let error = compiled.inputs().infer_input_bounds(&[Region::of_extents([3])]);
        assert_eq!(error.unwrap_err().to_string(), "what is read of `values` depends on data; give a buffer for it");
    }
}

/// Reads of a stage may depend on data that is given. (Seed 690048 of random_schedules.)
#[test]
fn stages_that_are_read_as_data_says() {
    let offsets = ImageParam::new("offsets", I32, 1);
    offsets.promise_growing(0);
    let x = vars!(x);
    let own = Extern::new("own", [I32], 1).compute(|call| {
        for at in call.region().clone().coords() {
            call.output(0).set(&at, Scalar::from(at[0]))?;
        }
        Ok(())
    });
    let mut sums = Func::new("sums");
    let r = RDom::named("r", [(0, 9)]);
    r.where_(r.x.ge(offsets[x]) & r.x.lt(offsets[x + 1]));
    sums[x] = 0.expr();
    sums[x] += own[r.x - r.x] + own[r.x + 1];
    let pipeline = Pipeline::new([&sums]).unwrap();
    let starts = Buffer::<i32>::from_slice([4], &[0, 2, 2, 5]).unwrap().into_any();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        for schedule in ["", "own: compute_at(sums.update(0), r.x)", "own: compute_at(sums.update(0), x)"] {
            let schedule = Schedule::parse(schedule, "test").unwrap();
            let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule).compile().unwrap();
            let out =
                compiled.inputs().image_named("offsets", &starts).realize_all(&[Region::of_extents([3])]).unwrap();
            assert_eq!(out[0].typed::<i32>().unwrap().to_vec(), [3, 0, 12], "{engine:?}");
        }
    }
}
