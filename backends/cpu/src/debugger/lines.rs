//! Tables of functions and lines in the format DWARF, version 4, which every debugger of today reads.

use crate::source_lines::{SourceFunction, SourceLine};
use gimli::constants;
use gimli::write::{
    Address, AttributeValue, DwarfUnit, EndianVec, Error, FileId, LineProgram, LineString, Range, RangeList, Sections,
};
use gimli::{Encoding, Format, LineEncoding, NativeEndian};
use std::collections::HashMap;

const ENCODING: Encoding = Encoding { format: Format::Dwarf32, version: 4, address_size: 8 };

/// A section: its name and its bytes.
pub(super) type Section = (&'static str, Vec<u8>);

/// The sections of tables for functions. Names of files that are relative are so to `folder`.
pub(super) fn tables(functions: &[SourceFunction<'_>], folder: &str) -> Result<Vec<Section>, Error> {
    let mut dwarf = DwarfUnit::new(ENCODING);
    let folder = LineString::String(text(folder).unwrap_or_else(|| b".".to_vec()));
    let program = LineProgram::new(
        ENCODING,
        LineEncoding::default(),
        folder.clone(),
        None,
        LineString::String(UNIT.to_vec()),
        None,
    );
    dwarf.unit.line_program = program;
    let root = dwarf.unit.root();
    let range = |of: &SourceFunction<'_>| Range::StartLength {
        begin: Address::Constant(of.address),
        length: of.bytes.len() as u64,
    };
    let ranges = dwarf.unit.ranges.add(RangeList(functions.iter().map(range).collect()));
    let mut files = HashMap::new();
    for function in functions {
        let first = line_sequence(&mut dwarf.unit.line_program, &mut files, function);
        subprogram(&mut dwarf, function, first);
    }
    let unit = dwarf.unit.get_mut(root);
    unit.set(constants::DW_AT_producer, AttributeValue::String(UNIT.to_vec()));
    unit.set(constants::DW_AT_name, AttributeValue::String(UNIT.to_vec()));
    if let LineString::String(folder) = folder {
        unit.set(constants::DW_AT_comp_dir, AttributeValue::String(folder));
    }
    unit.set(constants::DW_AT_language, AttributeValue::Language(constants::DW_LANG_Rust));
    unit.set(constants::DW_AT_low_pc, AttributeValue::Address(Address::Constant(0)));
    unit.set(constants::DW_AT_ranges, AttributeValue::RangeListRef(ranges));
    unit.set(constants::DW_AT_stmt_list, AttributeValue::LineProgramRef);

    let mut sections = Sections::new(EndianVec::new(NativeEndian));
    dwarf.write(&mut sections)?;
    let mut all = Vec::new();
    sections.for_each(|id, bytes| {
        if !bytes.slice().is_empty() {
            all.push((id.name(), bytes.slice().to_vec()));
        }
        Ok::<(), Error>(())
    })?;
    Ok(all)
}

/// The name of the unit, and of who made it.
const UNIT: &[u8] = b"halide";

/// A text as a table can hold it: what is behind a zero is left out; `None` if nothing is left.
fn text(text: &str) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = text.bytes().take_while(|byte| *byte != 0).collect();
    (!bytes.is_empty()).then_some(bytes)
}

/// Adds the lines of a function, and returns the file and the line of its first instruction that has one.
fn line_sequence(
    program: &mut LineProgram,
    files: &mut HashMap<String, FileId>,
    function: &SourceFunction<'_>,
) -> Option<(FileId, u32)> {
    let mut first = None;
    let mut before: Option<(FileId, u32)> = None;
    for SourceLine { address, file, line } in &function.lines {
        let Some(name) = text(file) else { continue };
        let directory = program.default_directory();
        let id =
            *files.entry(file.clone()).or_insert_with(|| program.add_file(LineString::String(name), directory, None));
        if before == Some((id, *line)) || *address < function.address {
            continue;
        }
        // A breakpoint at the function stops at its first instruction, which may be of no definition.
        let offset = before.map_or(0, |_| *address - function.address);
        if before.is_none() {
            first = Some((id, *line));
            program.begin_sequence(Some(Address::Constant(function.address)));
        }
        before = Some((id, *line));
        let row = program.row();
        (row.address_offset, row.file, row.line, row.is_statement) = (offset, id, u64::from(*line), true);
        program.generate_row();
    }
    if first.is_some() {
        program.end_sequence(function.bytes.len() as u64);
    }
    first
}

/// Adds the entry of a function.
fn subprogram(dwarf: &mut DwarfUnit, function: &SourceFunction<'_>, first: Option<(FileId, u32)>) {
    let root = dwarf.unit.root();
    let id = dwarf.unit.add(root, constants::DW_TAG_subprogram);
    let entry = dwarf.unit.get_mut(id);
    let name = text(function.name).unwrap_or_else(|| UNIT.to_vec());
    entry.set(constants::DW_AT_name, AttributeValue::String(name));
    entry.set(constants::DW_AT_external, AttributeValue::Flag(true));
    entry.set(constants::DW_AT_low_pc, AttributeValue::Address(Address::Constant(function.address)));
    entry.set(constants::DW_AT_high_pc, AttributeValue::Udata(function.bytes.len() as u64));
    if let Some((file, line)) = first {
        entry.set(constants::DW_AT_decl_file, AttributeValue::FileIndex(Some(file)));
        entry.set(constants::DW_AT_decl_line, AttributeValue::Udata(u64::from(line)));
    }
}
