//! The upper halves of products of unsigned 16-bit lanes: `pmulhuw`. Divisions by constants are made of it.
//!
//! The machine has the instruction and Cranelift can encode it, but no operation of Cranelift's IR becomes it.
//! Functions are made with `x86_pmulhrsw` in its place, which takes the same operands, is encoded in the same form and
//! is used for nothing else; in finished machine code it is turned into what is meant. It is found by a source location
//! of its own, and what is there must be exactly that instruction: anything else is an error, never wrong code.

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Function, Inst, Opcode, SourceLoc};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{CompiledCode, Context, Final, MachSrcLoc};
use halide_ir::code_place::NOWHERE;
use regalloc2::Ctx;

/// The bit of source locations that marks a product, beside the number of its place. Bits further up are left alone:
/// all of them together are no location.
pub(super) const PRODUCT: u32 = 1 << 30;

/// Returns true if code for this machine may contain the instruction: it is looked for in the encoding that AVX
/// brought.
pub(super) fn available(isa: &dyn TargetIsa) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == "has_avx" && flag.as_bool() == Some(true))
}

/// Compiles the function of `context`: what `Context::compile` does, with the products marked on the way, after the
/// optimiser, which copies instructions without their marks and drops those that nothing uses.
pub(super) fn compile(context: &mut Context, isa: &dyn TargetIsa) -> Result<(CompiledCode, Vec<u8>), String> {
    let mut control = ControlPlane::default();
    context.optimize(isa, &mut control).map_err(|e| format!("{e:?}"))?;
    let products: Vec<Inst> = products(&context.func).collect();
    for inst in &products {
        let place = Some(context.func.srcloc(*inst)).filter(|at| !at.is_default()).map_or(NOWHERE, SourceLoc::bits);
        context.func.set_srcloc(*inst, SourceLoc::new(PRODUCT | place));
    }
    let Context { func, domtree, want_disasm, .. } = context;
    let stencil = isa.compile_function(func, domtree, &mut Ctx::default(), *want_disasm, &mut control);
    let compiled = stencil.map_err(|e| format!("{e:?}"))?.apply_params(&func.params);
    let mut code = compiled.code_buffer().to_vec();
    let turned = turn(&mut code, compiled.buffer.get_srclocs_sorted());
    match turned == Some(products.len()) {
        true => Ok((compiled, code)),
        false => Err(format!("of {} high products {turned:?} were found", products.len())),
    }
}

/// Returns true if there are any in a function.
pub(super) fn are_in(func: &Function) -> bool {
    products(func).next().is_some()
}

/// The instructions that stand for high products.
fn products(func: &Function) -> impl Iterator<Item = Inst> {
    let all = func.layout.blocks().flat_map(|block| func.layout.block_insts(block));
    all.filter(|inst| func.dfg.insts[*inst].opcode() == Opcode::X86Pmulhrsw)
}

/// Turns every `vpmulhrsw` at a source location into `vpmulhuw`, and counts them; `None` if something else is there.
///
/// Both are 66-prefixed VEX instructions with the same operands: opcode 0B of map 0F38, and E4 of map 0F.
fn turn(code: &mut [u8], places: &[MachSrcLoc<Final>]) -> Option<usize> {
    let mut count = 0;
    for place in places.iter().filter(|p| !p.loc.is_default() && p.loc.bits() & PRODUCT != 0) {
        let start = place.start as usize;
        match code.get_mut(start..start + 4)? {
            [0xc4, map, third, opcode] if *map & 0x1f == 2 && *third & 7 == 1 && *opcode == 0x0b => {
                *map = *map & !0x1f | 1;
                *opcode = 0xe4;
            }
            _ => return None,
        }
        count += 1;
    }
    Some(count)
}
