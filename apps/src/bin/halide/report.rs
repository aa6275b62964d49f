//! `--print`, `--explain` and `--explain-bounds`: what was compiled, as text.

use crate::Failure;
use crate::args::Print;
use crate::gpu;
use halide::prelude::*;

/// The texts asked for.
pub(crate) fn describe(
    compiled: &Compiled,
    schedule: &Schedule,
    print: Option<Print>,
    explain: bool,
    explain_bounds: Option<&str>,
) -> Result<String, Failure> {
    let mut texts = Vec::new();
    if let Some(print) = print {
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
    if explain {
        texts.push(compiled.explain()?);
    }
    if let Some(func) = explain_bounds {
        texts.push(compiled.explain_bounds(func)?);
    }
    Ok(texts.join("\n"))
}
