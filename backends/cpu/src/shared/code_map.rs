//! Maps of machine code. Cranelift's instructions have the number of their place as source location, those of wide
//! vectors in the instruction itself; numbers are given only where text is kept.

use halide_ir::code_place::CodePlace;

/// Bytes of a function that belong to one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CodeSpan {
    /// The offset of the first byte.
    pub(crate) start: u32,
    /// The offset behind the last byte.
    pub(crate) end: u32,
    /// Their place.
    pub(crate) place: CodePlace,
}
