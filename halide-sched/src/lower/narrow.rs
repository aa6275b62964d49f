//! What a definition reads and writes where the predicate of its reduction domain holds. Part of `infer_bounds`.

use super::ctx::{Ctx, Source};
use crate::bounds::{Interval, interval_of, solve_outer};
use crate::ir::{Expr, Scope, Sym, build};
use crate::simplify::{Facts, simplify};
use halide_core::ids::FuncId;
use std::collections::BTreeMap;

/// What a definition's placeholders range over: everywhere, and where the predicate of its domain may hold.
pub(crate) struct Ranges {
    pub(crate) all: BTreeMap<Sym, Interval>,
    pub(crate) admitted: BTreeMap<Sym, Interval>,
}

/// Keeps the variables of a definition's domain to where its predicate can hold: nothing else is read or written
/// under it. What is computed inside of the loops over them runs whether it holds or not, so a region that such a
/// thing asks for is left as it is; and so is an extent that would cease to be constant.
pub(crate) fn where_predicate_holds(
    ctx: &Ctx<'_>,
    facts: &Facts,
    source: Source,
    (consumer, stage): (FuncId, usize),
    all: BTreeMap<Sym, Interval>,
) -> Ranges {
    let template = &ctx.templates[&(consumer, stage)];
    let mut admitted = all.clone();
    let inside = |f: FuncId| {
        let own = ctx.instances.iter().filter(|i| i.func == consumer && i.stage == stage);
        let mut loops = own.flat_map(|i| i.leaves.iter().filter(|(v, _)| i.plan.vars[**v].reduction));
        loops.any(|(_, &l)| ctx.computed[&f].iter().any(|&at| ctx.is_inside(at, Scope::Body(l))))
    };
    let Some(predicate) = &template.predicate else { return Ranges { all, admitted } };
    if matches!(source, Source::Func(f) if f != consumer && inside(f)) {
        return Ranges { all, admitted };
    }
    for (variable, _, _) in &template.rvars {
        let range = &all[variable];
        let (Some(min), Some(max), None) = (&range.min, &range.max, range.as_point()) else { continue };
        let Some(allowed) = solve_outer(predicate, *variable, facts) else { continue };
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
        if is_constant(&low, &high) || !is_constant(min, max) {
            admitted.insert(*variable, Interval::new(low, high));
        }
    }
    Ranges { all, admitted }
}
