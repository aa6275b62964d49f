//! The counts of a call that was run.

use crate::aliases::Aliases;
use crate::compiled::{Compiled, Parts};
use crate::counting::Needs;
use crate::counts::FuncCounts;
use crate::error::Error;
use crate::print_sink::Sink;
use crate::run_options::How;
use crate::variant_key::VariantKey;
use crate::variants::Variants;
use halide_core::Pipeline;
use halide_core::buffer::{AnyBuffer, AnyBufferMut};
use halide_core::interp::Inputs;

/// The inputs and outputs of a call as its run finds them, for counts that depend on these.
pub(crate) struct Before {
    inputs: Inputs,
    /// Copies of the outputs, if a run reads what they hold.
    outputs: Option<Vec<AnyBuffer>>,
}

impl Before {
    /// Keeps what a run of a call both reads and changes: outputs that it updates, and inputs in the memory of outputs.
    pub(crate) fn new(
        pipeline: &Pipeline,
        inputs: &Inputs,
        outputs: &[AnyBufferMut<'_>],
        aliases: &Aliases,
        how: &How,
    ) -> Result<Before, Error> {
        let is_kept = pipeline.outputs.iter().any(|func| pipeline.keeps(*func));
        if !is_kept && aliases.shared.is_empty() {
            return Ok(Before { inputs: inputs.clone(), outputs: None });
        }
        let outputs = copies(outputs, how)?;
        let mut inputs = inputs.clone();
        for (image, buffer) in &aliases.shared {
            inputs = inputs.image(&pipeline.images[*image].name, outputs[*buffer].clone());
        }
        Ok(Before { inputs, outputs: Some(outputs) })
    }
}

impl Compiled {
    /// The counts of a call that was run by the variant of `key`. Where they depend on what is computed, all of it is
    /// computed once more, into memory of its own.
    pub(crate) fn counts(
        &self,
        variants: &Variants,
        key: VariantKey,
        before: Before,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
    ) -> Result<Vec<FuncCounts>, Error> {
        let Parts { pipeline, plan, needs, .. } = &*self.parts;
        let how = How { print: Sink::new(|_: &str| ()), ..how.unobserved() };
        let code = variants.counting(plan, key)?;
        let bound = before.inputs.bind(&plan.pipeline)?;
        let values = match (code.alone, before.outputs) {
            (true, _) => code.run(plan, &bound, outputs, &how)?,
            (false, Some(mut kept)) => code.run(plan, &bound, &mut views(&mut kept)?, &how)?,
            (false, None) => code.run(plan, &bound, &mut views(&mut copies(outputs, &how)?)?, &how)?,
        };
        let mut counts = code.counts(&values);
        if let Some(Needs { plan, code }) = needs.get_or_init(|| Needs::new(pipeline, plan, variants.machine())) {
            let bound = before.inputs.bind(&plan.pipeline)?;
            let needed = code.counts(&code.run(plan, &bound, outputs, &how)?);
            for of in &mut counts {
                of.needed = needed.iter().find(|need| need.func == of.func).map(|need| need.points);
            }
        }
        Ok(counts)
    }
}

/// Copies of outputs, which are charged.
fn copies(outputs: &[AnyBufferMut<'_>], how: &How) -> Result<Vec<AnyBuffer>, Error> {
    let copy = |view: &AnyBufferMut<'_>| {
        how.charge(view.used_bytes() as u64, "a copy of an output")?;
        Ok(view.to_buffer()?)
    };
    outputs.iter().map(copy).collect()
}

fn views(buffers: &mut [AnyBuffer]) -> Result<Vec<AnyBufferMut<'_>>, Error> {
    Ok(buffers.iter_mut().map(AnyBuffer::view_mut).collect::<Result<_, _>>()?)
}
