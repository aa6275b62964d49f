//! Operands of encoded instructions: names of registers, immediates, spill slots.

use super::inst::View;
use iced_x86::{Code, Instruction, OpKind, Register};
use regalloc2::SpillSlot;

/// Returns the name of a general register.
pub(super) fn general(number: usize, view: View) -> Register {
    const NAMES: [Register; 16] = [
        Register::RAX,
        Register::RCX,
        Register::RDX,
        Register::RBX,
        Register::RSP,
        Register::RBP,
        Register::RSI,
        Register::RDI,
        Register::R8,
        Register::R9,
        Register::R10,
        Register::R11,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    const BYTES: [Register; 16] = [
        Register::AL,
        Register::CL,
        Register::DL,
        Register::BL,
        Register::SPL,
        Register::BPL,
        Register::SIL,
        Register::DIL,
        Register::R8L,
        Register::R9L,
        Register::R10L,
        Register::R11L,
        Register::R12L,
        Register::R13L,
        Register::R14L,
        Register::R15L,
    ];
    match view {
        View::G8 => BYTES[number],
        View::G32 => Register::EAX + number as u32,
        _ => NAMES[number],
    }
}

/// Returns the name of a register.
pub(super) fn register(number: usize, view: View) -> Register {
    match view {
        View::X => Register::XMM0 + number as u32,
        View::Y => Register::YMM0 + number as u32,
        View::Z => Register::ZMM0 + number as u32,
        View::K => Register::K0 + number as u32,
        View::G8 | View::G32 | View::G64 => general(number, view),
    }
}

/// Makes a register the next operand.
pub(super) fn set_register(made: &mut Instruction, at: &mut u32, register: Register) {
    made.set_op_kind(*at, OpKind::Register);
    made.set_op_register(*at, register);
    *at += 1;
}

/// Makes a spill slot the next operand.
pub(super) fn set_slot(made: &mut Instruction, at: &mut u32, slot: SpillSlot) {
    made.set_op_kind(*at, OpKind::Memory);
    made.set_memory_base(Register::RSP);
    set_displacement(made, 8 * slot.index() as i32);
    *at += 1;
}

/// Sets the distance of memory from its base.
pub(super) fn set_displacement(made: &mut Instruction, offset: i32) {
    if offset != 0 {
        made.set_memory_displacement64(i64::from(offset) as u64);
        // One byte where that is enough.
        made.set_memory_displ_size(1);
    }
}

/// Makes an immediate the operand `at`. Vector instructions have immediates of 8 bits; the others are listed.
pub(super) fn set_immediate(made: &mut Instruction, at: u32, value: i64) {
    match made.code() {
        Code::Mov_r64_imm64 => {
            made.set_op_kind(at, OpKind::Immediate64);
            made.set_immediate64(value as u64);
        }
        Code::Mov_r32_imm32 => {
            made.set_op_kind(at, OpKind::Immediate32);
            made.set_immediate32(value as u32);
        }
        Code::Add_rm64_imm32
        | Code::And_rm64_imm32
        | Code::Or_rm64_imm32
        | Code::Cmp_rm64_imm32
        | Code::Imul_r64_rm64_imm32
        | Code::Mov_rm64_imm32 => {
            made.set_op_kind(at, OpKind::Immediate32to64);
            made.set_immediate32to64(value);
        }
        Code::Xor_rm64_imm8 => {
            made.set_op_kind(at, OpKind::Immediate8to64);
            made.set_immediate8to64(value);
        }
        _ => {
            made.set_op_kind(at, OpKind::Immediate8);
            made.set_immediate8(value as u8);
        }
    }
}
