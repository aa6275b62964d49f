//! The query for the requirements of a call on its inputs.

use crate::call::Call;
use crate::compiled::Compiled;
use crate::error::Error;
use crate::input_requirements::{InputNeed, Spans};
use halide_core::buffer::Region;
use halide_core::interp::RunError;

impl Call<'_> {
    /// Returns the requirements on each input for outputs over these regions, one per output Func: in the order in
    /// which the pipeline reads them. Nothing is run. Inputs that were given count as they are where the algorithm
    /// speaks of their regions, and with their values where these decide what is read; for the others, regions are
    /// found that need no more than themselves. Parameters count with their values.
    ///
    /// # Errors
    /// Regions that do not suit the outputs, parameters that are missing or out of range, and inputs whose regions
    /// never settle, since what is read of them depends on these.
    pub fn infer_input_bounds(&self, regions: &[Region]) -> Result<Vec<InputNeed>, Error> {
        self.check_regions(regions)?;
        let compiled: &Compiled = self.compiled();
        let inputs = compiled.named(self.given())?;
        let raw = compiled.needs_of_images(&inputs, regions)?;
        let mut all = Spans::default();
        for feeder in compiled.feeders() {
            feeder.needs(&inputs, &raw, &mut all)?;
        }
        let results = |need: &InputNeed| compiled.feeders().iter().any(|f| f.gives(&need.name));
        Ok(all.joined(compiled.whole(), raw.into_iter().filter(|need| !results(need)).collect()))
    }

    /// Checks that there is a region for each output, of its dimensions.
    pub(crate) fn check_regions(&self, regions: &[Region]) -> Result<(), Error> {
        let compiled: &Compiled = self.compiled();
        let funcs = compiled.outputs();
        if regions.len() != funcs.len() {
            return Err(RunError::OutputCount { expected: funcs.len(), found: regions.len() }.into());
        }
        for (i, (func, region)) in funcs.iter().zip(regions).enumerate() {
            let (expected, found) = (func.dims(), region.dims());
            if expected != found {
                return Err(RunError::OutputDims { func: func.name.clone(), expected, found }.into());
            }
            compiled.output_error(i, region.check())?;
        }
        Ok(())
    }
}
