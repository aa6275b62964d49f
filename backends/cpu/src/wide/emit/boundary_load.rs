//! Boundary loads: of coordinates that rise and are clamped, as at the borders of an image, what lies between the
//! first lane's element and the last one's is loaded at once, and each lane picks its own. A gather would cost several
//! times that.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::{Arg, View};
use super::kernel::Emit;
use super::load_table::Load;
use super::places::Place;
use super::value::{Parts, broadcast_op, by_bits, per_part};
use crate::shared::lane::Lane;
use crate::shared::linear::Linear;
use halide_core::ops::BinOp;
use halide_ir::{Expr, ExprKind, build};
use iced_x86::Code;
use regalloc2::VReg;

/// The most elements from one lane to the next one.
const MOST_STRIDE: i64 = 2;

/// Lanes of an index from one of its lanes to another.
enum Shape {
    /// All the same.
    Same(Expr),
    Rising(Rising),
}

/// Lanes that are each `stride` more than the one before, but where limits hold them.
struct Rising {
    stride: i64,
    first: Expr,
    last: Expr,
    /// The value of the first lane without limits.
    free: Expr,
}

impl Rising {
    fn map(self, op: BinOp, with: impl Fn(Expr) -> Expr) -> Shape {
        let limits = matches!(op, BinOp::Min | BinOp::Max);
        let free = if limits { self.free } else { with(self.free) };
        Shape::Rising(Rising { stride: self.stride, first: with(self.first), last: with(self.last), free })
    }
}

impl Emit<'_> {
    /// A load whose index rises within limits, by no more than two for each lane; `None` if it is of another kind. Only
    /// the first lanes are loaded where their number is given, and others are anything.
    pub(super) fn load_clamped(&mut self, load: &Load<'_>, live: Option<&Expr>) -> Emitted<Option<Parts>> {
        let Load { place, lane, lanes, ref index, .. } = *load;
        let [(e, 1)] = &index.vectors[..] else { return Ok(None) };
        let (view, count) = self.shape(lane, lanes);
        let permutes = match lane.bits() {
            bits if !self.body.evex => bits == 32 && view == View::Y,
            8 => self.vbmi,
            16 => true,
            _ => view >= View::Y,
        };
        if index.step != 0 || !index.steps.is_empty() || !permutes {
            return Ok(None);
        }
        let per = per_part(lane, view);
        let mut pieces = Vec::new();
        for from in (0..lanes).step_by(per) {
            let (from, to) = (from as i64, ((from + per).min(lanes) - 1) as i64);
            // The last lane that is loaded, and the most elements that all of these lie in.
            let (to, most) = match live {
                None => (build::int(to), None),
                Some(live) => {
                    let last = build::min(build::sub(live.clone(), build::int(1)), build::int(to));
                    let own = build::max(build::sub(live.clone(), build::int(from)), build::int(0));
                    (build::max(last, build::int(from)), Some(build::mul(own, build::int(MOST_STRIDE))))
                }
            };
            match self.shape_of(e, from, &to) {
                Some(Shape::Rising(r)) if r.stride <= MOST_STRIDE => pieces.push((r, most)),
                _ => return Ok(None),
            }
        }
        let regs = pieces.into_iter().map(|(r, most)| self.load_rising(lane, view, place, index, r, most));
        let regs = regs.collect::<Emitted<Vec<_>>>()?;
        debug_assert_eq!(regs.len(), count);
        Ok(Some(Parts { lane, view, regs: regs.into() }))
    }

    fn load_rising(
        &mut self,
        lane: Lane,
        view: View,
        place: Place,
        index: &Linear,
        r: Rising,
        most: Option<Expr>,
    ) -> Emitted<VReg> {
        let per = per_part(lane, view) as i64;
        let mut terms = index.terms.clone();
        terms.push((r.first.clone(), 1));
        let start = Linear { constant: index.constant, terms, ..Linear::default() };
        let mem = self.address(place, lane.bytes(), &start)?;
        // The last element from the first one on.
        let range = build::sub(r.last, r.first.clone());
        // How far below its limit the first lane is; lanes that are above theirs are all the same.
        let below = build::sub(r.free, r.first);
        let below =
            build::binary(BinOp::Max, build::binary(BinOp::Min, below, build::int(0)), build::int(-per * r.stride));
        let sources = (0..r.stride).map(|k| {
            let count = build::add(range.clone(), build::int(1));
            let count = most.iter().fold(count, |count, most| build::min(count, most.clone()));
            let count = build::sub(count, build::int(k * per));
            let count = if k == 0 { count } else { build::binary(BinOp::Max, count, build::int(0)) };
            let mask = self.mask_of_first(lane, view, &count)?;
            let mem = mem.plus((k as usize * view.bytes()) as i32);
            self.load_where(lane, view, mem, mask, per as usize)
        });
        let sources = sources.collect::<Emitted<Vec<_>>>()?;

        let int = lane.as_int();
        let steps = (0..per).flat_map(|i| (i * r.stride).to_le_bytes().into_iter().take(lane.bytes())).collect();
        let steps = self.pattern(steps, view)?;
        let below = self.in_every_lane(int, view, &below)?;
        let range = self.in_every_lane(int, view, &range)?;
        let zero = self.splat(int, view, 0)?;
        let picks = self.op2(by_bits(lane, [Op::AddB, Op::AddW, Op::AddD, Op::AddQ]), view, below, steps)?;
        let picks = self.op2(by_bits(lane, [Op::MaxSB, Op::MaxSW, Op::MaxSD, Op::MaxSQ]), view, picks, zero)?;
        let picks = self.op2(by_bits(lane, [Op::MinSB, Op::MinSW, Op::MinSD, Op::MinSQ]), view, picks, range)?;
        match sources[..] {
            [one, two] if !self.body.evex => {
                // Both are permuted by the lowest bits of the picks, of which a larger one is of the second.
                let most = self.splat(int, view, per as u64 - 1)?;
                let later = self.op2(Op::GreaterD, view, picks, most)?;
                let one = self.op2(Op::PermuteD, view, picks, one)?;
                let two = self.op2(Op::PermuteD, view, picks, two)?;
                self.blend(lane, view, later, two, one)
            }
            [one, two] => {
                let op = by_bits(lane, [Op::PermuteTwoB, Op::PermuteTwoW, Op::PermuteTwoD, Op::PermuteTwoQ]);
                self.op_mod(op, view, one, &[Arg::Use(picks, view), Arg::Use(two, view)])
            }
            _ => {
                let op = by_bits(lane, [Op::PermuteB, Op::PermuteW, Op::PermuteD, Op::PermuteQ]);
                self.op2(op, view, picks, sources[0])
            }
        }
    }
    /// The mask of the first lanes, as many as `count` says.
    fn mask_of_first(&mut self, lane: Lane, view: View, count: &Expr) -> Emitted<VReg> {
        if !self.body.evex {
            let numbers = (0..per_part(lane, view) as i64).flat_map(|i| i.to_le_bytes().into_iter().take(lane.bytes()));
            let numbers = self.pattern(numbers.collect(), view)?;
            let count = self.in_every_lane(lane.as_int(), view, count)?;
            return self.op2(Op::GreaterD, view, count, numbers);
        }
        let count = self.scalar(count)?;
        let ones = self.index_constant(-1);
        let args = [Arg::Use(ones, View::G64), Arg::Use(count, View::G64)];
        let bits = self.result_of(Code::VEX_Bzhi_r64_rm64_r64, View::G64, &args);
        Ok(self.mask_of_general(bits))
    }
    /// The lowest bits of an index in every lane.
    fn in_every_lane(&mut self, lane: Lane, view: View, e: &Expr) -> Emitted<VReg> {
        let v = self.scalar(e)?;
        let x = self.vector_of_general(v)?;
        self.op(broadcast_op(lane), view, &[Arg::Use(x, View::X)])
    }

    /// The number of lanes that a mask has, if these are the first ones: those of a row that are not beyond its end.
    pub(super) fn first_of_mask(&self, mask: &Expr, lanes: usize) -> Option<Expr> {
        match mask.kind() {
            ExprKind::Sym(s) => self.first_of_mask(self.vectors.get(s)?, lanes),
            ExprKind::Likely(a) => self.first_of_mask(a, lanes),
            ExprKind::Binary(op @ (BinOp::Lt | BinOp::Le), a, b) => {
                let (base, end) = (self.row_of(a)?, self.same_of(b)?);
                let count = build::add(build::sub(end, base), build::int(i64::from(*op == BinOp::Le)));
                Some(build::max(build::min(count, build::int(lanes as i64)), build::int(0)))
            }
            _ => None,
        }
    }

    /// The first one of lanes of an index that are one more each.
    fn row_of(&self, e: &Expr) -> Option<Expr> {
        match e.kind() {
            ExprKind::Sym(s) => self.row_of(self.vectors.get(s)?),
            ExprKind::Likely(a) => self.row_of(a),
            ExprKind::Ramp { base, stride } => Some(base.clone()).filter(|_| build::as_int(stride) == Some(1)),
            _ => None,
        }
    }

    /// The value of all lanes of an index.
    fn same_of(&self, e: &Expr) -> Option<Expr> {
        match e.kind() {
            ExprKind::Sym(s) => self.same_of(self.vectors.get(s)?),
            ExprKind::Likely(a) => self.same_of(a),
            ExprKind::Broadcast(a) => Some(a.clone()),
            _ => None,
        }
    }

    /// The lanes of an index vector from one to another; `None` if they are of neither kind.
    fn shape_of(&self, e: &Expr, from: i64, to: &Expr) -> Option<Shape> {
        match e.kind() {
            ExprKind::Broadcast(a) => Some(Shape::Same(a.clone())),
            ExprKind::Likely(a) => self.shape_of(a, from, to),
            ExprKind::Sym(s) => self.shape_of(self.vectors.get(s)?, from, to),
            ExprKind::Ramp { base, stride } => {
                let stride = build::as_int(stride).filter(|s| *s > 0)?;
                let at = |lane: Expr| build::add(base.clone(), build::mul(lane, build::int(stride)));
                let (first, last) = (at(build::int(from)), at(to.clone()));
                Some(Shape::Rising(Rising { stride, free: first.clone(), first, last }))
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Min | BinOp::Max), a, b) => {
                match (self.shape_of(a, from, to)?, self.shape_of(b, from, to)?) {
                    (Shape::Same(x), Shape::Same(y)) => Some(Shape::Same(build::binary(*op, x, y))),
                    (Shape::Rising(r), Shape::Same(y)) => Some(r.map(*op, |x| build::binary(*op, x, y.clone()))),
                    (Shape::Same(x), Shape::Rising(r)) if *op != BinOp::Sub => {
                        Some(r.map(*op, |y| build::binary(*op, x.clone(), y)))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
