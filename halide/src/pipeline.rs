//! The frozen algorithm that a compiler takes.

use halide_core::Func;
use halide_core::adjoint::AdjointErrors;
use halide_core::error::AlgorithmErrors;
use std::fmt;
use std::ops::Deref;

pub use halide_core::adjoint::FuncRegion;
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

    /// The pipeline of the derivatives of the Func `loss`, which has no dimensions, by the images and parameters `by`.
    ///
    /// Its outputs stand in the order of `by`: of each input `w` an output `d_w` of its type and dimensions, or of none
    /// for a parameter. Ask for them over the regions of the images. Each Func `f` between loss and inputs gets one
    /// called `d_f`. Schedules can speak of them, and of the Funcs of the algorithm whose values they need.
    ///
    /// Sums, and maps of floats by arithmetic and functions, have gradients, at whatever coordinates they read.
    /// `select` passes to the arm taken, `min` and `max` to the first operand that wins; rounding, integers, conditions
    /// and coordinates are constant.
    ///
    /// # Errors
    /// Names that the pipeline does not have; inputs and losses that are not floats; and every definition between the
    /// two that has no gradient, such as an update that multiplies, each with its place.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (input, gain) = (ImageParam::new("input", F32, 1), Param::<f32>::new("gain"));
    /// let r = RDom::over(&input);
    /// let mut loss = Func::new("loss");
    /// let error = input[r.x] * gain - 1.0;
    /// loss[()] += error * error;
    /// let gradients = Pipeline::new([&loss])?.adjoints("loss", &["input", "gain"])?;
    ///
    /// let compiled = gradients.compile(&"d_input: vectorize(x, 4)".parse()?, &Target::host())?;
    /// let row = Buffer::from_slice([3], &[1.0f32, 2.0, 3.0])?;
    /// let call = compiled.inputs().image(&input, row).param(&gain, 2.0);
    /// let out = call.realize_all(&[Region::of_extents([3]), Region::of_extents([0i32; 0])])?;
    /// assert_eq!(out[0].typed::<f32>()?.to_vec(), [4.0, 12.0, 20.0]);
    /// assert_eq!(out[1].typed::<f32>()?.to_vec(), [44.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn adjoints(&self, loss: &str, by: &[&str]) -> Result<Pipeline, AdjointErrors> {
        self.0.adjoints(loss, by).map(Pipeline)
    }

    /// The same as [`Pipeline::adjoints`], given the regions of some Funcs, `(min, extent)` per dimension. A loss with
    /// dimensions is the sum of its elements in its region. For other Funcs the region must hold all points that the
    /// loss reads; it is needed only where the coordinates of reads do not tell.
    ///
    /// # Errors
    /// Those of `adjoints`, and regions of another number of dimensions than their Funcs.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (input, x) = (ImageParam::new("input", F64, 1), Var::new("x"));
    /// let mut wave = Func::new("wave");
    /// wave[x] = sin(input[x]);
    /// let pipeline = Pipeline::new([&wave])?;
    /// let gradients = pipeline.adjoints_over("wave", &["input"], &[("wave", &[(0, 2)])])?;
    /// let compiled = gradients.compile(&Schedule::new(), &Target::host())?;
    /// let row = Buffer::from_slice([3], &[0.0f64, 0.0, 0.0])?;
    /// assert_eq!(compiled.inputs().image(&input, row).realize::<f64>([3])?.to_vec(), [1.0, 1.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn adjoints_over(
        &self,
        loss: &str,
        by: &[&str],
        regions: &[FuncRegion<'_>],
    ) -> Result<Pipeline, AdjointErrors> {
        self.0.adjoints_over(loss, by, regions).map(Pipeline)
    }
}

impl Deref for Pipeline {
    type Target = halide_core::Pipeline;
    fn deref(&self) -> &halide_core::Pipeline {
        &self.0
    }
}

impl AsRef<halide_core::Pipeline> for Pipeline {
    fn as_ref(&self) -> &halide_core::Pipeline {
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
