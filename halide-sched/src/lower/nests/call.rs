//! Calls of closures in place of loops, and what they need. Part of `build_nests`.
//!
//! The definition of a Func whose values a closure computes is one `Call` over the region that its place needs. Of its
//! inputs, which are Funcs that nothing else reads, it needs the boxes that the stage says in terms of the ends of that
//! region. What has loops around it needs them for all regions that lie within the region there.

use crate::plan::Plan;
use halide_core::externs::{End, EndKind, EndOp, ExternCallee};
use halide_core::ids::{FuncId, IdVec};
use halide_core::ops::BinOp;
use halide_ir::{BufId, CallArg, Callee, CalleeId, Edge, Expr, Scope, Stmt, Sym, build, visit};
use halide_solve::bounds::{Interval, interval_of};
use halide_solve::simplify::Facts;
use std::collections::BTreeMap;

/// The first and the last coordinate of each dimension.
type Spans = Vec<(Expr, Expr)>;

/// The needs of a definition that a closure computes.
pub(crate) struct Needs {
    /// The closure.
    callee: CalleeId,
    /// Placeholders of the first and the last coordinate of the region, for each dimension.
    ends: Vec<(Sym, Sym)>,
    /// The boxes of the inputs.
    boxes: Vec<InputBox>,
    /// Reads of the points of these boxes.
    pub(crate) reads: Vec<Expr>,
}

/// The box of an input.
struct InputBox {
    func: FuncId,
    bufs: Vec<BufId>,
    /// Its ends in terms of those of the region.
    spans: Spans,
    /// A placeholder of the coordinate of its points, for each dimension.
    points: Vec<Sym>,
    /// For each dimension: true if a region that is less than another one, or has a last coordinate before its first
    /// one, has a box that reaches no further.
    is_ordered: Vec<bool>,
}

impl Needs {
    /// The needs of a Func, if a closure computes it.
    pub(crate) fn of(
        plan: &Plan,
        func: FuncId,
        buffers: &IdVec<FuncId, Vec<BufId>>,
        placeholder: &mut dyn FnMut() -> Sym,
    ) -> Option<Needs> {
        let pipeline = &plan.pipeline;
        let (callee, row) = (0..).zip(&pipeline.callees).find(|(_, row)| row.func == func)?;
        let ends: Vec<(Sym, Sym)> = pipeline.funcs[func].args.iter().map(|_| (placeholder(), placeholder())).collect();
        let (mut boxes, mut reads) = (Vec::new(), Vec::new());
        for (input, said) in row.inputs.iter().zip(&row.boxes) {
            let end = |end: &End| index(plan, row, &ends, end);
            let spans: Spans = said.iter().map(|(min, max)| (end(min), end(max))).collect();
            let points: Vec<Sym> = said.iter().map(|_| placeholder()).collect();
            let (bufs, types) = (buffers[*input].clone(), &pipeline.funcs[*input].types);
            for (buf, ty) in bufs.iter().zip(types) {
                reads.push(build::read(*buf, *ty, points.iter().map(|s| build::sym(*s)).collect()));
            }
            let is_ordered = said.iter().map(|(min, max)| follows(min, Edge::Min) && follows(max, Edge::Max)).collect();
            boxes.push(InputBox { func: *input, bufs, spans, points, is_ordered });
        }
        Some(Needs { callee: CalleeId(callee), ends, boxes, reads })
    }

    /// The ranges of the placeholders where the region is `region` if `is_own`, or else any part of that.
    pub(crate) fn ranges(&self, region: &[Interval], is_own: bool, facts: &Facts) -> BTreeMap<Sym, Interval> {
        let mut ranges: BTreeMap<Sym, Interval> = BTreeMap::new();
        for ((first, last), all) in self.ends.iter().zip(region) {
            let point = |end: &Option<Expr>| Interval { min: end.clone(), max: end.clone() };
            let (min, max) = if is_own { (point(&all.min), point(&all.max)) } else { (all.clone(), all.clone()) };
            ranges.insert(*first, min);
            ranges.insert(*last, max);
        }
        let mut points = BTreeMap::new();
        for (s, (min, max)) in self.boxes.iter().flat_map(|input| input.points.iter().zip(&input.spans)) {
            let of = |e: &Expr| interval_of(e, &|s| ranges.get(&s).cloned(), facts);
            points.insert(*s, Interval { min: of(min).min, max: of(max).max });
        }
        ranges.append(&mut points);
        ranges
    }

    /// The ends of the boxes.
    pub(crate) fn box_ends(&self) -> impl Iterator<Item = &Expr> {
        self.boxes.iter().flat_map(|input| &input.spans).flat_map(|(min, max)| [min, max])
    }

    /// Returns true if the box of an input may reach further in a dimension where the region is less.
    pub(crate) fn may_reach_further(&self, func: FuncId, dim: usize) -> bool {
        self.boxes.iter().any(|input| input.func == func && !input.is_ordered[dim])
    }

    /// The call that computes a Func with these buffers for what `at` needs of it.
    pub(crate) fn call(&self, func: FuncId, results: &[BufId], at: Scope) -> Stmt {
        let end = |dim: usize, edge| build::sym(Sym::Bound { func, stage: 0, dim: dim as u16, edge, at });
        let region: Spans = (0..self.ends.len()).map(|dim| (end(dim, Edge::Min), end(dim, Edge::Max))).collect();
        let own = self.ends.iter().zip(&region);
        let values = own.flat_map(|((first, last), (min, max))| [(*first, min.clone()), (*last, max.clone())]);
        let values: BTreeMap<Sym, Expr> = values.collect();
        let put = |e: &Expr| visit::substitute(e, &|s| values.get(&s).cloned());
        let mut args: Vec<CallArg> = results.iter().map(|buf| arg(*buf, &region)).collect();
        for InputBox { bufs, spans, .. } in &self.boxes {
            let spans: Spans = spans.iter().map(|(min, max)| (put(min), put(max))).collect();
            args.extend(bufs.iter().map(|buf| arg(*buf, &spans)));
        }
        Stmt::Call { callee: self.callee, args }
    }

    /// The names of the placeholders, where `args` are those of the Func's variables.
    pub(crate) fn names(&self, args: &[String]) -> BTreeMap<Sym, String> {
        let ends = self.ends.iter().zip(args);
        let ends = ends.flat_map(|((min, max), arg)| [(*min, format!("{arg}.min")), (*max, format!("{arg}.max"))]);
        let points = self.boxes.iter().flat_map(|input| input.points.iter().enumerate());
        ends.chain(points.map(|(dim, s)| (*s, format!("box.{dim}")))).collect()
    }
}

/// Returns true for an end of a region with something added, or for what does not depend on the region.
fn follows(end: &End, edge: Edge) -> bool {
    match end.kind() {
        EndKind::Min(_) => edge == Edge::Min,
        EndKind::Max(_) => edge == Edge::Max,
        EndKind::Param(_) | EndKind::Int(_) => true,
        EndKind::Binary(EndOp::Add | EndOp::Min | EndOp::Max, a, b) => follows(a, edge) && follows(b, edge),
        EndKind::Binary(EndOp::Sub, a, b) => follows(a, edge) && is_constant(b),
        EndKind::Binary(..) => is_constant(end),
        EndKind::TooDeep => false,
    }
}

/// Returns true for what does not depend on the region.
fn is_constant(end: &End) -> bool {
    match end.kind() {
        EndKind::Param(_) | EndKind::Int(_) => true,
        EndKind::Binary(_, a, b) => is_constant(a) && is_constant(b),
        EndKind::Min(_) | EndKind::Max(_) | EndKind::TooDeep => false,
    }
}

/// The box of a buffer between these ends.
fn arg(buf: BufId, spans: &[(Expr, Expr)]) -> CallArg {
    let bounds = spans.iter().map(|(min, max)| {
        let extent = build::offset(build::sub(max.clone(), min.clone()), 1);
        (min.clone(), extent)
    });
    CallArg { buf, bounds: bounds.collect(), memory: Vec::new() }
}

/// An end of a box in loop IR.
fn index(plan: &Plan, row: &ExternCallee, ends: &[(Sym, Sym)], end: &End) -> Expr {
    match end.kind() {
        EndKind::Min(dim) => build::sym(ends[*dim].0),
        EndKind::Max(dim) => build::sym(ends[*dim].1),
        EndKind::Param(param) => {
            let param = row.params[*param];
            build::to_index(build::param(param, plan.pipeline.params[param].ty))
        }
        EndKind::Int(value) => build::int(*value),
        EndKind::Binary(op, a, b) => build::binary(operator(*op), index(plan, row, ends, a), index(plan, row, ends, b)),
        EndKind::TooDeep => build::int(0),
    }
}

fn operator(op: EndOp) -> BinOp {
    match op {
        EndOp::Add => BinOp::Add,
        EndOp::Sub => BinOp::Sub,
        EndOp::Mul => BinOp::Mul,
        EndOp::Div => BinOp::Div,
        EndOp::Rem => BinOp::Mod,
        EndOp::Min => BinOp::Min,
        EndOp::Max => BinOp::Max,
    }
}

/// The rows of the extern stages that a plan calls in loops.
pub(crate) fn callees(plan: &Plan, buffers: &IdVec<FuncId, Vec<BufId>>) -> Vec<Callee> {
    let row = |row: &ExternCallee| {
        let read = row.inputs.iter().flat_map(|func| &buffers[*func]).copied();
        let name = row.stage.name.clone();
        Callee { params: row.params.clone(), ..row_of(name, buffers[row.func].clone(), read) }
    };
    plan.pipeline.callees.iter().map(row).collect()
}

/// The row of a closure that writes some buffers, whatever they hold, and reads others.
pub(crate) fn row_of(name: String, written: Vec<BufId>, read: impl Iterator<Item = BufId>) -> Callee {
    let results = written.len();
    Callee { name, buffers: written.into_iter().chain(read).collect(), results, updates: false, params: Vec::new() }
}
