//! Values in registers: of expressions, of constants, and of memory that is handed in.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::{Arg, Base, Mem, View};
use super::kernel::Emit;
use super::value::{Constant, Parts, Val, broadcast_op, shape};
use crate::shared::lane::Lane;
use halide_core::types::ScalarType;
use halide_ir::{Elem, Expr, Type};
use iced_x86::Code;
use regalloc2::VReg;
use std::rc::Rc;

impl Emit<'_> {
    /// Registers of which width hold `lanes` lanes, and how many.
    pub(super) fn shape(&self, lane: Lane, lanes: usize) -> (View, usize) {
        shape(self.body.widest, lane, lanes)
    }
    /// A scalar Index or truth in a general register.
    pub(super) fn scalar(&mut self, e: &Expr) -> Emitted<VReg> {
        match self.eval(e)? {
            Val::Scalar(v) => Ok(v),
            _ => refuse(format!("{:?} where a scalar is wanted", e.ty())),
        }
    }
    /// The lanes of an expression that is no truth; an Index scalar as a vector of one lane.
    pub(super) fn lanes(&mut self, e: &Expr) -> Emitted<Parts> {
        match self.eval(e)? {
            Val::Lanes(parts) => Ok(parts),
            Val::Scalar(v) if e.ty().is_index() => {
                let to = self.vector_of_general(v)?;
                Ok(Parts { lane: Lane::I64, view: View::X, regs: Rc::from([to]) })
            }
            _ => refuse(format!("{:?} where lanes of data are wanted", e.ty())),
        }
    }
    /// `f` of every register.
    pub(super) fn map(&mut self, a: &Parts, mut f: impl FnMut(&mut Self, VReg) -> Emitted<VReg>) -> Emitted<Parts> {
        let regs = a.regs.iter().map(|r| f(self, *r)).collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { regs: regs.into(), ..a.clone() })
    }
    /// `f` of corresponding registers.
    pub(super) fn zip(
        &mut self,
        a: &Parts,
        b: &Parts,
        mut f: impl FnMut(&mut Self, VReg, VReg) -> Emitted<VReg>,
    ) -> Emitted<Parts> {
        let regs = a.regs.iter().zip(b.regs.iter()).map(|(a, b)| f(self, *a, *b)).collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { regs: regs.into(), ..a.clone() })
    }
    /// An operation on lanes of one kind, register by register.
    pub(super) fn zip_op(&mut self, op: Op, a: &Parts, b: &Parts) -> Emitted<Parts> {
        let view = a.view;
        self.zip(a, b, |e, a, b| e.op2(op, view, a, b))
    }
    pub(super) fn map_op(&mut self, op: Op, a: &Parts) -> Emitted<Parts> {
        let view = a.view;
        self.map(a, |e, a| e.op1(op, view, a))
    }
    pub(super) fn map_imm(&mut self, op: Op, a: &Parts, imm: i64) -> Emitted<Parts> {
        let view = a.view;
        self.map(a, |e, a| e.op_imm(op, view, a, imm))
    }

    // Constants, loaded outside of all loops.

    /// These bits in every lane of a register.
    pub(super) fn splat(&mut self, lane: Lane, view: View, bits: u64) -> Emitted<VReg> {
        self.constant(Constant::Splat(lane, view, bits), |e| {
            let at = e.body.constant(&bits.to_le_bytes()[..lane.bytes()]);
            e.op(broadcast_op(lane), view, &[Arg::Mem(Mem::pool(at))])
        })
    }
    /// The constant in registers like those of `like`.
    pub(super) fn splat_like(&mut self, like: &Parts, bits: u64) -> Emitted<Parts> {
        let one = self.splat(like.lane, like.view, bits)?;
        Ok(Parts { regs: like.regs.iter().map(|_| one).collect(), ..like.clone() })
    }
    /// A register with these bytes.
    pub(super) fn pattern(&mut self, bytes: Vec<u8>, view: View) -> Emitted<VReg> {
        self.constant(Constant::Bytes(bytes.clone()), |e| {
            let at = e.body.constant(&bytes);
            e.op(Op::Load, view, &[Arg::Mem(Mem::pool(at))])
        })
    }
    /// A constant, made once where it is visible.
    pub(super) fn constant(&mut self, key: Constant, make: impl FnOnce(&mut Self) -> Emitted<VReg>) -> Emitted<VReg> {
        // What comes from outside of the kernel is unpacked in front of everything.
        let visible = |level: usize| level <= self.cursor;
        if let Some((reg, _)) = self.constants.get(&key).filter(|(_, level)| visible(*level)) {
            return Ok(*reg);
        }
        let level = self.place(0).min(self.cursor);
        let cursor = std::mem::replace(&mut self.cursor, level);
        let made = make(self);
        self.cursor = cursor;
        let made = made?;
        self.constants.insert(key, (made, level));
        Ok(made)
    }

    // Memory of arguments.

    /// The value of a type at an address in the argument block.
    pub(super) fn unpack(&mut self, mem: Mem, ty: Type) -> Emitted<Val> {
        let lane = Lane::of_elem(ty.elem);
        match (ty.lanes, ty.elem) {
            (1, Elem::Index) => Ok(Val::Scalar(self.result_of(Code::Mov_r64_rm64, View::G64, &[Arg::Mem(mem)]))),
            (1, Elem::Data(ScalarType::Bool)) => {
                Ok(Val::Scalar(self.result_of(Code::Movzx_r32_rm8, View::G32, &[Arg::Mem(mem)])))
            }
            (1, _) => {
                let reg = self.load_one(lane, mem)?;
                Ok(Val::Lanes(Parts { lane, view: View::X, regs: Rc::from([reg]) }))
            }
            _ => {
                let (view, count) = self.shape(lane, ty.lanes as usize);
                // The words of a captured vector are rounded up to 16 bytes only.
                let parts = self.load_dense(lane, ty.lanes as usize, view, count, mem)?;
                if ty.is_bool() { Ok(Val::Mask(self.bytes_to_mask(&parts)?)) } else { Ok(Val::Lanes(parts)) }
            }
        }
    }
    /// One element in the lowest lane; what the other lanes hold means nothing.
    pub(super) fn load_one(&mut self, lane: Lane, mem: Mem) -> Emitted<VReg> {
        match lane.bits() {
            32 => self.op(Op::LoadOneD, View::X, &[Arg::Mem(mem)]),
            64 => self.op(Op::LoadOneQ, View::X, &[Arg::Mem(mem)]),
            _ => self.op(broadcast_op(lane), View::X, &[Arg::Mem(mem)]),
        }
    }
    /// The address of a word of memory of this kernel's frame.
    pub(super) fn frame(&mut self, offset: u32) -> Mem {
        Mem { base: Base::Frame, index: None, offset: offset as i32, broadcast: false }
    }
}
