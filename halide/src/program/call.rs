//! One run of a compiled program: what goes in.

use super::compile::CompiledProgram;
use super::error::{ProgramErrorKind, ProgramErrors};
use super::node::{Count, Node};
use super::result::ProgramResult;
use super::run::Runner;
use super::slots::SlotSize;
use crate::error::Error;
use crate::limits::Cancel;
use crate::print_sink::Sink;
use crate::run_options::How;
use halide_core::buffer::AnyBuffer;
use halide_core::error::Location;
use halide_core::interp::{Inputs, RunError};
use halide_core::value::{Element, Scalar};
use halide_core::{ImageParam, Param};
use std::time::Duration;

/// A run of a program that is being prepared. Made by [`CompiledProgram::inputs`]; ends with [`ProgramCall::run`].
#[derive(Clone, Debug)]
#[must_use = "a call does nothing until it is run"]
pub struct ProgramCall<'p> {
    program: &'p CompiledProgram,
    inputs: Inputs,
    how: How,
}

impl CompiledProgram {
    /// Begins a run.
    pub fn inputs(&self) -> ProgramCall<'_> {
        ProgramCall { program: self, inputs: Inputs::new(), how: How::default() }
    }
}

impl<'p> ProgramCall<'p> {
    /// Gives the slot that has the name of `image`. The buffer is shared, not copied; a program that writes the slot
    /// leaves the buffer as it is.
    pub fn image(self, image: &ImageParam, buffer: impl Into<AnyBuffer>) -> ProgramCall<'p> {
        self.image_named(image.name(), buffer)
    }
    /// Gives the slot called `slot`.
    pub fn image_named(mut self, slot: &str, buffer: impl Into<AnyBuffer>) -> ProgramCall<'p> {
        self.inputs = self.inputs.image(slot, buffer);
        self
    }
    /// Gives a parameter of steps.
    pub fn param<T: Element>(self, param: &Param<T>, value: T) -> ProgramCall<'p>
    where
        Scalar: From<T>,
    {
        self.param_named(&param.name(), value)
    }
    /// Gives the parameter called `name`, of steps or of [`Program::repeat_param`](super::Program::repeat_param).
    pub fn param_named(mut self, name: &str, value: impl Into<Scalar>) -> ProgramCall<'p> {
        self.inputs = self.inputs.param(name, value);
        self
    }
    /// Sets the number of threads, as [`Call::threads`](crate::Call::threads) does.
    pub fn threads(mut self, threads: usize) -> ProgramCall<'p> {
        self.how.threads = Some(threads.max(1));
        self
    }
    /// Lets the run have at most so many bytes at once, slots included, as
    /// [`Call::memory_cap`](crate::Call::memory_cap) does.
    pub fn memory_cap(mut self, bytes: u64) -> ProgramCall<'p> {
        self.how.asked.memory_cap = Some(bytes);
        self
    }
    /// Ends the run if it is not done after `time`, as [`Call::give_up_after`](crate::Call::give_up_after) does.
    pub fn give_up_after(mut self, time: Duration) -> ProgramCall<'p> {
        self.how.asked.give_up_after = Some(time);
        self
    }
    /// Lets `handle` end the run, as [`Call::cancel_with`](crate::Call::cancel_with) does.
    pub fn cancel_with(mut self, handle: &Cancel) -> ProgramCall<'p> {
        self.how.asked.cancel = Some(handle.clone());
        self
    }
    /// Gives the lines that steps print to `sink`, as [`Call::print_to`](crate::Call::print_to) does.
    pub fn print_to(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> ProgramCall<'p> {
        self.how.print = Sink::new(sink);
        self
    }

    /// Runs the program.
    ///
    /// # Errors
    /// An input that is missing, unknown or of another type or number of dimensions than its slot; a parameter that
    /// nobody takes; [`Error::Program`] with the step that failed, and the iterations of the loops around it; and the
    /// limits of the run.
    #[track_caller]
    pub fn run(&self) -> Result<ProgramResult, Error> {
        self.run_on(ProgramResult::default(), Location::caller()).map(ProgramResult::without_spare)
    }
    /// Runs the program on the memory of an earlier result, which becomes the new one: nothing is allocated where the
    /// slots have the same regions. Buffers of the result that somebody else still has are left alone. If the run
    /// fails, the result is empty.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (x, i) = (ImageParam::new("x", I32, 1), Var::new("i"));
    /// let mut next = Func::new("y");
    /// next[i] = x[i] + 1;
    /// let mut program = Program::new("one");
    /// program.input("x", I32, 1).state_like("y", "x").run(&Pipeline::new([&next])?, &Schedule::new());
    /// let compiled = program.compile(&Target::host())?;
    /// let mut result = compiled.inputs().image(&x, Buffer::from_slice([2], &[1, 2])?).run()?;
    /// assert_eq!((result.state::<i32>("y")?.to_vec(), result.stats().buffers), (vec![2, 3], 1));
    /// compiled.inputs().image(&x, Buffer::from_slice([2], &[5, 6])?).run_into(&mut result)?;
    /// assert_eq!((result.state::<i32>("y")?.to_vec(), result.stats().buffers), (vec![6, 7], 0));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`ProgramCall::run`].
    #[track_caller]
    pub fn run_into(&self, result: &mut ProgramResult) -> Result<(), Error> {
        let earlier = std::mem::take(result);
        *result = self.run_on(earlier, Location::caller())?;
        Ok(())
    }

    fn run_on(&self, earlier: ProgramResult, at: Location) -> Result<ProgramResult, Error> {
        self.check_images()?;
        self.check_params(at)?;
        let (how, _watch) = self.how.begin()?;
        how.after(Runner::run(&self.program.parts, &self.inputs, &how, at, earlier))
    }

    /// Checks that there is a right buffer for each slot that the call gives, and no other.
    fn check_images(&self) -> Result<(), Error> {
        let given = || self.program.parts.slots.iter().filter(|slot| matches!(slot.size, SlotSize::Given));
        if let Some(image) = self.inputs.image_names().find(|name| given().all(|slot| slot.name != **name)) {
            let known = given().map(|slot| slot.name.clone()).collect();
            return Err(RunError::UnknownImage { image: image.to_string(), known }.into());
        }
        for slot in given() {
            let image = slot.name.clone();
            let Some(buffer) = self.inputs.get(&image) else { return Err(RunError::MissingImage { image }.into()) };
            if buffer.ty() != slot.ty {
                return Err(RunError::ImageType { image, expected: slot.ty, found: buffer.ty() }.into());
            }
            let found = buffer.dims().len();
            if found != slot.dims {
                return Err(RunError::ImageDims { image, expected: slot.dims, found }.into());
            }
        }
        Ok(())
    }
    /// Checks that each parameter is taken by a step or a loop.
    fn check_params(&self, at: Location) -> Result<(), Error> {
        let parts = &self.program.parts;
        let of_steps = parts.steps.iter().flat_map(|step| step.bound.step.pipeline.params.iter());
        let mut known: Vec<String> = of_steps.map(|param| param.name.clone()).collect();
        counts(&parts.body, &mut known);
        known.sort();
        known.dedup();
        match self.inputs.param_names().find(|name| known.iter().all(|known| known != name)) {
            None => Ok(()),
            Some(param) => {
                let kind = ProgramErrorKind::UnknownParam { param: param.to_string(), known };
                Err(ProgramErrors::one(at, None, kind).into())
            }
        }
    }
}

/// Adds the parameters that say how often loops run.
fn counts(nodes: &[Node], names: &mut Vec<String>) {
    for node in nodes {
        match node {
            Node::Step(_) => {}
            Node::Repeat { times, body, .. } => {
                if let Count::Param(param) = times {
                    names.push(param.clone());
                }
                counts(body, names);
            }
            Node::Once { body, .. } => counts(body, names),
        }
    }
}
