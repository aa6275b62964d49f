//! Shapes of calls that cannot be, and code that could not be made for a shape.

use halide::error::RunError;
use halide::externs::Extern;
use halide::prelude::*;

const FILE: &str = "halide/tests/it/shapes_refused.rs";

fn ramp(rule: impl FnOnce(&Func)) -> (Func, Pipeline) {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = x * 2;
    rule(&f);
    let pipeline = Pipeline::new([&f]).unwrap();
    (f, pipeline)
}

fn of(extents: impl IntoIterator<Item = i64>) -> Shapes {
    Shapes::of_outputs(extents.into_iter().map(|n| Region::of_extents([n])))
}

/// The error of a pipeline for these shapes, without places in this file.
fn refused(pipeline: &Pipeline, shapes: &Shapes) -> String {
    let text = Compiler::new(pipeline).shapes(shapes).compile().unwrap_err().to_string();
    let mut parts = text.split(FILE);
    let first = parts.next().unwrap().to_string();
    let rest = parts.map(|part| part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()));
    rest.fold(first, |all, part| format!("{all}HERE{part}"))
}

#[test]
fn regions_that_no_buffer_has_are_refused() {
    let (_, pipeline) = ramp(|_| ());
    let wide = refused(&pipeline, &of([1 << 40]));
    assert!(wide.starts_with("output `f`: dimension 0 "), "{wide}");
    let negative = refused(&pipeline, &of([-4]));
    assert!(negative.starts_with("output `f`: ") && negative.contains("-4"), "{negative}");
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let mut g = Func::new("g");
    g[x] = input[x];
    let pipeline = Pipeline::new([&g]).unwrap();
    let image = refused(&pipeline, &of([8]).input("input", Region::of_spans([(1i64 << 31, 8)])));
    assert!(image.starts_with("input image `input`: dimension 0 "), "{image}");
}

#[test]
fn shapes_that_break_a_rule_are_refused() {
    let (_, exact) = ramp(|f| drop(f.output().dim(0).set_extent(32)));
    let expected = "output `f` needs extent 32 in dimension 0, by the rule at HERE, but the shapes of calls at HERE give \
                    it extent 64; give other shapes or drop the rule";
    assert_eq!(refused(&exact, &of([64])), expected);
    assert!(Compiler::new(&exact).shapes(&of([32])).compile().is_ok());
    let (_, multiple) = ramp(|f| drop(f.output().dim(0).set_extent_multiple_of(16)));
    let text = refused(&multiple, &of([33]));
    assert!(text.starts_with("output `f` needs an extent that is a multiple of 16 in dimension 0, "), "{text}");
    assert!(text.contains("extent 33"), "{text}");
    assert!(Compiler::new(&multiple).shapes(&of([48])).compile().is_ok());
}

#[test]
fn shapes_that_contradict_each_other_are_refused() {
    let (f, pipeline) = ramp(|_| ());
    let once = Compiler::new(&pipeline).shapes(&of([64])).compile().unwrap();
    let twice = refused(once.pipeline(), &of([32]));
    assert!(twice.contains("needs extent 64 in dimension 0") && twice.contains("extent 32"), "{twice}");
    assert!(Compiler::new(once.pipeline()).shapes(&of([64])).compile().is_ok());
    // An output that is given twice is one.
    let both = Pipeline::new([&f, &f]).unwrap();
    assert!(refused(&both, &of([64, 32])).contains("1 outputs, but 2 regions"));
}

/// Rules of parameters have their values in a call only.
#[test]
fn a_shape_and_a_rule_of_parameters_both_hold() {
    let n = Param::<i32>::new("n");
    let (_, pipeline) = ramp(|f| drop(f.output().dim(0).set_extent(n.expr())));
    for engine in [Engine::Interp, Engine::Eval, Engine::default()] {
        let compiled = Compiler::new(&pipeline).engine(engine).shapes(&of([64])).compile().unwrap();
        let run = |n: i32, extent: i32| compiled.inputs().param_named("n", n).realize::<i32>([extent]);
        assert!(run(64, 64).is_ok());
        assert!(run(32, 32).unwrap_err().to_string().contains("needs extent 64"), "{engine:?}");
        assert!(run(32, 64).unwrap_err().to_string().contains("needs extent 32"), "{engine:?}");
    }
}

/// An extern stage of one image that nobody else reads, with the Func that reads the stage.
fn staged(input: &ImageParam) -> Pipeline {
    let x = vars!(x);
    let same = Extern::new("same", [U8], 1).image(input).compute(|call| {
        let from = call.input(0).clone();
        for at in call.region().clone().coords() {
            call.output(0).set(&at, from.get(&at).ok_or("too little")?)?;
        }
        Ok(())
    });
    let mut g = Func::new("g");
    g[x] = same[x] + 1;
    Pipeline::new([&g]).unwrap()
}

#[test]
fn rules_hold_for_images_that_only_extern_stages_read() {
    let input = ImageParam::new("input", U8, 1);
    let plain = staged(&input);
    let shaped = of([8]).input("input", Region::of_extents([8]));
    let ruled = ImageParam::new("input", U8, 1);
    let n = Param::<i32>::new("n").with_default(4);
    let _ = ruled.dim(0).set_extent(n.expr() * 2);
    let ruled = staged(&ruled);
    for engine in [Engine::Interp, Engine::Eval, Engine::default()] {
        let shaped = Compiler::new(&plain).engine(engine).shapes(&shaped).compile().unwrap();
        let ruled = Compiler::new(&ruled).engine(engine).compile().unwrap();
        for compiled in [shaped, ruled] {
            let run = |extent: i64| {
                let call = compiled.inputs().image_named("input", AnyBuffer::new(U8, [extent]).unwrap());
                call.realize::<u8>([8])
            };
            assert_eq!(run(8).unwrap().to_vec(), [1; 8]);
            let text = run(10).unwrap_err().to_string();
            assert!(text.starts_with("input `input` needs extent 8 in dimension 0, by the rule at "), "{text}");
        }
    }
    // A rule about an image that is missing is no reason to say anything else.
    let missing = Compiler::new(&ruled).compile().unwrap().inputs().realize::<u8>([8]).unwrap_err();
    assert_eq!(missing.to_string(), "input image `input` was not given; bind a buffer to it");
}

#[test]
fn images_that_stand_for_stages_are_not_named() {
    let pipeline = staged(&ImageParam::new("input", U8, 1));
    let unknown = "the pipeline reads no image `inptu`; its images are input";
    assert_eq!(refused(&pipeline, &of([8]).input("inptu", Region::of_extents([8]))), unknown);
    let stage = refused(&pipeline, &of([8]).input("same", Region::of_extents([8])));
    assert_eq!(stage, unknown.replace("inptu", "same"));
}

/// The number of dimensions is wrong before anybody asks what is read.
#[test]
fn regions_are_checked_before_extern_stages_run() {
    let (x, y) = vars!(x, y);
    let ones = Extern::new("ones", [U8], 2).compute(|call| Ok(call.output(0).fill(Scalar::from(1u8))?));
    let mut g = Func::new("g");
    g[(x, y)] = ones[(x, y)] + 1;
    let pipeline = Pipeline::new([&g]).unwrap();
    let shapes = Shapes::of_outputs([Region::of_extents([8, 4])]);
    let compiled = Compiler::new(&pipeline).shapes(&shapes).compile().unwrap();
    assert_eq!(compiled.inputs().realize::<u8>([8, 4]).unwrap().to_vec(), [2; 32]);
    for rank in [compiled.inputs().realize::<u8>([8]), compiled.inputs().realize::<u8>([8, 4, 2])] {
        let rank = rank.unwrap_err();
        assert!(matches!(&rank, Error::Run(RunError::OutputDims { .. })), "{rank}");
    }
    for extent in [1i64 << 40, -8] {
        let region = Region::of_spans([(0, extent), (0, 4)]);
        let error = compiled.inputs().realize_region::<u8>(&region).unwrap_err();
        assert!(matches!(&error, Error::Run(RunError::Output { .. })), "{error}");
    }
}

/// A failure neither stays nor drives out code that is there.
#[test]
fn failures_are_not_kept() {
    let (_, pipeline) = ramp(|_| ());
    let cache = ShapeCache::new(Compiler::new(&pipeline)).keep(1);
    cache.get(&of([8])).unwrap();
    for _ in 0..2 {
        assert!(cache.get(&of([8, 9])).is_err());
        assert_eq!(cache.shapes(), [of([8])]);
    }
    cache.get(&of([9])).unwrap();
    assert_eq!(cache.shapes(), [of([9])]);
    assert!(format!("{cache:?}").starts_with("ShapeCache"));
}
