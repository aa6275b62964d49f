//! Programs whose slots have sizes that are data, and whose loops have parts for the first and the last iteration.

use halide::prelude::*;
use halide::program::CompiledProgram;

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// The sieve of Eratosthenes: as long as numbers are kept, their first is a prime, and its multiples go. `primes`
/// counts iterations, `of_all` is the sum of the primes.
fn sieve() -> Program {
    let (all, kept, count) =
        (ImageParam::new("all", I32, 1), ImageParam::new("kept", I32, 1), ImageParam::new("count", I32, 0));
    let (sum_before, i) = (ImageParam::new("of_all", I32, 0), Var::new("i"));
    let (mut all_of_them, mut how_many) = (Func::new("kept"), Func::new("count"));
    all_of_them[i] = all[i];
    how_many[()] = all.width();
    let first = kept[kept.dim(0).min()];
    let stays = |at: Expr| (kept[at] % first).ne(0);

    let (mut counted, mut of_all, mut go) = (Func::new("count"), Func::new("of_all"), Func::new("go"));
    let r = RDom::over(&kept);
    counted[()] = sum(select(stays(r.x.expr()), 1, 0));
    of_all[()] = sum_before[()] + first;
    go[()] = counted[()].gt(0);

    let (mut places, mut fewer) = (Func::new("places"), Func::new("kept"));
    places[i] = select(stays(i.expr()), 1, 0);
    let s = RDom::named("s", [(1.expr(), kept.width() - 1)]);
    let before = places[s.x - 1];
    places[s.x] += before;
    let t = RDom::over(&kept);
    t.where_(stays(t.x.expr()));
    fewer[i] = 0.expr();
    fewer[clamp(places[t.x] - 1, 0, max(count[()], 1) - 1)] = kept[t.x];

    let mut zero = Func::new("of_all");
    zero[()] = 0.expr();
    let of = |funcs: &[&Func]| Pipeline::new(funcs.iter().copied()).unwrap();
    let plain = Schedule::new();
    let places: Schedule = "places: compute_root()".parse().unwrap();
    let mut program = Program::new("sieve");
    program.input("all", I32, 1).scalar("count", I32).scalar("of_all", I32).scalar("go", Bool);
    program.sized("kept", I32, ["count"]).state_like("copy", "kept");
    program.run(&of(&[&how_many]), &plain).run(&of(&[&all_of_them]), &plain).run(&of(&[&zero]), &plain);
    let step = of(&[&counted, &of_all, &go]);
    program.run(&step, &plain).repeat_while("go", 1000, |it| {
        it.run(&of(&[&fewer]), &places).run_on(&of(&[&all_of_them]), &plain, &[("all", "kept"), ("kept", "copy")]);
        it.run(&step, &plain)
    });
    program
}

#[test]
fn slots_shrink_in_loops() {
    for engine in ENGINES {
        let compiled = sieve().compile_with(|compiler| compiler.engine(engine)).unwrap();
        for (n, of_all, last) in [(1, 2, vec![]), (2, 5, vec![3]), (3, 5, vec![3]), (28, 129, vec![29])] {
            let all = Buffer::from_fn(&Region::of_extents([n]), |at| at[0] + 2).unwrap();
            let done = compiled.inputs().image_named("all", all).run().unwrap();
            assert_eq!(done.scalar::<i32>("of_all").unwrap(), of_all, "{engine:?} {n}");
            if n > 1 {
                assert_eq!(done.state::<i32>("kept").unwrap().to_vec(), last, "{engine:?} {n}");
                assert_eq!(done.state::<i32>("copy").unwrap().to_vec(), last, "{engine:?} {n}");
            }
        }
    }
}

/// Sizes of another run come with its memory, and do not stay.
#[test]
fn memory_of_results_of_other_sizes() {
    let compiled = sieve().compile(&Target::host()).unwrap();
    let all = |n: i64| Buffer::from_fn(&Region::of_extents([n]), |at| at[0] + 2).unwrap();
    let mut result = compiled.inputs().image_named("all", all(28)).run().unwrap();
    for (n, last) in [(28, 29), (11, 11), (28, 29), (99, 97)] {
        compiled.inputs().image_named("all", all(n)).run_into(&mut result).unwrap();
        assert_eq!(result.state::<i32>("kept").unwrap().to_vec(), [last], "{n}");
    }
}

#[test]
fn sizes_are_explained() {
    let text = sieve().compile(&Target::host()).unwrap().explain();
    for line in [
        "slot `kept`: i32, of `count` coordinates, asked on the host before each write",
        "slot `copy`: i32, over the region of `kept`",
        "`kept`: written into a second buffer: its size may change",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

/// A value of `n`, and a slot of `n` x 2 coordinates.
fn of_size(compiled: &CompiledProgram, n: i32) -> Result<Vec<i32>, String> {
    let done = compiled.inputs().param_named("n", n).run().map_err(|e| e.to_string())?;
    Ok(done.state::<i32>("f").unwrap().to_vec())
}

#[test]
fn values_that_are_no_extents() {
    let (n, x, y) = (Param::<i32>::new("n"), Var::new("x"), Var::new("y"));
    let (mut size, mut f) = (Func::new("size"), Func::new("f"));
    size[()] = n.expr();
    f[(x, y)] = x + 10 * y;
    let mut program = Program::new("sized");
    program.scalar("size", I32).sized("f", I32, ["size".into(), halide::program::SlotExtent::from(2)]);
    let plain = Schedule::new();
    program.run(&Pipeline::new([&size]).unwrap(), &plain).run(&Pipeline::new([&f]).unwrap(), &plain);
    for engine in ENGINES {
        let compiled = program.compile_with(|compiler| compiler.engine(engine)).unwrap();
        assert_eq!(of_size(&compiled, 3), Ok(vec![0, 1, 2, 10, 11, 12]), "{engine:?}");
        assert_eq!(of_size(&compiled, 0), Ok(vec![]), "{engine:?}");
        let error = of_size(&compiled, -4).unwrap_err();
        let said = "step `f`: ";
        assert!(
            error.contains(said)
                && error.contains("the extent `size` of slot `f` is -4\n  help: let `size` hold 0 to 2147483647"),
            "{error}"
        );
    }
}

/// `x` after so many iterations of: in the first, `x + 1`; in each, `2 * x`; in the last, `x - 3`.
fn peeled(times: Option<u64>) -> Program {
    let (x, i) = (ImageParam::new("x", I32, 1), Var::new("i"));
    let step = |make: fn(Expr) -> Expr| {
        let mut f = Func::new("x");
        f[i] = make(x[i]);
        Pipeline::new([&f]).unwrap()
    };
    let (one, twice, three) = (step(|x| x + 1), step(|x| x * 2), step(|x| x - 3));
    let plain = Schedule::new();
    let mut program = Program::new("peeled");
    program.input("x", I32, 1);
    let body = |it: &mut Program| {
        it.first(|it| it.run(&one, &plain)).run(&twice, &plain).last(|it| it.run(&three, &plain));
    };
    match times {
        Some(times) => program.repeat(times, |it| {
            body(it);
            it
        }),
        None => program.repeat_param("times", |it| {
            body(it);
            it
        }),
    };
    program
}

#[test]
fn first_and_last_iterations() {
    for times in [0u64, 1, 2, 5] {
        let mut expected = 7;
        for iteration in 0..times {
            expected = 2 * if iteration == 0 { expected + 1 } else { expected };
            expected -= if iteration + 1 == times { 3 } else { 0 };
        }
        for engine in ENGINES {
            for given in [Some(times), None] {
                let compiled = peeled(given).compile_with(|compiler| compiler.engine(engine)).unwrap();
                let call = compiled.inputs().image_named("x", Buffer::from_slice([1], &[7]).unwrap());
                let call = if given.is_none() { call.param_named("times", times as i64) } else { call };
                assert_eq!(call.run().unwrap().state::<i32>("x").unwrap().to_vec(), [expected], "{engine:?} {times}");
            }
        }
    }
    let text = peeled(Some(3)).compile(&Target::host()).unwrap().explain();
    assert!(text.contains("repeat 3 times\n    first iteration only\n      step `x`"), "{text}");
}

#[test]
fn mistakes_of_sizes_and_of_parts_of_loops() {
    let plain = Schedule::new();
    let i = Var::new("i");
    let mut f = Func::new("f");
    f[i] = i + 1;
    let step = Pipeline::new([&f]).unwrap();
    let mut kept = Func::new("f");
    kept[i] = select(i.gt(3), undef::<i32>(), i.expr());
    let keeps = Pipeline::new([&kept]).unwrap();
    let reasons = |program: &Program| match program.compile(&Target::host()) {
        Err(Error::Program(errors)) => errors.0.iter().map(|e| e.kind.reason()).collect::<Vec<_>>().join("\n"),
        other => panic!("{other:?}"),
    };
    let mut program = Program::new("wrong");
    program.scalar("real", F32).input("many", I32, 1);
    program.sized("a", I32, ["none"]).sized("b", I32, ["real"]).sized("c", I32, ["many"]).sized("d", I32, [-2]);
    program.first(|it| it).last(|it| it);
    program.repeat_while("go", 3, |it| it.first(|it| it).last(|it| it));
    expect_test::expect![[r#"
        the program has no slot `none`; it has `real`, `many`
        the extent `real` of slot `b` holds f32 and has 0 dimensions
        the extent `many` of slot `c` holds i32 and has 1 dimension
        slot `d` cannot have its region: the extent of dimension 0 is -2; use 0 or more
        `first` stands in no loop
        `last` stands in no loop
        the program has no slot `go`; it has `real`, `many`, `a`, `b`, `c`, `d`
        `last` stands in a loop that runs while a slot says so"#]]
    .assert_eq(&reasons(&program));

    // The size is not known, or not for certain, where the slot is written.
    let mut count = Func::new("count");
    count[()] = 3.expr();
    let count = Pipeline::new([&count]).unwrap();
    let mut program = Program::new("early");
    program.scalar("count", I32).sized("f", I32, ["count"]);
    program.repeat(2, |it| it.last(|it| it.run(&count, &plain)).run(&step, &plain)).run(&step, &plain);
    assert_eq!(reasons(&program), "slot `count` is read before a step is sure to have written it");
    let mut program = Program::new("kept");
    program.scalar("count", I32).sized("f", I32, ["count"]);
    program.run(&count, &plain).run(&step, &plain).run(&keeps, &plain);
    assert_eq!(reasons(&program), "an output keeps elements of slot `f`, whose size may be another than before");
    // What the first or the last iteration writes is there later, and behind the loop.
    let mut program = Program::new("fine");
    program.scalar("count", I32).sized("f", I32, ["count"]);
    program.repeat(2, |it| it.first(|it| it.run(&count, &plain)).last(|it| it.run(&step, &plain)));
    program.run_on(&step, &plain, &[("f", "f")]);
    let done = program.compile(&Target::host()).unwrap().inputs().run().unwrap();
    assert_eq!(done.state::<i32>("f").unwrap().to_vec(), [1, 2, 3]);
}

/// A step that writes a size and what has it takes the size that was there before; memory of other sizes is given back.
#[test]
fn steps_that_write_a_size_and_what_has_it() {
    let (count, kept, x) = (ImageParam::new("count", I32, 0), ImageParam::new("kept", I32, 1), Var::new("x"));
    let (mut next, mut more, mut start, mut first) =
        (Func::new("count"), Func::new("kept"), Func::new("count"), Func::new("kept"));
    start[()] = 3.expr();
    first[x] = x + 1;
    next[()] = count[()] + 2;
    more[x] = kept[min(x, kept.width() - 1)] * 2;
    let of = |funcs: &[&Func]| Pipeline::new(funcs.iter().copied()).unwrap();
    let plain = Schedule::new();
    for outputs in [[&next, &more], [&more, &next]] {
        let mut program = Program::new("both");
        program.scalar("count", I32).sized("kept", I32, ["count"]);
        program.run(&of(&[&start]), &plain).run(&of(&[&first]), &plain);
        program.repeat_param("times", |it| it.run(&of(&outputs), &plain));
        for engine in ENGINES {
            let compiled = program.compile_with(|compiler| compiler.engine(engine)).unwrap();
            let call = |times: i32| compiled.inputs().param_named("times", times);
            let done = call(2).run().unwrap();
            assert_eq!(done.state::<i32>("kept").unwrap().to_vec(), [4, 8, 12, 12, 12], "{engine:?}");
            assert_eq!(done.scalar::<i32>("count").unwrap(), 7);
            if engine != crate::CPU {
                continue;
            }
            // The largest sizes are 4 x 41 and 4 x 39 bytes, and all of them are 1,848.
            let mut result = call(20).memory_cap(400).run().unwrap();
            assert_eq!(result.state::<i32>("kept").unwrap().len(), 41);
            assert!(call(20).memory_cap(300).run().unwrap_err().to_string().contains("cap"));
            call(20).memory_cap(400).run_into(&mut result).unwrap();
            assert_eq!(result.state::<i32>("kept").unwrap().len(), 41);
        }
    }
}

/// Parts for one iteration inside of such parts are sure to run in loops of one iteration only.
#[test]
fn parts_for_one_iteration_inside_of_each_other() {
    let (mut f, i) = (Func::new("f"), Var::new("i"));
    f[i] = i + 1;
    let plain = Schedule::new();
    let step = Pipeline::new([&f]).unwrap();
    for last in [true, false] {
        let mut program = Program::new("nested");
        program.state("f", I32, Region::of_extents([2])).state("g", I32, Region::of_extents([2]));
        program.repeat_param("times", |it| match last {
            true => it.first(|it| it.last(|it| it.run(&step, &plain))),
            false => it.last(|it| it.first(|it| it.run(&step, &plain))),
        });
        let compiled = program.compile(&Target::host()).unwrap();
        for times in 0..4 {
            let steps = compiled.inputs().param_named("times", times).run().unwrap().stats().steps;
            assert_eq!(steps, u64::from(times == 1), "{last} {times}");
        }
        let mut program = Program::new("read");
        program.state("f", I32, Region::of_extents([2])).state("g", I32, Region::of_extents([2]));
        program.repeat(2, |it| match last {
            true => it.first(|it| it.last(|it| it.run(&step, &plain))),
            false => it.last(|it| it.first(|it| it.run(&step, &plain))),
        });
        let (g, before) = (Func::new("g"), ImageParam::new("f", I32, 1));
        let mut g = g;
        g[i] = before[i];
        program.run(&Pipeline::new([&g]).unwrap(), &plain);
        let error = program.compile(&Target::host()).unwrap_err().to_string();
        assert!(error.contains("slot `f` is read before a step is sure to have written it"), "{error}");
    }
}

/// Sizes that kernels compute, of slots that kernels write.
#[cfg(feature = "gpu")]
#[test]
fn sizes_from_a_device() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let (n, x) = (Param::<i32>::new("n"), Var::new("x"));
    let (mut size, mut f, mut g) = (Func::new("size"), Func::new("f"), Func::new("g"));
    let before = ImageParam::new("f", I32, 1);
    size[()] = n.expr() * 3;
    f[x] = x * x;
    g[x] = before[x] + 1;
    let of = |f: &Func| Pipeline::new([f]).unwrap();
    let kernel = |text: &str| text.parse::<Schedule>().unwrap();
    let mut program = Program::new("device");
    program.scalar("size", I32).sized("f", I32, ["size"]).state_like("g", "f");
    program.run(&of(&size), &kernel("size: gpu_single_thread()"));
    program.run(&of(&f), &kernel("f: gpu_tile(x, xo, xi, 8)")).run(&of(&g), &kernel("g: gpu_tile(x, xo, xi, 8)"));
    // A value that a kernel leaves on the device, which bounds what the next kernel reads.
    let (limit, mut made, mut h) = (ImageParam::new("limit", U8, 0), Func::new("limit"), Func::new("h"));
    made[()] = cast::<u8>(n.expr() * 3);
    h[x] = before[min(x, cast::<i32>(limit[()]) - 1)];
    program.scalar("limit", U8).run(&of(&made), &kernel("limit: gpu_single_thread()"));
    program.state("h", I32, Region::of_extents([20])).run(&of(&h), &kernel("h: gpu_tile(x, xo, xi, 8)"));
    let compiled = program.compile_with(|compiler| compiler.gpu(gpu)).unwrap();
    for n in [1, 5, 2] {
        let done = compiled.inputs().param_named("n", n).run().unwrap();
        let last: Vec<i32> = (0..20).map(|x| x.min(3 * n - 1)).map(|x| x * x).collect();
        assert_eq!(done.state::<i32>("h").unwrap().to_vec(), last);
        let expected: Vec<i32> = (0..3 * n).map(|x| x * x + 1).collect();
        assert_eq!(done.state::<i32>("g").unwrap().to_vec(), expected);
    }
}
