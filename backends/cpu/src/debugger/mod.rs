//! Compiled code for debuggers: names, and the file and the line of each instruction, while the code lives.
//!
//! gdb reads an object file in memory when the process tells it of one (`interface`); its tables are in the formats
//! DWARF (`lines`) and ELF (`object_file`), with the addresses of the code as it lies in the process. So a breakpoint
//! at the line of a definition stops in the code that computes it.
//!
//! The interface: "JIT Compilation Interface" in the manual of gdb.

mod interface;
mod lines;
mod object_file;

use crate::exec::Executable;
use crate::source_lines::source_functions;
use halide_ir::code_place::CodePlace;
use std::io;

pub use interface::Registered;

/// Tells debuggers of the code of an executable that was compiled with [`keep_text`](crate::CpuOptions::keep_text).
/// `source` gives the file and the line of a place; `folder` is that of files whose names are relative.
///
/// # Errors
/// The tables cannot be made.
pub fn register(
    code: &Executable,
    folder: &str,
    source: &dyn Fn(CodePlace) -> Option<(String, u32)>,
) -> io::Result<Registered> {
    let functions = source_functions(code, source);
    let tables = lines::tables(&functions, folder).map_err(io::Error::other)?;
    let object = object_file::object_file(&functions, &tables).map_err(io::Error::other)?;
    Ok(Registered::new(object))
}
