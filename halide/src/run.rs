//! Runs of a compiled pipeline, whatever its engine.

use crate::aliases::{Aliases, InPlace};
use crate::compiled::Compiled;
use crate::counted::Before;
use crate::error::Error;
use crate::in_place;
use crate::reference::Required;
use crate::run_options::{How, RunInputs, RunStats};
use crate::variants::regions_of;
use halide_core::Pipeline;
use halide_core::buffer::{AnyBuffer, AnyBufferMut, Region};
use halide_core::interp::{self, Given, Inputs};
use halide_core::pipeline::NoteKind;
use std::borrow::Cow;

impl Compiled {
    /// The inputs with the results of extern stages, which are computed here.
    pub(crate) fn fed(&self, inputs: &Inputs, regions: &[Region], how: &How) -> Result<Inputs, Error> {
        if self.parts.whole.is_none() {
            return Ok(inputs.clone());
        }
        let mut all = self.named(inputs)?;
        // Of images that only stages read, too.
        inputs.restricted(self.whole()).check_rules(self.whole())?;
        if !self.parts.feeders.is_empty() {
            let needs = self.needs_of_images(inputs, regions)?;
            for feeder in &self.parts.feeders {
                for (name, result) in feeder.feed(inputs, &needs, how)? {
                    all = all.image(name, result);
                }
            }
        }
        Ok(all.restricted(&self.parts.pipeline))
    }
    /// [`Compiled::run`] without waiting for a device.
    #[cfg(feature = "gpu")]
    pub(crate) async fn run_async(
        &self,
        inputs: RunInputs<'_>,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
    ) -> Result<RunStats, Error> {
        // A device may be waited for where extern stages were compiled with it.
        let fed = self.all_inputs(inputs, outputs, how)?;
        let (given, inputs) = (inputs.given, &*fed);
        self.check_rules(inputs, outputs)?;
        match &self.parts.variants {
            None => interpret(&self.parts.pipeline, inputs, outputs, how),
            Some(variants) => {
                let bound = inputs.bind(&self.parts.plan.pipeline)?;
                let asked = Required { given, fed: inputs, before: None, how };
                let required = |regions: &[Region]| self.check_required(&asked, regions);
                let aliases = Aliases::default();
                let before = || Before::new(&self.parts.pipeline, inputs, outputs, &aliases, how);
                let before = how.count.then(before).transpose()?;
                let run = variants.run_async(&self.parts.plan, &bound, outputs, how, &required);
                let (mut stats, key) = run.await?;
                if let Some(before) = before {
                    stats.counts = Some(self.counts(variants, key, before, outputs, how)?);
                }
                Ok(stats)
            }
        }
    }
    /// Checks the rules of the algorithm for the outputs' buffers, before anything is written.
    fn check_rules(&self, inputs: &Inputs, outputs: &[AnyBufferMut<'_>]) -> Result<(), Error> {
        let pipeline = &self.parts.pipeline;
        if !(pipeline.shapes.is_empty() && pipeline.alignments.is_empty()) {
            inputs.bind(pipeline)?.check_outputs(pipeline, outputs.iter().map(Given::from))?;
        }
        Ok(())
    }
    /// The inputs of the pipeline that was compiled.
    fn all_inputs<'i>(
        &self,
        inputs: RunInputs<'i>,
        outputs: &[AnyBufferMut<'_>],
        how: &How,
    ) -> Result<Cow<'i, Inputs>, Error> {
        match (inputs.fed, &self.parts.whole) {
            (Some(fed), _) => Ok(Cow::Borrowed(fed)),
            (None, None) => Ok(Cow::Borrowed(inputs.given)),
            (None, Some(_)) => self.fed(inputs.given, &regions_of(&self.parts.pipeline, outputs), how).map(Cow::Owned),
        }
    }
    /// Runs with outputs that fit the pipeline.
    pub(crate) fn run(
        &self,
        inputs: RunInputs<'_>,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        in_place: &[InPlace],
    ) -> Result<RunStats, Error> {
        if !in_place.is_empty() {
            let (inputs, aliases) = in_place::bind(self, &self.parts.proofs, inputs.given, outputs, in_place, how)?;
            return self.run_with(RunInputs { given: &inputs, fed: None }, outputs, how, &aliases);
        }
        self.run_with(inputs, outputs, how, &Aliases::default())
    }
    fn run_with(
        &self,
        inputs: RunInputs<'_>,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        aliases: &Aliases,
    ) -> Result<RunStats, Error> {
        let pipeline = &self.parts.pipeline;
        let fed = self.all_inputs(inputs, outputs, how)?;
        let (given, inputs) = (inputs.given, &*fed);
        self.check_rules(inputs, outputs)?;
        match &self.parts.variants {
            None => interpret(&self.parts.pipeline, inputs, outputs, how),
            Some(variants) => {
                let bound = inputs.bind(&self.parts.plan.pipeline)?;
                // What is printed now has been printed already, as often as the schedule says. Requirements alone bring
                // the interpreter in, when a run may have written to outputs.
                let kept = match requires(&self.parts.pipeline) {
                    true => before(&self.parts.pipeline, outputs, how)?,
                    false => None,
                };
                let asked = Required { given, fed: inputs, before: kept.as_deref(), how };
                let required = |regions: &[Region]| self.check_required(&asked, regions);
                let before = || Before::new(pipeline, inputs, outputs, aliases, how);
                let before = how.count.then(before).transpose()?;
                let (mut stats, key) = variants.run(&self.parts.plan, &bound, outputs, how, &required, aliases)?;
                if let Some(before) = before {
                    stats.counts = Some(self.counts(variants, key, before, outputs, how)?);
                }
                Ok(stats)
            }
        }
    }
}

/// Returns true if a run may ask the interpreter whether a requirement holds.
pub(crate) fn requires(pipeline: &Pipeline) -> bool {
    pipeline.notes.iter().any(|note| note.kind == NoteKind::Require)
}

/// Returns copies of the contents of outputs, if these matter.
fn before(pipeline: &Pipeline, outputs: &[AnyBufferMut<'_>], how: &How) -> Result<Option<Vec<AnyBuffer>>, Error> {
    if !pipeline.outputs.iter().any(|f| pipeline.keeps(*f)) {
        return Ok(None);
    }
    let copy = |output: &AnyBufferMut<'_>| {
        how.charge(output.used_bytes() as u64, "a copy of an output")?;
        Ok(output.to_buffer()?)
    };
    outputs.iter().map(copy).collect::<Result<Vec<_>, Error>>().map(Some)
}

fn interpret(
    pipeline: &Pipeline,
    inputs: &Inputs,
    outputs: &mut [AnyBufferMut<'_>],
    how: &How,
) -> Result<RunStats, Error> {
    let regions = regions_of(pipeline, outputs);
    let before = before(pipeline, outputs, how)?;
    let options = interp::Options { print: how.print.get(), before: before.as_deref(), limits: how.limits() };
    let results = interp::run_with(pipeline, inputs, &regions, &options)?;
    for (output, result) in outputs.iter_mut().zip(&results) {
        output.copy_from(result)?;
    }
    Ok(RunStats::default())
}
