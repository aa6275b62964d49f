//! Regions of inputs and Funcs at the estimates.

use crate::dag::Box;
use crate::error::AutoError;
use crate::estimate::Complete;
use halide_core::buffer::{Dim, Region, Span};
use halide_core::ids::{FuncId, IdVec, ImageId};
use halide_sched::lower::LowerOptions;
use halide_sched::lower::regions::query::ShapeQuery;
use halide_sched::nest::{Item, NestQuery, Sizes, dense_dims, dims, output_dims};
use halide_sched::plan::Plan;
use std::collections::BTreeMap;

/// The first and the last coordinate of each dimension.
pub(crate) fn spans(region: &Region) -> Box {
    region.spans().iter().map(|s| (s.min, s.min.saturating_add(s.extent).saturating_sub(1))).collect()
}

/// The region that dimensions cover.
pub(crate) fn region_of(dims: &[Dim]) -> Region {
    Region::new(dims.iter().map(|d| Span { min: d.min, extent: d.extent }).collect::<Vec<Span>>())
}

/// The dimensions of inputs: as they are said, or as large as outputs need them.
pub(crate) fn image_dims(plan: &Plan, complete: &Complete) -> Result<IdVec<ImageId, Vec<Dim>>, AutoError> {
    let query = ShapeQuery::new(plan, &LowerOptions::default()).map_err(AutoError::Lower)?;
    let Complete { regions, images, params } = complete;
    let given = images.iter().map(|_| None).collect();
    let needs = query.needs(regions, &given, params).map_err(AutoError::Query)?;
    let said = images.iter().zip(needs.iter());
    Ok(said.map(|(said, n)| said.as_ref().map_or_else(|| dims(&n.region, &n.strides), dense_dims)).collect())
}

/// Returns true if code for a plan asks for more of the inputs than that for another one.
pub(crate) fn asks_for_more(plan: &Plan, other: &Plan, complete: &Complete) -> bool {
    let (Some(needs), Some(others)) = (needs(plan, complete), needs(other, complete)) else { return false };
    let is_within = |(need, other): (&Box, &Box)| {
        need.iter().zip(other).all(|(need, other)| need.0 >= other.0 && need.1 <= other.1)
    };
    !needs.iter().zip(&others).all(is_within)
}

/// The regions of inputs that code for a plan asks for.
fn needs(plan: &Plan, complete: &Complete) -> Option<Vec<Box>> {
    let query = ShapeQuery::new(plan, &LowerOptions::default()).ok()?;
    let given = complete.images.iter().map(|_| None).collect();
    let needs = query.needs(&complete.regions, &given, &complete.params).ok()?;
    Some(needs.iter().map(|need| spans(&need.region)).collect())
}

/// The extents of Funcs as the compiler stores them, each outside of all loops: what is taken where data decide about
/// coordinates.
pub(crate) fn assumed_regions(
    plan: &Plan,
    complete: &Complete,
    images: &IdVec<ImageId, Vec<Dim>>,
) -> Result<BTreeMap<FuncId, Box>, AutoError> {
    let query = NestQuery::new(plan, &LowerOptions::default()).map_err(AutoError::Lower)?;
    let outputs = output_dims(&plan.pipeline, &complete.regions);
    let nest = query.at(&Sizes { images, outputs: &outputs, params: &complete.params });
    let mut found = BTreeMap::new();
    nest.for_each(&mut |item| {
        if let Item::Store(s) = item {
            found.insert(s.func, s.extents.iter().map(|e| (0, e - 1)).collect());
        }
    });
    for (func, region) in plan.pipeline.outputs.iter().zip(&complete.regions) {
        found.insert(*func, spans(region));
    }
    Ok(found)
}
