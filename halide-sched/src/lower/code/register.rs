//! Buffers in registers, which passes make.

use halide_core::types::ScalarType;
use halide_ir::{BufId, BufferInfo, BufferRole, Memory, Program, Side, Stream};

/// A buffer in registers for elements of another one.
pub(crate) fn new_register(program: &mut Program, of: BufId) -> BufId {
    let of = &program.buffers[of];
    let (name, elem) = (of.name.clone(), of.elem);
    register_of(program, &name, elem)
}

/// A buffer in registers, whose name tells what it is of.
pub(crate) fn register_of(program: &mut Program, name: &str, elem: ScalarType) -> BufId {
    let info = BufferInfo {
        name: format!("{name}$r{}", program.buffers.len()),
        elem,
        dims: 1,
        role: BufferRole::Internal,
        order: vec![0],
        align: vec![1],
        fold: vec![None],
        unit_stride: None,
        memory: Memory::Register,
        keeps: false,
        stream: Stream::Never,
        side: Side::Host,
    };
    program.buffers.push(info)
}
