//! The pipeline of gradients: the walk, and the tables that are left of it.

use super::activity::Activity;
use super::builder::Builder;
use super::error::{AdjointError, AdjointErrorKind, AdjointErrors};
use super::request::{FuncRegion, Request};
use super::walk::Walk;
use crate::compact::compact;
use crate::ids::FuncId;
use crate::location::Location;
use crate::pipeline::{Kind, Pipeline, PipelineData};
use crate::shape::rules::BufferOf;
use std::collections::{BTreeMap, BTreeSet};

/// The pipeline of the derivatives of `loss` by the inputs `by`.
pub(super) fn adjoints(
    pipeline: &Pipeline,
    loss: &str,
    by: &[&str],
    regions: &[FuncRegion<'_>],
    at: Location,
) -> Result<Pipeline, AdjointErrors> {
    let request = Request::new(pipeline, loss, by, regions, at)?;
    let activity = Activity::new(pipeline, request.by.iter().copied());
    let builder = Builder::new(PipelineData::clone(pipeline));
    let (contributions, errors) = (BTreeMap::new(), BTreeSet::new());
    let mut walk = Walk { b: builder, activity, request, contributions, errors };
    for &func in pipeline.order.iter().rev() {
        walk.differentiate(func);
    }
    let outputs: Vec<FuncId> = walk.request.by.clone().into_iter().filter_map(|input| walk.output(input, at)).collect();
    if walk.errors.is_empty() {
        finish(walk.b.data, outputs)
    } else {
        Err(AdjointErrors(walk.errors.into_iter().collect()))
    }
}

/// The tables with other outputs, without what these do not need.
fn finish(mut data: PipelineData, outputs: Vec<FuncId>) -> Result<Pipeline, AdjointErrors> {
    let is_image = |of: BufferOf| matches!(of, BufferOf::Image(_));
    data.shapes.retain(|rule| is_image(rule.of));
    data.alignments.retain(|rule| is_image(rule.of));
    data.estimates.retain(|estimate| is_image(estimate.of));
    data.outputs = outputs;
    let compacted = compact(&data, None);
    let mut errors = BTreeSet::new();
    for stage in &data.externs {
        let results = stage.images.iter().flatten().map(|&image| &data.images[image].name);
        if results.clone().any(|name| compacted.images.iter().any(|image| image.name == *name)) {
            let kind = AdjointErrorKind::Extern { stage: stage.name.clone() };
            errors.insert(AdjointError { at: stage.at, kind });
        }
    }
    for def in compacted.funcs.iter() {
        let first = &def.stages[0];
        let nodes = compacted.reachable(&first.values);
        if nodes.iter().any(|&e| matches!(compacted.exprs[e].kind, Kind::Before { .. })) {
            errors.insert(AdjointError { at: first.at, kind: AdjointErrorKind::Undef { func: def.name.clone() } });
        }
    }
    if errors.is_empty() {
        Ok(Pipeline::from_data(compacted))
    } else {
        Err(AdjointErrors(errors.into_iter().collect()))
    }
}
