//! Object files in the format ELF whose code lies elsewhere: sections without bytes, at the addresses of the code.

use super::lines::Section;
use crate::source_lines::SourceFunction;
use object::Endianness;
use object::elf;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};
use object::write::{Error, StringId};

/// The machine of the code.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { elf::EM_AARCH64 } else { elf::EM_X86_64 };

/// The object file of functions with their tables.
pub(super) fn object_file(functions: &[SourceFunction<'_>], tables: &[Section]) -> Result<Vec<u8>, Error> {
    let endian = if cfg!(target_endian = "big") { Endianness::Big } else { Endianness::Little };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(endian, true, &mut bytes);

    // What there is, in the order in which it is written below.
    writer.reserve_file_header();
    writer.reserve_null_section_index();
    let code_name = writer.add_section_name(b".text");
    let code: Vec<_> = functions.iter().map(|_| writer.reserve_section_index()).collect();
    let tables: Vec<Table<'_>> = tables
        .iter()
        .map(|(name, bytes)| {
            let name = writer.add_section_name(name.as_bytes());
            writer.reserve_section_index();
            Table { name, bytes, offset: writer.reserve(bytes.len(), 1) }
        })
        .collect();
    writer.reserve_symtab_section_index();
    writer.reserve_strtab_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_null_symbol_index();
    let symbols: Vec<_> = functions
        .iter()
        .zip(&code)
        .map(|(function, section)| {
            writer.reserve_symbol_index(Some(*section));
            (writer.add_string(function.name.as_bytes()), *section, function)
        })
        .collect();
    writer.reserve_symtab();
    writer.reserve_strtab();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();

    let header =
        FileHeader { os_abi: 0, abi_version: 0, e_type: elf::ET_EXEC, e_machine: MACHINE, e_entry: 0, e_flags: 0 };
    writer.write_file_header(&header)?;
    for table in &tables {
        writer.write(table.bytes);
    }
    writer.write_null_symbol();
    for (name, section, function) in symbols {
        writer.write_symbol(&Sym {
            name: Some(name),
            section: Some(section),
            st_info: (elf::STB_GLOBAL << 4) | elf::STT_FUNC,
            st_other: 0,
            st_shndx: 0,
            st_value: function.address,
            st_size: function.bytes.len() as u64,
        });
    }
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    for function in functions {
        writer.write_section_header(&code_section(code_name, function));
    }
    for table in &tables {
        writer.write_section_header(&table.header());
    }
    // All symbols but the first are global.
    writer.write_symtab_section_header(1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Ok(bytes)
}

/// A table in its section.
struct Table<'a> {
    name: StringId,
    bytes: &'a [u8],
    offset: usize,
}

impl Table<'_> {
    fn header(&self) -> SectionHeader {
        SectionHeader {
            name: Some(self.name),
            sh_type: elf::SHT_PROGBITS,
            sh_flags: 0,
            sh_addr: 0,
            sh_offset: self.offset as u64,
            sh_size: self.bytes.len() as u64,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: 1,
            sh_entsize: 0,
        }
    }
}

/// The section of a function, whose bytes are in memory already.
fn code_section(name: StringId, function: &SourceFunction<'_>) -> SectionHeader {
    SectionHeader {
        name: Some(name),
        sh_type: elf::SHT_NOBITS,
        sh_flags: u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR),
        sh_addr: function.address,
        sh_offset: 0,
        sh_size: function.bytes.len() as u64,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 1,
        sh_entsize: 0,
    }
}
