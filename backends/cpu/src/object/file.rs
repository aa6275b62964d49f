//! Object files in the format ELF for x86-64.
//!
//! Code that is linked when it runs holds addresses of eight bytes. In a program that may be loaded anywhere these
//! would be places of the code that the loader has to change. So each instruction that loads such an address becomes
//! one of seven bytes, and a `nop` behind it: `lea` for functions of the object, and for others a `mov` from the table
//! of addresses that the linker makes, which linkers turn into `lea` where they can.

use super::tables::{Descriptor, ObjectTables};
use crate::abi::RuntimeFn;
use crate::code_image::{Callee, CodeImage, ImageAddress, ImageFunction};
use crate::error::CpuError;
use cranelift_codegen::ir::LibCall;
use cranelift_module::default_libcall_names;
use object::elf::{R_X86_64_64, R_X86_64_PC32, R_X86_64_REX_GOTPCRELX};
use object::write::{Object, Relocation, SectionId, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use std::collections::BTreeMap;
use std::mem::offset_of;

/// The symbol of the conventions between code and runtime; `runtime/entry` defines it.
const ABI: &str = "halide_rt_abi_1";

/// Writes the object `name` of variants, whose code is `images`: one for each variant of the tables.
///
/// # Errors
/// The machine is another than x86-64 with an operating system that has ELF, or the code cannot be moved.
pub fn object_file(name: &str, tables: &ObjectTables, images: &[CodeImage]) -> Result<Vec<u8>, CpuError> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(CpuError::Host("objects for linking are made on x86-64 Linux only".into()));
    }
    let mut file = ObjectFile::new(name);
    let mut entries = Vec::new();
    for image in images {
        entries.push(file.code(image)?);
    }
    file.descriptor(&tables.to_bytes(), &entries)?;
    // Says that no code of it needs a stack that can be executed.
    file.object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    file.object.write().map_err(failed)
}

/// An object under construction.
struct ObjectFile<'a> {
    name: &'a str,
    object: Object<'static>,
    /// The symbols of functions of others, by name.
    others: BTreeMap<String, SymbolId>,
    /// The number of functions so far.
    functions: usize,
}

impl<'a> ObjectFile<'a> {
    fn new(name: &'a str) -> ObjectFile<'a> {
        let object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        ObjectFile { name, object, others: BTreeMap::new(), functions: 0 }
    }

    /// Adds the functions of an image; returns the symbol of the first.
    fn code(&mut self, image: &CodeImage) -> Result<SymbolId, CpuError> {
        let text = self.object.section_id(StandardSection::Text);
        let first = self.functions;
        self.functions += image.functions.len();
        let symbols: Vec<SymbolId> = (first..self.functions)
            .map(|number| self.object.add_symbol(own_symbol(format!("{}${number}", self.name), SymbolKind::Text)))
            .collect();
        for (function, symbol) in image.functions.iter().zip(&symbols) {
            self.function(text, function, *symbol, &symbols)?;
        }
        symbols.first().copied().ok_or_else(|| CpuError::Codegen("there is no code for the object".into()))
    }

    fn function(
        &mut self,
        text: SectionId,
        function: &ImageFunction,
        symbol: SymbolId,
        own: &[SymbolId],
    ) -> Result<(), CpuError> {
        let mut bytes = function.bytes.clone();
        let mut places = Vec::new();
        for address in &function.addresses {
            let (callee, is_own) = match &address.of {
                Callee::Image(n) => (own.get(*n as usize).copied(), true),
                Callee::Runtime(n) => (RuntimeFn::ALL.get(*n as usize).map(|f| self.of_runtime(*f)), false),
                Callee::System(name) => (self.of_system(name), false),
            };
            let callee = callee.ok_or_else(|| unmovable(address))?;
            let (offset, r_type) = move_address(&mut bytes, address, is_own).ok_or_else(|| unmovable(address))?;
            // The processor counts from the end of the instruction, which is that of the field.
            let addend = if is_own { address.addend - 4 } else { -4 };
            places.push((offset, callee, addend, r_type));
        }
        let start = self.object.add_symbol_data(symbol, text, &bytes, function.align);
        for (offset, symbol, addend, r_type) in places {
            self.relocation(text, start + offset, symbol, addend, r_type)?;
        }
        Ok(())
    }

    /// Adds the tables, and the data that stands for the pipeline.
    fn descriptor(&mut self, tables: &[u8], entries: &[SymbolId]) -> Result<(), CpuError> {
        let constants = self.object.section_id(StandardSection::ReadOnlyData);
        let data = self.object.section_id(StandardSection::Data);
        let tables_symbol = self.object.add_symbol(own_symbol(format!("{}$tables", self.name), SymbolKind::Data));
        self.object.add_symbol_data(tables_symbol, constants, tables, 8);

        let code_symbol = self.object.add_symbol(own_symbol(format!("{}$code", self.name), SymbolKind::Data));
        let code = self.object.add_symbol_data(code_symbol, data, &vec![0; 8 * entries.len()], 8);
        for (entry, at) in entries.iter().zip((code..).step_by(8)) {
            self.relocation(data, at, *entry, 0, R_X86_64_64)?;
        }

        let mut bytes = [0; size_of::<Descriptor>()];
        let mut put = |at: usize, number: usize| bytes[at..at + 8].copy_from_slice(&(number as u64).to_le_bytes());
        put(offset_of!(Descriptor, bytes), tables.len());
        put(offset_of!(Descriptor, variants), entries.len());
        let name = format!("{}_pipeline", self.name);
        let symbol = Symbol { scope: SymbolScope::Dynamic, ..own_symbol(name, SymbolKind::Data) };
        let symbol = self.object.add_symbol(symbol);
        let start = self.object.add_symbol_data(symbol, data, &bytes, 8);
        let abi = self.other(ABI);
        let addresses = [
            (offset_of!(Descriptor, abi), abi),
            (offset_of!(Descriptor, tables), tables_symbol),
            (offset_of!(Descriptor, code), code_symbol),
        ];
        for (at, symbol) in addresses {
            self.relocation(data, start + at as u64, symbol, 0, R_X86_64_64)?;
        }
        Ok(())
    }

    fn relocation(
        &mut self,
        section: SectionId,
        offset: u64,
        symbol: SymbolId,
        addend: i64,
        r_type: u32,
    ) -> Result<(), CpuError> {
        let relocation = Relocation { offset, symbol, addend, flags: RelocationFlags::Elf { r_type } };
        self.object.add_relocation(section, relocation).map_err(failed)
    }

    fn of_runtime(&mut self, function: RuntimeFn) -> SymbolId {
        self.other(&format!("halide_rt_{}", function.describe().0))
    }
    fn of_system(&mut self, name: &str) -> Option<SymbolId> {
        let call = name.parse::<LibCall>().ok()?;
        Some(self.other(&default_libcall_names()(call)))
    }
    /// The symbol of a function of somebody else.
    fn other(&mut self, name: &str) -> SymbolId {
        if let Some(known) = self.others.get(name) {
            return *known;
        }
        let undefined = Symbol { scope: SymbolScope::Unknown, ..own_symbol(name.to_string(), SymbolKind::Unknown) };
        let symbol = self.object.add_symbol(undefined);
        self.others.insert(name.to_string(), symbol);
        symbol
    }
}

/// A symbol that only this object knows, whose place is not known yet.
fn own_symbol(name: String, kind: SymbolKind) -> Symbol {
    Symbol {
        name: name.into_bytes(),
        value: 0,
        size: 0,
        kind,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    }
}

/// Puts an instruction whose field is relative to itself in place of `movabs register, address`. Returns the field's
/// place, and its kind; `None` if the instruction is another one.
fn move_address(bytes: &mut [u8], address: &ImageAddress, is_own: bool) -> Option<(u64, u32)> {
    const REX_W: u8 = 0x48;
    const MOV_IMMEDIATE: u8 = 0xb8;
    const LEA: u8 = 0x8d;
    const MOV: u8 = 0x8b;
    let field = address.offset as usize;
    let begin = field.checked_sub(2)?;
    let instruction: &mut [u8; 10] = bytes.get_mut(begin..field + 8)?.try_into().ok()?;
    let [rex, opcode, ..] = *instruction;
    if rex & !1 != REX_W || opcode & !7 != MOV_IMMEDIATE || (!is_own && address.addend != 0) {
        return None;
    }
    // The register's upper bit moves from one field of the prefix to another.
    let rex = REX_W | (rex & 1) << 2;
    let by_place = (opcode & 7) << 3 | 0b101;
    let (opcode, r_type) = if is_own { (LEA, R_X86_64_PC32) } else { (MOV, R_X86_64_REX_GOTPCRELX) };
    *instruction = [rex, opcode, by_place, 0, 0, 0, 0, 0x0f, 0x1f, 0x00];
    Some((begin as u64 + 3, r_type))
}

fn unmovable(address: &ImageAddress) -> CpuError {
    CpuError::Codegen(format!("the address of {:?} at {} cannot be moved", address.of, address.offset))
}

fn failed(error: object::write::Error) -> CpuError {
    CpuError::Codegen(format!("the object cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use crate::object::file::*;

    #[test]
    fn addresses_become_relative() {
        let moved = |bytes: [u8; 2], is_own, addend| {
            let mut code = [0x90, bytes[0], bytes[1], 1, 2, 3, 4, 5, 6, 7, 8, 0xc3];
            let address = ImageAddress { offset: 3, of: Callee::Image(0), addend };
            move_address(&mut code, &address, is_own).map(|place| (place, code))
        };
        // movabs rdx, a: lea rdx, [rip + a]; nop
        let code = [0x90, 0x48, 0x8d, 0x15, 0, 0, 0, 0, 0x0f, 0x1f, 0x00, 0xc3];
        assert_eq!(moved([0x48, 0xba], true, 0), Some(((4, R_X86_64_PC32), code)));
        // movabs r10, a: mov r10, [rip + place of a]; nop
        let code = [0x90, 0x4c, 0x8b, 0x15, 0, 0, 0, 0, 0x0f, 0x1f, 0x00, 0xc3];
        assert_eq!(moved([0x49, 0xba], false, 0), Some(((4, R_X86_64_REX_GOTPCRELX), code)));
        assert_eq!(moved([0x49, 0xba], false, 8), None);
        assert_eq!(moved([0x49, 0xc7], true, 0), None);
    }
}
