//! The interpreter's word on the requirements of a run.
//!
//! Compiled code checks requirements at all points that it computes, needed or not; the interpreter computes what is
//! needed only. Where closures are called in loops it is another pipeline that it runs: the one in which they are
//! called once, before.

use crate::compiled::Compiled;
use crate::error::Error;
use crate::run_options::How;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::interp::{self, Inputs};

/// A run whose requirements are asked about.
pub(crate) struct Required<'r> {
    /// The inputs as the caller gave them.
    pub(crate) given: &'r Inputs,
    /// The inputs of the pipeline that was compiled.
    pub(crate) fed: &'r Inputs,
    /// The contents of outputs before the run, if these matter.
    pub(crate) before: Option<&'r [AnyBuffer]>,
    pub(crate) how: &'r How,
}

impl Compiled {
    /// Checks the requirements of all points that are needed.
    pub(crate) fn check_required(&self, run: &Required<'_>, regions: &[Region]) -> Result<(), Error> {
        let options = interp::Options { before: run.before, limits: run.how.limits(), ..Default::default() };
        let Some(reference) = &self.parts.reference else {
            return Ok(interp::run_with(self.pipeline(), run.fed, regions, &options).map(drop)?);
        };
        let interpreter = reference.made.get_or_init(&reference.make).as_ref().map_err(Error::clone)?;
        let inputs = interpreter.fed(run.given, regions, &run.how.unobserved())?;
        Ok(interp::run_with(interpreter.pipeline(), &inputs, regions, &options).map(drop)?)
    }
}
