//! Extern stages of a frozen pipeline.

use super::call::ExternFns;
use crate::ids::{FuncId, ImageId, ParamId};
use crate::location::Location;
use crate::types::ScalarType;
use std::hash::{Hash, Hasher};

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

impl Hash for ExternDef {
    /// Hashes all but the closures, which no code depends on.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ExternDef { name, types, dims, images, inputs, params, fns: _, at } = self;
        (name, types, dims, images, inputs, params, at).hash(state);
    }
}

impl ExternDef {
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
