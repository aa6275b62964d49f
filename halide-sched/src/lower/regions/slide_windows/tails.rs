//! Tails in a window that slides: the length that the piece of each iteration must have so that none grows it.
//!
//! A tail that shifts grows a piece shorter than its factor; one that rounds up grows a piece to a multiple. A piece
//! that grows beyond the window would read what inputs were not asked for, and initialise points that later iterations
//! need. So the piece is extended the other way, into what previous iterations left in storage, until no tail grows it.
//!
//! A window shorter than that length is computed whole and grows, as it does where nothing slides. A definition that
//! grows alone overwrites points behind the region that were finished. Later iterations of the loop that slides compute
//! these again; but points that earlier iterations of loops inside have left for later stay as they are. So such growth
//! is refused unless the one loop inside that moves the region moves it upwards, in another dimension, and leaves the
//! window where it is: its next iteration mends them.

use crate::lower::nests::ctx::Ctx;
use crate::lower::nests::vars::{Vars, variants};
use crate::lower::regions::region_table::{Regions, StageTail, bound_sym};
use crate::tuning::{LONGEST_TAIL, TAIL_ROUNDS};
use halide_core::ids::FuncId;
use halide_ir::hash::Set;
use halide_ir::{Edge, Expr, ExprKind, LoopId, Scope, Sym, build, visit};
use halide_solve::bounds::{Monotone, monotone};
use halide_solve::simplify::{BoundQuery, Facts, simplify};

/// The tails of all definitions, and what is known.
pub(super) struct Tails<'f, 'p> {
    pub(super) facts: &'f Facts,
    all: Vec<StageTail<'p>>,
    /// The bounds that regions with tails are made of, in several steps or in one.
    feeding: Set<Sym>,
}

/// The first and the last coordinate of a part of a region.
pub(super) type Part<'e> = (&'e Expr, &'e Expr);

/// The reason not to slide where a definition that grows alone would overwrite what is left for later.
const SPOILS: &str = "its tails would overwrite points that other iterations have finished";

/// The dimension of a Func, computed at a place, that moves along a loop.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub(super) func: FuncId,
    pub(super) dim: usize,
    pub(super) place: Scope,
    pub(super) along: LoopId,
}

impl Moving {
    /// The loops inside of the one that slides on which a region depends.
    fn movers(&self, ctx: &Ctx<'_>, (first, last): Part<'_>) -> Vec<LoopId> {
        let uses = |l: &LoopId| [first, last].iter().any(|e| visit::uses(e, Sym::Loop(*l)));
        ctx.loops_between(Scope::Body(self.along), self.place).into_iter().filter(uses).collect()
    }
}

impl<'f, 'p> Tails<'f, 'p> {
    pub(super) fn new(ctx: &Ctx<'p>, regions: &Regions, facts: &'f Facts) -> Tails<'f, 'p> {
        let all: Vec<_> = ctx.plan.pipeline.order.iter().flat_map(|&func| StageTail::all(ctx, func)).collect();
        let edges = all.iter().flat_map(|tail| [Edge::Min, Edge::Max].map(|edge| tail.edge(edge))).collect();
        let mut tails = Tails { facts, all, feeding: Set::default() };
        tails.note_feeding(regions, edges);
        tails
    }

    /// Returns true if the region of a definition with a tail may be made of the bound `s`.
    pub(super) fn depend_on(&self, s: Sym) -> bool {
        self.feeding.contains(&s)
    }

    /// The bound `s` has a new definition.
    pub(super) fn redefined(&mut self, regions: &Regions, s: Sym) {
        if self.feeding.remove(&s) {
            self.note_feeding(regions, vec![s]);
        }
    }

    /// Adds bounds, and all that they are made of.
    fn note_feeding(&mut self, regions: &Regions, mut new: Vec<Sym>) {
        while let Some(s) = new.pop() {
            if self.feeding.insert(s)
                && let Some(value) = regions.value(s)
            {
                visit::for_each_node(value, &mut |n| {
                    if let ExprKind::Sym(part) = n.kind() {
                        new.push(*part);
                    }
                });
            }
        }
    }

    /// The tails inside of loop `v` that compute no more than the regions do, as these are now.
    pub(super) fn fixed(&self, ctx: &Ctx<'p>, regions: &Regions, v: LoopId) -> Vec<&StageTail<'p>> {
        let inside =
            |t: &&StageTail<'p>| ctx.is_inside(t.place, Scope::Body(v)) && t.never_grows(ctx, regions, self.facts);
        self.all.iter().filter(inside).collect()
    }

    /// Returns the length that pieces of what moves need for its tails, and at least `least`; 0 where what is new
    /// suffices. The reason if there is no such length, or if the window is never longer.
    pub(super) fn piece(
        &self,
        ctx: &Ctx<'p>,
        moving: Moving,
        [new, window]: [Part<'_>; 2],
        least: i64,
    ) -> Result<i64, String> {
        let Moving { func, dim, place, .. } = moving;
        let facts = self.facts;
        let stages = ctx.plan.funcs[func].stages.iter().enumerate();
        let all = stages.flat_map(|(stage, plan)| variants(plan).into_iter().map(move |plan| (stage, plan)));
        let growing = |(stage, plan)| {
            let vars = Vars::of_plan(ctx, func, stage, plan, place);
            let var = vars.pure_var(dim)?;
            Some((vars.slack(var)?, var, vars))
        };
        let tails: Vec<_> = all.filter_map(growing).collect();
        if tails.is_empty() && least == 0 {
            return Ok(0);
        }
        let constant = |e: &Expr| build::as_int(&simplify(e, facts)).filter(|n| *n < LONGEST_TAIL);
        let mut length = least;
        for (slack, var, vars) in &tails {
            let slack = constant(slack).ok_or("the dimension that moves is split by a factor that is not constant")?;
            if vars.only_shifts(*var) {
                length = length.max(slack + 1);
            }
        }
        let is_long =
            |(first, last): Part<'_>, length: i64| BoundQuery::difference(first, last, facts).is_at_most(1 - length);
        let shifts = tails.iter().all(|(_, var, vars)| vars.only_shifts(*var));
        if shifts && is_long(new, length) && is_long(window, length) {
            return Ok(0);
        }
        if !shifts {
            let new = BoundQuery::difference(new.1, new.0, facts).upper(LONGEST_TAIL - 1);
            length = length.max(new.ok_or("the length of what is new has no bound to round up")? + 1);
        }
        for _ in 0..TAIL_ROUNDS {
            let rounded = |length: i64| {
                let each = tails.iter().map(|(_, var, vars)| constant(&vars.cover(*var, build::int(length))));
                each.collect::<Option<Vec<i64>>>().map(|all| all.into_iter().fold(length, i64::max))
            };
            let next = rounded(length).ok_or("the dimension that moves is split by a factor that is not constant")?;
            if next <= length {
                let several = ctx.plan.funcs[func].stages.len() > 1 && !tails.is_empty();
                if several && !is_long(window, length) && !moving.movers(ctx, window).is_empty() {
                    return Err(SPOILS.into());
                }
                return self.worthwhile(ctx, func, dim, window, length);
            }
            length = next;
        }
        Err("its variants round the dimension that moves up to different multiples".into())
    }

    /// Refuses to slide where a definition that grows alone in another dimension would overwrite finished points;
    /// `full` expands bounds to what is fixed in the loop.
    pub(super) fn check_other_dims(
        &self,
        ctx: &Ctx<'p>,
        regions: &Regions,
        moving: Moving,
        full: &mut dyn FnMut(&Expr) -> Expr,
    ) -> Result<(), String> {
        let Moving { func, dim, place, .. } = moving;
        if ctx.plan.funcs[func].stages.len() == 1 {
            return Ok(());
        }
        let own = |t: &&StageTail<'p>| (t.func, t.place) == (func, place) && t.dim != dim;
        let last = ctx.plan.funcs[func].stages.len() - 1;
        let window = [Edge::Min, Edge::Max].map(|edge| full(&build::sym(bound_sym(func, last, dim, edge, place))));
        for tail in self.all.iter().filter(own) {
            let [min, max] = [Edge::Min, Edge::Max].map(|edge| full(&build::sym(tail.edge(edge))));
            let upwards = |l: LoopId| {
                let way = |e: &Expr| monotone(e, Sym::Loop(l), &|_| None);
                [&min, &max].into_iter().all(|e| matches!(way(e), Monotone::Increasing | Monotone::Constant))
            };
            let mended = match moving.movers(ctx, (&min, &max))[..] {
                [] => true,
                [inner] => upwards(inner) && !window.iter().any(|e| visit::uses(e, Sym::Loop(inner))),
                _ => false,
            };
            if !mended && !tail.never_grows(ctx, regions, self.facts) {
                return Err(SPOILS.into());
            }
        }
        Ok(())
    }

    /// `length`, unless windows are never longer or somebody else says where regions begin.
    fn worthwhile(
        &self,
        ctx: &Ctx<'p>,
        func: FuncId,
        dim: usize,
        (first, last): Part<'_>,
        length: i64,
    ) -> Result<i64, String> {
        if BoundQuery::difference(last, first, self.facts).is_at_most(length - 1) {
            return Err("the dimension that moves is split by no less than the window is long".into());
        }
        if ctx.plan.funcs[func].bounds[dim] != Default::default() {
            return Err("its bounds are aligned, and the dimension that moves is split by more than what is new".into());
        }
        if ctx.plan.groups.iter().any(|g| g.contains(&func)) {
            return Err(
                "it is computed with others, and the dimension that moves is split by more than what is new".into()
            );
        }
        Ok(length)
    }
}
