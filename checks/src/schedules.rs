//! Schedules that are not made to be legal: refused with reasons or right, and never a panic.

use crate::case::{Case, TARGET};
use halide::plan;
use halide::prelude::*;
use halide::schedule::{Amount, Directive, LoopKind, Partition, Verb};
use halide_ir::target::Gpu;
use halide_testing::pipelines::{PipelineOptions, Random, random_pipeline};
use halide_testing::schedules::aim::Aim;
use halide_testing::schedules::random::{RandomOptions, random_gpu_schedule, random_schedule};

/// A pipeline under a schedule that was legal, for it or for another pipeline, before somebody changed some of it.
/// Numbers stay small, so that what is legal can be run.
pub fn changed(seed: u64) -> Case {
    changed_for(seed, None, None)
}

/// The same for a machine with a GPU; with the schedule that is given, in place of the one that would be
/// drawn.
pub(crate) fn changed_for(seed: u64, gpu: Option<Gpu>, schedule: Option<Schedule>) -> Case {
    let mut random = Random::new(seed);
    let options =
        PipelineOptions { stages: 1 + random.below(5), exact: random.one_in(2), ..PipelineOptions::default() };
    let pipeline = random_pipeline(random.bits(), options);
    let target = Target { gpu, ..TARGET };
    let schedule = schedule.unwrap_or_else(|| {
        let draw = |pipeline: &halide_core::Pipeline, random: &mut Random| {
            let any_shape = random.one_in(2);
            let options = RandomOptions { any_shape, long: random.one_in(3), ..RandomOptions::default() };
            let draw = if gpu.is_some() { random_gpu_schedule } else { random_schedule };
            draw(pipeline, &target, random.bits(), options).directives().to_vec()
        };
        let mut directives = draw(&pipeline, &mut random);
        if random.one_in(2) {
            let other = random_pipeline(random.bits(), options);
            let other = draw(&other, &mut random);
            let most = other.len();
            directives.extend(other.into_iter().take(random.below(most + 1)));
        }
        for _ in 0..1 + random.below(4) {
            change(&mut directives, &mut random, &[1, 2, 3, 5, 16]);
        }
        Schedule::from(directives)
    });
    Case::with(pipeline.into(), schedule, target, random)
}

/// Checks that `resolve` answers for any numbers at all.
pub fn any_numbers(seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let pipeline = random_pipeline(
        random.bits(),
        PipelineOptions { stages: 4, exact: random.one_in(2), ..PipelineOptions::default() },
    );
    let aim = if random.one_in(3) { Aim::Rows } else { Aim::Anything };
    let options = RandomOptions { any_shape: true, long: random.one_in(3), floats: true, aim };
    let mut directives = random_schedule(&pipeline, &TARGET, random.bits(), options).directives().to_vec();
    for _ in 0..1 + random.below(5) {
        change(&mut directives, &mut random, &[0, -1, -7, 1 << 31, 1 << 40, i64::MAX, i64::MIN, 3]);
    }
    let schedule = Schedule::from(directives);
    match plan::resolve(&pipeline, &schedule, &TARGET) {
        Ok(_) => Ok(()),
        Err(reasons) if reasons.is_empty() => Err(format!("refused without a reason\n{pipeline}\n{schedule}")),
        // Printing is part of it.
        Err(reasons) => match reasons.iter().all(|r| !r.to_string().is_empty()) {
            true => Ok(()),
            false => Err(format!("a reason without text: {reasons:?}")),
        },
    }
}

/// Changes one thing.
fn change(directives: &mut Vec<Directive>, random: &mut Random, numbers: &[i64]) {
    if directives.is_empty() {
        return;
    }
    let (at, other) = (random.below(directives.len()), random.below(directives.len()));
    match random.below(9) {
        0 => drop(directives.remove(at)),
        1 => directives.swap(at, other),
        2 => {
            let again = directives[at].clone();
            directives.insert(other, again);
        }
        3 => directives[at].subject = directives[other].subject.clone(),
        4 => directives[at].subject.stage = random.below(3),
        5 => directives[at].verb = directives[other].verb.clone(),
        6 => elsewhere(&mut directives[at].verb, random),
        7 => directives[at].verb = mark(&directives[other].verb, random).unwrap_or_else(|| directives[at].verb.clone()),
        _ => renumber(&mut directives[at].verb, random.pick(numbers)),
    }
}

/// Names another stage of a place.
fn elsewhere(verb: &mut Verb, random: &mut Random) {
    match verb {
        Verb::ComputeAt(site) | Verb::StoreAt(site) | Verb::HoistStorage(site) | Verb::ComputeWith { site, .. } => {
            site.stage = random.below(4);
        }
        _ => {}
    }
}

/// A directive of a loop that another one speaks of.
fn mark(other: &Verb, random: &mut Random) -> Option<Verb> {
    let var = match other {
        Verb::Split { outer, inner, .. } => if random.one_in(2) { outer } else { inner }.clone(),
        Verb::Fuse { fused, .. } => fused.clone(),
        Verb::Mark { var, .. } | Verb::Partition { var, .. } => var.clone(),
        Verb::Reorder(vars) if !vars.is_empty() => vars[random.below(vars.len())].clone(),
        Verb::ComputeAt(site) | Verb::StoreAt(site) | Verb::ComputeWith { site, .. } => site.var.clone(),
        _ => return None,
    };
    let kinds = [LoopKind::Parallel, LoopKind::Vectorized, LoopKind::Unrolled, LoopKind::Serial, LoopKind::GpuThreads];
    let ways = [Partition::Never, Partition::Always, Partition::Auto];
    Some(match random.one_in(3) {
        true => Verb::Partition { var, how: random.pick(&ways) },
        false => Verb::Mark { kind: random.pick(&kinds), var, factor: None, tail: Tail::Auto },
    })
}

fn renumber(verb: &mut Verb, number: i64) {
    match verb {
        Verb::Split { factor, .. } | Verb::Mark { factor: Some(factor), .. } => *factor = Amount::Const(number),
        Verb::Bound { extent, .. } | Verb::BoundExtent { extent, .. } => *extent = Amount::Const(number),
        Verb::AlignBounds { modulus, .. } | Verb::AlignExtent { modulus, .. } => *modulus = number,
        Verb::AlignStorage { multiple, .. } => *multiple = number,
        Verb::FoldStorage { factor, .. } | Verb::SplitStorage { factor, .. } => *factor = number,
        _ => {}
    }
}
