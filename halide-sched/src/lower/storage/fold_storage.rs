//! Storage folding: circular buffers for storage of which only a moving window is live.
//!
//! Before and after: the definitions of `infer_bounds` after `slide_windows`. Where the outermost serial loop between a
//! Func's storage and its computation moves the region that is alive (read, or written for later) one way in one
//! dimension, and that region is never longer than a constant `k`, the dimension is stored modulo `k`, unless it is
//! stored in blocks. A Func that is stored in several places, because its consumer is specialised, is folded if all of
//! them suit one fold.
//!
//! Example of `f(x) = in(x) + 1`, `g(x) = f(x) + f(x + 2)`:
//! ```text
//! f: store_root() compute_at(g, x)
//! ```
//! becomes
//! ```text
//! f along g.x: keeps 3 of `x`
//! buffer f#b2: u8 dims 1 internal fold [3]
//! ```

use crate::lower::error::LowerError;
use crate::lower::nests::ctx::{Ctx, Instance, Source};
use crate::lower::nests::handed::handed;
use crate::lower::nests::vars::{Vars, variants};
use crate::lower::regions::bound_expansion::Expansions;
use crate::lower::regions::region_table::{Regions, bound_sym};
use crate::lower::regions::slide_windows::{bounds_of, edge_sym, follows, kind_of};
use crate::lower::trace::LoweringTrace;
use crate::plan::VarOrigin;
use crate::tuning::LONGEST_FOLD;
use halide_core::ids::FuncId;
use halide_ir::{Edge, Expr, ForKind, LoopId, Scope, Sym, build, visit};
use halide_solve::bounds::{Interval, Monotone, interval_of, monotone};
use halide_solve::simplify::{BoundQuery, Facts, simplify};
use std::collections::BTreeMap;

/// Chooses a fold for every Func that can have one, and records it in the program's buffers.
pub(crate) fn fold_storage(
    ctx: &mut Ctx<'_>,
    regions: &Regions,
    facts: &Facts,
    trace: &mut LoweringTrace,
) -> Vec<LowerError> {
    let mut errors = Vec::new();
    let mut expansions = Expansions::new(facts);
    let handed = handed(ctx.plan);
    for func in ctx.plan.pipeline.order.clone() {
        let places = ctx.computed.get(&func).cloned().unwrap_or_default();
        let found: Vec<(Site<'_, '_>, Window)> = places
            .into_iter()
            .filter_map(|place| {
                let (store, is_handed) = (ctx.storage_of(func, place)?, handed.contains(&func));
                let site = Site { ctx, regions, facts, func, store, place, is_handed };
                let window = site.window(&mut expansions);
                Some((site, window))
            })
            .collect();
        let common = in_common(&found);
        for (_, window) in &found {
            explain(ctx, func, window, common, trace);
        }
        for storage in &ctx.plan.funcs[func].storage {
            let asked = storage.fold.map(|f| f.0);
            let found = common.filter(|(dim, _)| *dim == storage.dim).map(|(_, k)| k);
            let fold = match (asked, found) {
                (Some(factor), Some(k)) if k <= factor => Some(factor),
                (Some(factor), _) => {
                    let (func_name, var) = (ctx.name(func).to_string(), arg_name(ctx, func, storage.dim));
                    errors.push(LowerError::Fold { func: func_name, var, factor, needed: found, at: storage.at });
                    None
                }
                (None, found) => found,
            };
            for &buf in &ctx.program.func_buffers[func] {
                ctx.program.buffers[buf].fold[storage.dim] = fold;
            }
        }
    }
    errors
}

fn arg_name(ctx: &Ctx<'_>, func: FuncId, dim: usize) -> String {
    ctx.plan.pipeline.vars[ctx.plan.pipeline.funcs[func].args[dim]].clone()
}

/// The part that is live of a Func, computed at one place.
enum Window {
    /// In each iteration of a loop, at most `size` coordinates of `dim`, which move one way.
    Moves { along: LoopId, dim: usize, size: i64 },
    /// All that is stored, since it is computed where it is stored.
    Whole,
    /// More than that, for this reason.
    All { along: LoopId, why: String },
}

/// The dimension that can be folded, and by how much, wherever the Func is stored: in one place, or in several where
/// its consumer is specialised. A buffer has one layout, so all of them must suit it.
fn in_common(windows: &[(Site<'_, '_>, Window)]) -> Option<(usize, i64)> {
    let moving = windows.iter().find_map(|(_, w)| match w {
        Window::Moves { dim, .. } => Some(*dim),
        _ => None,
    })?;
    let needed = windows.iter().map(|(site, w)| match w {
        Window::Moves { dim, size, .. } if *dim == moving => Some(*size),
        // What is not longer than the fold does not notice it; as long as coordinates reach is no length of a fold.
        Window::Whole => site.extent(moving).filter(|&n| n <= LONGEST_FOLD && !site.is_updated_along(moving)),
        Window::Moves { .. } | Window::All { .. } => None,
    });
    // Loops without iterations need nothing, and no circle is shorter than one.
    needed.collect::<Option<Vec<i64>>>().and_then(|sizes| Some((moving, sizes.into_iter().max()?.max(1))))
}

fn explain(ctx: &Ctx<'_>, func: FuncId, window: &Window, common: Option<(usize, i64)>, trace: &mut LoweringTrace) {
    let (Window::Moves { along, .. } | Window::All { along, .. }) = window else { return };
    let subject = format!("{} along {}", ctx.name(func), ctx.program.loops[*along].with_case());
    match (window, common) {
        (Window::All { why, .. }, _) => trace.did_not(subject, "folded", why.clone()),
        (_, Some((dim, k))) => trace.did(subject, format!("keeps {k} of `{}`", arg_name(ctx, func, dim))),
        (_, None) => trace.did_not(subject, "folded", "another variant of its consumer needs all of it"),
    }
}

/// The first coordinates of what is alive, and the last ones, each with how far a tail reaches beyond.
type Ends = (Vec<Expr>, Vec<(Expr, i64)>);

/// A place where a Func is computed, inside of its storage.
struct Site<'c, 'p> {
    ctx: &'c Ctx<'p>,
    regions: &'c Regions,
    facts: &'c Facts,
    func: FuncId,
    store: Scope,
    place: Scope,
    /// True if its memory is handed to the closure of an instruction.
    is_handed: bool,
}

impl Site<'_, '_> {
    fn window(&self, expansions: &mut Expansions<'_>) -> Window {
        let Site { ctx, func, .. } = *self;
        let loops = ctx.loops_between(self.store, self.place);
        let runs_once =
            |l: &LoopId| build::as_int(&simplify(&bounds_of(ctx, *l).1, self.facts)) == Some(1) && self.early(*l) == 0;
        let dims = 0..ctx.plan.pipeline.funcs[func].dims();
        let Some(v) = loops.iter().copied().find(|l| !runs_once(l)) else {
            return Window::Whole;
        };
        if !matches!(kind_of(ctx, v), ForKind::Serial | ForKind::Unrolled) {
            return Window::All { along: v, why: "the loop around it is not serial".into() };
        }
        if self.is_handed {
            return Window::All { along: v, why: "the closure of an instruction is handed boxes of it".into() };
        }
        let inner: Vec<LoopId> = loops.into_iter().skip_while(|l| *l != v).skip(1).collect();
        let mut why = "no dimension of it moves one way inside a constant window".to_string();
        for dim in dims {
            match self.alive(expansions, v, &inner, dim) {
                Some(_) if self.is_updated_along(dim) => {
                    why = format!("an update writes along `{}`", arg_name(ctx, func, dim));
                }
                Some(_) if ctx.plan.is_split(func, dim) => {
                    why = format!("`{}` is stored in blocks", arg_name(ctx, func, dim));
                }
                Some(_) if is_vector_dim(ctx, func, dim) => {
                    why = format!("`{}` is accessed in vectors", arg_name(ctx, func, dim));
                }
                Some(size) if size <= LONGEST_FOLD => return Window::Moves { along: v, dim, size },
                _ => {}
            }
        }
        Window::All { along: v, why }
    }

    /// The iterations of a loop before its first proper one in which the Func is computed.
    fn early(&self, l: LoopId) -> i64 {
        self.regions.early.get(&l).map_or(0, |early| early.iterations_of(self.ctx, self.func, self.place))
    }

    /// Returns true if an update writes at other coordinates than the Func's own variable in dimension `dim`, so that
    /// more is live than what the window is made for.
    fn is_updated_along(&self, dim: usize) -> bool {
        let stages = self.ctx.plan.funcs[self.func].stages.len();
        (1..stages).any(|stage| !self.ctx.templates[&(self.func, stage)].pure[dim])
    }

    /// The largest extent of what is computed of dimension `dim`.
    fn extent(&self, dim: usize) -> Option<i64> {
        let edge = |edge| build::sym(edge_sym(self.ctx, self.func, dim, edge, self.place));
        let definition = |s, reach| self.regions.definition(s, reach);
        let extent = BoundQuery::difference(&edge(Edge::Max), &edge(Edge::Min), self.facts)
            .through(&definition)
            .upper(LONGEST_FOLD)?
            + 1;
        extent.checked_add(growth(self.ctx, self.func, dim, self.place, extent)?)
    }

    /// The largest extent of what is alive of dimension `dim` in an iteration of `v`, if it moves one way: from the
    /// first coordinate that is needed to the last one that is needed or that a tail writes, over all iterations of
    /// `inner`.
    fn alive(&self, expansions: &mut Expansions<'_>, v: LoopId, inner: &[LoopId], dim: usize) -> Option<i64> {
        let Site { ctx, regions, facts, .. } = *self;
        let (mut largest, all_tails) = (0i64, self.tails(dim));
        // What is computed for the next iteration while this one runs is alive as well.
        let runs_ahead = ctx.plan.funcs[self.func].is_async && self.place == Scope::Body(v);
        let (mut these, mut next): (Ends, Ends) = Default::default();
        for first in [true, false] {
            let mut all = |e: &Expr| expansions.of(ctx, regions, e, v, first);
            let mut ranges: BTreeMap<Sym, Interval> = BTreeMap::new();
            // Outermost first: bounds of a loop may use those around it, of which all iterations count.
            for &l in inner {
                let (min, extent) = bounds_of(ctx, l);
                let last = build::offset(build::add(min.clone(), extent), -1);
                let min = build::offset(min, -self.early(l));
                let over_outer = |e: &Expr| interval_of(e, &|s| ranges.get(&s).cloned(), facts);
                let interval = Interval { min: over_outer(&all(&min)).min, max: over_outer(&all(&last)).max };
                ranges.insert(Sym::Loop(l), interval);
            }
            let over_inner = |e: &Expr| interval_of(e, &|s| ranges.get(&s).cloned(), facts);
            let (mut starts, mut ends) = (Vec::new(), Vec::new());
            for (&stage, tails) in &all_tails {
                // What is needed, before sliding left out what is already there.
                let edge = |edge| regions.unslid(bound_sym(self.func, stage, dim, edge, self.place));
                let (need_min, need_max) = (all(edge(Edge::Min)?), all(edge(Edge::Max)?));
                let min = simplify(&over_inner(&need_min).min?, facts);
                let max = simplify(&over_inner(&need_max).max?, facts);
                if !move_one_way(&min, &max, v) {
                    return None;
                }
                for tail in tails {
                    let slack = build::as_int(&tail.slack)?;
                    // Each iteration of an inner loop computes a piece of its own, which may begin late.
                    let grows = !tail.only_shifts
                        || !BoundQuery::difference(&need_min, &need_max, facts).is_at_most(slack.saturating_neg());
                    if grows {
                        ends.push((simplify(&over_inner(&need_min).max?, facts), slack));
                    }
                    if !tail.only_shifts {
                        ends.push((max.clone(), slack));
                    }
                }
                starts.push(min);
                ends.push((max, 0));
            }
            largest = largest.max(longest(&starts, &ends, facts)?);
            if runs_ahead {
                let moved =
                    |e: &Expr| simplify(&visit::substitute(e, &|s| (s == Sym::Loop(v)).then(|| after(v))), facts);
                next.0.extend(starts.iter().map(moved));
                next.1.extend(ends.iter().map(|(end, slack)| (moved(end), *slack)));
                these.0.append(&mut starts);
                these.1.append(&mut ends);
            }
        }
        let both = longest(&these.0, &next.1, facts)?.max(longest(&next.0, &these.1, facts)?);
        Some(largest.max(both))
    }

    /// The definitions with regions of their own in dimension `dim`, each with the tails of those that share its
    /// region.
    fn tails(&self, dim: usize) -> BTreeMap<usize, Vec<Tail>> {
        let Site { ctx, regions, func, place, .. } = *self;
        let stages = ctx.plan.funcs[func].stages.len();
        let mut all: BTreeMap<usize, Vec<Tail>> = BTreeMap::new();
        for stage in 0..stages {
            let same = (stage..stages - 1).find(|s| !follows(regions, func, *s, dim, place)).unwrap_or(stages - 1);
            all.entry(same).or_default().extend(tails(ctx, func, stage, dim, place));
        }
        all
    }
}

/// The next iteration of a loop.
fn after(v: LoopId) -> Expr {
    build::offset(build::loop_var(v), 1)
}

/// The largest number of coordinates from one of `starts` to one of `ends`, each of which reaches as far beyond as its
/// slack says; 0 of none.
fn longest(starts: &[Expr], ends: &[(Expr, i64)], facts: &Facts) -> Option<i64> {
    let mut longest = 0;
    for start in starts {
        for (end, slack) in ends {
            let beyond = slack.checked_add(1)?;
            let extent = BoundQuery::difference(end, start, facts).upper(LONGEST_FOLD)?.checked_add(beyond)?;
            longest = longest.max(extent);
        }
    }
    Some(longest)
}

fn move_one_way(min: &Expr, max: &Expr, v: LoopId) -> bool {
    let way = |e: &Expr| monotone(e, Sym::Loop(v), &|_| None);
    matches!(
        (way(min), way(max)),
        (Monotone::Increasing, Monotone::Increasing) | (Monotone::Decreasing, Monotone::Decreasing)
    )
}

/// The growth of what a definition computes by one of its tails.
struct Tail {
    /// An upper bound of by how much.
    slack: Expr,
    /// True if it grows short regions only, to a length of `slack + 1`.
    only_shifts: bool,
}

/// The tails of the variants of a definition in dimension `dim`.
fn tails(ctx: &Ctx<'_>, func: FuncId, stage: usize, dim: usize, place: Scope) -> Vec<Tail> {
    let of = |variant| {
        let vars = Vars::of_plan(ctx, func, stage, variant, place);
        let var = vars.pure_var(dim)?;
        Some(Tail { slack: vars.slack(var)?, only_shifts: vars.only_shifts(var) })
    };
    variants(&ctx.plan.funcs[func].stages[stage]).into_iter().filter_map(of).collect()
}

/// The distance that tails may write beyond a region of `extent` that is computed at once.
fn growth(ctx: &Ctx<'_>, func: FuncId, dim: usize, place: Scope, extent: i64) -> Option<i64> {
    let mut extent_now = extent;
    for stage in (0..ctx.plan.funcs[func].stages.len()).rev() {
        // Definitions before it compute all that it does, and may grow that again.
        let mut longest = extent_now;
        for tail in tails(ctx, func, stage, dim, place) {
            let slack = build::as_int(&tail.slack)?;
            let grown = if tail.only_shifts { 1 } else { extent_now };
            longest = longest.max(slack.checked_add(grown)?);
        }
        extent_now = longest;
    }
    Some(extent_now - extent)
}

/// Returns true if a vector loop runs along dimension `dim` of `func`, in its own definitions or where it is read.
fn is_vector_dim(ctx: &Ctx<'_>, func: FuncId, dim: usize) -> bool {
    let vectorized = |inst: &Instance<'_>, origin: &dyn Fn(VarOrigin) -> bool| {
        let vars = Vars::of(ctx, inst);
        inst.plan.vars.enumerate().filter(|(_, v)| origin(v.origin)).any(|(id, _)| {
            let leaves = vars.leaves(id);
            inst.plan.loops.iter().any(|l| l.kind == ForKind::Vectorized && leaves.contains(&l.var))
        })
    };
    ctx.instances.iter().any(|inst| {
        if inst.func == func {
            return vectorized(inst, &|o| o == VarOrigin::Pure { dim });
        }
        let template = &ctx.templates[&(inst.func, inst.stage)];
        template.reads.iter().filter(|r| r.source == Source::Func(func)).any(|r| {
            let arg = &r.args[dim];
            let reads_dim = |o: VarOrigin| match o {
                VarOrigin::Pure { dim: d } => visit::uses(arg, template.dims[d]),
                VarOrigin::Reduction { dim: d, .. } => visit::uses(arg, template.rvars[d].0),
                VarOrigin::Derived | VarOrigin::One => false,
            };
            vectorized(inst, &reads_dim)
        })
    })
}
