//! Loads of one element into all lanes, which AVX-512 does as part of an instruction on lanes of the element's width.

use super::inst::{Arg, Base, Inst, Mem, View};
use iced_x86::{Code, Instruction, MemorySize};
use regalloc2::VReg;

impl Inst {
    /// The register whose lanes it fills with one element of memory, how wide that is, from where, and the element's
    /// bytes; not of a constant, which stays in a register.
    pub(super) fn broadcast_load(&self) -> Option<(VReg, View, Mem, u8)> {
        use Code::*;
        let bytes = match self.code {
            EVEX_Vpbroadcastd_xmm_k1z_xmmm32 | EVEX_Vpbroadcastd_ymm_k1z_xmmm32 | EVEX_Vpbroadcastd_zmm_k1z_xmmm32 => 4,
            EVEX_Vpbroadcastq_xmm_k1z_xmmm64 | EVEX_Vpbroadcastq_ymm_k1z_xmmm64 | EVEX_Vpbroadcastq_zmm_k1z_xmmm64 => 8,
            _ => return None,
        };
        match self.args[..] {
            [Arg::Def(v, view), Arg::Mem(mem)] if mem.base != Base::Pool => {
                Some((v, view, Mem { broadcast: true, ..mem }, bytes))
            }
            _ => None,
        }
    }
}

/// The bytes of the element that an instruction can take from memory for all lanes, if it can.
pub(super) fn element_bytes(code: Code) -> Option<u8> {
    use MemorySize::*;
    let mut inst = Instruction::new();
    inst.set_code(code);
    inst.set_is_broadcast(true);
    match inst.memory_size() {
        Broadcast128_Float32 | Broadcast256_Float32 | Broadcast512_Float32 => Some(4),
        Broadcast128_Int32 | Broadcast256_Int32 | Broadcast512_Int32 => Some(4),
        Broadcast128_UInt32 | Broadcast256_UInt32 | Broadcast512_UInt32 => Some(4),
        Broadcast128_Float64 | Broadcast256_Float64 | Broadcast512_Float64 => Some(8),
        Broadcast128_Int64 | Broadcast256_Int64 | Broadcast512_Int64 => Some(8),
        Broadcast128_UInt64 | Broadcast256_UInt64 | Broadcast512_UInt64 => Some(8),
        _ => None,
    }
}
