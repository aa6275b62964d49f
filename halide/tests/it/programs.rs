//! Programs: steps on slots, in loops, on every engine.

use halide::externs::Extern;
use halide::limits::Cancel;
use halide::prelude::*;
use halide::program::ProgramErrorKind;
use std::time::Duration;

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// Conjugate gradients for the five-point Laplacian of a grid with zeros around it: until the squares of the residual
/// sum up to `least` of what they did at first.
fn conjugate_gradients(most: u64) -> Program {
    let (x, y) = vars!(x, y);
    let image = |name: &str| ImageParam::new(name, F64, 2);
    let (b, sol, res, dir, q) = (image("b"), image("x"), image("r"), image("d"), image("q"));
    let (rz, first) = (ImageParam::new("rz", F64, 0), ImageParam::new("first", F64, 0));
    let over = |image: &ImageParam| RDom::over(image);

    let (mut x0, mut r0, mut d0) = (Func::new("x"), Func::new("r"), Func::new("d"));
    x0[(x, y)] = 0.0f64.expr();
    r0[(x, y)] = b[(x, y)];
    d0[(x, y)] = b[(x, y)];
    let (mut rz0, mut first0, mut go0) = (Func::new("rz"), Func::new("first"), Func::new("go"));
    let r = over(&b);
    rz0[()] = 0.0f64.expr();
    rz0[()] += b[(r.x, r.y)] * b[(r.x, r.y)];
    first0[()] = rz0[()];
    go0[()] = rz0[()].gt(0.0f64);
    let start = Pipeline::new([&x0, &r0, &d0, &rz0, &first0, &go0]).unwrap();

    let mut product = Func::new("q");
    let around = constant_exterior(&dir, 0.0f64);
    let at = |dx: i32, dy: i32| around[(x + dx, y + dy)];
    product[(x, y)] = 4.0f64 * at(0, 0) - at(-1, 0) - at(1, 0) - at(0, -1) - at(0, 1);
    let multiply = Pipeline::new([&product]).unwrap();

    let (mut curvature, mut next_x, mut next_r) = (Func::new("curvature"), Func::new("x"), Func::new("r"));
    let r = over(&dir);
    curvature[()] = 0.0f64.expr();
    curvature[()] += dir[(r.x, r.y)] * q[(r.x, r.y)];
    let length = rz[()] / curvature[()];
    next_x[(x, y)] = sol[(x, y)] + length * dir[(x, y)];
    next_r[(x, y)] = res[(x, y)] - length * q[(x, y)];
    let (mut after, mut next_d, mut go) = (Func::new("rz"), Func::new("d"), Func::new("go"));
    after[()] = 0.0f64.expr();
    after[()] += next_r[(r.x, r.y)] * next_r[(r.x, r.y)];
    next_d[(x, y)] = next_r[(x, y)] + after[()] / rz[()] * dir[(x, y)];
    go[()] = after[()].gt(1e-20f64 * first[()]);
    let advance = Pipeline::new([&next_x, &next_r, &after, &next_d, &go]).unwrap();

    let mut cg = Program::new("cg");
    cg.input("b", F64, 2).state_like("x", "b").state_like("r", "b").state_like("d", "b").state_like("q", "b");
    cg.scalar("rz", F64).scalar("first", F64).scalar("go", Bool);
    let rows: Schedule = "q: vectorize(x, 8)".parse().unwrap();
    let roots: Schedule = "curvature: compute_root()
        r: compute_root() vectorize(x, 8)
        rz: compute_root()
        x: vectorize(x, 8)
        d: vectorize(x, 8)"
        .parse()
        .unwrap();
    cg.run(&start, &"rz: compute_root()".parse().unwrap())
        .repeat_while("go", most, |cg| cg.run(&multiply, &rows).run(&advance, &roots));
    cg
}

fn right_side(width: i64, height: i64) -> Buffer<f64> {
    let value = |at: &[i32]| f64::from((at[0] * 7 + at[1] * 13) % 11) - 4.5;
    Buffer::from_fn(&Region::of_extents([width, height]), value).unwrap()
}

#[test]
fn a_solver_on_every_engine() {
    let program = conjugate_gradients(100);
    for (width, height) in [(1, 1), (9, 7)] {
        let b = right_side(width, height);
        for engine in ENGINES {
            let compiled = program.compile_with(|compiler| compiler.engine(engine)).unwrap();
            let done = compiled.inputs().image_named("b", &b).threads(2).run().unwrap();
            let x: Buffer<f64> = done.state("x").unwrap();
            assert!(!done.scalar::<bool>("go").unwrap());
            let at = |x_at: i32, y_at: i32| x.get([x_at, y_at]).unwrap_or(0.0);
            for p in b.coords() {
                let (i, j) = (p[0], p[1]);
                let product = 4.0 * at(i, j) - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
                assert!((product - b.get(&p).unwrap()).abs() < 1e-8, "{engine:?} {width}x{height} at {p:?}");
            }
        }
    }
}

/// `x' = x / 2 + y`, `y' = y - x / 4`, so many times.
fn spiral(times: Option<u64>) -> Program {
    let (x, y, i) = (ImageParam::new("x", F32, 1), ImageParam::new("y", F32, 1), Var::new("i"));
    let (mut next_x, mut next_y) = (Func::new("x"), Func::new("y"));
    next_x[i] = x[i] * 0.5f32 + y[i];
    next_y[i] = y[i] - x[i] * 0.25f32;
    let pipeline = Pipeline::new([&next_x, &next_y]).unwrap();
    let mut program = Program::new("spiral");
    program.input("x", F32, 1).input("y", F32, 1);
    let schedule: Schedule = "x: vectorize(i, 8)\n y: vectorize(i, 8)".parse().unwrap();
    match times {
        Some(times) => program.repeat(times, |it| it.run(&pipeline, &schedule)),
        None => program.repeat_param("times", |it| it.run(&pipeline, &schedule)),
    };
    program
}

#[test]
fn loops_of_any_number_of_iterations() {
    let start = |at: f32| Buffer::from_fn(&Region::of_spans([(-3, 13)]), |p| at + p[0] as f32).unwrap();
    for times in [0u64, 1, 2, 128] {
        let (mut x, mut y) = (start(1.0).to_vec(), start(-2.0).to_vec());
        for _ in 0..times {
            for (x, y) in x.iter_mut().zip(&mut y) {
                (*x, *y) = (*x * 0.5 + *y, *y - *x * 0.25);
            }
        }
        for engine in ENGINES {
            for program in [spiral(Some(times)), spiral(None)] {
                let compiled = program.compile_with(|compiler| compiler.engine(engine)).unwrap();
                let (from_x, from_y) = (start(1.0), start(-2.0));
                let call = compiled.inputs().image_named("x", &from_x).image_named("y", &from_y);
                let call = if program.clone().compile(&Target::host()).unwrap().explain().contains("`times` times") {
                    call.param_named("times", times as i32)
                } else {
                    call
                };
                let done = call.run().unwrap();
                assert_eq!(done.state::<f32>("x").unwrap().to_vec(), x, "{engine:?}, {times} times");
                assert_eq!(done.state::<f32>("y").unwrap().to_vec(), y, "{engine:?}, {times} times");
                assert_eq!(done.stats().steps, times);
                // The caller's buffers stay.
                assert_eq!((from_x.to_vec(), from_y.to_vec()), (start(1.0).to_vec(), start(-2.0).to_vec()));
            }
        }
    }
}

/// From the second iteration on, a loop makes no buffer and no copy, and its code takes no memory from the system.
#[test]
fn iterations_use_what_is_there() {
    let b = right_side(40, 30);
    let stats = |most: u64| {
        let compiled = conjugate_gradients(most).compile(&Target::host()).unwrap();
        // Ends with an error where it does not converge: the number of steps is what counts.
        let done = compiled.inputs().image_named("b", &b).run();
        done.map(|done| done.stats())
    };
    let long = stats(1000).unwrap();
    assert!(long.steps > 100, "{long:?}");
    // `x`, `r`, `d` with second buffers where they are read, `q`, and the scalars.
    assert!(long.buffers <= 4 + 3 + 2 * 3, "{long:?}");
    assert_eq!(long.copies, 0);

    let (x, i) = (ImageParam::new("x", I32, 1), Var::new("i"));
    let (mut half, mut next) = (Func::new("half"), Func::new("x"));
    half[i] = repeat_edge(&x)[i] / 2;
    next[i] = half[i] + half[i + 1];
    let pipeline = Pipeline::new([&next]).unwrap();
    let schedule: Schedule = "half: compute_root()".parse().unwrap();
    let run = |times: u64| {
        let mut program = Program::new("halves");
        program.input("x", I32, 1).repeat(times, |it| it.run(&pipeline, &schedule));
        let compiled = program.compile(&Target::host()).unwrap();
        let image = Buffer::from_fn(&Region::of_extents([100_000]), |at| at[0] * 5).unwrap();
        compiled.inputs().image(&x, image).run().unwrap().stats()
    };
    let (two, many) = (run(2), run(128));
    assert_eq!((two.buffers, two.blocks, two.copies), (many.buffers, many.blocks, many.copies));
    assert_eq!(many.steps, 128);
}

/// A run on the memory of a result gives what a run on new memory does, and takes none that somebody has.
#[test]
fn memory_of_results_is_used_again() {
    let compiled = spiral(Some(3)).compile(&Target::host()).unwrap();
    let start = |n: i32, at: f32| Buffer::from_fn(&Region::of_extents([n]), |p| at + p[0] as f32).unwrap();
    let call = |n: i32, at: f32| compiled.inputs().image_named("x", start(n, at)).image_named("y", start(n, 2.0));
    let mut result = call(9, 0.0).run().unwrap();
    for (n, at, buffers) in [(9, 1.0, 2), (9, 5.0, 0), (4, 1.0, 4), (4, 2.0, 0)] {
        let other = call(n, at).run().unwrap();
        call(n, at).run_into(&mut result).unwrap();
        for slot in ["x", "y"] {
            assert_eq!(result.state::<f32>(slot).unwrap(), other.state::<f32>(slot).unwrap(), "{n} from {at}");
        }
        assert!(result.stats().buffers <= buffers, "{n} from {at}: {:?}", result.stats());
    }
    let kept = result.state::<f32>("x").unwrap();
    let before = kept.to_vec();
    call(4, 7.0).run_into(&mut result).unwrap();
    assert_eq!(kept.to_vec(), before);
    assert!(compiled.inputs().run_into(&mut result).is_err() && result.any_state("x").is_err());
}

#[test]
fn memory_of_outputs_is_told() {
    let (x, keep, i) = (ImageParam::new("x", I32, 1), ImageParam::new("keep", Bool, 1), Var::new("i"));
    let (mut shifted, mut next) = (Func::new("x"), Func::new("x"));
    shifted[i] = clamped(&x)[i + 1];
    next[i] = x[i] + 1;
    let mut some = Func::new("x");
    some[i] = select(keep[i], undef::<i32>(), 0);
    let mut program = Program::new("shifts");
    program.input("x", I32, 1).input("keep", Bool, 1);
    let plain = Schedule::new();
    program.run(&Pipeline::new([&shifted]).unwrap(), &plain).run(&Pipeline::new([&next]).unwrap(), &plain);
    program.run(&Pipeline::new([&some]).unwrap(), &plain);
    let compiled = program.compile(&Target::host()).unwrap();
    let text = compiled.explain();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("`x`: written")).map(str::trim).collect();
    assert!(lines[0].starts_with("`x`: written into a second buffer: "), "{text}");
    assert_eq!(lines[1..], ["`x`: written in place", "`x`: written"], "{text}");

    let image = Buffer::from_slice([4], &[1, 2, 3, 4]).unwrap();
    let keep_some = Buffer::from_slice([4], &[true, false, true, true]).unwrap();
    for engine in ENGINES {
        let compiled = program.compile_with(|compiler| compiler.engine(engine)).unwrap();
        let done = compiled.inputs().image(&x, &image).image(&keep, &keep_some).run().unwrap();
        assert_eq!(done.state::<i32>("x").unwrap().to_vec(), [3, 0, 5, 5], "{engine:?}");
    }
}

fn clamped(image: &ImageParam) -> Func {
    repeat_edge(image)
}

#[test]
fn slots_of_other_names_tuples_and_extern_stages() {
    let (input, i) = (ImageParam::new("input", I32, 1), Var::new("i"));
    let mut output = Func::new("output");
    output[i] = tuple([input[i] + 1, input[i] * 2]);
    let pipeline = Pipeline::new([&output]).unwrap();
    let mut program = Program::new("ping");
    program.input("a", I32, 1).state_like("b", "a").state_like("c", "a");
    let plain = Schedule::new();
    program.run_on(&pipeline, &plain, &[("input", "a"), ("output.0", "b"), ("output.1", "c")]);
    program.run_on(&pipeline, &plain, &[("input", "c"), ("output.0", "a"), ("output.1", "c")]);
    let compiled = program.compile(&Target::host()).unwrap();
    let done = compiled.inputs().image_named("a", Buffer::from_slice([3], &[1, 2, 3]).unwrap()).run().unwrap();
    let slot = |name: &str| done.state::<i32>(name).unwrap().to_vec();
    assert_eq!((slot("a"), slot("b"), slot("c")), (vec![3, 5, 7], vec![2, 3, 4], vec![4, 8, 12]));

    let mut before = Func::new("before");
    before[i] = input[i] + 0;
    let stage = Extern::new("turned", [I32], 1).input(&before).needs(|query| Ok(vec![query.region().clone()])).compute(
        |call| {
            let from = call.input(0).typed::<i32>()?.to_vec();
            for (at, value) in call.region().clone().coords().zip(from.into_iter().rev()) {
                call.output(0).set(&at, Scalar::from(value))?;
            }
            Ok(())
        },
    );
    let mut output = Func::new("input");
    output[i] = stage[i] * 10;
    let mut program = Program::new("turns");
    program.input("input", I32, 1);
    program.repeat(3, |it| it.run(&Pipeline::new([&output]).unwrap(), &plain));
    let compiled = program.compile(&Target::host()).unwrap();
    let done = compiled.inputs().image(&input, Buffer::from_slice([3], &[1, 2, 3]).unwrap()).run().unwrap();
    assert_eq!(done.state::<i32>("input").unwrap().to_vec(), [3000, 2000, 1000]);
}

#[test]
fn regions_that_readers_need() {
    let (input, mid, i) = (ImageParam::new("input", U8, 1), ImageParam::new("mid", U8, 1), Var::new("i"));
    let radius = Param::<i32>::new("radius").with_range(0, 9);
    let (mut first, mut last) = (Func::new("mid"), Func::new("last"));
    first[i] = input[i] + 1;
    last[i] = mid[i - radius.expr()] + mid[i + radius.expr()];
    let mut program = Program::new("reach");
    program.input("input", U8, 1).intermediate("mid", U8, 1).state("last", U8, Region::of_spans([(20, 4)]));
    let plain = Schedule::new();
    program.run(&Pipeline::new([&first]).unwrap(), &plain).run(&Pipeline::new([&last]).unwrap(), &plain);
    let image = Buffer::from_fn(&Region::of_extents([64]), |at| at[0] as u8).unwrap();
    for engine in ENGINES {
        let compiled = program.compile_with(|compiler| compiler.engine(engine)).unwrap();
        for reach in [0, 3, 9] {
            let done = compiled.inputs().image(&input, &image).param(&radius, reach).run().unwrap();
            assert_eq!(done.any_state("mid").unwrap().region(), Region::of_spans([(20 - reach, 4 + 2 * reach)]));
            assert_eq!(done.state::<u8>("last").unwrap().to_vec(), [42, 44, 46, 48]);
        }
    }
}

#[test]
fn runs_from_several_threads_and_loops_in_loops() {
    let (x, i) = (ImageParam::new("x", I32, 1), Var::new("i"));
    let step = Param::<i32>::new("step").with_default(1);
    let (mut more, mut double) = (Func::new("x"), Func::new("x"));
    more[i] = x[i] + step.expr();
    double[i] = x[i] * 2;
    let (more, double) = (Pipeline::new([&more]).unwrap(), Pipeline::new([&double]).unwrap());
    let mut program = Program::new("numbers");
    program.input("x", I32, 1);
    program.repeat(3, |it| it.repeat(2, |it| it.run(&more, &Schedule::new())).run(&double, &Schedule::new()));
    let compiled = program.compile(&Target::host()).unwrap();
    let threads: Vec<_> = (1..5)
        .map(|n| {
            let compiled = compiled.clone();
            let zeros = Buffer::<i32>::new([n]).unwrap();
            std::thread::spawn(move || {
                let done = compiled.inputs().image_named("x", zeros).param_named("step", n).run().unwrap();
                done.state::<i32>("x").unwrap().to_vec()
            })
        })
        .collect();
    for (n, thread) in (1..5).zip(threads) {
        // 0 -> 4n -> 12n -> 28n.
        assert_eq!(thread.join().unwrap(), vec![28 * n; n as usize]);
    }
}

/// The texts of the mistakes of a program, without their places.
fn mistakes(program: &Program) -> Vec<String> {
    let Error::Program(errors) = program.compile(&Target::host()).unwrap_err() else { panic!("another error") };
    let text = |error: &halide::program::ProgramError| {
        assert!(error.at.file.ends_with("programs.rs") && error.at.line > 0);
        assert!(error.kind.help().is_some_and(|help| !help.is_empty()));
        let step = error.step.as_ref().map_or(String::new(), |step| format!("{step}: "));
        step + &error.kind.reason()
    };
    errors.0.iter().map(text).collect()
}

fn plus_one(image: &str, output: &str, ty: ScalarType) -> Pipeline {
    let (input, i) = (ImageParam::new(image, ty, 1), Var::new("i"));
    let mut f = Func::new(output);
    f[i] = input[i] + 1;
    Pipeline::new([&f]).unwrap()
}

#[test]
fn mistakes_of_descriptions_come_at_once() {
    let plain = Schedule::new();
    let mut program = Program::new("wrong");
    program.input("a", I32, 1).scalar("go", I32).state_like("b", "z").state("a", U8, Region::of_extents([3]));
    program.state("w", I32, Region::of_spans([(0, -1)]));
    program.run(&plus_one("a", "nowhere", I32), &plain);
    program.run(&plus_one("a", "a", U8), &plain);
    program.run_on(&plus_one("a", "a", I32), &plain, &[("c", "a"), ("a", "go")]);
    program.repeat_while("go", 5, |it| it.run(&plus_one("a", "a", I32), &plain));
    program.repeat_while("stop", 5, |it| it);
    let found = mistakes(&program);
    let expected = [
        "the program has no slot `z`; it has `a`, `go`",
        "slot `a` is declared twice",
        "slot `w` cannot have its region: the extent of dimension 0 is -1; use 0 or more",
        "nowhere: the program has no slot `nowhere`; it has `a`, `go`, `w`",
        "a: slot `a` holds i32, and image `a` of the pipeline is u8",
        "a: slot `a` holds i32, and output `a` of the pipeline is u8",
        "a: the pipeline has no image and no output `c`; it has `a`",
        "a: slot `go` has 0 dimensions, and image `a` of the pipeline has 1",
        "a: slot `go` has 0 dimensions, and output `a` of the pipeline has 1",
        "the condition `go` of a loop holds i32 and has 0 dimensions",
        "the program has no slot `stop`; it has `a`, `go`, `w`",
    ];
    assert_eq!(found, expected);
}

#[test]
fn order_regions_and_parameters_are_checked() {
    let plain = Schedule::new();
    let region = || Region::of_extents([4]);
    let mut program = Program::new("early");
    program.state("a", I32, region()).state("b", I32, region()).scalar("go", Bool);
    program.repeat_param("n", |it| it.run(&plus_one("b", "a", I32), &plain));
    program.repeat_while("go", 3, |it| it);
    program.run(&plus_one("a", "b", I32), &plain);
    assert_eq!(
        mistakes(&program),
        [
            "a: slot `b` is read before a step is sure to have written it",
            "slot `go` is read before a step is sure to have written it",
            "b: slot `a` is read before a step is sure to have written it",
        ]
    );

    let mut program = Program::new("regions");
    program.input("in", I32, 1).intermediate("unread", I32, 1).intermediate("a", I32, 1).intermediate("b", I32, 1);
    program.run(&plus_one("in", "a", I32), &plain).run(&plus_one("a", "b", I32), &plain);
    program.run(&plus_one("b", "a", I32), &plain);
    assert_eq!(
        mistakes(&program),
        [
            "slot `unread` is as large as what steps read of it, and no step reads it",
            "the region of slot `a` is what steps need to compute that same region",
            "the region of slot `b` is what steps need to compute that same region",
        ]
    );

    let i = Var::new("i");
    let (wide, narrow) = (Param::<i32>::new("n"), Param::<u8>::new("n"));
    let rate = Param::<f32>::new("rate");
    let (mut a, mut b) = (Func::new("a"), Func::new("b"));
    a[i] = wide.expr() + i;
    b[i] = cast::<i32>(narrow.expr()) + cast::<i32>(rate.expr());
    let mut program = Program::new("params");
    program.state("a", I32, region()).state("b", I32, region()).scalar("rate", F32);
    program.run(&Pipeline::new([&a]).unwrap(), &plain).run(&Pipeline::new([&b]).unwrap(), &plain);
    let mut c = Func::new("c");
    c[i] = i + 1;
    program.run_on(&Pipeline::new([&a, &c]).unwrap(), &plain, &[("c", "a")]);
    let found = mistakes(&program);
    assert!(found.contains(&"b: parameter `rate` has the name of a slot, and does not read it".to_string()));
    assert!(found.contains(&"b: parameter `n` is i32 in one step and u8 in another".to_string()), "{found:?}");
    assert!(found.contains(&"a, c: two outputs write slot `a`".to_string()), "{found:?}");
}

#[test]
fn outputs_that_keep_what_their_step_reads_elsewhere() {
    let (x, i) = (ImageParam::new("x", I32, 1), Var::new("i"));
    let mut f = Func::new("x");
    f[i] = select(i.gt(2), undef::<i32>(), repeat_edge(&x)[i + 1]);
    let mut program = Program::new("keeps");
    program.input("x", I32, 1).run(&Pipeline::new([&f]).unwrap(), &Schedule::new());
    let found = mistakes(&program);
    assert!(found[0].starts_with("x: an output keeps elements of slot `x`"), "{found:?}");
}

#[test]
fn schedules_that_do_not_suit_name_their_steps() {
    let mut program = Program::new("unsuited");
    program.input("a", I32, 1).run(&plus_one("a", "a", I32), &"a: vectorize(q, 8)".parse().unwrap());
    program.run(&plus_one("a", "a", I32), &"a: parallel(z)".parse().unwrap());
    let Error::Program(errors) = program.compile(&Target::host()).unwrap_err() else { panic!() };
    let text = errors.to_string();
    assert_eq!(errors.0.len(), 2);
    assert!(text.contains("step `a`") && text.contains("no loop `q`") && text.contains("no loop `z`"), "{text}");
    assert!(std::error::Error::source(&Error::Program(errors)).is_some());
}

#[test]
fn runs_that_fail_name_step_and_iteration() {
    // Reads one further in each iteration.
    let (at, table) = (ImageParam::new("at", I32, 0), ImageParam::new("table", I32, 1));
    at.promise_values(0, 4);
    let (mut next, mut value) = (Func::new("at"), Func::new("value"));
    next[()] = at[()] + 1;
    value[()] = table[at[()]];
    let pipeline = Pipeline::new([&next, &value]).unwrap();
    let mut program = Program::new("walk");
    program.input("at", I32, 0).input("table", I32, 1).scalar("value", I32);
    program.repeat_param("times", |it| it.repeat(2, |it| it.run(&pipeline, &Schedule::new())));
    for engine in ENGINES {
        let compiled = program.compile_with(|compiler| compiler.engine(engine)).unwrap();
        let table = Buffer::from_slice([5], &[10, 11, 12, 13, 14]).unwrap();
        let zero = Buffer::<i32>::new([0i32; 0]).unwrap();
        let call = compiled.inputs().image_named("at", &zero).image_named("table", &table);
        let done = call.clone().param_named("times", 2).run().unwrap();
        assert_eq!((done.scalar::<i32>("at").unwrap(), done.scalar::<i32>("value").unwrap()), (4, 13));
        let error = call.clone().param_named("times", 9).run().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("step `at, value`: in iteration 2, 1 of loop in loop: "), "{engine:?}: {text}");
        assert!(text.contains("`at`") && text.contains("programs.rs:"), "{engine:?}: {text}");
        // Times that are missing, of another type, or negative; and names that nobody has.
        let reasons = [
            (call.clone(), "the number of iterations `times` was not given as an integer"),
            (call.clone().param_named("times", 1.5f32), "the number of iterations `times` was not given as an integer"),
            (call.clone().param_named("times", -1), "the number of iterations `times` is -1"),
            (call.clone().param_named("time", 1), "no step and no loop takes a parameter `time`; there are `times`"),
        ];
        for (call, reason) in reasons {
            let text = call.run().unwrap_err().to_string();
            assert!(text.contains(reason) && text.contains("help: "), "{text}");
        }
        let unknown = call.clone().image_named("value", &zero).param_named("times", 1).run().unwrap_err().to_string();
        assert!(unknown.contains("no image `value`"), "{unknown}");
        let missing = compiled.inputs().image_named("at", &zero).run().unwrap_err().to_string();
        assert!(missing.contains("`table` was not given"), "{missing}");
        let other = compiled.inputs().image_named("at", &table).image_named("table", &table).run().unwrap_err();
        assert!(other.to_string().contains("`at` has"), "{other}");
    }
}

#[test]
fn loops_that_do_not_end() {
    let (n, mut more, mut go) = (ImageParam::new("n", I32, 0), Func::new("n"), Func::new("go"));
    more[()] = n[()] + 1;
    go[()] = n[()].lt(100);
    let pipeline = Pipeline::new([&more, &go]).unwrap();
    let mut program = Program::new("endless");
    program.input("n", I32, 0).scalar("go", Bool).run(&pipeline, &Schedule::new());
    program.repeat_while("go", 7, |it| it.run(&pipeline, &Schedule::new()));
    let compiled = program.compile(&Target::host()).unwrap();
    let run = |from: i32| compiled.inputs().image(&n, Buffer::from_slice([0i32; 0], &[from]).unwrap()).run();
    // `go` speaks of the value before: from 94 on it holds for 94 to 99, 6 iterations.
    assert_eq!(run(94).unwrap().scalar::<i32>("n").unwrap(), 101);
    assert_eq!(run(93).unwrap().scalar::<i32>("n").unwrap(), 101);
    let Error::Program(errors) = run(92).unwrap_err() else { panic!() };
    assert!(matches!(&errors.0[0].kind, ProgramErrorKind::Endless { slot, most: 7 } if slot == "go"));
    // Asked every 3 iterations, the loop runs a multiple of 3 times, or as often as it may.
    for (every, most, from, ends) in
        [(3, 7, 94, 101), (3, 7, 96, 103), (3, 7, 99, 103), (3, 4, 99, 103), (0, 7, 99, 101)]
    {
        let mut program = Program::new("asked");
        program.input("n", I32, 0).scalar("go", Bool).run(&pipeline, &Schedule::new());
        program.repeat_while_every("go", every, most, |it| it.run(&pipeline, &Schedule::new()));
        let compiled = program.compile(&Target::host()).unwrap();
        let done = compiled.inputs().image(&n, Buffer::from_slice([0i32; 0], &[from]).unwrap()).run();
        assert_eq!(done.map(|done| done.scalar::<i32>("n").unwrap()).unwrap_or(-1), ends, "{every} {most} {from}");
    }
    let done = run(500).unwrap();
    assert!(done.state::<i32>("go").is_err(), "a slot of another type");
    assert!(done.any_state("gone").unwrap_err().to_string().contains("no slot `gone`"));
    let mut program = Program::new("never");
    program.input("n", I32, 0).scalar("late", I32);
    let compiled = program.compile(&Target::host()).unwrap();
    let done = compiled.inputs().image(&n, Buffer::<i32>::new([0i32; 0]).unwrap()).run().unwrap();
    let error = done.scalar::<i32>("late").unwrap_err().to_string();
    assert!(error.contains("slot `late` was written by no step") && error.contains("help: "), "{error}");
}

#[test]
fn limits_hold_for_whole_programs() {
    let compiled = spiral(None).compile(&Target::host()).unwrap();
    let image = || Buffer::<f32>::new([1000]).unwrap();
    let call = compiled.inputs().image_named("x", image()).image_named("y", image()).param_named("times", i32::MAX);
    let error = call.clone().give_up_after(Duration::from_millis(30)).run().unwrap_err();
    assert!(matches!(error, Error::GaveUp { .. }), "{error}");
    let cancel = Cancel::new();
    let handle = cancel.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        handle.cancel();
    });
    let error = call.clone().cancel_with(&cancel).run().unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    thread.join().unwrap();
    // A loop without steps ends as well.
    let mut idle = Program::new("idle");
    idle.repeat(u64::MAX, |it| it);
    let idle = idle.compile(&Target::host()).unwrap();
    let error = idle.inputs().give_up_after(Duration::from_millis(30)).run().unwrap_err();
    assert!(matches!(error, Error::GaveUp { .. }), "{error}");
    let call = call.param_named("times", 3);
    let error = call.clone().memory_cap(10_000).run().unwrap_err();
    assert!(error.to_string().contains("cap"), "{error}");
    // The buffers of `x` and `y`, which are not the caller's, and a second one of each.
    call.memory_cap(4 * 4000).run().unwrap();
}

/// Slots that kernels write and read stay on the device until somebody asks for them.
#[cfg(feature = "gpu")]
#[test]
fn steps_on_a_device() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let (u, (x, y)) = (ImageParam::new("u", F32, 2), vars!(x, y));
    let inside = constant_exterior(&u, 1.0f32);
    let mut next = Func::new("u");
    next[(x, y)] = (inside[(x - 1, y)] + inside[(x + 1, y)] + inside[(x, y - 1)] + inside[(x, y + 1)]) * 0.25f32;
    let relax = Pipeline::new([&next]).unwrap();
    let mut scaled = Func::new("u");
    scaled[(x, y)] = u[(x, y)] * 1.5f32;
    let scale = Pipeline::new([&scaled]).unwrap();
    let kernels: Schedule = "u: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)".parse().unwrap();
    let (mut resident, mut mixed) = (Program::new("resident"), Program::new("mixed"));
    resident.input("u", F32, 2).repeat(5, |it| it.run(&relax, &kernels).run(&scale, &kernels));
    mixed
        .input("u", F32, 2)
        .repeat(5, |it| it.run(&relax, &kernels).run(&relax, &kernels).run(&scale, &Schedule::new()));
    for (width, height) in [(1, 1), (13, 9), (32, 16)] {
        let start = Buffer::from_fn(&Region::of_spans([(-2, width), (3, height)]), |at| at[0] as f32).unwrap();
        let run = |compiled: &halide::program::CompiledProgram| compiled.inputs().image(&u, &start).run().unwrap();
        let bytes = (4 * width * height) as u64;
        for (program, ups, downs) in [(&resident, 1, 0), (&mixed, 5, 5)] {
            let device = program.compile_with(|compiler| compiler.gpu(gpu)).unwrap();
            let reference = program.compile_with(|compiler| compiler.gpu(gpu).engine(Engine::Interp)).unwrap();
            let done = run(&device);
            let of = |done: &halide::program::ProgramResult| done.state::<f32>("u").unwrap();
            assert_eq!(of(&done), of(&run(&reference)), "{width}x{height}");
            let stats = done.stats();
            // Of the host's own step, the next kernel's input is copied.
            assert!(stats.upload_bytes <= ups * bytes, "{width}x{height}: {stats:?}");
            assert_eq!(stats.download_bytes, downs * bytes, "{width}x{height}: {stats:?}");
            assert_eq!(of(&done), of(&done));
        }
    }
}

/// Buffers of other strides than those on a device, which a result has of a run without iterations.
#[cfg(feature = "gpu")]
#[test]
fn given_buffers_of_any_layout_on_a_device() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let (u, v, (x, y)) = (ImageParam::new("u", I32, 2), ImageParam::new("v", I32, 2), vars!(x, y));
    let (mut first, mut second) = (Func::new("u"), Func::new("v"));
    first[(x, y)] = v[(x, y)] * 3 + x;
    second[(x, y)] = u[(x, y)] - y * 5;
    let kernels = |func: &str| format!("{func}: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)").parse::<Schedule>().unwrap();
    let mut program = Program::new("layouts");
    program.input("u", I32, 2).input("v", I32, 2);
    program.repeat_param("times", |it| {
        it.run(&Pipeline::new([&first]).unwrap(), &kernels("u")).run(&Pipeline::new([&second]).unwrap(), &kernels("v"))
    });
    let region = Region::of_spans([(-1, 13), (2, 9)]);
    let layouts: [&dyn Fn() -> AnyBuffer; 3] = [
        &|| AnyBuffer::with_layout(I32, &region, &[1, 0]).unwrap(),
        &|| AnyBuffer::with_strides(I32, &region, &[2, 40]).unwrap(),
        &|| AnyBuffer::with_region(I32, &region).unwrap(),
    ];
    for (n, layout) in layouts.iter().enumerate() {
        let run = |engine: Engine| {
            let compiled = program.compile_with(|compiler| compiler.gpu(gpu).engine(engine)).unwrap();
            // Nobody else has these buffers.
            let call =
                |times: i32| compiled.inputs().image(&u, layout()).image(&v, layout()).param_named("times", times);
            let mut result = call(0).run().unwrap();
            call(2).run_into(&mut result).unwrap();
            ["u", "v"].map(|slot| result.any_state(slot).unwrap())
        };
        assert_eq!(run(Engine::Gpu), run(Engine::Interp), "layout {n}");
    }
}

/// Conditions, narrow elements and several outputs that stay on the device, or are partly used by the host.
#[cfg(feature = "gpu")]
#[test]
fn loops_around_kernels() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let (a, b, x) = (ImageParam::new("a", U8, 1), ImageParam::new("b", I32, 1), Var::new("x"));
    let n = ImageParam::new("n", I32, 0);
    let (mut next_a, mut next_b, mut next_n, mut go) =
        (Func::new("a"), Func::new("b"), Func::new("n"), Func::new("go"));
    next_a[x] = a[x] / 2 + cast::<u8>(b[x] % 7);
    next_b[x] = b[x] + cast::<i32>(a[x]);
    next_n[()] = n[()] + b[5];
    go[()] = n[()].lt(900);
    let pipeline = Pipeline::new([&next_a, &next_b, &next_n, &go]).unwrap();
    let tiled = "a: gpu_tile(x, xo, xi, 8)\n b: gpu_tile(x, xo, xi, 8)";
    for schedule in [tiled, "a: gpu_tile(x, xo, xi, 8)", ""] {
        let schedule: Schedule = schedule.parse().unwrap();
        let mut program = Program::new("loop");
        program.input("a", U8, 1).input("b", I32, 1).input("n", I32, 0).scalar("go", Bool);
        program.run(&pipeline, &schedule).repeat_while("go", 50, |it| it.run(&pipeline, &schedule));
        for width in [6, 13, 64] {
            let bytes = Buffer::from_fn(&Region::of_extents([width]), |at| (at[0] * 37) as u8).unwrap();
            let words = Buffer::from_fn(&Region::of_extents([width]), |at| at[0] * 3).unwrap();
            let zero = Buffer::<i32>::new([0i32; 0]).unwrap();
            let run = |engine: Engine| {
                let compiled = program.compile_with(|compiler| compiler.gpu(gpu).engine(engine)).unwrap();
                let call = compiled.inputs().image(&a, &bytes).image(&b, &words).image(&n, &zero);
                let done = call.run().unwrap();
                (["a", "b", "n", "go"].map(|slot| done.any_state(slot).unwrap()), done.stats().steps)
            };
            assert_eq!(run(Engine::Gpu), run(Engine::Interp), "{width}, {schedule}");
        }
    }
}
