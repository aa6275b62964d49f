//! Stages that only the arm not taken of a condition on parameters needs: they are neither computed nor stored.

use crate::engines_agree::noise;
use halide::prelude::*;
use halide_cpu::{CpuOptions, RunArgs, compile};
use halide_ir::target::Gpu;
use halide_ir::{Fault, eval};
use halide_sched::lower::{Accesses, Counted, LowerOptions, lower};
use halide_sched::plan::resolve;

/// The results of one run.
struct Run {
    names: Vec<String>,
    counters: Vec<i64>,
    peak: u64,
}

impl Run {
    /// Points computed, elements allocated and allocations of a Func.
    fn of(&self, func: &str) -> [i64; 3] {
        [Counted::Points, Counted::Elements, Counted::Allocations].map(|what| {
            let name = what.counter(func);
            self.names.iter().position(|n| *n == name).map_or(0, |i| self.counters[i])
        })
    }
    /// Returns true if a Func was neither computed nor stored.
    fn skipped(&self, func: &str) -> bool {
        self.of(func) == [0; 3]
    }
}

fn target() -> Target {
    Target { gpu: Some(Gpu::LEAST), ..Target::host() }
}

/// Runs a pipeline of one 16-bit input by the evaluator and as machine code, holds both to the interpreter, and gives
/// what machine code did in the main variant.
fn run(p: &Pipeline, schedule: &str, region: &Region, params: &[Scalar]) -> Run {
    let (schedule_text, schedule) = (schedule, schedule.parse::<Schedule>().unwrap_or_else(|e| panic!("{e}")));
    let around: Vec<(i64, i64)> = region.spans().iter().map(|s| (s.min - 40, s.extent + 120)).collect();
    let input = p.images.iter().next().expect("an input");
    let image = noise(I16, &Region::of_spans(&around[..input.dims]), 7);
    let regions = vec![region.clone(); p.outputs.len()];
    let expected = {
        let compiled = Compiler::new(p).engine(Engine::Interp).target(&target()).compile().unwrap();
        let call = compiled.inputs().image_named(&input.name, image.clone());
        let call = p.params.iter().zip(params).fold(call, |call, (info, value)| call.param_named(&info.name, *value));
        call.realize_all(&regions).unwrap()
    };
    let plan = resolve(p, &schedule, &target()).unwrap_or_else(|e| panic!("{schedule_text}: {e:?}"));
    let mut main = None;
    for (exact_tails, count) in [(true, false), (false, false), (true, true), (false, true)] {
        let options = LowerOptions { exact_tails, count, ..LowerOptions::default() };
        let program = lower(&plan, &options).unwrap_or_else(|e| panic!("{schedule_text}: {e:?}")).program;
        let fresh = || -> Vec<AnyBuffer> {
            expected.iter().map(|e| AnyBuffer::with_region(e.ty(), &e.region()).unwrap()).collect()
        };
        let same = |outputs: &[AnyBuffer], by: &str| {
            for (got, want) in outputs.iter().zip(&expected) {
                assert_eq!(got.first_difference(want), None, "{schedule_text}\n{by} {params:?}\n{program}");
            }
        };
        let mut outputs = fresh();
        eval::run(&program, params, std::slice::from_ref(&image), &mut outputs)
            .unwrap_or_else(|e| panic!("{schedule_text} {params:?}\n{e}\n{program}"));
        same(&outputs, "evaluator");
        if !program.kernels.is_empty() {
            continue;
        }
        let code = compile(&program, &CpuOptions::default()).unwrap();
        let mut outputs = fresh();
        let stats = {
            let mut views: Vec<_> = outputs.iter_mut().map(|o| o.view_mut().unwrap()).collect();
            let buffers: Vec<_> = [image.raw()].into_iter().chain(views.iter_mut().map(|v| v.raw_mut())).collect();
            code.run(&RunArgs { params, buffers: &buffers, threads: Some(2), ..RunArgs::default() }).unwrap()
        };
        same(&outputs, "machine code");
        main = Some(Run { names: program.counters.clone(), counters: stats.counters, peak: stats.peak_bytes });
    }
    main.unwrap_or(Run { names: Vec::new(), counters: Vec::new(), peak: 0 })
}

/// Holds what is needed where a flag holds and where it does not, under each schedule: `on` lists the Funcs that are
/// computed only where it holds, `off` those only where it does not.
fn by_flag(p: &Pipeline, schedules: &[&str], region: &Region, on: &[&str], off: &[&str]) {
    for schedule in schedules {
        for value in [true, false] {
            let run = run(p, schedule, region, &[Scalar::from(value)]);
            let (needed, idle) = if value { (on, off) } else { (off, on) };
            for f in idle {
                assert!(run.skipped(f), "{schedule}, {value}: {f} {:?}", run.of(f));
            }
            for f in needed {
                assert!(run.of(f).iter().all(|n| *n > 0), "{schedule}, {value}: {f} {:?}", run.of(f));
            }
        }
    }
}

fn region() -> Region {
    Region::of_spans([(-1, 133), (2, 41)])
}

/// Schedules of a producer `f` of `g`.
const PLACES: [&str; 9] = [
    "f: compute_root()",
    "f: compute_root() vectorize(x, 8) parallel(y)\n g: vectorize(x, 16) parallel(y)",
    "f: compute_at(g, y)",
    "f: compute_at(g, x)",
    "f: store_root() compute_at(g, y)",
    "f: store_root() compute_at(g, y) fold_storage(y, 8) vectorize(x, 8)\n g: vectorize(x, 8)",
    "f: store_at(g, yo) compute_at(g, yi)\n g: split(y, yo, yi, 8) parallel(yo)",
    "f: compute_at(g, xo) unroll(x, 2)\n g: tile(x, y, xo, yo, xi, yi, 32, 8) vectorize(xi, 8) unroll(yi, 2)",
    "f: hoist_storage_root() compute_at(g, y)",
];

fn input() -> ImageParam {
    ImageParam::new("in", I16, 2)
}

/// The case: a stage that one arm of a select needs.
#[test]
fn a_stage_of_one_arm_is_neither_computed_nor_stored_for_the_other() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3 + input[(x + 1, y)];
    g[(x, y)] = select(flag, f[(x, y - 1)] + f[(x, y + 1)], input[(x, y)]);
    let p = Pipeline::new([&g]).unwrap();
    by_flag(&p, &PLACES, &region(), &["f"], &[]);
    let peak = |value: bool| run(&p, "f: compute_root()", &region(), &[Scalar::from(value)]).peak;
    assert!(peak(true) >= 133 * 43 * 2);
    // An allocation of nothing is aligned.
    assert!(peak(false) <= 64);
    // Neither does the cap on memory, before the run, count what is not needed.
    let compiled = Compiler::new(&p)
        .engine(crate::CPU)
        .schedule(&"f: compute_root()".parse().unwrap())
        .target(&target())
        .compile()
        .unwrap();
    let image = noise(I16, &Region::of_spans([(-1, 1002), (-1, 1002)]), 7);
    let outputs = 1000 * 1000 * 2;
    let capped = |value: bool| {
        let call = compiled.inputs().image(&input, image.clone()).param(&flag, value).memory_cap(outputs + (1 << 20));
        call.realize_all(&[Region::of_spans([(0, 1000), (0, 1000)])]).map(drop)
    };
    assert!(capped(true).unwrap_err().to_string().contains("`f`"));
    capped(false).unwrap();
}

/// Each arm has a stage of its own; memory is that of one of them.
#[test]
fn two_arms_have_the_memory_of_one() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut h, mut g) = (Func::new("f"), Func::new("h"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    h[(x, y)] = input[(x, y)] - 5;
    g[(x, y)] = select(flag, f[(x, y)], h[(x, y + 1)]) + 1;
    let p = Pipeline::new([&g]).unwrap();
    for schedule in PLACES {
        let both = format!("{}\n h: compute_root()", schedule);
        by_flag(&p, &[&both], &region(), &["f"], &["h"]);
    }
    let peak = |value: bool| run(&p, "f: compute_root()\n h: compute_root()", &region(), &[Scalar::from(value)]).peak;
    let one = 133 * 42 * 2;
    assert!(peak(true) < one * 3 / 2 && peak(false) < one * 3 / 2);
}

/// Stages that only a skipped stage reads are skipped with it, wherever either of them is computed.
#[test]
fn a_chain_is_skipped_as_a_whole() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut a, mut f, mut g) = (Func::new("a"), Func::new("f"), Func::new("g"));
    a[(x, y)] = input[(x, y)] * 3;
    f[(x, y)] = a[(x, y)] + a[(x, y + 2)];
    g[(x, y)] = select(flag, input[(x, y)], f[(x, y)] - f[(x, y + 1)]);
    let p = Pipeline::new([&g]).unwrap();
    for own in ["compute_root()", "compute_at(f, y)", "store_root() compute_at(f, y)", "compute_at(f, x)"] {
        let schedules = PLACES.map(|s| format!("{s}\n a: {own}"));
        by_flag(&p, &schedules.each_ref().map(String::as_str), &region(), &[], &["a", "f"]);
    }
    let slid = "f: store_root() compute_at(g, y)\n a: store_root() compute_at(g, y) vectorize(x, 8)";
    by_flag(&p, &[slid], &region(), &[], &["a", "f"]);
}

/// Tuples, and update definitions, which are skipped with the first one.
#[test]
fn tuples_and_updates_are_skipped_as_a_whole() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::new([(0, 4)]);
    f[(x, y)] = tuple([input[(x, y)], cast::<i32>(input[(x + 1, y)])]);
    let (first, second) = (f.read((x, y)).at(0), f.read((x, y)).at(1));
    f[(x, y)] = tuple([first + input[(x + r.x, y)], second * 2 + r.x]);
    let sum = cast::<i16>(f.read((x, y)).at(1)) + f.read((x, y - 1)).at(0);
    g[(x, y)] = tuple([select(flag, sum, 3), cast::<u8>(x)]);
    let p = Pipeline::new([&g]).unwrap();
    let schedules = PLACES.map(|s| format!("{s}\n f.update(0): vectorize(x, 4)"));
    by_flag(&p, &schedules.each_ref().map(String::as_str), &region(), &["f"], &[]);
}

/// Sums over a domain read a stage that may be skipped, in an update under a predicate too.
#[test]
fn reductions_read_a_stage_that_is_skipped() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut h, mut g) = (Func::new("f"), Func::new("h"), Func::new("g"));
    let r = RDom::new([(0, 5), (-1, 3)]);
    f[(x, y)] = input[(x, y)] * 3;
    h[(x, y)] = input[(x, y)] + 9;
    r.where_(flag);
    g[(x, y)] = cast::<i16>(0);
    g[(x, y)] += f[(x + r.x, y + r.y)];
    let r = RDom::new([(0, 5)]);
    g[(x, y)] += select(flag, 1, h[(x + r.x, y)]);
    let p = Pipeline::new([&g]).unwrap();
    for updates in [
        "",
        "\n g.update(0): vectorize(x, 8) parallel(y)\n g.update(1): vectorize(x, 8)",
        "\n g.update(1): unroll(r.x)",
    ] {
        let schedule = format!("f: compute_root() vectorize(x, 8)\n h: compute_root() parallel(y){updates}");
        by_flag(&p, &[&schedule], &region(), &["f"], &["h"]);
    }
}

/// Comparisons of numbers, conjunctions, and parts of conditions that also ask where a point is.
#[test]
fn conditions_of_numbers_and_conjunctions() {
    let (input, (x, y)) = (input(), vars!(x, y));
    let (flag, n) = (Param::<bool>::new("flag"), Param::<i32>::new("n"));
    let (mut f, mut h, mut k, mut g) = (Func::new("f"), Func::new("h"), Func::new("k"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    h[(x, y)] = input[(x, y)] - 5;
    k[(x, y)] = input[(x, y)] + 70;
    let inner = select(n.expr().ge(4), h[(x, y)], input[(x, y)]);
    let near = flag.expr() & x.expr().lt(y);
    g[(x, y)] = select(!flag.expr() & n.expr().gt(2), f[(x, y)], inner) + select(near, k[(x, y)], 0);
    let p = Pipeline::new([&g]).unwrap();
    assert_eq!(p.params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["flag", "n"]);
    for schedule in [
        "f: compute_root()\n h: compute_root()\n k: compute_root()",
        "g: vectorize(x, 8)\n f: store_root() compute_at(g, y)\n h: compute_at(g, y) vectorize(x, 8)\n k: compute_at(g, y)",
    ] {
        for flag in [false, true] {
            for n in [2, 3, 4, 5] {
                let run = run(&p, schedule, &region(), &[Scalar::from(flag), Scalar::from(n)]);
                assert_eq!(run.skipped("f"), flag || n <= 2, "{schedule}: {flag} {n}");
                assert_eq!(run.skipped("h"), n < 4 || !flag, "{schedule}: {flag} {n}");
                assert_eq!(run.skipped("k"), !flag, "{schedule}: {flag} {n}");
            }
        }
    }
}

/// Two consumers that need the stage where the other one does not; and both arms of one.
#[test]
fn a_stage_that_somebody_always_needs_is_always_computed() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut h, mut g) = (Func::new("f"), Func::new("h"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    h[(x, y)] = select(flag, f[(x, y)], 4);
    g[(x, y)] = select(flag, h[(x, y + 1)], f[(x, y)] + h[(x, y)]);
    let opposite = Pipeline::new([&g]).unwrap();
    let always = |p: &Pipeline, schedule: &str| {
        for value in [true, false] {
            assert!(!run(p, schedule, &region(), &[Scalar::from(value)]).skipped("f"), "{schedule}: {value}");
        }
        let plan = resolve(p, &schedule.parse().unwrap(), &target()).unwrap();
        let trace = lower(&plan, &LowerOptions::default()).unwrap().trace.to_string();
        assert!(!trace.contains("skip_stages"), "{trace}");
    };
    always(&opposite, "f: compute_root()\n h: compute_root()");
    let mut g = Func::new("g");
    g[(x, y)] = select(flag, f[(x, y)], f[(x, y + 1)]);
    always(&Pipeline::new([&g]).unwrap(), "f: store_root() compute_at(g, y)");
}

/// Conditions of data and of coordinates say nothing of the whole run.
#[test]
fn conditions_that_vary_skip_nothing() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    for cond in [input[(x, y)].gt(0), x.expr().lt(y), flag.expr() | input[(x, y)].gt(0)] {
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[(x, y)] = input[(x, y)] * 3;
        g[(x, y)] = select(cond, f[(x, y)], 1) + select(flag, cast::<i16>(1), 2);
        let p = Pipeline::new([&g]).unwrap();
        for schedule in PLACES {
            for value in [true, false] {
                assert!(!run(&p, schedule, &region(), &[Scalar::from(value)]).skipped("f"), "{schedule}");
            }
        }
    }
}

/// A variant for one value of the parameter, in which nobody asks.
#[test]
fn specialisations_know_what_is_needed() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    g[(x, y)] = select(flag, f[(x, y)], input[(x, y)]);
    let p = Pipeline::new([&g]).unwrap();
    for place in ["compute_root()", "compute_at(g, y)", "store_root() compute_at(g, y)"] {
        for special in ["specialize(flag)", "specialize(!flag)", "specialize(g.extent(0) > 20) specialize(flag)"] {
            let schedule = format!("g: {special}\n f: {place}");
            by_flag(&p, &[&schedule], &region(), &["f"], &[]);
        }
    }
}

/// Requirements are checked and lines printed whether anybody needs the values or not; what their stages read is needed
/// then. Members of groups share their loops.
#[test]
fn stages_with_requirements_and_those_of_groups_are_kept() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut h, mut g) = (Func::new("f"), Func::new("h"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    h[(x, y)] = input[(x, y)] * 5;
    g[(x, y)] = select(flag, f[(x, y)], h[(x, y)]);
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "f: compute_root()\n h: compute_root() compute_with(f, y)";
    for value in [true, false] {
        let run = run(&p, schedule, &region(), &[Scalar::from(value)]);
        assert!(!run.skipped("f") && !run.skipped("h"));
    }
    let plan = resolve(&p, &schedule.parse().unwrap(), &target()).unwrap();
    let trace = lower(&plan, &LowerOptions::default()).unwrap().trace.to_string();
    assert!(trace.contains("f: not skipped where nobody needs it, because it is computed with others"), "{trace}");
    let plan = resolve(&p, &"f: compute_root()\n h: compute_root()".parse().unwrap(), &target()).unwrap();
    let trace = lower(&plan, &LowerOptions::default()).unwrap().trace.to_string();
    let (mut a, mut f, mut g) = (Func::new("a"), Func::new("f"), Func::new("g"));
    a[(x, y)] = input[(x, y)] * 3;
    f[(x, y)] = require(a[(x, y)].ne(1), a[(x, y)], "never one");
    g[(x, y)] = select(flag, f[(x, y)], 3);
    let required = Pipeline::new([&g]).unwrap();
    for value in [true, false] {
        let run = run(&required, "a: compute_root()\n f: compute_root()", &region(), &[Scalar::from(value)]);
        assert!(!run.skipped("a") && !run.skipped("f"));
    }
    assert!(
        trace.contains(
            "skip_stages:\n  f: computed and stored only if flag#p0\n  h: computed and stored only if !flag#p0"
        ),
        "{trace}"
    );
}

/// Kernels are launched or not, and what is computed inside of one is.
#[test]
fn kernels_of_a_stage_that_nobody_needs_are_not_launched() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let (mut f, mut h, mut g) = (Func::new("f"), Func::new("h"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    h[(x, y)] = f[(x, y)] + f[(x + 1, y)];
    g[(x, y)] = select(flag, h[(x, y)] - h[(x, y + 1)], input[(x, y)]);
    let p = Pipeline::new([&g]).unwrap();
    let tiled = |f: &str| format!("{f}: gpu_tile(x, y, {f}xo, {f}yo, {f}xi, {f}yi, 8, 4)");
    for schedule in [
        format!("{}\n {}\n h: compute_root()", tiled("g"), tiled("h")),
        format!("{}\n h: compute_root()\n f: compute_root()", tiled("g")),
        format!("{}\n h: compute_root()\n f: compute_root()\n {}\n {}", tiled("g"), tiled("h"), tiled("f")),
        format!("h: compute_root()\n f: compute_root()\n {}\n {}", tiled("h"), tiled("f")),
        format!("{}\n h: compute_at(g, gxo) gpu_threads(x, y)\n f: compute_root()", tiled("g")),
    ] {
        for value in [true, false] {
            run(&p, &schedule, &Region::of_spans([(-1, 29), (2, 13)]), &[Scalar::from(value)]);
        }
    }
}

/// Accesses are proved to be in bounds as they are without the condition.
#[test]
fn accesses_under_the_condition_are_proved() {
    let (input, flag, (x, y)) = (input(), Param::<bool>::new("flag"), vars!(x, y));
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)] * 3 + input[(x + 1, y)];
    let cond = |asks: bool| if asks { flag.expr() } else { input[(x, y)].gt(0) };
    let questions = |asks: bool, schedule: &str| {
        let mut g = Func::new("g");
        g[(x, y)] = select(cond(asks), f[(x, y - 1)] + f[(x, y + 1)], input[(x, y)]);
        let p = Pipeline::new([&g]).unwrap();
        let plan = resolve(&p, &schedule.parse().unwrap(), &target()).unwrap();
        let options = LowerOptions { accesses: Accesses::BeforeLoops, ..LowerOptions::default() };
        let lowered = lower(&plan, &options).unwrap();
        let unproved = |f: &&Fault| matches!(f, Fault::Unproved | Fault::Access { .. });
        lowered.program.faults.iter().filter(unproved).count()
    };
    for schedule in PLACES {
        assert_eq!(questions(true, schedule), questions(false, schedule), "{schedule}");
    }
}
