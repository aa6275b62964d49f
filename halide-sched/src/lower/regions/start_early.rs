//! Prologue of a sliding window: loops that slide windows start some iterations early, so that every iteration computes
//! equally much.
//!
//! Before and after: the definitions of `infer_bounds`, as `slide_windows` leaves them: a window that slides is
//! computed whole in the first iteration of its loop, so all of it must be alive at once, and a chain of stages keeps
//! as many lines as its whole footprint. Here the loop begins earlier by as many iterations as it takes to compute that
//! first window bit by bit. In the iterations before the first proper one only such stages run, each from where its
//! window begins ([`Early::guarded`]); nobody computes a point that was not computed before.
//!
//! Of a Func that is read by another one in the early iterations, all must be there then: it starts early as well, is
//! computed inside of its reader without a window that moves along the loop, or outside of the loop. Where that is not
//! so, the reader stays as it was.
//!
//! Example of `f(x) = in(x) + 1`, `g(x) = f(x) + f(x + 2)`, whose loop begins two iterations early:
//! ```text
//! f: store_root() compute_at(g, x)
//! ```
//! becomes
//! ```text
//! let g#f1.s0.d0.min@root = g#b1.min0
//! let g#f1.s0.d0.max@root = g#b1.min0 + g#b1.extent0 + -1
//! let f#f0.s0.d0.min@root = g#b1.min0
//! let f#f0.s0.d0.max@root = g#f1.s0.d0.max@root + 2
//! realize f#f0 [f#f0.s0.d0.min@root extent max(f#f0.s0.d0.max@root - g#b1.min0, -1) + 1] {
//!   produce g#f1 {
//!     for g.x#L0 from g#f1.s0.d0.min@root + -2 extent select(0 < g#f1.s0.d0.max@root - g#f1.s0.d0.min@root + 1, g#f1.s0.d0.max@root - g#f1.s0.d0.min@root + 1 + 2, 0) {
//!       let f#f0.s0.d0.min@g.x#L0 = g.x#L0 + 2
//!       let f#f0.s0.d0.max@g.x#L0 = g.x#L0 + 2
//!       produce f#f0 {
//!         for f.x#L1 from f#f0.s0.d0.min@g.x#L0 extent 1 {
//!           provide f#f0(f.x#L1): f#b2 = in#b0(f.x#L1) + 1u8
//!         }
//!       }
//!       if likely(g.x#L0 >= g#f1.s0.d0.min@root) {
//!         provide g#f1(g.x#L0): g#b1 = f#b2(g.x#L0) + f#b2(g.x#L0 + 2)
//!       }
//!     }
//!   }
//! }
//! ```

use crate::lower::nests::ctx::{Ctx, Source};
use crate::lower::nests::vars::{Vars, variants};
use crate::lower::regions::region_table::Regions;
use crate::lower::regions::slide_windows::{bounds_of, edge_sym, first_iteration, kind_of};
use crate::lower::trace::LoweringTrace;
use crate::lower::walk::any_stmt;
use crate::tuning::MOST_ITERATIONS;
use halide_core::ids::FuncId;
use halide_ir::{Edge, Expr, ExprKind, For, ForKind, LoopId, Scope, Stmt, Sym, build, visit};
use halide_solve::simplify::{BoundQuery, Facts, simplify};
use std::collections::{BTreeMap, BTreeSet};

/// A window that slides.
pub(crate) struct Slid {
    pub(crate) func: FuncId,
    pub(crate) place: Scope,
    pub(crate) along: LoopId,
    pub(crate) dim: usize,
    /// True if it slides towards higher coordinates. One that does not computes its first window whole, in the first
    /// proper iteration.
    pub(crate) upwards: bool,
    /// Its last coordinate, in terms of the loop's variable and what is fixed in the loop.
    pub(crate) max: Expr,
    /// The coordinate behind what the previous iteration reached, or, where windows may lie apart, the first that is
    /// needed.
    pub(crate) reached: Expr,
    /// True if windows never lie apart.
    pub(crate) touching: bool,
    /// True if what is computed begins before `reached`, since tails need longer pieces.
    pub(crate) extended: bool,
}

/// The early start of a loop.
pub(crate) struct Early {
    along: LoopId,
    /// By how many iterations.
    iterations: i64,
    /// Its first proper value.
    first: Expr,
    /// True if its ends are worth code of their own: there is no serial loop of its definition inside.
    innermost: bool,
    /// Funcs that are computed early, with the condition that each has begun; `None` if that always holds.
    stages: BTreeMap<FuncId, Option<Expr>>,
}

/// The early start of one window.
struct Start {
    iterations: i64,
    min: Expr,
    begun: Expr,
    /// True if every iteration computes the same number of new coordinates, and the first early one begins where the
    /// window does.
    even: bool,
}

/// The reason not to start where the end of the first window is not known to be that of later ones: `slide_windows` has
/// compared them for consumers of which none starts early; where all do, they are the same.
const MIXED: &str = "its windows end by where those of several consumers begin, of which some start early";

/// Has loops start early that slide the windows in `slid`, where they can.
pub(crate) fn start_early(
    ctx: &Ctx<'_>,
    regions: &mut Regions,
    facts: &Facts,
    slid: Vec<Slid>,
    trace: &mut LoweringTrace,
) {
    let mut loops: BTreeMap<LoopId, Vec<Slid>> = BTreeMap::new();
    slid.into_iter().for_each(|s| loops.entry(s.along).or_default().push(s));
    for (along, windows) in loops {
        let defined = regions.defs.get(&Scope::Body(along)).into_iter().flatten();
        let reads = |e: &Expr| visit::any_node(e, |n| matches!(n.kind(), ExprKind::Read { .. }));
        if defined.map(|(_, e)| e).any(reads) {
            trace.did_not(ctx.program.loops[along].with_case(), "started early", "bounds in it are made of data");
            continue;
        }
        let mut starts: BTreeMap<FuncId, Start> = BTreeMap::new();
        let subject = |func| format!("{} along {}", ctx.name(func), ctx.program.loops[along].with_case());
        for window in &windows {
            match start(ctx, regions, facts, window) {
                Ok(start) => _ = starts.insert(window.func, start),
                Err(why) => trace.did_not(subject(window.func), "started early", why),
            }
        }
        // Each that stays may keep others from starting early.
        let slid: BTreeSet<FuncId> = windows.iter().map(|w| w.func).collect();
        let hosts = hosts(ctx, along);
        let firsts: BTreeMap<FuncId, BTreeSet<FuncId>> =
            windows.iter().map(|w| (w.func, first_windows(ctx, regions, w))).collect();
        loop {
            let before = starts.len();
            for func in starts.keys().copied().collect::<Vec<_>>() {
                let early = firsts[&func].iter().filter(|f| starts.contains_key(f)).count();
                let mixed = (early > 0 && early < firsts[&func].len()).then(|| MIXED.to_string());
                if let Some(why) = missing(ctx, &starts, &slid, &hosts, func, along).or(mixed) {
                    trace.did_not(subject(func), "started early", why);
                    starts.remove(&func);
                }
            }
            if starts.len() == before {
                break;
            }
        }
        let Some(iterations) = starts.values().map(|s| s.iterations).max() else { continue };
        let mut stages = BTreeMap::new();
        for window in windows {
            let Some(start) = starts.remove(&window.func) else { continue };
            regions.replace(edge_sym(ctx, window.func, window.dim, Edge::Min, window.place), window.place, start.min);
            trace.did(subject(window.func), format!("starts {} iterations early", start.iterations));
            let always = start.even && start.iterations == iterations;
            stages.insert(window.func, (!always).then_some(start.begun));
        }
        let early =
            Early { along, iterations, first: bounds_of(ctx, along).0, innermost: is_innermost(ctx, along), stages };
        regions.early.insert(along, early);
    }
}

/// Returns the early start of a window, or the reason that it cannot start early.
fn start(ctx: &Ctx<'_>, regions: &Regions, facts: &Facts, window: &Slid) -> Result<Start, String> {
    let Slid { func, place, along, dim, .. } = *window;
    let info = &ctx.loops[along];
    if !window.upwards {
        return Err("its window moves towards lower coordinates".into());
    }
    if place != Scope::Body(along) || !ctx.stored.get(&func).is_some_and(|s| s.contains(&info.parent)) {
        return Err("there is another loop around it or between its storage and the loop".into());
    }
    if kind_of(ctx, along) != ForKind::Serial {
        return Err("the loop is unrolled".into());
    }
    if !info.others.is_empty() || ctx.plan.groups.iter().any(|g| g.contains(&func)) {
        return Err("several stages share the loop".into());
    }
    if ctx.enclosing(place).any(|s| on_device(ctx, s)) || inside(ctx, place).any(|l| on_device(ctx, Scope::Body(l))) {
        return Err("it is computed on a GPU".into());
    }
    let mut plans = (0..ctx.plan.funcs[func].stages.len()).flat_map(|stage| {
        let all = variants(&ctx.plan.funcs[func].stages[stage]);
        all.into_iter().map(move |plan| Vars::of_plan(ctx, func, stage, plan, place))
    });
    if plans.any(|vars| vars.pure_var(dim).and_then(|v| vars.slack(v)).is_some()) {
        return Err("the dimension that moves is split".into());
    }
    if window.extended {
        return Err("tails of its producers need more than what is new".into());
    }
    let definition = |s, reach| regions.definition(s, reach);
    let apart = |a: &Expr, b: &Expr| BoundQuery::difference(a, b, facts).through(&definition).range().ends();
    let at_most =
        |a: &Expr, b: &Expr, limit| BoundQuery::difference(a, b, facts).through(&definition).is_at_most(limit);
    let first = bounds_of(ctx, along).0;
    let later = |by: i64| {
        let value = build::offset(first.clone(), by);
        visit::substitute(&window.max, &|s| (s == Sym::Loop(along)).then(|| value.clone()))
    };
    let step = {
        let previous = build::offset(build::loop_var(along), -1);
        apart(&window.max, &visit::substitute(&window.max, &|s| (s == Sym::Loop(along)).then(|| previous.clone())))
    };
    // Where the first window begins: where everything does that the loop computes.
    let begin = build::sym(edge_sym(ctx, func, dim, Edge::Min, info.parent));
    let length = BoundQuery::difference(&later(0), &begin, facts)
        .through(&definition)
        .upper(MOST_ITERATIONS - 1)
        .ok_or("its window has no constant length")?;
    let longest = length.max(0);
    // By how much it usually moves, or at least; where that is less than one per iteration, by a half or a quarter.
    let steps = [step.1, step.0].into_iter().flatten().filter(|n| *n > 0).map(|n| longest / n);
    let tries: Vec<i64> = steps.chain([longest, 2 * longest + 2, 4 * longest + 4]).collect();
    let suffices = |n: &i64| at_most(&later(-1 - n), &begin, -1);
    let iterations = tries.into_iter().find(suffices).ok_or("how far it moves per iteration is not known")?;
    let is_always = |length: i64| at_most(&begin, &later(0), length.saturating_neg());
    let even = match step {
        (Some(a), Some(b)) => a == b && a > 0 && (length + 1) % a == 0 && is_always(length),
        _ => false,
    };
    if even && window.touching {
        let begun = build::ge(build::loop_var(along), build::offset(first, -iterations));
        return Ok(Start { iterations, min: window.reached.clone(), begun, even: true });
    }
    let last = build::sym(edge_sym(ctx, func, dim, Edge::Max, place));
    let min = simplify(&build::max(window.reached.clone(), begin.clone()), facts);
    Ok(Start { iterations, min, begun: build::le(begin, last), even: false })
}

/// The Funcs whose windows begin elsewhere in the first iteration than in others, so that the window of a producer may
/// end elsewhere, too.
fn first_windows(ctx: &Ctx<'_>, regions: &Regions, window: &Slid) -> BTreeSet<FuncId> {
    let start = first_iteration(ctx, window.along);
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    let mut todo = vec![edge_sym(ctx, window.func, window.dim, Edge::Max, window.place)];
    while let Some(s) = todo.pop() {
        let Sym::Bound { func, at, .. } = s else { continue };
        if !ctx.is_inside(at, Scope::Body(window.along)) || !seen.insert(s) {
            continue;
        }
        let Some(value) = regions.value(s) else { continue };
        visit::for_each_node(value, &mut |n| match n.kind() {
            ExprKind::Sym(part) => todo.push(*part),
            ExprKind::Select(c, _, _) if *c == start => _ = found.insert(func),
            _ => {}
        });
    }
    found
}

fn on_device(ctx: &Ctx<'_>, scope: Scope) -> bool {
    let Scope::Body(l) = scope else { return false };
    matches!(kind_of(ctx, l), ForKind::GpuBlocks | ForKind::GpuThreads | ForKind::GpuLanes)
}

/// The loops inside of a scope.
fn inside<'c>(ctx: &'c Ctx<'_>, scope: Scope) -> impl Iterator<Item = LoopId> + use<'c> {
    ctx.loops.ids().filter(move |l| Scope::Body(*l) != scope && ctx.is_inside(Scope::Body(*l), scope))
}

/// Returns true if no loop of the same definition inside of `along` is serial.
fn is_innermost(ctx: &Ctx<'_>, along: LoopId) -> bool {
    let instance = ctx.loops[along].instance;
    let own = |l: &LoopId| ctx.loops[*l].instance == instance;
    inside(ctx, Scope::Body(along)).filter(own).all(|l| kind_of(ctx, l) != ForKind::Serial)
}

/// For every Func with loops inside of `along`: the Funcs that are computed in them.
fn hosts(ctx: &Ctx<'_>, along: LoopId) -> BTreeMap<FuncId, BTreeSet<FuncId>> {
    let body = Scope::Body(along);
    let mut hosts: BTreeMap<FuncId, BTreeSet<FuncId>> = BTreeMap::new();
    for (func, places) in &ctx.computed {
        for place in places.iter().filter(|p| ctx.is_inside(**p, body)) {
            for l in ctx.loops_between(body, *place) {
                hosts.entry(ctx.instances[ctx.loops[l].instance].func).or_default().insert(*func);
            }
        }
    }
    hosts
}

/// The reason that keeps `func` from being computed in iterations of `along` before the first proper one; windows of
/// `slid` move along the loop.
fn missing(
    ctx: &Ctx<'_>,
    starts: &BTreeMap<FuncId, Start>,
    slid: &BTreeSet<FuncId>,
    hosts: &BTreeMap<FuncId, BTreeSet<FuncId>>,
    func: FuncId,
    along: LoopId,
) -> Option<String> {
    let body = Scope::Body(along);
    // Itself and all that is computed in its loops.
    let members: BTreeSet<FuncId> = hosts.get(&func).into_iter().flatten().copied().chain([func]).collect();
    // The first of its windows is that of the first proper iteration.
    if let Some(inner) = members.iter().find(|f| slid.contains(f) && !starts.contains_key(f)) {
        return Some(format!("`{}` is computed in its loops and slides, but not from before", ctx.name(*inner)));
    }
    let reads =
        members.iter().flat_map(|f| ctx.templates.range((*f, 0)..=(*f, usize::MAX))).flat_map(|(_, t)| &t.reads);
    for read in reads {
        let Source::Func(source) = read.source else { continue };
        let here = ctx.computed.get(&source).is_some_and(|all| all.iter().any(|p| ctx.is_inside(*p, body)));
        if here && !members.contains(&source) && !starts.contains_key(&source) {
            return Some(format!("it reads `{}`, which does not", ctx.name(source)));
        }
    }
    None
}

impl Early {
    /// The number of iterations before the first proper one in which `func` is computed at `place`: by itself, or in
    /// loops of a Func that starts early.
    pub(crate) fn iterations_of(&self, ctx: &Ctx<'_>, func: FuncId, place: Scope) -> i64 {
        let loops = ctx.loops_between(Scope::Body(self.along), place);
        let mut hosts = loops.into_iter().map(|l| ctx.instances[ctx.loops[l].instance].func);
        let early = self.stages.contains_key(&func) || hosts.any(|host| self.stages.contains_key(&host));
        if early { self.iterations } else { 0 }
    }

    /// The loop, from its first early iteration on.
    pub(crate) fn extended(&self, mut l: For) -> For {
        let longer = build::offset(l.extent.clone(), self.iterations);
        l.min = build::offset(l.min, -self.iterations);
        l.extent = match build::as_int(&l.extent) {
            Some(1..) => longer,
            _ => build::select(build::lt(build::int(0), l.extent), longer, build::int(0)),
        };
        l
    }

    /// Returns the loop's body `s`, where all but what starts early waits for the first proper iteration.
    pub(crate) fn guarded(&self, s: Stmt) -> Stmt {
        if self.iterations == 0 && self.stages.values().all(Option::is_none) {
            return s;
        }
        self.statement(s)
    }
    fn statement(&self, s: Stmt) -> Stmt {
        if !self.holds(&s) {
            return self.wait(s);
        }
        match s {
            Stmt::Produce { func, ref body } => match self.stages.get(&func) {
                Some(Some(begun)) => build::if_else(self.mark(begun.clone()), s, build::nothing()),
                Some(None) => s,
                None => Stmt::Produce { func, body: Box::new(self.statement((**body).clone())) },
            },
            Stmt::Block(list) => {
                let (mut made, mut waiting) = (Vec::new(), Vec::new());
                for s in list {
                    if self.holds(&s) {
                        made.push(self.wait(build::block(std::mem::take(&mut waiting))));
                        made.push(self.statement(s));
                    } else {
                        waiting.push(s);
                    }
                }
                made.push(self.wait(build::block(waiting)));
                build::block(made)
            }
            Stmt::If { cond, then, otherwise } => {
                // Where the first proper iteration does nothing, so do those before.
                let proper = build::max(build::loop_var(self.along), self.first.clone());
                let cond = visit::substitute(&cond, &|s| (s == Sym::Loop(self.along)).then(|| proper.clone()));
                build::if_else(cond, self.statement(*then), self.statement(*otherwise))
            }
            other => visit::map_stmt(other, Expr::clone, |inner| visit::deep(|| self.statement(inner))),
        }
    }
    /// Returns true if a Func that `s` produces starts early.
    fn holds(&self, s: &Stmt) -> bool {
        any_stmt(s, &mut |s| matches!(s, Stmt::Produce { func, .. } if self.stages.contains_key(func)))
    }
    /// Not before the first proper iteration.
    fn wait(&self, s: Stmt) -> Stmt {
        if self.iterations == 0 || build::is_nothing(&s) {
            return s;
        }
        let proper = build::ge(build::loop_var(self.along), self.first.clone());
        build::if_else(self.mark(proper), s, build::nothing())
    }
    fn mark(&self, condition: Expr) -> Expr {
        if self.innermost { build::likely(condition) } else { condition }
    }
}
