//! Ranges of a definition's variables, in its loops and outside of them. Part of `infer_bounds`.

use crate::lower::nests::ctx::Template;
use crate::lower::nests::vars::{Vars, interval};
use crate::lower::regions::infer_bounds::Finder;
use crate::lower::regions::region_table::computed;
use crate::plan::StageVar;
use halide_core::ids::FuncId;
use halide_ir::{Expr, Scope, Sym, build, visit};
use halide_solve::bounds::{Interval, interval_of};
use halide_solve::simplify::{BoundQuery, simplify};
use std::collections::{BTreeMap, BTreeSet};

impl Finder<'_> {
    /// The ranges of a consumer's placeholders per iteration of `scope`, if it is computed in there.
    pub(crate) fn consumer_ranges(&self, scope: Scope, func: FuncId, stage: usize) -> Option<BTreeMap<Sym, Interval>> {
        match self.owner(scope, func, stage) {
            Some(instance) => Some(self.loop_ranges(instance, scope)),
            None => self.is_computed_inside(func, scope).then(|| self.own_ranges(func, stage, scope)),
        }
    }

    /// The ranges of a definition's placeholders inside one of its own loops.
    fn loop_ranges(&self, instance: usize, scope: Scope) -> BTreeMap<Sym, Interval> {
        let inst = &self.ctx.instances[instance];
        let template = &self.ctx.templates[&(inst.func, inst.stage)];
        let vars = Vars::of(self.ctx, inst);
        let fixed = inst.leaves.iter().filter(|(_, l)| self.ctx.is_inside(scope, Scope::Body(**l))).map(|(v, _)| *v);
        let fixed: BTreeSet<_> = fixed.filter(|v| inst.is_known(*v)).collect();
        let leaf = |v| inst.leaf_within(v);
        let not_before = |v| self.not_before_first(instance, v);
        let range = |v| {
            let (_, max) = vars.range(v, &fixed, &leaf);
            self.simple((vars.range(v, &fixed, &not_before).0, max))
        };
        let mut ranges = BTreeMap::new();
        for (dim, &s) in template.dims.iter().enumerate() {
            if let Some(v) = vars.pure_var(dim) {
                ranges.insert(s, range(v));
            }
        }
        for (dim, (s, _, _)) in template.rvars.iter().enumerate() {
            if let Some(v) = vars.reduction_var(dim) {
                ranges.insert(*s, range(v));
            }
        }
        self.close(template, ranges)
    }

    /// The value of a leaf variable anywhere in its loop, but no less than the first of the definition's own. Where it
    /// has none, the nearest one is before that: then its range is empty, as it is outside of the loop.
    fn not_before_first(&self, instance: usize, var: StageVar) -> Expr {
        let inst = &self.ctx.instances[instance];
        let within = inst.leaf_within(var);
        match inst.shared.get(&var).and_then(|leaf| leaf.ends.as_ref()) {
            Some((first, _)) if self.possibly_empty.contains(&(instance, var)) => build::max(within, first.clone()),
            _ => within,
        }
    }

    /// Returns the leaf variables of shared loops, with their instances, that are not shown to have a value. Regions
    /// must have been found.
    pub(super) fn find_possibly_empty(&self) -> BTreeSet<(usize, StageVar)> {
        let definition = |s, reach| self.found.definition(s, reach);
        let has_values = |(first, last): &(Expr, Expr)| {
            BoundQuery::difference(first, last, self.facts).through(&definition).is_at_most(0)
        };
        let all = self.ctx.instances.iter().enumerate();
        let leaves = all.flat_map(|(i, inst)| inst.shared.iter().map(move |(var, leaf)| ((i, *var), &leaf.ends)));
        leaves.filter(|(_, ends)| ends.as_ref().is_some_and(|ends| !has_values(ends))).map(|(at, _)| at).collect()
    }

    /// The ranges of a definition's placeholders when all its loops run inside `scope`.
    pub(crate) fn own_ranges(&self, func: FuncId, stage: usize, scope: Scope) -> BTreeMap<Sym, Interval> {
        let template = &self.ctx.templates[&(func, stage)];
        let region = computed(self.ctx, &self.found, self.facts, func, stage, scope);
        let region: Vec<Interval> = region.into_iter().map(interval).collect();
        let mut ranges: BTreeMap<Sym, Interval> = template.dims.iter().copied().zip(region.iter().cloned()).collect();
        if let Some(needs) = &template.needs {
            let is_own = self.ctx.computed.get(&func).is_some_and(|places| places.contains(&scope));
            ranges.extend(needs.ranges(&region, is_own, self.facts));
        }
        for (s, min, extent) in &template.rvars {
            let last = build::offset(build::add(min.clone(), extent.clone()), -1);
            ranges.insert(*s, self.simple((min.clone(), last)));
        }
        self.close(template, ranges)
    }

    /// Reduction bounds may themselves read: only their interval counts outside of the loops.
    fn close(&self, template: &Template, mut ranges: BTreeMap<Sym, Interval>) -> BTreeMap<Sym, Interval> {
        for (s, _, _) in &template.rvars {
            let Some(Interval { min: Some(min), max: Some(max) }) = ranges.get(s).cloned() else { continue };
            let reads = |e: &Expr| visit::any_node(e, |n| matches!(n.kind(), halide_ir::ExprKind::Read { .. }));
            if reads(&min) || reads(&max) {
                let known = ranges.clone();
                let env = |s: Sym| known.get(&s).cloned();
                let wide = Interval {
                    min: interval_of(&min, &env, self.facts).min,
                    max: interval_of(&max, &env, self.facts).max,
                };
                ranges.insert(*s, wide);
            }
        }
        ranges
    }

    fn simple(&self, (min, max): (Expr, Expr)) -> Interval {
        interval((simplify(&min, self.facts), simplify(&max, self.facts)))
    }
}
