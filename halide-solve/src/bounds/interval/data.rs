//! Intervals of integer data, which wraps.

use super::float::is_float;
use super::{Interval, Search, add, both, either};
use crate::simplify::Range;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::build::{self, as_int, int};
use halide_ir::{BufId, Expr, ExprKind};

/// Returns true if an integer is computed exactly, in the 64 bits of coordinates, then wrapped.
fn wraps(e: &Expr, ty: ScalarType) -> bool {
    match e.kind() {
        ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) => ty.bits() <= 32,
        ExprKind::Binary(BinOp::Mul, ..) => ty.bits() <= 32 && ty != ScalarType::U32,
        ExprKind::Cast(a) => !is_float(a),
        _ => false,
    }
}

/// Returns false if the value of an operator is a value of one of its operands, or exact.
fn may_wrap(e: &Expr, ty: ScalarType) -> bool {
    let is_exact = match e.kind() {
        ExprKind::Binary(op, ..) => matches!(op, BinOp::Min | BinOp::Max | BinOp::Absd),
        ExprKind::Unary(op, _) => *op == UnOp::Abs,
        ExprKind::Select(..) | ExprKind::Likely(_) | ExprKind::Broadcast(_) => true,
        ExprKind::Read { .. } | ExprKind::Load { .. } => true,
        _ => false,
    };
    !is_exact || ty.bits() > 32
}

impl Search<'_> {
    /// Returns the interval of an integer data expression, as values of Index.
    pub(super) fn data(&mut self, e: &Expr, ty: ScalarType) -> Interval {
        let all = self.facts.range_of(e);
        let value = match e.kind() {
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) => Some(self.extreme(e, a, b)),
            ExprKind::Binary(BinOp::Add, a, b) => Some(add(&self.of(a), &self.of(b), 1, self.facts)),
            ExprKind::Binary(BinOp::Sub, a, b) => Some(add(&self.of(a), &self.of(b), -1, self.facts)),
            ExprKind::Binary(BinOp::Mul, a, b) => Some(self.scaled_data(a, b)),
            ExprKind::Binary(BinOp::Div, a, b) => self.divided_data(a, b),
            ExprKind::Binary(BinOp::Shr, a, b) => {
                let amount = build::as_const(b).and_then(|v| u32::try_from(v.as_i128()).ok());
                let factor = amount.filter(|n| *n < ty.bits().min(63)).map(|n| int(1 << n));
                factor.map(|f| self.ends_divided(&self.of(a), &f))
            }
            ExprKind::Binary(BinOp::Absd, a, b) if ty.bits() <= 32 => {
                Some(self.absolute(&add(&self.of(a), &self.of(b), -1, self.facts)))
            }
            ExprKind::Unary(UnOp::Abs, a) if ty.bits() <= 32 => Some(self.absolute(&self.of(a))),
            ExprKind::Select(c, a, b) => Some(self.select(c, a, b)),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => Some(self.of(a)),
            ExprKind::Cast(a) if a.ty().scalar().is_none_or(|t| t.is_int()) && ty.is_int() => Some(self.of(a)),
            // A float is true unless it is zero, so truths do not grow with it.
            ExprKind::Cast(a) if is_float(a) && ty.is_int() => Some(self.truncated(a, |e| build::cast_data(ty, e))),
            ExprKind::SaturatingCast(a) if is_float(a) => Some(self.truncated(a, |e| build::saturating_cast(ty, e))),
            ExprKind::Read { buf, args } => (self.values)(e).or_else(|| self.promised(*buf, args, ty)),
            ExprKind::Load { .. } => (self.values)(e),
            _ => None,
        };
        // Ends are coordinates, of 64 bits.
        let limits = Range::of_type(ty).intersect(Range::of_type(ScalarType::I64));
        match value {
            // A sum that fits has not wrapped; others never do, whatever is known of the ends as constants.
            Some(interval) if !may_wrap(e, ty) || interval.constant_range(self.facts).within(limits) => {
                let known = interval.constant_range(self.facts);
                let range = Interval::of_range(all);
                // A constant that says more replaces an end; a symbolic end is kept.
                let end = |end: Option<Expr>, other: Option<Expr>, tighter: bool| match end {
                    Some(e) if as_int(&e).is_some() && tighter => other,
                    None => other,
                    end => end,
                };
                let (lower, upper) = (all.min() > known.min(), all.max() < known.max());
                Interval { min: end(interval.min, range.min, lower), max: end(interval.max, range.max, upper) }
            }
            // One value stays one when it wraps.
            Some(interval) if wraps(e, ty) && interval.as_point().is_some() => {
                let value = interval.as_point().map(|v| build::to_index(build::cast_data(ty, v.clone())));
                value.map_or(Interval::of_range(all), Interval::point)
            }
            Some(interval) if wraps(e, ty) && ty.bits() >= 32 => {
                self.where_it_fits(interval, ty).unwrap_or(Interval::of_range(all))
            }
            _ => Interval::of_range(all),
        }
    }
    /// The magnitudes of members of `of`.
    fn absolute(&self, of: &Interval) -> Interval {
        let zero = Interval::point(int(0));
        let negated = add(&zero, of, -1, self.facts);
        let low = either(BinOp::Max, &of.min, &negated.min, self.facts);
        Interval {
            min: either(BinOp::Max, &low, &zero.min, self.facts),
            max: both(BinOp::Max, &of.max, &negated.max, self.facts),
        }
    }
    /// The interval of an exact value that is then wrapped to `ty`: its own, if all of it fits, which ends that are not
    /// constants tell only in a run; otherwise that of the type.
    fn where_it_fits(&self, interval: Interval, ty: ScalarType) -> Option<Interval> {
        let (Interval { min: Some(min), max: Some(max) }, (Some(least), Some(most))) =
            (interval, Range::of_type(ty).ends())
        else {
            return None;
        };
        let fits = build::and(build::ge(min.clone(), int(least)), build::le(max.clone(), int(most)));
        let end = |e: Expr, limit: i64| self.simple(build::select(fits.clone(), e, int(limit)));
        (as_int(&min).is_none() && as_int(&max).is_none()).then(|| Interval::new(end(min, least), end(max, most)))
    }
    /// The interval of an element of an input, of which something is known that needs symbols.
    fn promised(&self, buf: BufId, args: &[Expr], ty: ScalarType) -> Option<Interval> {
        if self.facts.is_scalar(buf) {
            return Some(Interval::point(build::to_index(build::read(buf, ty, Vec::new()))));
        }
        let coordinates = self.facts.coordinates(buf).iter().map(|(of, dim)| {
            let (min, last) = build::coordinates(*of, usize::from(*dim));
            let min = if ty.is_signed_int() { min } else { build::max(min, int(0)) };
            Interval::new(self.simple(min), self.simple(last))
        });
        coordinates.chain(self.growing(buf, args, ty)).reduce(|a, b| a.intersect(&b, self.facts))
    }
    /// Returns the interval of an element of an input whose elements grow along a dimension: its ends are the elements
    /// at the ends of the coordinate. These are read wherever the interval is asked for, also where nothing is in it,
    /// so they are kept inside of the image.
    fn growing(&self, buf: BufId, args: &[Expr], ty: ScalarType) -> Option<Interval> {
        let dim = self.facts.growing(buf)?;
        let inside = |d: usize, e: Expr| {
            let (first, last) = build::coordinates(buf, d);
            self.simple(build::max(build::min(e, last), first))
        };
        let read = |end: fn(Interval) -> Option<Expr>| {
            let mut at = Vec::new();
            for (d, arg) in args.iter().enumerate() {
                let interval = self.of(arg);
                let e = if d == dim { end(interval)? } else { interval.as_point()?.clone() };
                at.push(inside(d, e));
            }
            Some(build::to_index(build::read(buf, ty, at)))
        };
        Some(Interval { min: read(|i| i.min), max: read(|i| i.max) })
    }
    fn scaled_data(&self, a: &Expr, b: &Expr) -> Interval {
        let factor = |e: &Expr| build::as_const(e).and_then(|v| i64::try_from(v.as_i128()).ok());
        let zero = Interval::point(int(0));
        match (factor(a), factor(b)) {
            (_, Some(c)) => add(&zero, &self.of(a), c, self.facts),
            (Some(c), _) => add(&zero, &self.of(b), c, self.facts),
            _ => Interval::everything(),
        }
    }
    fn divided_data(&self, a: &Expr, b: &Expr) -> Option<Interval> {
        let d = build::as_const(b).and_then(|v| i64::try_from(v.as_i128()).ok()).filter(|d| *d > 0)?;
        Some(self.ends_divided(&self.of(a), &int(d)))
    }
    fn ends_divided(&self, n: &Interval, d: &Expr) -> Interval {
        let end = |e: &Option<Expr>| e.clone().map(|e| self.simple(build::div(e, d.clone())));
        Interval { min: end(&n.min), max: end(&n.max) }
    }
}
