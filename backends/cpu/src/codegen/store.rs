//! Stores: dense ones as whole vectors, others lane by lane.

use super::address::Address;
use super::func::{Func, REGION_SCRATCH};
use super::guards::Motion;
use super::places::{Place, Scratch};
use super::value::{Parts, Val};
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_ir::{BufId, Expr, ExprKind};

impl Func<'_> {
    /// `Stmt::Store`.
    pub(super) fn store(&mut self, buf: BufId, index: &Expr, value: &Expr, mask: Option<&Expr>) {
        let elem = self.env.program.buffers[buf].elem;
        if value.ty().scalar() != Some(elem) || index.lanes() != value.lanes() {
            self.wrong(format!("{buf:?} has elements of {elem}; stored: {value:?} at {index:?}"));
            return;
        }
        self.stores = true;
        let (lane, lanes) = (Lane::of_data(elem), value.lanes());
        let parts = self.data(value);
        match (self.place(buf), mask) {
            (Place::Registers(registers), mask) => {
                let mask = mask.map(|m| self.truth(m, lane));
                registers.store(self, index, &parts, mask.as_deref());
            }
            (Place::Memory(area), None) => {
                let linear = Linear::of_index(index, &self.sums);
                let address = self.address(area, lane.bytes(), &linear, Motion::Stays);
                self.store_lanes(address, lane, lanes, &linear, &parts);
            }
            (Place::Memory(area), Some(mask)) => {
                let linear = Linear::of_index(index, &self.sums);
                let address = self.address(area, lane.bytes(), &linear, Motion::Stays);
                self.store_masked(address, lane, lanes, &linear, &parts, mask);
            }
        }
        self.memo.stored(buf);
        // The next load of just these lanes is what was stored (truth is stored in another form).
        let distinct = matches!(index.kind(), ExprKind::Ramp { .. }) && Linear::of_index(index, &self.sums).step != 0;
        if mask.is_none() && (lanes == 1 || distinct) && elem.bits() > 1 {
            let load = halide_ir::build::load(buf, elem, index.clone(), None);
            self.memo.put(&load, Val::Data(parts));
        }
    }

    fn store_lanes(&mut self, first: Address, lane: Lane, lanes: u16, index: &Linear, parts: &Parts) {
        if lanes == 1 {
            return self.store_at(parts[0], first, 0);
        }
        if index.is_affine() && index.step == 1 {
            return self.store_dense(first, lane, lanes as usize, parts);
        }
        let addresses = self.lane_addresses(first, lane.bytes(), index, lanes);
        for (i, address) in addresses.into_iter().enumerate() {
            let v = self.lane(lane, parts, i as u16);
            self.store_at(v, address, 0);
        }
    }
    /// `count` elements that follow each other; nothing beyond them is touched.
    fn store_dense(&mut self, first: Address, lane: Lane, count: usize, parts: &Parts) {
        let bytes = count * lane.bytes();
        let (whole, rest) = (bytes / 16, bytes % 16);
        for (i, part) in parts.iter().take(whole).enumerate() {
            self.store_at(*part, first, 16 * i as i64);
        }
        if rest > 0 && whole > 0 {
            // The last 16 bytes, some of them for the second time.
            let mask = (rest as u8..rest as u8 + 16).collect();
            let last = self.shuffle_bytes(parts[whole - 1], parts[whole], mask);
            self.store_at(last, first, bytes as i64 - 16);
        } else if rest > 0 {
            self.store_pieces(first, rest, parts[0]);
        }
    }
    /// Fewer than 16 bytes, in pieces of 8, 4, 2 and 1.
    fn store_pieces(&mut self, first: Address, bytes: usize, part: Value) {
        let mut at = 0;
        for lane in [Lane::I64, Lane::I32, Lane::I16, Lane::I8] {
            let size = lane.bytes();
            if bytes & size != 0 {
                let v = self.bitcast(lane.vector(), part);
                let piece = self.ins().extractlane(v, (at / size) as u8);
                self.store_at(piece, first, at as i64);
                at += size;
            }
        }
    }

    /// All lanes at once where the whole mask holds, else one by one.
    fn store_masked(&mut self, first: Address, lane: Lane, lanes: u16, index: &Linear, parts: &Parts, mask: &Expr) {
        let (fast, done) = (self.b.create_block(), self.b.create_block());
        if lanes == 1 {
            let truth = self.scalar(mask);
            self.ins().brif(truth, fast, &[], done, &[]);
            self.enter(fast);
            self.store_at(parts[0], first, 0);
            self.ins().jump(done, &[]);
            return self.enter(done);
        }
        let slow = self.b.create_block();
        let mask = self.mask(mask, Lane::I8);
        let offsets = self.spill_offsets(first, lane, lanes, index);
        let all = self.all_true(&mask, lanes);
        self.ins().brif(all, fast, &[], slow, &[]);

        self.enter(fast);
        self.memo.open();
        self.store_lanes(first, lane, lanes, index, parts);
        self.memo.close();
        self.ins().jump(done, &[]);

        self.enter(slow);
        let data = self.scratch(Scratch::Data, 16 * parts.len());
        for (i, part) in parts.iter().enumerate() {
            self.store_scratch(*part, data, 16 * i);
        }
        self.for_true_lanes(&mask, lanes, |f, i| {
            let at = f.times(i, lane.bytes() as i64);
            let at = f.ins().iadd(data, at);
            let flags = f.flags(REGION_SCRATCH);
            let v = f.ins().load(lane.scalar(), flags, at, 0);
            let address = f.offset_address(first, lane, index, offsets, i);
            f.store_at(v, address, 0);
        });
        self.ins().jump(done, &[]);
        self.enter(done);
    }
    /// Adds to a counter of the run, from any thread.
    pub(super) fn count(&mut self, counter: u32, amount: &Expr) {
        let amount = self.scalar(amount);
        if counter as usize >= self.env.program.counters.len() {
            return self.wrong(format!("counter {counter} is not declared"));
        }
        let flags = self.flags(super::func::REGION_ARGS).with_readonly().with_can_move().with_aligned();
        let worker = self.worker;
        let counters = self.ins().load(types::I64, flags, worker, super::abi::WORKER_COUNTERS);
        let at = self.ins().iadd_imm_s(counters, 8 * i64::from(counter));
        let atomic = cranelift_codegen::ir::MemFlagsData::trusted();
        self.ins().atomic_rmw(types::I64, atomic, cranelift_codegen::ir::AtomicRmwOp::Add, at, amount);
    }
}
