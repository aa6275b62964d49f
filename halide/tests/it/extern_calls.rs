//! Extern stages that are computed in loops: their closures are called once per iteration, over what it needs.

use crate::engines_agree::noise;
use halide::buffer::Span;
use halide::error::RunError;
use halide::externs::{Extern, ExternCall};
use halide::prelude::*;
use std::sync::{Arc, Mutex};

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

fn region(spans: &[(i64, i64)]) -> Region {
    Region::of_spans(spans)
}

/// The regions of the calls of a closure.
type Calls = Arc<Mutex<Vec<Region>>>;

/// Takes the regions of the calls since it was last asked, in order.
fn taken(calls: &Calls) -> Vec<Region> {
    let mut all = std::mem::take(&mut *calls.lock().unwrap());
    all.sort_by_key(|r| r.spans().iter().map(|s| (s.min, s.extent)).collect::<Vec<_>>());
    all
}

/// The median of five neighbours in a row.
fn median_of(call: &mut ExternCall<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (from, wanted) = (call.input(0).typed::<u16>()?, call.region().clone());
    for at in wanted.coords() {
        let mut near: Vec<u16> = (-2..=2).filter_map(|d| from.get([at[0] + d, at[1]])).collect();
        near.sort_unstable();
        call.output(0).set(&at, Scalar::from(*near.get(2).ok_or("a row is too short")?))?;
    }
    Ok(())
}

fn median(of: &Func, calls: Calls) -> Func {
    Extern::new("median", [U16], 2)
        .input(of)
        .needs_box(|region| vec![vec![(region.min(0) - 2, region.max(0) + 2), region.ends(1)]])
        .compute(move |call| {
            calls.lock().unwrap().push(call.region().clone());
            let spans = call.region().spans().to_vec();
            let asked = region(&[(spans[0].min - 2, spans[0].extent + 4), (spans[1].min, spans[1].extent)]);
            assert_eq!(call.input(0).region(), asked, "it gets what it asks for");
            median_of(call)
        })
}

fn around(calls: Calls) -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let mut bright = Func::new("bright");
    bright[(x, y)] = input[(x, y)] / 4 + input[(x, y + 1)] / 4;
    let middle = median(&bright, calls);
    let mut out = Func::new("out");
    out[(x, y)] = middle[(x, y)] + middle[(x + 1, y)] - bright[(x, y)];
    Pipeline::new([&out]).unwrap()
}

/// Sizes of one, primes, and less than a tile.
const SIZES: [(i64, i64); 4] = [(1, 1), (7, 3), (33, 9), (16, 8)];

#[test]
fn a_closure_is_called_once_per_iteration() {
    let calls = Calls::default();
    let pipeline = around(calls.clone());
    let expected = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
    let schedules = [
        "out: tile(x, y, xo, yo, xi, yi, 8, 4)\n median: compute_at(out, xo)",
        "out: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)\n median: compute_at(out, xo)",
        "out: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)\n median: compute_at(out, xo) vectorize(x, 4)
         bright: compute_at(out, xo) vectorize(x, 8)",
        "out: tile(x, y, xo, yo, xi, yi, 8, 4, GuardWithIf)\n median: compute_at(out, yo) store_root()
         bright: compute_root()",
        "out: tile(x, y, xo, yo, xi, yi, 8, 4, RoundUp)\n median: compute_at(out, xo)",
        "out: split(x, xo, xi, 8) split(y, yo, yi, 4) parallel(yo) parallel(xo)\n median: compute_at(out, xo)",
        "median: compute_at(out, x)",
        "median: compute_at(out, y) store_root()",
        "median: compute_at(out, x) store_at(out, y)\n bright: compute_at(out, y) store_root()",
        "out: split(x, xo, xi, 8) unroll(xi)\n median: compute_at(out, xi)",
        "out: split(x, xo, xi, 8, RoundUp) reorder(xi, y, xo)\n median: compute_at(out, y) store_at(out, xo)
         median$in0: vectorize(x, 8) bright: compute_at(out, y)",
        "bright.in(median$in0): compute_at(median$in0, y)\n median: compute_at(out, y)",
    ];
    for (w, h) in SIZES {
        let wanted = region(&[(-3, w), (2, h)]);
        let tight = region(&[(-5, w + 5), (2, h + 1)]);
        let image = noise(U16, &tight, 8);
        let want = expected.inputs().image_named("input", &image).realize_all(std::slice::from_ref(&wanted)).unwrap();
        for text in schedules {
            if text.contains("RoundUp") && (w % 8 != 0 || h % 4 != 0) {
                continue;
            }
            for engine in ENGINES {
                let compiled = Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile();
                let compiled = compiled.unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}"));
                taken(&calls);
                let got = compiled.inputs().image_named("input", &image).realize_all(std::slice::from_ref(&wanted));
                assert_eq!(got.unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}")), want, "{text}\n{engine:?}");
                assert!(!taken(&calls).is_empty(), "{text} {engine:?}");
            }
        }
    }
}

/// Calls are those that the loops of the schedule make, over the regions that their iterations need.
#[test]
fn calls_are_over_what_each_iteration_needs() {
    let calls = Calls::default();
    let pipeline = around(calls.clone());
    let image = noise(U16, &region(&[(-2, 20), (0, 9)]), 8);
    let wanted = [region(&[(0, 12), (0, 6)])];
    let run = |text: &str, engine| {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile().unwrap();
        taken(&calls);
        compiled.inputs().image_named("input", &image).realize_all(&wanted).unwrap();
        taken(&calls)
    };
    for engine in [Engine::Eval, crate::CPU] {
        // Each row of `out` needs one column more.
        let rows: Vec<Region> = (0..6).map(|y| region(&[(0, 13), (y, 1)])).collect();
        let mut sorted = rows.clone();
        sorted.sort_by_key(|r| (r.spans()[0].min, r.spans()[1].min));
        assert_eq!(run("median: compute_at(out, y)", engine), sorted, "{engine:?}");
        assert_eq!(run("out: parallel(y)\n median: compute_at(out, y)", engine), sorted, "{engine:?}");
        // Stored outside, each iteration computes what those before have not.
        let text = "out: reorder(y, x)\n median: compute_at(out, x) store_root()";
        let mut columns = vec![region(&[(0, 2), (0, 6)])];
        columns.extend((2..13).map(|x| region(&[(x, 1), (0, 6)])));
        assert_eq!(run(text, engine), columns, "{engine:?}");
        // Tails shift, round up, or are cut.
        let spans = |text: &str| run(text, engine).iter().map(|r| r.spans()[0]).collect::<Vec<_>>();
        let of = |all: &[(i64, i64)]| all.iter().map(|&(min, extent)| Span { min, extent }).collect::<Vec<_>>();
        let shifted = "out: split(x, xo, xi, 5, ShiftInwards) reorder(xi, y, xo)\n median: compute_at(out, xo)";
        assert_eq!(spans(shifted), of(&[(0, 6), (5, 6), (7, 6)]), "{engine:?}");
        let cut = "out: split(x, xo, xi, 5, GuardWithIf) reorder(xi, y, xo)\n median: compute_at(out, xo)";
        assert_eq!(spans(cut), of(&[(0, 6), (5, 6), (10, 3)]), "{engine:?}");
        // At the root it is called once.
        let whole = [region(&[(0, 13), (0, 6)])];
        assert_eq!(run("median: compute_root()", engine), whole, "{engine:?}");
        assert_eq!(run("", engine), whole, "{engine:?}");
    }
}

/// Tuples, images, parameters, several inputs of several numbers of dimensions, and a stage that reads another one.
fn sums_of_pairs() -> Pipeline {
    let (input, table) = (ImageParam::new("input", I32, 2), ImageParam::new("table", Bool, 1));
    let (gain, reach) = (Param::<i32>::new("gain").with_default(3), Param::<u8>::new("reach").with_default(1));
    let (x, y) = vars!(x, y);
    let (mut both, mut offset) = (Func::new("both"), Func::new("offset"));
    both[(x, y)] = (input[(x, y)] * 2, cast::<f32>(input[(x + 1, y)])).into();
    offset[()] = input[(0, 0)] + 1;
    let pair = Extern::new("pair", [I64, Bool], 2).input(&both).image(&table).input(&offset).param(&gain).param(&reach);
    let needs = |region: &halide::externs::RegionEnds| {
        let rows = (region.min(1) - region.param(1), region.max(1) + region.param(1));
        // All of a table that is as long as the region is wide, from an even coordinate on.
        let first = region.min(0) / 2 * 2;
        vec![vec![region.ends(0), rows], vec![(first.clone(), first + region.extent(0))], vec![]]
    };
    let pair = pair.needs_box(needs).compute(|call| {
        let [gain, reach] = [0, 1].map(|i| call.param(i).unwrap().as_i64());
        let (a, b, t, o) = (call.input(0).clone(), call.input(1).clone(), call.input(2).clone(), call.input(3).clone());
        assert_eq!((a.region(), t.extent(0)), (b.region(), call.region().spans()[0].extent + 1));
        let offset = o.get::<i32>([]).ok_or("no offset")?.as_i64();
        for at in call.region().clone().coords() {
            let mut sum = offset;
            for d in -reach as i32..=reach as i32 {
                sum = sum * gain + a.get([at[0], at[1] + d]).ok_or("too little")?.as_i64();
                sum += b.get([at[0], at[1] + d]).ok_or("too little")?.as_f64() as i64;
            }
            call.output(0).set(&at, Scalar::from(sum))?;
            // A truth that depends on where the region begins would not be a function of the point.
            let known = t.get([at[0]]).is_some_and(|v| v.as_i64() == 1);
            call.output(1).set(&at, Scalar::from(known))?;
        }
        Ok(())
    });
    let mut mixed = Func::new("mixed");
    mixed[(x, y)] = select(pair[(x, y)].at(1), pair[(x, y)].at(0), -pair[(x, y)].at(0));
    // Of the stage itself and of what is made of it; without `needs_box`.
    let sum = Extern::new("sum", [I64], 2).input(&mixed).input(&pair).compute(|call| {
        let (a, b) = (call.input(0).clone(), call.input(1).clone());
        for at in call.region().clone().coords() {
            let [a, b] = [&a, &b].map(|i| i.get(&at).map(|v| v.as_i64()));
            call.output(0).set(&at, Scalar::from(a.ok_or("less")?.wrapping_add(b.ok_or("less")?)))?;
        }
        Ok(())
    });
    let mut out = Func::new("out");
    out[(x, y)] = sum[(x, y)] - sum[(x, y + 1)];
    Pipeline::new([&out]).unwrap()
}

#[test]
fn tuples_parameters_and_stages_of_stages() {
    let pipeline = sums_of_pairs();
    let image = noise(I32, &region(&[(-9, 60), (-9, 60)]), 3);
    let truths = AnyBuffer::with_region(Bool, &region(&[(-30, 90)])).unwrap();
    let mut truths = truths;
    (-30..60).for_each(|i| truths.set([i], Scalar::from(i % 3 == 0)).unwrap());
    let schedules = [
        "sum: compute_at(out, y) pair: compute_at(out, y)",
        "sum: compute_at(out, y) pair: compute_root()",
        "sum: compute_at(out, y) store_root() pair: compute_at(out, y) store_root()",
        "out: tile(x, y, xo, yo, xi, yi, 4, 3) parallel(yo) sum: compute_at(out, xo) pair: compute_at(out, xo)
         both: compute_at(out, yo) offset: compute_root()",
        "out: tile(x, y, xo, yo, xi, yi, 4, 3) sum: compute_at(out, xo) vectorize(x, 4) pair: compute_at(out, xo)
         mixed: compute_at(out, xo) pair.in(sum$in1): compute_at(sum$in1, y)",
        "sum: compute_at(out, y) mixed: compute_at(out, y) pair: compute_at(out, y)",
        "out.specialize(out.extent(0) > 10): split(x, xo, xi, 4) parallel(y)\n sum: compute_at(out, y)\n pair: compute_at(out, y)",
    ];
    let run = |text: &str, engine, wanted: &Region, reach: u8| {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile()?;
        let call = compiled.inputs().image_named("input", &image).image_named("table", &truths).param_named("gain", 4);
        call.param_named("reach", reach).realize_all(std::slice::from_ref(wanted))
    };
    let mut ran = 0;
    for (w, h) in SIZES {
        for reach in [0, 2] {
            let wanted = region(&[(-3, w), (-2, h)]);
            let want = run("", Engine::Interp, &wanted, reach).unwrap();
            for text in schedules {
                for engine in [Engine::Eval, crate::CPU] {
                    match run(text, engine, &wanted, reach) {
                        Ok(got) => {
                            ran += 1;
                            assert_eq!(got, want, "{text}\n{engine:?}");
                        }
                        Err(error) => panic!("{text}\n{engine:?}: {error}"),
                    }
                }
            }
        }
    }
    assert_eq!(ran, SIZES.len() * 2 * schedules.len() * 2);
}

/// Stages of one input that add 1 to it, called `name`.
fn plus_one(name: &str, of: &Func, calls: &Calls) -> Func {
    let calls = calls.clone();
    Extern::new(name, [I32], 1).input(of).compute(move |call| {
        calls.lock().unwrap().push(call.region().clone());
        let from = call.input(0).typed::<i32>()?;
        for at in call.region().clone().coords() {
            call.output(0).set(&at, Scalar::from(from.get(&at).ok_or("too little")?.wrapping_add(1)))?;
        }
        Ok(())
    })
}

/// Producers of the inputs of a stage that is called once may call others in their loops.
#[test]
fn calls_in_what_computes_inputs_of_stages_at_the_root() {
    let input = ImageParam::new("input", I32, 1);
    let x = vars!(x);
    let (inner, outer) = (Calls::default(), Calls::default());
    let (mut f, mut g, mut out) = (Func::new("f"), Func::new("g"), Func::new("out"));
    f[x] = input[x] * 2;
    let first = plus_one("first", &f, &inner);
    g[x] = first[x] + first[x + 1];
    let second = plus_one("second", &g, &outer);
    out[x] = second[x] * 3;
    let pipeline = Pipeline::new([&out]).unwrap();
    let image = noise(I32, &region(&[(0, 12)]), 3);
    let wanted = [region(&[(0, 11)])];
    for engine in ENGINES {
        let schedule = "g: compute_root() split(x, xo, xi, 4) first: compute_at(g, xo)".parse().unwrap();
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule).compile().unwrap();
        let got = compiled.inputs().image_named("input", &image).realize_all(&wanted).unwrap();
        for at in 0..11 {
            let of = |at: i32| image.get([at]).unwrap().as_i64() as i32;
            let first = |at: i32| of(at).wrapping_mul(2).wrapping_add(1);
            let want = first(at).wrapping_add(first(at + 1)).wrapping_add(1).wrapping_mul(3);
            assert_eq!(got[0].get([at]), Some(Scalar::from(want)), "{engine:?} at {at}");
        }
        assert_eq!(taken(&outer).len(), 1, "{engine:?}");
        let of_interpreter = engine == Engine::Interp;
        assert_eq!(taken(&inner).len(), if of_interpreter { 1 } else { 3 }, "{engine:?}");
    }
}

/// A stage that several Funcs read is called where all of them are, and a copy of it is no second call.
#[test]
fn several_consumers_and_copies() {
    let input = ImageParam::new("input", I32, 1);
    let x = vars!(x);
    let calls = Calls::default();
    let (mut f, mut a, mut b, mut out) = (Func::new("f"), Func::new("a"), Func::new("b"), Func::new("out"));
    f[x] = input[x] * 2;
    let stage = plus_one("stage", &f, &calls);
    a[x] = stage[x] + stage[x + 2];
    b[x] = stage[x - 1] * 5;
    out[x] = a[x] + b[x] + a[x + 1];
    let pipeline = Pipeline::new([&out]).unwrap();
    let image = noise(I32, &region(&[(-1, 16)]), 3);
    let wanted = [region(&[(0, 11)])];
    let run = |text: &str, engine| {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile()?;
        taken(&calls);
        compiled.inputs().image_named("input", &image).realize_all(&wanted)
    };
    let want = run("", Engine::Interp).unwrap();
    let schedules = [
        ("out: split(x, xo, xi, 4) a: compute_at(out, xo) b: compute_at(out, xo) stage: compute_at(out, xo)", 3),
        ("out: split(x, xo, xi, 4) a: compute_at(out, xo) b: compute_at(out, xi) stage: compute_at(out, xo)", 3),
        ("a: compute_at(out, x) b: compute_at(out, x) compute_with(a, x) stage: compute_at(out, x)", 11),
        ("out: split(x, xo, xi, 4) stage: compute_at(out, xo) stage.in(a): compute_at(out, xi)", 3),
        // Places that differ: called once, at the root, and copied there.
        (
            "out: split(x, xo, xi, 4) a: compute_at(out, xo) stage: compute_at(out, xo) stage.clone_in(a): compute_at(a, x)",
            1,
        ),
        ("stage: compute_at(out, x) store_root()", 11),
        ("out: split(x, xo, xi, 4) stage: compute_at(out, xi) store_at(out, xo) fold_storage(x, 8)", 12),
    ];
    for (text, count) in schedules {
        for engine in [Engine::Eval, crate::CPU] {
            assert_eq!(run(text, engine).unwrap_or_else(|e| panic!("{text}\n{e}")), want, "{text}\n{engine:?}");
            let regions = taken(&calls);
            assert_eq!(regions.len(), count, "{text}\n{engine:?}: {regions:?}");
        }
    }
    let error = run("a: compute_root() stage: compute_at(a, x)", crate::CPU).unwrap_err().to_string();
    assert!(error.contains("uses `stage` too, and is not computed inside of loop `x` of `a`"), "{error}");
}

/// `out(x, y) = stage(x, y)` of a stage of bytes with this closure, which is called per row.
fn of_rows(build: impl FnOnce(Extern) -> Func) -> Pipeline {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut out) = (Func::new("f"), Func::new("out"));
    f[(x, y)] = input[(x, y)] + 1;
    let stage = build(Extern::new("stage", [U8], 2).input(&f));
    out[(x, y)] = stage[(x, y)];
    Pipeline::new([&out]).unwrap()
}

const PER_ROW: [&str; 2] = ["stage: compute_at(out, y)", "out: parallel(y) stage: compute_at(out, y)"];

fn compiled(pipeline: &Pipeline, text: &str, engine: Engine) -> Compiled {
    let compiled = Compiler::new(pipeline).engine(engine).schedule(&text.parse().unwrap()).compile();
    compiled.unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// The error of a stage with this closure, without the place.
fn failing(build: impl Fn(Extern) -> Func) -> String {
    let pipeline = of_rows(build);
    let mut texts = Vec::new();
    for (engine, text) in [Engine::Eval, crate::CPU].into_iter().flat_map(|e| PER_ROW.map(|text| (e, text))) {
        let compiled = compiled(&pipeline, text, engine);
        let image = AnyBuffer::new(U8, [8, 20]).unwrap();
        let error = compiled.inputs().image_named("input", image).realize::<u8>([5, 20]).unwrap_err();
        assert!(matches!(error, Error::Run(RunError::Extern { .. })), "{error}");
        texts.push(error.to_string());
    }
    assert!(texts.windows(2).all(|two| two[0] == two[1]), "{texts:?}");
    let (before, after) =
        texts[0].split_once(" at halide/tests/it/extern_calls.rs:").unwrap_or_else(|| panic!("{}", texts[0]));
    format!("{before}: {}", after.split_once(": ").unwrap().1)
}

#[test]
fn closures_that_fail_or_panic_end_the_run() {
    assert_eq!(failing(|e| e.compute(|_| Err("no licence".into()))), "extern stage `stage`: it failed: no licence");
    assert_eq!(failing(|e| e.compute(|_| panic!("oh dear"))), "extern stage `stage`: it panicked: oh dear");
    let last = |call: &mut ExternCall<'_>| match call.region().spans()[1].min {
        17 => Err("row 17".into()),
        _ => Ok(()),
    };
    assert_eq!(failing(|e| e.compute(last)), "extern stage `stage`: it failed: row 17");
    let other = |call: &mut ExternCall<'_>| {
        *call.output(0) = AnyBuffer::new(U8, [4, 4])?;
        Ok(())
    };
    let replaced = "extern stage `stage`: it replaced an output by a buffer of another type or region; write into the \
                    one that is there";
    assert_eq!(failing(|e| e.compute(other)), replaced);
    let outside = |call: &mut ExternCall<'_>| {
        let (x, y) = (call.region().spans()[0], call.region().spans()[1]);
        assert_eq!(call.input(0).get([x.min, y.min - 1]), None, "nothing lies outside of the box");
        // One row alone fails: of several, a parallel run tells of that which failed first.
        let to = y.min + i64::from(y.min == 17);
        call.output(0).set([x.min, to], Scalar::from(1u8)).map_err(Into::into)
    };
    let text = failing(|e| e.compute(outside));
    assert!(text.starts_with("extern stage `stage`: it failed: dimension 1 was asked for coordinate"), "{text}");
    let far = |call: &mut ExternCall<'_>| {
        _ = call.input(1);
        Ok(())
    };
    assert!(failing(|e| e.compute(far)).contains("it panicked: index out of bounds"));
}

/// Elements that a closure leaves unwritten are zero, whatever memory held; buffers that it keeps are its own.
#[test]
fn closures_that_write_a_part_or_keep_buffers() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let of_closure = kept.clone();
    let pipeline = of_rows(move |e| {
        e.compute(move |call| {
            let spans = call.region().spans().to_vec();
            let at = [spans[0].min + spans[0].extent - 1, spans[1].min];
            let value = call.input(0).get(at).ok_or("less")?;
            call.output(0).set(at, value)?;
            of_closure.lock().unwrap().push((call.input(0).clone(), call.output(0).clone()));
            Ok(())
        })
    });
    let image = Buffer::from_fn(&Region::of_extents([7, 9]), |at| (at[0] * 16 + at[1]) as u8).unwrap().into_any();
    for (engine, text) in [Engine::Eval, crate::CPU].into_iter().flat_map(|e| PER_ROW.map(|text| (e, text))) {
        kept.lock().unwrap().clear();
        let out =
            compiled(&pipeline, text, engine).inputs().image_named("input", &image).realize::<u8>([7, 9]).unwrap();
        for (at, value) in out.iter() {
            let want = if at[0] == 6 { (6 * 16 + at[1]) as u8 + 1 } else { 0 };
            assert_eq!(value, want, "{text} {engine:?} {at:?}");
        }
        let kept = kept.lock().unwrap();
        assert_eq!(kept.len(), 9);
        for (input, output) in &*kept {
            for at in input.coords() {
                assert_eq!(input.get(&at).unwrap().as_i64(), i64::from(at[0] * 16 + at[1] + 1), "{at:?}");
                let is_last = at[0] == 6;
                assert_eq!(output.get(&at).unwrap().as_i64(), if is_last { i64::from(96 + at[1] + 1) } else { 0 });
            }
        }
    }
}

/// Results may come in buffers of other strides, as long as they are of the type and the region.
#[test]
fn results_in_other_strides() {
    let pipeline = of_rows(|e| {
        e.compute(|call| {
            let region = call.region().clone();
            let [x, y] = [region.spans()[0], region.spans()[1]];
            let mut turned = AnyBuffer::with_region(U8, &region_of([(y.min, y.extent), (x.min, x.extent)]))?;
            for at in region.coords() {
                turned.set([at[1], at[0]], call.input(0).get(&at).ok_or("less")?)?;
            }
            *call.output(0) = turned.transpose(&[1, 0])?;
            Ok(())
        })
    });
    fn region_of(spans: [(i64, i64); 2]) -> Region {
        Region::of_spans(spans)
    }
    let image = noise(U8, &region(&[(0, 13), (0, 12)]), 5);
    let text = "out: split(y, yo, yi, 4) stage: compute_at(out, yo)";
    for engine in [Engine::Eval, crate::CPU] {
        let out =
            compiled(&pipeline, text, engine).inputs().image_named("input", &image).realize::<u8>([13, 12]).unwrap();
        for (at, value) in out.iter() {
            assert_eq!(i64::from(value), (image.get(&at).unwrap().as_i64() + 1) % 256, "{engine:?} {at:?}");
        }
    }
}

fn refused(pipeline: &Pipeline, text: &str) -> String {
    let mut texts = Vec::new();
    for engine in ENGINES {
        let compiler = Compiler::new(pipeline).engine(engine);
        let error = compiler.schedule(&text.parse().unwrap()).compile().err();
        texts.push(error.unwrap_or_else(|| panic!("{engine:?} takes {text}")).to_string());
    }
    assert!(texts.windows(2).all(|two| two[0] == two[1]), "{texts:?}");
    texts[0].clone()
}

#[test]
fn schedules_that_no_call_can_follow_are_refused() {
    let pipeline = around(Calls::default());
    let vectors = refused(&pipeline, "out: split(x, xo, xi, 4) vectorize(xi)\n median: compute_at(out, xi)");
    assert_eq!(
        vectors,
        "schedule:2:10: median: compute_at(out, xi)\n  the closure of `median` would be called in lanes: `xi` is \
         vectorized\n  help: compute it at a loop around that one, or let that loop be serial"
    );
    let values = refused(&pipeline, "median: compute_at(out, y)\n median$out: vectorize(x, 4)");
    assert!(values.contains("the values of `median$out` are computed by a closure that is called once"), "{values}");
    let place = refused(&pipeline, "median: compute_at(out, y)\n bright: compute_at(median$out, x)");
    assert!(place.contains("the values of `median$out` are computed by a closure"), "{place}");
    for word in ["compute_root()", "fold_storage(x, 8)", "store_in(Stack)", "bound(x, 0, 8)", "in(median$out)"] {
        let input = refused(&pipeline, &format!("median: compute_at(out, y)\n median$in0: {word}"));
        assert!(input.contains("`median$in0` is a copy of what a closure needs, computed and stored where"), "{input}");
    }
    let site = refused(&pipeline, "median: compute_at(out, y)\n bright: compute_at(median, x)");
    assert!(site.contains("the closure of `median` needs `bright` before the loops of `median` run"), "{site}");
    // Only a stage that is called in loops has these.
    let unknown = refused(&pipeline, "median$in0: vectorize(x, 4)");
    assert!(unknown.contains("the pipeline has no Func `median$in0`"), "{unknown}");
}

#[test]
fn needs_that_make_no_sense_are_mistakes_of_the_algorithm() {
    use halide::externs::{Boxes, RegionEnds};
    let input = ImageParam::new("input", U8, 2);
    let gain = Param::<f32>::new("gain");
    let mistake = |needs: fn(&RegionEnds) -> Boxes| {
        let stage = Extern::new("stage", [U8], 1).image(&input).param(&gain).needs_box(needs).compute(|_| Ok(()));
        let text = Pipeline::new([&stage]).unwrap_err().to_string();
        text.split_once(": ").unwrap().1.to_string()
    };
    assert_eq!(
        mistake(|_| vec![]),
        "`needs_box` of extern stage `stage` gives 0 boxes for 1 input\n  help: give one box for each input, in their \
         order"
    );
    assert_eq!(
        mistake(|region| vec![vec![region.ends(0)]]),
        "`needs_box` of extern stage `stage` gives the ends of 1 dimension for `input`, which has 2\n  help: \
         give the first and the last coordinate of each dimension"
    );
    let help =
        "\n  help: use the stage's own dimensions and integer parameters, which are counted from 0, and short sums";
    assert_eq!(
        mistake(|region| vec![vec![region.ends(0), region.ends(1)]]),
        format!(
            "`needs_box` of extern stage `stage`, for dimension 1 of `input`, speaks of dimension 1 of a region that has 1{help}"
        )
    );
    assert_eq!(
        mistake(|region| vec![vec![region.ends(0), (region.param(0), region.param(0))]]),
        format!(
            "`needs_box` of extern stage `stage`, for dimension 1 of `input`, speaks of parameter 0, which is a float{help}"
        )
    );
    assert_eq!(
        mistake(|region| vec![vec![region.ends(0), (region.param(1), region.min(0))]]),
        format!(
            "`needs_box` of extern stage `stage`, for dimension 1 of `input`, speaks of parameter 1 of a stage that has 1{help}"
        )
    );
}

/// Iterations that need nothing call nothing, and compute no inputs beyond what the run needs: those in the shadow of a
/// tail, whose regions end before they begin.
#[test]
fn iterations_that_need_nothing() {
    use halide::externs::{Boxes, RegionEnds};
    let needs: [fn(&RegionEnds) -> Boxes; 4] = [
        |region| vec![vec![(region.min(0) - 1, region.max(0) + 1)]],
        |region| vec![vec![(region.min(0) - 1, (region.min(0) + 6).max(region.max(0) + 1))]],
        |region| vec![vec![((region.max(0) - 9).min(region.min(0) - 1), region.max(0) + 1)]],
        |region| vec![vec![((region.min(0) - 1) / 8 * 8, (region.max(0) + 1) / 8 * 8 + 7)]],
    ];
    let schedules = [
        "g: compute_root() f: vectorize(x, 4) split(x, xo, xi, 4, GuardWithIf) s: compute_at(f, xi) store_at(f, xo)",
        "f: vectorize(x, 4) split(x, xo, xi, 4) parallel(xo) s: compute_at(f, xi) store_at(f, xo)",
        "f: split(x, xo, xi, 5, GuardWithIf) s: compute_at(f, xi) store_root() g: compute_at(f, xi)",
        "f: split(x, xo, xi, 5, GuardWithIf) s: compute_at(f, xi) store_at(f, xo) g: compute_at(f, xo)",
        "f: split(x, xo, xi, 6) s: compute_at(f, xo)",
    ];
    let image = noise(I32, &region(&[(-40, 100)]), 3);
    for needs in needs {
        let (x, input) = (vars!(x), ImageParam::new("in", I32, 1));
        let (mut g, mut f) = (Func::new("g"), Func::new("f"));
        g[x] = input[x] * 3 - x;
        let s = Extern::new("s", [I32], 1).input(&g).needs_box(needs).compute(|call| {
            let from = call.input(0).typed::<i32>()?;
            for at in call.region().clone().coords() {
                let [a, b] = [-1, 1].map(|d| from.get([at[0] + d]));
                call.output(0).set(&at, Scalar::from(a.ok_or("less")?.wrapping_sub(b.ok_or("less")?)))?;
            }
            Ok(())
        });
        f[x] = s[x] - s[x - 1] + g[x];
        let pipeline = Pipeline::new([&f]).unwrap();
        for size in [1, 4, 5, 7, 13, 16, 23] {
            let wanted = [region(&[(-2, size)])];
            let run = |text: &str, engine| {
                let call = compiled(&pipeline, text, engine);
                // No more than it asks for.
                let asked = call.inputs().infer_input_bounds(&wanted).unwrap();
                let given = image.crop(&asked[0].region).unwrap();
                call.inputs().image_named("in", &given).realize_all(&wanted)
            };
            let want = run("", Engine::Interp).unwrap();
            for (text, engine) in schedules.iter().flat_map(|text| [(text, Engine::Eval), (text, crate::CPU)]) {
                let got = run(text, engine).unwrap_or_else(|e| panic!("{text} {engine:?} {size}: {e}"));
                assert_eq!(got, want, "{text} {engine:?} {size}");
            }
        }
    }
}
