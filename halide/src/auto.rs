//! Schedules that nobody has to write.

use crate::error::Error;
use crate::pipeline::Pipeline;
pub use halide_auto::{Auto, EstimateError, Estimates};
use halide_auto::{AutoError, auto_schedule};
use halide_ir::machine::Machine;
use halide_ir::target::Target;

impl Pipeline {
    /// Chooses a schedule for the sizes that a pipeline will mostly have, without running anything. The schedule is
    /// legal and right at all sizes, keeps every bit of the result, and is text to look at and to go on from. Equal
    /// questions have equal answers.
    ///
    /// Funcs are substituted where that is cheap, and otherwise computed outside of all loops or in strips of what
    /// reads them, as the predicted time of the loop nest says for a typical machine of the target's vectors.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let input = ImageParam::new("input", U16, 2);
    /// let (x, y) = vars!(x, y);
    /// let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    /// across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    /// down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    /// let pipeline = Pipeline::new([&down])?;
    /// let auto = pipeline.auto_schedule(&Target::host(), &Estimates::new().output("down", [1600, 1200]))?;
    /// assert!(auto.refused.is_empty());
    /// let compiled = pipeline.compile(&auto.schedule, &Target::host())?;
    /// # let image = Buffer::<u16>::new([18, 10])?;
    /// let out: Buffer<u16> = compiled.inputs().image(&input, &image).realize([16, 8])?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Every mistake in the estimates; an algorithm that no schedule can lower. Pipelines with extern stages are
    /// refused.
    pub fn auto_schedule(&self, target: &Target, sizes: &Estimates) -> Result<Auto, Error> {
        auto_schedule(self, target, &Machine::typical(target), sizes).map_err(|error| match error {
            AutoError::Schedule(errors) => Error::Schedule(errors),
            AutoError::Lower(errors) => Error::Lower(errors),
            AutoError::Query(error) => Error::Query(error),
            error => Error::Auto(error),
        })
    }
}
