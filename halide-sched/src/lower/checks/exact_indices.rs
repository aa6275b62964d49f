//! Index arithmetic that may leave 64 bits. Part of `infer_bounds` and `check_coordinates`.
//!
//! Index arithmetic is exact as long as no sum and no product leaves 64 bits. Coordinates are in i32 and elements in
//! their types, so that holds of most; of what may be beyond, the operands are asserted, before a run, to be so small
//! that it is not. A check of an operand is one of sums and products that were checked before.

use crate::lower::checks::check_arguments::assert;
use crate::lower::nests::ctx::{Ctx, Source};
use crate::lower::regions::infer_bounds::Finder;
use crate::lower::regions::value_bounds::ValueBounds;
use crate::tuning::LARGEST_INDEX;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_ir::{Elem, Expr, ExprKind, Fault, Scope, Stmt, Sym, build};
use halide_solve::bounds::{Interval, interval_with_values};
use halide_solve::simplify::walk::nodes;
use halide_solve::simplify::{Facts, Range};
use std::collections::{BTreeMap, HashMap};

/// An operand that must be small.
struct Small {
    operand: Expr,
    /// Its factor, if that is no constant.
    factor: Option<Expr>,
    /// The most that the absolute value, of the product if there is a factor, may be.
    limit: i64,
}

/// The smallest limits of operands that were found, by the nodes of the operand and of its factor.
type Seen = HashMap<(usize, Option<usize>), i64>;

/// The first and the last value that something takes in a run.
type Reach = (Expr, Expr);

/// An operand of index arithmetic in a definition, over the whole run.
pub(crate) struct SmallOperand {
    /// The Func or image of whose coordinate it is a part.
    pub(crate) name: String,
    /// The dimension of the coordinate.
    pub(crate) dim: usize,
    /// Its values.
    pub(crate) reach: Reach,
    /// The values of its factor, if that is no constant.
    pub(crate) factor: Option<Reach>,
    /// The most that the absolute value, of the product if there is a factor, may be.
    pub(crate) limit: i64,
}

/// Asserts that the sums and products in `e`, which is made of bounds over the whole run, stay inside of 64 bits.
pub(crate) fn check_exact(
    ctx: &mut Ctx<'_>,
    facts: &Facts,
    list: &mut Vec<Stmt>,
    e: &Expr,
    (name, dim): (&str, usize),
) {
    for Small { operand, factor, limit } in must_be_small(e, facts, &ValueBounds::default(), &mut Seen::new()) {
        let factor = factor.map(|e| (e.clone(), e));
        assert_small(ctx, facts, list, (&(operand.clone(), operand), factor.as_ref(), limit), (name, dim));
    }
}

/// Asserts what [`Finder::exact_indices`] found.
pub(crate) fn check_operands(ctx: &mut Ctx<'_>, facts: &Facts, list: &mut Vec<Stmt>, operands: &[SmallOperand]) {
    for SmallOperand { name, dim, reach, factor, limit } in operands {
        for end in [reach].into_iter().chain(factor).flat_map(|(min, max)| [min, max]) {
            check_exact(ctx, facts, list, end, (name, *dim));
        }
        assert_small(ctx, facts, list, (reach, factor.as_ref(), *limit), (name, *dim));
    }
}

/// Asserts that an operand is small; where it has a factor, by a quotient, which never leaves 64 bits.
fn assert_small(
    ctx: &mut Ctx<'_>,
    facts: &Facts,
    list: &mut Vec<Stmt>,
    ((min, max), factor, limit): (&Reach, Option<&Reach>, i64),
    (name, dim): (&str, usize),
) {
    let limit = match factor {
        Some((first, last)) => {
            let size = build::max(build::sub(build::int(0), first.clone()), last.clone());
            build::div(build::int(limit), build::max(size, build::int(1)))
        }
        None => build::int(limit),
    };
    let above = build::ge(min.clone(), build::sub(build::int(0), limit.clone()));
    let cond = build::and(above, build::le(max.clone(), limit));
    let fault = Fault::IndexOverflow { name: name.to_string(), dim };
    assert(ctx, facts, list, cond, fault, vec![min.clone(), max.clone()]);
}

impl Finder<'_> {
    /// The operands that must be small in the coordinates and conditions of every definition.
    pub(crate) fn exact_indices(&mut self) {
        let ctx = self.ctx;
        for (&(func, stage), template) in ctx.templates.iter().filter(|((func, _), _)| ctx.used.contains(func)) {
            let mut seen = Seen::new();
            let mut found: Vec<(String, usize, Small)> = Vec::new();
            let mut look = |e: &Expr, name: String, dim: usize| {
                let small = must_be_small(e, self.facts, self.values, &mut seen);
                found.extend(small.into_iter().map(|s| (name.clone(), dim, s)));
            };
            for read in &template.reads {
                read.args.iter().enumerate().for_each(|(dim, e)| look(e, source_name(ctx, read.source), dim));
            }
            for end in template.needs.iter().flat_map(|needs| needs.box_ends()) {
                look(end, ctx.name(func).to_string(), 0);
            }
            for (callee, args) in &template.calls {
                args.iter().enumerate().for_each(|(dim, e)| look(e, ctx.name(*callee).to_string(), dim));
            }
            let own = || ctx.name(func).to_string();
            for site in &template.sites {
                site.lhs.iter().enumerate().for_each(|(dim, e)| look(e, own(), dim));
                site.values.iter().for_each(|e| look(e, own(), 0));
            }
            template.predicate.iter().for_each(|e| look(e, own(), 0));
            if !found.is_empty() {
                let ranges = self.own_ranges(func, stage, Scope::Root);
                let found = found.into_iter().map(|(name, dim, small)| self.over_the_run(name, dim, small, &ranges));
                let found: Vec<SmallOperand> = found.collect();
                self.found.operands.extend(found);
            }
        }
    }

    fn over_the_run(&self, name: String, dim: usize, small: Small, ranges: &BTreeMap<Sym, Interval>) -> SmallOperand {
        let env = |s: Sym| ranges.get(&s).cloned();
        let reach = |e: &Expr| {
            let found = interval_with_values(e, &env, &|read| self.values.of(read), self.facts);
            // Where nothing is known of it, it is refused.
            let beyond = build::int(i64::MAX);
            (found.min.unwrap_or(build::sub(build::int(0), beyond.clone())), found.max.unwrap_or(beyond))
        };
        let (operand, factor) = (reach(&small.operand), small.factor.as_ref().map(reach));
        SmallOperand { name, dim, reach: operand, factor, limit: small.limit }
    }
}

fn source_name(ctx: &Ctx<'_>, source: Source) -> String {
    match source {
        Source::Func(func) => ctx.name(func).to_string(),
        Source::Image(image) => ctx.program.buffers[ctx.program.image_buffers[image]].name.clone(),
    }
}

/// The operands in and below `e`, innermost first, that must be small so that sums and products of them are exact.
fn must_be_small(e: &Expr, facts: &Facts, values: &ValueBounds, seen: &mut Seen) -> Vec<Small> {
    let mut search = Search { facts, values, ranges: BTreeMap::new(), found: Vec::new() };
    for node in nodes(e, |_| false) {
        let range = search.node(&node);
        search.ranges.insert(node.id(), range);
    }
    // A sum limits an operand less than a product by a constant does.
    search.found.retain(|small| {
        let smallest = seen.entry((small.operand.id(), small.factor.as_ref().map(Expr::id))).or_insert(i64::MAX);
        let is_new = small.limit < *smallest;
        *smallest = small.limit.min(*smallest);
        is_new
    });
    search.found
}

struct Search<'f> {
    facts: &'f Facts,
    values: &'f ValueBounds,
    /// The ranges of the nodes that were visited, once what is found is asserted.
    ranges: BTreeMap<usize, Range>,
    found: Vec<Small>,
}

impl Search<'_> {
    /// Returns the range of a node whose operands were visited.
    fn node(&mut self, e: &Expr) -> Range {
        let all = Range::of_type(ScalarType::I64);
        if e.ty().elem != Elem::Index {
            return all;
        }
        let range = match e.kind() {
            ExprKind::Int(value) => Range::point((*value).into()),
            ExprKind::Sym(Sym::Buffer { field: halide_ir::DimField::Stride, .. }) => all,
            ExprKind::Sym(Sym::Buffer { field: halide_ir::DimField::Extent, .. }) => Range::new(Some(0), Some(1 << 32)),
            ExprKind::Sym(_) => Range::of_type(ScalarType::I32),
            ExprKind::Cast(a) => self.element(e, a),
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => return self.exact(e, *op, a, b),
            ExprKind::Unary(UnOp::Neg, a) => return self.exact(e, BinOp::Sub, &build::int(0), a),
            ExprKind::Binary(BinOp::Div, a, b) => self.of(a).quotient(self.of(b)),
            ExprKind::Binary(BinOp::Mod, a, b) => self.of(a).remainder(self.of(b)),
            ExprKind::Binary(BinOp::Min, a, b) => self.of(a).lower_of(self.of(b)),
            ExprKind::Binary(BinOp::Max, a, b) => self.of(a).upper_of(self.of(b)),
            ExprKind::Select(_, a, b) => self.of(a).union(self.of(b)),
            ExprKind::Likely(a) | ExprKind::Broadcast(a) => self.of(a),
            _ => all,
        };
        all.intersect(range).intersect(self.facts.range_of(e))
    }

    fn of(&self, e: &Expr) -> Range {
        match e.kind() {
            ExprKind::Int(value) => Range::point((*value).into()),
            _ => self.ranges.get(&e.id()).copied().unwrap_or(Range::of_type(ScalarType::I64)),
        }
    }

    /// Returns the range of data as a coordinate: that of its type, or of the elements in it as far as they are known.
    fn element(&self, e: &Expr, data: &Expr) -> Range {
        let known = self.facts.range_of(data);
        if self.values.known.is_empty() {
            return known;
        }
        let coordinate = Interval::of_range(Range::of_type(ScalarType::I32));
        let found = interval_with_values(e, &|_| Some(coordinate.clone()), &|read| self.values.of(read), self.facts);
        known.intersect(found.constant_range(self.facts))
    }

    /// Returns the range of a sum or a product; notes its operands where it may leave 64 bits.
    fn exact(&mut self, e: &Expr, op: BinOp, a: &Expr, b: &Expr) -> Range {
        let (x, y) = (self.of(a), self.of(b));
        let range = match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            _ => x * y,
        };
        let range = range.intersect(self.facts.range_of(e));
        if range.within(Range::of_type(ScalarType::I64)) {
            return range;
        }
        match (op, build::as_int(a), build::as_int(b)) {
            (BinOp::Mul, Some(c), _) => self.limit(b, LARGEST_INDEX / c.saturating_abs().max(1)),
            (BinOp::Mul, _, Some(c)) => self.limit(a, LARGEST_INDEX / c.saturating_abs().max(1)),
            (BinOp::Mul, None, None) => {
                self.found.push(Small { operand: a.clone(), factor: Some(b.clone()), limit: LARGEST_INDEX });
            }
            _ => {
                self.limit(a, LARGEST_INDEX);
                self.limit(b, LARGEST_INDEX);
            }
        }
        let most = 2 * i128::from(LARGEST_INDEX);
        Range::new(Some(-most), Some(most))
    }

    fn limit(&mut self, operand: &Expr, limit: i64) {
        let small = Range::new(Some((-limit).into()), Some(limit.into()));
        let range = self.of(operand);
        if !range.within(small) {
            self.found.push(Small { operand: operand.clone(), factor: None, limit });
            self.ranges.insert(operand.id(), range.intersect(small));
        }
    }
}
