//! Registers of instructions and of ends of blocks under other names.

use super::inst::{Arg, Base, End, Inst, Mem, Right};
use regalloc2::VReg;

impl Inst {
    /// Renames the registers that are read.
    pub(super) fn rename_uses(&mut self, name: &impl Fn(VReg) -> VReg) {
        for arg in &mut self.args {
            match arg {
                Arg::Use(v, _) | Arg::UseIn(v, _) | Arg::Mask(v) | Arg::ZeroMask(v) => *v = name(*v),
                Arg::Mod { from, .. } | Arg::SpentMask { from, .. } => *from = name(*from),
                Arg::Mem(Mem { base, index, .. }) => {
                    if let Base::Reg(v) = base {
                        *v = name(*v);
                    }
                    if let Some((v, ..)) = index {
                        *v = name(*v);
                    }
                }
                Arg::Def(..) | Arg::Imm(_) => {}
            }
        }
    }
    /// Renames the registers that are written, spent masks among them.
    pub(super) fn rename_definitions(&mut self, mut name: impl FnMut(VReg) -> VReg) {
        for arg in &mut self.args {
            match arg {
                Arg::Def(v, _) | Arg::Mod { to: v, .. } | Arg::SpentMask { to: v, .. } => *v = name(*v),
                _ => {}
            }
        }
    }
}

impl End {
    /// Renames the registers that are read.
    pub(super) fn rename_uses(&mut self, name: &impl Fn(VReg) -> VReg) {
        match self {
            End::Jump(_, values) => values.iter_mut().for_each(|v| *v = name(*v)),
            End::Branch { left, right, .. } => {
                *left = name(*left);
                if let Right::Reg(v) = right {
                    *v = name(*v);
                }
            }
            End::Return => {}
        }
    }
    /// Calls `f` with every register that is read.
    pub(super) fn used(&self, f: &mut impl FnMut(VReg)) {
        match self {
            End::Jump(_, values) => values.iter().for_each(|v| f(*v)),
            End::Branch { left, right, .. } => {
                f(*left);
                if let Right::Reg(v) = right {
                    f(*v);
                }
            }
            End::Return => {}
        }
    }
}
