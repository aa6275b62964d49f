//! Gradients: a pipeline that computes a loss becomes one that computes the derivatives of the loss by inputs.
//!
//! Reverse-mode differentiation at the level of the algorithm. From the loss backwards, each Func `f` that depends on
//! an input in question gets a Func `d_f` of its dimensions: the derivative of the loss by each element. Every read of
//! `f` by a definition adds to `d_f` (`assemble`). A read at coordinates that can be solved for those of the reader is
//! *gathered* (`invert`): `g[x] = f[x - 1] * w` adds `d_g[x + 1] * w` to `d_f[x]`, and a read by a sum becomes a sum.
//! All other reads are *scattered*: an update adds at the coordinates that the reader reads, such as clamped ones.
//! Within a definition, `sweep` applies the chain rule to each operation (`derivative`).
//!
//! `d_f` is zero outside of the points that the loss reads. Their box follows from the domains of the sums in the loss,
//! as an expression of constants, parameters and sizes of images (`domain`); of a Func that is read at coordinates that
//! nothing bounds, the caller gives it. Values of the original pipeline are computed where they were: a guard keeps
//! every read inside of what the loss reads.
//!
//! Rules where there is no one derivative: `select` passes to the arm taken, and the other one adds nothing, even if
//! its derivative is infinite or not a number; `min` and `max` pass to the first operand that wins; `abs` has slope 0
//! at 0; rounding, integers, conditions and coordinates are constant. Updates are sums, or store elements anew, the
//! last one also as a recurrence along one variable (`scan`); others are refused.
//!
//! ```
//! use halide_core::buffer::{Buffer, Region};
//! use halide_core::interp::{Inputs, run};
//! use halide_core::{Func, ImageParam, IntoExpr, Pipeline, RDom, types::F64};
//! // The loss is the sum of w[x] * w[x + 1]: its derivative by w[x] is w[x - 1] + w[x + 1], inside.
//! let w = ImageParam::new("w", F64, 1);
//! let r = RDom::new([(0.expr(), w.width() - 1)]);
//! let mut loss = Func::new("loss");
//! loss[()] += w[r.x] * w[r.x + 1];
//! let gradients = Pipeline::new([&loss])?.adjoints("loss", &["w"])?;
//! let inputs = Inputs::new().image("w", Buffer::from_slice([4], &[1.0, 2.0, 3.0, 4.0])?);
//! let out = run(&gradients, &inputs, &[Region::of_extents([4])])?;
//! assert_eq!(out[0].typed::<f64>()?.to_vec(), [2.0, 4.0, 6.0, 3.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activity;
mod assemble;
mod builder;
mod definition;
mod derivative;
mod differentiate;
mod domain;
mod error;
mod invert;
mod linear;
mod request;
mod scan;
mod sweep;
mod walk;

pub use error::{AdjointError, AdjointErrorKind, AdjointErrors};
pub use request::FuncRegion;

use crate::location::Location;
use crate::pipeline::Pipeline;

impl Pipeline {
    /// The pipeline of the derivatives of the Func `loss` by inputs: images, and parameters, which give outputs without
    /// dimensions. Its outputs stand in the order of `by` and are called `d_w` for an input `w`; they have the type of
    /// the input. Ask for them over the regions of the images: a gradient by an element that the loss does not depend
    /// on is zero. The intermediate `d_f` are Funcs that schedules can speak of, next to those of the original.
    ///
    /// The loss has no dimensions; [`Pipeline::adjoints_over`] takes others.
    ///
    /// # Errors
    /// Names that the pipeline does not have; inputs and losses that are not floats; and every definition between the
    /// two that has no gradient, such as an update that multiplies, each with its place.
    ///
    /// ```
    /// use halide_core::{Func, ImageParam, Pipeline, RDom, types::F32};
    /// let input = ImageParam::new("input", F32, 1);
    /// let r = RDom::over(&input);
    /// let mut loss = Func::new("loss");
    /// loss[()] = 1.0f32.into();
    /// loss[()] *= input[r.x];
    /// let error = Pipeline::new([&loss])?.adjoints("loss", &["input"]).unwrap_err();
    /// assert!(error.to_string().contains("update 1 of `loss` is neither a sum"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn adjoints(&self, loss: &str, by: &[&str]) -> Result<Pipeline, AdjointErrors> {
        differentiate::adjoints(self, loss, by, &[], Location::caller())
    }

    /// The same as [`Pipeline::adjoints`], given the regions of some Funcs. A loss with dimensions is the sum of its
    /// elements in its region. For other Funcs the region must hold all points that the loss reads; it is needed only
    /// where the coordinates of reads do not tell.
    ///
    /// # Errors
    /// Those of `adjoints`, and regions of another number of dimensions than their Funcs.
    ///
    /// ```
    /// use halide_core::buffer::{Buffer, Region};
    /// use halide_core::interp::{Inputs, run};
    /// use halide_core::{Func, ImageParam, Pipeline, Var, types::F32};
    /// let (input, x) = (ImageParam::new("input", F32, 1), Var::new("x"));
    /// let mut square = Func::new("square");
    /// square[x] = input[x] * input[x];
    /// let pipeline = Pipeline::new([&square])?;
    /// let gradients = pipeline.adjoints_over("square", &["input"], &[("square", &[(0, 2)])])?;
    /// let inputs = Inputs::new().image("input", Buffer::from_slice([3], &[1.0f32, 2.0, 3.0])?);
    /// let out = run(&gradients, &inputs, &[Region::of_extents([3])])?;
    /// assert_eq!(out[0].typed::<f32>()?.to_vec(), [2.0, 4.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn adjoints_over(
        &self,
        loss: &str,
        by: &[&str],
        regions: &[FuncRegion<'_>],
    ) -> Result<Pipeline, AdjointErrors> {
        differentiate::adjoints(self, loss, by, regions, Location::caller())
    }
}
