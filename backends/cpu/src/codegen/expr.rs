//! Expressions: what each kind of node becomes.

use super::func::Func;
use super::value::{Parts, Val};
use crate::shared::lane::{Lane, data};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::any_lane::as_any_lane;
use halide_ir::{Expr, ExprKind, Sym, Type};

impl Func<'_> {
    /// Emits one node; its operands come from [`Func::eval`].
    pub(super) fn compute(&mut self, e: &Expr) -> Val {
        let ty = e.ty();
        match e.kind() {
            ExprKind::Const(v) => self.const_lanes(*v, 1),
            ExprKind::Int(v) => Val::Data(Func::single(self.index(*v))),
            ExprKind::Sym(s) => self.symbol(*s, ty),
            ExprKind::Param(id) => match self.env.layout.param(*id) {
                Some(word) => {
                    let lane = Lane::of_elem(ty.elem);
                    let v = self.argument(word, lane.scalar());
                    Val::Data(Func::single(v))
                }
                None => {
                    self.wrong(format!("{id:?} is not a parameter"));
                    self.zero(ty)
                }
            },
            ExprKind::Unary(op, a) if a.ty().is_bool() => self.bool_unary(*op, a),
            ExprKind::Unary(op, a) => {
                let parts = self.data(a);
                self.unary(*op, data(a.ty().elem), a.lanes(), &parts)
            }
            ExprKind::Binary(op, a, b) if a.ty().is_bool() => match as_any_lane(e) {
                Some(mask) => self.any_lane(mask),
                None => self.bool_binary(*op, a, b),
            },
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::Select(c, a, b) => self.select(c, a, b),
            ExprKind::Cast(a) => self.cast(a, ty.elem),
            ExprKind::SaturatingCast(a) => self.saturating_cast(a, data(ty.elem)),
            ExprKind::Reinterpret(a) => self.reinterpret(a, data(ty.elem)),
            ExprKind::Math(f, args) => self.math(*f, args),
            ExprKind::Intrinsic(op, args) => self.intrinsic(*op, args),
            ExprKind::Likely(a) => self.eval(a),
            ExprKind::Load { buf, index, mask } => self.load(e, *buf, index, mask.as_ref()),
            ExprKind::Ramp { base, stride } => self.ramp(base, stride, ty.lanes),
            ExprKind::Broadcast(a) => self.broadcast_expr(a, ty),
            ExprKind::Shuffle(vectors, picks) => self.shuffle_expr(e, vectors, picks),
            ExprKind::Read { buf, .. } => {
                self.wrong(format!("a multi-dimensional read of {buf:?} is left"));
                self.zero(ty)
            }
        }
    }

    fn symbol(&mut self, s: Sym, ty: Type) -> Val {
        if let Some(known) = self.symbols.get(&s) {
            return known.clone();
        }
        if let Sym::Buffer { buf, dim, field } = s
            && let Some(word) = self.env.layout.field(buf, dim as usize, field)
        {
            return Val::Data(Func::single(self.argument(word, types::I64)));
        }
        self.wrong(format!("{s:?} is not bound"));
        self.zero(ty)
    }

    /// A data constant in every lane.
    pub(super) fn const_lanes(&mut self, v: Scalar, lanes: u16) -> Val {
        let lane = Lane::of_data(v.ty());
        if v.ty() == ScalarType::Bool && lanes > 1 {
            let ones = self.constant(types::I8X16, if v.as_bool() { u64::MAX } else { 0 });
            return Val::Mask(Lane::I8, (0..lane.parts(lanes)).map(|_| ones).collect());
        }
        let c = self.constant(lane.part(lanes), v.bits());
        Val::Data((0..lane.parts(lanes)).map(|_| c).collect())
    }

    fn broadcast_expr(&mut self, a: &Expr, ty: Type) -> Val {
        match a.kind() {
            ExprKind::Const(v) => return self.const_lanes(*v, ty.lanes),
            ExprKind::Int(v) => return self.const_lanes(Scalar::from(*v), ty.lanes),
            _ => {}
        }
        let v = self.scalar(a);
        if ty.is_bool() {
            let ones = self.ins().bmask(types::I8, v);
            return Val::Mask(Lane::I8, self.broadcast(Lane::I8, ones, ty.lanes));
        }
        Val::Data(self.broadcast(Lane::of_elem(ty.elem), v, ty.lanes))
    }

    /// Index lanes `base, base + stride, ...` as 64-bit vectors.
    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16) -> Val {
        let (base, stride) = (self.scalar(base), self.scalar(stride));
        let first = self.splat(types::I64X2, base);
        let double = self.ins().ishl_imm_u(stride, 1);
        let second = self.ins().iadd(base, stride);
        let mut part = self.ins().insertlane(first, second, 1);
        let step = self.splat(types::I64X2, double);
        let parts = (0..Lane::I64.parts(lanes))
            .map(|i| {
                if i > 0 {
                    part = self.ins().iadd(part, step);
                }
                part
            })
            .collect();
        Val::Data(parts)
    }

    fn select(&mut self, c: &Expr, a: &Expr, b: &Expr) -> Val {
        let ty = a.ty();
        if ty.is_bool() && ty.lanes > 1 {
            let lane = self.natural_mask(a).or_else(|| self.natural_mask(c)).unwrap_or(Lane::I8);
            let (c, a, b) = (self.mask(c, lane), self.mask(a, lane), self.mask(b, lane));
            let arms = self.zip(&c, &a, |f, c, a| f.ins().band(c, a));
            let others = self.zip(&c, &b, |f, c, b| f.ins().band_not(b, c));
            return Val::Mask(lane, self.zip(&arms, &others, |f, x, y| f.ins().bor(x, y)));
        }
        let lane = Lane::of_elem(ty.elem);
        let (a, b) = (self.data(a), self.data(b));
        let c = self.truth(c, lane);
        let parts = (0..a.len()).map(|i| self.choose(c[i], a[i], b[i])).collect();
        Val::Data(parts)
    }

    fn reinterpret(&mut self, a: &Expr, to: ScalarType) -> Val {
        let from = data(a.ty().elem);
        let lanes = a.lanes();
        let parts = self.data(a);
        let (source, target) = (Lane::of_data(from), Lane::of_data(to));
        let bits = self.cast_parts(&parts, source.as_int());
        let resized = self.resize_ints(&bits, lanes, source.bits(), target.bits(), false, false);
        if to != ScalarType::Bool {
            return Val::Data(self.cast_parts(&resized, target));
        }
        let low = self.map(&resized, |f, v| {
            let ty = f.ty(v);
            let one = f.constant(ty, 1);
            f.ins().band(v, one)
        });
        self.bytes_as_bool(&low, lanes)
    }
    /// Bytes of 0 or 1 as truth: themselves for a scalar, a mask for a vector.
    pub(super) fn bytes_as_bool(&mut self, bytes: &Parts, lanes: u16) -> Val {
        if lanes == 1 { Val::Data(bytes.clone()) } else { Val::Mask(Lane::I8, self.bytes_to_mask(bytes)) }
    }
    /// The truth of comparisons of lanes of `lane`.
    pub(super) fn truth_val(&mut self, lane: Lane, parts: Parts, lanes: u16) -> Val {
        if lanes == 1 { Val::Data(parts) } else { Val::Mask(lane.as_int(), parts) }
    }
    /// `v != 0` for integer lanes.
    pub(super) fn nonzero(&mut self, lane: Lane, parts: &Parts, lanes: u16) -> Val {
        let truth = self.map(parts, |f, v| f.icmp_const(IntCC::NotEqual, v, 0));
        self.truth_val(lane, truth, lanes)
    }
}
