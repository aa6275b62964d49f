//! Extern stages: Funcs whose values come from Rust closures.
//!
//! One closure answers which regions of the inputs a region of the output needs, the other computes the region from
//! those. Both may be called from any thread, and must answer the same for the same question; the value at a point must
//! not depend on the region that is asked for. Errors and panics in them end the run with a [`RunError`] that names the
//! stage.
//!
//! In a frozen pipeline the results are input images that nobody gives: whoever runs it asks, computes what is asked for,
//! calls the closure, and gives them (see [`ExternDef`]). A stage is so computed whole, once per run, over the region
//! that its consumers need, before any of them; its inputs are computed before it.
//!
//! ```
//! use halide_core::externs::Extern;
//! use halide_core::{Func, ImageParam, Pipeline, types::U8, vars};
//! let input = ImageParam::new("input", U8, 1);
//! let x = vars!(x);
//! let mut twice = Func::new("twice");
//! twice[x] = input[x] * 2;
//! let reversed = Extern::new("reversed", [U8], 1)
//!     .input(&twice)
//!     .compute(|call| {
//!         let (from, region) = (call.input(0).clone(), call.region().clone());
//!         for at in region.coords() {
//!             let value = from.get(&at).ok_or("asked for too little")?;
//!             call.output(0).set(&at, value)?;
//!         }
//!         Ok(())
//!     });
//! let mut f = Func::new("f");
//! f[x] = reversed[x] + 1;
//! assert_eq!(Pipeline::new([&f])?.externs[0].name, "reversed");
//! # Ok::<(), halide_core::error::AlgorithmErrors>(())
//! ```

use crate::arena::Expr;
use crate::buffer::{AnyBuffer, BufferError, Region};
use crate::error::Location;
use crate::expr::IntoExpr;
use crate::func::{Func, FuncBody};
use crate::ids::{FuncId, ImageId, ParamId};
use crate::interp::RunError;
use crate::param::{ImageBody, ImageParam, Param, ParamData};
use crate::pipeline::PipelineData;
use crate::types::ScalarType;
use crate::value::{Element, Scalar};
use crate::var::Var;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

/// The result of the closures of extern stages: any type of error will do, a text too.
pub type ExternResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

type Needs = dyn Fn(&ExternQuery<'_>) -> ExternResult<Vec<Region>> + Send + Sync;
type Compute = dyn Fn(&mut ExternCall<'_>) -> ExternResult<()> + Send + Sync;

/// The two closures.
#[derive(Clone)]
pub struct ExternFns {
    needs: Arc<Needs>,
    compute: Arc<Compute>,
}

impl fmt::Debug for ExternFns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExternFns")
    }
}

/// An extern stage under construction.
#[derive(Clone)]
pub struct Extern {
    name: String,
    types: Vec<ScalarType>,
    dims: usize,
    inputs: Vec<OpenInput>,
    params: Vec<Rc<ParamData>>,
    needs: Option<Arc<Needs>>,
    at: Location,
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

impl Extern {
    /// A stage called `name` with one type per element of its values, and `dims` dimensions, at most 8.
    #[track_caller]
    pub fn new(name: &str, types: impl Into<Vec<ScalarType>>, dims: usize) -> Extern {
        let at = Location::caller();
        let (inputs, params, needs) = (Vec::new(), Vec::new(), None);
        Extern { name: name.into(), types: types.into(), dims, inputs, params, needs, at }
    }
    /// Another input: a Func. One that is a tuple gives a buffer for each element.
    pub fn input(mut self, func: &Func) -> Extern {
        self.inputs.push(OpenInput::Func(func.body()));
        self
    }
    /// Another input: an image.
    pub fn image(mut self, image: &ImageParam) -> Extern {
        self.inputs.push(OpenInput::Image(image.shared_body()));
        self
    }
    /// A parameter that the closures may ask for.
    pub fn param<T: Element>(mut self, param: &Param<T>) -> Extern
    where
        Scalar: From<T>,
        Param<T>: IntoExpr,
    {
        self.params.push(param.data());
        self
    }
    /// Says which regions are needed: one per input, in order. Without it, each input is needed over the region that is
    /// asked for, and must have as many dimensions.
    pub fn needs(
        mut self,
        needs: impl Fn(&ExternQuery<'_>) -> ExternResult<Vec<Region>> + Send + Sync + 'static,
    ) -> Extern {
        self.needs = Some(Arc::new(needs));
        self
    }
    /// Says how a region is computed, and makes the Func. What the closure leaves unwritten is zero.
    pub fn compute(self, compute: impl Fn(&mut ExternCall<'_>) -> ExternResult<()> + Send + Sync + 'static) -> Func {
        let inputs = self.inputs.len();
        let same = Arc::new(move |query: &ExternQuery<'_>| Ok(vec![query.region().clone(); inputs]));
        let fns = ExternFns { needs: self.needs.unwrap_or(same), compute: Arc::new(compute) };
        let Extern { name, types, dims, inputs, params, at, .. } = self;
        let stage = Rc::new(OpenExtern { name: name.clone(), types, dims, inputs, params, fns, at });
        let vars: Vec<Expr> = (0..dims).map(|d| Var::new(dim_name(d)).expr()).collect();
        let element = |element: usize| ImageParam::of_extern(&stage, element).read_at(vars.clone(), at);
        let values: Vec<Expr> = (0..stage.types.len()).map(element).collect();
        Func::defined(&name, vars.clone(), crate::expr::tuple(values), at)
    }
}

/// `x`, `y`, `z`, `w`, then numbers.
fn dim_name(dim: usize) -> String {
    ["x", "y", "z", "w"].get(dim).map_or_else(|| format!("d{dim}"), |name| name.to_string())
}

/// The question which regions of its inputs a stage needs.
pub struct ExternQuery<'a> {
    region: &'a Region,
    params: &'a [Scalar],
}

impl ExternQuery<'_> {
    /// The region of the stage that is to be computed.
    pub fn region(&self) -> &Region {
        self.region
    }
    /// The value of a parameter, in the order in which they were named.
    pub fn param(&self, i: usize) -> Option<Scalar> {
        self.params.get(i).copied()
    }
}

/// A region to be computed, with the inputs that were asked for.
pub struct ExternCall<'a> {
    region: &'a Region,
    params: &'a [Scalar],
    inputs: &'a [AnyBuffer],
    outputs: &'a mut [AnyBuffer],
}

impl ExternCall<'_> {
    /// The region to compute.
    pub fn region(&self) -> &Region {
        self.region
    }
    /// The value of a parameter, in the order in which they were named.
    pub fn param(&self, i: usize) -> Option<Scalar> {
        self.params.get(i).copied()
    }
    /// The buffers of all inputs, in order: one per image and per element of a Func, over the region that was asked for.
    pub fn inputs(&self) -> &[AnyBuffer] {
        self.inputs
    }
    /// One of [`ExternCall::inputs`].
    ///
    /// # Panics
    /// If there is no such input; a panic is an error of the run.
    pub fn input(&self, i: usize) -> &AnyBuffer {
        &self.inputs[i]
    }
    /// The buffer of an element of the values, over the region: to be written.
    ///
    /// # Panics
    /// If there is no such element; a panic is an error of the run.
    pub fn output(&mut self, element: usize) -> &mut AnyBuffer {
        &mut self.outputs[element]
    }
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternInput {
    /// All elements of a Func.
    Func(FuncId),
    /// An image.
    Image(ImageId),
}

/// The ways in which an extern stage can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternFault {
    /// The bounds query returned an error.
    Needs(String),
    /// The computation returned an error.
    Compute(String),
    /// A closure panicked.
    Panic(String),
    /// The bounds query gave another number of regions than there are inputs.
    Count {
        /// The inputs.
        expected: usize,
        /// The regions.
        found: usize,
    },
    /// The bounds query gave a region that cannot be that of an input.
    Region {
        /// The input.
        input: String,
        /// The defect of the region.
        error: BufferError,
    },
    /// It needs an output of the pipeline that leaves elements as the caller's buffer holds them (`undef`).
    Keeps {
        /// The output.
        func: String,
    },
    /// A closure changed the type or the region of an output.
    Output,
    /// Nobody called the closures: the pipeline was not compiled, but run by itself.
    Alone,
}

impl fmt::Display for ExternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternFault::Needs(text) => write!(f, "its bounds query failed: {text}"),
            ExternFault::Compute(text) => write!(f, "it failed: {text}"),
            ExternFault::Panic(text) => write!(f, "it panicked: {text}"),
            ExternFault::Count { expected, found } => {
                write!(
                    f,
                    "its bounds query gave {found} regions, but it has {expected} inputs; give one region per input"
                )
            }
            ExternFault::Region { input, error } => write!(f, "it cannot have what it needs of `{input}`: {error}"),
            ExternFault::Keeps { func } => write!(
                f,
                "it needs `{func}`, which leaves some elements as its buffer holds them, and that is not at hand before the \
                 stage runs; give those elements a value, or read an image instead"
            ),
            ExternFault::Output => f.write_str(
                "it replaced an output by a buffer of another type or region; write into the one that is there",
            ),
            ExternFault::Alone => {
                f.write_str("its closures run only in a pipeline that is compiled; compile it with `halide::Compiler`")
            }
        }
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

    /// A failure of this stage.
    pub fn fault(&self, fault: ExternFault) -> RunError {
        RunError::Extern { stage: self.name.clone(), at: self.at, fault }
    }

    /// Asks which region of each input is needed for `region`; `params` are the values of [`ExternDef::params`].
    ///
    /// # Errors
    /// [`RunError::Extern`]: the closure failed or panicked, or its answer is none.
    pub fn needs(&self, pipeline: &PipelineData, region: &Region, params: &[Scalar]) -> Result<Vec<Region>, RunError> {
        let asked = caught(|| (self.fns.needs)(&ExternQuery { region, params }));
        let regions = match asked {
            Ok(Ok(regions)) => regions,
            Ok(Err(error)) => return Err(self.fault(ExternFault::Needs(error.to_string()))),
            Err(text) => return Err(self.fault(ExternFault::Panic(text))),
        };
        let (expected, found) = (self.inputs.len(), regions.len());
        if expected != found {
            return Err(self.fault(ExternFault::Count { expected, found }));
        }
        for (input, region) in self.inputs.iter().zip(&regions) {
            let (name, dims) = match input {
                ExternInput::Func(func) => (&pipeline.funcs[*func].name, pipeline.funcs[*func].dims()),
                ExternInput::Image(image) => (&pipeline.images[*image].name, pipeline.images[*image].dims),
            };
            let wrong = |error| self.fault(ExternFault::Region { input: name.clone(), error });
            if region.dims() != dims {
                return Err(wrong(BufferError::WrongDims { expected: dims, found: region.dims() }));
            }
            region.check().map_err(wrong)?;
        }
        Ok(regions)
    }

    /// Computes `region`: one buffer per element of the values. `inputs` are the buffers of the inputs over the regions that
    /// were asked for, one per image and per element of a Func.
    ///
    /// # Errors
    /// [`RunError::Extern`]: the closure failed or panicked; or there is no memory.
    pub fn compute(
        &self,
        region: &Region,
        params: &[Scalar],
        inputs: &[AnyBuffer],
    ) -> Result<Vec<AnyBuffer>, RunError> {
        let make = |ty: &ScalarType| AnyBuffer::with_region(*ty, region);
        let failed = |error| RunError::Output { func: self.name.clone(), error };
        let mut outputs: Vec<AnyBuffer> = self.types.iter().map(make).collect::<Result<_, _>>().map_err(failed)?;
        let call = |outputs: &mut [AnyBuffer]| (self.fns.compute)(&mut ExternCall { region, params, inputs, outputs });
        match caught(|| call(&mut outputs)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.fault(ExternFault::Compute(error.to_string()))),
            Err(text) => return Err(self.fault(ExternFault::Panic(text))),
        }
        let as_asked = outputs.iter().zip(&self.types).all(|(b, ty)| b.ty() == *ty && b.region() == *region);
        if as_asked { Ok(outputs) } else { Err(self.fault(ExternFault::Output)) }
    }
}

/// The result of `work`, or the text of its panic.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}

impl fmt::Debug for Extern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extern({} at {})", self.name, self.at)
    }
}
