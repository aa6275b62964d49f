//! Scalars that count, in general registers: Index arithmetic, comparisons, and their ways to and from vectors.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::{Arg, Base, Condition, Mem, Right, View};
use super::kernel::Emit;
use super::value::Val;
use halide_core::ops::{BinOp, UnOp};
use halide_ir::any_lane::as_any_lane;
use halide_ir::{Elem, Expr, ExprKind, build};
use iced_x86::Code;
use regalloc2::VReg;

impl Emit<'_> {
    pub(super) fn index_constant(&mut self, v: i64) -> VReg {
        match i32::try_from(v) {
            Ok(v) if v >= 0 => self.result_of(Code::Mov_r32_imm32, View::G32, &[Arg::Imm(i64::from(v))]),
            _ => self.result_of(Code::Mov_r64_imm64, View::G64, &[Arg::Imm(v)]),
        }
    }
    /// A two-operand instruction whose first operand is also its result.
    pub(super) fn general(&mut self, code: Code, from: VReg, rest: Arg) -> VReg {
        let to = self.register(View::G64);
        self.push(code, vec![Arg::Mod { to, from, view: View::G64 }, rest]);
        // The second register may be memory in all of them.
        self.last_folds(8);
        to
    }
    /// Sets the flags by `a - b`.
    fn compare_general(&mut self, a: VReg, b: VReg) {
        self.push(Code::Cmp_r64_rm64, vec![Arg::Use(a, View::G64), Arg::Use(b, View::G64)]);
        self.last_folds(8);
    }
    fn general2(&mut self, code: Code, a: VReg, b: VReg) -> VReg {
        self.general(code, a, Arg::Use(b, View::G64))
    }
    /// `-v`.
    pub(super) fn negated(&mut self, v: VReg) -> VReg {
        let to = self.register(View::G64);
        self.push(Code::Neg_rm64, vec![Arg::Mod { to, from: v, view: View::G64 }]);
        to
    }
    /// `a + b * scale + offset` in one instruction.
    pub(super) fn address_of(&mut self, base: VReg, index: Option<(VReg, u8)>, offset: i32) -> VReg {
        let index = index.map(|(v, scale)| (v, View::G64, scale));
        let mem = Mem { base: Base::Reg(base), index, offset, broadcast: false };
        self.result_of(Code::Lea_r64_m, View::G64, &[Arg::Mem(mem)])
    }
    pub(super) fn index_add(&mut self, a: VReg, b: VReg) -> VReg {
        self.address_of(a, Some((b, 1)), 0)
    }

    pub(super) fn index_unary(&mut self, op: UnOp, a: &Expr) -> Emitted<Val> {
        let v = self.scalar(a)?;
        match op {
            UnOp::Neg => Ok(Val::Scalar(self.negated(v))),
            _ => refuse(format!("{op:?} of an index")),
        }
    }
    pub(super) fn index_binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Emitted<Val> {
        let constant = build::as_int(b);
        let small = constant.and_then(|c| i32::try_from(c).ok());
        if let Some(condition) = condition(op) {
            return self.index_compare(condition, a, b);
        }
        let x = self.scalar(a)?;
        Ok(Val::Scalar(match (op, constant, small) {
            (BinOp::Add, _, Some(c)) => self.address_of(x, None, c),
            (BinOp::Sub, _, Some(c)) if c != i32::MIN => self.address_of(x, None, -c),
            (BinOp::Mul, Some(c), _) if c > 0 && c.count_ones() == 1 => {
                self.general(Code::Shl_rm64_imm8, x, Arg::Imm(i64::from(c.trailing_zeros())))
            }
            (BinOp::Mul, _, Some(c)) => {
                self.result_of(Code::Imul_r64_rm64_imm32, View::G64, &[Arg::Use(x, View::G64), Arg::Imm(i64::from(c))])
            }
            (BinOp::Div, Some(c), _) if c > 0 && c.count_ones() == 1 => {
                self.general(Code::Sar_rm64_imm8, x, Arg::Imm(i64::from(c.trailing_zeros())))
            }
            (BinOp::Mod, _, Some(c)) if c > 0 && c.count_ones() == 1 => {
                self.general(Code::And_rm64_imm32, x, Arg::Imm(i64::from(c) - 1))
            }
            (BinOp::Div, Some(c), _) if c > 1 => self.quotient(x, c),
            (BinOp::Mod, Some(c), Some(small)) if c > 1 => {
                let whole = self.quotient(x, c);
                let args = [Arg::Use(whole, View::G64), Arg::Imm(i64::from(small))];
                let whole = self.result_of(Code::Imul_r64_rm64_imm32, View::G64, &args);
                self.general2(Code::Sub_r64_rm64, x, whole)
            }
            (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Min | BinOp::Max, ..) => {
                let y = self.scalar(b)?;
                self.index_operation(op, x, y)
            }
            _ => return refuse(format!("{op:?} of indices by {b:?}")),
        }))
    }
    /// `x / d`, rounded down, of a constant that is no power of two: by a product with a reciprocal. What is below 0 is
    /// turned around before and after, so that 63 bits are divided, for which 64 bits of the reciprocal are enough
    /// (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994).
    fn quotient(&mut self, x: VReg, d: i64) -> VReg {
        let bits = 64 - (d - 1).leading_zeros();
        let reciprocal = ((1u128 << (63 + bits)) / d as u128 + 1) as u64;
        let reciprocal = self.index_constant(reciprocal as i64);
        let sign = self.general(Code::Sar_rm64_imm8, x, Arg::Imm(63));
        let positive = self.general2(Code::Xor_r64_rm64, x, sign);
        let (high, low) = (self.register(View::G64), self.register(View::G64));
        let results = [Arg::Def(high, View::G64), Arg::Def(low, View::G64)];
        let operands = [Arg::Use(positive, View::G64), Arg::UseIn(reciprocal, RDX)];
        self.push(Code::VEX_Mulx_r64_r64_rm64, results.into_iter().chain(operands).collect());
        let quotient = self.general(Code::Shr_rm64_imm8, high, Arg::Imm(i64::from(bits) - 1));
        self.general2(Code::Xor_r64_rm64, quotient, sign)
    }
    fn index_operation(&mut self, op: BinOp, x: VReg, y: VReg) -> VReg {
        match op {
            BinOp::Add => self.index_add(x, y),
            BinOp::Sub => self.general2(Code::Sub_r64_rm64, x, y),
            BinOp::Mul => self.general2(Code::Imul_r64_rm64, x, y),
            _ => {
                // The flags of this comparison are still there: nothing that could come between changes them.
                self.compare_general(y, x);
                let code = if op == BinOp::Min { Code::Cmovl_r64_rm64 } else { Code::Cmovg_r64_rm64 };
                self.general2(code, x, y)
            }
        }
    }
    fn index_compare(&mut self, condition: Condition, a: &Expr, b: &Expr) -> Emitted<Val> {
        let (x, y) = (self.scalar(a)?, self.scalar(b)?);
        self.compare_general(x, y);
        let code = match condition {
            Condition::Equal => Code::Sete_rm8,
            Condition::NotEqual => Code::Setne_rm8,
            Condition::Less => Code::Setl_rm8,
            Condition::LessOrEqual => Code::Setle_rm8,
            Condition::Greater => Code::Setg_rm8,
            Condition::GreaterOrEqual => Code::Setge_rm8,
        };
        let byte = self.result_of(code, View::G8, &[]);
        Ok(Val::Scalar(self.result_of(Code::Movzx_r32_rm8, View::G32, &[Arg::Use(byte, View::G8)])))
    }
    /// Returns the comparison that a branch on a truth value makes.
    pub(super) fn test(&mut self, e: &Expr) -> Emitted<(Condition, VReg, Right)> {
        if let ExprKind::Binary(op, a, b) = e.kind()
            && a.ty().is_index()
            && let Some(condition) = condition(*op)
        {
            let x = self.scalar(a)?;
            let right = match build::as_int(b).and_then(|c| i32::try_from(c).ok()) {
                Some(c) => Right::Const(c),
                None => Right::Reg(self.scalar(b)?),
            };
            return Ok((condition, x, right));
        }
        if let Some(mask) = as_any_lane(e) {
            return Ok((Condition::NotEqual, self.lanes_that_hold(mask)?, Right::Const(0)));
        }
        Ok((Condition::NotEqual, self.scalar(e)?, Right::Const(0)))
    }

    /// One of two scalars in general registers.
    pub(super) fn choose_scalar(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Emitted<Val> {
        let (c, a, b) = (self.scalar(c)?, self.scalar(a)?, self.scalar(b)?);
        self.push(Code::Test_rm64_r64, vec![Arg::Use(c, View::G64), Arg::Use(c, View::G64)]);
        Ok(Val::Scalar(self.general2(Code::Cmovne_r64_rm64, b, a)))
    }
    /// An operation on truths in general registers.
    pub(super) fn scalar_bool(&mut self, op: BinOp, x: VReg, y: VReg) -> Emitted<VReg> {
        let not = |e: &mut Self, v| e.general(Code::Xor_rm64_imm8, v, Arg::Imm(1));
        Ok(match op {
            BinOp::BitAnd | BinOp::Min | BinOp::Mul => self.general2(Code::And_r64_rm64, x, y),
            BinOp::BitOr | BinOp::Max => self.general2(Code::Or_r64_rm64, x, y),
            BinOp::BitXor | BinOp::Ne => self.general2(Code::Xor_r64_rm64, x, y),
            BinOp::Eq => {
                let differ = self.general2(Code::Xor_r64_rm64, x, y);
                not(self, differ)
            }
            _ => return refuse(format!("{op:?} of truths")),
        })
    }
    /// The other truth.
    pub(super) fn scalar_not(&mut self, v: VReg) -> VReg {
        self.general(Code::Xor_rm64_imm8, v, Arg::Imm(1))
    }

    // To and from vectors.

    /// An index in every 64-bit lane.
    pub(super) fn broadcast_general(&mut self, v: VReg, view: View) -> Emitted<VReg> {
        if self.lacks(Op::BroadcastGeneral, view) {
            let lowest = self.vector_of_general(v)?;
            return self.op(Op::BroadcastQ, view, &[Arg::Use(lowest, View::X)]);
        }
        self.op(Op::BroadcastGeneral, view, &[Arg::Use(v, View::G64)])
    }
    /// An index in the lowest 64-bit lane.
    pub(super) fn vector_of_general(&mut self, v: VReg) -> Emitted<VReg> {
        self.op(Op::FromGeneral, View::X, &[Arg::Use(v, View::G64)])
    }
    /// The bits of a general register as a mask.
    pub(super) fn mask_of_general(&mut self, v: VReg) -> VReg {
        self.result_of(Code::VEX_Kmovq_kr_r64, View::K, &[Arg::Use(v, View::G64)])
    }
    /// The lowest 64-bit lane as an index.
    pub(super) fn general_of_lane(&mut self, v: VReg) -> Emitted<VReg> {
        let code = self.code(Op::ToGeneral, View::X)?;
        Ok(self.result_of(code, View::G64, &[Arg::Use(v, View::X)]))
    }
}

/// The number of the register that a product of 64 by 64 bits takes one operand from.
const RDX: usize = 2;

/// The condition of a comparison of indices.
fn condition(op: BinOp) -> Option<Condition> {
    Some(match op {
        BinOp::Eq => Condition::Equal,
        BinOp::Ne => Condition::NotEqual,
        BinOp::Lt => Condition::Less,
        BinOp::Le => Condition::LessOrEqual,
        BinOp::Gt => Condition::Greater,
        BinOp::Ge => Condition::GreaterOrEqual,
        _ => return None,
    })
}

/// Returns true if an expression's value is in a general register.
pub(super) fn is_general(e: &Expr) -> bool {
    e.lanes() == 1 && (e.ty().elem == Elem::Index || e.ty().is_bool())
}
