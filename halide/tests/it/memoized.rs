//! Memoized Funcs: values that are kept with the memory of the images that they were computed of.

use crate::engines_agree::noise;
use halide::externs::Extern;
use halide::prelude::*;

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// `packed` depends on an image and a parameter, `mixed` on two images, `table` on none; `out` on all, and on `input`.
struct Case {
    pipeline: Pipeline,
    schedule: Schedule,
}

fn case(extra: &str) -> Case {
    let (a, b, input) = (ImageParam::new("a", I32, 1), ImageParam::new("b", I32, 1), ImageParam::new("input", I32, 1));
    let (x, n) = (Var::new("x"), Param::<i32>::new("n").with_default(3));
    let (mut packed, mut mixed, mut table, mut out) =
        (Func::new("packed"), Func::new("mixed"), Func::new("table"), Func::new("out"));
    packed[x] = a[x] * n.expr();
    packed[x] += a[x + 1];
    mixed[x] = tuple([packed[x] - b[x], b[x] * b[x]]);
    table[x] = x * x + 1;
    let r = RDom::named("r", [(0, 3)]);
    out[x] = mixed[x].at(0) + table[input[x] & 7];
    out[x] += mixed[x + r.x].at(1) * input[x] + packed[x];
    let text = format!("packed: memoize()\n mixed: memoize()\n table: memoize()\n{extra}");
    Case { pipeline: Pipeline::new([&out]).unwrap(), schedule: text.parse().unwrap() }
}

fn uses(compiled: &Compiled) -> Vec<(String, u64, u64)> {
    let mut all: Vec<_> = compiled.memoized().into_iter().map(|used| (used.func, used.computed, used.reused)).collect();
    all.sort();
    all
}

#[test]
fn values_are_those_without_memoize() {
    for extra in ["", "packed: vectorize(x, 8)\n mixed: vectorize(x, 4) parallel(x, 16)\n out: vectorize(x, 8)"] {
        let Case { pipeline, schedule } = case(extra);
        let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
        for engine in ENGINES {
            let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule).compile().unwrap();
            let image = |seed: u64| noise(I32, &Region::of_spans([(-4, 60)]), seed);
            let (mut a, b) = (image(1), image(2));
            let mut buffers: Vec<AnyBuffer> = vec![b.clone(), image(4)];
            for (round, (min, extent)) in [(0, 1), (-4, 13), (3, 40), (3, 41), (-4, 55)].into_iter().enumerate() {
                let region = Region::of_spans([(min, extent)]);
                for (n, b) in [(2, 0), (2, 0), (5, 0), (2, 1), (5, 1)] {
                    let run = |compiled: &Compiled| {
                        let call = compiled.inputs().image_named("a", a.clone()).image_named("b", buffers[b].clone());
                        call.image_named("input", image(round as u64 + 7))
                            .param_named("n", n)
                            .realize_region::<i32>(&region)
                    };
                    assert_eq!(run(&compiled).unwrap(), run(&reference).unwrap(), "{engine:?} {region:?} {n} {b}");
                }
                // Other values in the same memory.
                a.set([round as i64], Scalar::from(round as i32 - 70)).unwrap();
                buffers[1].set([2 + round as i64], Scalar::from(9)).unwrap();
            }
        }
    }
}

#[test]
fn what_does_not_change_is_computed_once() {
    let Case { pipeline, schedule } = case("");
    let compiled = pipeline.compile(&schedule, &Target::host()).unwrap();
    let image = |seed: u64| noise(I32, &Region::of_extents([60]), seed);
    let (mut a, b) = (image(1), image(2));
    let run = |a: &AnyBuffer, b: &AnyBuffer, n: i32, extent: i32| {
        let call = compiled.inputs().image_named("a", a.clone()).image_named("b", b.clone()).param_named("n", n);
        drop(call.image_named("input", image(3)).realize::<i32>([extent]).unwrap());
    };
    let used = |func: &str| {
        let own = uses(&compiled).into_iter().filter(|(name, ..)| name == func);
        own.fold((0, 0), |(computed, reused), (_, c, r)| (computed + c, reused + r))
    };
    run(&a, &b, 2, 20);
    let first = [used("packed"), used("mixed"), used("table")];
    // `packed` is computed once for `out`, and `mixed` finds it.
    assert_eq!(first[1..], [(1, 0), (1, 0)]);
    for _ in 0..4 {
        run(&a, &b, 2, 20);
        run(&a, &b, 2, 9);
    }
    assert_eq!([used("packed").0, used("mixed").0, used("table").0], [first[0].0, 1, 1]);
    assert_eq!(used("table").1, 8);
    let text = compiled.explain().unwrap();
    assert!(text.contains("+ table: computed before the rest in 1 runs, found from an earlier one in 8"), "{text}");
    // A larger region, another parameter, another image, other values.
    let counts = |what: &str| (used(what).0, what.to_string());
    let before = counts("mixed");
    run(&a, &b, 2, 40);
    assert_eq!(counts("mixed").0, before.0 + 1);
    run(&a, &b, 3, 40);
    assert_eq!(counts("mixed").0, before.0 + 2);
    run(&a, &image(2), 2, 40);
    assert_eq!(counts("mixed").0, before.0 + 3);
    run(&a, &b, 2, 40);
    assert_eq!(counts("mixed").0, before.0 + 3);
    a.set([3], Scalar::from(77)).unwrap();
    run(&a, &b, 2, 40);
    assert_eq!(counts("mixed").0, before.0 + 4);
    assert_eq!(used("table").0, 1);
}

/// Values are kept in buffers as large as code with vectors reads.
#[cfg(feature = "cpu")]
#[test]
fn the_main_variant_runs() {
    let Case { pipeline, schedule } = case("mixed: vectorize(x, 8)\n out: vectorize(x, 8)");
    let compiled = pipeline.compile(&schedule, &Target::host()).unwrap();
    let image = |seed: u64| noise(I32, &Region::of_extents([100]), seed);
    let call = compiled.inputs().image_named("a", image(1)).image_named("b", image(2)).image_named("input", image(3));
    drop(call.realize::<i32>([61]).unwrap());
    assert_eq!(compiled.variants().len(), 1, "{:?}", compiled.variants());
}

#[test]
fn programs_compute_once_what_a_loop_leaves_alone() {
    let (w, x0, i) = (ImageParam::new("w", F32, 1), ImageParam::new("x", F32, 1), Var::new("i"));
    let (mut packed, mut next) = (Func::new("packed"), Func::new("x"));
    packed[i] = sqrt(w[i]);
    next[i] = x0[i] * 0.5f32 + packed[i];
    let pipeline = Pipeline::new([&next]).unwrap();
    let schedule: Schedule = "packed: memoize()".parse().unwrap();
    let mut program = Program::new("steps");
    program.input("w", F32, 1).input("x", F32, 1).repeat(20, |it| it.run(&pipeline, &schedule));
    let compiled = program.compile(&Target::host()).unwrap();
    let (w, x) = (Buffer::from_slice([2], &[1.0f32, 4.0]).unwrap(), Buffer::<f32>::new([2]).unwrap());
    let done = compiled.inputs().image_named("w", &w).image_named("x", &x).run().unwrap();
    let x: Vec<f32> = done.state("x").unwrap().to_vec();
    assert!((x[0] - 2.0).abs() < 1e-4 && (x[1] - 4.0).abs() < 1e-4, "{x:?}");
    let used = compiled.steps().flat_map(|(_, step)| uses(step)).collect::<Vec<_>>();
    assert_eq!(used, [("packed".to_string(), 1, 19)]);
}

#[test]
fn what_cannot_be_memoized() {
    let (a, x) = (ImageParam::new("a", I32, 1), Var::new("x"));
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[x] = a[x] + 1;
    g[x] = f[x] * 2;
    h[x] = g[x] + f[x];
    let pipeline = Pipeline::new([&h]).unwrap();
    let said = |text: &str| {
        let error = pipeline.compile(&text.parse().unwrap(), &Target::host()).unwrap_err();
        error.to_string()
    };
    let cases = [
        ("h: memoize()", "`h` is an output, whose memory the caller gives, so it cannot be memoized"),
        ("f: memoize() compute_at(h, x)", "`f` is memoized, so it is computed and stored at the root"),
        ("f: memoize() store_at(h, x)", "`f` is memoized, so it is computed and stored at the root"),
        ("f: memoize() in(h)", "`f` cannot be memoized beside directives that make Funcs of it"),
        ("f: clone_in(h)\n f.clone_in(h): memoize()", "cannot be memoized beside directives that make Funcs"),
        ("f: memoize() vectorize(q, 8)", "no loop `q`"),
        ("f: memoize()\n k: memoize()", "`k`"),
    ];
    for (text, expected) in cases {
        assert!(said(text).contains(expected), "{text}: {}", said(text));
    }
    let printing = {
        let (mut noisy, mut out) = (Func::new("noisy"), Func::new("out"));
        noisy[x] = print_when(a[x].gt(3), a[x], ("large", a[x]));
        out[x] = noisy[x] + 1;
        Pipeline::new([&out]).unwrap()
    };
    let beside = {
        let mut out = Func::new("out");
        let stage = Extern::new("stage", [I32], 1).input(&f).compute(|_| Ok(()));
        out[x] = stage[x] + f[x];
        Pipeline::new([&out]).unwrap()
    };
    let others = [
        (&printing, "noisy: memoize()", "`noisy` cannot be memoized, since its values print at "),
        (&beside, "f: memoize()", "`f` cannot be memoized in a pipeline with the extern stage `stage`"),
        (&pipeline, "f: memoize() specialize(h.extent(0) > 9)", "`h` is in another part of the pipeline"),
    ];
    for (pipeline, text, expected) in others {
        let error = pipeline.compile(&text.parse().unwrap(), &Target::host()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("help: "), "{text}: {error}");
    }
    // In the memory that values are kept with, nothing may be written.
    let compiled = pipeline.compile(&"f: memoize()".parse().unwrap(), &Target::host()).unwrap();
    let mut memory = Buffer::from_slice([2], &[1, 2]).unwrap();
    let error = compiled.inputs().in_place_named("a", 0).realize_into(memory.view_mut().unwrap()).unwrap_err();
    assert!(error.to_string().contains("`f` is memoized"), "{error}");
}

/// Rules for shapes need the values before there is an output, and the run that follows gives them: without an element
/// that nothing reads. (Seed 873 of random_schedules.)
#[test]
fn elements_that_nothing_reads_beside_rules_for_shapes() {
    let input = ImageParam::new("input", I32, 1);
    let x = Var::new("x");
    let (mut pair, mut out) = (Func::new("pair"), Func::new("out"));
    pair[x] = tuple([input[x] * 2, input[x] + 1]);
    out[x] = pair[x].at(1) - x;
    out.output().dim(0).set_extent_multiple_of(3);
    let pipeline = Pipeline::new([&out]).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&"pair: memoize()".parse().unwrap()).compile();
        let compiled = compiled.unwrap();
        let image = Buffer::from_fn(&Region::of_extents([6]), |at| at[0] * 10).unwrap();
        let got =
            compiled.inputs().image(&input, image).realize::<i32>([6]).unwrap_or_else(|e| panic!("{engine:?}: {e}"));
        assert_eq!(got.to_vec(), [1, 10, 19, 28, 37, 46]);
    }
}

/// A rule of an input speaks of a parameter that only what computes the Func knows: the run is given values that rules
/// of the output needed, and the caller's inputs are checked once. (Seed 3224 of random_gpu_schedules.)
#[test]
fn rules_of_inputs_that_only_a_memoized_func_reads() {
    let (input, offset) = (ImageParam::new("input", I32, 1), Param::<i32>::new("offset"));
    input.dim(0).set_min(offset.expr());
    let x = Var::new("x");
    let (mut twice, mut out) = (Func::new("twice"), Func::new("out"));
    twice[x] = input[x] * 2;
    out[x] = twice[x] - x;
    out.output().dim(0).set_min(2);
    let pipeline = Pipeline::new([&out]).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&"twice: memoize()".parse().unwrap()).compile();
        let compiled = compiled.unwrap();
        let run = |offset: i32| {
            let image = Buffer::from_fn(&Region::of_spans([(1, 6)]), |at| at[0] * 10).unwrap();
            let call = compiled.inputs().image(&input, image).param_named("offset", offset);
            call.realize_region::<i32>(&Region::of_spans([(2, 3)]))
        };
        assert_eq!(run(1).unwrap_or_else(|e| panic!("{engine:?}: {e}")).to_vec(), [38, 57, 76]);
        let error = run(0).unwrap_err().to_string();
        assert!(error.contains("`input`"), "{engine:?}: {error}");
    }
}

/// Bounds of the values of a memoized Func are bounds of what they are coordinates of, as without `memoize`: constants,
/// parameters and shapes of images, also through other memoized Funcs. (Seed 3197 of random_gpu_schedules.)
#[test]
fn values_bound_what_they_are_coordinates_of() {
    let (input, table) = (ImageParam::new("input", I32, 1), ImageParam::new("table", I32, 1));
    let (most, x) = (Param::<i32>::new("most"), Var::new("x"));
    let (mut index, mut near, mut row, mut out) =
        (Func::new("index"), Func::new("near"), Func::new("row"), Func::new("out"));
    index[x] = tuple([clamp(input[x], 3, table.dim(0).extent() - 1), max(min(input[x] / 2, most.expr()), 3)]);
    near[x] = index[x].at(1) - 3;
    row[x] = min(input[x] % 4, input.dim(0).extent() - 37) + 5;
    out[x] = table[index[x].at(0)] - table[near[x] + 2] * table[row[x] - 3];
    let pipeline = Pipeline::new([&out]).unwrap();
    let values = noise(I32, &Region::of_extents([40]), 3);
    let schedules = [
        "index: memoize()\n near: memoize()\n row: memoize()",
        "index: memoize()\n near: compute_root()\n row: memoize() vectorize(x, 8)\n out: vectorize(x, 8)",
        "near: memoize()\n index: compute_root() vectorize(x, 4)\n row: store_root() compute_at(out, x)",
    ];
    for text in schedules {
        let schedule = text.parse().unwrap();
        for (engine, (elements, most)) in ENGINES.into_iter().flat_map(|engine| [(engine, (9, 9)), (engine, (20, 3))]) {
            let compiler = Compiler::new(&pipeline).engine(engine);
            let table_image = Buffer::from_fn(&Region::of_spans([(2, elements - 2)]), |at| at[0] * 7).unwrap();
            let run = |compiled: Compiled| {
                let call = compiled.inputs().image(&input, values.clone()).param_named("most", most);
                call.image(&table, &table_image).realize::<i32>([33])
            };
            let (plain, memoized) = (compiler.compile().unwrap(), compiler.schedule(&schedule).compile().unwrap());
            let got = run(memoized).unwrap_or_else(|e| panic!("{engine:?} {text}: {e}"));
            assert_eq!(got, run(plain).unwrap(), "{engine:?} {text}");
        }
    }
}

/// Kernels compute what they are scheduled to, and its values are on the device for the kernels that read them, in the
/// first run and in later ones.
#[cfg(feature = "gpu")]
#[test]
fn values_of_kernels_stay_on_the_device() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let (weights, input, x) = (ImageParam::new("weights", I32, 1), ImageParam::new("input", I32, 1), Var::new("x"));
    let (mut packed, mut out) = (Func::new("packed"), Func::new("out"));
    packed[x] = tuple([weights[x] * 3, weights[x] - x]);
    out[x] = packed[x].at(0) * input[x] + packed[x + 1].at(1);
    let pipeline = Pipeline::new([&out]).unwrap();
    let image = |seed: u64| noise(I32, &Region::of_extents([70]), seed);
    for extent in [64, 61] {
        // The host's values are copied once; those of kernels never.
        for (packed, first) in [("gpu_tile(x, xo, xi, 8)", 1), ("vectorize(x, 4)", 3)] {
            let schedule = format!("packed: memoize() {packed}\n out: gpu_tile(x, xo, xi, 8)").parse().unwrap();
            let compiled = Compiler::new(&pipeline).gpu(gpu).schedule(&schedule).compile().unwrap();
            let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
            let (mut weights_image, inputs) = (image(1), [image(2), image(3)]);
            let mut uploads = Vec::new();
            for (run, input_image) in [0, 0, 1, 1].map(|n: usize| &inputs[n]).into_iter().enumerate() {
                if run == 3 {
                    weights_image.set([5], Scalar::from(77)).unwrap();
                }
                let run = |compiled: &Compiled| {
                    let mut result = AnyBuffer::new(I32, [extent]).unwrap();
                    let call = compiled.inputs().image(&weights, weights_image.clone()).image(&input, input_image);
                    let stats = call.realize_all_into(&mut [result.view_mut().unwrap()]).unwrap();
                    (result, stats.gpu.map_or(0, |gpu| gpu.uploads))
                };
                let ((got, copied), (want, _)) = (run(&compiled), run(&reference));
                assert_eq!(got.first_difference(&want), None, "{packed} {extent}");
                uploads.push(copied);
            }
            assert_eq!(uploads, [first, 0, 1, first - 1], "{packed} {extent}");
            assert_eq!(uses(&compiled), [("packed".to_string(), 2, 2)]);
        }
    }
}
