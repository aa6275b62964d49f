//! The reference interpreter: the definition of what a pipeline computes.
//!
//! It evaluates points on demand and remembers them. There is no lowering, no bounds inference and no schedule: a point
//! is computed when an output or another point needs it, and nothing else is. `select` evaluates the arm chosen; where
//! a reduction domain's predicate is false neither coordinates nor values are evaluated. Within a coordinate, integers
//! are exact (see [`crate::pipeline::Kind`]), and one outside i32 is an error. The condition of a `select` there is
//! data, but wherever a comparison of index expressions stands, its operands are exact too.
//!
//! ```
//! use halide_core::buffer::{Buffer, Region};
//! use halide_core::interp::{Inputs, run};
//! use halide_core::{Func, ImageParam, Pipeline, types::U8, vars};
//! let input = ImageParam::new("input", U8, 1);
//! let x = vars!(x);
//! let mut edges = Func::new("edges");
//! edges[x] = input[x + 1] - input[x];
//! let pipeline = Pipeline::new([&edges])?;
//! let inputs = Inputs::new().image("input", Buffer::from_slice([4], &[7u8, 9, 9, 2])?);
//! let out = run(&pipeline, &inputs, &[Region::of_extents([3])])?;
//! assert_eq!(out[0].typed::<u8>()?.to_vec(), [2, 0, 249]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod bound;
mod broken_promise;
mod broken_rule;
pub(crate) mod error;
mod inputs;
mod lanes;
mod mask;
mod op;
mod options;
mod outputs;
mod program;
mod promises;
mod read;
mod realize;
mod settled;
mod shapes;
mod store;
#[cfg(test)]
mod tests;
mod world;

pub use bound::{Bound, PartlyBound};
pub use broken_promise::BrokenPromise;
pub use broken_rule::BrokenRule;
pub use error::RunError;
pub use inputs::Inputs;
pub use options::{Options, PrintSink};
pub use shapes::Given;

use crate::buffer::{AnyBuffer, Dim, Region};
use crate::externs::ExternFault;
use crate::ids::FuncId;
use crate::limits::{Held, Limits, bytes_of};
use crate::pipeline::PipelineData;
use crate::tuning::DEMANDED_POINTS;
use crate::types::ScalarType;
use crate::value::Scalar;
use realize::{Realizer, Surroundings};
use std::collections::BTreeMap;
use store::Points;

/// Runs a pipeline: one region per output Func gives one buffer per tuple element of each, in order. What it prints is
/// dropped.
///
/// # Errors
/// Inputs as for [`Inputs::bind`], regions that are not the outputs', and a computation that fails: see [`RunError`].
pub fn run(pipeline: &PipelineData, inputs: &Inputs, regions: &[Region]) -> Result<Vec<AnyBuffer>, RunError> {
    run_with(pipeline, inputs, regions, &Options::default())
}

/// Runs a pipeline like [`run`], with options.
///
/// # Errors
/// As of [`run`]; and a run that meets its cap on memory or is ended early.
pub fn run_with(
    pipeline: &PipelineData,
    inputs: &Inputs,
    regions: &[Region],
    options: &Options<'_>,
) -> Result<Vec<AnyBuffer>, RunError> {
    let unlimited = Limits::default();
    let limits = options.limits.unwrap_or(&unlimited);
    let bound = inputs.bind(pipeline)?;
    if let Some(callee) = pipeline.callees.first() {
        return Err(callee.stage.fault(ExternFault::Alone));
    }
    if regions.len() != pipeline.outputs.len() {
        return Err(RunError::OutputCount { expected: pipeline.outputs.len(), found: regions.len() });
    }
    let mut before = BTreeMap::new();
    let mut rest = options.before.unwrap_or(&[]);
    for func in &pipeline.outputs {
        if let Some((own, others)) = rest.split_at_checked(pipeline.funcs[*func].types.len()) {
            before.insert(*func, own);
            rest = others;
        }
    }
    let outputs = pipeline.outputs.iter().zip(regions);
    let allocated = outputs.clone().map(|(func, region)| allocate(pipeline, &bound, *func, region, limits));
    let (mut buffers, _held): (Vec<_>, Vec<_>) = allocated.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    bound.check_outputs(pipeline, buffers.iter().flatten().map(Given::from))?;
    let surroundings = Surroundings { bound: &bound, print: options.print, before, limits };
    let mut realizer = Realizer::new(pipeline, surroundings)?;
    for ((func, region), buffers) in outputs.zip(&mut buffers) {
        fill(pipeline, &mut realizer, *func, region, buffers)?;
    }
    Ok(buffers.into_iter().flatten().collect())
}

/// Buffers for one output Func over `region`, laid out as its rules for strides say.
///
/// # Errors
/// A region of another number of dimensions, one that no buffer can have, or more memory than the run may have.
pub fn allocate<'l>(
    pipeline: &PipelineData,
    bound: &Bound,
    func: FuncId,
    region: &Region,
    limits: &'l Limits,
) -> Result<(Vec<AnyBuffer>, Held<'l>), RunError> {
    let def = &pipeline.funcs[func];
    let failed = |error| RunError::Output { func: def.name.clone(), error };
    if region.dims() != def.dims() {
        let (func, expected, found) = (def.name.clone(), def.dims(), region.dims());
        return Err(RunError::OutputDims { func, expected, found });
    }
    region.check().map_err(failed)?;
    let strides = bound.strides(pipeline, func, region);
    let bytes = def.types.iter().fold(0, |all: u64, ty| all.saturating_add(strided_bytes(*ty, region, &strides)));
    let over = |over| RunError::OverCap { func: def.name.clone(), over };
    let held = limits.hold(bytes).map_err(over)?;
    let make = |ty: &ScalarType| AnyBuffer::with_strides(*ty, region, &strides).map_err(failed);
    Ok((def.types.iter().map(make).collect::<Result<_, _>>()?, held))
}

fn strided_bytes(ty: ScalarType, region: &Region, strides: &[i64]) -> u64 {
    let both = region.spans().iter().zip(strides);
    bytes_of(ty, both.map(|(span, &stride)| Dim { min: span.min, extent: span.extent, stride }))
}

/// Computes one output and copies it into its buffers, a part at a time.
fn fill(
    pipeline: &PipelineData,
    realizer: &mut Realizer,
    func: FuncId,
    region: &Region,
    buffers: &mut [AnyBuffer],
) -> Result<(), RunError> {
    let def = &pipeline.funcs[func];
    let failed = |error| RunError::Output { func: def.name.clone(), error };
    let mut views = buffers.iter_mut().map(|b| b.view_mut()).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut coords = region.coords().peekable();
    while coords.peek().is_some() {
        let mut points = Points::new(def.dims());
        for at in coords.by_ref().take(DEMANDED_POINTS) {
            points.push(&at);
        }
        realizer.realize(func, points.clone())?;
        for i in 0..points.len() {
            let at = points.get(i);
            for (element, view) in views.iter_mut().enumerate() {
                let bits = realizer.value(func, element, at);
                view.set(at, Scalar::from_bits(def.types[element], bits)).map_err(failed)?;
            }
        }
    }
    Ok(())
}
