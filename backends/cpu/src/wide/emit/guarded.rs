//! Memory of which only some lanes may be touched. AVX-512 has masks for that; AVX2 has them for 32 and 64-bit lanes
//! only. How many lanes there are is known in a tail of constant length, which is then a few pieces. Elsewhere each
//! small lane gets an address of its own, which is that of other memory where its mask is false.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, Mem, View};
use super::kernel::Emit;
use super::value::{Mask, Parts, by_bits, per_part};
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use iced_x86::Code;
use regalloc2::VReg;

/// The bits of a mask in a general register.
#[derive(Clone, Copy)]
struct MaskBits {
    reg: VReg,
    view: View,
    /// The number of bits that a lane has, of which the first is looked at.
    of_lane: usize,
}

impl Emit<'_> {
    // The first bytes of a register.

    /// So many bytes, less than fill a register, in its lowest lanes.
    pub(super) fn load_first(&mut self, lane: Lane, view: View, mem: Mem, bytes: usize) -> Emitted<VReg> {
        if self.body.evex {
            let mask = self.first_lanes(lane, view, bytes / lane.bytes())?;
            return self.load_where(lane, view, mem, mask, bytes / lane.bytes());
        }
        // Two pieces that overlap, of which the second one's new bytes are moved behind the first one's.
        let (piece, row, join) = match bytes {
            17.. => (16, Op::Load, 16),
            16 => return self.op(Op::Load, View::X, &[Arg::Mem(mem)]),
            9.. => (8, Op::LoadOneQ, 8),
            5.. => (4, Op::LoadOneD, 4),
            3 => {
                let low = self.load_one(Lane::I16, mem)?;
                return self.op(Op::InsertB, View::X, &[Arg::Use(low, View::X), Arg::Mem(mem.plus(2)), Arg::Imm(2)]);
            }
            2 => return self.load_one(Lane::I16, mem),
            _ => return self.load_one(Lane::I8, mem),
        };
        let low = self.op(row, View::X, &[Arg::Mem(mem)])?;
        let high = self.op(row, View::X, &[Arg::Mem(mem.plus((bytes - piece) as i32))])?;
        let high = self.upper_bytes(high, 2 * piece - bytes)?;
        self.join_pair(low, high, join)
    }
    /// Stores the lowest bytes, less than fill a register.
    pub(super) fn store_first(&mut self, lane: Lane, view: View, mem: Mem, reg: VReg, bytes: usize) -> Emitted<()> {
        if self.body.evex {
            let mask = self.first_lanes(lane, view, bytes / lane.bytes())?;
            return self.store_where(lane, view, mem, reg, mask, bytes / lane.bytes());
        }
        let (mut rest, mut at) = (reg, 0);
        if bytes >= 16 {
            self.effect(Op::Store, View::X, vec![Arg::Mem(mem), Arg::Use(reg, View::X)])?;
            at = 16;
            if bytes > 16 {
                rest = self.chunk(&Parts { lane, view, regs: [reg].into() }, 1, 16)?;
            }
        }
        for piece in [8, 4, 2, 1] {
            if bytes - at >= piece {
                self.store_few(mem.plus(at as i32), rest, piece)?;
                at += piece;
                if at < bytes {
                    rest = self.upper_bytes(rest, piece)?;
                }
            }
        }
        Ok(())
    }
    /// 128 bits moved down by some bytes.
    fn upper_bytes(&mut self, x: VReg, bytes: usize) -> Emitted<VReg> {
        self.op(Op::UpperBytes, View::X, &[Arg::Use(x, View::X), Arg::Imm(bytes as i64)])
    }

    // Lanes of a mask.

    /// Loads those of the first `count` lanes that the mask has, and 0 elsewhere.
    pub(super) fn load_where(&mut self, lane: Lane, view: View, mem: Mem, mask: VReg, count: usize) -> Emitted<VReg> {
        if self.body.evex {
            let row = by_bits(lane, [Op::LoadB, Op::LoadW, Op::LoadD, Op::LoadQ]);
            return self.op(row, view, &[Arg::ZeroMask(mask), Arg::Mem(mem)]);
        }
        if lane.bits() >= 32 {
            let row = if lane.bits() == 32 { Op::LoadWhereD } else { Op::LoadWhereQ };
            return self.op(row, view, &[Arg::Use(mask, view), Arg::Mem(mem)]);
        }
        let nothing = self.nothing();
        let bits = self.mask_bits(lane, view, mask)?;
        let insert = by_bits(lane, [Op::InsertB, Op::InsertW, Op::InsertD, Op::InsertQ]);
        let zero = self.splat(Lane::I64, View::X, 0)?;
        let (per, size) = (per_part(lane, View::X), lane.bytes());
        let mut halves = vec![zero; view.bytes() / 16];
        for i in 0..count {
            let mem = self.guard(mem.plus((i * size) as i32), bits, i, nothing);
            let args = [Arg::Use(halves[i / per], View::X), Arg::Mem(mem), Arg::Imm((i % per) as i64)];
            halves[i / per] = self.op(insert, View::X, &args)?;
        }
        match halves[..] {
            [low, high] => self.join_pair(low, high, 16),
            _ => Ok(halves[0]),
        }
    }
    /// Loads the lanes that the mask has from an address each, and 0 elsewhere.
    pub(super) fn collect_where(&mut self, lane: Lane, addresses: &[Mem], mask: &Mask) -> Emitted<Parts> {
        let nothing = self.nothing();
        let mask = self.recut(mask, addresses.len(), lane)?;
        let per = mask.per();
        let bits = mask.regs.iter().map(|reg| self.mask_bits(lane, mask.view, *reg)).collect::<Emitted<Vec<_>>>()?;
        self.collect_by(lane, addresses.len(), |e, i| Ok(e.guard(addresses[i], bits[i / per], i % per, nothing)))
    }
    /// Stores those of the first `count` lanes that the mask has.
    pub(super) fn store_where(
        &mut self,
        lane: Lane,
        view: View,
        mem: Mem,
        reg: VReg,
        mask: VReg,
        count: usize,
    ) -> Emitted<()> {
        if self.body.evex {
            let row = by_bits(lane, [Op::StoreB, Op::StoreW, Op::StoreD, Op::StoreQ]);
            return self.effect(row, view, vec![Arg::Mem(mem), Arg::Mask(mask), Arg::Use(reg, view)]);
        }
        if lane.bits() >= 32 {
            let row = if lane.bits() == 32 { Op::StoreWhereD } else { Op::StoreWhereQ };
            return self.effect(row, view, vec![Arg::Mem(mem), Arg::Use(mask, view), Arg::Use(reg, view)]);
        }
        let addresses: Vec<Mem> = (0..count).map(|i| mem.plus((i * lane.bytes()) as i32)).collect();
        let mask = Mask { lane: lane.as_int(), view, regs: [mask].into() };
        self.spread_where(&Parts { lane, view, regs: [reg].into() }, &addresses, &mask)
    }
    /// Lane after lane to an address each, where the machine has no scatters.
    pub(super) fn scatter_each(
        &mut self,
        lanes: usize,
        first: Mem,
        index: &Linear,
        parts: &Parts,
        mask: Option<&Mask>,
    ) -> Emitted<()> {
        let addresses = self.lane_addresses(first, parts.lane.bytes(), index, lanes)?;
        match mask {
            None => self.spread(parts, &addresses),
            Some(mask) => {
                let mask = self.recut(mask, lanes, parts.lane)?;
                self.spread_where(parts, &addresses, &mask)
            }
        }
    }
    pub(super) fn spread_where(&mut self, parts: &Parts, addresses: &[Mem], mask: &Mask) -> Emitted<()> {
        let scratch = self.scratch();
        let nowhere = self.result_of(Code::Lea_r64_m, View::G64, &[Arg::Mem(scratch)]);
        let extract = by_bits(parts.lane, [Op::ExtractB, Op::ExtractW, Op::ExtractD, Op::ExtractQ]);
        let (per, size) = (parts.per(), parts.lane.bytes());
        let bits = mask.regs.iter().map(|reg| self.mask_bits(parts.lane, mask.view, *reg));
        let bits = bits.collect::<Emitted<Vec<_>>>()?;
        let mut x = nowhere;
        for (i, mem) in addresses.iter().enumerate() {
            if i % (16 / size) == 0 {
                x = self.quarter(parts, i / (16 / size))?;
            }
            let mem = self.guard(*mem, bits[i / per], i % per, nowhere);
            let lane = Arg::Imm((i % (16 / size)) as i64);
            self.effect(extract, View::X, vec![Arg::Mem(mem), Arg::Use(x, View::X), lane])?;
        }
        Ok(())
    }
    /// The bits of a mask in a general register.
    fn mask_bits(&mut self, lane: Lane, view: View, mask: VReg) -> Emitted<MaskBits> {
        if self.body.evex {
            let reg = self.result_of(Code::VEX_Kmovq_r64_kr, View::G64, &[Arg::Use(mask, View::K)]);
            return Ok(MaskBits { reg, view: View::G64, of_lane: 1 });
        }
        let code = self.code(Op::TopBitsB, view)?;
        let reg = self.result_of(code, View::G32, &[Arg::Use(mask, view)]);
        Ok(MaskBits { reg, view: View::G32, of_lane: lane.bytes() })
    }
    /// An address, or `other` where the mask lacks a lane.
    fn guard(&mut self, mem: Mem, bits: MaskBits, lane: usize, other: VReg) -> Mem {
        let address = self.result_of(Code::Lea_r64_m, View::G64, &[Arg::Mem(mem)]);
        let test = if bits.view == View::G64 { Code::Bt_rm64_imm8 } else { Code::Bt_rm32_imm8 };
        // The flags of this test are still there: nothing that could come between changes them.
        self.push(test, vec![Arg::Use(bits.reg, bits.view), Arg::Imm((lane * bits.of_lane) as i64)]);
        Mem::at(self.general(Code::Cmovae_r64_rm64, address, Arg::Use(other, View::G64)), 0)
    }
    /// The address of an element that is 0.
    fn nothing(&mut self) -> VReg {
        let zero = self.body.constant(&[0; 8]);
        self.result_of(Code::Lea_r64_m, View::G64, &[Arg::Mem(Mem::pool(zero))])
    }
    /// Memory of the frame that anything may be stored to.
    fn scratch(&mut self) -> Mem {
        let at = *self.scratch.get_or_insert_with(|| {
            let at = self.body.frame.next_multiple_of(64);
            self.body.frame = at + 64;
            at
        });
        self.frame(at)
    }
}
