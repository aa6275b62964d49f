//! Bounds inference: every region bound defined, as symbolic boxes per stage and loop level.
//!
//! Before: `Stage::Nest`: `Bound` symbols are free. After: `Stage::Bounded`: a `Let` at the start of the body of each
//! loop (or at the root) defines the bounds of everything computed or stored there, consumers before producers, each in
//! terms of its consumers' bounds at the same place; so the text grows with the number of stages, not with its square.
//!
//! What a stage must compute per iteration of a loop is the union of the boxes that its consumers read then. A consumer
//! that itself stands inside that loop reads what its own bounds there say; the stage that owns the loop reads what its
//! variables range over while that loop and those around it stand still.
//!
//! Example of `f(x) = in(x) + 1`, `g(x) = f(x) + f(x + 2)`:
//! ```text
//! f: compute_at(g, x)
//! ```
//! becomes
//! ```text
//! let g#f1.s0.d0.min@root = g#b1.min0
//! let g#f1.s0.d0.max@root = g#b1.min0 + g#b1.extent0 + -1
//! let f#f0.s0.d0.min@root = g#b1.min0
//! let f#f0.s0.d0.max@root = g#f1.s0.d0.max@root + 2
//! produce g#f1 {
//!   for g.x#L0 from g#f1.s0.d0.min@root extent g#f1.s0.d0.max@root - g#f1.s0.d0.min@root + 1 {
//!     let f#f0.s0.d0.min@g.x#L0 = g.x#L0
//!     let f#f0.s0.d0.max@g.x#L0 = g.x#L0 + 2
//!     realize f#f0 [f#f0.s0.d0.min@g.x#L0 extent max(f#f0.s0.d0.max@g.x#L0 - f#f0.s0.d0.min@g.x#L0, -1) + 1] {
//!       produce f#f0 {
//!         for f.x#L1 from f#f0.s0.d0.min@g.x#L0 extent 3 {
//!           provide f#f0(f.x#L1): f#b2 = in#b0(f.x#L1) + 1u8
//!         }
//!       }
//!       provide g#f1(g.x#L0): g#b1 = f#b2(g.x#L0) + f#b2(g.x#L0 + 2)
//!     }
//!   }
//! }
//! ```

use crate::lower::checks::check_arguments::Checks;
use crate::lower::error::{Access, LowerError};
use crate::lower::nests::ctx::{Ctx, Source};
use crate::lower::nests::vars::{bound, extent_between};
use crate::lower::regions::as_written::coordinate;
use crate::lower::regions::clamp_to_global_bounds::within_whole;
use crate::lower::regions::nested_regions::{Estimated, Intersected};
use crate::lower::regions::predicate_constraints::reached;
use crate::lower::regions::predicate_refinement::{Ranges, where_predicate_holds};
use crate::lower::regions::region_table::{Demand, Regions, bound_sym, computed, constant_extent, stored_region};
use crate::lower::regions::rules::given_region;
use crate::lower::regions::union::{Region, Union, union};
use crate::lower::regions::value_bounds::ValueBounds;
use crate::lower::storage::bound_storage::in_room;
use crate::plan::StageVar;
use halide_core::ids::{FuncId, Id, ImageId};
use halide_ir::{Edge, Expr, FaultId, Scope, Stmt, Sym, build, visit};
use halide_solve::bounds::{Interval, interval_with_values};
use halide_solve::simplify::{Facts, Linear, simplify};
use std::collections::{BTreeMap, BTreeSet};

/// Finds every bound. `facts` holds what is known of buffers, and learns the definitions; `values` bounds coordinates
/// that are data.
pub(crate) fn find_regions(ctx: &Ctx<'_>, values: &ValueBounds, facts: &mut Facts) -> Result<Regions, Vec<LowerError>> {
    let shares = ctx.instances.iter().any(|inst| inst.shared.values().any(|leaf| leaf.ends.is_some()));
    let before = shares.then(|| facts.clone());
    let mut finder = Finder::new(ctx, values, facts, Regions::default());
    finder.define_all();
    if let Some(before) = before {
        let possibly_empty = finder.find_possibly_empty();
        if !possibly_empty.is_empty() {
            // Regions inside of loops are found before those outside, which tell what is empty.
            *finder.facts = before;
            finder = Finder { possibly_empty, ..Finder::new(ctx, values, finder.facts, Regions::default()) };
            finder.define_all();
        }
    }
    for image in ctx.plan.pipeline.images.ids() {
        finder.image(image);
    }
    finder.inlined();
    finder.exact_indices();
    finder.intersect_estimates();
    finder.drop_proved_intersections();
    finder.parts_of_the_whole();
    if finder.errors.is_empty() { Ok(finder.found) } else { Err(finder.errors) }
}

/// Puts the definitions where they belong and gives realizations their sizes.
pub(crate) fn infer_bounds(ctx: &Ctx<'_>, regions: &Regions, facts: &Facts, mut checks: Checks, body: Stmt) -> Stmt {
    let room = std::mem::take(&mut checks.room);
    let mut place = |scope: Scope, body: Stmt| {
        let defs = regions.defs.get(&scope).cloned().unwrap_or_default();
        let early = if let Scope::Body(l) = scope { regions.early.get(&l) } else { None };
        let guarded = |s: Stmt| match early {
            Some(early) => early.guarded(s),
            None => s,
        };
        let mut inside = guarded(build::block(checks.at.remove(&scope).unwrap_or_default().into_iter().chain([body])));
        let mut later = Vec::new();
        for (s, value) in defs.into_iter().rev() {
            later.push((s, value));
            if let Some(asserts) = checks.before.remove(&s) {
                later.reverse();
                let defined = build::let_in(std::mem::take(&mut later), inside);
                inside = build::block([guarded(build::block(asserts)), defined]);
            }
        }
        later.reverse();
        build::let_in(later, inside)
    };
    let body = insert(ctx, regions, facts, &room, Scope::Root, body, &mut place);
    place(Scope::Root, body)
}

fn insert(
    ctx: &Ctx<'_>,
    regions: &Regions,
    facts: &Facts,
    room: &BTreeMap<(FuncId, usize), FaultId>,
    scope: Scope,
    s: Stmt,
    place: &mut impl FnMut(Scope, Stmt) -> Stmt,
) -> Stmt {
    match s {
        Stmt::For(mut l) => {
            let inner = Scope::Body(l.id);
            l.extent = constant_extent(regions, facts, &l.extent).unwrap_or(l.extent);
            l.body = insert(ctx, regions, facts, room, inner, l.body, place);
            l.body = place(inner, l.body);
            match regions.early.get(&l.id) {
                Some(early) => Stmt::For(Box::new(early.extended(*l))),
                None => Stmt::For(l),
            }
        }
        Stmt::Realize { func, body, .. } => {
            let bounds = stored_region(ctx, regions, facts, func, scope)
                .into_iter()
                .map(|(min, max)| {
                    // Where every point is guarded off, or a domain is empty, the region may be less than nothing.
                    let extent = build::max(extent_between(&min, &max), build::int(0));
                    (min, simplify(&extent, facts))
                })
                .collect();
            let (bounds, checks) = in_room(ctx, facts, room, func, bounds);
            let body = Box::new(insert(ctx, regions, facts, room, scope, *body, place));
            build::block(checks.into_iter().chain([Stmt::Realize { func, bounds, when: None, body }]))
        }
        other => visit::map_stmt(other, Expr::clone, |inner| insert(ctx, regions, facts, room, scope, inner, place)),
    }
}

pub(crate) struct Finder<'c> {
    pub(crate) ctx: &'c Ctx<'c>,
    pub(crate) values: &'c ValueBounds,
    pub(crate) facts: &'c mut Facts,
    pub(crate) found: Regions,
    pub(crate) errors: Vec<LowerError>,
    /// The distance that one computation of a dimension reaches beyond what is needed of it, where its extent is
    /// promised.
    pub(crate) beyond: BTreeMap<(FuncId, usize), Expr>,
    /// Every (Func, scope) whose bounds something uses.
    pub(crate) demanded: BTreeSet<(FuncId, Scope)>,
    /// Dimensions of regions whose intervals come of rules that decide.
    pub(crate) decided: BTreeSet<(FuncId, usize, Scope)>,
    /// Ends of regions that were intersected with outer ones.
    pub(crate) intersected: Vec<Intersected>,
    /// Dimensions of regions that are as wide as tails of their consumers may reach.
    pub(crate) estimated: BTreeSet<Estimated>,
    /// Leaf variables of shared loops that may have no value in their definition, by instance.
    pub(crate) possibly_empty: BTreeSet<(usize, StageVar)>,
}

impl<'c> Finder<'c> {
    /// Searches on from what was found.
    pub(crate) fn new(ctx: &'c Ctx<'c>, values: &'c ValueBounds, facts: &'c mut Facts, found: Regions) -> Finder<'c> {
        Finder {
            ctx,
            values,
            facts,
            found,
            errors: Vec::new(),
            beyond: BTreeMap::new(),
            demanded: BTreeSet::new(),
            decided: BTreeSet::new(),
            intersected: Vec::new(),
            estimated: BTreeSet::new(),
            possibly_empty: BTreeSet::new(),
        }
    }
}

impl Finder<'_> {
    /// Defines the bounds of all that something uses, inner scopes first.
    fn define_all(&mut self) {
        let ctx = self.ctx;
        let rank: BTreeMap<FuncId, usize> = ctx.plan.pipeline.order.iter().enumerate().map(|(i, &f)| (f, i)).collect();
        self.demanded = self.find_demanded();
        let mut keys: Vec<(FuncId, Scope)> = self.demanded.iter().copied().collect();
        let depth = |s: Scope| ctx.enclosing(s).count();
        keys.sort_by_key(|(f, s)| (std::cmp::Reverse(depth(*s)), *s, std::cmp::Reverse(rank[f])));
        for (func, scope) in keys {
            self.define(func, scope);
        }
    }

    /// Every (Func, scope) whose bounds something uses.
    fn find_demanded(&self) -> BTreeSet<(FuncId, Scope)> {
        let ctx = self.ctx;
        let mut todo: Vec<(FuncId, Scope)> = Vec::new();
        for places in [&ctx.computed, &ctx.stored] {
            todo.extend(places.iter().flat_map(|(&f, scopes)| scopes.iter().map(move |&s| (f, s))));
        }
        // What is computed in loops has a region over all of them as well: its coordinates are checked.
        todo.extend(ctx.computed.keys().map(|&f| (f, Scope::Root)));
        for image in ctx.plan.pipeline.images.ids() {
            let readers = ctx.consumers.get(&Source::Image(image));
            todo.extend(readers.into_iter().flatten().map(|&(f, _)| (f, Scope::Root)));
        }
        let mut all = BTreeSet::new();
        while let Some(key) = todo.pop() {
            if !all.insert(key) {
                continue;
            }
            for &(func, stage) in ctx.consumers.get(&Source::Func(key.0)).into_iter().flatten() {
                match self.owner(key.1, func, stage) {
                    Some(instance) => todo.push((func, ctx.instances[instance].at)),
                    None if self.is_computed_inside(func, key.1) => todo.push((func, key.1)),
                    None => {}
                }
            }
        }
        all
    }

    /// The instance of this definition that the loop of `scope` belongs to.
    pub(super) fn owner(&self, scope: Scope, func: FuncId, stage: usize) -> Option<usize> {
        let Scope::Body(l) = scope else { return None };
        let info = &self.ctx.loops[l];
        let is = |i: &usize| (self.ctx.instances[*i].func, self.ctx.instances[*i].stage) == (func, stage);
        std::iter::once(info.instance).chain(info.others.iter().copied()).find(is)
    }

    pub(super) fn is_computed_inside(&self, func: FuncId, scope: Scope) -> bool {
        self.ctx.computed.get(&func).is_some_and(|places| places.iter().any(|&p| self.ctx.is_inside(p, scope)))
    }

    pub(crate) fn is_computed_within(&self, func: FuncId, scope: Scope) -> bool {
        self.ctx.computed.get(&func).is_some_and(|all| all.iter().any(|&p| p != scope && self.ctx.is_inside(p, scope)))
    }

    /// Defines the bounds of every stage of `func` per iteration of `scope`.
    fn define(&mut self, func: FuncId, scope: Scope) {
        let ctx = self.ctx;
        let dims = ctx.plan.pipeline.funcs[func].dims();
        let stages = ctx.plan.funcs[func].stages.len();
        let needed = self.needed(Source::Func(func), scope);
        let mut current = match needed {
            Some(region) => self.constrain(func, scope, region),
            None => given_region(self.ctx, func),
        };
        for stage in (0..stages).rev() {
            for (dim, (min, max)) in std::mem::take(&mut current).into_iter().enumerate() {
                for (edge, end) in [(Edge::Min, min), (Edge::Max, max)] {
                    let end = self.within_outer_box((func, stage, dim), edge, scope, end);
                    let end = self.intersected((func, stage, dim), edge, scope, end);
                    self.record(scope, bound_sym(func, stage, dim, edge, scope), end);
                }
            }
            if stage > 0 {
                current = self.touched(func, stage, scope);
            }
            if stage + 1 < stages {
                self.demand_of_stage(func, stage, scope);
            }
        }
        if ctx.is_output(func) && scope == Scope::Root {
            // The coordinates of the caller's buffers are i32.
            for dim in 0..dims {
                let last = bound(func, stages - 1, dim, Edge::Max, scope);
                self.facts.assume_range(&last, None, Some(i32::MAX.into()));
            }
        }
    }

    /// Demands that what later updates touch of an earlier stage lies within what is fixed: the region of an output, or
    /// a promised extent, which the loops of all stages run over.
    fn demand_of_stage(&mut self, func: FuncId, stage: usize, scope: Scope) {
        let ctx = self.ctx;
        let stages = ctx.plan.funcs[func].stages.len();
        let is_given = ctx.is_output(func);
        let grows_inside = self.is_computed_within(func, scope);
        for (dim, constraint) in ctx.plan.funcs[func].bounds.iter().enumerate() {
            let is_fixed = match is_given {
                true => scope == Scope::Root && stage == 0,
                false => constraint.extent.is_some() && (constraint.min.is_some() || !grows_inside),
            };
            if is_fixed && !(stage + 1..stages).all(|s| ctx.templates[&(func, s)].pure[dim]) {
                let needed = (bound(func, stage, dim, Edge::Min, scope), bound(func, stage, dim, Edge::Max, scope));
                self.found.demands.push(Demand { func, dim, needed, at: scope });
            }
        }
    }

    /// Constants in the ends of what an iteration needs lie within the ends of the whole run, which inputs are checked
    /// for. Constants that hold for any coordinate may say less than the ends of a domain do.
    fn parts_of_the_whole(&mut self) {
        let mut parts = Vec::new();
        for (&scope, defs) in self.found.defs.iter().filter(|(scope, _)| **scope != Scope::Root) {
            for (s, value) in defs {
                let &Sym::Bound { func, stage, dim, edge, .. } = s else { continue };
                let plan = &self.ctx.plan.funcs[func].bounds[usize::from(dim)];
                let whole = bound(func, usize::from(stage), usize::from(dim), edge, Scope::Root);
                let whole = simplify(&whole, self.facts);
                if *plan == Default::default()
                    && let Some(part) = within_whole(value, &whole, edge, self.facts)
                {
                    parts.push((*s, scope, part));
                }
            }
        }
        for (s, scope, part) in parts {
            self.found.refine(s, scope, part);
        }
    }

    /// The scopes whose loops a bound of this value depends on.
    pub(super) fn dependencies(&self, value: &Expr) -> BTreeSet<Scope> {
        let mut deps = BTreeSet::new();
        visit::for_each_node(value, &mut |n| match n.kind() {
            halide_ir::ExprKind::Sym(Sym::Loop(l)) => deps.extend([Scope::Body(*l)]),
            halide_ir::ExprKind::Sym(t @ Sym::Bound { at, .. }) => match self.found.deps.get(t) {
                Some(known) => deps.extend(known.iter().copied()),
                None => deps.extend(self.ctx.enclosing(*at)),
            },
            _ => {}
        });
        deps
    }

    fn record(&mut self, scope: Scope, s: Sym, value: Expr) {
        let deps = self.dependencies(&value);
        self.found.deps.insert(s, deps);
        // Bounds inside of loops may still be slid, so nothing may replace them by what they are now.
        if scope == Scope::Root {
            self.facts.bind_let(s, &value);
        }
        self.found.values.insert(s, value.clone());
        self.found.defs.entry(scope).or_default().push((s, value));
    }

    /// The union of what consumers read of `source` per iteration of `scope`; `None` if nobody does.
    fn needed(&mut self, source: Source, scope: Scope) -> Option<Region> {
        let ctx = self.ctx;
        let mut all = Union::default();
        for &(consumer, stage) in ctx.consumers.get(&source).into_iter().flatten() {
            if Source::Func(consumer) == source {
                continue;
            }
            let Some(ranges) = self.consumer_ranges(scope, consumer, stage) else { continue };
            let ranges = where_predicate_holds(ctx, self.facts, scope, source, (consumer, stage), ranges);
            let boxed = self.read_box(source, (consumer, stage), scope, &ranges);
            all.add(self.facts, boxed);
        }
        all.region(self.facts)
    }

    /// The box of `source` that a definition reads when its placeholders have `ranges`.
    fn read_box(&mut self, source: Source, consumer: (FuncId, usize), scope: Scope, ranges: &Ranges) -> Region {
        let ctx = self.ctx;
        let template = &ctx.templates[&consumer];
        self.note_estimates(source, consumer, scope);
        let mut all = Union::default();
        for read in template.reads.iter().filter(|r| r.source == source) {
            let boxed = match read.guarded {
                true => self.box_of(&read.args, source, consumer, &ranges.admitted, &ranges.slacks),
                false => self.box_of(&read.args, source, consumer, &ranges.all, &[]),
            };
            self.note_decisions(source, scope, &read.args, &boxed, read.guarded && template.predicate.is_some());
            all.add(self.facts, boxed);
        }
        all.region(self.facts).expect("a consumer reads")
    }

    pub(crate) fn box_of(
        &mut self,
        args: &[Expr],
        source: Source,
        (consumer, stage): (FuncId, usize),
        ranges: &BTreeMap<Sym, Interval>,
        slacks: &[Linear],
    ) -> Region {
        let env = |s: Sym| ranges.get(&s).cloned();
        let mut region = Vec::new();
        for (dim, arg) in args.iter().enumerate() {
            let of = |e: &Expr| interval_with_values(e, &env, &|read| self.values.of(read), self.facts);
            match reached(arg, of, slacks, self.facts) {
                Interval { min: Some(min), max: Some(max) } => region.push((min, max)),
                _ => {
                    self.report_unbounded(source, (consumer, stage), args, dim);
                    region.push((build::int(0), build::int(0)));
                }
            }
        }
        region
    }

    fn report_unbounded(&mut self, source: Source, (consumer, stage): (FuncId, usize), args: &[Expr], dim: usize) {
        let pipeline = &self.ctx.plan.pipeline;
        let sites = &self.ctx.templates[&(consumer, stage)].sites;
        let (producer, access) = match source {
            Source::Func(f) if f == consumer && sites.iter().any(|site| site.lhs == args) => {
                (pipeline.funcs[f].name.clone(), Access::Store)
            }
            Source::Func(f) => (pipeline.funcs[f].name.clone(), Access::Func),
            Source::Image(i) => (pipeline.images[i].name.clone(), Access::Image),
        };
        let def = &pipeline.funcs[consumer];
        let index = coordinate(&self.ctx.program, &self.ctx.placeholder_names((consumer, stage)), &args[dim]);
        let (consumer, at) = (def.name.clone(), def.stages[stage].at);
        let error = LowerError::Unbounded { producer, consumer, dim, index, access, at };
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Returns the region that stage `stage - 1` and those before must have computed for `stage` to run: the region of
    /// `stage` and all that it reads and writes of its own Func.
    fn touched(&mut self, func: FuncId, stage: usize, scope: Scope) -> Region {
        let template = &self.ctx.templates[&(func, stage)];
        let mut all = computed(self.ctx, &self.found, self.facts, func, stage, scope);
        let ranges = self.own_ranges(func, stage, scope);
        let source = Source::Func(func);
        let ranges = where_predicate_holds(self.ctx, self.facts, scope, source, (func, stage), ranges);
        for site in &template.sites {
            let lhs = self.box_of(&site.lhs, source, (func, stage), &ranges.admitted, &ranges.slacks);
            self.note_decisions(source, scope, &site.lhs, &lhs, template.predicate.is_some());
            all = union(self.facts, all, lhs);
        }
        if template.reads.iter().any(|r| r.source == source) {
            let read = self.read_box(source, (func, stage), scope, &ranges);
            all = union(self.facts, all, read);
        }
        all
    }

    fn image(&mut self, image: ImageId) {
        let ctx = self.ctx;
        if let Some(region) = self.needed(Source::Image(image), Scope::Root) {
            debug_assert_eq!(region.len(), self.ctx.plan.pipeline.images[image].dims, "image {}", image.index());
            self.found.images.insert(image, region);
            // Regions of Funcs that are read under a predicate may be empty, and so what these read.
            if ctx.templates.values().any(|t| t.predicate.is_some()) {
                self.found.perhaps_unread.insert(image);
            }
        }
    }
}
