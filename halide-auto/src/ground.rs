//! The ground that prices stand on: a pipeline after its rewrites, with the regions of its inputs and Funcs at the
//! estimates.

use crate::boxes::of_roots;
use crate::dag::{Box as Spans, Dag, Known};
use crate::error::AutoError;
use crate::estimate::Complete;
use crate::sizes::{assumed_regions, image_dims, needs, region_of, spans};
use halide_core::buffer::Region;
use halide_core::ids::{FuncId, IdVec, ImageId};
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_sched::lower::regions::query::Need;
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;
use std::collections::BTreeMap;

/// A pipeline with the regions of its inputs and Funcs.
pub(crate) struct Ground<'c> {
    pub(crate) pipeline: Pipeline,
    complete: &'c Complete,
    /// Regions and layouts that plain loops need of the inputs.
    pub(crate) needs: IdVec<ImageId, Need>,
    images: IdVec<ImageId, Region>,
    assumed: BTreeMap<FuncId, Spans>,
}

impl<'c> Ground<'c> {
    /// Finds the regions of a pipeline in which wrappers, copies and parts of reductions are Funcs.
    pub(crate) fn new(pipeline: Pipeline, target: &Target, complete: &'c Complete) -> Result<Ground<'c>, AutoError> {
        let plan = resolve(&pipeline, &Schedule::all_at_root(&pipeline), target).map_err(AutoError::Schedule)?;
        let needs = needs(&plan, complete)?;
        let dims = image_dims(&needs, complete);
        let assumed = assumed_regions(&plan, complete, &dims)?;
        let images = dims.iter().map(|dims| region_of(dims)).collect();
        Ok(Ground { pipeline, complete, needs, images, assumed })
    }

    /// The pipeline as numbers. `contracts` tells that products and sums of floats are one operation.
    pub(crate) fn dag(&self, contracts: bool) -> Dag<'_> {
        let known = Known { params: &self.complete.params, images: &self.images };
        let assumed = |func: FuncId| self.assumed.get(&func).cloned().unwrap_or_default();
        Dag::new(&self.pipeline, &known, &assumed, contracts)
    }

    /// The regions of all Funcs that are computed outside of all loops.
    pub(crate) fn roots(&self, dag: &Dag<'_>) -> BTreeMap<FuncId, Spans> {
        let outputs = self.pipeline.outputs.iter().zip(&self.complete.regions);
        let outputs: Vec<(FuncId, Spans)> = outputs.map(|(func, region)| (*func, spans(region))).collect();
        of_roots(dag, &outputs)
    }
}
