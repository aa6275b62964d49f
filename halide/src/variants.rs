//! The variants of one compiled pipeline.
//!
//! The main variant is made at once. It is fast and assumes what is so for nearly every call: outputs at least as large
//! as the factors of splits, inputs with room for rounded-up reads, rows without gaps. A call that it does not serve
//! ends with a fault before anything is written; then the variant for such calls is made, once, and serves this one.
//! Calls with an empty buffer begin with a variant of their own: bounds rely on at least one element of each.
//!
//! The *exact* variant has guards in place of shifted tails, others take interleaved buffers, or any stride. A
//! requirement that fails may be at a point that was computed and that nobody needs: the interpreter decides and words
//! the error, and if all is well the *unchecked* variant runs. The variant that checks accesses in place runs where a
//! check outside of loops asked too much (`Fault::Unproved`).

use crate::aliases::Aliases;
#[cfg(feature = "cpu")]
use crate::code_cache::CodeOrigin;
use crate::counting::CountingCode;
use crate::engine::Machine;
use crate::error::Error;
use crate::interleaved::pixels;
use crate::once_map::OnceMap;
use crate::run_options::{How, RunStats};
use crate::variant_code::{Code, Variant};
use crate::variant_key::VariantKey;
use halide_core::buffer::{AnyBufferMut, Region};
use halide_core::ids::FuncId;
use halide_core::interp::Bound;
use halide_core::pipeline::PipelineData;
use halide_ir::FaultId;
#[cfg(feature = "gpu")]
use halide_ir::Program;
use halide_sched::plan::Plan;
use std::sync::Arc;

/// Says what of the algorithm's requirements does not hold where regions of the outputs need it.
type Required<'r> = &'r dyn Fn(&[Region]) -> Result<(), Error>;

/// The variant that did not serve a call, and the fault that ended its run.
type Because = Option<(Arc<Variant>, FaultId, Vec<i64>)>;

/// A cache of variants.
pub(crate) struct Variants {
    machine: Machine,
    main: Arc<Variant>,
    others: OnceMap<VariantKey, Arc<Variant>, Error>,
    /// Code that counts what variants compute.
    counting: OnceMap<VariantKey, Arc<CountingCode>, Error>,
}

impl Variants {
    /// Makes the main variant.
    pub(crate) fn new(plan: &Plan, machine: Machine) -> Result<Variants, Error> {
        let main = Arc::new(Variant::new(plan, &machine, VariantKey::default())?);
        Ok(Variants { machine, main, others: OnceMap::default(), counting: OnceMap::default() })
    }
    /// The machine that variants are compiled for.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }
    /// The program and the kernels of the main variant.
    #[cfg(feature = "gpu")]
    pub(crate) fn on_device(&self) -> Option<(&Program, &halide_gpu::runtime::GpuProgram)> {
        match &self.main.code {
            Code::Hosted(code) => Some((&self.main.program, &code.kernels)),
            #[cfg(feature = "cpu")]
            Code::Gpu(code) => Some((&self.main.program, &code.kernels)),
            _ => None,
        }
    }

    /// The program of the main variant as text.
    pub(crate) fn main_text(&self) -> String {
        self.main.program.to_string()
    }

    /// The loops for which the main variant has no code with vectors as wide as the target's, each with the reason.
    pub(crate) fn refusals(&self) -> Vec<(String, String)> {
        match &self.main.code {
            #[cfg(feature = "cpu")]
            Code::Cpu(executable) => executable.refusals().to_vec(),
            _ => Vec::new(),
        }
    }

    /// The variants made so far, the main one first.
    pub(crate) fn made(&self) -> Vec<VariantKey> {
        self.made_because().into_iter().map(|(key, _)| key).collect()
    }
    /// The variants made so far, each with the reason that the one before it did not serve a call.
    pub(crate) fn made_because(&self) -> Vec<(VariantKey, Option<String>)> {
        let made = self.others.entries().into_iter().map(|(key, variant)| (key, variant.because.clone()));
        std::iter::once((VariantKey::default(), None)).chain(made).collect()
    }

    /// The variants made so far with the origin of the code of each, the main one first.
    #[cfg(feature = "cpu")]
    pub(crate) fn origins(&self) -> Vec<(VariantKey, CodeOrigin)> {
        let made = self.others.entries().into_iter().map(|(key, variant)| (key, variant.origin.clone()));
        std::iter::once((VariantKey::default(), self.main.origin.clone())).chain(made).collect()
    }

    /// [`Variants::new`], without waiting for the driver.
    #[cfg(feature = "gpu")]
    pub(crate) async fn new_async(plan: &Plan, machine: Machine) -> Result<Variants, Error> {
        let main = Arc::new(Variant::new_async(plan, &machine, VariantKey::default()).await?);
        Ok(Variants { machine, main, others: OnceMap::default(), counting: OnceMap::default() })
    }
    /// [`Variants::run`], without waiting for the device.
    #[cfg(feature = "gpu")]
    pub(crate) async fn run_async(
        &self,
        plan: &Plan,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        required: Required<'_>,
    ) -> Result<(RunStats, VariantKey), Error> {
        let (mut key, mut because) = (VariantKey::of_call(bound, outputs.iter().map(AnyBufferMut::dims)), None);
        loop {
            let variant = self.get_async(plan, key, because.take()).await?;
            if !key.checks_in_place && variant.may_end_midway() && variant.cannot_run_twice() {
                key.checks_in_place = true;
                continue;
            }
            match variant.run_async(plan, bound, outputs, how).await {
                Ok(stats) => return Ok((stats, key)),
                Err(failure) => {
                    let required = || required(&regions_of(&plan.pipeline, outputs));
                    let (next, fault, args) =
                        variant.after(key, failure, required, || pixels(bound.images.iter(), outputs))?;
                    (key, because) = (next, Some((variant, fault, args)));
                }
            }
        }
    }
    #[cfg(feature = "gpu")]
    async fn get_async(&self, plan: &Plan, key: VariantKey, because: Because) -> Result<Arc<Variant>, Error> {
        if key == VariantKey::default() {
            return Ok(self.main.clone());
        }
        if let Some(made) = self.others.get(&key) {
            return Ok(made);
        }
        // Nothing is held meanwhile, since nobody may wait; who comes second uses what is there by then.
        let made = Variant::new_async(plan, &self.machine, key).await.map(|variant| made_for(variant, because));
        self.others.get_or_make(&key, || made)
    }

    /// Runs with the first variant that serves the call; also returns its key.
    pub(crate) fn run(
        &self,
        plan: &Plan,
        bound: &Bound,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        required: Required<'_>,
        aliases: &Aliases,
    ) -> Result<(RunStats, VariantKey), Error> {
        // Where memory is shared, no point may be computed twice, and no run begun twice.
        let Aliases { in_memory, needs_exact_tails: exact_tails, .. } = *aliases;
        let is_shared = !aliases.shared.is_empty();
        let mut key = VariantKey {
            exact_tails,
            in_memory,
            marks: how.profile.is_some(),
            ..VariantKey::of_call(bound, outputs.iter().map(AnyBufferMut::dims))
        };
        let mut because = None;
        loop {
            let variant = self.get(plan, key, because.take())?;
            if !key.checks_in_place && variant.may_end_midway() && (is_shared || variant.cannot_run_twice()) {
                key.checks_in_place = true;
                continue;
            }
            match variant.run(plan, bound, outputs, how, aliases) {
                Ok(stats) => return Ok((stats, key)),
                Err(failure) => {
                    let required = || required(&regions_of(&plan.pipeline, outputs));
                    let (next, fault, args) =
                        variant.after(key, failure, required, || pixels(bound.images.iter(), outputs))?;
                    (key, because) = (next, Some((variant, fault, args)));
                }
            }
        }
    }

    /// Code that counts what the variant of `key` computes.
    pub(crate) fn counting(&self, plan: &Plan, key: VariantKey) -> Result<Arc<CountingCode>, Error> {
        let key = VariantKey { marks: false, ..key };
        self.counting.get_or_make(&key, || CountingCode::new(plan, &self.machine, key).map(Arc::new))
    }

    fn get(&self, plan: &Plan, key: VariantKey, because: Because) -> Result<Arc<Variant>, Error> {
        if key == VariantKey::default() {
            return Ok(self.main.clone());
        }
        let make = || Variant::new(plan, &self.machine, key).map(|variant| made_for(variant, because));
        self.others.get_or_make(&key, make)
    }
}

/// Returns a new variant with the reason that it was made.
fn made_for(mut variant: Variant, because: Because) -> Arc<Variant> {
    variant.because = because.and_then(|(earlier, fault, args)| earlier.reason(fault, &args));
    Arc::new(variant)
}

/// The region of each output.
pub(crate) fn regions_of(pipeline: &PipelineData, outputs: &[AnyBufferMut<'_>]) -> Vec<Region> {
    let mut next = 0;
    let region = |func: &FuncId| {
        let region = outputs[next].region();
        next += pipeline.funcs[*func].types.len();
        region
    };
    pipeline.outputs.iter().map(region).collect()
}

#[cfg(test)]
mod tests {
    use crate::engine::Machine;
    use crate::variant_code::Variant;
    use crate::variant_key::VariantKey;
    use crate::variants::Variants;
    use halide_core::{Func, Pipeline, Var};
    use halide_ir::target::Target;
    use halide_sched::schedule::Schedule;
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_variant_is_compiled_while_another_is_being_compiled() {
        let (mut f, x) = (Func::new("f"), Var::new("x"));
        f[x] = x + 1;
        let pipeline = Pipeline::new([&f]).unwrap();
        let plan = halide_sched::plan::resolve(&pipeline, &Schedule::new(), &Target::host()).unwrap();
        let variants = Variants::new(&plan, Machine::Evaluator).unwrap();
        let exact = VariantKey { exact_tails: true, ..VariantKey::default() };
        let strided = VariantKey { generic_strides: true, ..VariantKey::default() };
        let (begun, has_begun) = mpsc::channel();
        let (done, is_done) = mpsc::channel();
        let other_was_done = thread::scope(|s| {
            let (variants, plan) = (&variants, &plan);
            let first = s.spawn(move || {
                let mut other_was_done = false;
                let made = variants.others.get_or_make(&exact, || {
                    begun.send(()).unwrap();
                    // A lock that is held meanwhile would make this end for the time alone.
                    other_was_done = is_done.recv_timeout(Duration::from_secs(60)).is_ok();
                    Variant::new(plan, &Machine::Evaluator, exact).map(Arc::new)
                });
                made.map(|_| other_was_done)
            });
            has_begun.recv().unwrap();
            variants.get(plan, strided, None).map(drop).unwrap();
            // The first may have given up waiting.
            let _ = done.send(());
            first.join().unwrap()
        });
        assert!(other_was_done.unwrap(), "the second variant waited for the first");
        assert_eq!(variants.made(), [VariantKey::default(), strided, exact]);
    }
}
