//! Calls of the closures of extern stages, with checks of their answers.

use super::call::{ExternCall, ExternQuery};
use super::def::{ExternDef, ExternInput};
use super::fault::ExternFault;
use crate::buffer::{AnyBuffer, BufferError, Region};
use crate::interp::error::RunError;
use crate::pipeline::PipelineData;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl ExternDef {
    /// A failure of this stage.
    pub fn fault(&self, fault: ExternFault) -> RunError {
        RunError::Extern { stage: self.name.clone(), at: self.at, fault }
    }

    /// Asks which region of each input is needed for `region`; `params` are the values of [`ExternDef::params`].
    ///
    /// # Errors
    /// [`RunError::Extern`]: the closure failed or panicked, or its answer is none.
    pub fn needs(&self, pipeline: &PipelineData, region: &Region, params: &[Scalar]) -> Result<Vec<Region>, RunError> {
        let asked = catch_panic(|| (self.fns.needs)(&ExternQuery { region, params }));
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

    /// Computes `region`: one buffer per element of the values. `inputs` are the buffers of the inputs over the regions
    /// that were asked for, one per image and per element of a Func.
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
        match catch_panic(|| call(&mut outputs)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.fault(ExternFault::Compute(error.to_string()))),
            Err(text) => return Err(self.fault(ExternFault::Panic(text))),
        }
        let as_asked = outputs.iter().zip(&self.types).all(|(b, ty)| b.ty() == *ty && b.region() == *region);
        if as_asked { Ok(outputs) } else { Err(self.fault(ExternFault::Output)) }
    }
}

/// The result of `work`, or the text of its panic.
fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}
