//! What a definition reads and writes where the predicate of its reduction domain holds. Part of `infer_bounds`.

use super::ctx::{Ctx, Source};
use super::vars::Vars;
use crate::bounds::{Interval, interval_of, solve_outer};
use crate::ir::{Expr, ForKind, Scope, Sym, build};
use crate::simplify::{Facts, simplify};
use halide_core::ids::FuncId;
use std::collections::BTreeMap;

/// What a definition's placeholders range over: everywhere, and where the predicate of its domain may hold.
pub(crate) struct Ranges {
    pub(crate) all: BTreeMap<Sym, Interval>,
    pub(crate) admitted: BTreeMap<Sym, Interval>,
}

/// Keeps the variables of an update to where its predicate can hold: nothing else is read or written under it. What is
/// computed inside of the loops over a variable runs whether the predicate holds or not, so for a region that such a thing
/// asks for that variable is left as it is; and so is, in kernels, an extent that would cease to be constant.
pub(crate) fn where_predicate_holds(
    ctx: &Ctx<'_>,
    facts: &Facts,
    source: Source,
    at: (FuncId, usize),
    all: BTreeMap<Sym, Interval>,
) -> Ranges {
    let template = &ctx.templates[&at];
    let mut admitted = all.clone();
    let in_kernel = is_in_kernel(ctx, at);
    let Some(predicate) = &template.predicate else { return Ranges { all, admitted } };
    let origins = (0..template.dims.len()).map(|dim| (template.dims[dim], Origin::Pure(dim)));
    let reductions = (0..template.rvars.len()).map(|dim| (template.rvars[dim].0, Origin::Reduction(dim)));
    for (variable, origin) in origins.chain(reductions) {
        let Some(range) = all.get(&variable) else { continue };
        let (Some(min), Some(max), None) = (&range.min, &range.max, range.as_point()) else { continue };
        if matches!(source, Source::Func(f) if f != at.0 && is_computed_inside(ctx, f, at, origin)) {
            continue;
        }
        let Some(allowed) = solve_outer(predicate, variable, facts) else { continue };
        // Other variables in the ends take the values that allow most.
        let env = |s: Sym| all.get(&s).cloned();
        let low = allowed.min.and_then(|e| interval_of(&e, &env, facts).min);
        let high = allowed.max.and_then(|e| interval_of(&e, &env, facts).max);
        // A domain without points left keeps one of its own, so that no region grows.
        let within = |end: Option<Expr>, old: &Expr| match end {
            Some(e) => simplify(&build::max(build::min(e, max.clone()), min.clone()), facts),
            None => old.clone(),
        };
        let (low, high) = (within(low, min), within(high, max));
        let is_constant =
            |a: &Expr, b: &Expr| build::as_int(&simplify(&build::sub(b.clone(), a.clone()), facts)).is_some();
        if !in_kernel || is_constant(&low, &high) || !is_constant(min, max) {
            admitted.insert(variable, Interval::new(low, high));
        }
    }
    Ranges { all, admitted }
}

/// Whether a variant of the definition has loops of a graphics processor.
fn is_in_kernel(ctx: &Ctx<'_>, at: (FuncId, usize)) -> bool {
    let mut own = ctx.instances.iter().filter(|i| (i.func, i.stage) == at);
    own.any(|i| i.plan.loops.iter().any(|l| matches!(l.kind, ForKind::GpuBlocks | ForKind::GpuThreads)))
}

/// Which variable of a definition.
#[derive(Clone, Copy)]
enum Origin {
    Pure(usize),
    Reduction(usize),
}

/// Whether `func` is computed inside of a loop that a variable of the definition `at` is made of.
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
