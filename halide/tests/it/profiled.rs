//! Profiles and counts of runs.

use halide::call::RunStats;
use halide::counts::FuncCounts;
use halide::prelude::*;
use halide::profile::{Activity, Profile};
use halide_cpu::CpuOptions;
use halide_ir::target::Gpu;
use halide_ir::{Program, eval};
use halide_sched::lower::counting::lower_counting;
use halide_sched::lower::{Counted, LowerOptions, lower};
use std::thread;
use std::time::Duration;

/// A value that takes a while.
fn heavy(x: Var, y: Var) -> Expr {
    let value = cast::<f32>(x * 3 + y);
    sin(value) + cos(value)
}

/// A pipeline in which `g` computes three points of the same work for each one of `f`, and the names of the two.
fn one_to_three(names: [&str; 2], schedule: &str) -> Compiled {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new(names[0]), Func::new(names[1]));
    f[(x, y)] = heavy(x, y);
    g[(x, y)] = heavy(x, y) + f[(x, y / 3)];
    let schedule = schedule.replace("$f", names[0]).replace("$g", names[1]);
    Pipeline::new([&g]).unwrap().compile(&schedule.parse().unwrap(), &Target::host()).unwrap()
}

const SERIAL: &str = "$f: compute_root() vectorize(x, natural)\n $g: vectorize(x, natural)";
const PARALLEL: &str = "$f: compute_root() parallel(y) vectorize(x, natural)\n $g: parallel(y) vectorize(x, natural)";

/// Profiles runs until there are this many samples.
fn profile(compiled: &Compiled, samples: u64) -> Profile {
    let mut out = Buffer::<f32>::new([256, 3 * 64]).unwrap();
    let call = compiled.inputs().profile_until(samples, Duration::from_secs(60));
    call.realize_into(out.view_mut().unwrap()).unwrap().profile.expect("asked for")
}

fn share(profile: &Profile, func: &str) -> f64 {
    let is_of = |activity: &Activity| matches!(activity, Activity::Computes { func: of, .. } if of == func);
    profile.rows.iter().filter(|row| is_of(&row.activity)).map(|row| profile.share(row)).sum()
}

/// Profiles of work that is 1 : 3. One of several must tell the shares: while other programs want the processors,
/// threads begin and end parallel loops late, which is time of these loops.
#[test]
fn shares_are_those_of_the_work() {
    for schedule in [SERIAL, PARALLEL] {
        let compiled = one_to_three(["f", "g"], schedule);
        let mut last = String::new();
        let told = (0..8).any(|_| {
            let profile = profile(&compiled, 1500);
            last = profile.text(&[]);
            let all: f64 = profile.rows.iter().map(|row| profile.share(row)).sum();
            assert!((all - 1.0).abs() < 0.005, "{profile:?}");
            let [f, g] = ["f", "g"].map(|func| share(&profile, func));
            (f / (f + g) - 0.25).abs() < 0.04
        });
        assert!(told, "{last}");
    }
}

#[test]
fn code_that_is_not_profiled_is_the_same_whatever_there_is_to_mark() {
    for schedule in [SERIAL, PARALLEL, "$g: split(y, yo, yi, 8)\n $f: compute_at($g, yo) vectorize(x, natural)"] {
        let plan = one_to_three(["f", "g"], schedule).plan().clone();
        let program = lower(&plan, &LowerOptions::default()).unwrap().program;
        let code = |program: &Program, marks| {
            let options = CpuOptions { keep_text: true, marks, ..CpuOptions::default() };
            let compiled = halide_cpu::compile(program, &options).unwrap();
            // Addresses and places are no code.
            let bytes = compiled.functions().iter().map(|f| (f.name.clone(), f.bytes.clone(), f.spill_bytes));
            bytes.collect::<Vec<_>>()
        };
        let plain = code(&program, false);
        assert!(code(&program, true) != plain, "{program}");
        let mut unmarked = program.clone();
        unmarked.loops.iter_mut().for_each(|info| info.definition = None);
        assert!(code(&unmarked, false) == plain, "{program}");
        assert!(code(&program, false) == plain, "{program}");
    }
}

#[test]
fn profiled_runs_compute_the_same() {
    for schedule in [SERIAL, PARALLEL, "$g: split(y, yo, yi, 8)\n $f: compute_at($g, yo) vectorize(x, natural)"] {
        let compiled = one_to_three(["f", "g"], schedule);
        let values = |call: Call<'_>| call.realize::<f32>([100, 37]).unwrap().to_vec();
        assert_eq!(values(compiled.inputs()), values(compiled.inputs().profile().count()), "{schedule}");
    }
}

#[test]
fn runs_that_are_profiled_at_once_do_not_see_each_other() {
    thread::scope(|scope| {
        let runs = [["a", "b"], ["c", "d"]]
            .map(|names| scope.spawn(move || (names, profile(&one_to_three(names, PARALLEL), 300))));
        for (names, profile) in runs.map(|run| run.join().unwrap()) {
            for row in &profile.rows {
                if let Activity::Computes { func, .. } = &row.activity {
                    assert!(names.contains(&func.as_str()), "{names:?}: {func}");
                }
            }
            assert!(share(&profile, names[1]) > 0.0);
        }
    });
}

#[test]
fn memory_is_told_from_the_first_allocation_to_the_last_release() {
    let compiled = one_to_three(["f", "g"], "$f: compute_at($g, y) store_in(Heap)\n $g: parallel(y)");
    let mut out = Buffer::<f32>::new([3000, 20]).unwrap();
    let stats = compiled.inputs().profile().realize_into(out.view_mut().unwrap()).unwrap();
    let profile = stats.profile.unwrap();
    assert_eq!(profile.peak_bytes(), stats.peak_bytes);
    assert_eq!(profile.memory.iter().map(|event| event.bytes).sum::<i64>(), 0, "{:?}", profile.memory);
    let of_f = profile.memory.iter().filter(|event| event.func.as_deref() == Some("f"));
    assert_eq!(of_f.count() as u64, 2 * stats.allocations);
}

fn counts_of(compiled: &Compiled, extents: [i64; 2]) -> (RunStats, Vec<FuncCounts>) {
    let mut out = Buffer::<f32>::new(extents).unwrap();
    let mut stats = compiled.inputs().count().realize_into(out.view_mut().unwrap()).unwrap();
    let counts = stats.counts.take().expect("asked for");
    (stats, counts)
}

#[test]
fn counts_are_of_every_func_and_of_what_is_computed_again() {
    let compiled = one_to_three(["f", "g"], "$g: split(y, yo, yi, 2)\n $f: compute_at($g, yi)");
    let (stats, counts) = counts_of(&compiled, [100, 12]);
    assert!(stats.profile.is_none());
    let [f, g] = ["f", "g"].map(|func| counts.iter().find(|of| of.func == func).unwrap());
    assert_eq!((f.points, f.needed, f.recompute()), (1200, Some(400), Some(3.0)));
    assert_eq!((g.points, g.needed, g.stored, g.loaded), (1200, Some(1200), 4800, 4800));
    assert_eq!((f.elements, f.allocations, f.stored), (1200, 12, 4800));
    assert!(f.operations >= 3 * f.points, "{f:?}");
    let [source] = g.sources.as_slice() else { panic!("{g:?}") };
    assert_eq!((source.of.as_str(), source.is_image, source.loaded), ("f", false, 4800));
    assert!(f.sources.is_empty(), "{f:?}");
}

#[test]
fn runs_of_no_points_and_runs_that_fail_end_as_ever() {
    let compiled = one_to_three(["f", "g"], PARALLEL);
    let mut none = Buffer::<f32>::new([0, 5]).unwrap();
    let stats = compiled.inputs().profile().count().realize_into(none.view_mut().unwrap()).unwrap();
    assert_eq!(stats.counts.unwrap().iter().map(|of| of.points).sum::<u64>(), 0);
    let call = |call: Call<'_>| {
        let mut out = Buffer::<f32>::new([4000, 4000]).unwrap();
        call.memory_cap(1000).realize_into(out.view_mut().unwrap()).unwrap_err().to_string()
    };
    assert_eq!(call(compiled.inputs()), call(compiled.inputs().profile().count()));
}

#[test]
fn counts_that_depend_on_data_are_those_of_the_run() {
    let x = Var::new("x");
    let r = RDom::new([(0, 100)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x % 3;
    g[x] = 0.into();
    r.where_(f[r.x].eq(1));
    g[r.x] += 1;
    let pipeline = Pipeline::new([&g]).unwrap();
    let compiled = pipeline.compile(&"f: compute_root()".parse().unwrap(), &Target::host()).unwrap();
    let mut out = Buffer::<i32>::new([100]).unwrap();
    let stats = compiled.inputs().count().realize_into(out.view_mut().unwrap()).unwrap();
    assert_eq!(out.to_vec().iter().sum::<i32>(), 33);
    let counts = stats.counts.unwrap();
    assert_eq!(counts.iter().find(|of| of.func == "g").unwrap().points, 133, "{counts:?}");
}

/// A copy of an image in which odd elements of the copy count one more.
fn made_even() -> (Pipeline, ImageParam) {
    let input = ImageParam::new("input", I32, 1);
    let x = Var::new("x");
    let r = RDom::over(&input);
    let mut even = Func::new("even");
    even[x] = input[x];
    r.where_((even[r.x] % 2).eq(1));
    even[r.x] += 1;
    (Pipeline::new([&even]).unwrap(), input)
}

#[test]
fn in_the_memory_of_an_input_one_run_is_profiled_and_counted_as_it_was() {
    let (pipeline, input) = made_even();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let mut memory = Buffer::from_slice([6], &[1, 2, 3, 5, 8, 13]).unwrap();
    let call = compiled.inputs().in_place(&input, 0).profile_until(u64::MAX, Duration::from_millis(50)).count();
    let stats = call.realize_into(memory.view_mut().unwrap()).unwrap();
    assert_eq!(memory.to_vec(), [2, 2, 4, 6, 8, 14]);
    assert_eq!(stats.profile.unwrap().runs, 1, "a second run would find other values");
    let counts = stats.counts.unwrap();
    // Four of six are odd; the copy of the input is there already.
    assert_eq!(counts.iter().find(|of| of.func == "even").unwrap().points, 4, "{counts:?}");
}

#[test]
fn outputs_that_a_run_updates_are_counted_as_they_were() {
    let x = Var::new("x");
    let r = RDom::new([(0, 6)]);
    let mut f = Func::new("f");
    f[x] = undef::<i32>();
    r.where_((f[r.x] % 2).eq(1));
    f[r.x] += 1;
    let compiled = Pipeline::new([&f]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let counted = |values: [i32; 6]| {
        let mut out = Buffer::from_slice([6], &values).unwrap();
        let call = compiled.inputs().profile_until(u64::MAX, Duration::from_millis(50)).count();
        let stats = call.realize_into(out.view_mut().unwrap()).unwrap();
        assert_eq!(stats.profile.unwrap().runs, 1);
        (out.to_vec(), stats.counts.unwrap().iter().map(|of| of.points).sum::<u64>())
    };
    let ((even, without), (made, with)) = (counted([2, 2, 4, 6, 8, 14]), counted([1, 2, 3, 5, 8, 13]));
    assert_eq!((even == made, with - without), (true, 4));
}

/// Kernels do not count, so what counts runs on the host, whatever counts depend on.
#[test]
fn counts_of_schedules_with_kernels_that_depend_on_data() {
    let x = Var::new("x");
    let r = RDom::new([(0, 8), (0, 25)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x % 3;
    g[x] = 0.into();
    r.where_(f[r.x].eq(1));
    g[r.x + 8 * r.y] += 1;
    let pipeline = Pipeline::new([&g]).unwrap();
    let schedule = "f: compute_root() gpu_tile(x, xo, xi, 4)\n g: gpu_tile(x, xo, xi, 8)";
    let target = Target { gpu: Some(Gpu::LEAST), ..Target::host() };
    let plan = halide::plan::resolve(&pipeline, &schedule.parse().unwrap(), &target).unwrap();
    let options = LowerOptions { exact_tails: true, ..LowerOptions::default() };
    assert!(!lower(&plan, &options).unwrap().program.kernels.is_empty());
    let counting = lower_counting(&plan, &options).unwrap();
    assert!(!counting.alone && counting.program.kernels.is_empty());
    let mut out = [AnyBuffer::new(I32, [200]).unwrap()];
    let stats = eval::run(&counting.program, &[], &[], &mut out).unwrap();
    let counter = |func: &str| {
        let name = Counted::Points.counter(func);
        stats.counters[counting.program.counters.iter().position(|c| *c == name).unwrap()]
    };
    // 200 of the definition; of each of 25 rows, 1, 4 and 7.
    assert_eq!((counter("f"), counter("g")), (8, 200 + 75));
}
