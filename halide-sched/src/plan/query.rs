//! Questions that lowering and reports ask of a plan.

use crate::plan::types::{LoopLabel, LoopPlan, Plan, StagePlan, StageVar, StoragePart, Transform};
use halide_core::ids::{FuncId, Id, ImageId};
use halide_ir::{BufId, build};
use std::collections::BTreeSet;

impl Plan {
    /// Returns true if `func` is an output of the pipeline.
    pub fn is_output(&self, func: FuncId) -> bool {
        self.pipeline.outputs.contains(&func)
    }

    /// The Funcs in the order in which they are realized: producers before consumers.
    pub fn order(&self) -> &[FuncId] {
        &self.pipeline.order
    }

    /// Returns true if the storage of `func` is split along dimension `dim`.
    pub fn is_split(&self, func: FuncId, dim: usize) -> bool {
        self.funcs[func].storage.iter().any(|s| s.dim == dim && s.part != StoragePart::Whole)
    }
}

impl Plan {
    /// The Funcs for which the schedule allows races.
    pub fn racing(&self) -> BTreeSet<FuncId> {
        let races = |stage: &StagePlan| stage.with_loops().iter().any(|s| s.options.races_allowed);
        self.funcs.enumerate().filter(|(_, f)| f.stages.iter().any(races)).map(|(id, _)| id).collect()
    }
}

impl StagePlan {
    /// The name of a loop.
    pub fn loop_name(&self, l: &LoopPlan) -> &str {
        &self.vars[l.var].name
    }

    /// The label of a loop.
    pub fn label(&self, l: &LoopPlan) -> LoopLabel {
        self.labels[l.var]
    }

    /// Every variant that has loops: specialisations in the order in which they are tested, then the general case.
    pub fn with_loops(&self) -> Vec<&StagePlan> {
        let mut list: Vec<&StagePlan> = self.variants.iter().flat_map(|(_, p)| p.with_loops()).collect();
        if self.fail.is_none() {
            list.push(self);
        }
        list
    }
}

/// The constant number of values of `var`, if it is one; `root` gives those of variables that no transform made.
pub(super) fn const_extent(
    transforms: &[Transform],
    var: StageVar,
    root: &dyn Fn(StageVar) -> Option<i64>,
) -> Option<i64> {
    let of = |v: StageVar| const_extent(transforms, v, root);
    let made = transforms.iter().find_map(|t| match t {
        Transform::Split { inner, factor, .. } if *inner == var => Some(build::as_int(factor)),
        Transform::Split { var: parent, outer, factor, .. } if *outer == var => Some(chunks(of(*parent), factor)),
        Transform::Balance { outer, count, .. } if *outer == var => Some(build::as_int(count)),
        Transform::Balance { var: parent, inner, count, .. } if *inner == var => Some(chunks(of(*parent), count)),
        Transform::Skew { var: old, by, along, skewed } if *skewed == var => {
            let more = |n: i64| (n - 1).max(0).checked_mul(by.saturating_abs());
            Some(of(*old).zip(of(*along).and_then(more)).and_then(|(a, b)| a.checked_add(b)))
        }
        Transform::Fuse { inner, outer, fused } if *fused == var => {
            Some(of(*inner).zip(of(*outer)).and_then(|(a, b)| a.checked_mul(b)))
        }
        _ => None,
    });
    made.unwrap_or_else(|| root(var))
}

fn chunks(extent: Option<i64>, factor: &halide_ir::Expr) -> Option<i64> {
    let (extent, factor) = (extent?, build::as_int(factor).filter(|f| *f > 0)?);
    Some(extent.div_euclid(factor) + i64::from(extent.rem_euclid(factor) > 0))
}

/// The buffer of an input image in conditions of a plan: lowering numbers buffers in this order, input images first,
/// then every tuple element of every output.
pub fn image_buffer(image: ImageId) -> BufId {
    BufId::new(image.index())
}

/// The buffer of tuple element 0 of an output in conditions of a plan; see [`image_buffer`].
pub(super) fn output_buffer(pipeline: &halide_core::pipeline::Pipeline, func: FuncId) -> Option<BufId> {
    let position = pipeline.outputs.iter().position(|&f| f == func)?;
    // An output that is listed twice has its buffers once.
    let mut before: Vec<FuncId> = pipeline.outputs[..position].to_vec();
    before.sort_unstable();
    before.dedup();
    let elements: usize = before.iter().map(|&f| pipeline.funcs[f].types.len()).sum();
    Some(BufId::new(pipeline.images.len() + elements))
}
