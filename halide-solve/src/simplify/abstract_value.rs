//! The constant range and congruence of every expression, from those of its parts.

use super::facts::Facts;
use super::linear::Linear;
use super::range::{Congruence, Range, gcd};
use super::walk::postorder;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::build::as_int;
use halide_ir::{DimField, Elem, Expr, ExprKind, Intrinsic, Sym};

/// The abstract value of an expression: a range and a congruence that hold in every lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Known {
    pub(super) range: Range,
    /// The congruence of an Index expression; data says nothing.
    pub(super) congruence: Congruence,
}

impl Known {
    pub(super) const NOTHING: Known = Known { range: Range::ALL, congruence: Congruence::ALL };

    pub(super) fn point(value: i64) -> Known {
        Known { range: Range::point(value as i128), congruence: Congruence::point(value) }
    }
    pub(super) fn intersect(self, other: Known) -> Known {
        Known { range: self.range.intersect(other.range), congruence: self.congruence.intersect(other.congruence) }
    }
    fn union(self, other: Known) -> Known {
        Known { range: self.range.union(other.range), congruence: self.congruence.union(other.congruence) }
    }
}

impl From<Range> for Known {
    fn from(range: Range) -> Known {
        Known { range, ..Known::NOTHING }
    }
}

/// Returns the abstract value of an atom that holds under any facts.
pub(super) fn default_of(e: &Expr) -> Known {
    match (e.kind(), e.ty().elem) {
        (ExprKind::Sym(Sym::Buffer { field: DimField::Extent, .. }), _) => Range::new(Some(0), None).into(),
        (_, Elem::Data(ty)) => Range::of_type(ty).into(),
        (_, Elem::Index) => Known::NOTHING,
    }
}

impl Facts {
    /// Returns the abstract value of `e`; remembered for every node below it.
    pub(super) fn known(&self, e: &Expr) -> Known {
        if let ExprKind::Int(value) = e.kind() {
            return Known::point(*value);
        }
        if let Some(known) = self.cache.borrow().known(e) {
            return known;
        }
        let is_known = |e: &Expr| matches!(e.kind(), ExprKind::Int(_)) || self.cache.borrow().known(e).is_some();
        postorder(e, is_known, |e| {
            self.memory.count_visit();
            let known = if e.ty().is_index() { self.known_index(e) } else { self.known_data(e) };
            let known = known.intersect(self.atom(e));
            self.cache.borrow_mut().set_known(e, known);
        });
        self.cache.borrow().known(e).expect("just found")
    }

    /// Returns the abstract value of an Index expression whose parts are remembered.
    fn known_index(&self, e: &Expr) -> Known {
        match e.kind() {
            ExprKind::Int(v) => Known::point(*v),
            ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) | ExprKind::Unary(UnOp::Neg, _) if e.lanes() == 1 => {
                self.known_sum(e)
            }
            ExprKind::Binary(BinOp::Mul, a, b) if e.lanes() == 1 && (as_int(a).is_some() || as_int(b).is_some()) => {
                self.known_sum(e)
            }
            ExprKind::Unary(UnOp::Neg, a) => scaled(self.known(a), -1),
            ExprKind::Binary(op, a, b) => index_binary(*op, self.known(a), self.known(b)),
            ExprKind::Select(c, a, b) => self.known_select(c, a, b),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.known(a),
            ExprKind::Ramp { base, stride } => {
                let (base, stride) = (self.known(base), self.known(stride));
                let lanes = Range::new(Some(0), Some(e.lanes() as i128 - 1));
                let steps = match stride.congruence.modulus() {
                    0 => Congruence::new(stride.congruence.remainder(), 0),
                    m => Congruence::new(gcd(m, stride.congruence.remainder()), 0),
                };
                Known { range: base.range + stride.range * lanes, congruence: base.congruence.plus(steps) }
            }
            ExprKind::Cast(a) => self.known(a).range.into(),
            ExprKind::Shuffle(vectors, _) => {
                let mut all = vectors.iter().map(|v| self.known(v));
                let first = all.next().unwrap_or(Known::NOTHING);
                all.fold(first, Known::union)
            }
            _ => Known::NOTHING,
        }
    }
    fn known_sum(&self, e: &Expr) -> Known {
        let sum = Linear::of(e);
        if sum.as_atom() == Some(e) {
            return Known::NOTHING;
        }
        Known { range: self.sum_range(&sum), congruence: self.sum_congruence(&sum) }
    }
    fn known_select(&self, c: &Expr, a: &Expr, b: &Expr) -> Known {
        match self.known(c).range.as_point() {
            Some(0) => self.known(b),
            Some(_) => self.known(a),
            None => self.known(a).union(self.known(b)),
        }
    }

    /// Returns the abstract value of a data expression whose parts are remembered. Floats say nothing.
    fn known_data(&self, e: &Expr) -> Known {
        let Some(ty) = e.ty().scalar().filter(|t| !t.is_float()) else { return Known::NOTHING };
        let all = Range::of_type(ty);
        let range = match e.kind() {
            ExprKind::Const(v) => Range::point(v.as_i128()),
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                comparison(*op, self.known(a).range, self.known(b).range)
            }
            ExprKind::Unary(op, a) => data_unary(*op, self.known(a).range, ty),
            ExprKind::Binary(op, a, b) if !a.ty().scalar().is_none_or(|t| t.is_float()) => {
                data_binary(*op, self.known(a).range, self.known(b).range, ty)
            }
            ExprKind::Select(c, a, b) => self.known_select(c, a, b).range,
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.known(a).range,
            ExprKind::Cast(a) if a.ty().scalar().is_none_or(|t| !t.is_float()) => {
                if ty == ScalarType::Bool {
                    all
                } else {
                    self.known(a).range
                }
            }
            ExprKind::SaturatingCast(a) if a.ty().scalar().is_some_and(|t| !t.is_float()) => self
                .known(a)
                .range
                .upper_of(Range::new(ty.int_min(), ty.int_min()))
                .lower_of(Range::new(ty.int_max(), ty.int_max())),
            ExprKind::Intrinsic(op, args) => {
                let parts: Vec<Range> = args.iter().map(|a| self.known(a).range).collect();
                intrinsic(*op, &parts, all)
            }
            ExprKind::Shuffle(vectors, _) => {
                vectors.iter().map(|v| self.known(v).range).reduce(Range::union).unwrap_or(all)
            }
            ExprKind::Read { .. } | ExprKind::Load { .. } => self.element_range(e).unwrap_or(all),
            _ => all,
        };
        // A result that does not fit has wrapped, and can be anything.
        let range = if range.within(all) { range } else { all };
        match self.truth(e) {
            Some(truth) => Range::point(truth as i128).into(),
            None => range.into(),
        }
    }
}

fn scaled(known: Known, factor: i64) -> Known {
    Known { range: known.range.scale(factor), congruence: known.congruence.scale(factor) }
}

fn index_binary(op: BinOp, a: Known, b: Known) -> Known {
    match op {
        BinOp::Add => Known { range: a.range + b.range, congruence: a.congruence.plus(b.congruence) },
        BinOp::Sub => Known { range: a.range - b.range, congruence: a.congruence.plus(b.congruence.scale(-1)) },
        BinOp::Mul => Known { range: a.range * b.range, congruence: product(a.congruence, b.congruence) },
        BinOp::Div => Known { range: a.range.quotient(b.range), congruence: quotient(a.congruence, b.congruence) },
        BinOp::Mod => Known { range: a.range.remainder(b.range), congruence: remainder(a.congruence, b.congruence) },
        BinOp::Min => Known { range: a.range.lower_of(b.range), congruence: a.congruence.union(b.congruence) },
        BinOp::Max => Known { range: a.range.upper_of(b.range), congruence: a.congruence.union(b.congruence) },
        _ => Known::NOTHING,
    }
}

/// Returns the congruence of `(k m + r) * (l n + s)`: all but `r s` is a multiple of the other products' divisor.
fn product(a: Congruence, b: Congruence) -> Congruence {
    let parts = [(a.modulus(), b.modulus()), (a.modulus(), b.remainder()), (a.remainder(), b.modulus())];
    let modulus = parts.into_iter().try_fold(0, |g, (x, y)| Some(gcd(g, x.checked_mul(y)?)));
    match (modulus, a.remainder().checked_mul(b.remainder())) {
        (Some(m), Some(r)) => Congruence::new(m, r),
        _ => Congruence::ALL,
    }
}

fn quotient(a: Congruence, b: Congruence) -> Congruence {
    let d = b.remainder();
    if b.modulus() != 0 || d <= 0 || a.modulus() % d != 0 {
        return Congruence::ALL;
    }
    Congruence::new(a.modulus() / d, a.remainder().div_euclid(d))
}

fn remainder(a: Congruence, b: Congruence) -> Congruence {
    let d = b.remainder();
    if b.modulus() != 0 || d == 0 {
        return Congruence::ALL;
    }
    match d.checked_abs().and_then(|d| a.modulo(d)) {
        Some(r) => Congruence::point(r),
        None => Congruence::new(gcd(a.modulus(), d), a.remainder()),
    }
}

/// Returns the range of a comparison, one value if the ranges of its operands decide it. Unbounded ones, and with them
/// floats that may be NaN, decide nothing.
fn comparison(op: BinOp, a: Range, b: Range) -> Range {
    let below = |a: Range, b: Range| matches!((a.max(), b.min()), (Some(most), Some(least)) if most < least);
    let not_above = |a: Range, b: Range| matches!((a.max(), b.min()), (Some(most), Some(least)) if most <= least);
    let apart = below(a, b) || below(b, a);
    let same = a.as_point().is_some() && a.as_point() == b.as_point();
    let (yes, no) = match op {
        BinOp::Lt => (below(a, b), not_above(b, a)),
        BinOp::Le => (not_above(a, b), below(b, a)),
        BinOp::Gt => (below(b, a), not_above(a, b)),
        BinOp::Ge => (not_above(b, a), below(a, b)),
        BinOp::Eq => (same, apart),
        _ => (apart, same),
    };
    match (yes, no) {
        (true, _) => Range::point(1),
        (_, true) => Range::point(0),
        _ => Range::of_type(ScalarType::Bool),
    }
}

fn data_unary(op: UnOp, a: Range, ty: ScalarType) -> Range {
    match op {
        UnOp::Neg => -a,
        UnOp::Not if ty == ScalarType::Bool => Range::point(1) - a,
        UnOp::Abs => a.upper_of(-a).upper_of(Range::point(0)),
        UnOp::Popcount | UnOp::Clz | UnOp::Ctz => Range::new(Some(0), Some(ty.bits() as i128)),
        _ => Range::of_type(ty),
    }
}

fn data_binary(op: BinOp, a: Range, b: Range, ty: ScalarType) -> Range {
    let all = Range::of_type(ty);
    match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a.quotient(b),
        BinOp::Mod => a.remainder(b),
        BinOp::DivToZero | BinOp::ModToZero if a.at_least(0) && b.at_least(0) => match op {
            BinOp::DivToZero => a.quotient(b),
            _ => a.remainder(b),
        },
        BinOp::Min => a.lower_of(b),
        BinOp::Max => a.upper_of(b),
        BinOp::Absd => {
            let d = a - b;
            d.upper_of(-d).upper_of(Range::point(0))
        }
        BinOp::BitAnd if a.at_least(0) || b.at_least(0) => {
            let least = |r: Range| if r.at_least(0) { r.max() } else { all.max() };
            Range::new(Some(0), least(a).min(least(b)))
        }
        BinOp::BitOr | BinOp::BitXor if a.at_least(0) && b.at_least(0) => {
            let bits = |r: Range| r.max().map_or(127, |m| 128 - m.leading_zeros());
            Range::new(Some(0), Some((1i128 << bits(a).max(bits(b)).min(120)) - 1))
        }
        BinOp::Shl | BinOp::Shr => match b.as_point() {
            Some(n) if (0..ty.bits() as i128).contains(&n) => {
                let factor = Range::point(1 << n);
                if op == BinOp::Shl { a * factor } else { a.quotient(factor) }
            }
            _ => all,
        },
        _ => all,
    }
}

fn intrinsic(op: Intrinsic, args: &[Range], all: Range) -> Range {
    let [a, b] = args else { return all };
    let (a, b) = (*a, *b);
    match op {
        Intrinsic::SaturatingAdd | Intrinsic::SaturatingSub => {
            let exact = if op == Intrinsic::SaturatingAdd { a + b } else { a - b };
            let clamp = |end: Option<i128>| Range::new(end, end);
            exact.upper_of(clamp(all.min())).lower_of(clamp(all.max()))
        }
        Intrinsic::HalvingAdd => (a + b).quotient(Range::point(2)),
        Intrinsic::RoundingHalvingAdd => (a + b + Range::point(1)).quotient(Range::point(2)),
        Intrinsic::WideningMul => a * b,
        Intrinsic::MulHigh => all,
        Intrinsic::MulRounded => {
            let rounded = (a * b + Range::point(1 << 14)).quotient(Range::point(1 << 15));
            let clamp = |end: Option<i128>| Range::new(end, end);
            rounded.upper_of(clamp(all.min())).lower_of(clamp(all.max()))
        }
    }
}
