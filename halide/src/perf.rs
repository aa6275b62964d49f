//! Compiled code for profilers, where the environment asks for it: `HALIDE_PERF=jitdump`.
//!
//! ```sh
//! HALIDE_PERF=jitdump perf record -k mono -o /tmp/perf.data target/release/halide run blur --bench 50
//! perf inject --jit -i /tmp/perf.data -o /tmp/perf.jit.data
//! perf report -i /tmp/perf.jit.data -F overhead,srcline
//! ```
//!
//! Each instruction has the line of the definition whose work it does. Files lie in the folder that `HALIDE_PERF_DIR`
//! names, or in that of temporary files; nothing deletes them.

use crate::error::Error;
use halide_cpu::Executable;
use halide_cpu::jitdump::{self, JitDump};
use halide_ir::code_place::CodePlace;
use halide_sched::plan::Plan;
use std::path::PathBuf;

/// The variable that asks for it, its one value, and the variable that names a folder.
const ASKS: &str = "HALIDE_PERF";
const JITDUMP: &str = "jitdump";
const FOLDER: &str = "HALIDE_PERF_DIR";

/// Returns true if the environment asks for dumps.
///
/// # Errors
/// It asks for something else.
pub(crate) fn is_asked() -> Result<bool, Error> {
    match std::env::var(ASKS) {
        Ok(value) if value == JITDUMP => Ok(true),
        Ok(value) if !value.is_empty() => Err(Error::Perf {
            problem: format!("{ASKS}={value} asks for an unknown form; {JITDUMP} is the one there is"),
        }),
        _ => Ok(false),
    }
}

/// Writes the code of a plan for profilers, if the environment asks for it.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn dump(plan: &Plan, code: &Executable) -> Result<Option<JitDump>, Error> {
    if !is_asked()? {
        return Ok(None);
    }
    let folder = std::env::var_os(FOLDER).map_or_else(std::env::temp_dir, PathBuf::from);
    let line = |place: CodePlace| {
        let (func, update) = place.definition?;
        let def = plan.pipeline.funcs.get(func)?;
        let at = def.stages.get(update).map_or(def.at, |stage| stage.at);
        Some((at.file.to_string(), at.line))
    };
    let written = jitdump::write(code, &folder, &line);
    let failed = |error: std::io::Error| {
        let problem = format!("the dump of {ASKS} cannot be written below {}: {error}", folder.display());
        Error::Perf { problem: format!("{problem}; name another folder with {FOLDER}") }
    };
    written.map(Some).map_err(failed)
}
