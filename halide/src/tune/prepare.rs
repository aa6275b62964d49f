//! Preparations: inputs that are missing, and the check of the pick by an independent schedule.

use super::bench::Bench;
use super::inputs::random;
use super::reference::Reference;
use crate::compiled::Compiled;
use crate::error::Error;
use crate::pipeline::Pipeline;
use halide_core::buffer::{Region, Span};
use halide_core::interp::Inputs;
use halide_ir::target::Target;
use halide_sched::schedule::Schedule;
use std::time::Duration;

/// The extents of the parts of outputs that are checked where the whole would take too long.
const PART: i64 = 16;

/// The result of the check of the pick.
pub(super) enum Checked {
    /// All of the outputs agree.
    Whole,
    /// Only a part was checked, or nothing: a remark about it.
    Note(String),
    /// The first difference.
    Differs(String),
}

/// Inputs with random values for those that are missing: over the regions that are `said`, or with which the main
/// variant of the code runs.
pub(super) fn bound(
    compiled: &Compiled,
    given: Inputs,
    said: &[(String, Region)],
    (regions, seed): (&[Region], u64),
) -> Result<Inputs, Error> {
    let missing: Vec<String> = compiled.pipeline().images.iter().map(|image| image.name.clone()).collect();
    let missing: Vec<String> = missing.into_iter().filter(|name| given.get(name).is_none()).collect();
    if missing.is_empty() {
        return Ok(given);
    }
    let needs = compiled.inputs().with_given(&given).infer_input_bounds(regions)?;
    let mut all = given;
    for (need, seed) in needs.iter().filter(|need| missing.contains(&need.name)).zip(seed..) {
        let region = said.iter().find(|(name, _)| *name == need.name).map_or(&need.roomy, |(_, region)| region);
        all = all.image(&need.name, random(need, region, seed)?);
    }
    Ok(all)
}

/// Computes the outputs with every Func at the root, or parts of them if that takes too long or too much memory, and
/// compares.
pub(super) fn independent(
    pipeline: &Pipeline,
    target: &Target,
    (bench, reference): (&mut Bench, &mut Reference),
    (regions, patience): (&[Region], Duration),
) -> Result<Checked, Error> {
    let root = Schedule::all_at_root(pipeline);
    let unchecked = |error: Error| Checked::Note(format!("the output of the pick was not checked: {error}"));
    let compiled = match pipeline.compile(&root, target) {
        Ok(compiled) => compiled,
        Err(error) => return Ok(unchecked(error)),
    };
    match bench.first(&compiled, patience) {
        Ok(()) => return Ok(reference.difference(bench.outputs(), false)?.map_or(Checked::Whole, Checked::Differs)),
        Err(Error::GaveUp { .. } | Error::Memory { .. }) => {}
        Err(error) => return Ok(unchecked(error)),
    }
    for at in 0..=2 {
        let parts: Vec<Region> = regions.iter().map(|region| part(region, at)).collect();
        match bench.parts(&compiled, &parts, patience) {
            Ok(found) => {
                if let Some(at) = reference.difference_of_parts(&found) {
                    return Ok(Checked::Differs(at));
                }
            }
            Err(error) => return Ok(unchecked(error)),
        }
    }
    Ok(Checked::Note("of the output of the pick, two corners and the middle were checked".to_string()))
}

/// A part at the beginning, in the middle or at the end.
fn part(region: &Region, at: i64) -> Region {
    let span = |span: &Span| {
        let extent = span.extent.min(PART);
        Span { min: span.min + (span.extent - extent) * at / 2, extent }
    };
    region.spans().iter().map(span).collect()
}
