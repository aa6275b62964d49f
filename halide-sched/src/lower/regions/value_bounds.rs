//! Value bounds: the ranges of the integers that Funcs hold, as far as these become coordinates.
//!
//! Before: `table(index(x))` asks for `table` as far as the type of `index` reaches. After: each buffer whose elements
//! become coordinates has an interval, found from the definitions of its Func: constants, or sizes of images and
//! parameters. An update that reads its own Func is followed until nothing changes, or given up.
//!
//! Storage that outlives what fills it (a Func stored further out than it is computed) may hold elements that were
//! never computed, and so may what is computed from them. Code that computes more than it needs reads such garbage and
//! throws the result away, but not before it was an address. There the coordinate is clamped to the interval. So are
//! those that are elements of images which another plan computed ([`held_values`](super::held_values)).
//!
//! Example of `index(x) = min(in(x) / 2, 100)`, `g(x) = table(index(x))`:
//! ```text
//! index: compute_root()
//! table: compute_root()
//! ```
//! becomes
//! ```text
//! index holds 0 to 100
//! table#b2(int(i32(index#b3(t2))))
//! ```
//! and
//! ```text
//! index: store_root() compute_at(g, x)
//! table: compute_root()
//! ```
//! becomes
//! ```text
//! table#b2(int(i32(max(min(index#b3(t2), 100u8), 0u8))))
//! ```

use crate::lower::nests::ctx::{Ctx, Source, Template, sources_of};
use crate::lower::nests::vars::interval;
use crate::plan::Level;
use crate::tuning::{MOST_VALUE_NODES, VALUE_ROUNDS};
use halide_core::ids::{FuncId, IdVec};
use halide_core::types::ScalarType;
use halide_ir::visit::{Memo, any_node, for_each_node, map_children};
use halide_ir::{BufId, BufferRole, Elem, Expr, ExprKind, Sym, build};
use halide_solve::bounds::{Interval, interval_of, interval_with_values};
use halide_solve::simplify::{Facts, Range};
use std::collections::{BTreeMap, BTreeSet};

/// An interval for each buffer whose elements are known to be in less than what their type holds.
#[derive(Default)]
pub(crate) struct ValueBounds {
    pub(crate) known: BTreeMap<BufId, Interval>,
}

impl ValueBounds {
    /// The interval of a `Read`, for [`interval_with_values`].
    pub(crate) fn of(&self, read: &Expr) -> Option<Interval> {
        match read.kind() {
            ExprKind::Read { buf, .. } => self.known.get(buf).cloned(),
            _ => None,
        }
    }
}

/// Finds the intervals, and clamps coordinates that garbage could reach.
pub(crate) fn value_bounds(ctx: &mut Ctx<'_>, facts: &Facts) -> ValueBounds {
    let sources = sources_of(&ctx.program);
    let wanted = and_what_they_read(ctx, become_coordinates(ctx, &sources));
    let mut found = find_all(ctx, &wanted, facts);
    let mut garbage: BTreeSet<Source> = ctx.plan.held.keys().map(|&image| Source::Image(image)).collect();
    for &func in &ctx.plan.pipeline.order {
        if ctx.plan.funcs[func].compute != Level::Inline && may_hold_garbage(ctx, func, &garbage) {
            garbage.insert(Source::Func(func));
        }
    }
    garbage.retain(|source| !matches!(source, Source::Func(func) if !wanted.contains(func)));
    clamp_garbage(ctx, &sources, &garbage, facts, &mut found);
    found
}

/// The interval of each element of the outputs, where their values are known to be in less than what their type holds.
pub(super) fn of_outputs(ctx: &Ctx<'_>, facts: &Facts) -> ValueBounds {
    find_all(ctx, &and_what_they_read(ctx, ctx.plan.pipeline.outputs.clone()), facts)
}

/// Finds the intervals of the elements of Funcs, and of images that another plan computed.
fn find_all(ctx: &Ctx<'_>, wanted: &BTreeSet<FuncId>, facts: &Facts) -> ValueBounds {
    let held = ctx.plan.held.iter().map(|(&image, interval)| (ctx.program.image_buffers[image], interval.clone()));
    let mut found = ValueBounds { known: held.collect() };
    for &func in &ctx.plan.pipeline.order {
        if ctx.plan.funcs[func].compute != Level::Inline && wanted.contains(&func) {
            find(ctx, func, facts, &mut found);
        }
    }
    found
}

/// The Funcs whose elements coordinates are computed from directly.
fn become_coordinates(ctx: &Ctx<'_>, sources: &IdVec<BufId, Source>) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = Vec::new();
    for template in ctx.templates.values() {
        let stored = template.sites.iter().flat_map(|s| &s.lhs);
        for coordinate in template.reads.iter().flat_map(|r| &r.args).chain(stored) {
            funcs_read(coordinate, sources, &mut found);
        }
    }
    found
}

/// Funcs with all that their definitions read, over any number of others.
fn and_what_they_read(ctx: &Ctx<'_>, mut todo: Vec<FuncId>) -> BTreeSet<FuncId> {
    let mut wanted = BTreeSet::new();
    while let Some(func) = todo.pop() {
        if !wanted.insert(func) {
            continue;
        }
        for template in templates(ctx, func) {
            todo.extend(template.reads.iter().filter_map(|r| match r.source {
                Source::Func(f) => Some(f),
                Source::Image(_) => None,
            }));
        }
    }
    wanted
}

fn funcs_read(e: &Expr, sources: &IdVec<BufId, Source>, out: &mut Vec<FuncId>) {
    for_each_node(e, &mut |n| {
        if let ExprKind::Read { buf, .. } = n.kind()
            && let Source::Func(func) = sources[*buf]
        {
            out.push(func);
        }
    });
}

fn templates<'c>(ctx: &'c Ctx<'_>, func: FuncId) -> impl Iterator<Item = &'c Template> {
    ctx.templates.range((func, 0)..=(func, usize::MAX)).map(|(_, t)| t)
}

/// Finds the intervals of one Func's elements; those of what it reads are known.
fn find(ctx: &Ctx<'_>, func: FuncId, facts: &Facts, found: &mut ValueBounds) {
    let bufs = ctx.program.func_buffers[func].clone();
    let first: Vec<Option<Interval>> = stage_values(&ctx.templates[&(func, 0)], ctx, facts, found);
    let mut current = first;
    for _ in 0..VALUE_ROUNDS {
        for (&buf, interval) in bufs.iter().zip(&current) {
            match interval {
                Some(interval) => found.known.insert(buf, interval.clone()),
                None => found.known.remove(&buf),
            };
        }
        let mut next = current.clone();
        for template in templates(ctx, func).skip(1) {
            for (all, more) in next.iter_mut().zip(stage_values(template, ctx, facts, found)) {
                let both = all.take().zip(more);
                *all = both.map(|(a, b)| a.union(&b, facts));
            }
        }
        let next = next.into_iter().zip(&bufs).map(|(i, &buf)| presentable(ctx, buf, i?, facts)).collect();
        if next == current {
            return;
        }
        current = next;
    }
    // Something grows with every round: only the type bounds these. What did not change may depend on what did.
    bufs.iter().for_each(|buf| drop(found.known.remove(buf)));
}

/// The interval of each value of a definition, wherever it is computed.
fn stage_values(t: &Template, ctx: &Ctx<'_>, facts: &Facts, found: &ValueBounds) -> Vec<Option<Interval>> {
    let mut ranges: BTreeMap<Sym, Interval> = t.dims.iter().map(|&s| (s, Interval::everything())).collect();
    for (s, min, extent) in &t.rvars {
        let last = build::offset(build::add(min.clone(), extent.clone()), -1);
        ranges.insert(*s, interval((min.clone(), last)));
    }
    let env = |s: Sym| ranges.get(&s).cloned();
    let value = |e: &Expr| {
        let Elem::Data(ty) = e.ty().elem else { return None };
        let known = ty.is_int().then(|| interval_with_values(e, &env, &|read| found.of(read), facts))?;
        presentable_as(ctx, ty, known, facts)
    };
    let all_sites = |element: usize| {
        let mut sites = t.sites.iter().map(|s| value(&s.values[element]));
        let first = sites.next().flatten();
        sites.fold(first, |all, one| all.zip(one).map(|(all, one)| all.union(&one, facts)))
    };
    (0..t.sites[0].values.len()).map(all_sites).collect()
}

fn presentable(ctx: &Ctx<'_>, buf: BufId, interval: Interval, facts: &Facts) -> Option<Interval> {
    presentable_as(ctx, ctx.program.buffers[buf].elem, interval, facts)
}

/// The interval with ends that mean the same everywhere; `None` if it says no more than the type.
fn presentable_as(ctx: &Ctx<'_>, ty: ScalarType, interval: Interval, facts: &Facts) -> Option<Interval> {
    kept_ends(ty, interval, facts, |e| means_the_same_everywhere(ctx, &e).then_some(e))
}

/// The interval with those ends that `keep` keeps, and constants in place of others; `None` if it says no more than the
/// type.
pub(super) fn kept_ends(
    ty: ScalarType,
    interval: Interval,
    facts: &Facts,
    mut keep: impl FnMut(Expr) -> Option<Expr>,
) -> Option<Interval> {
    let of_type = Range::of_type(ty);
    let known = interval.constant_range(facts).intersect(of_type);
    let constants = Interval::of_range(known);
    let mut end = |end: Option<Expr>, constant: Option<Expr>| end.and_then(&mut keep).or(constant);
    let result = Interval { min: end(interval.min, constants.min), max: end(interval.max, constants.max) };
    (result != Interval::of_range(of_type)).then_some(result)
}

/// Returns true if an end is small, and made of constants, parameters and the shapes of the caller's buffers.
fn means_the_same_everywhere(ctx: &Ctx<'_>, e: &Expr) -> bool {
    let mut nodes = 0;
    let strange = any_node(e, |n| {
        nodes += 1;
        match n.kind() {
            ExprKind::Sym(Sym::Buffer { buf, .. }) => ctx.program.buffers[*buf].role == BufferRole::Internal,
            ExprKind::Sym(_) => true,
            ExprKind::Read { .. } | ExprKind::Load { .. } => true,
            _ => false,
        }
    });
    !strange && nodes <= MOST_VALUE_NODES
}

/// Returns true if storage of `func` can hold elements that were never computed: it outlives what fills it, or is
/// filled from such storage.
fn may_hold_garbage(ctx: &Ctx<'_>, func: FuncId, garbage: &BTreeSet<Source>) -> bool {
    let plan = &ctx.plan.funcs[func];
    let reads = |t: &Template| t.reads.iter().any(|r| garbage.contains(&r.source));
    plan.store != plan.compute || templates(ctx, func).any(reads)
}

/// The least and the greatest element of buffers that may hold garbage, as data.
type Limits = BTreeMap<BufId, (Expr, Expr)>;

/// Clamps the elements of `garbage` where coordinates are computed from them, if their intervals matter there.
fn clamp_garbage(
    ctx: &mut Ctx<'_>,
    sources: &IdVec<BufId, Source>,
    garbage: &BTreeSet<Source>,
    facts: &Facts,
    found: &mut ValueBounds,
) {
    let mut limits = Limits::new();
    for source in garbage {
        let bufs = match source {
            Source::Func(func) => &ctx.program.func_buffers[*func][..],
            Source::Image(image) => std::slice::from_ref(&ctx.program.image_buffers[*image]),
        };
        for &buf in bufs {
            let Some(interval) = found.known.remove(&buf) else { continue };
            let ty = ctx.program.buffers[buf].elem;
            if let Interval { min: Some(low), max: Some(high) } = interval {
                limits.insert(buf, (build::cast_data(ty, low), build::cast_data(ty, high)));
            }
        }
    }
    if limits.is_empty() {
        return;
    }
    for template in ctx.templates.values_mut() {
        let mut memo = Memo::new();
        let mut clamped = Memo::new();
        for root in template.roots_mut() {
            *root = memo.rewrite(root, |e, done| match e.kind() {
                ExprKind::Read { buf, args } => {
                    let args = args.iter().map(|a| with_limits(&done(a), &limits, facts, &mut clamped)).collect();
                    build::read(*buf, e.ty().scalar().expect("a read gives data"), args)
                }
                _ => map_children(e, done),
            });
        }
        for coordinate in template.sites.iter_mut().flat_map(|s| &mut s.lhs) {
            *coordinate = with_limits(coordinate, &limits, facts, &mut clamped);
        }
        template.collect_reads(sources);
    }
}

/// A coordinate in which each read that has limits is kept to them, if its interval needs them.
fn with_limits(coordinate: &Expr, limits: &Limits, facts: &Facts, memo: &mut Memo) -> Expr {
    let of = |read: &Expr| match read.kind() {
        ExprKind::Read { buf, .. } => limits.get(buf).cloned(),
        _ => None,
    };
    let limited = |read: &Expr| {
        let (low, high) = of(read)?;
        Some(Interval::new(build::to_index(low), build::to_index(high)))
    };
    if !any_node(coordinate, |n| of(n).is_some())
        || interval_of(coordinate, &|_| None, facts) == interval_with_values(coordinate, &|_| None, &limited, facts)
    {
        return coordinate.clone();
    }
    memo.rewrite(coordinate, |e, done| match (e.kind(), of(e)) {
        (_, Some((low, high))) => build::max(build::min(e.clone(), high), low),
        // The coordinates of other reads were looked at before.
        (ExprKind::Read { .. }, None) => e.clone(),
        _ => map_children(e, done),
    })
}
