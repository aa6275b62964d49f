//! Images and extern stages under construction.

use super::expr::Expr;
use super::func::FuncBody;
use super::param::ParamData;
use super::shape::OpenShape;
use crate::externs::call::ExternFns;
use crate::location::Location;
use crate::promise::ValuePromise;
use crate::types::ScalarType;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(crate) struct ImageBody {
    pub(crate) name: String,
    pub(crate) ty: ScalarType,
    pub(crate) dims: usize,
    pub(crate) at: Location,
    pub(crate) promise: Cell<ValuePromise>,
    /// The images, by name, and their dimensions that its elements are promised to be coordinates of.
    pub(crate) coordinates: RefCell<Vec<(String, usize)>>,
    /// The rules and estimates for the caller's buffer.
    pub(crate) shape: OpenShape,
    /// The extern stage whose results it stands for, and which element of them.
    pub(crate) external: Option<(Rc<OpenExtern>, usize)>,
}

impl ImageBody {
    /// Every expression that it holds.
    pub(crate) fn exprs(&self, out: &mut Vec<Expr>) {
        self.shape.exprs(out);
        if let Some((stage, _)) = &self.external {
            stage.exprs(out);
        }
    }
}

/// Keeps what an image's rules hold alive while its handle lives.
pub(crate) struct ImageHandle {
    pub(crate) body: Rc<ImageBody>,
}

/// An input of an extern stage that is under construction.
#[derive(Clone)]
pub(crate) enum OpenInput {
    Func(Rc<FuncBody>),
    Image(Rc<ImageBody>),
}

/// A stage as the images of its results know it.
pub(crate) struct OpenExtern {
    pub(crate) name: String,
    pub(crate) types: Vec<ScalarType>,
    pub(crate) dims: usize,
    pub(crate) inputs: Vec<OpenInput>,
    pub(crate) params: Vec<Rc<ParamData>>,
    pub(crate) fns: ExternFns,
    pub(crate) at: Location,
}

impl OpenExtern {
    /// Every expression that its inputs hold.
    pub(crate) fn exprs(&self, out: &mut Vec<Expr>) {
        for input in &self.inputs {
            match input {
                OpenInput::Func(body) => body.exprs(out),
                OpenInput::Image(body) => body.exprs(out),
            }
        }
    }
}
