//! Indices that data decides, in 32 bits.
//!
//! Example:
//! ```text
//! out#b2[ramp(0, 1, 8)] = in#b0[x8(out#b2.min0 + 7) + min(x8(600), x8(256) + max(x8(3), intx8(image#b3[ramp(0, 1, 8)])))]
//! ```
//! becomes
//! ```text
//! out#b2[ramp(0, 1, 8)] = in#b0[intx8(min(x8(600i32), max(x8(3i32), i32x8(image#b3[ramp(0, 1, 8)])) + x8(256i32))) + x8(out#b2.min0 + 7)]
//! ```
//!
//! An index has 64 bits, and vectors of them have half as many lanes. The part of an index that is data, clamped and
//! scaled, mostly has values of 32 bits, if a constant is set aside.

use crate::tuning::{MOST_INDEX_DEPTH, MOST_INDEX_TERMS};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::I32;
use halide_core::value::Scalar;
use halide_ir::hash::Map;
use halide_ir::{Expr, ExprKind, build};
use halide_solve::simplify::{Facts, Range};

/// The index with what data decides computed in 32 bits; `None` if nothing is.
pub(super) fn in_32_bits(index: &Expr, facts: &Facts) -> Option<Expr> {
    let mut sum = Sum::default();
    sum.add(index, true)?;
    let mut parts = Parts { facts, done: Map::default() };
    let small = sum.data.iter().try_fold(None, |all: Option<Small>, (e, positive)| {
        let next = parts.of(e, 0)?;
        Some(Some(match all {
            None if *positive => next,
            None => Small::constant(0).sub(next)?,
            Some(all) if *positive => all.add(next)?,
            Some(all) => all.sub(next)?,
        }))
    });
    let Small { value: Some(value), offset, .. } = small?? else { return None };
    if matches!(sum.data[..], [(ref e, true)] if matches!(e.kind(), ExprKind::Cast(_))) {
        return None;
    }
    let lanes = index.lanes();
    let data = build::to_index(value);
    let data = if data.lanes() == 1 { build::broadcast(data, lanes) } else { data };
    let all = sum.rest.into_iter().fold(data, |all, (e, positive)| {
        let op = if positive { BinOp::Add } else { BinOp::Sub };
        build::binary(op, all, e)
    });
    Some(build::add(all, build::broadcast(build::int(offset), lanes)))
}

/// The terms of a sum, and whether they are added: those that data decides, and others.
#[derive(Default)]
struct Sum {
    data: Vec<(Expr, bool)>,
    rest: Vec<(Expr, bool)>,
}

impl Sum {
    /// `None` if there are too many terms.
    fn add(&mut self, e: &Expr, positive: bool) -> Option<()> {
        if self.data.len() + self.rest.len() > MOST_INDEX_TERMS {
            return None;
        }
        match e.kind() {
            ExprKind::Binary(BinOp::Add, a, b) => {
                self.add(a, positive)?;
                self.add(b, positive)?;
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                self.add(a, positive)?;
                self.add(b, !positive)?;
            }
            ExprKind::Broadcast(_) | ExprKind::Ramp { .. } | ExprKind::Int(_) => self.rest.push((e.clone(), positive)),
            _ => self.data.push((e.clone(), positive)),
        }
        Some(())
    }
}

/// The results for the parts of an index, which may stand in it many times.
struct Parts<'a> {
    facts: &'a Facts,
    done: Map<Expr, Option<Small>>,
}

/// The exact value of an index: that of an expression of 32 bits, or 0, and a constant.
#[derive(Clone)]
struct Small {
    value: Option<Expr>,
    /// The range of the expression's values.
    range: Range,
    offset: i64,
}

impl Parts<'_> {
    fn of(&mut self, e: &Expr, depth: u32) -> Option<Small> {
        if let Some(known) = self.done.get(e) {
            return known.clone();
        }
        let made = if depth > MOST_INDEX_DEPTH { None } else { self.node(e, depth + 1) };
        self.done.insert(e.clone(), made.clone());
        made
    }
    fn node(&mut self, e: &Expr, depth: u32) -> Option<Small> {
        let facts = self.facts;
        let mut of = |e: &Expr| self.of(e, depth);
        match e.kind() {
            _ if build::as_int(e).is_some() => build::as_int(e).map(Small::constant),
            ExprKind::Cast(a) => {
                let ty = a.ty().scalar().filter(|t| t.is_int())?;
                let range = facts.range_of(a).intersect(Range::of_type(ty));
                Small::from(build::cast_data(I32, a.clone()), range, 0)
            }
            ExprKind::Broadcast(s) => {
                let value = build::broadcast(build::cast_data(I32, s.clone()), e.lanes());
                Small::from(value, facts.range_of(s), 0)
            }
            ExprKind::Binary(BinOp::Add, a, b) => of(a)?.add(of(b)?),
            ExprKind::Binary(BinOp::Sub, a, b) => of(a)?.sub(of(b)?),
            ExprKind::Binary(BinOp::Mul, a, b) => match (build::as_int(a), build::as_int(b)) {
                (_, Some(factor)) => of(a)?.times(factor),
                (Some(factor), None) => of(b)?.times(factor),
                (None, None) => None,
            },
            ExprKind::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => {
                let (a, b, offset) = aligned(of(a)?, of(b)?)?;
                let range = match op {
                    BinOp::Min => a.range.lower_of(b.range),
                    _ => a.range.upper_of(b.range),
                };
                Small::from(build::binary(*op, a.value?, b.value?), range, offset)
            }
            ExprKind::Select(c, a, b) => {
                let (a, b, offset) = aligned(of(a)?, of(b)?)?;
                let range = a.range.union(b.range);
                Small::from(build::select(c.clone(), a.value?, b.value?), range, offset)
            }
            _ => None,
        }
    }
}

impl Small {
    fn constant(offset: i64) -> Small {
        Small { value: None, range: Range::point(0), offset }
    }
    /// `None` if the range is not one of 32 bits.
    fn from(value: Expr, range: Range, offset: i64) -> Option<Small> {
        range.within(Range::of_type(I32)).then_some(Small { value: Some(value), range, offset })
    }
    fn add(self, other: Small) -> Option<Small> {
        let offset = self.offset.checked_add(other.offset)?;
        match (self.value, other.value) {
            (Some(a), Some(b)) => Small::from(build::add(a, b), plus(self.range, other.range)?, offset),
            (Some(value), None) => Some(Small { value: Some(value), range: self.range, offset }),
            (None, value) => Some(Small { value, range: other.range, offset }),
        }
    }
    fn sub(self, other: Small) -> Option<Small> {
        self.add(other.times(-1)?)
    }
    fn times(self, factor: i64) -> Option<Small> {
        let offset = self.offset.checked_mul(factor)?;
        let Some(value) = self.value else { return Some(Small::constant(offset)) };
        let by = i32::try_from(factor).ok()?;
        let by = build::broadcast(build::constant(Scalar::int(I32, by.into())), value.lanes());
        Small::from(build::mul(value, by), self.range.scale(factor), offset)
    }
    /// The same value with another constant.
    fn with_offset(self, offset: i64) -> Option<Small> {
        let more = self.offset.checked_sub(offset)?;
        let value = self.value?;
        let number = build::constant(Scalar::int(I32, i32::try_from(more).ok()?.into()));
        let value = if more == 0 { value } else { build::add(value.clone(), build::broadcast(number, value.lanes())) };
        Small::from(value, plus(self.range, Range::point(more.into()))?, offset)
    }
    fn lanes(&self) -> u16 {
        self.value.as_ref().map_or(1, Expr::lanes)
    }
    /// A constant as an expression of so many lanes.
    fn in_lanes(self, lanes: u16) -> Option<Small> {
        if self.value.is_some() {
            return Some(self);
        }
        let value = build::broadcast(build::constant(Scalar::int(I32, i32::try_from(self.offset).ok()?.into())), lanes);
        Small::from(value, Range::point(self.offset.into()), 0)
    }
}

fn plus(a: Range, b: Range) -> Option<Range> {
    let ends = |r: Range| Some((r.min()?, r.max()?));
    let ((al, ah), (bl, bh)) = (ends(a)?, ends(b)?);
    Some(Range::new(Some(al.checked_add(bl)?), Some(ah.checked_add(bh)?)))
}

/// Both as expressions beyond the same constant: that of one of them.
fn aligned(a: Small, b: Small) -> Option<(Small, Small, i64)> {
    let lanes = a.lanes().max(b.lanes());
    let (a, b) = (a.in_lanes(lanes)?, b.in_lanes(lanes)?);
    let fits = |x: &Small, offset: i64| {
        let more = x.offset.checked_sub(offset).and_then(|more| i32::try_from(more).ok());
        more.and_then(|more| plus(x.range, Range::point(more.into()))).is_some_and(|r| r.within(Range::of_type(I32)))
    };
    let offset = [a.offset, b.offset].into_iter().find(|&offset| fits(&a, offset) && fits(&b, offset))?;
    Some((a.with_offset(offset)?, b.with_offset(offset)?, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::{BufId, Sym};

    /// Parts that stand in an index again and again are looked at once, and sums of very many terms not at all.
    #[test]
    fn shared_parts_are_looked_at_once() {
        let row = build::ramp(build::int(0), build::int(1), 8);
        let mut index = build::to_index(build::load(BufId(0), I32, row, None));
        let other = build::broadcast(build::sym(Sym::Temp(0)), 8);
        for i in 0..22 {
            let least = build::broadcast(build::int(i), 8);
            index = build::max(build::min(index.clone(), least), build::sub(index, build::broadcast(build::int(1), 8)));
        }
        let _ = in_32_bits(&build::add(index.clone(), other), &Facts::new());
        for _ in 0..40 {
            index = build::add(index.clone(), index);
        }
        assert_eq!(in_32_bits(&index, &Facts::new()), None);
    }
}
