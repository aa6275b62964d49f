//! Compiled functions with the lines of the source that their instructions are of, as profilers and debuggers take
//! them.

use crate::exec::Executable;
use crate::listing::CodeLine;
use halide_ir::code_place::CodePlace;

/// A function of compiled code.
pub(crate) struct SourceFunction<'a> {
    pub(crate) name: &'a str,
    /// Its address in the process.
    pub(crate) address: u64,
    pub(crate) bytes: &'a [u8],
    /// The addresses from which on other lines count, in order.
    pub(crate) lines: Vec<SourceLine>,
}

/// The line of the source that instructions from an address on are of.
pub(crate) struct SourceLine {
    pub(crate) address: u64,
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// The functions of an executable that was compiled with [`keep_text`](crate::CpuOptions::keep_text). `source` gives
/// the file and the line of a place.
pub(crate) fn source_functions<'a>(
    code: &'a Executable,
    source: &dyn Fn(CodePlace) -> Option<(String, u32)>,
) -> Vec<SourceFunction<'a>> {
    let functions = code.functions().iter().map(|function| {
        let line = |line: &CodeLine| {
            let (file, number) = source(line.place?)?;
            Some(SourceLine { address: function.address + line.offset? as u64, file, line: number })
        };
        // One for each instruction: behind the last one, `perf` ends the table.
        let lines = function.lines.iter().filter_map(line).collect();
        SourceFunction { name: without_zero(&function.name), address: function.address, bytes: &function.bytes, lines }
    });
    functions.collect()
}

/// A name up to its first zero, behind which the formats of profilers and debuggers have none of it.
fn without_zero(name: &str) -> &str {
    let end = name.bytes().position(|byte| byte == 0).unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::without_zero;

    #[test]
    fn names_end_at_a_zero() {
        assert_eq!(["f", "f\0g", "\0", ""].map(without_zero), ["f", "f", "", ""]);
    }
}
