//! One pipeline under one schedule through every stage that can run, against the interpreter.

use halide_core::Pipeline;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::interp::{self, Inputs};
use halide_ir::eval::{self, EvalError};
use halide_ir::target::{Arch, Budget, Gpu, Target};
use halide_ir::{Fault, LoopInfo, Program, Stage};
use halide_sched::lower::{LowerOptions, lower, lower_to_bounded};
use halide_sched::schedule::Schedule;
use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

pub(crate) const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 128,
    features: None,
    threads: 2,
    cache_bytes: 1 << 20,
    gpu: Some(GPU),
    budget: Budget::DEFAULT,
};

const GPU: Gpu = Gpu { subgroup: Some(8), ..Gpu::LEAST };

/// A small deterministic generator (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A buffer of random bits (floats: of random values in -1..1).
pub(crate) fn random_image(ty: halide_core::types::ScalarType, region: &Region, seed: u64) -> AnyBuffer {
    let mut random = Random(seed);
    let mut image = AnyBuffer::with_region(ty, region).unwrap();
    for at in region.coords() {
        let bits = random.next();
        let value = if ty.is_float() {
            halide_core::value::Scalar::float(ty, (bits as i32) as f64 / 2f64.powi(31))
        } else {
            halide_core::value::Scalar::from_bits(ty, bits)
        };
        image.set(&at, value).unwrap();
    }
    image
}

/// Compares engines on one output region. Inputs are named and as large as they are given.
pub(crate) fn check(pipeline: &Pipeline, schedule: &str, images: &[(&str, AnyBuffer)], region: &Region) {
    check_outputs(pipeline, schedule, images, &vec![region.clone(); pipeline.outputs.len()]);
}

/// As [`check`], with a region for each output.
pub(crate) fn check_outputs(pipeline: &Pipeline, schedule: &str, images: &[(&str, AnyBuffer)], regions: &[Region]) {
    check_on(&TARGET, pipeline, schedule, images, regions);
}

/// As [`check_outputs`], for another target.
pub(crate) fn check_on(
    target: &Target,
    pipeline: &Pipeline,
    schedule: &str,
    images: &[(&str, AnyBuffer)],
    regions: &[Region],
) {
    let programs = programs(target, pipeline, schedule);
    let inputs = images.iter().fold(Inputs::new(), |all, (name, image)| all.image(*name, image.clone()));
    let expected = interp::run(pipeline, &inputs, regions).unwrap();
    let bound: Vec<AnyBuffer> = pipeline
        .images
        .iter()
        .map(|i| images.iter().find(|(name, _)| *name == i.name).expect("every image is given").1.clone())
        .collect();
    let name = format!("{target:?}\n{schedule}\n{pipeline}");
    for (exact_tails, variant) in [false, true].into_iter().zip(programs.iter()) {
        for program in variant {
            let mut outputs: Vec<AnyBuffer> =
                expected.iter().map(|e| AnyBuffer::with_region(e.ty(), &e.region()).unwrap()).collect();
            match eval::run(program, &[], &bound, &mut outputs) {
                Ok(_) if exact_tails => {}
                Ok(_) => drop(SERVED.with_borrow_mut(|served| served.insert((name.clone(), program.stage)))),
                Err(e) if !exact_tails && is_for_another_variant(program, &e) => {
                    let name = (name.clone(), program.stage);
                    let served = SERVED.with_borrow(|served| served.contains(&name));
                    assert!(
                        served || serves_larger(pipeline, schedule, program, &bound, &outputs),
                        "{schedule}\nthe main variant runs neither on {regions:?} nor on more\n{program}"
                    );
                    SERVED.with_borrow_mut(|served| served.insert(name));
                    continue;
                }
                Err(e) => panic!("{schedule}\nexact {exact_tails} {regions:?}\n{e}\n{program}"),
            }
            for (got, want) in outputs.iter().zip(&expected) {
                if let Some((at, a, b)) = got.first_difference(want) {
                    panic!("{schedule}\nexact {exact_tails} {regions:?}: at {at:?} {a} is not {b}\n{program}");
                }
            }
        }
    }
}

/// The programs of a variant: as it is after bounds inference, and as backends get it.
type Variant = [Program; 2];

/// Programs of a pipeline, whose clone is the same one, under a schedule.
struct Known {
    pipeline: Pipeline,
    target: Target,
    schedule: String,
    programs: Rc<[Variant; 2]>,
}

/// The programs of the main variant and of that with exact tails. A test comes back to few schedules for other regions,
/// and lowering takes longer than a run.
fn programs(target: &Target, pipeline: &Pipeline, schedule: &str) -> Rc<[Variant; 2]> {
    let is_same = |known: &Known| {
        std::ptr::eq(&*known.pipeline, &**pipeline) && known.target == *target && known.schedule == schedule
    };
    let known = KNOWN.with_borrow(|all| all.iter().find(|known| is_same(known)).map(|known| known.programs.clone()));
    if let Some(programs) = known {
        return programs;
    }
    let parsed: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    let plan = halide_sched::plan::resolve(pipeline, &parsed, target).unwrap_or_else(|errors| {
        let text: Vec<String> = errors.iter().map(|e| e.to_string()).collect();
        panic!("{schedule}\n{}", text.join("\n"))
    });
    let variant = |exact_tails| {
        let options = LowerOptions { exact_tails, ..Default::default() };
        let bounded = lower_to_bounded(&plan, &options).unwrap().program;
        let last = lower(&plan, &options).unwrap_or_else(|e| panic!("{schedule}\nexact {exact_tails}\n{e:?}")).program;
        if !last.kernels.is_empty() {
            assert_eq!(last.to_string().parse::<Program>(), Ok(in_text(&last)), "{schedule}");
        }
        [bounded, last]
    };
    let programs = Rc::new([variant(false), variant(true)]);
    let (pipeline, target) = (pipeline.clone(), *target);
    let known = Known { pipeline, target, schedule: schedule.to_string(), programs: programs.clone() };
    KNOWN.with_borrow_mut(|all| {
        all.truncate(MOST_KNOWN - 1);
        all.push_front(known);
    });
    programs
}

/// The most schedules whose programs are kept.
const MOST_KNOWN: usize = 32;

thread_local! {
    /// The programs that were made last, the newest first.
    static KNOWN: RefCell<VecDeque<Known>> = RefCell::default();
    /// Targets, schedules and pipelines whose main variants have run in this test, by stage.
    static SERVED: RefCell<HashSet<(String, Stage)>> = RefCell::default();
}

/// The most elements of an image that is made larger.
const MOST_POINTS: u64 = 1 << 20;

/// Returns true if a main variant that is not for some outputs, because they or the inputs are too small for it, runs
/// on larger ones, and gives what the interpreter does. Otherwise it may never run, and nothing is tested of it.
fn serves_larger(
    pipeline: &Pipeline,
    schedule: &str,
    program: &Program,
    inputs: &[AnyBuffer],
    outputs: &[AnyBuffer],
) -> bool {
    // A dimension may be promised to be as it is, and more of all dimensions than there is memory for be needed of one;
    // or the inputs alone be too small.
    let most = outputs.iter().map(|b| b.region().spans().len()).max().unwrap_or(0);
    let dims = (0..1u32 << most).rev();
    // What was given may be enough.
    let mut steps = [3, 5, 7, 8, 16, 32, 64, 128, 512].into_iter().flat_map(|step| [(step, 0), (step, step)]);
    steps.any(|(step, before)| {
        let of_inputs = if step <= 128 { u32::MAX } else { 1 };
        let larger = |b: &AnyBuffer| match before {
            0 => Some(b.clone()),
            _ if b.region().points() == Some(0) => Some(b.clone()),
            _ => Some(continued(b, grown(b, of_inputs, before, 1)?)),
        };
        let Some(inputs) = inputs.iter().map(larger).collect::<Option<Vec<AnyBuffer>>>() else { return false };
        dims.clone().any(|dims| {
            let outputs: Option<Vec<AnyBuffer>> = outputs.iter().map(|b| grown(b, dims, 0, step)).collect();
            let Some(mut outputs) = outputs else { return false };
            let runs = eval::run(program, &[], &inputs, &mut outputs).is_ok();
            if runs {
                agrees(pipeline, schedule, &inputs, &outputs);
            }
            runs
        })
    })
}

/// A buffer with more before and after each of some dimensions, whose extents are then multiples of `step`.
fn grown(buffer: &AnyBuffer, dims: u32, before: i64, step: i64) -> Option<AnyBuffer> {
    let region = buffer.region();
    let up = |n: i64| (n.max(1) + step - 1) / step * step;
    let spans = region.spans().iter().enumerate().map(|(dim, s)| match (dims >> dim) & 1 == 1 {
        true => (s.min - before, up(s.extent + 2 * before)),
        false => (s.min, s.extent),
    });
    let region = Region::of_spans(spans.collect::<Vec<_>>());
    let fits = region.points().is_some_and(|points| points <= MOST_POINTS);
    fits.then(|| AnyBuffer::with_region(buffer.ty(), &region).expect("there is memory"))
}

/// Compares the outputs of a run with the interpreter's.
fn agrees(pipeline: &Pipeline, schedule: &str, inputs: &[AnyBuffer], outputs: &[AnyBuffer]) {
    let images = pipeline.images.iter().zip(inputs);
    let inputs = images.fold(Inputs::new(), |all, (image, given)| all.image(image.name.as_str(), given.clone()));
    // An output has a buffer for each element of its tuple.
    let mut first = 0;
    let regions: Vec<Region> = pipeline
        .outputs
        .iter()
        .map(|&f| {
            let region = outputs[first].region();
            first += pipeline.funcs[f].types.len();
            region
        })
        .collect();
    let expected = interp::run(pipeline, &inputs, &regions).unwrap();
    for (got, want) in outputs.iter().zip(&expected) {
        if let Some((at, a, b)) = got.first_difference(want) {
            panic!("{schedule}\nthe main variant on {regions:?}: at {at:?} {a} is not {b}");
        }
    }
}

/// A larger image with the edges of a smaller one repeated, so that it keeps what is promised of the elements.
fn continued(image: &AnyBuffer, mut larger: AnyBuffer) -> AnyBuffer {
    let spans = image.region().spans().to_vec();
    let region = larger.region();
    let mut view = larger.view_mut().expect("it is not shared");
    for at in region.coords() {
        let near: Vec<i32> =
            at.iter().zip(&spans).map(|(x, s)| i64::from(*x).clamp(s.min, s.end() - 1) as i32).collect();
        view.set(&at, image.get(&near).expect("it is inside")).expect("it is inside");
    }
    larger
}

fn is_for_another_variant(program: &Program, e: &EvalError) -> bool {
    match e {
        EvalError::Fault { fault, .. } => {
            matches!(program.faults[*fault], Fault::NotThisVariant | Fault::InputTooSmall { .. })
        }
        _ => false,
    }
}

/// Returns what the text of a program holds of it: names alone of loops, and buffers of Funcs.
fn in_text(program: &Program) -> Program {
    let mut kept = program.clone();
    kept.loops.iter_mut().for_each(|l| *l = LoopInfo::new(&l.name));
    (kept.hoisted, kept.func_names) = Default::default();
    kept
}
