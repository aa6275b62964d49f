//! One run of a compiled pipeline: what goes in, and where the results go.

use crate::compile::Compiled;
use crate::error::Error;
use crate::limits::{Asked, Watch};
use crate::print_sink::Sink;
use halide_core::buffer::{AnyBuffer, AnyBufferMut, Buffer, BufferError, BufferMut, Extents, Region};
use halide_core::interp::{self, Inputs, RunError};
use halide_core::limits::{Held, Limits};
use halide_core::types::ScalarType;
use halide_core::value::{Element, Scalar};
use halide_core::{ImageParam, Param};
use std::sync::Arc;

/// A run that is being prepared. Made by [`Compiled::inputs`]; ends with one of the `realize` methods, which check
/// everything that was given before anything is written.
#[derive(Clone, Debug)]
pub struct Call<'c> {
    compiled: &'c Compiled,
    inputs: Inputs,
    how: How,
    /// Inputs that are in the memory of output buffers, by number.
    in_place: Vec<(String, usize)>,
}

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    /// The number of threads that parallel loops may use.
    pub(crate) threads: Option<usize>,
    /// True if kernels are to be timed.
    pub(crate) profile: bool,
    /// The receiver of printed lines.
    pub(crate) print: Sink,
    /// The limits that were asked for.
    pub(crate) asked: Asked,
    /// The limits of the run, which has begun.
    pub(crate) limits: Option<Arc<Limits>>,
}

impl How {
    /// Begins a run, unless it is part of one that has begun: sets its limits, and watches its time.
    pub(crate) fn begin(&self) -> Result<(How, Option<Watch>), Error> {
        if self.limits.is_some() {
            return Ok((self.clone(), None));
        }
        let (limits, watch) = self.asked.begin()?;
        Ok((How { limits: Some(limits), ..self.clone() }, watch))
    }
    /// The limits of the run, for engines.
    pub(crate) fn limits(&self) -> Option<&Limits> {
        self.limits.as_deref()
    }
    /// Charges memory of what `func` names, for as long as the run lasts.
    pub(crate) fn charge(&self, bytes: u64, func: &str) -> Result<(), Error> {
        self.hold(bytes, func).map(|held| held.map_or((), Held::keep))
    }
    /// Charges memory of what `func` names, for as long as the result lives.
    pub(crate) fn hold(&self, bytes: u64, func: &str) -> Result<Option<Held<'_>>, Error> {
        let held = self.limits().map(|limits| limits.hold(bytes)).transpose();
        held.map_err(|over| Error::Memory { func: func.to_string(), over })
    }
    /// Returns the result of a run, with the error of one that was ended early.
    pub(crate) fn after<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        self.print.after(result).map_err(|error| match error {
            Error::Run(RunError::Stopped(stop)) => self.asked.ended(stop),
            error => error,
        })
    }
}

/// Statistics of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RunStats {
    /// The most memory that intermediate values took at one time, in bytes. 0 from the interpreter, which does not say.
    pub peak_bytes: u64,
    /// Statistics of the GPU, if one took part.
    #[cfg(feature = "gpu")]
    pub gpu: Option<halide_gpu::runtime::GpuStats>,
}

impl RunStats {
    /// Returns the statistics of a run that no GPU took part in.
    pub(crate) fn on_host(peak_bytes: u64) -> RunStats {
        RunStats {
            peak_bytes,
            #[cfg(feature = "gpu")]
            gpu: None,
        }
    }
}

impl<'c> Call<'c> {
    pub(crate) fn new(compiled: &'c Compiled) -> Call<'c> {
        Call { compiled, inputs: Inputs::new(), how: How::default(), in_place: Vec::new() }
    }

    pub(crate) fn compiled(&self) -> &'c Compiled {
        self.compiled
    }
    pub(crate) fn add_in_place(&mut self, image: &str, buffer: usize) {
        self.in_place.push((image.to_string(), buffer));
    }
    /// With these inputs in place of all others.
    pub(crate) fn with_given(self, inputs: &Inputs) -> Call<'c> {
        Call { inputs: inputs.clone(), ..self }
    }
    pub(crate) fn given(&self) -> &Inputs {
        &self.inputs
    }
    /// Makes this part of a run that has begun.
    pub(crate) fn within(self, how: &How) -> Call<'c> {
        Call { how: How { print: self.how.print, ..how.clone() }, ..self }
    }
    /// The options of the run.
    pub(crate) fn how(&self) -> &How {
        &self.how
    }
    pub(crate) fn how_mut(&mut self) -> &mut How {
        &mut self.how
    }

    /// Gives an input image. The buffer is shared, not copied.
    pub fn image(self, image: &ImageParam, buffer: impl Into<AnyBuffer>) -> Call<'c> {
        self.image_named(image.name(), buffer)
    }
    /// Gives the input image called `name`.
    pub fn image_named(mut self, name: &str, buffer: impl Into<AnyBuffer>) -> Call<'c> {
        self.inputs = self.inputs.image(name, buffer);
        self
    }
    /// Gives a scalar parameter.
    pub fn param<T: Element>(self, param: &Param<T>, value: T) -> Call<'c>
    where
        Scalar: From<T>,
    {
        self.param_named(&param.name(), value)
    }
    /// Gives the scalar parameter called `name`; the value must be of its type.
    pub fn param_named(mut self, name: &str, value: impl Into<Scalar>) -> Call<'c> {
        self.inputs = self.inputs.param(name, value);
        self
    }
    /// Drops the inputs given so far that the pipeline does not read. An algorithm that does without one of its images or
    /// parameters, for the value of a setting or because it was simplified away, can so be called as the others are. Without
    /// this, such an input is an error, since its name may be misspelt.
    pub fn ignore_unused(mut self) -> Call<'c> {
        self.inputs = self.inputs.restricted(self.compiled.pipeline());
        self
    }
    /// Sets the number of threads that parallel loops may use, at least 1; by default as many as the target has.
    pub fn threads(mut self, threads: usize) -> Call<'c> {
        self.how.threads = Some(threads.max(1));
        self
    }
    /// Also times each kernel that a graphics processor runs, where it can: see [`RunStats`].
    pub fn profile(mut self) -> Call<'c> {
        self.how.profile = true;
        self
    }

    /// Gives the lines that the pipeline prints to `sink`, without their ends; by default they go to the standard error
    /// output. Parallel loops call it from several threads at once, each time with a whole line. Where it panics, the run gives it
    /// no more lines and ends as [`Error::Print`].
    pub fn print_to(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Call<'c> {
        self.how.print = Sink::new(sink);
        self
    }

    /// Computes the one output from coordinate 0 on, with these extents: `call.realize::<u8>([width, height])`.
    ///
    /// # Errors
    /// The pipeline has several outputs or another type, an input is missing or too small, the schedule promises what does
    /// not hold, or the run meets one of its limits.
    pub fn realize<T: Element>(self, extents: impl Extents) -> Result<Buffer<T>, Error> {
        self.realize_region(&extents.region())
    }
    /// Computes a region of the one output.
    pub fn realize_region<T: Element>(self, region: &Region) -> Result<Buffer<T>, Error> {
        let expected = self.compiled.outputs().iter().map(|f| f.types.len()).sum();
        if expected != 1 {
            return Err(RunError::OutputBuffers { expected, found: 1 }.into());
        }
        let output = self.realize_all(std::slice::from_ref(region))?.swap_remove(0);
        self.compiled.output_error(0, output.typed())
    }
    /// Computes a region of each output: one buffer per tuple element of each, in order.
    pub fn realize_all(&self, regions: &[Region]) -> Result<Vec<AnyBuffer>, Error> {
        let (how, _watch) = self.how.begin()?;
        let (mut buffers, fed) = how.after(self.fresh_outputs(regions, &how))?;
        let mut views = buffers.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        match fed {
            Some(fed) => self.clone().with_given(&fed).run_into(&mut views, &how)?,
            None => self.run_into(&mut views, &how)?,
        };
        drop(views);
        Ok(buffers)
    }
    /// [`Call::realize_all`] without waiting for a device: what a page in a browser calls.
    #[cfg(feature = "gpu")]
    pub async fn realize_all_async(&self, regions: &[Region]) -> Result<Vec<AnyBuffer>, Error> {
        let (how, _watch) = self.how.begin()?;
        let (mut buffers, fed) = how.after(self.fresh_outputs(regions, &how))?;
        let mut views = buffers.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        self.check_outputs(&views)?;
        let inputs = fed.as_ref().unwrap_or(&self.inputs);
        how.after(self.compiled.run_async(inputs, &mut views, &how).await)?;
        drop(views);
        Ok(buffers)
    }
    /// Memory for these regions, and the inputs with what extern stages give, where rules for shapes needed them.
    pub(crate) fn fresh_outputs(
        &self,
        regions: &[Region],
        how: &How,
    ) -> Result<(Vec<AnyBuffer>, Option<Inputs>), Error> {
        if let Some((image, buffer)) = self.in_place.first() {
            return Err(RunError::NoBuffer { image: image.clone(), buffer: *buffer, buffers: 0 }.into());
        }
        let funcs = self.compiled.outputs();
        let pipeline = self.compiled.pipeline();
        if regions.len() != funcs.len() {
            return Err(RunError::OutputCount { expected: funcs.len(), found: regions.len() }.into());
        }
        // Rules may want other strides than dense ones.
        let inputs =
            if pipeline.shapes.is_empty() { None } else { Some(self.compiled.fed(&self.inputs, regions, how)?) };
        let ruled = inputs.as_ref().map(|inputs| inputs.bind(pipeline)).transpose()?;
        let mut buffers = Vec::new();
        for (i, (func, region)) in funcs.iter().zip(regions).enumerate() {
            let (expected, found) = (func.dims(), region.dims());
            if expected != found {
                return Err(RunError::OutputDims { func: func.name.clone(), expected, found }.into());
            }
            if let Some(bound) = &ruled {
                let unlimited = Limits::default();
                let limits = how.limits().unwrap_or(&unlimited);
                let (own, held) = interp::allocate(pipeline, bound, pipeline.outputs[i], region, limits)?;
                held.keep();
                buffers.extend(own);
                continue;
            }
            for &ty in &func.types {
                how.charge(dense_bytes(ty, region), &func.name)?;
                buffers.push(self.compiled.output_error(i, AnyBuffer::with_region(ty, region))?);
            }
        }
        Ok((buffers, inputs))
    }
    /// Computes the one output for all coordinates of `output`, in place.
    pub fn realize_into<T: Element>(&self, output: BufferMut<'_, T>) -> Result<RunStats, Error> {
        self.realize_all_into(&mut [output.into_any()])
    }
    /// Computes the outputs for all coordinates of the views, in place: one view per tuple element of each output.
    pub fn realize_all_into(&self, outputs: &mut [AnyBufferMut<'_>]) -> Result<RunStats, Error> {
        let (how, _watch) = self.how.begin()?;
        self.run_into(outputs, &how)
    }
    fn run_into(&self, outputs: &mut [AnyBufferMut<'_>], how: &How) -> Result<RunStats, Error> {
        self.check_outputs(outputs)?;
        how.after(self.compiled.run(&self.inputs, outputs, how, &self.in_place))
    }

    fn check_outputs(&self, outputs: &[AnyBufferMut<'_>]) -> Result<(), Error> {
        let funcs = self.compiled.outputs();
        let expected = funcs.iter().map(|f| f.types.len()).sum();
        if outputs.len() != expected {
            return Err(RunError::OutputBuffers { expected, found: outputs.len() }.into());
        }
        let mut rest = outputs;
        for (i, func) in funcs.iter().enumerate() {
            let (own, others) = rest.split_at(func.types.len());
            for (view, &expected) in own.iter().zip(&func.types) {
                self.compiled.output_error(i, check_view(view, own, expected, func.dims()))?;
            }
            rest = others;
        }
        Ok(())
    }
}

/// Returns how many bytes a dense buffer over a region has.
pub(crate) fn dense_bytes(ty: ScalarType, region: &Region) -> u64 {
    let points = region.spans().iter().fold(1u64, |all, s| all.saturating_mul(s.extent.max(0) as u64));
    points.saturating_mul(ty.bytes() as u64)
}

/// A view has the type and dimensions of its output, and the region of the other tuple elements.
fn check_view(
    view: &AnyBufferMut<'_>,
    own: &[AnyBufferMut<'_>],
    expected: ScalarType,
    dims: usize,
) -> Result<(), BufferError> {
    check_dims(dims, view.dims().len())?;
    if view.ty() != expected {
        return Err(BufferError::WrongType { expected, found: view.ty() });
    }
    let (region, first) = (view.region(), own[0].region());
    for (dim, (a, b)) in region.spans().iter().zip(first.spans()).enumerate() {
        if a != b {
            let (min, extent, buffer_min, buffer_extent) = (b.min, b.extent, a.min, a.extent);
            return Err(BufferError::Outside { dim, min, extent, buffer_min, buffer_extent });
        }
    }
    Ok(())
}

fn check_dims(expected: usize, found: usize) -> Result<(), BufferError> {
    if expected == found { Ok(()) } else { Err(BufferError::WrongDims { expected, found }) }
}
