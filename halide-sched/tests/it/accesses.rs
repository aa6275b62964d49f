//! Proof of accesses on whole pipelines: what is right stays right, and what is broken ends before it leaves its
//! buffers.

use crate::matrix::random_image;
use crate::support::{planned, stencil};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::interp::{self, Inputs};
use halide_core::limits::Limits;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};
use halide_ir::eval::{self, Check, EvalError};
use halide_ir::{Fault, Program, verify};
use halide_sched::lower::checks::check_accesses::check_accesses;
use halide_sched::lower::{Accesses, LowerOptions, LoweringTrace, Snapshots, lower};
use halide_testing::programs::{self, Random};

const SCHEDULES: [&str; 7] = [
    "f: compute_root()",
    "g: vectorize(x, 8)\n f: compute_at(g, y) vectorize(x, 4)",
    "g: split(y, yo, yi, 4)\n f: store_at(g, yo) compute_at(g, yi)",
    "g: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)\n f: compute_at(g, xo) unroll(y, 2)",
    "g: vectorize(x, 8, GuardWithIf)\n f: store_root() compute_at(g, y) vectorize(x, 8)",
    "g: fuse(x, y, t) split(t, o, i, 5)\n f: compute_at(g, o)",
    "g: reorder(y, x) unroll(y, 3)\n f: compute_at(g, x) store_root()",
];

fn run(program: &Program, images: &[AnyBuffer], region: &Region) -> Result<AnyBuffer, EvalError> {
    let ty = program.buffers.iter().find(|b| b.name == "g").expect("it is the output").elem;
    let mut outputs = [AnyBuffer::with_region(ty, region).unwrap()];
    let limits = Limits::with_cap(64 << 20);
    let options = eval::Options { limits: Some(&limits), ..Default::default() };
    eval::run_with(program, &[], images, &mut outputs, &options)?;
    let [output] = outputs;
    Ok(output)
}

/// Looks up a table at data, which no bound of a loop says anything of.
fn table() -> Pipeline {
    let input = ImageParam::new("in", U8, 1);
    let (x, i) = vars!(x, i);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[i] = cast::<i32>(i * 3);
    let r = RDom::named("r", [(0, 4)]);
    f[input[r.x] % 7] += 1;
    g[x] = f[clamp(cast::<i32>(cast::<f32>(input[x]) * 0.25), 0, 60)] + f[input[x] % 7];
    Pipeline::new([&g]).unwrap()
}

#[test]
fn accesses_checked_in_place_end_no_run_that_is_right() {
    let sizes = [[1, 1], [8, 4], [13, 9], [17, 23]];
    for schedule in SCHEDULES {
        for size in sizes {
            let image = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 7);
            agree(&stencil(), schedule, &image, &Region::of_extents(size));
        }
    }
    for schedule in [
        "f: compute_root()",
        "f: compute_root()\n g: vectorize(x, 8)",
        "f: compute_root()\n f.update(0): atomic() vectorize(r.x)",
    ] {
        agree(&table(), schedule, &random_image(U8, &Region::of_spans([(-5, 60)]), 3), &Region::of_extents([21]));
    }
}

/// With every way to check accesses, the interpreter's values come out, or the run is for another variant.
fn agree(pipeline: &Pipeline, schedule: &str, image: &AnyBuffer, region: &Region) {
    let inputs = Inputs::new().image("in", image.clone());
    let expected = interp::run(pipeline, &inputs, std::slice::from_ref(region)).unwrap();
    for accesses in [Accesses::BeforeLoops, Accesses::InPlace] {
        for exact_tails in [false, true] {
            let options = LowerOptions { exact_tails, accesses, ..Default::default() };
            let program = lower(&planned(pipeline, schedule), &options).unwrap().program;
            match run(&program, std::slice::from_ref(image), region) {
                Ok(output) => assert_eq!(output.first_difference(&expected[0]), None, "{schedule} {accesses:?}"),
                Err(EvalError::Fault { fault, .. })
                    if matches!(program.faults[fault], Fault::NotThisVariant) && !exact_tails => {}
                Err(EvalError::Fault { fault, .. })
                    if program.faults[fault] == Fault::Unproved && accesses == Accesses::BeforeLoops => {}
                Err(e) => panic!("{schedule} {accesses:?} {region}: {e}\n{program}"),
            }
        }
    }
}

/// Lowering with one mistake: the program after the last pass that changes an index, broken, and then checked.
#[test]
fn broken_programs_end_before_they_leave_their_buffers() {
    let (image, region) = (random_image(I16, &Region::of_spans([(-9, 40), (-9, 40)]), 7), Region::of_extents([13, 9]));
    let (wrong, named) = broken(&stencil(), &SCHEDULES, &image, &region);
    assert!(wrong >= 20 && named >= 20, "{wrong} programs are wrong, {named} ended with the name of the access");
}

/// Runs mutants of lowered programs, checked. Returns how many are wrong unchecked, and how many ended with the name of
/// the access.
fn broken(pipeline: &Pipeline, schedules: &[&str], image: &AnyBuffer, region: &Region) -> (u32, u32) {
    let outside = |e: &EvalError| matches!(e.check(), Some(Check::ReadOutside | Check::WriteOutside));
    let (mut wrong, mut named) = (0, 0);
    for (number, schedule) in schedules.iter().enumerate() {
        let options = LowerOptions { exact_tails: true, snapshots: Snapshots::All, ..Default::default() };
        let passes = lower(&planned(pipeline, schedule), &options).unwrap().trace.passes;
        let right = passes.into_iter().rev().find(|p| p.name == "place_copies").and_then(|p| p.after).unwrap();
        for seed in 0..60 {
            let mut random = Random::new(seed * 7 + number as u64);
            let Some(broken) = programs::mutant(&right, &mut random).filter(|p| verify::verify(p).is_ok()) else {
                continue;
            };
            let images = std::slice::from_ref(image);
            wrong += u32::from(run(&broken, images, region).is_err_and(|e| outside(&e)));
            for exact in [false, true] {
                let checked = check_accesses(broken.clone(), None, exact, &mut LoweringTrace::new());
                match run(&checked, images, region) {
                    Err(e) if outside(&e) => panic!("{schedule} seed {seed} exact {exact}: {e}\n{checked}"),
                    Err(EvalError::Fault { fault, .. }) => {
                        named += u32::from(matches!(checked.faults[fault], Fault::Access { .. }));
                    }
                    _ => {}
                }
            }
        }
    }
    (wrong, named)
}

/// Products of small matrices, whose strides the program says; `dense` says their extents too.
fn matrices(dense: bool) -> Pipeline {
    let (input, mut g) = (ImageParam::new("in", I16, 3), Func::new("g"));
    let (k, j, b) = vars!(k, j, b);
    let product = |i: i32| input[(i, j, b)] * input[(k, i, b)];
    g[(k, j, b)] = product(0) + product(1) * product(3) - input[(3 - k, 1, b)];
    for (of_image, of_output, stride) in [(input.dim(1), g.output().dim(1), 4), (input.dim(2), g.output().dim(2), 16)] {
        of_image.set_stride(stride);
        of_output.set_stride(stride);
    }
    for dim in 0..2 {
        if dense {
            input.dim(dim).set_bounds(0, 4);
        }
        g.output().dim(dim).set_bounds(0, 4);
    }
    Pipeline::new([&g]).unwrap()
}

/// An index of constant strides is told apart into coordinates; tiles of rows read across rows that follow each other.
#[test]
fn accesses_of_constant_strides_are_proved() {
    let (image, region) = (
        random_image(I16, &Region::of_spans([(0, 4), (0, 4), (-9, 40)]), 7),
        Region::of_spans([(0, 4), (0, 4), (-2, 17)]),
    );
    let schedules = [
        "g: reorder(k, j, b) vectorize(b, 8) unroll(j) unroll(k)",
        "g: reorder(k, j, b) vectorize(b, 4, GuardWithIf) unroll(k)",
        "g: vectorize(k, 4) unroll(j)",
        "g: reorder(b, k, j) split(b, b, bi, 5) unroll(bi)",
    ];
    for dense in [false, true] {
        let p = matrices(dense);
        for schedule in schedules {
            agree(&p, schedule, &image, &region);
            let options = LowerOptions { accesses: Accesses::BeforeLoops, ..LowerOptions::default() };
            let program = lower(&planned(&p, schedule), &options).unwrap().program;
            let unproved =
                program.faults.iter().filter(|f| matches!(f, Fault::Unproved | Fault::Access { .. })).count();
            assert_eq!(unproved, 0, "{schedule}, dense {dense}:\n{program}");
        }
        let (wrong, named) = broken(&p, &schedules, &image, &region);
        assert!(wrong >= 10 && named >= 10, "{wrong} programs are wrong, {named} ended with the name of the access");
    }
}

/// Checks of accesses at coordinates that are made of truths say the integers that these become.
#[test]
fn truths_in_checked_coordinates() {
    let flag = Param::<bool>::new("flag");
    let (x, y) = vars!(x, y);
    let (mut truths, mut wide) = (Func::new("truths"), Func::new("wide"));
    let (mut from, mut g) = (Func::new("from"), Func::new("g"));
    truths.define((x, y), true);
    wide[(x, y)] = cast::<u64>(cast::<i32>(truths[(x, y)]));
    let coordinate = cast::<i32>(select(x.ge(9), cast::<u8>(flag), cast::<u8>(truths[(1, y)])));
    from[(x, y)] = cast::<i16>(wide[(x, coordinate)]);
    g[(x, y)] = 1.0f64.expr();
    let is_set = cast::<bool>(cast::<i32>(cast::<u8>(from[(x + 1, x + 1)])));
    g[(x, 1)] = cast::<f64>(from[(1, select(is_set, x + 1, 1))]);
    let p = Pipeline::new([&g]).unwrap();
    // Rows of blocks that are padded are not proved to be inside, so there are checks; the program is verified.
    let plan = planned(&p, "truths: compute_root() split_storage(x, xo, xi, 8) align_storage(xo, 2)");
    for accesses in [Accesses::BeforeLoops, Accesses::InPlace] {
        let program = lower(&plan, &LowerOptions { accesses, ..LowerOptions::default() }).unwrap().program;
        assert!(verify::verify(&program).is_ok(), "{program}");
    }
}
