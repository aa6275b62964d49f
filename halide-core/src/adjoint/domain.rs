//! The points that a definition is computed at, and the ranges of coordinates over them as expressions of the sizes of
//! images, parameters and constants.

use super::builder::{Builder, Dim};
use crate::ids::{ExprId, RDomId};
use crate::ops::{BinOp, UnOp};
use crate::pipeline::{DimField, Kind, PipelineData};
use crate::tuning::MAX_DIMS;
use crate::types::ScalarType;
use std::collections::BTreeMap;

/// The first and the last value of a coordinate; `None` where nothing bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: Option<ExprId>,
    pub(super) last: Option<ExprId>,
}

impl Range {
    pub(super) const UNBOUNDED: Range = Range { first: None, last: None };

    pub(super) fn new(first: ExprId, last: ExprId) -> Range {
        Range { first: Some(first), last: Some(last) }
    }

    /// Both ends, if there are.
    pub(super) fn ends(self) -> Option<(ExprId, ExprId)> {
        self.first.zip(self.last)
    }

    /// The values of either range.
    pub(super) fn union(self, other: Range, b: &mut Builder) -> Range {
        let first = self.first.zip(other.first).map(|(p, q)| b.extremum(BinOp::Min, p, q));
        let last = self.last.zip(other.last).map(|(p, q)| b.extremum(BinOp::Max, p, q));
        Range { first, last }
    }

    fn map(self, mut end: impl FnMut(ExprId) -> ExprId) -> Range {
        Range { first: self.first.map(&mut end), last: self.last.map(&mut end) }
    }

    fn turned(self) -> Range {
        Range { first: self.last, last: self.first }
    }
}

/// A variable that a definition runs over.
#[derive(Clone, Debug)]
pub(super) struct LoopVar {
    /// Its node.
    pub(super) node: ExprId,
    /// The name by which schedules call a reduction variable that stands for it.
    pub(super) name: String,
    /// Its own name, which printed pipelines show behind that of the domain.
    pub(super) own_name: String,
    pub(super) range: Range,
    /// True for a variable of the Func, false for one of the reduction domain.
    pub(super) is_pure: bool,
}

/// The reason that there is no reduction domain of some variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoReduction {
    /// Nothing bounds the variable of this position.
    Unbounded(usize),
    /// There are this many variables.
    TooMany(usize),
}

/// Adds a reduction domain over the given variables; returns it and its variables.
pub(super) fn reduction(b: &mut Builder, vars: &[&LoopVar]) -> Result<(RDomId, Vec<ExprId>), NoReduction> {
    if vars.len() > MAX_DIMS {
        return Err(NoReduction::TooMany(vars.len()));
    }
    let mut dims: Vec<Dim> = Vec::new();
    for (position, var) in vars.iter().enumerate() {
        let (first, last) = var.range.ends().ok_or(NoReduction::Unbounded(position))?;
        let size = b.sub(last, first);
        let extent = b.offset(size, 1);
        let same = |of: fn(&Dim) -> &String, name: &String| dims.iter().filter(|d| of(d) == name).count();
        let number = same(|d| &d.said, &var.name).max(same(|d| &d.name, &var.own_name));
        let unique = |name: &String| if number == 0 { name.clone() } else { format!("{name}${position}") };
        dims.push(Dim { name: unique(&var.own_name), said: unique(&var.name), min: first, extent });
    }
    let rdom = b.rdom(dims);
    let node = |dim| b.node(Kind::RVar { rdom, dim: dim as u8 }, ScalarType::I32);
    Ok((rdom, (0..vars.len()).map(node).collect()))
}

/// The points that a definition is computed at.
#[derive(Clone, Debug)]
pub(super) struct Domain {
    pub(super) vars: Vec<LoopVar>,
    /// The condition under which an update stores.
    pub(super) predicate: Option<ExprId>,
}

impl Domain {
    /// The position of a variable's node.
    pub(super) fn position(&self, node: ExprId) -> Option<usize> {
        self.vars.iter().position(|v| v.node == node)
    }

    /// The range of the coordinate `root` over all points.
    pub(super) fn range(&self, b: &mut Builder, root: ExprId) -> Range {
        let mut known: BTreeMap<ExprId, Range> = BTreeMap::new();
        for e in b.data.reachable(&[root]) {
            let range = match self.position(e) {
                Some(v) => self.vars[v].range,
                None if is_closed(&b.data, e) => Range::new(e, e),
                None => coordinate(b, e, &known),
            };
            known.insert(e, range);
        }
        known[&root]
    }
}

/// Returns true if `e` is known before the pipeline runs, so that a reduction domain may be bounded by it.
pub(super) fn is_closed(data: &PipelineData, e: ExprId) -> bool {
    data.exprs[e].ty.is_int()
        && data.reachable(&[e]).into_iter().all(|e| {
            let kind = &data.exprs[e].kind;
            matches!(kind, Kind::Const(_) | Kind::Param(_) | Kind::ImageDim { .. })
                || matches!(kind, Kind::Unary(..) | Kind::Binary(..) | Kind::Select(..) | Kind::Cast(_))
        })
}

/// The range of an operation on coordinates, from those of its operands.
fn coordinate(b: &mut Builder, e: ExprId, known: &BTreeMap<ExprId, Range>) -> Range {
    let node = b.data.exprs[e].clone();
    if node.ty != ScalarType::I32 {
        return Range::UNBOUNDED;
    }
    let of = |e: ExprId| known[&e];
    match node.kind {
        Kind::Likely(a) | Kind::LikelyIfInnermost(a) | Kind::Strict(a) => of(a),
        Kind::Note { value, .. } => of(value),
        Kind::Unary(UnOp::Neg, a) => of(a).turned().map(|end| b.scale(end, -1)),
        Kind::Select(_, p, q) => of(p).union(of(q), b),
        Kind::Binary(op, p, q) => binary(b, op, (p, of(p)), (q, of(q))),
        Kind::Cast(a) => {
            let (first, last) = data_ends(&b.data, a);
            let end = |v: f64| (v.abs() <= f64::from(i32::MAX)).then_some(v as i64);
            let (first, last) = (first.and_then(end), last.and_then(end));
            Range { first: first.map(|v| b.int(v)), last: last.map(|v| b.int(v)) }
        }
        _ => Range::UNBOUNDED,
    }
}

fn binary(b: &mut Builder, op: BinOp, (_, p): (ExprId, Range), (right, q): (ExprId, Range)) -> Range {
    let both = |p: Option<ExprId>, q: Option<ExprId>, join: &mut dyn FnMut(ExprId, ExprId) -> ExprId| {
        p.zip(q).map(|(p, q)| join(p, q))
    };
    match op {
        BinOp::Add => Range {
            first: both(p.first, q.first, &mut |p, q| b.add(p, q)),
            last: both(p.last, q.last, &mut |p, q| b.add(p, q)),
        },
        BinOp::Sub => Range {
            first: both(p.first, q.last, &mut |p, q| b.sub(p, q)),
            last: both(p.last, q.first, &mut |p, q| b.sub(p, q)),
        },
        BinOp::Min | BinOp::Max => {
            let mut end = |p: Option<ExprId>, q: Option<ExprId>, one_is_enough: bool| match (p, q) {
                (Some(p), Some(q)) => Some(b.extremum(op, p, q)),
                (p, q) if one_is_enough => p.or(q),
                _ => None,
            };
            let (first, last) = (end(p.first, q.first, op == BinOp::Max), end(p.last, q.last, op == BinOp::Min));
            Range { first, last }
        }
        BinOp::Mul => product(b, p, q),
        BinOp::Div => match b.int_value(right) {
            Some(c) if c > 0 => p.map(|end| divided(b, end, c)),
            _ => Range::UNBOUNDED,
        },
        BinOp::Mod => remainder(b, right),
        _ => Range::UNBOUNDED,
    }
}

fn divided(b: &mut Builder, e: ExprId, by: i64) -> ExprId {
    match b.int_value(e) {
        Some(value) => b.int(value.div_euclid(by)),
        None => {
            let by = b.int(by);
            b.binary(BinOp::Div, e, by)
        }
    }
}

fn product(b: &mut Builder, p: Range, q: Range) -> Range {
    let constant = |b: &Builder, r: Range| r.ends().filter(|(p, q)| p == q).and_then(|(p, _)| b.int_value(p));
    let (other, factor) = match (constant(b, p), constant(b, q)) {
        (_, Some(c)) => (p, c),
        (Some(c), _) => (q, c),
        _ => {
            let (Some((p0, p1)), Some((q0, q1))) = (p.ends(), q.ends()) else { return Range::UNBOUNDED };
            let products = [(p0, q0), (p0, q1), (p1, q0), (p1, q1)].map(|(p, q)| b.binary(BinOp::Mul, p, q));
            let [first, last] = [BinOp::Min, BinOp::Max]
                .map(|op| products[1..].iter().fold(products[0], |all, &one| b.extremum(op, all, one)));
            return Range::new(first, last);
        }
    };
    let scaled = other.map(|end| b.scale(end, factor));
    if factor < 0 { scaled.turned() } else { scaled }
}

/// The range of Euclidean remainders by `divisor`.
fn remainder(b: &mut Builder, divisor: ExprId) -> Range {
    let zero = b.int(0);
    if let Some(c) = b.int_value(divisor) {
        let last = b.int((c.abs() - 1).max(0));
        return Range::new(zero, last);
    }
    if !is_closed(&b.data, divisor) {
        return Range::UNBOUNDED;
    }
    let size = match b.data.exprs[divisor].kind {
        Kind::ImageDim { field: DimField::Extent, .. } => divisor,
        _ => {
            let minus = b.scale(divisor, -1);
            b.extremum(BinOp::Max, divisor, minus)
        }
    };
    let last = b.offset(size, -1);
    let last = b.extremum(BinOp::Max, last, zero);
    Range::new(zero, last)
}

/// The smallest and largest value of data, where clamps and types tell.
fn data_ends(data: &PipelineData, root: ExprId) -> (Option<f64>, Option<f64>) {
    let mut known: BTreeMap<ExprId, (Option<f64>, Option<f64>)> = BTreeMap::new();
    for e in data.reachable(&[root]) {
        let node = &data.exprs[e];
        let of = |e: &ExprId| known[e];
        let by_type = || (node.ty.int_min().map(|v| v as f64), node.ty.int_max().map(|v| v as f64));
        // A NaN loses against a constant, so one side of a clamp holds whatever is clamped.
        let ends = match &node.kind {
            Kind::Const(c) if !c.is_nan() => (Some(c.as_f64()), Some(c.as_f64())),
            Kind::Binary(BinOp::Min, p, q) => {
                let ((p0, p1), (q0, q1)) = (of(p), of(q));
                (p0.zip(q0).map(|(p, q)| p.min(q)), p1.into_iter().chain(q1).reduce(f64::min))
            }
            Kind::Binary(BinOp::Max, p, q) => {
                let ((p0, p1), (q0, q1)) = (of(p), of(q));
                (p0.into_iter().chain(q0).reduce(f64::max), p1.zip(q1).map(|(p, q)| p.max(q)))
            }
            Kind::Likely(a) | Kind::LikelyIfInnermost(a) | Kind::Strict(a) => of(a),
            Kind::Unary(UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc, a) => {
                let (first, last) = of(a);
                (first.map(f64::floor), last.map(f64::ceil))
            }
            _ => by_type(),
        };
        let narrower = by_type();
        known.insert(e, (ends.0.or(narrower.0), ends.1.or(narrower.1)));
    }
    known[&root]
}
