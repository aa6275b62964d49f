//! Expressions: what each kind of node becomes.

use super::super::instruction_table::Op;
use super::super::interface::{Capture, Emitted, refuse};
use super::super::machine::View;
use super::kernel::Emit;
use super::value::{Mask, Parts, Val};
use crate::shared::lane::Lane;
use crate::shared::lane::data;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::any_lane::as_any_lane;
use halide_ir::{Elem, Expr, ExprKind, Type, build};
use std::rc::Rc;

impl Emit<'_> {
    /// Emits one node; its operands come from [`Emit::eval`].
    pub(super) fn compute(&mut self, e: &Expr) -> Emitted<Val> {
        let ty = e.ty();
        match e.kind() {
            ExprKind::Const(v) => self.constant_lanes(*v, 1),
            ExprKind::Int(v) => Ok(Val::Scalar(self.index_constant(*v))),
            ExprKind::Sym(s) => match self.symbols.get(s) {
                Some((known, _)) => Ok(known.clone()),
                None => self.captured(*s, ty),
            },
            ExprKind::Param(id) => {
                let word = self.capture(Capture::Param(*id), 1);
                self.at_start(|e| {
                    let mem = e.word(word);
                    e.unpack(mem, ty)
                })
            }
            ExprKind::Likely(a) => self.eval(a),
            ExprKind::Unary(op, a) if a.ty().is_bool() => self.bool_unary(*op, a),
            ExprKind::Binary(op, a, b) if a.ty().is_bool() => match as_any_lane(e) {
                Some(mask) => self.any_lane(mask),
                None => self.bool_binary(*op, a, b),
            },
            ExprKind::Unary(op, a) if is_scalar_index(a) => self.index_unary(*op, a),
            ExprKind::Binary(op, a, b) if is_scalar_index(a) => self.index_binary(*op, a, b),
            ExprKind::Unary(op, a) => self.unary(*op, a),
            ExprKind::Binary(op, a, b) if op.is_comparison() => self.compare(*op, a, b),
            ExprKind::Binary(op, a, b) => {
                if *op == BinOp::Add
                    && let Some(sum) = self.dot(e)?
                {
                    return Ok(Val::Lanes(sum));
                }
                self.binary(*op, a, b)
            }
            ExprKind::Select(c, a, b) => self.select(c, a, b),
            ExprKind::Cast(a) => self.cast(a, ty.elem),
            ExprKind::SaturatingCast(a) => self.saturating_cast(a, data(ty.elem)),
            ExprKind::Reinterpret(a) => self.reinterpret(a, data(ty.elem)),
            ExprKind::Math(f, args) => self.math(*f, args),
            ExprKind::Intrinsic(op, args) => self.intrinsic(*op, args),
            ExprKind::Load { buf, index, mask } => self.load(e, *buf, index, mask.as_ref()),
            ExprKind::Ramp { base, stride } => self.ramp(base, stride, ty.lanes),
            ExprKind::Broadcast(a) => self.broadcast(a, ty),
            ExprKind::Shuffle(vectors, picks) => self.shuffle(vectors, picks),
            ExprKind::Read { .. } => refuse("a multi-dimensional read is left"),
        }
    }

    /// A data constant in every lane.
    pub(super) fn constant_lanes(&mut self, v: Scalar, lanes: u16) -> Emitted<Val> {
        let lane = Lane::of_data(v.ty());
        if v.ty() == ScalarType::Bool {
            if lanes == 1 {
                return Ok(Val::Scalar(self.index_constant(i64::from(v.as_bool()))));
            }
            return Ok(Val::Mask(self.constant_mask(v.as_bool(), lane, lanes as usize)?));
        }
        let (view, count) = self.shape(lane, lanes as usize);
        let one = self.splat(lane, view, v.bits())?;
        Ok(Val::Lanes(Parts { lane, view, regs: vec![one; count].into() }))
    }

    fn broadcast(&mut self, a: &Expr, ty: Type) -> Emitted<Val> {
        match a.kind() {
            ExprKind::Const(v) => return self.constant_lanes(*v, ty.lanes),
            ExprKind::Int(v) => return self.constant_lanes(Scalar::from(*v), ty.lanes),
            _ => {}
        }
        let lane = Lane::of_elem(ty.elem);
        let (view, count) = self.shape(lane, ty.lanes as usize);
        if ty.is_bool() {
            let truth = self.scalar(a)?;
            return Ok(Val::Mask(self.mask_of_truth(truth, lane, ty.lanes as usize)?));
        }
        let loaded = match self.broadcast_load(a, lane, view)? {
            None => self.broadcast_converted(a, lane, view)?,
            loaded => loaded,
        };
        if let Some(one) = loaded {
            return Ok(Val::Lanes(Parts { lane, view, regs: vec![one; count].into() }));
        }
        let one = match self.eval(a)? {
            Val::Scalar(v) => self.broadcast_general(v, view)?,
            Val::Lanes(parts) => self.broadcast_lowest(lane, parts.regs[0], view)?,
            Val::Mask(_) => return refuse("a vector is broadcast"),
        };
        Ok(Val::Lanes(Parts { lane, view, regs: vec![one; count].into() }))
    }

    /// Index lanes `base, base + stride, ...`.
    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16) -> Emitted<Val> {
        let lane = Lane::I64;
        let (view, count) = self.shape(lane, lanes as usize);
        let first = self.scalar(base)?;
        let first = self.broadcast_general(first, view)?;
        let stride = match build::as_int(stride) {
            Some(s) => Stride::Const(s),
            None => {
                let s = self.scalar(stride)?;
                Stride::Reg(self.broadcast_general(s, view)?)
            }
        };
        let per = view.bytes() / 8;
        let regs = (0..count).map(|part| {
            let numbers = (0..per).map(|i| (part * per + i) as i64);
            let steps = match stride {
                Stride::Const(s) => {
                    let bytes = numbers.flat_map(|n| n.wrapping_mul(s).to_le_bytes()).collect();
                    self.pattern(bytes, view)?
                }
                Stride::Reg(s) => {
                    let numbers = self.pattern(numbers.flat_map(i64::to_le_bytes).collect(), view)?;
                    self.op2(Op::MulQ, view, s, numbers)?
                }
            };
            self.op2(Op::AddQ, view, first, steps)
        });
        let regs = regs.collect::<Emitted<Rc<[_]>>>()?;
        Ok(Val::Lanes(Parts { lane, view, regs }))
    }

    fn reinterpret(&mut self, a: &Expr, to: ScalarType) -> Emitted<Val> {
        let from = data(a.ty().elem);
        if from == to {
            return self.eval(a);
        }
        if from == ScalarType::Bool || to == ScalarType::Bool || a.ty().is_index() {
            return refuse(format!("bits of {from} as {to}"));
        }
        let parts = self.lanes(a)?;
        Ok(Val::Lanes(parts.as_lane(Lane::of_data(to))))
    }

    /// Lanes of a truth expression: one mask register per register of lanes of `lane`.
    pub(super) fn mask(&mut self, e: &Expr, lane: Lane) -> Emitted<Mask> {
        match self.eval(e)? {
            Val::Mask(mask) => self.recut(&mask, e.lanes() as usize, lane),
            _ => refuse(format!("{:?} where a mask is wanted", e.ty())),
        }
    }
}

enum Stride {
    Const(i64),
    Reg(regalloc2::VReg),
}

/// Returns true if an operand is an Index scalar, which lives in a general register.
fn is_scalar_index(e: &Expr) -> bool {
    e.lanes() == 1 && e.ty().elem == Elem::Index
}

impl Parts {
    /// One register of one lane.
    pub(super) fn single(lane: Lane, reg: regalloc2::VReg) -> Parts {
        Parts { lane, view: View::X, regs: Rc::from([reg]) }
    }
}
