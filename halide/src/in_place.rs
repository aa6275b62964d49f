//! Runs whose output is in the memory of an input.
//!
//! The result is what a copy of the input would give. The CPU works on the one buffer, as `lower::in_place` proved that
//! it may; other engines do copy, under the same rules.

use crate::aliases::{Aliases, InPlace, Proofs};
use crate::call::Call;
use crate::compiled::Compiled;
use crate::engine::Engine;
use crate::error::Error;
use crate::run_options::How;
use halide_core::ImageParam;
use halide_core::buffer::{AnyBuffer, AnyBufferMut};
use halide_core::interp::{Given, Inputs, RunError};
use halide_sched::lower::storage::in_place::{InPlaceError, InPlaceProblem};

impl<'c> Call<'c> {
    /// The output buffer number `buffer`, of those that `realize_all_into` takes one per element of the outputs (0 with
    /// `realize_into`), is also the input `image`: it holds the input when the run begins, and the output when it ends.
    ///
    /// The result is as with a copy of the input. Ends with an error, before anything is written, where that would need
    /// the copy: see [`InPlaceProblem`] for what is allowed. An output whose first definition is the input itself costs
    /// nothing: only its updates run.
    pub fn in_place(self, image: &ImageParam, buffer: usize) -> Call<'c> {
        self.in_place_named(image.name(), buffer)
    }
    /// As [`Call::in_place`], of the input called `name`.
    pub fn in_place_named(self, name: &str, buffer: usize) -> Call<'c> {
        self.shared(InPlace { image: name.to_string(), buffer, stand_in: None })
    }
}

/// The inputs of a call with those that are outputs too, and which these are.
pub(crate) fn bind(
    compiled: &Compiled,
    proofs: &Proofs,
    inputs: &Inputs,
    outputs: &[AnyBufferMut<'_>],
    asked: &[InPlace],
    how: &How,
) -> Result<(Inputs, Aliases), Error> {
    let (pipeline, plan) = (compiled.pipeline(), compiled.plan());
    if let (Some(feeder), Some(InPlace { image, buffer, .. })) = (compiled.feeders().first(), asked.first()) {
        let output = compiled.outputs().get(*buffer).map_or("?", |f| f.name.as_str()).to_string();
        let problem = feeder.in_place_problem();
        return Err(InPlaceError { image: image.clone(), output, problem }.into());
    }
    if let (Some(callee), Some(InPlace { image, buffer, .. })) = (plan.callees.first(), asked.first()) {
        let output = compiled.outputs().get(*buffer).map_or("?", |f| f.name.as_str()).to_string();
        let problem = InPlaceProblem::Extern { stage: callee.name.clone() };
        return Err(InPlaceError { image: image.clone(), output, problem }.into());
    }
    let mut owners = Vec::new();
    for func in &pipeline.outputs {
        owners.extend((0..pipeline.funcs[*func].types.len()).map(|element| (*func, element)));
    }
    let (mut all, mut aliases, mut ruled) = (inputs.clone(), Aliases::default(), Vec::new());
    for InPlace { image: name, buffer, stand_in } in asked {
        let known: Vec<String> = pipeline
            .images
            .enumerate()
            .filter(|(id, _)| !pipeline.is_result(*id))
            .map(|(_, i)| i.name.clone())
            .collect();
        let image = pipeline.images.enumerate().find(|(_, i)| i.name == *name).map(|(id, _)| id);
        let image = image.ok_or_else(|| RunError::UnknownImage { image: name.clone(), known })?;
        let (Some(owner), Some(view)) = (owners.get(*buffer), outputs.get(*buffer)) else {
            return Err(RunError::NoBuffer { image: name.clone(), buffer: *buffer, buffers: outputs.len() }.into());
        };
        let proof = proofs.of(plan, image, *owner)?;
        // Promises are checked of elements: of a copy, since the view is borrowed for writing.
        let copies = !engine_shares(compiled.engine()) || pipeline.images[image].is_promised();
        let own = match copies {
            true => {
                how.charge(view.used_bytes() as u64, name)?;
                view.to_buffer()?
            }
            // Stands for the memory's shape only.
            false => match stand_in {
                Some(stand_in) => stand_in.clone(),
                None => AnyBuffer::untouched_like(view.ty(), view.dims())?,
            },
        };
        all = all.image(name, own);
        ruled.push((image, Given::from(view)));
        if engine_shares(compiled.engine()) {
            aliases.shared.push((image, *buffer));
            aliases.needs_exact_tails |= proof.needs_exact_tails;
            let position = pipeline.outputs.iter().position(|f| *f == owner.0).filter(|p| proof.is_copy && *p < 64);
            aliases.in_memory |= position.map_or(0, |p| 1 << p);
        }
    }
    if !(pipeline.alignments.is_empty() && pipeline.shapes.is_empty()) {
        // Of the memory itself: a copy begins elsewhere.
        let bound = all.bind(pipeline)?;
        ruled.iter().try_for_each(|(image, given)| bound.check_input(pipeline, *image, given))?;
    }
    Ok((all, aliases))
}

/// Returns true if an engine works on the caller's memory itself.
pub(crate) fn engine_shares(engine: Engine) -> bool {
    match engine {
        Engine::Interp | Engine::Eval => false,
        #[cfg(feature = "cpu")]
        Engine::Cpu => true,
        #[cfg(feature = "gpu")]
        Engine::Gpu => false,
    }
}
