//! Addresses of sums of terms: what stays the same in a loop is added outside of it.

use super::func::Func;
use super::guards::Motion;
use super::places::Area;
use super::value::Val;
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use halide_core::ops::BinOp;
use halide_ir::code_place::CodePart;
use halide_ir::visit::for_each_child;
use halide_ir::{Expr, ExprKind, Sym, build};

/// An address: a register and a displacement.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) base: Value,
    pub(super) offset: i64,
    pub(super) flags: MemFlagsData,
}

impl Func<'_> {
    /// The address of lane 0, but for the parts of `index` that are vectors. Loads of what nobody writes may move as
    /// `motion` says; everything else stays.
    pub(super) fn address(&mut self, area: Area, size: usize, index: &Linear, motion: Motion) -> Address {
        self.for_purpose(CodePart::Address, |f| f.address_at(area, size, index, motion))
    }
    fn address_at(&mut self, area: Area, size: usize, index: &Linear, motion: Motion) -> Address {
        let motion = if area.readonly { motion } else { Motion::Stays };
        let mut terms: Vec<(u32, &Expr, i64)> =
            index.terms.iter().map(|(e, factor)| (self.depth(e), e, *factor)).collect();
        // Outer loops first: what they contribute is the same in the inner ones, and is moved out of them.
        terms.sort_by_key(|(depth, ..)| *depth);
        let (loops, tie) = match motion {
            Motion::Tied { loops, tie } if !self.follows(&terms, index, loops, size as i64) => (loops, Some(tie)),
            _ => (0, None),
        };
        let (outer, inner) = terms.split_at(terms.partition_point(|(depth, ..)| *depth < loops));
        let mut base = self.add_terms(area.base, outer, size as i64);
        if let Some(tie) = tie {
            base = self.ins().iadd(base, tie);
        }
        let base = self.add_terms(base, inner, size as i64);
        let flags = self.flags(area.region);
        let flags = if area.readonly { flags.with_readonly() } else { flags };
        let flags = if motion == Motion::Stays { flags } else { flags.with_can_move() };
        let address = Address { base, offset: index.constant.wrapping_mul(size as i64), flags };
        self.displaced(address, 0)
    }
    /// Remembers what `symbol`, which stands for `value`, consists of, if that helps addresses.
    pub(super) fn note_parts(&mut self, symbol: Sym, value: &Expr) {
        if !value.ty().is_index() || value.lanes() > 1 {
            return;
        }
        if let ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) = value.kind() {
            self.definitions.insert(symbol, value.clone());
        }
        if let ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) = value.kind()
            && (build::as_int(b).is_some() || self.depth(a) != self.depth(b))
        {
            self.sums.insert(symbol, value.clone());
        }
        if let ExprKind::Binary(BinOp::Mul, a, b) = value.kind()
            && let Some(factor) = build::as_int(b)
        {
            let (product, variable) = (self.scalar(value), self.scalar(a));
            self.guards.note_multiple(product, variable, factor);
        }
    }
    /// Returns true if an address of these terms, sorted by depth, is certain to change in a loop at depth `loops` or
    /// deeper: the deepest term is a multiple of the variable of such a loop, and nothing else changes there.
    fn follows(&mut self, terms: &[(u32, &Expr, i64)], index: &Linear, loops: u32, size: i64) -> bool {
        let Some(((depth, e, factor), others)) = terms.split_last() else { return false };
        let alone = index.is_affine() && others.last().is_none_or(|(other, ..)| other < depth);
        if *depth < loops || !alone {
            return false;
        }
        let value = self.scalar(e);
        self.guards.multiple(value, *depth).wrapping_mul(*factor).wrapping_mul(size) != 0
    }
    /// `base` and terms, sorted by depth, which are added depth by depth.
    fn add_terms(&mut self, mut base: Value, terms: &[(u32, &Expr, i64)], size: i64) -> Value {
        for group in terms.chunk_by(|(a, ..), (b, ..)| a == b) {
            let offset = self.sum_bytes(group, size);
            base = self.ins().iadd(base, offset);
        }
        base
    }
    /// The sum of terms, in bytes.
    fn sum_bytes(&mut self, group: &[(u32, &Expr, i64)], size: i64) -> Value {
        if let [(_, e, factor)] = group {
            let v = self.scalar(e);
            return self.times(v, factor.wrapping_mul(size));
        }
        let mut sum = None;
        for (_, e, factor) in group {
            let v = self.scalar(e);
            let v = self.times(v, *factor);
            sum = Some(sum.map_or(v, |s| self.ins().iadd(s, v)));
        }
        let sum = sum.unwrap_or_else(|| self.index(0));
        self.times(sum, size)
    }
    /// `v * factor`; by a shift where that will do, because addressing modes contain shifts.
    pub(super) fn times(&mut self, v: Value, factor: i64) -> Value {
        if factor > 0 && factor.count_ones() == 1 {
            return match factor.trailing_zeros() {
                0 => v,
                bits => self.ins().ishl_imm_u(v, i64::from(bits)),
            };
        }
        self.ins().imul_imm_s(v, factor)
    }
    /// Returns the depth of the innermost loop in which `e` may change; 0 if it changes in none.
    pub(super) fn depth(&self, e: &Expr) -> u32 {
        match e.kind() {
            ExprKind::Sym(s) => self.depths.get(s).copied().unwrap_or(0),
            ExprKind::Load { .. } => self.guards.loop_depth(),
            _ => {
                let mut deepest = 0;
                for_each_child(e, |c| deepest = deepest.max(self.depth(c)));
                deepest
            }
        }
    }
    /// The address `bytes` further on.
    pub(super) fn displaced(&mut self, address: Address, bytes: i64) -> Address {
        let offset = address.offset.wrapping_add(bytes);
        // Room is left for the offsets of the parts of a vector.
        if i32::try_from(offset).is_ok_and(|o| o.unsigned_abs() < 1 << 30) {
            return Address { offset, ..address };
        }
        let constant = self.index(offset);
        let base = self.ins().iadd(address.base, constant);
        Address { base, offset: 0, ..address }
    }
    /// Loads a value `bytes` after an address.
    pub(super) fn load_at(&mut self, ty: Type, address: Address, bytes: i64) -> Value {
        let a = self.displaced(address, bytes);
        self.ins().load(ty, a.flags, a.base, a.offset as i32)
    }
    /// Stores a value `bytes` after an address.
    pub(super) fn store_at(&mut self, value: Value, address: Address, bytes: i64) {
        let a = self.displaced(address, bytes);
        self.ins().store(a.flags, value, a.base, a.offset as i32);
    }

    /// The address of each lane.
    pub(super) fn lane_addresses(&mut self, first: Address, size: usize, index: &Linear, lanes: u16) -> Vec<Address> {
        let steps: Vec<Value> = index
            .steps
            .iter()
            .map(|(e, factor)| {
                let v = self.scalar(e);
                self.times(v, factor.wrapping_mul(size as i64))
            })
            .collect();
        let mut row = first.base;
        let mut all = Vec::new();
        for i in 0..lanes {
            let mut base = row;
            for (e, factor) in &index.vectors {
                let lane = self.lane_index(e, i);
                let bytes = self.times(lane, factor.wrapping_mul(size as i64));
                base = self.ins().iadd(base, bytes);
            }
            let offset = index.step.wrapping_mul(i64::from(i)).wrapping_mul(size as i64);
            all.push(self.displaced(Address { base, ..first }, offset));
            for step in &steps {
                row = self.ins().iadd(row, *step);
            }
        }
        all
    }
    /// Lane `i` of an Index vector, computed as a scalar where that avoids 64-bit vectors.
    pub(super) fn lane_index(&mut self, e: &Expr, i: u16) -> Value {
        if self.memo.get(e).is_none() {
            match e.kind() {
                ExprKind::Broadcast(a) => return self.scalar(a),
                ExprKind::Likely(a) => return self.lane_index(a, i),
                ExprKind::Ramp { base, stride } => {
                    let (base, stride) = (self.scalar(base), self.scalar(stride));
                    let distance = self.times(stride, i64::from(i));
                    return self.ins().iadd(base, distance);
                }
                ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Min | BinOp::Max), a, b) => {
                    let (x, y) = (self.lane_index(a, i), self.lane_index(b, i));
                    return match op {
                        BinOp::Add => self.ins().iadd(x, y),
                        BinOp::Sub => self.ins().isub(x, y),
                        BinOp::Mul => self.ins().imul(x, y),
                        BinOp::Min => self.ins().smin(x, y),
                        _ => self.ins().smax(x, y),
                    };
                }
                ExprKind::Cast(a) if a.ty().scalar().is_some_and(|t| t.is_int()) => {
                    let ty = a.ty().scalar().unwrap_or(halide_core::types::I64);
                    let parts = self.data(a);
                    let lane = self.lane(Lane::of_data(ty), &parts, i);
                    return match ty {
                        _ if ty.bits() == 64 => lane,
                        _ if ty.is_signed_int() => self.ins().sextend(types::I64, lane),
                        _ => self.ins().uextend(types::I64, lane),
                    };
                }
                _ => {}
            }
        }
        match self.eval(e) {
            Val::Data(parts) => self.lane(Lane::I64, &parts, i),
            Val::Mask(..) => {
                self.wrong(format!("truth as an index: {e:?}"));
                self.index(0)
            }
        }
    }
}
