//! Loop nests: loops and realizations as scheduled.
//!
//! Before: a plan. After: `Stage::Nest`: every Func that is used and not inlined has a `Produce` at its compute level
//! and, but for outputs, a `Realize` at its storage level; loop bounds are free `Bound` symbols.
//!
//! Storage that a schedule keeps outside of a parallel or vectorized loop while the values are computed inside it moves
//! into that loop's body: iterations share nothing, so that is where it can be without a race.
//!
//! Example of `f(x) = in(x) + 1`, `g(x) = f(x) + f(x + 2)`, stored outside of the loop that computes it:
//! ```text
//! f: store_root() compute_at(g, x)
//! ```
//! becomes
//! ```text
//! realize f#f0 [f#f0.s0.d0.min@root extent f#f0.s0.d0.max@root - f#f0.s0.d0.min@root + 1] {
//!   produce g#f1 {
//!     for g.x#L0 from g#f1.s0.d0.min@root extent g#f1.s0.d0.max@root - g#f1.s0.d0.min@root + 1 {
//!       produce f#f0 {
//!         for f.x#L1 from f#f0.s0.d0.min@g.x#L0 extent f#f0.s0.d0.max@g.x#L0 - f#f0.s0.d0.min@g.x#L0 + 1 {
//!           provide f#f0(f.x#L1): f#b2 = in#b0(f.x#L1) + 1u8
//!         }
//!       }
//!       provide g#f1(g.x#L0): g#b1 = f#b2(g.x#L0) + f#b2(g.x#L0 + 2)
//!     }
//!   }
//! }
//! ```

use crate::lower::nests::compute_with::{self, Block, Tree};
use crate::lower::nests::ctx::{Ctx, Instance, NestLoop, TemplateSite};
use crate::lower::nests::effects::{self, Told};
use crate::lower::nests::handed::call_of;
use crate::lower::nests::instruction_call;
use crate::lower::nests::vars::{Guard, Vars, bound, extent_between};
use crate::lower::regions::slide_windows::kind_of;
use crate::lower::trace::LoweringTrace;
use crate::plan::{Level, LoopLabel, LoopPlan, StagePlan, StageVar, VarOrigin};
use crate::schedule::FloatMode;
use halide_core::ids::FuncId;
use halide_core::pipeline::NoteKind;
use halide_ir::{
    self, BufId, DimField, Edge, Expr, Fault, For, ForKind, LoopId, LoopInfo, Scope, Stmt, Sym, build, visit,
};
use halide_solve::simplify::{Facts, simplify};
use std::collections::{BTreeMap, BTreeSet};

/// Funcs that are computed in the statement made so far and still need storage around it.
type Pending = BTreeSet<FuncId>;

/// Builds the whole nest and records instances, loops and places in `ctx`.
pub(crate) fn build_nests(ctx: &mut Ctx<'_>) -> Stmt {
    let root = Site { key: SiteKey::Root, scope: Scope::Root, kind: ForKind::Serial };
    produce_all(ctx, &root, build::nothing(), &mut Pending::new())
}

/// A place with what stands there.
struct Site {
    key: SiteKey,
    scope: Scope,
    /// The kind of the loop whose body this is.
    kind: ForKind,
}

impl Site {
    /// Removes from `pending` the Funcs whose storage is here, and returns them.
    fn take(&self, ctx: &Ctx<'_>, pending: &mut Pending) -> Vec<FuncId> {
        let at_once = self.kind.is_concurrent();
        let here = |f: &FuncId| at_once || is_at(&ctx.plan.funcs[*f].store, &self.key);
        let (here, outside) = pending.iter().partition(|f| here(f));
        *pending = outside;
        Pending::into_iter(here).collect()
    }
}

/// A place where Funcs are computed or stored.
enum SiteKey {
    Root,
    /// A loop by label, and the definitions whose loop it is.
    Loop(Vec<(FuncId, usize)>, LoopLabel),
}

fn is_at(level: &Level, site: &SiteKey) -> bool {
    match (level, site) {
        (Level::Root, SiteKey::Root) => true,
        (Level::At { func, stage, label }, SiteKey::Loop(of, l)) => of.contains(&(*func, *stage)) && label == l,
        _ => false,
    }
}

/// Puts the production of every Func computed at `site` before `body`. Storage that is here begins there, not before.
fn produce_all(ctx: &mut Ctx<'_>, site: &Site, mut body: Stmt, pending: &mut Pending) -> Stmt {
    let plan = ctx.plan;
    let mut done = BTreeSet::new();
    for &func in plan.pipeline.order.iter().rev() {
        if !is_at(&plan.funcs[func].compute, &site.key) || !ctx.used.contains(&func) || !done.insert(func) {
            continue;
        }
        let group = plan.groups.iter().find(|g| g.contains(&func));
        let together: Vec<FuncId> = group.cloned().unwrap_or_else(|| vec![func]);
        let members: Vec<FuncId> = together.iter().copied().filter(|f| ctx.used.contains(f)).collect();
        done.extend(&members);
        members.iter().for_each(|f| ctx.computed.entry(*f).or_default().push(site.scope));
        ctx.computations += members.len();
        let blocks = compute_with::blocks(ctx, &together).into_iter();
        let stages: Vec<Stmt> = blocks.map(|b| emit_block(ctx, b, site.scope, pending)).collect();
        let produce = |body, func: &FuncId| Stmt::Produce { func: *func, body: Box::new(body) };
        let produce = members.iter().rev().fold(build::block(stages), produce);
        pending.extend(members.into_iter().filter(|f| !ctx.is_output(*f)));
        let here = site.take(ctx, pending);
        body = store_all(ctx, site.scope, build::block([produce, body]), here);
    }
    body
}

/// Puts storage of `funcs` around `body`.
fn store_all(ctx: &mut Ctx<'_>, scope: Scope, mut body: Stmt, funcs: Vec<FuncId>) -> Stmt {
    for func in funcs {
        ctx.stored.entry(func).or_default().push(scope);
        ctx.stores.push(func);
        // `infer_bounds` replaces these by what is computed, which may be more than what is asked for.
        let bounds = (0..ctx.plan.pipeline.funcs[func].dims())
            .map(|d| {
                let (min, max) = (bound(func, 0, d, Edge::Min, scope), bound(func, 0, d, Edge::Max, scope));
                (min.clone(), extent_between(&min, &max))
            })
            .collect();
        body = Stmt::Realize { func, bounds, when: None, body: Box::new(body) };
    }
    body
}

/// All variants of a definition, or a definition with those that are computed with it, which have no variants.
fn emit_block(ctx: &mut Ctx<'_>, block: Block, scope: Scope, pending: &mut Pending) -> Stmt {
    let ((func, stage), plan) = (block.at, ctx.plan);
    if block.members.is_empty() && block.replaces.is_empty() {
        let nest = emit_variants(ctx, func, stage, &plan.funcs[func].stages[stage], scope, pending);
        // Its instances stand for its region, which checks and updates go by, though nothing is left to do.
        return if is_in_memory(ctx, func, stage) { build::nothing() } else { nest };
    }
    let tree = compute_with::declare_block(ctx, block, &mut |ctx, (func, stage), inherited| {
        declare_loops(ctx, func, stage, &plan.funcs[func].stages[stage], scope, inherited)
    });
    let checks = compute_with::agreements(ctx, &tree);
    build::block(checks.into_iter().chain([emit_tree(ctx, &tree, pending)]))
}

/// Returns true if the values of a definition are in the caller's memory already.
fn is_in_memory(ctx: &Ctx<'_>, func: FuncId, stage: usize) -> bool {
    let position = ctx.plan.pipeline.outputs.iter().position(|f| *f == func);
    stage == 0 && position.is_some_and(|p| ctx.options.in_memory.contains(&p))
}

fn emit_variants<'a>(
    ctx: &mut Ctx<'a>,
    func: FuncId,
    stage: usize,
    plan: &'a StagePlan,
    scope: Scope,
    pending: &mut Pending,
) -> Stmt {
    let all = plan.variants.iter().map(|(cond, variant)| (Some(cond), variant)).chain([(None, plan)]);
    let mut arms: Vec<(Option<&halide_ir::Expr>, Stmt, Pending)> = Vec::new();
    let mut stored_inside = Pending::new();
    for (cond, variant) in all {
        let known = cond.and_then(|cond| decided(ctx, cond));
        if known == Some(false) {
            continue;
        }
        let cond = cond.filter(|_| known.is_none());
        let mut own = Pending::new();
        let before = ctx.stores.len();
        let arm = match (cond.is_some() || known.is_some(), &plan.fail) {
            (true, _) => emit_variants(ctx, func, stage, variant, scope, &mut own),
            (false, Some((message, at))) => {
                let place = at.map(|at| format!("{at}: ")).unwrap_or_default();
                let fault = ctx.program.faults.push(Fault::Promise { what: format!("{place}{message}") });
                Stmt::Assert { cond: build::boolean(false), fault, args: Vec::new() }
            }
            (false, None) => emit_nest(ctx, func, stage, plan, scope, &mut own),
        };
        stored_inside.extend(&ctx.stores[before..]);
        arms.push((cond, arm, own));
        if known.is_some() {
            // Those behind it do not run.
            break;
        }
    }
    // A Func that one variant stores inside of its loops is not stored around all of them as well.
    let mut result = build::nothing();
    for (cond, arm, own) in arms.into_iter().rev() {
        let (here, outside): (Pending, Pending) = own.iter().partition(|f| stored_inside.contains(f));
        pending.extend(outside);
        let arm = store_all(ctx, scope, arm, here.into_iter().collect());
        result = match cond {
            None => arm,
            Some(cond) => build::if_else(cond.clone(), arm, result),
        };
    }
    result
}

/// The truth of a condition of a specialisation, where what this code takes for granted of strides and of pixels
/// decides it: a buffer of one coordinate may have another stride, and either arm gives the same then.
fn decided(ctx: &Ctx<'_>, cond: &Expr) -> Option<bool> {
    let known = |s: Sym| {
        let Sym::Buffer { buf, dim, field } = s else { return None };
        let (info, dim) = (&ctx.program.buffers[buf], usize::from(dim));
        let rule = ctx.rules.iter().find(|rule| rule.property == (buf, dim, field) && !rule.multiple);
        let is_dense = field == DimField::Stride && info.unit_stride == Some(dim);
        rule.map(|rule| rule.value.clone()).or_else(|| is_dense.then(|| build::int(1)))
    };
    let value = visit::substitute(cond, &known);
    // Of what speaks of something else, the simplifier decides.
    let speaks_of_it = value != *cond;
    speaks_of_it.then(|| simplify(&value, &Facts::new())).and_then(|value| build::as_bool(&value))
}

/// The loops of one variant with everything computed inside them.
fn emit_nest<'a>(
    ctx: &mut Ctx<'a>,
    func: FuncId,
    stage: usize,
    plan: &'a StagePlan,
    scope: Scope,
    pending: &mut Pending,
) -> Stmt {
    let instance = declare_loops(ctx, func, stage, plan, scope, &[]);
    if let Some(needs) = &ctx.templates[&(func, stage)].needs {
        return needs.call(func, &ctx.program.func_buffers[func], scope);
    }
    emit_tree(ctx, &Tree::alone(instance), pending)
}

/// The loops of a block with everything computed inside them.
fn emit_tree(ctx: &mut Ctx<'_>, tree: &Tree, pending: &mut Pending) -> Stmt {
    // Storage of what this nest computes may end inside it; what stands before it in `pending` is none of its business.
    let mut own = Pending::new();
    let body = emit_inner(ctx, tree, &mut own);
    pending.append(&mut own);
    body
}

/// Emits the part of a definition's nest that lies inside of the loops of its leader, with its members.
fn emit_inner(ctx: &mut Ctx<'_>, tree: &Tree, own: &mut Pending) -> Stmt {
    let Instance { func, stage, plan, .. } = ctx.instances[tree.instance];
    let nest = describe(ctx, tree.instance);
    let position = |v: &StageVar| plan.loops.iter().position(|l| l.var == *v).expect("leaves are loops");
    // A plan with a guard inside of a call is refused: those that speak of its loops always hold.
    let called = call_of(plan).map_or(&[][..], |(axes, _)| axes);
    let depth = plan.loops.len() - called.len();
    let mut guards: Vec<(usize, Expr, bool)> = nest
        .guards
        .into_iter()
        .filter(|g| !g.leaves.iter().any(|leaf| called.contains(leaf)))
        .map(|g| (g.leaves.iter().map(position).max().unwrap_or(0), g.cond, g.skips_all))
        .collect();
    guards.sort_by_key(|g| g.0);
    let guarded = |body: Stmt, cond: &Expr| build::if_else(cond.clone(), body, build::nothing());
    let mut body = if is_in_memory(ctx, func, stage) { build::nothing() } else { nest.store };
    for (_, cond, _) in guards.iter().filter(|g| !g.2) {
        body = guarded(body, cond);
    }
    for inside in (tree.from_leader..=depth).rev() {
        if inside == tree.shared {
            // What others do in shared loops is not for these conditions.
            body = guards.iter().filter(|g| g.2 && g.0 < inside).fold(body, |body, g| guarded(body, &g.1));
            body = compute_with::own_iterations(ctx, tree.instance).iter().fold(body, guarded);
        }
        for member in tree.members.iter().filter(|g| g.from_leader == inside) {
            // Loops of a member are no place for the storage of what its leader computes.
            let mut of_member = Pending::new();
            body = build::block([body, emit_inner(ctx, member, &mut of_member)]);
            own.append(&mut of_member);
        }
        if inside == tree.from_leader {
            break;
        }
        let depth = inside - 1;
        let l = &plan.loops[depth];
        let id = ctx.instances[tree.instance].leaves[&l.var];
        let replaced = tree.replaces.iter().filter(|(_, loops)| depth < *loops).map(|(at, _)| *at);
        let key = SiteKey::Loop(std::iter::once((func, stage)).chain(replaced).collect(), plan.label(l));
        let site = Site { key, scope: Scope::Body(id), kind: l.kind };
        // What was computed in inner loops and is stored here.
        let here = site.take(ctx, own);
        body = store_all(ctx, site.scope, body, here);
        let before = ctx.computations;
        body = produce_all(ctx, &site, body, own);
        if depth >= tree.shared {
            if ctx.computations > before {
                let inst = &ctx.instances[tree.instance];
                let entries = Vars::of(ctx, inst).entry_guards(depth + 1, &|v| inst.leaf(v));
                body = entries.iter().fold(body, |body, g| guarded(body, &g.cond));
            }
            body = guards.iter().filter(|g| g.2 && g.0 == depth).fold(body, |body, g| guarded(body, &g.1));
        }
        let bounds = ctx.loops[id].bounds.clone();
        let (min, extent) = bounds.unwrap_or_else(|| nest.bounds[&l.var].clone());
        body = Stmt::For(Box::new(For { id, kind: l.kind, min, extent, condition: None, body }));
    }
    body
}

/// Gives every loop of a variant its id, but for the outer ones that are `inherited`, and registers the instance.
fn declare_loops<'a>(
    ctx: &mut Ctx<'a>,
    func: FuncId,
    stage: usize,
    plan: &'a StagePlan,
    scope: Scope,
    inherited: &[LoopId],
) -> usize {
    let instance = ctx.instances.len();
    let mut parent = inherited.last().map_or(scope, |l| Scope::Body(*l));
    let mut leaves: BTreeMap<StageVar, LoopId> = plan.loops.iter().zip(inherited).map(|(l, id)| (l.var, *id)).collect();
    // What is computed in a case of another definition is told apart by that, too.
    let around = match scope {
        Scope::Root => "",
        Scope::Body(l) => &ctx.program.loops[l].case,
    };
    let cases = [around, &plan.case].into_iter().filter(|case| !case.is_empty());
    let case = cases.collect::<Vec<&str>>().join(", ");
    for l in &plan.loops[inherited.len()..] {
        let name = format!("{}.{}", ctx.stage_name(func, stage), plan.vars[l.var].name);
        let never_unroll = plan.options.never_unroll;
        let case = case.clone();
        let (definition, partition) = (Some((func, stage)), l.partition);
        let (scans, is_relaxed) = (scans(ctx, func, l), plan.float == FloatMode::Relaxed);
        let at = l.at;
        let info = LoopInfo { definition, case, partition, never_unroll, scans, is_relaxed, at, ..LoopInfo::new(name) };
        let id = ctx.program.loops.push(info);
        ctx.loops.push(NestLoop { instance, others: Vec::new(), bounds: None, parent });
        leaves.insert(l.var, id);
        parent = Scope::Body(id);
    }
    ctx.instances.push(Instance { func, stage, plan, at: scope, leaves, shared: BTreeMap::new() });
    instance
}

/// The buffers that a loop of `func` stores to if it goes along a scan.
pub(super) fn scans(ctx: &Ctx<'_>, func: FuncId, l: &LoopPlan) -> BTreeSet<BufId> {
    if l.is_scan { ctx.program.func_buffers[func].iter().copied().collect() } else { BTreeSet::new() }
}

/// The parts of a variant's nest.
struct Nest {
    bounds: BTreeMap<StageVar, (Expr, Expr)>,
    guards: Vec<Guard>,
    /// The store of one point under the domain's predicate.
    store: Stmt,
}

/// The values of a definition's placeholders in terms of its loops.
pub(crate) fn placeholders(ctx: &Ctx<'_>, inst: &Instance<'_>) -> BTreeMap<Sym, Expr> {
    let vars = Vars::of(ctx, inst);
    let template = &ctx.templates[&(inst.func, inst.stage)];
    let mut values: BTreeMap<Sym, Expr> = BTreeMap::new();
    for (id, info) in inst.plan.vars.enumerate() {
        let placeholder = match info.origin {
            VarOrigin::Pure { dim } => template.dims[dim],
            VarOrigin::Reduction { dim, .. } => template.rvars[dim].0,
            VarOrigin::Derived | VarOrigin::One => continue,
        };
        values.insert(placeholder, vars.value(id, &|v| inst.leaf(v)));
    }
    values
}

fn describe(ctx: &Ctx<'_>, instance: usize) -> Nest {
    let inst = &ctx.instances[instance];
    let vars = Vars::of(ctx, inst);
    let leaf = |v: StageVar| inst.leaf(v);
    let template = &ctx.templates[&(inst.func, inst.stage)];
    let values = placeholders(ctx, inst);
    let lookup = |s: Sym| values.get(&s).cloned();
    let mut memo = visit::Memo::new();
    let mut put = |e: &Expr| visit::substitute_with(e, &lookup, &mut memo);
    let called = call_of(inst.plan);
    let provide = match &template.sites[..] {
        _ if let Some(called) = called => instruction_call::call(ctx, inst, called, &values),
        [site] => {
            let buffers = ctx.program.func_buffers[inst.func].iter();
            let stored = buffers.zip(&site.values).filter(|(b, v)| !leaves(v, **b, site));
            let values = stored.map(|(&b, v)| (b, put(v))).collect();
            Stmt::Provide { func: inst.func, args: site.lhs.iter().map(&mut put).collect(), values, mask: None }
        }
        sites => provide_all(ctx, inst.func, sites, &mut put),
    };
    let (guarded, always): (Vec<&Told>, Vec<&Told>) =
        template.told.iter().filter(|t| !t.is_uniform() || t.kind == NoteKind::Print).partition(|t| t.guarded);
    let guarded: Vec<Stmt> = guarded.into_iter().filter_map(|t| effects::stmt(ctx, t, &mut put)).collect();
    let always: Vec<Stmt> = always.into_iter().filter_map(|t| effects::stmt(ctx, t, &mut put)).collect();
    let provide = match inst.plan.atomic {
        _ if matches!(&provide, Stmt::Provide { values, .. } if values.is_empty()) => build::nothing(),
        true => Stmt::Atomic { func: inst.func, body: Box::new(provide) },
        false => provide,
    };
    let provide = build::block(guarded.into_iter().chain([provide]).collect::<Vec<_>>());
    let store = match &template.predicate {
        Some(p) => build::if_else(put(p), provide, build::nothing()),
        None => provide,
    };
    let store = build::block(always.into_iter().chain([store]).collect::<Vec<_>>());
    let mut bounds = BTreeMap::new();
    for l in &inst.plan.loops {
        let (min, extent) = vars.loop_bounds(l.var, &leaf);
        bounds.insert(l.var, (put(&min), put(&extent)));
    }
    let mut guards = vars.guards(&leaf);
    guards.iter_mut().for_each(|g| g.cond = put(&g.cond));
    Nest { bounds, guards, store }
}

/// Stores to several sites in order, after all that is read for them was read: what reads memory gets a name before.
fn provide_all(ctx: &Ctx<'_>, func: FuncId, sites: &[TemplateSite], put: &mut dyn FnMut(&Expr) -> Expr) -> Stmt {
    let (mut bindings, mut stores) = (Vec::new(), Vec::new());
    for site in sites {
        let mut all = Vec::new();
        for (&name, e) in site.names.iter().zip(site.exprs()) {
            let value = put(e);
            let reads = visit::any_node(&value, |n| matches!(n.kind(), halide_ir::ExprKind::Read { .. }));
            all.push(if reads { build::typed_sym(name, value.ty()) } else { value.clone() });
            if reads {
                bindings.push((name, value));
            }
        }
        let values = all.split_off(site.lhs.len());
        let values = ctx.program.func_buffers[func].iter().copied().zip(values).collect();
        stores.push(Stmt::Provide { func, args: all, values, mask: None });
    }
    build::let_in(bindings, build::block(stores))
}

/// Returns true if a value is what the element holds already, so that it need not be stored.
fn leaves(value: &Expr, buf: halide_ir::BufId, site: &TemplateSite) -> bool {
    matches!(value.kind(), halide_ir::ExprKind::Read { buf: b, args } if *b == buf && **args == *site.lhs)
}

/// Writes to loops which Funcs allocate memory there, outside of where they are stored. It stays inside of loops whose
/// iterations run at once.
pub(crate) fn hoist_levels(ctx: &mut Ctx<'_>, trace: &mut LoweringTrace) {
    let mut all = Vec::new();
    for (&func, places) in &ctx.stored {
        let (store, hoist) = (&ctx.plan.funcs[func].store, &ctx.plan.funcs[func].hoist);
        for &stored in places.iter().filter(|_| store != hoist) {
            let outermost = hoist_level(ctx, func, stored, trace);
            if outermost != stored {
                all.push((func, outermost));
            }
        }
    }
    for (func, scope) in all {
        match scope {
            Scope::Root => ctx.program.hoisted.insert(func),
            Scope::Body(l) => ctx.program.loops[l].hoisted.insert(func),
        };
    }
}

/// The outermost scope, up to its hoist level, where the memory of a Func that is stored at `stored` may be allocated.
fn hoist_level(ctx: &Ctx<'_>, func: FuncId, stored: Scope, trace: &mut LoweringTrace) -> Scope {
    let mut outermost = stored;
    for scope in ctx.enclosing(stored) {
        outermost = scope;
        let Scope::Body(l) = scope else { break };
        let info = &ctx.instances[ctx.loops[l].instance];
        let (var, _) = info.leaves.iter().find(|(_, id)| **id == l).expect("a loop is a leaf of its instance");
        let key = SiteKey::Loop(vec![(info.func, info.stage)], info.plan.labels[*var]);
        if is_at(&ctx.plan.funcs[func].hoist, &key) {
            break;
        }
        if kind_of(ctx, l).is_concurrent() {
            let what = format!("hoisted out of {}", ctx.program.loops[l]);
            trace.did_not(ctx.name(func), what, "its iterations run at once");
            break;
        }
    }
    outermost
}
