//! Loads: dense and strided ones as whole vectors, others lane by lane; masked ones never touch what they must not.

use super::address::Address;
use super::func::{Func, REGION_SCRATCH};
use super::guards::Motion;
use super::places::{Place, Scratch};
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use crate::tuning::DENSE_STRIDE;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type, Value, types};
use halide_ir::{BufId, Expr, ExprKind};

impl Func<'_> {
    /// `ExprKind::Load`.
    pub(super) fn load(&mut self, e: &Expr, buf: BufId, index: &Expr, mask: Option<&Expr>) -> Val {
        let elem = self.env.program.buffers[buf].elem;
        if e.ty().scalar() != Some(elem) {
            self.wrong(format!("{buf:?} has elements of {elem}, not as in {e:?}"));
            return self.zero(e.ty());
        }
        let (lane, lanes) = (Lane::of_data(elem), e.lanes());
        let parts = match (self.place(buf), mask) {
            (Place::Registers(registers), None) => registers.load(self, index),
            (Place::Registers(registers), Some(mask)) => {
                let (parts, zero) = (registers.load(self, index), self.constant(lane.part(lanes), 0));
                let mask = self.truth(mask, lane);
                self.zip(&mask, &parts, |f, m, v| f.choose(m, v, zero))
            }
            (Place::Memory(area), None) => {
                let linear = Linear::of_index(index, &self.sums);
                let address = self.address(area, lane.bytes(), &linear, self.guards.motion());
                self.load_lanes(address, lane, lanes, &linear, area.slack)
            }
            (Place::Memory(area), Some(mask)) => {
                let linear = Linear::of_index(index, &self.sums);
                let address = self.address(area, lane.bytes(), &linear, Motion::Stays);
                if lanes == 1 {
                    let truth = self.scalar(mask);
                    Func::single(self.load_if(truth, address, lane))
                } else {
                    self.load_masked(address, lane, lanes, &linear, mask, area.slack)
                }
            }
        };
        if elem.bits() == 1 && lanes > 1 { Val::Mask(Lane::I8, self.bytes_to_mask(&parts)) } else { Val::Data(parts) }
    }
    /// A condition as it selects lanes of `lane`: an i8 for a scalar, a mask for a vector.
    pub(super) fn truth(&mut self, e: &Expr, lane: Lane) -> Parts {
        if e.lanes() == 1 { Func::single(self.scalar(e)) } else { self.mask(e, lane) }
    }

    fn load_lanes(&mut self, first: Address, lane: Lane, lanes: u16, index: &Linear, slack: bool) -> Parts {
        let ty = lane.scalar();
        if lanes == 1 {
            return Func::single(self.load_at(ty, first, 0));
        }
        if index.is_affine() && index.step == 0 {
            let v = self.load_at(ty, first, 0);
            return self.broadcast(lane, v, lanes);
        }
        if index.is_affine() && index.step.unsigned_abs() <= DENSE_STRIDE {
            return self.load_span(first, lane, lanes, index.step, slack);
        }
        let addresses = self.lane_addresses(first, lane.bytes(), index, lanes);
        let values: Vec<Value> = addresses.into_iter().map(|a| self.load_at(ty, a, 0)).collect();
        self.collect(lane, &values)
    }

    /// Lanes `step` elements apart: loads all elements from the first lane to the last, which are all in the buffer.
    fn load_span(&mut self, first: Address, lane: Lane, lanes: u16, step: i64, slack: bool) -> Parts {
        let span = (lanes as usize - 1) * step.unsigned_abs() as usize + 1;
        let size = lane.bytes() as i64;
        let lowest = if step < 0 { self.displaced(first, (span as i64 - 1) * -size) } else { first };
        let sources = self.load_dense(lowest, lane, span, slack);
        if step == 1 {
            return sources.into();
        }
        let at = |i: usize| i * step.unsigned_abs() as usize;
        let picks: Vec<usize> = (0..lanes as usize).map(|i| if step < 0 { span - 1 - at(i) } else { at(i) }).collect();
        self.pick(lane, &sources, &picks)
    }

    /// `count` elements that follow each other; nothing beyond them is touched unless there is slack.
    pub(super) fn load_dense(&mut self, first: Address, lane: Lane, count: usize, slack: bool) -> Vec<Value> {
        let bytes = count * lane.bytes();
        let (whole, rest) = (bytes / 16, bytes % 16);
        let ty = lane.vector();
        let mut parts: Vec<Value> = (0..whole).map(|i| self.load_at(ty, first, 16 * i as i64)).collect();
        if rest > 0 {
            parts.push(if slack {
                self.load_at(ty, first, 16 * whole as i64)
            } else if whole > 0 {
                let overlapping = self.load_at(types::I8X16, first, bytes as i64 - 16);
                let mask = (0..16u8).map(|i| i.saturating_add(16 - rest as u8).min(15)).collect();
                let moved = self.shuffle_bytes(overlapping, overlapping, mask);
                self.bitcast(ty, moved)
            } else {
                let v = self.load_pieces(first, rest);
                self.bitcast(ty, v)
            });
        }
        parts
    }
    /// Fewer than 16 bytes, in pieces of 8, 4, 2 and 1.
    fn load_pieces(&mut self, first: Address, bytes: usize) -> Value {
        let mut vector = None;
        let mut at = 0;
        for lane in [Lane::F64, Lane::F32, Lane::I16, Lane::I8] {
            let size = lane.bytes();
            if bytes & size == 0 {
                continue;
            }
            let piece = self.load_at(lane.scalar(), first, at as i64);
            let grown = match vector {
                None if lane.is_float() => self.ins().scalar_to_vector(lane.vector(), piece),
                known => {
                    let v = known.unwrap_or_else(|| self.constant(lane.vector(), 0));
                    let v = self.bitcast(lane.vector(), v);
                    self.ins().insertlane(v, piece, (at / size) as u8)
                }
            };
            vector = Some(grown);
            at += size;
        }
        vector.unwrap_or_else(|| self.constant(types::I8X16, 0))
    }

    /// The lanes of a dense load of integers, extended to twice the width on the way; `None` of other expressions.
    pub(super) fn load_widened(&mut self, e: &Expr, signed: bool) -> Option<Parts> {
        let ExprKind::Load { buf, index, mask: None } = e.kind() else { return None };
        let (lane, lanes) = (Lane::of_elem(e.ty().elem), e.lanes());
        let bytes = lane.bytes() * lanes as usize;
        let linear = Linear::of_index(index, &self.sums);
        if lanes == 1 || !bytes.is_multiple_of(8) || lane.bits() > 32 || !linear.is_affine() || linear.step != 1 {
            return None;
        }
        let Place::Memory(area) = self.place(*buf) else { return None };
        let address = self.address(area, lane.bytes(), &linear, self.guards.motion());
        let parts = (0..bytes / 8).map(|i| {
            let Address { base, offset, flags } = self.displaced(address, 8 * i as i64);
            let offset = offset as i32;
            match (lane, signed) {
                (Lane::I8, true) => self.ins().sload8x8(flags, base, offset),
                (Lane::I8, false) => self.ins().uload8x8(flags, base, offset),
                (Lane::I16, true) => self.ins().sload16x4(flags, base, offset),
                (Lane::I16, false) => self.ins().uload16x4(flags, base, offset),
                (_, true) => self.ins().sload32x2(flags, base, offset),
                (_, false) => self.ins().uload32x2(flags, base, offset),
            }
        });
        Some(parts.collect())
    }

    /// A scalar, or 0 where `truth` does not hold.
    fn load_if(&mut self, truth: Value, address: Address, lane: Lane) -> Value {
        let (there, join) = (self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(join, lane.scalar());
        let zero = self.constant(lane.scalar(), 0);
        self.ins().brif(truth, there, &[], join, &[BlockArg::Value(zero)]);
        self.enter(there);
        let v = self.load_at(lane.scalar(), address, 0);
        self.ins().jump(join, &[BlockArg::Value(v)]);
        self.enter(join);
        result
    }

    /// All lanes at once where the whole mask holds, else one by one.
    fn load_masked(
        &mut self,
        first: Address,
        lane: Lane,
        lanes: u16,
        index: &Linear,
        mask: &Expr,
        slack: bool,
    ) -> Parts {
        let mask = self.mask(mask, Lane::I8);
        let offsets = self.spill_offsets(first, lane, lanes, index);
        let ty = lane.vector();
        let (fast, slow, join) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let results: Parts = (0..lane.parts(lanes)).map(|_| self.b.append_block_param(join, ty)).collect();
        let all = self.all_true(&mask, lanes);
        self.ins().brif(all, fast, &[], slow, &[]);

        self.enter(fast);
        self.memo.open();
        let loaded = self.load_lanes(first, lane, lanes, index, slack);
        self.memo.close();
        self.jump_with(join, &loaded);

        self.enter(slow);
        let out = self.scratch(Scratch::Data, lane.parts(lanes) * 16);
        let zero = self.constant(types::I8X16, 0);
        (0..lane.parts(lanes)).for_each(|i| self.store_scratch(zero, out, 16 * i));
        self.for_true_lanes(&mask, lanes, |f, i| {
            let address = f.offset_address(first, lane, index, offsets, i);
            let v = f.load_at(lane.scalar(), address, 0);
            let at = f.times(i, lane.bytes() as i64);
            let at = f.ins().iadd(out, at);
            f.store_scratch(v, at, 0);
        });
        let flags = self.flags(REGION_SCRATCH);
        let loaded: Parts = (0..lane.parts(lanes)).map(|i| self.ins().load(ty, flags, out, 16 * i as i32)).collect();
        self.jump_with(join, &loaded);
        self.enter(join);
        results
    }

    // Shared with masked stores.

    /// Jumps with values as the block's parameters.
    fn jump_with(&mut self, to: cranelift_codegen::ir::Block, values: &[Value]) {
        let args: Vec<BlockArg> = values.iter().map(|v| BlockArg::Value(*v)).collect();
        self.ins().jump(to, &args);
    }
    /// Writes the byte offset of every lane from `first` to scratch space, unless it is a multiple of the lane's
    /// number.
    pub(super) fn spill_offsets(&mut self, first: Address, lane: Lane, lanes: u16, index: &Linear) -> Option<Value> {
        if index.is_affine() {
            return None;
        }
        let slot = self.scratch(Scratch::Offsets, 8 * lanes as usize);
        let addresses = self.lane_addresses(first, lane.bytes(), index, lanes);
        for (i, a) in addresses.into_iter().enumerate() {
            let distance = self.ins().isub(a.base, first.base);
            let distance = self.ins().iadd_imm_s(distance, a.offset.wrapping_sub(first.offset));
            self.store_scratch(distance, slot, 8 * i);
        }
        Some(slot)
    }
    /// The address of lane `i`, a value.
    pub(super) fn offset_address(
        &mut self,
        first: Address,
        lane: Lane,
        index: &Linear,
        offsets: Option<Value>,
        i: Value,
    ) -> Address {
        let distance = match offsets {
            None => self.times(i, index.step.wrapping_mul(lane.bytes() as i64)),
            Some(slot) => {
                let at = self.times(i, 8);
                let at = self.ins().iadd(slot, at);
                let flags = self.flags(REGION_SCRATCH);
                self.ins().load(types::I64, flags, at, 0)
            }
        };
        let base = self.ins().iadd(first.base, distance);
        Address { base, ..first }
    }
    /// Runs `body` with the number of each true lane: a loop.
    pub(super) fn for_true_lanes(&mut self, mask: &Parts, lanes: u16, body: impl FnOnce(&mut Self, Value)) {
        let slot = self.scratch(Scratch::Mask, 16 * mask.len());
        for (i, part) in mask.iter().enumerate() {
            self.store_scratch(*part, slot, 16 * i);
        }
        let (head, yes, next, done) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block(), self.b.create_block());
        let i = self.b.append_block_param(head, types::I64);
        let zero = self.index(0);
        self.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        let flags = self.flags(REGION_SCRATCH);
        let at = self.ins().iadd(slot, i);
        let truth = self.ins().load(types::I8, flags, at, 0);
        self.ins().brif(truth, yes, &[], next, &[]);
        self.enter(yes);
        self.memo.open();
        body(self, i);
        self.memo.close();
        self.ins().jump(next, &[]);
        self.enter(next);
        let following = self.ins().iadd_imm_s(i, 1);
        let more = self.icmp_const(IntCC::SignedLessThan, following, u64::from(lanes));
        self.ins().brif(more, head, &[BlockArg::Value(following)], done, &[]);
        self.b.seal_block(head);
        self.enter(done);
    }
    /// Zero of a type.
    pub(super) fn zero(&mut self, ty: halide_ir::Type) -> Val {
        let lane = Lane::of_elem(ty.elem);
        let part: Type = lane.part(ty.lanes);
        let zero = self.constant(part, 0);
        let parts = (0..lane.parts(ty.lanes)).map(|_| zero).collect();
        if ty.is_bool() && ty.lanes > 1 { Val::Mask(lane, parts) } else { Val::Data(parts) }
    }
}
