//! Lanes picked from registers by AVX2, which permutes bytes inside of 128 bits, and 32 and 64-bit lanes of one
//! register: what is asked for is put together from the sequences that give it, of which the shortest is taken.

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::{Arg, View};
use super::kernel::Emit;
use super::value::{by_bits, per_part};
use crate::shared::lane::Lane;
use regalloc2::VReg;

/// Half a register: the number of the source, and 0 or 1.
type Half = (usize, usize);

/// Picks in units of bytes of numbered halves.
struct Picks<'a> {
    sources: &'a [VReg],
    /// Lanes of a source.
    per: usize,
    size: usize,
    lanes: &'a [usize],
}

impl Picks<'_> {
    fn half(&self, pick: usize) -> Half {
        (pick / self.per, pick % self.per * self.size / 16)
    }
    /// Returns the byte of its half at which a lane starts.
    fn byte(&self, pick: usize) -> usize {
        pick % self.per * self.size % 16
    }
    /// Returns the sources that are picked from, in the order of the first pick.
    fn used(&self) -> Vec<usize> {
        let mut used: Vec<usize> = Vec::new();
        for p in self.lanes {
            if !used.contains(&(p / self.per)) {
                used.push(p / self.per);
            }
        }
        used
    }
    /// Picks and their lanes of the result.
    fn numbered(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.lanes.iter().copied().enumerate()
    }
    /// The halves that lanes in one half of the result come from.
    fn halves_of(&self, half: usize) -> Vec<Half> {
        let mut halves = Vec::new();
        for (i, p) in self.numbered() {
            if i * self.size / 16 == half && !halves.contains(&self.half(p)) {
                halves.push(self.half(p));
            }
        }
        halves
    }
    /// Returns true if each lane is `step` after the one before.
    fn rises_by(&self, step: usize) -> bool {
        self.lanes.windows(2).all(|w| w[1] == w[0] + step)
    }
    /// The bytes that pick from halves that are in the lower and upper half of a register; others become 0.
    fn bytes(&self, view: View, inside: [Option<Half>; 2]) -> Vec<u8> {
        let mut bytes = vec![0x80u8; view.bytes()];
        for (i, p) in self.numbered() {
            let at = i * self.size;
            if inside[at / 16] == Some(self.half(p)) {
                (0..self.size).for_each(|k| bytes[at + k] = (self.byte(p) + k) as u8);
            }
        }
        bytes
    }
}

impl Emit<'_> {
    /// Lanes that take turns, from two values that start at registers of their own: `a0 b0 a1 b1 ...`; `None` for
    /// others.
    pub(super) fn interleaved(
        &mut self,
        lane: Lane,
        sources: &[VReg],
        view: View,
        picks: &[usize],
    ) -> Emitted<Option<Vec<VReg>>> {
        let per = per_part(lane, view);
        let [a, b, ..] = *picks else { return Ok(None) };
        let whole = a % per == 0 && b % per == 0 && picks.len().is_multiple_of(2 * per);
        let turns = |(i, p): (usize, &usize)| *p == i / 2 + if i % 2 == 0 { a } else { b };
        if !whole || !picks.iter().enumerate().all(turns) {
            return Ok(None);
        }
        let low = by_bits(lane, [Op::UnpackLowB, Op::UnpackLowW, Op::UnpackLowD, Op::UnpackLowQ]);
        let high = by_bits(lane, [Op::UnpackHighB, Op::UnpackHighW, Op::UnpackHighD, Op::UnpackHighQ]);
        let mut made = Vec::new();
        for k in 0..picks.len() / (2 * per) {
            let (x, y) = (sources[a / per + k], sources[b / per + k]);
            let (low, high) = (self.op2(low, view, x, y)?, self.op2(high, view, x, y)?);
            match view {
                View::Y => {
                    made.push(self.permute_halves([(low, 0), (high, 0)])?);
                    made.push(self.permute_halves([(low, 1), (high, 1)])?);
                }
                _ => made.push(self.join_pair(low, high, 16)?),
            }
        }
        Ok(Some(made))
    }

    /// Lanes `picks` of sources, whose lanes are numbered through, in one register.
    pub(super) fn pick_bytes(
        &mut self,
        lane: Lane,
        sources: &[VReg],
        view: View,
        result: View,
        picks: &[usize],
    ) -> Emitted<VReg> {
        let picks = Picks { sources, per: per_part(lane, view), size: lane.bytes(), lanes: picks };
        let used = picks.used();
        let Some(&first) = used.first() else { return refuse("a shuffle without lanes") };
        if used.len() == 1 && picks.numbered().all(|(i, p)| p % picks.per == i) {
            return Ok(sources[first]);
        }
        if picks.rises_by(0) && picks.lanes[0].is_multiple_of(picks.per) {
            return self.broadcast_lowest(lane, sources[first], result);
        }
        if result == View::X {
            return self.pick_half(&picks);
        }
        if let Some(made) = self.pick_rising(&picks, view)? {
            return Ok(made);
        }
        let by_quarters = quarters(&picks).filter(|_| view == View::Y);
        // How many instructions each way takes.
        let of_quarters = |to: &[usize; 4]| 2 * used.len() - 1 + usize::from(*to != [0, 1, 2, 3]);
        let pairs = pairs(&picks);
        let of_pairs = pairs.iter().map(|p| 2 + usize::from(!is_register(p))).sum::<usize>() - 1;
        let of_lanes = if picks.size >= 4 { 2 * used.len() - 1 } else { usize::MAX };
        let best = of_pairs.min(of_lanes);
        match by_quarters {
            Some(to) if of_quarters(&to) <= best => self.pick_quarters(&picks, &used, to),
            _ if of_lanes <= of_pairs => self.pick_wide_lanes(&picks, &used),
            _ => self.pick_pairs(&picks, &pairs),
        }
    }
    /// Lanes of up to 128 bits: of each half in turn.
    fn pick_half(&mut self, picks: &Picks<'_>) -> Emitted<VReg> {
        let halves = picks.halves_of(0);
        let mut made = None;
        let registers = halves.iter().map(|h| self.half_register(picks.sources, *h)).collect::<Emitted<Vec<_>>>()?;
        if let [low, high] = registers[..]
            && picks.rises_by(1)
        {
            // From the end of one half on into the next one.
            let first = picks.byte(picks.lanes[0]) as i64;
            let args = [Arg::Use(high, View::X), Arg::Use(low, View::X), Arg::Imm(first)];
            return self.op(Op::AlignRight, View::X, &args);
        }
        for (half, register) in halves.iter().zip(registers) {
            let bytes = picks.bytes(View::X, [Some(*half), None]);
            let here = self.shuffle_bytes(View::X, register, bytes)?;
            made = Some(self.with(View::X, made, here)?);
        }
        made.map_or_else(|| refuse("a shuffle without lanes"), Ok)
    }
    /// Lanes that follow each other from inside of one register into the next, and every second lane of two.
    fn pick_rising(&mut self, picks: &Picks<'_>, view: View) -> Emitted<Option<VReg>> {
        let lanes = View::Y.bytes() / picks.size;
        let used = picks.used();
        if view != View::Y || picks.lanes.len() != lanes || used.len() != 2 || used[1] != used[0] + 1 {
            return Ok(None);
        }
        let (low, high) = (picks.sources[used[0]], picks.sources[used[1]]);
        let first = picks.lanes[0] % picks.per;
        if picks.rises_by(1) {
            let middle = self.permute_halves([(low, 1), (high, 0)])?;
            let bytes = first * picks.size;
            let (low, high) = if bytes < 16 { (low, middle) } else { (middle, high) };
            if bytes == 16 {
                return Ok(Some(middle));
            }
            let args = [Arg::Use(high, View::Y), Arg::Use(low, View::Y), Arg::Imm((bytes % 16) as i64)];
            return Ok(Some(self.op(Op::AlignRight, View::Y, &args)?));
        }
        if !picks.rises_by(2) || first > 1 || picks.size < 4 {
            return Ok(None);
        }
        let packed = match (picks.size, first) {
            (4, _) => {
                let imm = if first == 0 { 0x88 } else { 0xdd };
                self.op(Op::ShuffleF32, View::Y, &[Arg::Use(low, View::Y), Arg::Use(high, View::Y), Arg::Imm(imm)])?
            }
            (_, 0) => self.op2(Op::UnpackLowQ, View::Y, low, high)?,
            _ => self.op2(Op::UnpackHighQ, View::Y, low, high)?,
        };
        Ok(Some(self.permute_quarters(packed, [0, 2, 1, 3])?))
    }
    /// Bytes of each source moved inside of its halves, and the quarters of all that put in order.
    fn pick_quarters(&mut self, picks: &Picks<'_>, used: &[usize], to: [usize; 4]) -> Emitted<VReg> {
        let mut made = None;
        for source in used {
            let mut bytes = vec![0x80u8; 32];
            for (i, p) in picks.numbered().filter(|(_, p)| p / picks.per == *source) {
                let at = i * picks.size;
                let at = to[at / 8] * 8 + at % 8;
                (0..picks.size).for_each(|k| bytes[at + k] = (picks.byte(p) + k) as u8);
            }
            let here = self.shuffle_bytes(View::Y, picks.sources[*source], bytes)?;
            made = Some(self.with(View::Y, made, here)?);
        }
        let Some(made) = made else { return refuse("a shuffle without lanes") };
        // Quarter `q` of the result is quarter `to[q]` of what there is.
        self.permute_quarters(made, to)
    }
    /// 32 and 64-bit lanes: each source is permuted, and blended with what there is.
    fn pick_wide_lanes(&mut self, picks: &Picks<'_>, used: &[usize]) -> Emitted<VReg> {
        let words = picks.size / 4;
        let mut made: Option<VReg> = None;
        for source in used {
            let mut order: Vec<u32> = (0..8).collect();
            let mut here = 0;
            for (i, p) in picks.numbered().filter(|(_, p)| p / picks.per == *source) {
                for k in 0..words {
                    order[i * words + k] = (p % picks.per * words + k) as u32;
                    here |= 1 << (i * words + k);
                }
            }
            let register = picks.sources[*source];
            let ordered = order.iter().enumerate().all(|(i, w)| i == *w as usize);
            let permuted = if ordered {
                register
            } else {
                let order = self.pattern(order.into_iter().flat_map(u32::to_le_bytes).collect(), View::Y)?;
                self.op2(Op::PermuteD, View::Y, order, register)?
            };
            made = Some(match made {
                None => permuted,
                Some(old) => {
                    let args = [Arg::Use(old, View::Y), Arg::Use(permuted, View::Y), Arg::Imm(here)];
                    self.op(Op::BlendConstD, View::Y, &args)?
                }
            });
        }
        made.map_or_else(|| refuse("a shuffle without lanes"), Ok)
    }
    /// Any two halves at a time.
    fn pick_pairs(&mut self, picks: &Picks<'_>, pairs: &[[Option<Half>; 2]]) -> Emitted<VReg> {
        let mut made = None;
        for pair in pairs {
            let register = match pair {
                _ if is_register(pair) => picks.sources[pair[0].or(pair[1]).map_or(0, |h| h.0)],
                _ => {
                    let any = pair[0].or(pair[1]).unwrap_or((0, 0));
                    let half = |h: Option<Half>| h.map_or((picks.sources[any.0], any.1), |h| (picks.sources[h.0], h.1));
                    self.permute_halves([half(pair[0]), half(pair[1])])?
                }
            };
            let bytes = picks.bytes(View::Y, *pair);
            let here = self.shuffle_bytes(View::Y, register, bytes)?;
            made = Some(self.with(View::Y, made, here)?);
        }
        made.map_or_else(|| refuse("a shuffle without lanes"), Ok)
    }

    /// Bytes of each half by their numbers in it; 0 for those of 128 and more.
    fn shuffle_bytes(&mut self, view: View, x: VReg, bytes: Vec<u8>) -> Emitted<VReg> {
        if bytes.iter().enumerate().all(|(i, b)| i % 16 == *b as usize) {
            return Ok(x);
        }
        let bytes = self.pattern(bytes, view)?;
        self.op2(Op::ShuffleBytes, view, x, bytes)
    }
    fn with(&mut self, view: View, old: Option<VReg>, new: VReg) -> Emitted<VReg> {
        old.map_or(Ok(new), |old| self.op2(Op::Or, view, old, new))
    }
    /// Two halves of registers as one register.
    fn permute_halves(&mut self, halves: [(VReg, usize); 2]) -> Emitted<VReg> {
        let [(low, l), (high, h)] = halves;
        let imm = l | (2 + h) << 4;
        let args = [Arg::Use(low, View::Y), Arg::Use(high, View::Y), Arg::Imm(imm as i64)];
        self.op(Op::PermuteHalves, View::Y, &args)
    }
    /// Half a register as the lower half of one.
    fn half_register(&mut self, sources: &[VReg], (source, half): Half) -> Emitted<VReg> {
        if half == 0 {
            return Ok(sources[source]);
        }
        let code = self.code(Op::Extract128, View::Y)?;
        Ok(self.result_of(code, View::X, &[Arg::Use(sources[source], View::Y), Arg::Imm(1)]))
    }
}

/// Returns true if the halves are the lower and the upper half of one register, in this order.
fn is_register(pair: &[Option<Half>; 2]) -> bool {
    match pair {
        [Some((a, 0)), Some((b, 1))] => a == b,
        [Some((_, 0)), None] | [None, Some((_, 1))] => true,
        _ => false,
    }
}

/// Returns the pairs of halves to shuffle together, so that each half of the result gets all that it needs.
fn pairs(picks: &Picks<'_>) -> Vec<[Option<Half>; 2]> {
    let (low, mut high) = (picks.halves_of(0), picks.halves_of(1));
    let mut pairs: Vec<[Option<Half>; 2]> = low.iter().map(|h| [Some(*h), None]).collect();
    // Halves of one register first, then any.
    for pair in &mut pairs {
        if let Some((source, 0)) = pair[0]
            && let Some(at) = high.iter().position(|h| *h == (source, 1))
        {
            pair[1] = Some(high.swap_remove(at));
        }
    }
    for pair in &mut pairs {
        if pair[1].is_none() {
            pair[1] = high.pop();
        }
    }
    pairs.extend(high.into_iter().map(|h| [None, Some(h)]));
    pairs
}

/// Returns the places where quarters of the result can be made without a byte that leaves its half; `None` if there are
/// none.
fn quarters(picks: &Picks<'_>) -> Option<[usize; 4]> {
    let mut halves = [None; 4];
    for (i, p) in picks.numbered() {
        let (quarter, half) = (i * picks.size / 8, picks.half(p).1);
        if *halves[quarter].get_or_insert(half) != half {
            return None;
        }
    }
    let mut to = [usize::MAX; 4];
    let mut free = [vec![1, 0], vec![3, 2]];
    for (quarter, half) in halves.iter().enumerate() {
        if let Some(half) = half {
            to[quarter] = free[*half].pop()?;
        }
    }
    for at in to.iter_mut().filter(|at| **at == usize::MAX) {
        *at = free.iter_mut().find_map(Vec::pop)?;
    }
    Some(to)
}
