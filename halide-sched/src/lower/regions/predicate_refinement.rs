//! Predicate refinement: narrows the placeholders of a definition to where the predicate of its reduction domain can
//! hold. Part of `infer_bounds`.

use crate::lower::nests::ctx::{Ctx, Source};
use crate::lower::nests::vars::Vars;
use crate::lower::regions::predicate_constraints::slacks;
use halide_core::ids::FuncId;
use halide_core::ops::BinOp;
use halide_ir::{Expr, Scope, Sym, build};
use halide_solve::bounds::{Interval, interval_of, solve_outer};
use halide_solve::simplify::{Facts, Linear, simplify};
use std::collections::BTreeMap;

/// The ranges of a definition's placeholders: everywhere, and where the predicate of its domain may hold.
pub(crate) struct Ranges {
    pub(crate) all: BTreeMap<Sym, Interval>,
    pub(crate) admitted: BTreeMap<Sym, Interval>,
    /// Sums of placeholders that are at least 0 where the predicate holds.
    pub(crate) slacks: Vec<Linear>,
}

/// Keeps the variables of an update to where its predicate can hold: nothing else is read or written under it. What is
/// computed inside of the loops over a variable runs whether the predicate holds or not, so for a region that such a
/// thing asks for that variable is left as it is; and so is, in kernels, an extent that would cease to be constant. The
/// same goes for the dimensions of a definition that runs, together with such a thing, inside of loops of others, once
/// for each part of its region: for what is needed outside of these loops, per iteration of `scope`, they are left as
/// they are.
pub(crate) fn where_predicate_holds(
    ctx: &Ctx<'_>,
    facts: &mut Facts,
    scope: Scope,
    source: Source,
    at: (FuncId, usize),
    all: BTreeMap<Sym, Interval>,
) -> Ranges {
    let template = &ctx.templates[&at];
    if template.predicate.is_none() {
        return Ranges { admitted: all.clone(), all, slacks: Vec::new() };
    }
    facts.push_scope();
    // `check_coordinates` sees to it.
    for &variable in template.dims.iter().chain(template.rvars.iter().map(|(s, _, _)| s)) {
        facts.assume_range(&build::sym(variable), Some(i32::MIN.into()), Some(i32::MAX.into()));
    }
    let ranges = narrowed(ctx, facts, scope, source, at, all);
    facts.pop_scope();
    ranges
}

fn narrowed(
    ctx: &Ctx<'_>,
    facts: &Facts,
    scope: Scope,
    source: Source,
    at: (FuncId, usize),
    all: BTreeMap<Sym, Interval>,
) -> Ranges {
    let template = &ctx.templates[&at];
    let mut admitted = all.clone();
    let in_kernel = is_in_kernel(ctx, at);
    let Some(predicate) = &template.predicate else {
        return Ranges { all, admitted, slacks: Vec::new() };
    };
    let origins = (0..template.dims.len()).map(|dim| (template.dims[dim], Origin::Pure(dim)));
    let reductions = (0..template.rvars.len()).map(|dim| (template.rvars[dim].0, Origin::Reduction(dim)));
    // What is computed inside of a loop must be the same whether or not the predicate holds there.
    let in_parts = matches!(source, Source::Func(f) if f != at.0 && runs_in_parts(ctx, f, at.0, scope));
    let slacks = match source {
        Source::Func(f) if f != at.0 && (in_parts || is_inside_any(ctx, f, at)) => Vec::new(),
        _ if in_kernel => Vec::new(),
        _ => slacks(predicate, facts),
    };
    for (variable, origin) in origins.chain(reductions) {
        let Some(range) = all.get(&variable) else { continue };
        let (Some(min), Some(max), None) = (&range.min, &range.max, range.as_point()) else { continue };
        let is_left = match (source, origin) {
            (_, Origin::Pure(_)) if in_parts => true,
            (Source::Func(f), _) => f != at.0 && is_computed_inside(ctx, f, at, origin),
            (Source::Image(_), _) => false,
        };
        if is_left {
            continue;
        }
        let Some(allowed) = solve_outer(predicate, variable, facts) else { continue };
        // Other variables in the ends take the values that allow most.
        let env = |s: Sym| all.get(&s).cloned();
        let low = allowed.min.and_then(|e| interval_of(&e, &env, facts).min);
        let high = allowed.max.and_then(|e| interval_of(&e, &env, facts).max);
        let Interval { min: Some(low), max: Some(high) } = within(range.clone(), low, high, facts) else { continue };
        let is_constant =
            |a: &Expr, b: &Expr| build::as_int(&simplify(&build::sub(b.clone(), a.clone()), facts)).is_some();
        if !in_kernel || is_constant(&low, &high) || !is_constant(min, max) {
            admitted.insert(variable, Interval::new(low, high));
        }
    }
    Ranges { all, admitted, slacks }
}

/// Returns the part of `range` between `low` and `high`. Where nothing is left, the ends lie no further than beside the
/// range, so that a union with another region is no larger than one with the whole range.
pub(crate) fn within(range: Interval, low: Option<Expr>, high: Option<Expr>, facts: &Facts) -> Interval {
    let Interval { min, max } = range;
    let low = low.map(|e| max.iter().fold(e, |e, max| build::min(e, build::offset(max.clone(), 1))));
    let high = high.map(|e| min.iter().fold(e, |e, min| build::max(e, build::offset(min.clone(), -1))));
    let both = |a: Option<Expr>, b: Option<Expr>, op| match (a, b) {
        (Some(a), Some(b)) => Some(simplify(&build::binary(op, a, b), facts)),
        (a, b) => a.or(b),
    };
    Interval { min: both(low, min, BinOp::Max), max: both(high, max, BinOp::Min) }
}

/// Returns true if a variant of the definition has GPU loops.
fn is_in_kernel(ctx: &Ctx<'_>, at: (FuncId, usize)) -> bool {
    let mut own = ctx.instances.iter().filter(|i| (i.func, i.stage) == at);
    own.any(|i| i.plan.loops.iter().any(|l| l.kind.is_gpu()))
}

/// Returns true if `func` is computed inside of any loop of the definition `at`.
fn is_inside_any(ctx: &Ctx<'_>, func: FuncId, at: (FuncId, usize)) -> bool {
    let own = ctx.instances.iter().filter(|i| (i.func, i.stage) == at);
    let mut loops = own.flat_map(|i| i.leaves.values());
    loops.any(|&l| ctx.computed[&func].iter().any(|&place| ctx.is_inside(place, Scope::Body(l))))
}

/// Returns true if `func` and its consumer are both computed in a loop inside of `scope`.
fn runs_in_parts(ctx: &Ctx<'_>, func: FuncId, consumer: FuncId, scope: Scope) -> bool {
    let places = |f: FuncId| ctx.computed.get(&f).into_iter().flatten();
    places(func).any(|&place| {
        place != scope && ctx.is_inside(place, scope) && places(consumer).any(|&other| ctx.is_inside(other, place))
    })
}

/// A variable of a definition, by its dimension of the Func or of the reduction domain.
#[derive(Clone, Copy)]
enum Origin {
    Pure(usize),
    Reduction(usize),
}

/// Returns true if `func` is computed inside of a loop that a variable of the definition `at` is made of.
fn is_computed_inside(ctx: &Ctx<'_>, func: FuncId, at: (FuncId, usize), variable: Origin) -> bool {
    let own = ctx.instances.iter().filter(|i| (i.func, i.stage) == at);
    own.into_iter().any(|instance| {
        let vars = Vars::of(ctx, instance);
        let root = match variable {
            Origin::Pure(dim) => vars.pure_var(dim),
            Origin::Reduction(dim) => vars.reduction_var(dim),
        };
        let leaves = root.map(|root| vars.leaves(root)).unwrap_or_default();
        let inside = |l| ctx.computed[&func].iter().any(|&place| ctx.is_inside(place, Scope::Body(l)));
        leaves.iter().any(|leaf| inside(instance.leaves[leaf]))
    })
}
