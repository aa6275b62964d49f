//! Moving lanes: picking them from registers, one lane into all.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::{Arg, View};
use super::kernel::Emit;
use super::value::{Parts, Val, broadcast_op, by_bits, per_part};
use crate::shared::lane::Lane;
use halide_ir::Expr;
use regalloc2::VReg;

impl Emit<'_> {
    /// `ExprKind::Shuffle`.
    pub(super) fn shuffle(&mut self, vectors: &[Expr], picks: &[u16]) -> Emitted<Val> {
        let Some(first) = vectors.first() else { return refuse("a shuffle of nothing") };
        if first.ty().is_bool() {
            return refuse("a shuffle of truths");
        }
        if let Some(made) = self.constant_shuffle(vectors, picks)? {
            return Ok(Val::Lanes(made));
        }
        if let Some(made) = self.repeated(vectors, picks)? {
            return Ok(Val::Lanes(made));
        }
        let lane = Lane::of_elem(first.ty().elem);
        if let Some(made) = self.concatenated(lane, vectors, picks)? {
            return Ok(Val::Lanes(made));
        }
        let mut sources: Vec<Parts> = Vec::new();
        for v in vectors {
            sources.push(self.lanes(v)?);
        }
        let view = sources.iter().map(|s| s.view).max().unwrap_or(View::X);
        let per = per_part(lane, view);
        // Where lanes of each vector start among the registers: a narrow register counts as a wide one.
        let mut regs = Vec::new();
        let mut starts = Vec::new();
        for (v, parts) in vectors.iter().zip(&sources) {
            for i in 0..v.lanes() as usize {
                let at = i % parts.per();
                starts.push((regs.len() + i / parts.per()) * per + at);
            }
            regs.extend(parts.regs.iter().copied());
        }
        let picks: Vec<usize> = picks.iter().map(|p| starts[*p as usize]).collect();
        let made = self.pick(lane, &regs, view, &picks)?;
        if picks.len() == 1 && first.ty().is_index() {
            return Ok(Val::Scalar(self.general_of_lane(made.regs[0])?));
        }
        Ok(Val::Lanes(made))
    }

    /// Lanes `picks` of sources of one width, whose lanes are numbered through.
    pub(super) fn pick(&mut self, lane: Lane, sources: &[VReg], view: View, picks: &[usize]) -> Emitted<Parts> {
        let (result, count) = self.shape(lane, picks.len());
        let per = per_part(lane, view);
        if !self.body.evex
            && let Some(regs) = self.interleaved(lane, sources, view, picks)?
        {
            return Ok(Parts { lane, view: result, regs: regs.into() });
        }
        let regs = (0..count).map(|i| {
            let first = i * per_part(lane, result);
            let last = (first + per_part(lane, result)).min(picks.len());
            if let Some(made) = self.moved_inside(lane, sources, (view, result), &picks[first..last])? {
                return Ok(made);
            }
            match self.body.evex {
                true => self.pick_part(lane, sources, per, view.max(result), &picks[first..last]),
                false => self.pick_bytes(lane, sources, view, result, &picks[first..last]),
            }
        });
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        Ok(Parts { lane, view: result, regs: regs.into() })
    }
    fn pick_part(&mut self, lane: Lane, sources: &[VReg], per: usize, view: View, picks: &[usize]) -> Emitted<VReg> {
        let mut used: Vec<usize> = Vec::new();
        for p in picks {
            if !used.contains(&(p / per)) {
                used.push(p / per);
            }
        }
        if let [only] = used[..]
            && picks.iter().enumerate().all(|(i, p)| p % per == i)
        {
            return Ok(sources[only]);
        }
        if lane == Lane::I8 && !self.vbmi {
            return refuse("a shuffle of bytes, without AVX-512 VBMI");
        }
        // There is no permutation of 32 or 64-bit lanes of 128 bits alone.
        let view = if lane.bits() >= 32 { view.max(View::Y) } else { view };
        let size = lane.bytes();
        let lanes = per_part(lane, view);
        let pattern = |of: &dyn Fn(usize) -> usize| -> Vec<u8> {
            let mut bytes = vec![0u8; view.bytes()];
            for (i, p) in picks.iter().enumerate() {
                bytes[i * size..(i + 1) * size].copy_from_slice(&(of(*p) as u64).to_le_bytes()[..size]);
            }
            bytes
        };
        if let [a, b] = used[..]
            && let Some(first) = window(picks, per, [a, b]).filter(|first| (first * size).is_multiple_of(4))
            && per == lanes
        {
            let first = (first * size / 4) as i64;
            return self.op(
                Op::AlignD,
                view,
                &[Arg::Use(sources[b], view), Arg::Use(sources[a], view), Arg::Imm(first)],
            );
        }
        let two = by_bits(lane, [Op::PermuteTwoB, Op::PermuteTwoW, Op::PermuteTwoD, Op::PermuteTwoQ]);
        let one = by_bits(lane, [Op::PermuteB, Op::PermuteW, Op::PermuteD, Op::PermuteQ]);
        let (mut made, rest) = match used[..] {
            [] => return refuse("a shuffle without lanes"),
            [a] => {
                let index = self.pattern(pattern(&|p| p % per), view)?;
                (self.op2(one, view, index, sources[a])?, &used[1..])
            }
            [a, b, ..] => {
                let of = |p: usize| p % per + if p / per == b { lanes } else { 0 };
                let index = self.pattern(pattern(&of), view)?;
                let args = [Arg::Use(index, view), Arg::Use(sources[b], view)];
                (self.op_mod(two, view, sources[a], &args)?, &used[2..])
            }
        };
        for source in rest {
            let index = self.pattern(pattern(&|p| p % per), view)?;
            let here = picks.iter().enumerate().filter(|(_, p)| **p / per == *source);
            let mask = self.mask_constant(here.fold(0, |mask, (i, _)| mask | 1u64 << i))?;
            let args = [Arg::Mask(mask), Arg::Use(index, view), Arg::Use(sources[*source], view)];
            made = self.op_mod(one, view, made, &args)?;
        }
        Ok(made)
    }
    /// The lowest lane in every lane.
    pub(super) fn broadcast_lowest(&mut self, lane: Lane, v: VReg, view: View) -> Emitted<VReg> {
        self.op(broadcast_op(lane), view, &[Arg::Use(v, View::X)])
    }
}

/// The first of lanes that follow each other from inside of register `a` on into `b`.
fn window(picks: &[usize], per: usize, [a, b]: [usize; 2]) -> Option<usize> {
    let first = picks.first().filter(|p| **p / per == a)? % per;
    let at = |i: usize| if first + i < per { a * per + first + i } else { b * per + first + i - per };
    picks.iter().enumerate().all(|(i, p)| *p == at(i)).then_some(first)
}

/// Half the width, at least 128 bits.
pub(super) fn narrower(view: View) -> View {
    if view == View::Z { View::Y } else { View::X }
}
