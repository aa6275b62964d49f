//! Regions of inputs and Funcs at the estimates.

use crate::dag::Box;
use crate::error::AutoError;
use crate::estimate::Complete;
use halide_core::buffer::{Dim, Region, Span};
use halide_core::ids::{FuncId, IdVec, ImageId};
use halide_sched::lower::LowerOptions;
use halide_sched::lower::regions::query::{Need, ShapeQuery};
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

/// Regions and layouts that code for a plan needs of the inputs.
pub(crate) fn needs(plan: &Plan, complete: &Complete) -> Result<IdVec<ImageId, Need>, AutoError> {
    let query = ShapeQuery::new(plan, &LowerOptions::default()).map_err(AutoError::Lower)?;
    let Complete { regions, images, params } = complete;
    let given = images.iter().map(|_| None).collect();
    query.needs(regions, &given, params).map_err(AutoError::Query)
}

/// The dimensions of inputs: as they are said, or as large as outputs need them.
pub(crate) fn image_dims(needs: &IdVec<ImageId, Need>, complete: &Complete) -> IdVec<ImageId, Vec<Dim>> {
    let said = complete.images.iter().zip(needs.iter());
    said.map(|(said, n)| said.as_ref().map_or_else(|| dims(&n.region, &n.strides), dense_dims)).collect()
}

/// Returns true if one asks for more of some input than the other.
pub(crate) fn asks_for_more(needs: &IdVec<ImageId, Need>, others: &IdVec<ImageId, Need>) -> bool {
    let is_within = |(need, other): (&Need, &Need)| {
        let spans = |need: &Need| spans(&need.region);
        spans(need).iter().zip(&spans(other)).all(|(need, other)| need.0 >= other.0 && need.1 <= other.1)
    };
    !needs.iter().zip(others.iter()).all(is_within)
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
