//! The values that depend on what gradients are asked for.

use super::derivative::operands;
use crate::ids::{ExprId, FuncId, ImageId, ParamId};
use crate::pipeline::{Kind, PipelineData};
use crate::types::ScalarType;
use std::collections::{BTreeMap, BTreeSet};

/// A thing that the loss may have a gradient by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// An element of a Func.
    Func(FuncId, u8),
    /// An input image.
    Image(ImageId),
    /// A scalar parameter.
    Param(ParamId),
}

impl Target {
    /// The target that a node reads.
    pub(super) fn of(kind: &Kind) -> Option<Target> {
        match kind {
            Kind::Call { func, element, .. } => Some(Target::Func(*func, *element)),
            Kind::Image { image, .. } => Some(Target::Image(*image)),
            Kind::Param(param) => Some(Target::Param(*param)),
            _ => None,
        }
    }
}

/// The images, parameters and elements of Funcs that are asked for, or depend on those differentiably.
pub(super) struct Activity {
    active: BTreeSet<Target>,
}

impl Activity {
    /// Follows the values of every Func from `wanted`, producers first.
    pub(super) fn new(data: &PipelineData, wanted: impl IntoIterator<Item = Target>) -> Activity {
        let mut activity = Activity { active: wanted.into_iter().collect() };
        for &func in &data.order {
            // Elements of a tuple may depend on each other, and on what later updates store.
            while activity.grow(data, func) {}
        }
        activity
    }

    fn grow(&mut self, data: &PipelineData, func: FuncId) -> bool {
        let mut grown = false;
        for stage in &data.funcs[func].stages {
            let active = self.nodes(data, &stage.values);
            for (element, value) in stage.values.iter().enumerate() {
                grown |= active[value]
                    && data.exprs[*value].ty.is_float()
                    && self.active.insert(Target::Func(func, element as u8));
            }
        }
        grown
    }

    pub(super) fn contains(&self, target: Target) -> bool {
        self.active.contains(&target)
    }

    /// Returns for each node below `roots` whether its value depends on what is asked for: differentiably, or by the
    /// bits of a float.
    pub(super) fn nodes(&self, data: &PipelineData, roots: &[ExprId]) -> BTreeMap<ExprId, bool> {
        let mut active = BTreeMap::new();
        for e in data.reachable(roots) {
            let node = &data.exprs[e];
            let is_float = |e: ExprId| data.exprs[e].ty.is_float();
            let is_active = match (&node.kind, Target::of(&node.kind)) {
                (_, Some(target)) => node.ty.is_float() && self.contains(target),
                // Conditions are constant, and so are floats that become integers.
                _ if node.ty == ScalarType::Bool => false,
                (Kind::Cast(a) | Kind::SaturatingCast(a), _) if is_float(*a) && !is_float(e) => false,
                (kind, _) => operands(kind).iter().any(|o| active[o]),
            };
            active.insert(e, is_active);
        }
        active
    }
}
