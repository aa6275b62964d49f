//! Extern stages of a frozen pipeline.

use super::call::{ExternCall, ExternFns, ExternNeeds, ExternResult};
use super::ends::{Boxes, RegionEnds};
use crate::ids::{FuncId, ImageId, ParamId};
use crate::location::Location;
use crate::types::ScalarType;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An extern stage of a frozen pipeline.
#[derive(Clone, Debug)]
pub struct ExternDef {
    /// Its name.
    pub name: String,
    /// One type per element of its values.
    pub types: Vec<ScalarType>,
    /// The number of dimensions.
    pub dims: usize,
    /// The images that stand for its results: one per element, `None` for one that nobody reads.
    pub images: Vec<Option<ImageId>>,
    /// The Funcs and images that it reads.
    pub inputs: Vec<ExternInput>,
    /// The parameters that it may ask for.
    pub params: Vec<ParamId>,
    /// The closures of the stage.
    pub fns: ExternFns,
    /// The place in the source where it was made.
    pub at: Location,
}

/// An input of an extern stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExternInput {
    /// All elements of a Func.
    Func(FuncId),
    /// An image.
    Image(ImageId),
}

/// A Func of a pipeline whose values a closure computes over the region that each iteration of a loop needs. Its
/// definition says that they are what its memory holds.
#[derive(Clone, Debug, Hash)]
pub struct ExternCallee {
    /// The stage. Its inputs and its parameters are those of the pipeline that it was frozen in.
    pub stage: ExternDef,
    /// The Func.
    pub func: FuncId,
    /// For each input of the stage the Func with its values, which nothing else reads.
    pub inputs: Vec<FuncId>,
    /// For each input the first and the last coordinate of each dimension, in terms of a region's ends.
    pub boxes: Boxes,
    /// The parameters of this pipeline that the stage may ask for.
    pub params: Vec<ParamId>,
}

impl Hash for ExternDef {
    /// Hashes all but the closures, which no code depends on.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ExternDef { name, types, dims, images, inputs, params, fns: _, at } = self;
        (name, types, dims, images, inputs, params, at).hash(state);
    }
}

impl ExternDef {
    /// For each input the first and the last coordinate of each dimension that is needed; `None` if only a closure can
    /// say it.
    pub fn boxes(&self) -> Option<Boxes> {
        let ends = RegionEnds::default();
        match &self.fns.needs {
            ExternNeeds::Same => Some(vec![(0..self.dims).map(|dim| ends.ends(dim)).collect(); self.inputs.len()]),
            ExternNeeds::Boxes(boxes) => Some(boxes.clone()),
            ExternNeeds::Asked(_) => None,
        }
    }
    /// The Funcs that it reads, each once.
    pub fn funcs(&self) -> Vec<FuncId> {
        let mut all = Vec::new();
        for input in &self.inputs {
            if let ExternInput::Func(func) = input
                && !all.contains(func)
            {
                all.push(*func);
            }
        }
        all
    }
}

impl ExternDef {
    /// A stage that computes elements of one type from boxes that loops hand to it; no pipeline has it.
    pub fn of_boxes(
        name: &str,
        (ty, dims): (ScalarType, usize),
        at: Location,
        compute: impl Fn(&mut ExternCall<'_>) -> ExternResult<()> + Send + Sync + 'static,
    ) -> ExternDef {
        let fns = ExternFns { needs: ExternNeeds::Boxes(Vec::new()), compute: Arc::new(compute) };
        let (images, inputs, params) = (vec![None], Vec::new(), Vec::new());
        ExternDef { name: name.to_string(), types: vec![ty], dims, images, inputs, params, fns, at }
    }
}
