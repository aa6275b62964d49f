//! Kernels as WGSL, line by line.

use super::definitions;
use super::nest::Loops;
use super::rows::{CodeRow, CodeUnit, Language, Purpose};
use crate::compiled::Compiled;
use crate::error::Error;
use halide_gpu::codegen::{Options, compile};
use halide_ir::code_place::CodePlace;

/// The kernels of the main variant; none if no device runs some of it.
pub(super) fn units(compiled: &Compiled, loops: &Loops) -> Result<Vec<CodeUnit>, Error> {
    let Some((program, device)) = compiled.on_device() else { return Ok(Vec::new()) };
    let features = device.gpu().features();
    let numbers = definitions::numbers(compiled.plan());
    let row = |(text, place): (String, Option<CodePlace>)| CodeRow {
        text,
        definition: place.and_then(|place| numbers.get(&place.definition?).copied()),
        within: place.and_then(|place| loops.row_of(program, place.within?)),
        purpose: place.map(|_| Purpose::Body),
    };
    let mut all = Vec::new();
    for (id, kernel) in program.kernels.enumerate() {
        let code = compile(program, id, &Options { features, ..Options::default() })?;
        let lines = code.wgsl_lines(features)?.into_iter().map(row).collect();
        all.push(CodeUnit { name: kernel.name.clone(), language: Language::Wgsl, lines });
    }
    Ok(all)
}
