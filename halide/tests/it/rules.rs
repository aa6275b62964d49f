//! Rules for the shapes of the caller's buffers: facts that code is compiled with, and checks with exact texts.

use crate::engines_agree::noise;
use halide::buffer::BufferError;
use halide::prelude::*;

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// Returns the lines of an error about rules, without the places of these in this file.
fn texts(error: Error) -> Vec<String> {
    let strip = |line: &str| {
        let (before, after) = line.split_once(", by the rule at halide/tests/it/rules.rs:").expect("a place");
        let (place, rest) = after.split_once(", but").expect("what is there");
        assert!(place.split(':').all(|n| n.parse::<u32>().is_ok()), "{place}");
        format!("{before}, but{rest}")
    };
    error.to_string().lines().map(strip).collect()
}

/// Interleaved colours: the input has its channels innermost, the output too.
fn interleaved() -> Pipeline {
    let input = ImageParam::new("input", U8, 3);
    input.dim(0).set_stride(3);
    input.dim(2).set_stride(1).set_bounds(0, 3);
    let (x, y, c) = vars!(x, y, c);
    let mut f = Func::new("f");
    f[(x, y, c)] = input[(x, y, c)] / 2 + input[(x + 1, y, 2 - c)] / 2;
    f.output().dim(0).set_stride(3);
    f.output().dim(2).set_stride(1).set_bounds(0, 3);
    Pipeline::new([&f]).unwrap()
}

#[test]
fn interleaved_buffers_run_without_another_variant() {
    let pipeline = interleaved();
    let region = Region::of_extents([22, 7, 3]);
    let planar = noise(U8, &Region::of_extents([23, 7, 3]), 3);
    let mut image = AnyBuffer::interleaved(U8, &planar.region()).unwrap();
    image.view_mut().unwrap().copy_from(&planar).unwrap();
    let mut results = Vec::new();
    for engine in ENGINES {
        for text in ["", "f: reorder(c, x, y) unroll(c) vectorize(x, 4)", "f: vectorize(x, 8)"] {
            let compiled = Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile().unwrap();
            let call = compiled.inputs().image_named("input", &image);
            let out = call.realize_all(std::slice::from_ref(&region)).unwrap().swap_remove(0);
            assert_eq!(out.dims().iter().map(|d| d.stride).collect::<Vec<i64>>(), [3, 66, 1]);
            assert!(compiled.variants().iter().all(|v| !v.generic_strides), "{text}");
            results.push(out);
            let wrong = compiled.inputs().image_named("input", &planar);
            let error = wrong.realize_all(std::slice::from_ref(&region)).unwrap_err();
            let expected = [
                "input `input` needs stride 3 in dimension 0, but it has stride 1; give another buffer or drop the rule",
                "input `input` needs stride 1 in dimension 2, but it has stride 161; give another buffer or drop the rule",
            ];
            assert_eq!(texts(error), expected);
        }
    }
    assert!(results.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn the_output_of_the_caller_is_checked_before_anything_is_written() {
    let pipeline = interleaved();
    let image = AnyBuffer::interleaved(U8, &Region::of_extents([9, 4, 3])).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let mut out = Buffer::<u8>::from_fn(&Region::of_extents([8, 4, 2]), |_| 77).unwrap();
        let error = compiled.inputs().image_named("input", &image).realize_into(out.view_mut().unwrap()).unwrap_err();
        let expected = [
            "output `f` needs stride 3 in dimension 0, but it has stride 1; give another buffer or drop the rule",
            "output `f` needs stride 1 in dimension 2, but it has stride 32; give another buffer or drop the rule",
            "output `f` needs extent 3 in dimension 2, but it has extent 2; give another buffer or drop the rule",
        ];
        assert_eq!(texts(error), expected);
        assert!(out.to_vec().iter().all(|v| *v == 77));
    }
}

#[test]
fn rules_may_be_expressions_of_parameters_and_other_dimensions() {
    let (input, table) = (ImageParam::new("input", U16, 2), ImageParam::new("table", U16, 1));
    let border = Param::<i32>::new("border").with_default(2);
    input.dim(0).set_min(-border.expr());
    input.dim(1).set_min(input.dim(0).min()).set_extent(input.dim(0).extent() / 2 + border);
    table.dim(0).set_bounds(0, input.dim(0).extent());
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x - 1, y - 1)] + table[x];
    f.output().dim(0).set_min(0).set_extent(input.dim(0).extent() - border * 2);
    let pipeline = Pipeline::new([&f]).unwrap();
    let run = |engine, border: i32, (input, table): (AnyBuffer, AnyBuffer), extents: [i32; 2]| {
        let compiled =
            Compiler::new(&pipeline).engine(engine).schedule(&"f: vectorize(x, 4)".parse().unwrap()).compile().unwrap();
        let call = compiled.inputs().image_named("input", input).image_named("table", table);
        call.param_named("border", border).realize::<u16>(extents)
    };
    let buffers = |border: i64, w: i64, h: i64, t: i64| {
        let input = noise(U16, &Region::of_spans([(-border, w), (-border, h)]), 4);
        (input, noise(U16, &Region::of_extents([t]), 5))
    };
    let expected = run(Engine::Interp, 2, buffers(2, 24, 14, 24), [20, 12]).unwrap();
    for engine in ENGINES {
        assert_eq!(run(engine, 2, buffers(2, 24, 14, 24), [20, 12]).unwrap(), expected);
        assert!(run(engine, 3, buffers(3, 24, 15, 24), [18, 12]).is_ok());
        let error = run(engine, 3, buffers(2, 24, 14, 25), [18, 9]).unwrap_err();
        let expected = [
            "input `input` needs min -3 in dimension 0, but it has min -2; give another buffer or drop the rule",
            "input `input` needs extent 15 in dimension 1, but it has extent 14; give another buffer or drop the rule",
            "input `table` needs extent 24 in dimension 0, but it has extent 25; give another buffer or drop the rule",
        ];
        assert_eq!(texts(error), expected, "{engine:?}");
    }
}

#[test]
fn multiples_take_tails_away() {
    let build = |ruled: bool| {
        let input = ImageParam::new("input", U16, 2);
        let (x, y) = vars!(x, y);
        let mut f = Func::new("f");
        f[(x, y)] = input[(x, y)] * 3 + 1;
        if ruled {
            f.output().dim(0).set_extent_multiple_of(32);
        }
        Pipeline::new([&f]).unwrap()
    };
    let schedule: Schedule = "f: split(x, xo, xi, 16, GuardWithIf) vectorize(xi)".parse().unwrap();
    let text = |pipeline: &Pipeline| {
        let plan = halide::plan::resolve(pipeline, &schedule, &Target::host()).unwrap();
        halide::lower::lower(&plan, &halide::lower::LowerOptions::default()).unwrap().program.to_string()
    };
    let (with, without) = (text(&build(true)), text(&build(false)));
    let stores = |text: &str| text.matches(" where ").count();
    assert_eq!((stores(&with), stores(&without)), (0, 2), "{with}");
    let image = noise(U16, &Region::of_extents([64, 3]), 9);
    for engine in ENGINES {
        let compiled = Compiler::new(&build(true)).engine(engine).schedule(&schedule).compile().unwrap();
        let run = |w: i32| compiled.inputs().image_named("input", &image).realize::<u16>([w, 3]);
        let plain = Compiler::new(&build(false)).engine(engine).schedule(&schedule).compile().unwrap();
        let expected = plain.inputs().image_named("input", &image).realize::<u16>([64, 3]).unwrap();
        assert_eq!(run(64).unwrap(), expected);
        let expected = [
            "output `f` needs an extent that is a multiple of 32 in dimension 0, but it has extent 48; give another buffer or drop the rule",
        ];
        assert_eq!(texts(run(48).unwrap_err()), expected);
    }
}

#[test]
fn the_usual_way_to_say_multiples_is_a_fact_too() {
    let input = ImageParam::new("input", U16, 1);
    input.dim(0).set_min(0).set_extent(input.dim(0).extent() / 8 * 8);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = input[x] + 1;
    let pipeline = Pipeline::new([&f]).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let run = |n: i64| {
            let image = noise(U16, &Region::of_extents([n]), 2);
            compiled.inputs().image_named("input", image).realize::<u16>([8])
        };
        assert!(run(24).is_ok());
        let expected = [
            "input `input` needs extent 16 in dimension 0, but it has extent 23; give another buffer or drop the rule",
        ];
        assert_eq!(texts(run(23).unwrap_err()), expected);
    }
}

#[test]
fn rows_are_padded_where_a_rule_wants_it_and_addresses_are_checked() {
    let input = ImageParam::new("input", U8, 1);
    let ruled = line!() + 1;
    input.set_host_alignment(32);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[x + y];
    f.output().dim(1).set_stride_multiple_of(64);
    f.output().set_host_alignment(64);
    let pipeline = Pipeline::new([&f]).unwrap();
    let image = noise(U8, &Region::of_extents([100]), 6);
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let call = compiled.inputs().image_named("input", &image);
        let out = call.realize_all(&[Region::of_extents([37, 5])]).unwrap();
        assert_eq!(out[0].stride(1), 64);
        assert_eq!(out[0].get([36, 4]), image.get([40]));
        let beside = image.crop(&Region::of_spans([(3, 90)])).unwrap().with_mins([0]).unwrap();
        let error = compiled.inputs().image_named("input", beside).realize_all(&[Region::of_extents([3, 3])]);
        assert_eq!(
            error.unwrap_err().to_string(),
            format!(
                "input `input` must begin at an address that is a multiple of 32 bytes, by the rule at \
                 halide/tests/it/rules.rs:{ruled}:11, but it begins 3 bytes beyond one; give another buffer or drop the rule"
            )
        );
    }
    let strides = AnyBuffer::with_strides(U8, &Region::of_extents([4, 4]), &[1, 3]);
    assert_eq!(strides.unwrap_err(), BufferError::Strides { strides: vec![1, 3] });
}

#[test]
fn rules_without_a_value() {
    let input = ImageParam::new("input", U8, 2);
    let wide = input.dim(0).extent();
    let ruled = line!() + 1;
    input.dim(1).set_min(wide * wide * wide);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = input[(x, 0)];
    let pipeline = Pipeline::new([&f]).unwrap();
    for engine in ENGINES {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let nothing = AnyBuffer::new(U8, [i32::MAX, 0]).unwrap();
        let error = compiled.inputs().image_named("input", nothing).realize_all(&[Region::of_extents([3])]);
        assert_eq!(
            error.unwrap_err().to_string(),
            format!(
                "the rule for dimension 1 of input `input` at halide/tests/it/rules.rs:{ruled}:18 has no value in 64 bits; \
                 check the parameters"
            )
        );
    }
}

#[test]
fn mistakes_in_rules_are_collected() {
    let input = ImageParam::new("input", U8, 2);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = input[(x, 0)];
    input.dim(2).set_min(0);
    input.dim(0).set_extent(x + 1).set_extent_multiple_of(0);
    input.dim(1).set_extent(1.5f32.expr());
    input.set_host_alignment(24);
    f.output().dim(0).set_extent(10).set_extent_multiple_of(4);
    f.output().dim(1).set_estimate(0, 100);
    let errors = Pipeline::new([&f]).unwrap_err();
    let reasons: Vec<String> = errors.0.iter().map(|e| e.kind.reason()).collect();
    assert_eq!(
        reasons,
        [
            "a rule is for dimension 2 of the buffer of `input`, which has 2 dimensions",
            "a rule for the buffer of `input` uses the variable `x`",
            "a rule for the buffer of `input` asks for multiples of 0; 1 to 2147483647 are possible",
            "a rule for the buffer of `input` is not an integer",
            "the host alignment of `input` is 24 bytes; powers of two up to 1048576 are possible",
            "two rules for the extent of dimension 0 of the buffer of `f` can never both hold",
            "a rule is for dimension 1 of the buffer of `f`, which has 1 dimension",
        ]
    );
}

/// The program checks its arguments itself: whoever runs one without the facade is told too.
#[test]
fn programs_check_rules_before_they_write() {
    let schedule = Schedule::new();
    let plan = halide::plan::resolve(&interleaved(), &schedule, &Target::host()).unwrap();
    let program = halide::lower::lower(&plan, &halide::lower::LowerOptions::default()).unwrap().program;
    let image = AnyBuffer::interleaved(U8, &Region::of_extents([9, 4, 3])).unwrap();
    let mut outputs = [AnyBuffer::new(U8, [8, 4, 3]).unwrap()];
    let error = halide::ir::eval::run(&program, &[], &[image], &mut outputs).unwrap_err();
    let text = error.message(&program);
    let (before, after) = text.split_once(", by the rule at halide/tests/it/rules.rs:").unwrap();
    assert_eq!(before, "output `f` needs stride 3 in dimension 0");
    assert!(after.ends_with(", but it has stride 1; give another buffer or drop the rule"), "{text}");
}

#[cfg(feature = "gpu")]
#[test]
fn kernels_keep_to_rules() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let pipeline = interleaved();
    let region = [Region::of_extents([21, 7, 3])];
    let planar = noise(U8, &Region::of_extents([22, 7, 3]), 3);
    let mut image = AnyBuffer::interleaved(U8, &planar.region()).unwrap();
    image.view_mut().unwrap().copy_from(&planar).unwrap();
    let text = "f: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let device = Compiler::new(&pipeline).gpu(gpu).schedule(&text.parse().unwrap()).target(&target).compile().unwrap();
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).target(&target).compile().unwrap();
    let run = |c: &Compiled, image: &AnyBuffer| c.inputs().image_named("input", image).realize_all(&region);
    assert_eq!(run(&device, &image).unwrap(), run(&reference, &image).unwrap());
    assert_eq!(texts(run(&device, &planar).unwrap_err()).len(), 2);
}
