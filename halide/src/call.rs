//! One run of a compiled pipeline: what goes in, and where the results go.

use crate::aliases::InPlace;
use crate::compiled::Compiled;
use crate::error::Error;
#[cfg(doc)]
use crate::limits::available_memory;
use crate::limits::{Cancel, Watch};
use crate::memory::dense_bytes;
use crate::print_sink::Sink;
pub use crate::run_options::RunStats;
use crate::run_options::{How, RunInputs, Sampling};
use halide_core::buffer::{AnyBuffer, AnyBufferMut, Buffer, BufferMut, Extents, Region};
use halide_core::interp::{self, Inputs, RunError};
use halide_core::limits::Limits;
use halide_core::value::{Element, Scalar};
use halide_core::{ImageParam, Param};
use std::time::Duration;

/// A run that is being prepared. Made by [`Compiled::inputs`]; ends with one of the `realize` methods, which check
/// everything that was given before anything is written.
///
/// Settings consume the call and give it back; `realize` methods borrow it, so one call may run several times.
///
/// ```
/// use halide::prelude::*;
/// let input = ImageParam::new("input", U8, 1);
/// let gain = Param::<u8>::new("gain").with_default(2);
/// let x = Var::new("x");
/// let mut f = Func::new("f");
/// f[x] = input[x] * gain;
/// let compiled = Pipeline::new([&f])?.compile(&Schedule::new(), &Target::host())?;
///
/// let call = compiled.inputs().image(&input, Buffer::from_slice([3], &[1u8, 2, 3])?).threads(1);
/// assert_eq!(call.realize::<u8>([3])?.to_vec(), [2, 4, 6]);
/// // Another parameter, into memory that is there already.
/// let mut out = Buffer::<u8>::new([3])?;
/// call.param(&gain, 5).realize_into(out.view_mut()?)?;
/// assert_eq!(out.to_vec(), [5, 10, 15]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a call does nothing until it is realized"]
pub struct Call<'c> {
    compiled: &'c Compiled,
    inputs: Inputs,
    how: How,
    /// Inputs that are in the memory of output buffers, by number.
    in_place: Vec<InPlace>,
}

impl Compiled {
    /// Begins a run.
    pub fn inputs(&self) -> Call<'_> {
        Call::new(self)
    }
}

impl<'c> Call<'c> {
    pub(crate) fn new(compiled: &'c Compiled) -> Call<'c> {
        Call { compiled, inputs: Inputs::new(), how: How::default(), in_place: Vec::new() }
    }

    pub(crate) fn compiled(&self) -> &'c Compiled {
        self.compiled
    }
    /// With an input in the memory of an output buffer, in place of what was given under its name.
    pub(crate) fn shared(mut self, in_place: InPlace) -> Call<'c> {
        self.in_place.retain(|earlier| earlier.image != in_place.image);
        self.in_place.push(in_place);
        self
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
        Call { how: how.clone(), ..self }
    }
    /// Begins the run, unless it is part of one that has begun: on as many threads as the target has, if the call does
    /// not say.
    pub(crate) fn begin(&self) -> Result<(How, Option<Watch>), Error> {
        let of_target = usize::try_from(self.compiled.plan().target.threads).unwrap_or(usize::MAX);
        let (how, watch) = self.how.begin()?;
        Ok((How { threads: Some(how.threads.unwrap_or(of_target)), ..how }, watch))
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
    /// Drops the inputs given so far that the pipeline does not read. An algorithm that does without one of its images
    /// or parameters, for the value of a setting or because it was simplified away, can so be called as the others are.
    /// Without this, such an input is an error, since its name may be misspelt.
    pub fn ignore_unused(mut self) -> Call<'c> {
        self.inputs = self.inputs.restricted(self.compiled.pipeline());
        self
    }
    /// Sets the number of threads that parallel loops may use, at least 1; by default as many as the target has. Never
    /// more are used than rayon's pool has that the run is in.
    pub fn threads(mut self, threads: usize) -> Call<'c> {
        self.how.threads = Some(threads.max(1));
        self
    }
    /// Also samples what threads do, and times each kernel that a GPU runs, where it can: see [`RunStats`]. The first
    /// profiled call compiles code that says where it is; other calls do not run it.
    pub fn profile(self) -> Call<'c> {
        self.profile_until(0, Duration::ZERO)
    }
    /// [`Call::profile`], of run after run into the same outputs until there are so many samples, or so much time is
    /// over: shares of a short run are known only by many. Where another run would print or update once more, it stays
    /// at one.
    pub fn profile_until(mut self, samples: u64, time: Duration) -> Call<'c> {
        self.how.profile = Some(Sampling { samples, time });
        self
    }
    /// Also counts what each Func computes, reads, writes and allocates: see [`RunStats`]. The first such call compiles
    /// code that counts, which runs after the pipeline.
    pub fn count(mut self) -> Call<'c> {
        self.how.count = true;
        self
    }

    /// Gives the lines that the pipeline prints to `sink`, without their ends; by default they go to the standard error
    /// output. Parallel loops call it from several threads at once, each time with a whole line. Where it panics, the
    /// run gives it no more lines and ends as [`Error::Print`].
    pub fn print_to(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Call<'c> {
        self.how.print = Sink::new(sink);
        self
    }

    /// Computes the one output from coordinate 0 on, with these extents: `call.realize::<u8>([width, height])`.
    ///
    /// # Errors
    /// The pipeline has several outputs or another type, an input is missing or too small, the schedule promises what
    /// does not hold, or the run meets one of its limits.
    pub fn realize<T: Element>(&self, extents: impl Extents) -> Result<Buffer<T>, Error> {
        self.realize_region(&extents.region())
    }
    /// Computes a region of the one output.
    ///
    /// # Errors
    /// As of [`Call::realize`].
    pub fn realize_region<T: Element>(&self, region: &Region) -> Result<Buffer<T>, Error> {
        let expected = self.compiled.outputs().iter().map(|f| f.types.len()).sum();
        if expected != 1 {
            return Err(RunError::OutputBuffers { expected, found: 1 }.into());
        }
        let output = self.realize_all(std::slice::from_ref(region))?.swap_remove(0);
        self.compiled.output_error(0, output.typed())
    }
    /// Computes a region of each output: one buffer per tuple element of each, in order.
    ///
    /// # Errors
    /// Another number of regions than outputs, and as of [`Call::realize`].
    pub fn realize_all(&self, regions: &[Region]) -> Result<Vec<AnyBuffer>, Error> {
        let (how, _watch) = self.begin()?;
        let (mut buffers, fed) = how.after(self.fresh_outputs(regions, &how))?;
        let mut views = buffers.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        self.run_into(&mut views, &how, fed.as_ref())?;
        drop(views);
        Ok(buffers)
    }
    /// [`Call::realize_all`] without waiting for a device: what a page in a browser calls.
    ///
    /// # Errors
    /// As of [`Call::realize_all`].
    #[cfg(feature = "gpu")]
    pub async fn realize_all_async(&self, regions: &[Region]) -> Result<Vec<AnyBuffer>, Error> {
        let (how, _watch) = self.begin()?;
        let (mut buffers, fed) = how.after(self.fresh_outputs(regions, &how))?;
        let mut views = buffers.iter_mut().map(AnyBuffer::view_mut).collect::<Result<Vec<_>, _>>()?;
        self.check_outputs(&views)?;
        let inputs = RunInputs { given: &self.inputs, fed: fed.as_ref() };
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
        if let Some(InPlace { image, buffer, .. }) = self.in_place.first() {
            return Err(RunError::NoBuffer { image: image.clone(), buffer: *buffer, buffers: 0 }.into());
        }
        let funcs = self.compiled.outputs();
        let pipeline = self.compiled.pipeline();
        if regions.len() != funcs.len() {
            return Err(RunError::OutputCount { expected: funcs.len(), found: regions.len() }.into());
        }
        for (i, (func, region)) in funcs.iter().zip(regions).enumerate() {
            let (expected, found) = (func.dims(), region.dims());
            if expected != found {
                return Err(RunError::OutputDims { func: func.name.clone(), expected, found }.into());
            }
            self.compiled.output_error(i, region.check())?;
        }
        // Rules may want other strides than dense ones.
        let inputs =
            if pipeline.shapes.is_empty() { None } else { Some(self.compiled.fed(&self.inputs, regions, how)?) };
        let ruled = inputs.as_ref().map(|inputs| inputs.bind(pipeline)).transpose()?;
        let mut buffers = Vec::new();
        for (i, (func, region)) in funcs.iter().zip(regions).enumerate() {
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
    ///
    /// # Errors
    /// As of [`Call::realize`], and an output that breaks a rule of the algorithm for its shape.
    pub fn realize_into<T: Element>(&self, output: BufferMut<'_, T>) -> Result<RunStats, Error> {
        self.realize_all_into(&mut [output.into_any()])
    }
    /// Computes the outputs for all coordinates of the views, in place: one view per tuple element of each output.
    ///
    /// # Errors
    /// Views of another number, type or shape than the outputs, and as of [`Call::realize_into`].
    pub fn realize_all_into(&self, outputs: &mut [AnyBufferMut<'_>]) -> Result<RunStats, Error> {
        let (how, _watch) = self.begin()?;
        self.run_into(outputs, &how, None)
    }
    fn run_into(&self, outputs: &mut [AnyBufferMut<'_>], how: &How, fed: Option<&Inputs>) -> Result<RunStats, Error> {
        self.check_outputs(outputs)?;
        let inputs = RunInputs { given: &self.inputs, fed };
        how.after(self.compiled.run(inputs, outputs, how, &self.in_place))
    }

    fn check_outputs(&self, outputs: &[AnyBufferMut<'_>]) -> Result<(), Error> {
        Ok(self.compiled.pipeline().check_output_views(outputs)?)
    }
}

impl<'c> Call<'c> {
    /// Lets the run have at most so many bytes of memory at once: what it allocates itself, that is outputs that the
    /// caller does not give, values of Funcs and copies. Where it would need more, it ends with [`Error::Memory`]:
    /// before it starts if the sizes are known then, so that nothing is written. Not counted are inputs and outputs
    /// that the caller gives, memory of a GPU, and up to 256 KiB for each thread that small values
    /// share. The stack that code needs where a thread has too little left is never refused, but leaves less for the
    /// rest.
    ///
    /// By default a run may have what the machine has available when it comes to need more than 64 MiB:
    /// [`available_memory`].
    pub fn memory_cap(mut self, bytes: u64) -> Call<'c> {
        self.how_mut().asked.memory_cap = Some(bytes);
        self
    }
    /// Ends the run with [`Error::GaveUp`] if it is not done after `time`, which begins with the `realize` method. What
    /// outputs hold then is not specified, and all memory of the run is free.
    ///
    /// Compiled code looks whether it is to end at every iteration of parallel loops, and of serial loops around others
    /// of 64 iterations or more; the evaluator and the interpreter at every iteration and every batch of points. So the
    /// run ends after at most one loop without such a loop in it, on each thread: milliseconds, unless that loop alone
    /// is very long. What a driver does with one kernel, the closure of an extern stage, and code that is being
    /// compiled are waited for.
    pub fn give_up_after(mut self, time: Duration) -> Call<'c> {
        self.how_mut().asked.give_up_after = Some(time);
        self
    }
    /// Lets `handle` end the run from another thread with [`Error::Cancelled`], as soon as [`Call::give_up_after`]
    /// says. One handle may be given to any number of runs.
    pub fn cancel_with(mut self, handle: &Cancel) -> Call<'c> {
        self.how_mut().asked.cancel = Some(handle.clone());
        self
    }
}
