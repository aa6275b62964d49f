//! One run that can be checked: a pipeline, a schedule, output regions, and where the values of inputs come from.

use halide::buffer::Span;
use halide::prelude::*;
use halide::schedule::{Amount, Directive, Verb};
use halide_core::arbitrary::{PipelineOptions, Random, random_pipeline};
use halide_core::pipeline::ParamDef;
use halide_sched::auto::random::{RandomOptions, random_gpu_schedule, random_schedule};
use halide_sched::target::{Arch, Gpu};
use std::fmt;

/// The machine that schedules are drawn for: fixed, so that a seed means the same case everywhere.
pub const TARGET: Target = Target { arch: Arch::X86_64, vector_bits: 128, threads: 2, cache_bytes: 1 << 20, gpu: None };

/// The most points of one output.
const MOST_POINTS: i64 = 1500;

/// What is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// The algorithm.
    pub pipeline: Pipeline,
    /// How it is computed.
    pub schedule: Schedule,
    /// The machine that the schedule is for.
    pub target: Target,
    /// One region per output Func.
    pub regions: Vec<Region>,
    /// What the values of images and parameters belong to.
    pub seed: u64,
    /// Whether images are as large as rounded-up loops read, or no larger than the algorithm reads.
    pub roomy: bool,
}

impl Case {
    /// The case that belongs to `seed`: a legal schedule, and extents from 1 to three times one of its factors.
    pub fn random(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let options = PipelineOptions { stages: 1 + random.below(6).min(random.below(6)), exact: random.one_in(2) };
        let pipeline = random_pipeline(random.bits(), options);
        // A schedule that promises something about shapes is refused by most of them.
        let options = RandomOptions { any_shape: random.one_in(6), long: random.one_in(3) };
        let schedule = random_schedule(&pipeline, &TARGET, random.bits(), options);
        Case::with(pipeline, schedule, TARGET, random)
    }

    /// The case that belongs to `seed`, with kernels for a graphics processor.
    pub fn random_gpu(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let options = PipelineOptions { stages: 1 + random.below(5).min(random.below(6)), exact: random.one_in(2) };
        let pipeline = random_pipeline(random.bits(), options);
        let target = Target { gpu: Some(Gpu { subgroup: Some(8), ..Gpu::LEAST }), ..TARGET };
        let options = RandomOptions { any_shape: random.one_in(6), long: random.one_in(4) };
        let schedule = random_gpu_schedule(&pipeline, &target, random.bits(), options);
        Case::with(pipeline, schedule, target, random)
    }

    /// Draws the rest of a case.
    pub fn with(pipeline: Pipeline, schedule: Schedule, target: Target, mut random: Random) -> Case {
        let factors = factors(&schedule);
        let mut region = |dims| {
            let mut left = MOST_POINTS;
            let mut spans = Vec::new();
            for dim in 0..dims {
                let most = if dim < 2 { 3 * random.pick(&factors) } else { 5 };
                let extent = (1 + random.below(most as usize) as i64).min(left);
                left /= extent;
                spans.push(Span { min: random.between(-2, 3), extent });
            }
            Region::new(spans)
        };
        let regions = pipeline.outputs.iter().map(|&f| region(pipeline.funcs[f].dims())).collect();
        Case { pipeline, schedule, target, regions, seed: random.bits(), roomy: random.one_in(2) }
    }

    /// The value of a parameter: within its range, often at an edge.
    pub fn param(&self, def: &ParamDef) -> Scalar {
        let mut random = Random::new(self.seed ^ hash(&def.name));
        let edge = |bound: Option<Scalar>, other: f64| bound.map_or(other, |b| b.as_f64());
        if def.ty.is_float() {
            let (low, high) = (edge(def.min, -2.0), edge(def.max, 2.0));
            return Scalar::float(def.ty, low + (high - low) * random.below(5) as f64 / 4.0);
        }
        match (def.min, def.max) {
            (Some(low), Some(high)) => {
                let value = random.between(low.as_i64(), high.as_i64());
                Scalar::int(def.ty, i128::from(value))
            }
            _ => edge_value(def.ty, &mut random),
        }
    }

    /// An image with the values that belong to the seed, whatever its region.
    pub fn image(&self, name: &str, ty: ScalarType, region: &Region) -> Result<AnyBuffer, String> {
        let mut image = AnyBuffer::with_region(ty, region).map_err(|e| e.to_string())?;
        let start = self.seed ^ hash(name);
        for at in region.coords() {
            let key = at.iter().fold(start, |h, &c| Random::new(h ^ c as u32 as u64).bits());
            let value = edge_value(ty, &mut Random::new(key));
            image.set(&at, value).map_err(|e| e.to_string())?;
        }
        Ok(image)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions: Vec<String> = self.regions.iter().map(Region::to_string).collect();
        let Case { pipeline, schedule, seed, roomy, .. } = self;
        write!(f, "{pipeline}\n{schedule}\nregions {}, values of seed {seed}, roomy {roomy}", regions.join(" "))
    }
}

/// The factors that a schedule splits by, and 1.
fn factors(schedule: &Schedule) -> Vec<i64> {
    let amount = |d: &Directive| match &d.verb {
        Verb::Split { factor, .. } | Verb::Mark { factor: Some(factor), .. } => Some(match factor {
            Amount::Const(n) => *n,
            Amount::Natural | Amount::Param(_) => 16,
        }),
        _ => None,
    };
    let mut factors: Vec<i64> = schedule.directives().iter().filter_map(amount).map(|n| n.clamp(1, 24)).collect();
    factors.push(1);
    factors.push(4);
    factors
}

/// A value of `ty` among which small numbers, edges and any bits are all frequent; floats are finite.
pub fn edge_value(ty: ScalarType, random: &mut Random) -> Scalar {
    if ty.is_float() {
        return match random.below(8) {
            0 => Scalar::float(ty, random.pick(&[0.0, -0.0, 1.0, 1e4, -3e4, 1e-3])),
            _ => Scalar::float(ty, random.between(-(1 << 16), 1 << 16) as f64 / 2f64.powi(14)),
        };
    }
    match random.below(4) {
        0 => Scalar::from_bits(ty, random.bits()),
        1 => random.pick(&[Scalar::highest(ty), Scalar::lowest(ty), Scalar::int(ty, -1)]),
        _ => Scalar::int(ty, i128::from(random.between(-9, 20))),
    }
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}
