//! Checks that coordinates are i32, before anything is written. Part of `check_arguments`.
//!
//! Regions are found in exact 64-bit arithmetic, but a coordinate is an i32 value. So the region of each Func over the
//! whole run is asserted to be inside i32, and so are the coordinates at which inlined Funcs are called and the ranges
//! of reduction domains; and what regions and coordinates add and multiply is asserted to be small enough for 64 bits
//! (`exact_indices`). An edge is not checked where another check implies it: a producer that reaches as far or further,
//! or an input, which is inside its buffer.
//!
//! Example of `f(x) = x`, `g(x) = f(x - 1) + f(x + 1)`:
//! ```text
//! f: compute_root()
//! ```
//! becomes
//! ```text
//! fault fault0 = stride b0 dim 0
//! fault fault1 = index_overflow "f" dim 0
//! assert g#b0.stride0 == 1 || g#b0.extent0 <= 1 else fault0(1, g#b0.stride0)
//! assert f#f0.s0.d0.min@root >= -2147483648 && f#f0.s0.d0.max@root <= 2147483647 else fault1(f#f0.s0.d0.min@root, f#f0.s0.d0.max@root)
//! ```

use crate::lower::checks::check_arguments::assert;
use crate::lower::checks::exact_indices::{check_exact, check_operands};
use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::vars::bound;
use crate::lower::regions::region_table::{InlinedCall, Reached, Regions, bound_sym};
use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_ir::{BufferRole, DimField, Edge, Expr, ExprKind, Fault, Scope, Stmt, Sym, build};
use halide_solve::simplify::{Facts, Linear};
use std::collections::BTreeMap;

/// Adds the assertions, consumers first, so that what each one computes with was checked before; gives those that have
/// to stand before a definition.
pub(crate) fn check_coordinates(
    ctx: &mut Ctx<'_>,
    regions: &Regions,
    facts: &Facts,
    list: &mut Vec<Stmt>,
) -> BTreeMap<Sym, Vec<Stmt>> {
    let mut before: BTreeMap<Sym, Vec<Stmt>> = BTreeMap::new();
    check_domains(ctx, facts, list);
    check_operands(ctx, facts, list, &regions.operands);
    let known = Reach::of(ctx, regions);
    let calls = calls_beyond(regions);
    for (sym, value) in regions.defs.get(&Scope::Root).into_iter().flatten() {
        let &Sym::Bound { func, stage, dim, edge, .. } = sym else { continue };
        let dim = dim as usize;
        let name = ctx.name(func).to_string();
        let mut first = Vec::new();
        check_exact(ctx, facts, &mut first, value, (&name, dim));
        if !first.is_empty() {
            before.insert(*sym, first);
        }
        let edges = |edge| bound(func, stage as usize, dim, edge, Scope::Root);
        // The other edge is defined right before.
        if edge == Edge::Min {
            continue;
        }
        // Later definitions compute no more than the first.
        if stage == 0 && !ctx.is_output(func) {
            let low = known.needs(bound_sym(func, 0, dim, Edge::Min, Scope::Root));
            let high = known.needs(bound_sym(func, 0, dim, Edge::Max, Scope::Root));
            check(ctx, facts, list, (&edges(Edge::Min), low), (&edges(Edge::Max), high), &name, dim);
        }
        check_calls(ctx, facts, list, &known, &calls, (func, stage as usize, dim));
    }
    for call in &regions.inlined {
        if let Reached::Between(min, max) = &call.reach {
            let name = ctx.name(call.callee).to_string();
            check_exact(ctx, facts, list, min, (&name, call.dim));
            check_exact(ctx, facts, list, max, (&name, call.dim));
            check(ctx, facts, list, (min, true), (max, true), &name, call.dim);
        }
    }
    for (&image, region) in &regions.images {
        let name = ctx.program.buffers[ctx.program.image_buffers[image]].name.clone();
        for (dim, (min, max)) in region.iter().enumerate() {
            check_exact(ctx, facts, list, min, (&name, dim));
            check_exact(ctx, facts, list, max, (&name, dim));
        }
    }
    before
}

/// Asserts the edges that are asked for.
fn check(
    ctx: &mut Ctx<'_>,
    facts: &Facts,
    list: &mut Vec<Stmt>,
    (min, low): (&Expr, bool),
    (max, high): (&Expr, bool),
    name: &str,
    dim: usize,
) {
    let floor = build::ge(min.clone(), build::int(i32::MIN.into()));
    let ceiling = build::le(max.clone(), build::int(i32::MAX.into()));
    let cond = match (low, high) {
        (true, true) => build::and(floor, ceiling),
        (true, false) => floor,
        (false, true) => ceiling,
        (false, false) => return,
    };
    let fault = Fault::IndexOverflow { name: name.to_string(), dim };
    assert(ctx, facts, list, cond, fault, vec![min.clone(), max.clone()]);
}

/// The relations between edges by which the check of one edge covers others.
#[derive(Default)]
struct Reach {
    /// Edges that are another edge plus a constant: the other edge, and the constant.
    origin: BTreeMap<Sym, (Sym, i64)>,
    /// For an edge that is no other one moved, the furthest offset from it that is checked with something else.
    implied: BTreeMap<Sym, i64>,
    /// The same of itself and the edges that are this one moved, and whose that is: it is checked on behalf of all.
    furthest: BTreeMap<Sym, (i64, Sym)>,
}

impl Reach {
    fn of(ctx: &Ctx<'_>, regions: &Regions) -> Reach {
        let mut reach = Reach::default();
        for (sym, value) in regions.defs.get(&Scope::Root).into_iter().flatten() {
            let &Sym::Bound { func, stage, edge, .. } = sym else { continue };
            let moved = reach.moved(&Linear::of(value), edge);
            reach.origin.extend(moved.map(|m| (*sym, m)));
            if stage == 0 && !ctx.is_output(func) {
                let (origin, by) = reach.origin(*sym);
                let most = reach.furthest.entry(origin).or_insert((by, *sym));
                if is_further(edge, by, most.0) {
                    *most = (by, *sym);
                }
                if moved.is_none() {
                    reach.learn(value, edge);
                }
            }
        }
        // Inputs cover what is read of them, and their coordinates are i32.
        for (min, max) in regions.images.values().flatten() {
            reach.learn(min, Edge::Min);
            reach.learn(max, Edge::Max);
        }
        reach
    }

    /// The edge and the offset from it that a sum is, if it is that; seen through to where it comes from.
    fn moved(&self, sum: &Linear, edge: Edge) -> Option<(Sym, i64)> {
        let [(atom, 1)] = &sum.terms[..] else { return None };
        let ExprKind::Sym(s @ Sym::Bound { edge: of, .. }) = atom.kind() else { return None };
        let (origin, by) = self.origin(*s);
        if *of == edge { Some((origin, by.checked_add(sum.constant)?)) } else { None }
    }

    fn origin(&self, edge: Sym) -> (Sym, i64) {
        self.origin.get(&edge).copied().unwrap_or((edge, 0))
    }

    /// `value` is checked, so each edge that it is an extreme of is an i32 value, with what lies between.
    fn learn(&mut self, value: &Expr, edge: Edge) {
        let outer = if edge == Edge::Min { BinOp::Min } else { BinOp::Max };
        let mut todo = vec![value.clone()];
        while let Some(e) = todo.pop() {
            match e.kind() {
                ExprKind::Binary(op, a, b) if *op == outer => todo.extend([a.clone(), b.clone()]),
                _ => {
                    if let Some((of, by)) = self.moved(&Linear::of(&e), edge) {
                        let most = self.implied.entry(of).or_insert(by);
                        if is_further(edge, by, *most) {
                            *most = by;
                        }
                    }
                }
            }
        }
    }

    /// Returns true if this edge of a Func needs a check of its own.
    fn needs(&self, edge: Sym) -> bool {
        let (of, by) = self.origin(edge);
        !self.is_implied(of, by, edge) && self.furthest.get(&of).is_none_or(|(_, whose)| *whose == edge)
    }

    /// Returns true if the coordinate `offset` beyond an edge needs a check of its own.
    fn needs_beyond(&self, edge: Sym, offset: i64) -> bool {
        let (of, by) = self.origin(edge);
        let here = by.saturating_add(offset);
        let reached = |most: i64| !is_further(edge_of(edge), here, most);
        !self.is_implied(of, here, edge) && !self.furthest.get(&of).is_some_and(|(most, _)| reached(*most))
    }

    fn is_implied(&self, origin: Sym, here: i64, edge: Sym) -> bool {
        self.implied.get(&origin).is_some_and(|&most| !is_further(edge_of(edge), here, most))
    }
}

fn edge_of(s: Sym) -> Edge {
    if let Sym::Bound { edge, .. } = s { edge } else { Edge::Max }
}

/// Returns true if `a` is further out than `b`.
fn is_further(edge: Edge, a: i64, b: i64) -> bool {
    if edge == Edge::Min { a < b } else { a > b }
}

/// For each dimension of each definition, the calls of inlined Funcs furthest below and above its own coordinates.
type Calls<'r> = BTreeMap<(FuncId, usize, usize), [Option<(i64, &'r InlinedCall)>; 2]>;

fn calls_beyond(regions: &Regions) -> Calls<'_> {
    let mut all: Calls<'_> = BTreeMap::new();
    for call in &regions.inlined {
        let Reached::Shifted { of, by } = call.reach else { continue };
        let side = match by {
            0 => continue,
            _ => (by > 0) as usize,
        };
        let slot = &mut all.entry((call.consumer, call.stage, of)).or_default()[side];
        if slot.is_none_or(|(most, _)| by.abs() > most.abs()) {
            *slot = Some((by, call));
        }
    }
    all
}

fn check_calls(
    ctx: &mut Ctx<'_>,
    facts: &Facts,
    list: &mut Vec<Stmt>,
    known: &Reach,
    calls: &Calls<'_>,
    at: (FuncId, usize, usize),
) {
    let (func, stage, dim) = at;
    for (by, call) in calls.get(&at).into_iter().flatten().flatten() {
        let edge = if *by < 0 { Edge::Min } else { Edge::Max };
        if !known.needs_beyond(bound_sym(func, stage, dim, edge, Scope::Root), *by) {
            continue;
        }
        let end = |edge| build::offset(bound(func, stage, dim, edge, Scope::Root), *by);
        let name = ctx.name(call.callee).to_string();
        let (min, max) = (end(Edge::Min), end(Edge::Max));
        check(ctx, facts, list, (&min, edge == Edge::Min), (&max, edge == Edge::Max), &name, call.dim);
    }
}

/// The points of every reduction domain are i32 values.
fn check_domains(ctx: &mut Ctx<'_>, facts: &Facts, list: &mut Vec<Stmt>) {
    let mut ranges: Vec<(String, usize, Expr, Expr)> = Vec::new();
    for (&(func, stage), template) in &ctx.templates {
        let def = &ctx.plan.pipeline.funcs[func].stages[stage];
        let Some(rdom) = def.rdom.map(|r| &ctx.plan.pipeline.rdoms[r]) else { continue };
        for (dim, (_, min, extent)) in template.rvars.iter().enumerate() {
            let seen = ranges.iter().any(|(_, _, a, b)| (a, b) == (min, extent));
            if !seen && !is_of_buffer(ctx, min, extent) {
                ranges.push((rdom.name.clone(), dim, min.clone(), extent.clone()));
            }
        }
    }
    for (name, dim, min, extent) in ranges {
        check_exact(ctx, facts, list, &min, (&name, dim));
        check_exact(ctx, facts, list, &extent, (&name, dim));
        let last = build::offset(build::add(min.clone(), extent.clone()), -1);
        let floor = build::ge(min.clone(), build::int(i32::MIN.into()));
        let ceiling = build::le(last.clone(), build::int(i32::MAX.into()));
        let empty = build::le(extent, build::int(0));
        let cond = build::or(empty, build::and(floor, ceiling));
        assert(ctx, facts, list, cond, Fault::IndexOverflow { name, dim }, vec![min, last]);
    }
}

/// Returns true if a range is that of a dimension of one of the caller's buffers.
fn is_of_buffer(ctx: &Ctx<'_>, min: &Expr, extent: &Expr) -> bool {
    let ExprKind::Sym(Sym::Buffer { buf, dim, field: DimField::Min }) = min.kind() else { return false };
    ctx.program.buffers[*buf].role != BufferRole::Internal
        && *extent == build::sym(Sym::Buffer { buf: *buf, dim: *dim, field: DimField::Extent })
}
