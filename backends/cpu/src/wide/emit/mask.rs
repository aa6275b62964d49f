//! Truth of vectors. Machines with AVX-512 have it in mask registers, a bit for each lane; others in vector registers,
//! as lanes of the width of what it is of, all ones or 0. Here and in [`super::guarded`] is all that depends on which.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::{Arg, Mem, View};
use super::kernel::Emit;
use super::value::{Constant, Mask, Parts, Val, by_bits, per_part};
use crate::shared::lane::Lane;
use halide_backend::{TruthOp, truth_op};
use halide_core::ops::{BinOp, UnOp};
use halide_ir::Expr;
use iced_x86::Code;
use regalloc2::VReg;

/// An operation on truths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Logic {
    And,
    Or,
    Xor,
    /// Equality of both.
    Same,
    /// The second, but not the first.
    AndNot,
}

impl Emit<'_> {
    /// The same truth in all lanes.
    pub(super) fn constant_mask(&mut self, truth: bool, lane: Lane, lanes: usize) -> Emitted<Mask> {
        let lane = lane.as_int();
        let (view, count) = self.shape(lane, lanes);
        let one = match self.body.evex {
            true => self.mask_constant(if truth { u64::MAX } else { 0 })?,
            false => self.splat(lane, view, if truth { u64::MAX } else { 0 })?,
        };
        Ok(Mask { lane, view, regs: vec![one; count].into() })
    }
    /// A scalar truth, 0 or 1, in all lanes.
    pub(super) fn mask_of_truth(&mut self, truth: VReg, lane: Lane, lanes: usize) -> Emitted<Mask> {
        let lane = lane.as_int();
        let (view, count) = self.shape(lane, lanes);
        // 0 or 1 becomes no or all ones.
        let ones = self.negated(truth);
        let one = match self.body.evex {
            true => self.mask_of_general(ones),
            false => self.broadcast_general(ones, view)?,
        };
        Ok(Mask { lane, view, regs: vec![one; count].into() })
    }
    /// A mask register with these bits.
    pub(super) fn mask_constant(&mut self, bits: u64) -> Emitted<VReg> {
        self.constant(Constant::Mask(bits), |e| {
            let at = e.body.constant(&bits.to_le_bytes());
            Ok(e.result_of(Code::VEX_Kmovq_kr_km64, View::K, &[Arg::Mem(Mem::pool(at))]))
        })
    }
    /// The mask of the first `count` lanes of a register.
    pub(super) fn first_lanes(&mut self, lane: Lane, view: View, count: usize) -> Emitted<VReg> {
        if self.body.evex {
            return self.mask_constant(if count >= 64 { u64::MAX } else { (1 << count) - 1 });
        }
        let bytes = (0..view.bytes()).map(|i| if i < count * lane.bytes() { 0xff } else { 0 }).collect();
        self.pattern(bytes, view)
    }
    /// Only the first `count` lanes of a mask.
    pub(super) fn cut(&mut self, mask: VReg, lane: Lane, view: View, count: usize) -> Emitted<VReg> {
        if count >= per_part(lane, view) && (count >= 64 || !self.body.evex) {
            return Ok(mask);
        }
        let first = self.first_lanes(lane, view, count)?;
        self.mask_logic(Logic::And, view, mask, first)
    }
    /// An operation on truths of lanes in registers of this width.
    pub(super) fn mask_logic(&mut self, how: Logic, view: View, a: VReg, b: VReg) -> Emitted<VReg> {
        if self.body.evex {
            let code = match how {
                Logic::And => Code::VEX_Kandq_kr_kr_kr,
                Logic::Or => Code::VEX_Korq_kr_kr_kr,
                Logic::Xor => Code::VEX_Kxorq_kr_kr_kr,
                Logic::Same => Code::VEX_Kxnorq_kr_kr_kr,
                Logic::AndNot => Code::VEX_Kandnq_kr_kr_kr,
            };
            return Ok(self.result_of(code, View::K, &[Arg::Use(a, View::K), Arg::Use(b, View::K)]));
        }
        match how {
            Logic::And => self.op2(Op::And, view, a, b),
            Logic::Or => self.op2(Op::Or, view, a, b),
            Logic::Xor => self.op2(Op::Xor, view, a, b),
            Logic::Same => {
                let differ = self.op2(Op::Xor, view, a, b)?;
                self.mask_not(view, differ)
            }
            Logic::AndNot => {
                let rest = self.mask_not(view, a)?;
                self.op2(Op::And, view, rest, b)
            }
        }
    }
    /// The opposite.
    pub(super) fn mask_not(&mut self, view: View, mask: VReg) -> Emitted<VReg> {
        if self.body.evex {
            return Ok(self.result_of(Code::VEX_Knotq_kr_kr, View::K, &[Arg::Use(mask, View::K)]));
        }
        let ones = self.splat(Lane::I64, view, u64::MAX)?;
        self.op2(Op::Xor, view, mask, ones)
    }

    /// The same truth cut like other lanes.
    pub(super) fn recut(&mut self, mask: &Mask, lanes: usize, lane: Lane) -> Emitted<Mask> {
        let lane = lane.as_int();
        if mask.lane == lane {
            return Ok(mask.clone());
        }
        let (view, count) = self.shape(lane, lanes);
        if !self.body.evex {
            let made = self.resize_mask_lanes(&mask.as_parts(), lanes, lane)?;
            return Ok(Mask { lane, view, regs: made.regs });
        }
        let (from, per) = (mask.per(), per_part(lane, view));
        if from == per {
            return Ok(Mask { lane, view, ..mask.clone() });
        }
        let regs = (0..count).map(|i| {
            let first = i * per;
            if per < from {
                return Ok(self.mask_from(mask.regs[first / from], first % from));
            }
            let sources = per.min(lanes - first).div_ceil(from);
            self.join_masks(mask.regs[first / from..][..sources].to_vec(), from)
        });
        Ok(Mask { lane, view, regs: regs.collect::<Emitted<Vec<_>>>()?.into() })
    }
    /// One mask register of some, each with `lanes` lanes: two and two are joined. Nothing is known of bits above them.
    fn join_masks(&mut self, mut masks: Vec<VReg>, mut lanes: usize) -> Emitted<VReg> {
        while masks.len() > 1 {
            let pairs = masks.chunks(2).map(|pair| match *pair {
                [low, high] => self.join_mask_pair(low, high, lanes),
                _ => Ok(pair[0]),
            });
            masks = pairs.collect::<Emitted<Vec<_>>>()?;
            lanes *= 2;
        }
        Ok(masks[0])
    }
    fn join_mask_pair(&mut self, low: VReg, high: VReg, lanes: usize) -> Emitted<VReg> {
        let code = match lanes {
            8 => Code::VEX_Kunpckbw_kr_kr_kr,
            16 => Code::VEX_Kunpckwd_kr_kr_kr,
            32 => Code::VEX_Kunpckdq_kr_kr_kr,
            _ => {
                let first = self.mask_constant((1 << lanes) - 1)?;
                let low = self.mask_logic(Logic::And, View::Z, low, first)?;
                let args = [Arg::Use(high, View::K), Arg::Imm(lanes as i64)];
                let high = self.result_of(Code::VEX_Kshiftlq_kr_kr_imm8, View::K, &args);
                return self.mask_logic(Logic::Or, View::Z, low, high);
            }
        };
        Ok(self.result_of(code, View::K, &[Arg::Use(high, View::K), Arg::Use(low, View::K)]))
    }
    /// A mask register shifted to the right.
    fn mask_from(&mut self, mask: VReg, first: usize) -> VReg {
        if first == 0 {
            return mask;
        }
        self.result_of(Code::VEX_Kshiftrq_kr_kr_imm8, View::K, &[Arg::Use(mask, View::K), Arg::Imm(first as i64)])
    }

    // To and from lanes.

    /// Lanes that are not 0, of bytes.
    pub(super) fn bytes_to_mask(&mut self, bytes: &Parts) -> Emitted<Mask> {
        if !self.body.evex {
            let zero = self.splat_like(bytes, 0)?;
            return self.compare_ints(BinOp::Ne, false, bytes, &zero);
        }
        let code = self.code(Op::TestB, bytes.view)?;
        let view = bytes.view;
        let regs: Vec<VReg> = bytes.regs.to_vec();
        let regs =
            regs.into_iter().map(|r| self.result_of(code, View::K, &[Arg::Use(r, view), Arg::Use(r, view)])).collect();
        Ok(Mask { lane: Lane::I8, view, regs })
    }
    /// Lanes with these bits where the mask is true, and 0 elsewhere.
    pub(super) fn mask_to_lanes(&mut self, mask: &Mask, lane: Lane, lanes: usize, bits: u64) -> Emitted<Parts> {
        let mask = self.recut(mask, lanes, lane)?;
        let view = mask.view;
        let ones = self.splat(lane, view, bits)?;
        if !self.body.evex {
            let truth = mask.as_parts();
            let made = self.map(&truth, |e, m| e.op2(Op::And, view, m, ones))?;
            return Ok(made.as_lane(lane));
        }
        let code = self.code(by_bits(lane, [Op::LoadB, Op::LoadW, Op::LoadD, Op::LoadQ]), view)?;
        let masks: Vec<VReg> = mask.regs.to_vec();
        let regs =
            masks.into_iter().map(|m| self.result_of(code, view, &[Arg::ZeroMask(m), Arg::Use(ones, view)])).collect();
        Ok(Parts { lane, view, regs })
    }
    /// Truth as what an expression of so many lanes has: a scalar's in a general register.
    pub(super) fn mask_value(&mut self, mask: Mask, lanes: u16) -> Emitted<Val> {
        if lanes > 1 {
            return Ok(Val::Mask(mask));
        }
        let bits = match self.body.evex {
            true => self.result_of(Code::VEX_Kmovd_r32_kr, View::G32, &[Arg::Use(mask.regs[0], View::K)]),
            false => {
                let code = self.code(Op::ToGeneralD, View::X)?;
                self.result_of(code, View::G32, &[Arg::Use(mask.regs[0], View::X)])
            }
        };
        let to = self.register(View::G64);
        self.push(Code::And_rm64_imm32, vec![Arg::Mod { to, from: bits, view: View::G64 }, Arg::Imm(1)]);
        Ok(Val::Scalar(to))
    }
    /// A general register that is 0 where a mask holds in no lane.
    pub(super) fn lanes_that_hold(&mut self, mask: &Expr) -> Emitted<VReg> {
        let Val::Mask(Mask { lane, view, regs }) = self.eval(mask)? else {
            return refuse(format!("{:?} where a mask is wanted", mask.ty()));
        };
        let (lanes, per) = (usize::from(mask.lanes()), per_part(lane, view));
        let last = regs.len() - 1;
        let mut all = self.cut(regs[last], lane, view, lanes - last * per)?;
        for reg in &regs[..last] {
            let whole = self.cut(*reg, lane, view, per)?;
            all = self.mask_logic(Logic::Or, view, all, whole)?;
        }
        if self.body.evex {
            return Ok(self.result_of(Code::VEX_Kmovq_r64_kr, View::G64, &[Arg::Use(all, View::K)]));
        }
        let code = self.code(Op::TopBitsB, view)?;
        Ok(self.result_of(code, View::G32, &[Arg::Use(all, view)]))
    }
    /// The truth that a mask holds in some lane.
    pub(super) fn any_lane(&mut self, mask: &Expr) -> Emitted<Val> {
        let held = self.lanes_that_hold(mask)?;
        self.push(Code::Test_rm64_r64, vec![Arg::Use(held, View::G64), Arg::Use(held, View::G64)]);
        let byte = self.result_of(Code::Setne_rm8, View::G8, &[]);
        Ok(Val::Scalar(self.result_of(Code::Movzx_r32_rm8, View::G32, &[Arg::Use(byte, View::G8)])))
    }
    /// Lanes whose top bit is set.
    pub(super) fn sign_mask(&mut self, lane: Lane, view: View, v: VReg) -> Emitted<VReg> {
        if !self.body.evex {
            let zero = self.splat(lane.as_int(), view, 0)?;
            return self.op2(by_bits(lane, [Op::GreaterB, Op::GreaterW, Op::GreaterD, Op::GreaterQ]), view, zero, v);
        }
        let top = self.splat(lane.as_int(), view, 1 << (lane.bits() - 1))?;
        let code = self.code(by_bits(lane, [Op::TestB, Op::TestW, Op::TestD, Op::TestQ]), view)?;
        Ok(self.result_of(code, View::K, &[Arg::Use(v, view), Arg::Use(top, view)]))
    }

    // Choices.

    /// Lanes of `a` where the mask is true, else of `b`.
    pub(super) fn choose(&mut self, mask: &Mask, a: &Parts, b: &Parts) -> Emitted<Parts> {
        let regs = (0..a.regs.len()).map(|i| self.blend(a.lane, a.view, mask.regs[i], a.regs[i], b.regs[i]));
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { regs: regs.into(), ..a.clone() })
    }
    /// Lanes of `a` where the mask is true, else of `b`.
    pub(super) fn blend(&mut self, lane: Lane, view: View, mask: VReg, a: VReg, b: VReg) -> Emitted<VReg> {
        if self.body.evex {
            let row = by_bits(lane, [Op::BlendB, Op::BlendW, Op::BlendD, Op::BlendQ]);
            return self.op(row, view, &[Arg::Mask(mask), Arg::Use(b, view), Arg::Use(a, view)]);
        }
        let row = match lane {
            Lane::F32 => Op::BlendVectorF32,
            Lane::F64 => Op::BlendVectorF64,
            _ => Op::BlendVectorB,
        };
        self.op(row, view, &[Arg::Use(b, view), Arg::Use(a, view), Arg::Use(mask, view)])
    }
    /// The odd ones of 32-bit lanes of `odd`, the even ones of `even`.
    pub(super) fn blend_odd(&mut self, view: View, odd: VReg, even: VReg) -> Emitted<VReg> {
        if self.body.evex {
            let odds = self.mask_constant(0xaaaa)?;
            return self.blend(Lane::I32, view, odds, odd, even);
        }
        self.op(Op::BlendConstD, view, &[Arg::Use(even, view), Arg::Use(odd, view), Arg::Imm(0xaa)])
    }

    // Operators on truth.

    pub(super) fn bool_unary(&mut self, op: UnOp, a: &Expr) -> Emitted<Val> {
        if !matches!(op, UnOp::Not) {
            return refuse(format!("{op:?} of truths"));
        }
        match self.eval(a)? {
            Val::Scalar(v) => Ok(Val::Scalar(self.scalar_not(v))),
            Val::Mask(mask) => {
                let view = mask.view;
                let regs = mask.regs.iter().map(|m| self.mask_not(view, *m)).collect::<Emitted<Vec<_>>>()?;
                Ok(Val::Mask(Mask { regs: regs.into(), ..mask }))
            }
            Val::Lanes(_) => refuse("truth in data lanes"),
        }
    }
    pub(super) fn bool_binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Emitted<Val> {
        let (x, y) = match (self.eval(a)?, self.eval(b)?) {
            (Val::Scalar(x), Val::Scalar(y)) => return Ok(Val::Scalar(self.scalar_bool(op, x, y)?)),
            (Val::Mask(x), Val::Mask(y)) => (x, y),
            _ => return refuse("truths of different kinds"),
        };
        // The finer cut, which needs no joining.
        let finer = if x.lane.bits() >= y.lane.bits() { x.lane } else { y.lane };
        let lanes = a.lanes() as usize;
        let (mut x, mut y) = (self.recut(&x, lanes, finer)?, self.recut(&y, lanes, finer)?);
        let Some((function, swapped)) = truth_op(op) else { return refuse(format!("{op:?} of truths")) };
        // `a <= b` is no `b < a`.
        let negated = function == TruthOp::LessOrEqual;
        if swapped != negated {
            std::mem::swap(&mut x, &mut y);
        }
        let how = match function {
            TruthOp::And => Logic::And,
            TruthOp::Or => Logic::Or,
            TruthOp::Xor => Logic::Xor,
            TruthOp::Same => Logic::Same,
            // The first is inverted.
            TruthOp::Less | TruthOp::LessOrEqual => Logic::AndNot,
            TruthOp::Never => return Ok(Val::Mask(self.constant_mask(false, finer, lanes)?)),
        };
        let view = x.view;
        let regs = x.regs.iter().zip(y.regs.iter()).map(|(a, b)| {
            let made = self.mask_logic(how, view, *a, *b)?;
            if negated { self.mask_not(view, made) } else { Ok(made) }
        });
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Val::Mask(Mask { regs: regs.into(), ..x }))
    }
}
