//! Calls of the closures of extern stages, with checks of their answers.

use super::call::{ExternCall, ExternNeeds, ExternQuery};
use super::def::{ExternDef, ExternInput};
use super::ends::End;
use super::fault::ExternFault;
use crate::buffer::{AnyBuffer, BufferError, Region, Span};
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
        let regions = match &self.fns.needs {
            ExternNeeds::Same => vec![region.clone(); self.inputs.len()],
            ExternNeeds::Boxes(boxes) => self.boxes_of(pipeline, boxes, region, params)?,
            ExternNeeds::Asked(needs) => match catch_panic(|| needs(&ExternQuery { region, params })) {
                Ok(Ok(regions)) => regions,
                Ok(Err(error)) => return Err(self.fault(ExternFault::Needs(error.to_string()))),
                Err(text) => return Err(self.fault(ExternFault::Panic(text))),
            },
        };
        let (expected, found) = (self.inputs.len(), regions.len());
        if expected != found {
            return Err(self.fault(ExternFault::Count { expected, found }));
        }
        for (input, region) in self.inputs.iter().zip(&regions) {
            let (name, dims) = (input.name(pipeline), input.dims(pipeline));
            let wrong = |error| self.fault(ExternFault::Region { input: name.to_string(), error });
            if region.dims() != dims {
                return Err(wrong(BufferError::WrongDims { expected: dims, found: region.dims() }));
            }
            region.check().map_err(wrong)?;
        }
        Ok(regions)
    }

    /// The regions that boxes in terms of a region's ends are.
    fn boxes_of(
        &self,
        pipeline: &PipelineData,
        boxes: &[Vec<(End, End)>],
        region: &Region,
        params: &[Scalar],
    ) -> Result<Vec<Region>, RunError> {
        let of = |(input, ends): (&ExternInput, &Vec<(End, End)>)| {
            let spans = ends.iter().enumerate().map(|(dim, (min, max))| {
                let (min, max) = (min.value(region, params), max.value(region, params));
                min.zip(max).and_then(|(min, max)| span(min, max)).ok_or(dim)
            });
            let fault = |dim| self.fault(ExternFault::End { input: input.name(pipeline).to_string(), dim });
            spans.collect::<Result<Vec<Span>, usize>>().map(Region::new).map_err(fault)
        };
        self.inputs.iter().zip(boxes).map(of).collect()
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
        self.call(region, params, inputs, &mut outputs).map_err(|fault| self.fault(fault))?;
        Ok(outputs)
    }

    /// Has the closure compute `region` into `outputs`, one buffer per element of the values, over the region. `inputs`
    /// are as of [`ExternDef::compute`].
    ///
    /// # Errors
    /// The closure failed or panicked, or it put other buffers in the place of the outputs.
    pub fn call(
        &self,
        region: &Region,
        params: &[Scalar],
        inputs: &[AnyBuffer],
        outputs: &mut [AnyBuffer],
    ) -> Result<(), ExternFault> {
        let call = |outputs: &mut [AnyBuffer]| (self.fns.compute)(&mut ExternCall { region, params, inputs, outputs });
        match catch_panic(|| call(outputs)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(ExternFault::Compute(error.to_string())),
            Err(text) => return Err(ExternFault::Panic(text)),
        }
        let as_asked = outputs.iter().zip(&self.types).all(|(b, ty)| b.ty() == *ty && b.region() == *region);
        if as_asked { Ok(()) } else { Err(ExternFault::Output) }
    }
}

impl ExternInput {
    /// The name of the Func or image.
    pub fn name(self, pipeline: &PipelineData) -> &str {
        match self {
            ExternInput::Func(func) => &pipeline.funcs[func].name,
            ExternInput::Image(image) => &pipeline.images[image].name,
        }
    }
    /// The number of dimensions.
    pub fn dims(self, pipeline: &PipelineData) -> usize {
        match self {
            ExternInput::Func(func) => pipeline.funcs[func].dims(),
            ExternInput::Image(image) => pipeline.images[image].dims,
        }
    }
}

/// The coordinates between two ends; none where the last one is before the first.
fn span(min: i64, max: i64) -> Option<Span> {
    Some(Span { min, extent: max.checked_sub(min)?.checked_add(1)?.max(0) })
}

/// The result of `work`, or the text of its panic.
fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}
