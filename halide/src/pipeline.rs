//! The frozen algorithm that a compiler takes.

use halide_core::Func;
use halide_core::error::AlgorithmErrors;
use std::fmt;
use std::ops::Deref;

pub use halide_core::pipeline::{FuncDef, ImageDef, ParamDef, PipelineData};

/// A checked, frozen algorithm: immutable, cheap to clone, `Send` and `Sync`.
///
/// Made of output Funcs by [`Pipeline::new`], which reports every mistake of the algorithm at once. Run by what
/// [`Pipeline::compile`] or a [`Compiler`](crate::Compiler) makes of it.
///
/// ```
/// use halide::prelude::*;
/// let (x, y) = vars!(x, y);
/// let mut ramp = Func::new("ramp");
/// ramp[(x, y)] = x + 10 * y;
/// let pipeline = Pipeline::new([&ramp])?;
/// let compiled = pipeline.compile(&Schedule::new(), &Target::host())?;
/// let out: Buffer<i32> = compiled.inputs().realize([3, 2])?;
/// assert_eq!(out.to_vec(), [0, 1, 2, 10, 11, 12]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline(halide_core::Pipeline);

impl Pipeline {
    /// Freezes what these outputs reach, and checks all of it.
    ///
    /// # Errors
    /// Every mistake of the algorithm, each with its place in the source.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let x = Var::new("x");
    /// let (mut f, nothing) = (Func::new("f"), Func::new("nothing"));
    /// f[x] = nothing[x] + 1;
    /// let errors = Pipeline::new([&f]).unwrap_err();
    /// assert!(errors.to_string().contains("`nothing`"));
    /// ```
    #[track_caller]
    pub fn new<'f>(outputs: impl IntoIterator<Item = &'f Func>) -> Result<Pipeline, AlgorithmErrors> {
        halide_core::Pipeline::new(outputs).map(Pipeline)
    }
}

impl Deref for Pipeline {
    type Target = halide_core::Pipeline;
    fn deref(&self) -> &halide_core::Pipeline {
        &self.0
    }
}

impl From<halide_core::Pipeline> for Pipeline {
    fn from(pipeline: halide_core::Pipeline) -> Pipeline {
        Pipeline(pipeline)
    }
}

impl From<Pipeline> for halide_core::Pipeline {
    fn from(pipeline: Pipeline) -> halide_core::Pipeline {
        pipeline.0
    }
}

impl fmt::Display for Pipeline {
    /// The algorithm as text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
