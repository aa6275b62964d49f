//! One run of a compiled pipeline: what goes in, and where the results go.

use crate::compile::Compiled;
use crate::error::Error;
use crate::sink::Sink;
use halide_core::buffer::{AnyBuffer, AnyBufferMut, Buffer, BufferError, BufferMut, Coordinate, Region};
use halide_core::interp::{self, Inputs, RunError};
use halide_core::value::{Element, Scalar};
use halide_core::{ImageParam, Param};

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

/// How a run is to go.
#[derive(Clone, Debug, Default)]
pub(crate) struct How {
    /// How many threads parallel loops may use.
    pub(crate) threads: Option<usize>,
    /// Whether kernels are to be timed.
    pub(crate) profile: bool,
    /// Who gets what is printed.
    pub(crate) print: Sink,
}

/// What a run took.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RunStats {
    /// The most memory that intermediate values took at one time, in bytes. 0 from the interpreter, which does not say.
    pub peak_bytes: u64,
    /// What a graphics processor did, if one took part.
    #[cfg(feature = "gpu")]
    pub gpu: Option<halide_gpu::runtime::GpuStats>,
}

impl RunStats {
    /// Of a run that no graphics processor took part in.
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
    /// Who gets what is printed.
    pub(crate) fn printing(&self) -> &Sink {
        &self.how.print
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
    /// How many threads parallel loops may use, at least 1; by default as many as the target has.
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

    /// Computes the one output from coordinate 0 on, with these extents.
    pub fn realize<T: Element, C: Coordinate>(self, extents: impl AsRef<[C]>) -> Result<Buffer<T>, Error> {
        self.realize_region(&Region::of_extents(extents))
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
        let (mut buffers, fed) = self.fresh_outputs(regions)?;
        let mut views = buffers.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        match fed {
            Some(fed) => self.clone().with_given(&fed).realize_all_into(&mut views)?,
            None => self.realize_all_into(&mut views)?,
        };
        drop(views);
        Ok(buffers)
    }
    /// [`Call::realize_all`] without waiting for a device: what a page in a browser calls.
    #[cfg(feature = "gpu")]
    pub async fn realize_all_async(&self, regions: &[Region]) -> Result<Vec<AnyBuffer>, Error> {
        let (mut buffers, fed) = self.fresh_outputs(regions)?;
        let mut views = buffers.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        self.check_outputs(&views)?;
        let inputs = fed.as_ref().unwrap_or(&self.inputs);
        self.how.print.after(self.compiled.run_async(inputs, &mut views, &self.how).await)?;
        drop(views);
        Ok(buffers)
    }
    /// Memory for these regions, and the inputs with what extern stages give, where rules for shapes needed them.
    pub(crate) fn fresh_outputs(&self, regions: &[Region]) -> Result<(Vec<AnyBuffer>, Option<Inputs>), Error> {
        if let Some((image, buffer)) = self.in_place.first() {
            return Err(RunError::NoBuffer { image: image.clone(), buffer: *buffer, buffers: 0 }.into());
        }
        let funcs = self.compiled.outputs();
        let pipeline = self.compiled.pipeline();
        if regions.len() != funcs.len() {
            return Err(RunError::OutputCount { expected: funcs.len(), found: regions.len() }.into());
        }
        // Rules may want other strides than dense ones.
        let inputs = if pipeline.shapes.is_empty() { None } else { Some(self.compiled.fed(&self.inputs, regions)?) };
        let ruled = inputs.as_ref().map(|inputs| inputs.bind(pipeline)).transpose()?;
        let mut buffers = Vec::new();
        for (i, (func, region)) in funcs.iter().zip(regions).enumerate() {
            let (expected, found) = (func.dims(), region.dims());
            if expected != found {
                return Err(RunError::OutputDims { func: func.name.clone(), expected, found }.into());
            }
            if let Some(bound) = &ruled {
                buffers.extend(interp::allocate(pipeline, bound, pipeline.outputs[i], region)?);
                continue;
            }
            for &ty in &func.types {
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
        self.check_outputs(outputs)?;
        self.how.print.after(self.compiled.run(&self.inputs, outputs, &self.how, &self.in_place))
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

/// A view has the type and dimensions of its output, and the region of the other tuple elements.
fn check_view(
    view: &AnyBufferMut<'_>,
    own: &[AnyBufferMut<'_>],
    expected: halide_core::types::ScalarType,
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
