//! `--print`, `--explain`, `--explain-bounds` and `--explain-nest`: what was compiled, as text.

use super::args::{Print, RunArgs};
use super::failure::Failure;
use super::gpu;
use crate::job::Job;
use halide::prelude::*;

/// The texts asked for.
pub(crate) fn describe(job: &Job, compiled: &Compiled, schedule: &Schedule, args: &RunArgs) -> Result<String, Failure> {
    let mut texts = Vec::new();
    if let Some(print) = args.print {
        texts.push(match print {
            Print::Schedule => schedule.to_string(),
            Print::Loops => compiled.loops()?,
            Print::Ir => compiled.ir()?,
            Print::Clif => compiled.clif()?,
            Print::Asm => compiled.asm()?,
            Print::Wgsl => gpu::wgsl(compiled)?,
            Print::Spirv => gpu::spirv(compiled)?,
            Print::Passes => {
                let passes = compiled.passes()?.into_iter();
                passes.map(|(name, text)| format!("---- after {name} ----\n{text}")).collect::<Vec<_>>().join("\n")
            }
        });
    }
    if args.explain {
        texts.push(compiled.explain()?);
    }
    if let Some(func) = &args.explain_bounds {
        texts.push(compiled.explain_bounds(func)?);
    }
    if args.explain_nest {
        texts.push(job.explain_nest(compiled)?);
    }
    Ok(texts.join("\n"))
}
