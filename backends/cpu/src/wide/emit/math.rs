//! Transcendental functions of f32: the sequences of exact operations that all engines share, in vector registers.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, Refusal, refuse};
use super::super::machine::View;
use super::kernel::Emit;
use super::mask::Logic;
use super::value::{Order, Parts, Val};
use crate::shared::lane::Lane;
use crate::shared::lane::data;
use halide_core::math::{FloatOps, emit};
use halide_core::ops::MathFn;
use halide_core::types::ScalarType;
use halide_ir::Expr;
use regalloc2::VReg;

/// Registers of one width of a kernel.
struct F32Registers<'e, 'a> {
    e: &'e mut Emit<'a>,
    view: View,
    /// The first operation that there is no instruction for.
    refusal: Option<Refusal>,
}

impl Emit<'_> {
    /// `ExprKind::Math`.
    pub(super) fn math(&mut self, function: MathFn, args: &[Expr]) -> Emitted<Val> {
        let ty = args.first().map_or(ScalarType::F64, |a| data(a.ty().elem));
        if let (true, MathFn::Fma | MathFn::MulAdd, [a, b, c]) = (ty.is_float(), function, args) {
            return Ok(Val::Lanes(self.fused(ty, a, b, c)?));
        }
        if !ty.is_float() || ty.bits() > 32 {
            return refuse(format!("{function:?} of {ty}"));
        }
        let operands = args.iter().map(|a| self.floats(ty, a)).collect::<Emitted<Vec<Parts>>>()?;
        let like = operands[0].clone();
        let mut regs = Vec::new();
        for i in 0..like.regs.len() {
            let values: Vec<VReg> = operands.iter().map(|o| o.regs[i]).collect();
            let mut r = F32Registers { e: self, view: like.view, refusal: None };
            let made = emit(&mut r, function, &values);
            if let Some(refusal) = r.refusal {
                return Err(refusal);
            }
            regs.push(made);
        }
        let made = Parts { regs: regs.into(), ..like };
        Ok(Val::Lanes(self.rounded_to(ty, args[0].lanes(), made)?))
    }
}

impl F32Registers<'_, '_> {
    fn result(&mut self, made: Emitted<VReg>) -> VReg {
        made.unwrap_or_else(|refusal| {
            self.refusal.get_or_insert(refusal);
            self.e.body.argument
        })
    }
    fn op2(&mut self, op: Op, a: VReg, b: VReg) -> VReg {
        let made = self.e.op2(op, self.view, a, b);
        self.result(made)
    }
    fn op_imm(&mut self, op: Op, a: VReg, imm: i64) -> VReg {
        let made = self.e.op_imm(op, self.view, a, imm);
        self.result(made)
    }
    fn op1(&mut self, op: Op, a: VReg) -> VReg {
        let made = self.e.op1(op, self.view, a);
        self.result(made)
    }
    fn compare(&mut self, order: Order, a: VReg, b: VReg) -> VReg {
        let made = self.e.compare_float(Lane::F32, self.view, order, a, b);
        self.result(made)
    }
    fn logic(&mut self, how: Logic, a: VReg, b: VReg) -> VReg {
        let made = self.e.mask_logic(how, self.view, a, b);
        self.result(made)
    }
}

impl FloatOps for F32Registers<'_, '_> {
    type F = VReg;
    type I = VReg;
    type M = VReg;

    fn float(&mut self, value: f32) -> VReg {
        let made = self.e.splat(Lane::F32, self.view, u64::from(value.to_bits()));
        self.result(made)
    }
    fn int(&mut self, value: i32) -> VReg {
        let made = self.e.splat(Lane::I32, self.view, u64::from(value as u32));
        self.result(made)
    }
    fn add(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::AddF32, a, b)
    }
    fn sub(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::SubF32, a, b)
    }
    fn mul(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::MulF32, a, b)
    }
    fn div(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::DivF32, a, b)
    }
    fn sqrt(&mut self, a: VReg) -> VReg {
        self.op1(Op::SqrtF32, a)
    }
    fn floor(&mut self, a: VReg) -> VReg {
        self.op_imm(Op::RoundF32, a, 9)
    }
    fn round(&mut self, a: VReg) -> VReg {
        self.op_imm(Op::RoundF32, a, 8)
    }
    fn lt(&mut self, a: VReg, b: VReg) -> VReg {
        self.compare(Order::Less, a, b)
    }
    fn eq(&mut self, a: VReg, b: VReg) -> VReg {
        self.compare(Order::Equal, a, b)
    }
    fn and(&mut self, a: VReg, b: VReg) -> VReg {
        self.logic(Logic::And, a, b)
    }
    fn or(&mut self, a: VReg, b: VReg) -> VReg {
        self.logic(Logic::Or, a, b)
    }
    fn not(&mut self, a: VReg) -> VReg {
        let made = self.e.mask_not(self.view, a);
        self.result(made)
    }
    fn select(&mut self, mask: VReg, a: VReg, b: VReg) -> VReg {
        let made = self.e.blend(Lane::F32, self.view, mask, a, b);
        self.result(made)
    }
    fn iadd(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::AddD, a, b)
    }
    fn isub(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::SubD, a, b)
    }
    fn iand(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::And, a, b)
    }
    fn ior(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::Or, a, b)
    }
    fn ixor(&mut self, a: VReg, b: VReg) -> VReg {
        self.op2(Op::Xor, a, b)
    }
    fn shl(&mut self, a: VReg, bits: u32) -> VReg {
        self.op_imm(Op::ShlD, a, i64::from(bits))
    }
    fn shr(&mut self, a: VReg, bits: u32) -> VReg {
        self.op_imm(Op::SarD, a, i64::from(bits))
    }
    fn to_int(&mut self, a: VReg) -> VReg {
        self.op1(Op::F32ToI32, a)
    }
    fn to_float(&mut self, a: VReg) -> VReg {
        self.op1(Op::I32ToF32, a)
    }
    fn bits(&mut self, a: VReg) -> VReg {
        a
    }
    fn float_of_bits(&mut self, a: VReg) -> VReg {
        a
    }
}
