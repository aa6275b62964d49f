//! Masks: truth lanes of vectors, in integer lanes of the width that the consumer wants.

use super::func::Func;
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_core::ops::BinOp;
use halide_ir::{Expr, ExprKind, build};

impl Func<'_> {
    /// The mask of a `Bool` vector in lanes as wide as `want`.
    pub(super) fn mask(&mut self, e: &Expr, want: Lane) -> Parts {
        let (want, lanes) = (want.as_int(), e.lanes());
        if let ExprKind::Broadcast(scalar) = e.kind() {
            let ones = match build::as_bool(scalar) {
                Some(truth) => self.constant(want.vector(), if truth { u64::MAX } else { 0 }),
                None => {
                    let truth = self.scalar(scalar);
                    let ones = self.ins().bmask(want.scalar(), truth);
                    self.splat(want.vector(), ones)
                }
            };
            return (0..want.parts(lanes)).map(|_| ones).collect();
        }
        match self.eval(e) {
            Val::Mask(lane, parts) => self.resize_mask(lane, &parts, lanes, want),
            Val::Data(parts) => parts,
        }
    }
    /// The truth that a mask holds in some lane.
    pub(super) fn any_lane(&mut self, e: &Expr) -> Val {
        let lane = self.natural_mask(e).unwrap_or(Lane::I8);
        let mut parts = self.mask(e, lane).to_vec();
        let rest = usize::from(e.lanes()) % lane.per_part();
        if let Some(last) = parts.last_mut().filter(|_| rest > 0) {
            let bytes: Vec<u8> = (0..16).map(|i| if i < rest * lane.bytes() { 0xff } else { 0 }).collect();
            let first = self.bytes(lane.vector(), &bytes);
            *last = self.ins().band(*last, first);
        }
        let all = parts.into_iter().reduce(|a, b| self.ins().bor(a, b)).expect("a mask has parts");
        let any = self.ins().vany_true(all);
        Val::Data(Func::single(any))
    }
    /// The width in which the mask of `e` comes about; `None` if any is as good.
    pub(super) fn natural_mask(&self, e: &Expr) -> Option<Lane> {
        match e.kind() {
            ExprKind::Binary(op, a, _) if op.is_comparison() && !a.ty().is_bool() => {
                let lane = Lane::of_elem(a.ty().elem).as_int();
                let half = a.ty().scalar().is_some_and(|t| t.is_float() && t.bits() == 16);
                Some(if half { Lane::I32 } else { lane })
            }
            ExprKind::Binary(BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor, a, b) => {
                self.natural_mask(a).or_else(|| self.natural_mask(b))
            }
            ExprKind::Unary(_, a) if a.ty().is_bool() => self.natural_mask(a),
            ExprKind::Select(c, a, _) => self.natural_mask(a).or_else(|| self.natural_mask(c)),
            ExprKind::Likely(a) => self.natural_mask(a),
            _ => None,
        }
    }
    /// The same truth in lanes of another width.
    pub(super) fn resize_mask(&mut self, from: Lane, parts: &Parts, lanes: u16, to: Lane) -> Parts {
        let (mut lane, mut parts) = (from, parts.clone());
        while lane.bits() > to.bits() {
            let next = Lane::int(lane.bits() / 2);
            parts = (0..next.parts(lanes)).map(|i| self.narrow_pair(lane, &parts, i)).collect();
            lane = next;
        }
        while lane.bits() < to.bits() {
            lane = Lane::int(lane.bits() * 2);
            parts = (0..lane.parts(lanes))
                .map(|i| match i % 2 {
                    0 => self.ins().swiden_low(parts[i / 2]),
                    _ => self.ins().swiden_high(parts[i / 2]),
                })
                .collect();
        }
        parts
    }
    /// Part `i` of a mask of half the width. Signed packing keeps ones and zeros.
    fn narrow_pair(&mut self, lane: Lane, parts: &Parts, i: usize) -> Value {
        let a = parts[2 * i];
        let b = parts.get(2 * i + 1).copied().unwrap_or(a);
        if lane == Lane::I64 {
            return self.even_halves(a, b);
        }
        self.ins().snarrow(a, b)
    }
    /// The low halves of the 64-bit lanes of `a`, then of `b`.
    pub(super) fn even_halves(&mut self, a: Value, b: Value) -> Value {
        let mask = [0, 8, 16, 24].iter().flat_map(|first| (0..4).map(move |k| first + k)).collect();
        let made = self.shuffle_bytes(a, b, mask);
        self.bitcast(types::I32X4, made)
    }
    /// The bytes 0 or 1 of an I8 mask.
    pub(super) fn mask_to_bytes(&mut self, mask: &Parts) -> Parts {
        let one = self.constant(types::I8X16, 1);
        self.map(mask, |f, v| f.ins().band(v, one))
    }
    /// The mask of bytes that are 0 or 1.
    pub(super) fn bytes_to_mask(&mut self, bytes: &Parts) -> Parts {
        self.map(bytes, |f, v| f.icmp_const(IntCC::NotEqual, v, 0))
    }
    /// Emits the test that all of the first `lanes` lanes of an I8 mask are true: an i8.
    pub(super) fn all_true(&mut self, mask: &Parts, lanes: u16) -> Value {
        let rest = lanes as usize % 16;
        let whole = if rest == 0 { mask.len() } else { mask.len() - 1 };
        let mut truth = None;
        if whole > 0 {
            let mut all = mask[0];
            for v in &mask[1..whole] {
                all = self.ins().band(all, *v);
            }
            truth = Some(self.low_lanes_true(all, 16));
        }
        if rest > 0 {
            let last = self.low_lanes_true(mask[mask.len() - 1], rest as u32);
            truth = Some(truth.map_or(last, |t| self.ins().band(t, last)));
        }
        truth.unwrap_or_else(|| self.ins().iconst(types::I8, 1))
    }
    fn low_lanes_true(&mut self, mask: Value, lanes: u32) -> Value {
        let bits = self.ins().vhigh_bits(types::I32, mask);
        let wanted = (1u64 << lanes) - 1;
        let low = self.ins().band_imm_u(bits, wanted as i64);
        self.icmp_const(IntCC::Equal, low, wanted)
    }
}
