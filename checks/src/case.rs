//! One run that can be checked: a pipeline, a schedule, output regions, and where the values of inputs come from.

use crate::theme;
use halide::buffer::Span;
use halide::plan;
use halide::prelude::*;
use halide::schedule::{Amount, CompareOp, Condition, Directive, Term, Verb};
use halide_core::ids::{ExprId, ImageId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{DimField, ImageDef, Kind, ParamDef};
use halide_core::promise::{CoordinatePromise, ValuePromise};
use halide_ir::target::{Arch, Budget, Gpu};
use halide_testing::pipelines::{Random, random_pipeline};
use halide_testing::schedules::random::{RandomOptions, random_gpu_schedule, random_schedule};
use std::collections::BTreeSet;
use std::fmt;

/// The machine that schedules are drawn for: fixed, so that a seed means the same case everywhere.
pub const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 128,
    features: None,
    threads: 2,
    cache_bytes: 1 << 20,
    gpu: None,
    budget: Budget::DEFAULT,
};

/// The most points of one output.
const MOST_POINTS: i64 = 1500;

/// The most pipelines that are drawn for one case with kernels.
const GPU_DRAWS: usize = 12;

/// A test case: an algorithm, its schedule, and the numbers of a run.
#[derive(Clone, Debug)]
pub struct Case {
    /// The algorithm.
    pub pipeline: Pipeline,
    /// The schedule of the algorithm.
    pub schedule: Schedule,
    /// The machine that the schedule is for.
    pub target: Target,
    /// One region per output Func.
    pub regions: Vec<Region>,
    /// The seed of the values of images and parameters.
    pub seed: u64,
    /// True if images are as large as rounded-up loops read, false if they are no larger than the algorithm reads.
    pub roomy: bool,
    /// Coordinates may be anything, or have products that may. A run may then end because a region is too large
    /// or leaves 32 bits, or what it is made of leaves 64.
    pub far: bool,
}

impl Case {
    /// The case that belongs to `seed`: a legal schedule, and extents from 1 to three times one of its factors.
    pub fn random(seed: u64) -> Case {
        Case::of_seed(seed, None)
    }

    /// The case that belongs to `seed`, with the schedule that is given in place of the one that would be drawn.
    pub fn of_seed(seed: u64, schedule: Option<Schedule>) -> Case {
        let mut random = Random::new(seed);
        let (of_pipeline, options) = theme::of(seed, &mut random);
        let pipeline = random_pipeline(random.bits(), of_pipeline);
        let draw = |p: &halide_core::Pipeline, seed| random_schedule(p, &TARGET, seed, options);
        let schedule = schedule_or(schedule, &pipeline, &mut random, draw);
        let case = Case::with(pipeline.into(), schedule, TARGET, random);
        Case { far: case.far || of_pipeline.far, ..case }
    }

    /// The case that belongs to `seed`, with kernels for a GPU.
    pub fn random_gpu(seed: u64) -> Case {
        Case::gpu_of_seed(seed, None)
    }

    /// The GPU case that belongs to `seed`, with the schedule that is given in place of the one that would be drawn.
    pub fn gpu_of_seed(seed: u64, schedule: Option<Schedule>) -> Case {
        let mut random = Random::new(seed);
        let options = theme::of_gpu(seed, &mut random);
        // Many devices lack 64-bit data, and compare nothing of a pipeline that has some: one in four may.
        let any = random.one_in(4);
        let mut pipeline = random_pipeline(random.bits(), options);
        for _ in 0..GPU_DRAWS {
            if any || pipeline.exprs.iter().all(|node| node.ty.bits() < 64) {
                break;
            }
            pipeline = random_pipeline(random.bits(), options);
        }
        let target = Target { gpu: Some(Gpu { subgroup: Some(8), ..Gpu::LEAST }), ..TARGET };
        let any_shape = random.one_in(6);
        let options = RandomOptions { any_shape, long: random.one_in(4), ..RandomOptions::default() };
        let draw = |p: &halide_core::Pipeline, seed| random_gpu_schedule(p, &target, seed, options);
        let schedule = schedule_or(schedule, &pipeline, &mut random, draw);
        Case::with(pipeline.into(), schedule, target, random)
    }

    /// Returns the part that computes the outputs: results of extern stages are inputs like others.
    pub(crate) fn main_part(&self) -> Case {
        let plan::Part { pipeline, schedule } = plan::main_part(&self.pipeline, &self.schedule);
        Case { pipeline: pipeline.into(), schedule, ..self.clone() }
    }

    /// Returns true if some Func is memoized. What computes it is a pipeline of its own, of which nothing was found out
    /// before: its part of the schedule may be refused.
    pub(crate) fn memoizes(&self) -> bool {
        self.schedule.directives().iter().any(|directive| matches!(directive.verb, Verb::Memoize))
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
        let mut regions: Vec<Region> = regions;
        for (output, region) in pipeline.outputs.iter().zip(&mut regions) {
            let known = constants(&schedule, &pipeline.funcs[*output].name, region);
            // Half of the runs are those that a specialisation is for.
            if known != *region && random.one_in(2) {
                *region = known;
            }
        }
        let far = multiplies(&pipeline);
        Case { pipeline, schedule, target, regions, seed: random.bits(), roomy: random.one_in(2), far }
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

    /// Fills an image with the values that belong to the seed, whatever its region, and that are as promised; what
    /// `region_of` knows of other images, of which elements are coordinates.
    pub fn fill(
        &self,
        def: &ImageDef,
        image: &mut AnyBuffer,
        region_of: &dyn Fn(ImageId) -> Option<Region>,
    ) -> Result<(), String> {
        let span = |p: &CoordinatePromise| region_of(p.image).map(|region| region.spans()[p.dim]);
        let def = def.coordinates.iter().filter_map(span).fold(def.clone(), |def, Span { min, extent }| {
            let range = Some((min, min + extent - 1));
            ImageDef { values: def.values.and(ValuePromise { range, ..ValuePromise::default() }), ..def }
        });
        let start = self.seed ^ hash(&def.name);
        // Where elements become coordinates, most images hold small numbers only.
        let small = self.far && !Random::new(start).one_in(4);
        let mut view = image.view_mut().map_err(|e| e.to_string())?;
        for at in view.region().coords() {
            view.set(&at, value_at(&def, start, &at, small)).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions: Vec<String> = self.regions.iter().map(Region::to_string).collect();
        let Case { pipeline, schedule, seed, roomy, .. } = self;
        write!(f, "{pipeline}\n{schedule}\nregions {}, values of seed {seed}, roomy {roomy}", regions.join(" "))
    }
}

/// The schedule that is given, or else one that is drawn; `random` is left in the same state.
fn schedule_or(
    given: Option<Schedule>,
    pipeline: &halide_core::Pipeline,
    random: &mut Random,
    draw: impl Fn(&halide_core::Pipeline, u64) -> Schedule,
) -> Schedule {
    match given {
        Some(schedule) => {
            schedule_of_parts(pipeline, random, |_, _| Schedule::new());
            schedule
        }
        None => schedule_of_parts(pipeline, random, draw),
    }
}

/// A schedule for what computes the outputs, and where names allow, for what computes the inputs of extern stages.
fn schedule_of_parts(
    whole: &halide_core::Pipeline,
    random: &mut Random,
    draw: impl Fn(&halide_core::Pipeline, u64) -> Schedule,
) -> Schedule {
    let main = plan::main_part(whole, &Schedule::new()).pipeline;
    let schedule = draw(&main, random.bits());
    let mut directives = schedule.directives().to_vec();
    for stage in whole.externs.iter().filter(|stage| !stage.funcs().is_empty()) {
        let part = plan::part(whole, &Schedule::new(), &stage.funcs()).pipeline;
        let own = draw(&part, random.bits());
        let is_new = |d: &Directive| directives.iter().all(|other| other.subject.func != d.subject.func);
        let elsewhere = |d: &Directive| main.funcs.iter().all(|f| f.name != d.subject.func);
        if own.directives().iter().all(|d| is_new(d) && elsewhere(d)) {
            directives.extend(own.directives().iter().cloned());
        }
    }
    Schedule::from(directives)
}

/// The element at `at` of the image that belongs to `start`.
fn value_at(def: &ImageDef, start: u64, at: &[i32], small: bool) -> Scalar {
    let key = |skip: Option<usize>| {
        let coords = at.iter().enumerate().filter(|(d, _)| Some(*d) != skip);
        coords.fold(start, |h, (_, &c)| Random::new(h ^ c as u32 as u64).bits())
    };
    let mut random = Random::new(key(None));
    let ValuePromise { range, grows, distinct } = def.values;
    let end = |e: Option<i128>| e.map_or(0, |v| v.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
    let (least, most) = (end(def.ty.int_min()), end(def.ty.int_max()));
    // Where no number of the type is as promised, any will do: runs end.
    let (low, high) = range.map_or((least, most), |(a, b)| (a.max(least), b.min(most)));
    let high = high.max(low);
    if distinct {
        // Neighbours change places. Coordinates are from -8 to 31, as `scatters` draws them.
        let place = at.iter().rev().fold(0, |place, &c| place * 40 + i64::from(c) + 8);
        return Scalar::int(def.ty, (low.max(0) + (place ^ (start % 4) as i64)).into());
    }
    let value = match (grows, range) {
        (Some(dim), _) => {
            // Steps of `step` quarters, of which the last may be longer; each row has its own.
            let step = Random::new(key(Some(dim))).between(0, 9);
            let grown = (i64::from(at[dim]) * step + random.between(0, step)).div_euclid(4);
            low.max(-9).saturating_add(9 + grown).clamp(low, high)
        }
        (None, Some(_)) => random.between(low, high),
        (None, None) if small && def.ty.is_int() => random.between(0, 12) - if low < 0 { 4 } else { 0 },
        (None, None) => return edge_value(def.ty, &mut random),
    };
    Scalar::int(def.ty, value.into())
}

/// Returns whether coordinates, clamped or not, have products of two operands that are not constant, which may leave
/// 64 bits.
fn multiplies(pipeline: &Pipeline) -> bool {
    let arguments = pipeline.exprs.iter().flat_map(|node| match &node.kind {
        Kind::Call { args, .. } | Kind::Image { args, .. } => args.clone(),
        _ => Vec::new(),
    });
    let (mut todo, mut seen): (Vec<ExprId>, BTreeSet<ExprId>) = (arguments.collect(), BTreeSet::new());
    let known = |e: ExprId| matches!(pipeline.exprs[e].kind, Kind::Const(_));
    while let Some(e) = todo.pop() {
        if !seen.insert(e) {
            continue;
        }
        if let Kind::Binary(BinOp::Mul | BinOp::Shl, a, b) = pipeline.exprs[e].kind
            && !known(a)
            && !known(b)
        {
            return true;
        }
        todo.extend(pipeline.exprs[e].kind.children());
    }
    false
}

/// The region of an output with what conditions of specialisations say of it.
fn constants(schedule: &Schedule, output: &str, region: &Region) -> Region {
    let mut spans = region.spans().to_vec();
    let mut todo: Vec<&Condition> = Vec::new();
    for directive in schedule.directives().iter().filter(|d| d.subject.func == output) {
        if let Verb::Specialize(condition) = &directive.verb {
            todo.push(condition);
        }
    }
    while let Some(condition) = todo.pop() {
        match condition {
            Condition::And(a, b) => todo.extend([&**a, &**b]),
            Condition::Compare(CompareOp::Eq, Term::Dim(name, field, d), Term::Const(value)) if name == output => {
                match (spans.get_mut(*d), field) {
                    (Some(span), DimField::Min) => span.min = *value,
                    (Some(span), DimField::Extent) => span.extent = (*value).max(1),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    Region::new(spans)
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
