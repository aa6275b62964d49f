//! Questions that lowering and reports ask of a plan.

use crate::ir::{BufId, build};
use crate::plan::{FuncPlan, LoopPlan, Plan, StagePlan, StageVar, Transform, VarOrigin};
use halide_core::ids::{FuncId, Id, ImageId};

impl Plan {
    /// Whether `func` is an output of the pipeline.
    pub fn is_output(&self, func: FuncId) -> bool {
        self.pipeline.outputs.contains(&func)
    }

    /// The Funcs in the order in which they are realized: producers before consumers.
    pub fn order(&self) -> &[FuncId] {
        &self.pipeline.order
    }

    /// The constant number of values of `var`, a variable of (a variant of) definition `stage` of `func`, if it is one.
    pub fn const_extent(&self, func: FuncId, stage: &StagePlan, var: StageVar) -> Option<i64> {
        stage.const_extent(var, &|origin| match origin {
            VarOrigin::Pure { dim } => self.funcs[func].const_extent(dim),
            VarOrigin::Reduction { rdom, dim } => {
                super::affine::constant(&self.pipeline, self.pipeline.rdoms[rdom].dims[dim].extent)
            }
            VarOrigin::One => Some(1),
            VarOrigin::Derived => None,
        })
    }
}

impl FuncPlan {
    /// The promised extent of a dimension, if it is a constant.
    pub fn const_extent(&self, dim: usize) -> Option<i64> {
        self.bounds[dim].extent.as_ref().and_then(build::as_int)
    }
}

impl StagePlan {
    /// The loop called `name`, in the general case of the stage.
    pub fn find_loop(&self, name: &str) -> Option<&LoopPlan> {
        self.loop_position(name).map(|i| &self.loops[i])
    }

    /// The number of loops outside of the one called `name`, in the general case of the stage.
    pub fn loop_position(&self, name: &str) -> Option<usize> {
        self.loops.iter().position(|l| self.vars[l.var].name == name)
    }

    /// The name of a loop.
    pub fn loop_name(&self, l: &LoopPlan) -> &str {
        &self.vars[l.var].name
    }

    /// Every variant that has loops: specialisations in the order in which they are tested, then the general case.
    pub fn with_loops(&self) -> Vec<&StagePlan> {
        let mut list: Vec<&StagePlan> = self.variants.iter().flat_map(|(_, p)| p.with_loops()).collect();
        if self.fail.is_none() {
            list.push(self);
        }
        list
    }

    /// The constant number of values of `var`, if it is one; `root` gives those of the definition's own variables.
    pub(super) fn const_extent(&self, var: StageVar, root: &dyn Fn(VarOrigin) -> Option<i64>) -> Option<i64> {
        const_extent(&self.transforms, var, &|v| root(self.vars[v].origin))
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
        Transform::Fuse { inner, outer, fused } if *fused == var => {
            Some(of(*inner).zip(of(*outer)).and_then(|(a, b)| a.checked_mul(b)))
        }
        _ => None,
    });
    made.unwrap_or_else(|| root(var))
}

fn chunks(extent: Option<i64>, factor: &crate::ir::Expr) -> Option<i64> {
    let (extent, factor) = (extent?, build::as_int(factor).filter(|f| *f > 0)?);
    Some(extent.div_euclid(factor) + i64::from(extent.rem_euclid(factor) > 0))
}

/// The buffer of an input image in conditions of a plan: lowering numbers buffers in this order, input images first,
/// then every tuple element of every output.
pub fn image_buffer(image: ImageId) -> BufId {
    BufId::new(image.index())
}

impl Plan {
    /// The buffer of tuple element 0 of an output in conditions of a plan; see [`image_buffer`].
    pub fn output_buffer(&self, func: FuncId) -> Option<BufId> {
        output_buffer(&self.pipeline, func)
    }
}

pub(super) fn output_buffer(pipeline: &halide_core::pipeline::Pipeline, func: FuncId) -> Option<BufId> {
    let position = pipeline.outputs.iter().position(|&f| f == func)?;
    // An output that is listed twice has its buffers once.
    let mut before: Vec<FuncId> = pipeline.outputs[..position].to_vec();
    before.sort_unstable();
    before.dedup();
    let elements: usize = before.iter().map(|&f| pipeline.funcs[f].types.len()).sum();
    Some(BufId::new(pipeline.images.len() + elements))
}
