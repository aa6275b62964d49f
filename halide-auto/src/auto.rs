//! The choice of a schedule: with kernels for targets with a GPU; for others, beginnings that may be better are tried,
//! such as copies of Funcs for those consumers that want them elsewhere.

use crate::chooser::Chooser;
use crate::chosen::{Auto, AutoOptions, Inspect};
use crate::error::AutoError;
use crate::estimate::Estimates;
use crate::kernels;
use crate::tuning::MOST_COPIES;
use halide_core::pipeline::Pipeline;
use halide_ir::target::Target;

/// Chooses a schedule for sizes, without running anything. `inspect` tells what the compiler makes of a schedule; a
/// search goes on where that is slow code. Equal questions, with equal answers of `inspect`, have equal answers.
///
/// # Errors
/// Estimates with mistakes, and algorithms that no schedule can lower.
pub fn auto_schedule(
    pipeline: &Pipeline,
    target: &Target,
    sizes: &Estimates,
    options: &AutoOptions,
    inspect: &mut Inspect<'_>,
) -> Result<Auto, AutoError> {
    if let Some(stage) = pipeline.externs.first() {
        return Err(AutoError::Extern { func: stage.name.clone() });
    }
    let complete = sizes.complete(pipeline).map_err(AutoError::Estimates)?;
    let machine = options.machine_for(target);
    let options = &AutoOptions { keep: options.keep.for_pipeline(pipeline), ..options.clone() };
    let chooser = Chooser { pipeline, target, machine: &machine, complete: &complete, options };
    if let Some(gpu) = target.gpu {
        return kernels::choose(&chooser, gpu, inspect);
    }
    let (mut best, copies) = chooser.answer(&options.keep, inspect)?;
    let breadth_first_ns = best.breadth_first_ns;
    let mut copies = copies.into_iter();
    for _ in 0..MOST_COPIES {
        let Some(begins) = copies.next() else { break };
        // What cannot be copied so is not; the schedule that is there stays.
        let Ok((found, next)) = chooser.answer(&begins, inspect) else { continue };
        let (priced, mut refused) = (best.priced + found.priced, std::mem::take(&mut best.refused));
        refused.extend(found.refused.iter().cloned());
        best = Auto { priced, refused, ..best };
        if found.predicted_ns < best.predicted_ns {
            best = Auto { breadth_first_ns, priced: best.priced, refused: best.refused, ..found };
            copies = next.into_iter();
        }
    }
    Ok(best)
}
