//! Compiled code for profilers and debuggers, where the environment asks for it: `HALIDE_PERF=jitdump` or `gdb`.
//!
//! ```sh
//! HALIDE_PERF=jitdump perf record -k mono -o /tmp/perf.data target/release/halide run blur --bench 50
//! perf inject --jit -i /tmp/perf.data -o /tmp/perf.jit.data
//! perf report -i /tmp/perf.jit.data -F overhead,srcline
//!
//! export HALIDE_PERF=gdb
//! gdb -ex 'tbreak __jit_debug_register_code' -ex run -ex 'break blur.rs:41' -ex continue --args halide run blur
//! ```
//!
//! Each instruction has the line of the definition whose work it does. Files of `perf` lie in the folder that
//! `HALIDE_PERF_DIR` names, or in that of temporary files; nothing deletes them. Debuggers read memory of the process;
//! that takes the feature `debugger`.

use crate::error::Error;
use halide_cpu::Executable;
#[cfg(feature = "debugger")]
use halide_cpu::debugger::{self, Registered};
use halide_cpu::jitdump::{self, JitDump};
use halide_ir::code_place::CodePlace;
use halide_sched::plan::Plan;
use std::path::PathBuf;

/// The variable that asks for it, and the variable that names a folder.
const ASKS: &str = "HALIDE_PERF";
const FOLDER: &str = "HALIDE_PERF_DIR";

/// The one who is told.
#[derive(Clone, Copy)]
enum Reader {
    Perf,
    Debugger,
}

/// The values of the variable.
const READERS: [(&str, Reader); 2] = [("jitdump", Reader::Perf), ("gdb", Reader::Debugger)];

/// The code of a program, told of while this lives. Never read: dropping it is what counts.
pub(crate) enum Told {
    Perf {
        _dump: JitDump,
    },
    #[cfg(feature = "debugger")]
    Debugger {
        _registered: Registered,
    },
}

fn asked() -> Result<Option<Reader>, Error> {
    let Some(value) = std::env::var_os(ASKS).filter(|value| !value.is_empty()) else { return Ok(None) };
    match READERS.iter().find(|(name, _)| value == *name) {
        Some((_, reader)) => Ok(Some(*reader)),
        None => Err(Error::Perf {
            problem: format!("{ASKS}={} asks for an unknown form; there are {}", value.display(), names()),
        }),
    }
}

fn names() -> String {
    READERS.map(|(name, _)| name).join(" and ")
}

/// Returns true if the environment asks to tell somebody.
///
/// # Errors
/// It asks for something else.
pub(crate) fn is_asked() -> Result<bool, Error> {
    Ok(asked()?.is_some())
}

/// Tells of the code of a plan, if the environment asks for it.
///
/// # Errors
/// The file cannot be written, or this is built without what it takes.
pub(crate) fn tell(plan: &Plan, code: &Executable) -> Result<Option<Told>, Error> {
    let Some(reader) = asked()? else { return Ok(None) };
    let line = |place: CodePlace| {
        let (func, update) = place.definition?;
        let def = plan.pipeline.funcs.get(func)?;
        let at = def.stages.get(update).map_or(def.at, |stage| stage.at);
        Some((at.file.to_string(), at.line))
    };
    match reader {
        Reader::Perf => tell_perf(code, &line).map(Some),
        Reader::Debugger => tell_debugger(code, &line).map(Some),
    }
}

/// Gives the file and the line of a place.
type Source<'a> = &'a dyn Fn(CodePlace) -> Option<(String, u32)>;

fn tell_perf(code: &Executable, line: Source<'_>) -> Result<Told, Error> {
    let folder = std::env::var_os(FOLDER).map_or_else(std::env::temp_dir, PathBuf::from);
    let failed = |error: std::io::Error| {
        let problem = format!("the dump of {ASKS} cannot be written below {}: {error}", folder.display());
        Error::Perf { problem: format!("{problem}; name another folder with {FOLDER}") }
    };
    Ok(Told::Perf { _dump: jitdump::write(code, &folder, line).map_err(failed)? })
}

#[cfg(feature = "debugger")]
fn tell_debugger(code: &Executable, line: Source<'_>) -> Result<Told, Error> {
    let folder = std::env::current_dir().unwrap_or_default();
    let registered = debugger::register(code, &folder.to_string_lossy(), line);
    let failed = |error| Error::Perf { problem: format!("debuggers cannot be told of the code: {error}") };
    Ok(Told::Debugger { _registered: registered.map_err(failed)? })
}

#[cfg(not(feature = "debugger"))]
fn tell_debugger(_: &Executable, _: Source<'_>) -> Result<Told, Error> {
    let problem = format!("{ASKS}=gdb takes the feature `debugger` of the crate halide, which this is built without");
    Err(Error::Perf { problem })
}
