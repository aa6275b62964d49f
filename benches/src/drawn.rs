//! Random pipelines at sizes that users have: what nobody wrote, and nobody tuned.

use halide::prelude::*;
use halide::value::Scalar;
use halide_testing::pipelines::{PipelineOptions, Random, random_pipeline};

/// The fewest Funcs of a pipeline that is drawn: fewer leave little to choose.
const FEWEST: usize = 4;

/// A random pipeline with its inputs, and the regions of its outputs.
pub struct Drawn {
    /// Its algorithm.
    pub pipeline: Pipeline,
    /// The regions of its outputs.
    pub regions: Vec<Region>,
    inputs: Vec<(String, AnyBuffer)>,
}

impl Drawn {
    /// The pipeline of a seed, if it has enough Funcs. It has no inputs yet.
    pub fn new(seed: u64) -> Option<Drawn> {
        let pipeline: Pipeline = random_pipeline(seed, PipelineOptions::default()).into();
        let regions = pipeline.outputs.iter().map(|f| Region::of_extents(extents(pipeline.funcs[*f].dims()))).collect();
        (pipeline.funcs.len() >= FEWEST).then_some(Drawn { pipeline, regions, inputs: Vec::new() })
    }

    /// Returns the sizes that a schedule is chosen for.
    pub fn estimates(&self) -> Estimates {
        let params = self.params().into_iter();
        let sizes = params.fold(Estimates::new(), |all, (name, value)| all.param(&name, value));
        self.pipeline.outputs.iter().fold(sizes, |all, f| {
            let func = &self.pipeline.funcs[*f];
            all.output(&func.name, extents(func.dims()))
        })
    }

    /// Parameters have small values, in their ranges.
    fn params(&self) -> Vec<(String, Scalar)> {
        let value = |ty: ScalarType, low: Option<Scalar>, high: Option<Scalar>| {
            let (low, high) = (low.map_or(f64::MIN, |v| v.as_f64()), high.map_or(f64::MAX, |v| v.as_f64()));
            let value = 2f64.max(low).min(high);
            match ty {
                Bool => Scalar::int(ty, 1),
                ty if ty.is_float() => Scalar::float(ty, value),
                ty => Scalar::int(ty, value as i128),
            }
        };
        self.pipeline.params.iter().map(|p| (p.name.clone(), value(p.ty, p.min, p.max))).collect()
    }

    fn call<'c>(&self, compiled: &'c Compiled) -> Call<'c> {
        let call = compiled.inputs().ignore_unused();
        self.params().into_iter().fold(call, |call, (name, value)| call.param_named(&name, value))
    }

    /// Fills inputs with random values: all that the main variants of some compiled pipelines read.
    ///
    /// # Errors
    /// Regions that are too large.
    pub fn fill<'c>(&mut self, all: impl Iterator<Item = &'c Compiled>) -> Result<(), Error> {
        let mut needs: Vec<(String, ScalarType, Region)> = Vec::new();
        for compiled in all {
            for need in self.call(compiled).infer_input_bounds(&self.regions)? {
                match needs.iter_mut().find(|known| known.0 == need.name) {
                    Some(known) => known.2 = known.2.around(&need.roomy),
                    None => needs.push((need.name, need.ty, need.roomy)),
                }
            }
        }
        let filled = |(seed, (name, ty, region))| Ok((name, random(ty, &region, seed)?));
        self.inputs = (1..).zip(needs).map(filled).collect::<Result<_, Error>>()?;
        Ok(())
    }

    /// Buffers for the outputs.
    ///
    /// # Errors
    /// Regions that are too large.
    pub fn outputs(&self) -> Result<Vec<AnyBuffer>, Error> {
        let mut all = Vec::new();
        for (func, region) in self.pipeline.outputs.iter().zip(&self.regions) {
            for ty in &self.pipeline.funcs[*func].types {
                all.push(AnyBuffer::with_region(*ty, region)?);
            }
        }
        Ok(all)
    }

    /// Runs once.
    ///
    /// # Errors
    /// Of the run.
    pub fn run(&self, compiled: &Compiled, threads: usize, outputs: &mut [AnyBuffer]) -> Result<(), Error> {
        let call = self.call(compiled).threads(threads);
        let call = self.inputs.iter().fold(call, |call, (name, buffer)| call.image_named(name, buffer.clone()));
        let mut views = outputs.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        call.realize_all_into(&mut views).map(drop)
    }
}

/// About a million points.
fn extents(dims: usize) -> Vec<i64> {
    match dims {
        0 => vec![],
        1 => vec![1 << 20],
        2 => vec![1280, 800],
        _ => [640, 500, 3].into_iter().chain(std::iter::repeat_n(1, dims - 3)).collect(),
    }
}

/// Small random integers, and floats from 0 to 1.
fn random(ty: ScalarType, region: &Region, seed: u64) -> Result<AnyBuffer, Error> {
    let mut buffer = AnyBuffer::with_region(ty, region)?;
    let mut random = Random::new(seed);
    let mut view = buffer.view_mut()?;
    for at in region.coords() {
        let value = match ty {
            Bool => Scalar::int(ty, random.below(2) as i128),
            ty if ty.is_float() => Scalar::float(ty, random.below(1 << 16) as f64 / 65536.0),
            ty => Scalar::int(ty, random.below(100) as i128),
        };
        view.set(&at, value)?;
    }
    drop(view);
    Ok(buffer)
}
