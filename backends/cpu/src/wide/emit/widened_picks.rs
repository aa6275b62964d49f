//! Lanes of bytes or words that are picked from loads beside each other, and widened: the values of one colour where
//! those of a pixel lie beside each other. A register of the result is one permutation of what is loaded around its
//! lanes, in one or two registers, with zeros between: AVX-512 has them.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, View};
use super::kernel::Emit;
use super::places::Place;
use super::value::{Parts, by_bits, per_part};
use crate::shared::lane::Lane;
use halide_ir::{Elem, Expr, ExprKind, build};

/// Loads begin at multiples of so many elements, so that permutations of neighbours begin with the same one.
const START: usize = 16;

/// Dense loads from one buffer that leave no element out between them.
struct Beside {
    /// The load that begins first.
    first: Expr,
    /// The distance of each lane of all loads from its first element.
    places: Vec<usize>,
    /// The number of elements.
    elements: usize,
}

impl Emit<'_> {
    /// `a`, whose lanes are unsigned, in lanes of `bits`, if it is picked from such loads.
    pub(super) fn widened_picks(&mut self, a: &Expr, bits: u32) -> Emitted<Option<Parts>> {
        let ExprKind::Shuffle(vectors, picks) = a.kind() else { return Ok(None) };
        let (lane, wide) = (Lane::of_elem(a.ty().elem), Lane::int(bits));
        let (view, count) = self.shape(wide, picks.len());
        let permutes = self.body.evex && (lane == Lane::I16 || lane == Lane::I8 && self.vbmi);
        if !permutes || bits <= lane.bits() || view != View::Z || self.memo.get(a).is_some() {
            return Ok(None);
        }
        let Some(beside) = self.beside(vectors) else { return Ok(None) };
        let picks: Vec<usize> = picks.iter().map(|p| beside.places[usize::from(*p)]).collect();
        let mut loads = Vec::new();
        for chunk in picks.chunks(per_part(wide, view)) {
            let Some(load) = beside.around(chunk, per_part(lane, view)) else { return Ok(None) };
            loads.push(load);
        }
        let one = by_bits(lane, [Op::PermuteB, Op::PermuteW, Op::PermuteD, Op::PermuteQ]);
        let two = by_bits(lane, [Op::PermuteTwoB, Op::PermuteTwoW, Op::PermuteTwoD, Op::PermuteTwoQ]);
        let mut regs = Vec::with_capacity(count);
        for (chunk, (start, loads)) in picks.chunks(per_part(wide, view)).zip(loads) {
            let sources = loads.iter().map(|load| Ok(self.lanes(load)?.regs[0])).collect::<Emitted<Vec<_>>>()?;
            let (mut index, mut mask) = (vec![0u8; view.bytes()], 0u64);
            for (i, pick) in chunk.iter().enumerate() {
                let at = i * wide.bytes();
                // Two registers have at most 128 lanes, so a byte holds a place.
                index[at] = (pick - start) as u8;
                mask |= 1 << (at / lane.bytes());
            }
            let (index, mask) = (self.pattern(index, view)?, self.mask_constant(mask)?);
            let with = |source| [Arg::ZeroMask(mask), Arg::Use(index, view), Arg::Use(source, view)];
            regs.push(match sources[..] {
                [source] => self.op(one, view, &with(source))?,
                [low, high] => self.op_mod(two, view, low, &with(high))?,
                _ => return Ok(None),
            });
        }
        Ok(Some(Parts { lane: wide, view, regs: regs.into() }))
    }

    /// The loads that these vectors are, or are names of.
    fn beside(&mut self, vectors: &[Expr]) -> Option<Beside> {
        let mut all = Vec::new();
        for e in vectors {
            let e = match e.kind() {
                // The name of a load stands for what memory holds as long as nothing is stored there.
                ExprKind::Sym(s) => self.vectors.get(s).cloned().filter(|load| self.memo.get(load).is_some())?,
                _ => e.clone(),
            };
            let ExprKind::Load { buf, index, mask: None } = e.kind() else { return None };
            let linear = self.linear(index);
            let is_ramp = matches!(index.kind(), ExprKind::Ramp { .. });
            let is_in_memory = self.place_of(*buf).is_ok_and(|(place, _)| !matches!(place, Place::Registers));
            if !is_ramp || !is_in_memory || !linear.is_affine() || linear.step != 1 {
                return None;
            }
            all.push((e.clone(), *buf, linear));
        }
        let (first, buf, lowest) = all.iter().min_by_key(|(.., linear)| linear.constant)?;
        let mut places = Vec::new();
        for (e, of, linear) in &all {
            if of != buf || linear.terms != lowest.terms {
                return None;
            }
            let from = usize::try_from(linear.constant.checked_sub(lowest.constant)?).ok()?;
            places.extend((from..).take(usize::from(e.lanes())));
        }
        let elements = places.iter().max()? + 1;
        let mut is_loaded = vec![false; elements.min(1 << 16)];
        places.iter().for_each(|place| is_loaded.get_mut(*place).into_iter().for_each(|is| *is = true));
        let whole = is_loaded.len() == elements && is_loaded.iter().all(|is| *is);
        whole.then(|| Beside { first: first.clone(), places, elements })
    }
}

impl Beside {
    /// The number of the first element, and one or two loads of at most `lanes` elements each with all these among
    /// them.
    fn around(&self, picks: &[usize], lanes: usize) -> Option<(usize, Vec<Expr>)> {
        let (least, most) = (picks.iter().min()?, picks.iter().max()?);
        let start = (least / START * START).min(self.elements.saturating_sub(lanes));
        if *most < start + lanes {
            return Some((start, vec![self.load(start, lanes)?]));
        }
        (*most < start + 2 * lanes).then_some(())?;
        Some((start, vec![self.load(start, lanes)?, self.load(start + lanes, lanes)?]))
    }

    /// A load of `lanes` elements from number `start` on, as far as there are so many.
    fn load(&self, start: usize, lanes: usize) -> Option<Expr> {
        let count = lanes.min(self.elements - start);
        let ExprKind::Load { buf, index, .. } = self.first.kind() else { return None };
        let ExprKind::Ramp { base, .. } = index.kind() else { return None };
        let Elem::Data(elem) = self.first.ty().elem else { return None };
        let index = build::ramp(build::offset(base.clone(), start as i64), build::int(1), count as u16);
        Some(build::load(*buf, elem, index, None))
    }
}
