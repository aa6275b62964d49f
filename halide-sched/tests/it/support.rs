//! Helpers of several files of tests: a pipeline of two stages, sweeps over sizes, and what is refused or ends a run.

use crate::matrix::{TARGET, check, check_outputs, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_ir::eval::{self, EvalError};
use halide_ir::{Program, Stmt, visit};
use halide_sched::lower::{LowerOptions, Lowered, lower};
use halide_sched::plan::{Plan, resolve};
use halide_sched::schedule::Schedule;

/// `f` reads the input twice, `g` reads `f` twice.
pub(crate) fn stencil() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3 - input[(x + 1, y)] + cast::<i16>(x + 7 * y);
    g[(x, y)] = f[(x - 1, y)] + f[(x + 1, y + 1)] * 5;
    Pipeline::new([&g]).unwrap()
}

/// Holds every schedule of a pipeline of one 16-bit input `in` against the interpreter, at every size.
pub(crate) fn sweep(pipeline: &Pipeline, schedules: &[&str], sizes: &[(i32, i32)]) {
    for schedule in schedules {
        for &(w, h) in sizes {
            let input = random_image(I16, &Region::of_spans([(-19, w + 80), (-6, h + 60)]), 5);
            check(pipeline, schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
        }
    }
}

/// A schedule whose places are in a file `test`.
pub(crate) fn parsed(schedule: &str) -> Schedule {
    Schedule::parse(schedule, "test").unwrap_or_else(|e| panic!("{schedule}\n{e}"))
}

/// The plan of a legal schedule.
pub(crate) fn planned(pipeline: &Pipeline, schedule: &str) -> Plan {
    resolve(pipeline, &parsed(schedule), &TARGET).unwrap_or_else(|errors| {
        let text: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
        panic!("{schedule}\n{}", text.join("\n"))
    })
}

/// Lowers the main variant.
pub(crate) fn lowered_whole(pipeline: &Pipeline, schedule: &str) -> Lowered {
    lower(&planned(pipeline, schedule), &LowerOptions::default()).unwrap_or_else(|e| panic!("{schedule}\n{e:?}"))
}

/// The finished program of the main variant.
pub(crate) fn lowered(pipeline: &Pipeline, schedule: &str) -> Program {
    lowered_whole(pipeline, schedule).program
}

/// Returns the errors of `plan` for a schedule that is not legal.
pub(crate) fn illegal(pipeline: &Pipeline, schedule: &str) -> String {
    let errors = resolve(pipeline, &parsed(schedule), &TARGET).map(drop).expect_err(schedule);
    errors.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n")
}

/// Returns the errors of lowering for a legal schedule that it refuses.
pub(crate) fn refused(pipeline: &Pipeline, schedule: &str) -> String {
    let errors = lower(&planned(pipeline, schedule), &LowerOptions::default()).map(drop).expect_err(schedule);
    errors.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n")
}

/// The text of the fault with which a run on a 16-bit input ends, if it does.
pub(crate) fn fault(pipeline: &Pipeline, schedule: &str, region: &Region) -> Option<String> {
    let options = LowerOptions { exact_tails: true, ..Default::default() };
    let program = lower(&planned(pipeline, schedule), &options).unwrap().program;
    let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
    let mut outputs = [AnyBuffer::with_region(I16, region).unwrap()];
    match eval::run(&program, &[], &[input], &mut outputs) {
        Ok(_) => None,
        Err(EvalError::Fault { fault, args, .. }) => Some(program.faults[fault].message(&program, &args)),
        Err(e) => panic!("{e}"),
    }
}

/// Counts the statements in `s` that pass the test.
pub(crate) fn count_stmts(s: &Stmt, test: &dyn Fn(&Stmt) -> bool) -> usize {
    let mut n = test(s) as usize;
    visit::for_each_stmt(s, |inner| n += count_stmts(inner, test));
    n
}

/// The regions that [`hold`] asks for: one point, primes, less than one vector, just one, and several, from minima
/// below zero and above. A Func of fewer dimensions takes the first of each.
const REGIONS: [[(i64, i64); 4]; 6] = [
    [(-3, 1), (2, 1), (0, 1), (1, 1)],
    [(2, 3), (-5, 2), (-1, 2), (0, 1)],
    [(0, 7), (0, 5), (1, 3), (-1, 2)],
    [(-6, 8), (1, 4), (0, 2), (0, 3)],
    [(1, 13), (-3, 11), (-2, 3), (0, 2)],
    [(-9, 29), (3, 17), (0, 4), (1, 2)],
];

/// An image for each input, larger than anything that the regions need.
pub(crate) fn images_of(p: &Pipeline) -> Vec<(&str, AnyBuffer)> {
    let spans = |dims: usize| match dims {
        0..=2 => vec![(-48, 120); dims],
        _ => [vec![(-32, 80); 2], vec![(-8, 18); dims - 2]].concat(),
    };
    p.images.iter().map(|i| (i.name.as_str(), random_image(i.ty, &Region::of_spans(spans(i.dims)), 9))).collect()
}

/// Holds every schedule against the interpreter over [`REGIONS`].
pub(crate) fn hold(p: &Pipeline, schedules: &[impl AsRef<str>]) {
    hold_at(p, schedules, &REGIONS.each_ref().map(|spans| &spans[..]));
}

/// As [`hold`], over regions that suit what the schedules promise.
pub(crate) fn hold_at(p: &Pipeline, schedules: &[impl AsRef<str>], regions: &[&[(i64, i64)]]) {
    let images = images_of(p);
    // The largest first: where the main variant runs on it, none need be sought that it runs on.
    let mut regions = regions.to_vec();
    regions.sort_by_key(|spans| std::cmp::Reverse(spans.iter().map(|(_, extent)| extent).product::<i64>()));
    for schedule in schedules {
        for spans in &regions {
            let region = |f: &halide_core::ids::FuncId| Region::of_spans(&spans[..p.funcs[*f].dims()]);
            check_outputs(p, schedule.as_ref(), &images, &p.outputs.iter().map(region).collect::<Vec<_>>());
        }
    }
}

/// Holds those schedules that are legal, and returns how many are.
pub(crate) fn hold_legal(p: &Pipeline, schedules: &[impl AsRef<str>]) -> usize {
    let legal = |s: &&str| resolve(p, &parsed(s), &TARGET).is_ok();
    let legal: Vec<&str> = schedules.iter().map(AsRef::as_ref).filter(legal).collect();
    hold(p, &legal);
    legal.len()
}

/// The reason why a schedule is illegal or lowering refuses it (kernels may need more threads or memory than a device
/// has).
pub(crate) fn why_not_taken(p: &Pipeline, schedule: &str) -> Option<String> {
    let plan = match resolve(p, &parsed(schedule), &TARGET) {
        Ok(plan) => plan,
        Err(errors) => return Some(errors.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n")),
    };
    [false, true].into_iter().find_map(|exact_tails| {
        lower(&plan, &LowerOptions { exact_tails, ..Default::default() }).err().map(|e| format!("{e:?}"))
    })
}
