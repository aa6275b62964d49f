//! Loops that run for several definitions as one. Part of `build_nests`.
//!
//! A block is a tree of definitions; each one's outer loops, as many as the plan says, are those of its leader. Such a
//! loop runs over the union of what its definitions need, each moved as its alignment says, and each definition keeps
//! to its own values by a condition. So every definition computes the points that it would compute alone.
//!
//! Producers inside of a shared loop, for one definition or several, are computed in all iterations; in those that are
//! not a definition's own they are computed for the nearest one that is, so that nothing else is ever asked for.
//!
//! Groups form trees, whose outer loops are loops of the root: each runs over the union of the regions of its stages,
//! moved as alignment says, and a condition keeps each stage to its own points. Bounds of what is computed in such a
//! loop use the nearest iteration that is a stage's own.

use crate::lower::nests::build_nests::{placeholders, scans};
use crate::lower::nests::ctx::{Ctx, Instance, SharedLeaf};
use crate::lower::nests::vars::Vars;
use crate::lower::trace::LoweringTrace;
use crate::plan::{Agreement, Property, StageVar, With, block_order};
use crate::schedule::{Align, FloatMode, Partition};
use halide_core::ids::FuncId;
use halide_ir::{Expr, ExprKind, Fault, LoopId, Scope, Stmt, build, visit};
use std::collections::{BTreeMap, BTreeSet};

/// A definition.
type Stage = (FuncId, usize);

/// A definition and those that are computed with it.
pub(crate) struct Block {
    pub(crate) at: Stage,
    /// Each with the number of loops that it shares with this one, outermost first, and how they are aligned.
    pub(crate) members: Vec<(Vec<Align>, Block)>,
    /// Definitions that nobody needs, whose place this one took, with the number of loops that are theirs as well.
    pub(crate) replaces: Vec<(Stage, usize)>,
}

impl Block {
    /// The largest number of loops that this definition shares with a member.
    fn shared_with_members(&self) -> usize {
        self.members.iter().map(|(align, _)| align.len()).max().unwrap_or(0)
    }
}

/// Links between definitions that are computed together: leaders, and definitions whose place others took.
struct Links {
    with: BTreeMap<Stage, With>,
    replaced: BTreeMap<Stage, Vec<(Stage, usize)>>,
}

/// The blocks of Funcs that are computed together, in the order in which they come.
pub(crate) fn blocks(ctx: &Ctx<'_>, members: &[FuncId]) -> Vec<Block> {
    let of = |f: FuncId| (0..ctx.plan.funcs[f].stages.len()).map(move |s| (f, s));
    if let [func] = members {
        return of(*func).map(|at| Block { at, members: Vec::new(), replaces: Vec::new() }).collect();
    }
    let links = links(ctx, members.iter().flat_map(|&f| of(f)));
    let stages: Vec<Stage> = members.iter().filter(|f| ctx.used.contains(f)).flat_map(|&f| of(f)).collect();
    let root = |mut s| {
        while let Some(with) = links.with.get(&s) {
            s = with.leader;
        }
        s
    };
    let needs = |(func, stage): Stage| ctx.plan.funcs[func].stages[stage].needs.as_slice();
    let order = block_order(&stages, &root, &needs).expect("`plan` checked the order of stages");
    order.into_iter().map(|at| block(&links, at)).collect()
}

fn block(links: &Links, at: Stage) -> Block {
    let members = links.with.iter().filter(|(_, with)| with.leader == at);
    Block {
        at,
        members: members.map(|(member, with)| (with.align.clone(), block(links, *member))).collect(),
        replaces: links.replaced.get(&at).cloned().unwrap_or_default(),
    }
}

/// The plan's links, but for definitions that nobody needs: the member of one that shares most loops takes its place.
fn links(ctx: &Ctx<'_>, stages: impl Iterator<Item = Stage>) -> Links {
    let (mut with, mut unused) = (BTreeMap::new(), Vec::new());
    for (func, stage) in stages {
        with.extend(ctx.plan.funcs[func].stages[stage].with.clone().map(|w| ((func, stage), w)));
        if !ctx.used.contains(&func) {
            unused.push((func, stage));
        }
    }
    let mut replaced: BTreeMap<Stage, Vec<(Stage, usize)>> = BTreeMap::new();
    for gone in unused {
        let own: Option<With> = with.remove(&gone);
        let members = with.iter().filter(|(_, w)| w.leader == gone).map(|(member, w)| (w.align.len(), *member));
        let Some((loops, heir)) = members.max() else { continue };
        with.remove(&heir);
        with.values_mut().filter(|w| w.leader == gone).for_each(|w| w.leader = heir);
        let inherited = own.map(|w| With { align: w.align.into_iter().take(loops).collect(), ..w });
        with.extend(inherited.map(|w| (heir, w)));
        let mut names = replaced.remove(&gone).unwrap_or_default();
        names.push((gone, usize::MAX));
        let names = names.into_iter().map(|(stage, n)| (stage, n.min(loops)));
        replaced.entry(heir).or_default().extend(names);
    }
    Links { with, replaced }
}

/// A block whose loops have been declared.
pub(crate) struct Tree {
    /// An index into [`Ctx::instances`].
    pub(crate) instance: usize,
    /// The number of loops that are its leader's.
    pub(crate) from_leader: usize,
    /// The number of loops that run for others as well.
    pub(crate) shared: usize,
    /// Members that run in its loops and begin in them, which may be members of its members.
    pub(crate) members: Vec<Tree>,
    pub(crate) replaces: Vec<(Stage, usize)>,
}

impl Tree {
    /// A definition that is computed with no other.
    pub(crate) fn alone(instance: usize) -> Tree {
        Tree { instance, from_leader: 0, shared: 0, members: Vec::new(), replaces: Vec::new() }
    }
}

/// Declares the loops of a block and works out what the shared ones mean for each of its definitions. `declare` makes
/// the loops of a definition but for those that it has already, and gives its instance.
pub(crate) fn declare_block<'a>(
    ctx: &mut Ctx<'a>,
    block: Block,
    declare: &mut impl FnMut(&mut Ctx<'a>, Stage, &[LoopId]) -> usize,
) -> Tree {
    let mut all = Vec::new();
    let tree = declare_tree(ctx, block, None, declare, &mut all);
    let loops: BTreeSet<LoopId> = all.iter().flat_map(|&(i, shared)| loops(ctx, i, shared)).collect();
    loops.into_iter().for_each(|l| unite(ctx, l));
    for (instance, shared) in all {
        (0..shared).for_each(|position| stay_inside(ctx, instance, position));
    }
    tree
}

fn declare_tree<'a>(
    ctx: &mut Ctx<'a>,
    block: Block,
    leader: Option<(usize, &[Align])>,
    declare: &mut impl FnMut(&mut Ctx<'a>, Stage, &[LoopId]) -> usize,
    all: &mut Vec<(usize, usize)>,
) -> Tree {
    let inherited = leader.map_or(Vec::new(), |(instance, align)| loops(ctx, instance, align.len()));
    let instance = declare(ctx, block.at, &inherited);
    let plan = ctx.instances[instance].plan;
    let (never_unroll, is_relaxed) = (plan.options.never_unroll, plan.float == FloatMode::Relaxed);
    for (l, own) in inherited.iter().zip(&ctx.instances[instance].plan.loops) {
        ctx.loops[*l].others.push(instance);
        let scans = scans(ctx, ctx.instances[instance].func, own);
        let info = &mut ctx.program.loops[*l];
        // A loop is cut as any of its definitions says; `plan` saw to it that no two say different things.
        if info.partition == Partition::Auto {
            info.partition = own.partition;
        }
        info.never_unroll |= never_unroll;
        info.scans.extend(scans);
        info.is_relaxed &= is_relaxed;
        info.at = info.at.or(own.at);
    }
    let shared = block.shared_with_members().max(inherited.len());
    for position in 0..shared {
        let own = own_values(ctx, instance, position, &|v| ctx.instances[instance].leaf(v)).0;
        let offset = leader.and_then(|(h, align)| Some(offset(ctx, &own, h, position, *align.get(position)?)));
        let (var, l) = leaf_at(ctx, instance, position);
        let offset = offset.unwrap_or_else(|| build::int(0));
        let value = build::add(build::loop_var(l), offset.clone());
        let leaf = SharedLeaf { value: value.clone(), offset, own: Some(own), within: Some(value), ends: None };
        ctx.instances[instance].shared.insert(var, leaf);
    }
    all.push((instance, shared));
    let mut members = Vec::new();
    for (align, member) in block.members {
        let mut tree = declare_tree(ctx, member, Some((instance, &align)), declare, all);
        // Those that share fewer loops with the member than it does with this one run after it, in this one's loops.
        let (inside, outside) = tree.members.into_iter().partition(|g| g.from_leader >= tree.from_leader);
        tree.members = inside;
        members.push(tree);
        members.extend::<Vec<Tree>>(outside);
    }
    Tree { instance, from_leader: inherited.len(), shared, members, replaces: block.replaces }
}

/// The variable and the loop number `position`, from the outermost, of an instance.
fn leaf_at(ctx: &Ctx<'_>, instance: usize, position: usize) -> (StageVar, LoopId) {
    let inst = &ctx.instances[instance];
    let var = inst.plan.loops[position].var;
    (var, inst.leaves[&var])
}

fn loops(ctx: &Ctx<'_>, instance: usize, count: usize) -> Vec<LoopId> {
    (0..count).map(|position| leaf_at(ctx, instance, position).1).collect()
}

/// The first value and the number of values of a loop variable for its own definition, and whether they are made of
/// nothing but the loops outside and the definition's region.
fn own_values(
    ctx: &Ctx<'_>,
    instance: usize,
    position: usize,
    leaf: &dyn Fn(StageVar) -> Expr,
) -> ((Expr, Expr), bool) {
    let inst = &ctx.instances[instance];
    let (min, extent) = Vars::of(ctx, inst).loop_bounds(leaf_at(ctx, instance, position).0, leaf);
    let values = placeholders(ctx, inst);
    let put = |e: &Expr| visit::substitute(e, &|s| values.get(&s).cloned());
    let own = (put(&min), put(&extent));
    let reads = |e: &Expr| visit::any_node(e, |n| matches!(n.kind(), ExprKind::Read { .. }));
    let known = own == (min, extent) && !reads(&own.0) && !reads(&own.1);
    (own, known)
}

fn last((min, extent): &(Expr, Expr)) -> Expr {
    build::offset(build::add(min.clone(), extent.clone()), -1)
}

/// Returns the offset from the values of the loop to those of a member.
fn offset(ctx: &Ctx<'_>, own: &(Expr, Expr), leader: usize, position: usize, align: Align) -> Expr {
    let leader = &ctx.instances[leader].shared[&leaf_at(ctx, leader, position).0];
    let theirs = leader.own.as_ref().expect("a leader's values are known before its members'");
    let more = match align {
        Align::NoAlign => return leader.offset.clone(),
        Align::AlignStart => build::sub(own.0.clone(), theirs.0.clone()),
        Align::AlignEnd => build::sub(last(own), last(theirs)),
    };
    build::add(leader.offset.clone(), more)
}

/// Lets a loop run over the values of all that share it.
fn unite(ctx: &mut Ctx<'_>, l: LoopId) {
    let info = &ctx.loops[l];
    let members: Vec<(usize, StageVar)> = std::iter::once(info.instance)
        .chain(info.others.iter().copied())
        .filter_map(|i| Some((i, *ctx.instances[i].leaves.iter().find(|(_, id)| **id == l)?.0)))
        .collect();
    let spans: Vec<(Expr, Expr)> = members
        .iter()
        .map(|(i, var)| {
            let leaf = &ctx.instances[*i].shared[var];
            let (min, extent) = leaf.own.clone().expect("values of loops that run for others are known");
            (build::sub(min, leaf.offset.clone()), extent)
        })
        .collect();
    let Some((first, others)) = spans.split_first() else { return };
    let bounds = if others.iter().all(|other| other == first) {
        for (i, var) in &members {
            ctx.instances[*i].shared.entry(*var).and_modify(|leaf| leaf.own = None);
        }
        first.clone()
    } else {
        let min = others.iter().fold(first.0.clone(), |a, b| build::min(a, b.0.clone()));
        let end = others.iter().fold(last(first), |a, b| build::max(a, last(b)));
        (min.clone(), build::offset(build::sub(end, min), 1))
    };
    ctx.loops[l].bounds = Some(bounds);
}

/// Finds the nearest of a definition's own values for any iteration of a shared loop.
fn stay_inside(ctx: &mut Ctx<'_>, instance: usize, position: usize) {
    let (var, _) = leaf_at(ctx, instance, position);
    let inst = &ctx.instances[instance];
    let leaf = &inst.shared[&var];
    if leaf.own.is_none() {
        return;
    }
    let (own, known) = own_values(ctx, instance, position, &|v| inst.leaf_within(v));
    let ends = (own.0.clone(), last(&own));
    let within = build::min(build::max(leaf.value.clone(), ends.0.clone()), ends.1.clone());
    ctx.instances[instance].shared.entry(var).and_modify(|leaf| {
        leaf.within = known.then_some(within);
        leaf.ends = known.then_some(ends);
    });
}

/// Checks that variables of definitions that need values of others in their loops are alike where the plan asks for it:
/// then iterations that run together are of the same coordinates.
pub(crate) fn agreements(ctx: &mut Ctx<'_>, tree: &Tree) -> Vec<Stmt> {
    let (mut all, mut todo) = (Vec::new(), vec![tree]);
    while let Some(tree) = todo.pop() {
        all.push(tree.instance);
        todo.extend(&tree.members);
    }
    let mut checks = Vec::new();
    for &reader in &all {
        for agreement in &ctx.instances[reader].plan.agreements {
            let is_it = |i: &&usize| (ctx.instances[**i].func, ctx.instances[**i].stage) == agreement.of;
            let Some(&stores) = all.iter().find(is_it) else { continue };
            checks.push(check(ctx, agreement, stores, reader));
        }
    }
    let assert = |(cond, what, args): (Expr, String, [Expr; 2])| {
        let fault = ctx.program.faults.push(Fault::Promise { what });
        Stmt::Assert { cond, fault, args: args.to_vec() }
    };
    checks.into_iter().map(assert).collect()
}

/// The condition that two variables are alike, in words, too, and their values.
fn check(ctx: &Ctx<'_>, agreement: &Agreement, stores: usize, reader: usize) -> (Expr, String, [Expr; 2]) {
    let property = |i: usize, var: StageVar, on: Property| {
        let inst = &ctx.instances[i];
        let values = placeholders(ctx, inst);
        let vars = Vars::of(ctx, inst);
        let value = if on == Property::First { vars.min(var) } else { vars.extent(var) };
        visit::substitute(&value, &|s| values.get(&s).cloned())
    };
    let Agreement { theirs, own, on, .. } = *agreement;
    let values = [property(stores, theirs, on), property(reader, own, on)];
    // What has no values needs none.
    let is_empty = build::le(property(reader, own, Property::Count), build::int(0));
    let cond = build::or(is_empty, build::eq(values[0].clone(), values[1].clone()));
    let text = |i: usize, var: StageVar| format!("`{}` of {}", ctx.instances[i].plan.vars[var].name, name(ctx, i));
    let (own, theirs) = (text(reader, own), text(stores, theirs));
    let what = match on {
        Property::First => format!("{own} begins where {theirs} does, in whose loops it runs"),
        Property::Count => format!("{own} has as many values as {theirs}, in whose loops it runs"),
    };
    (cond, what, values)
}

/// Says which definitions run in loops of others.
pub(crate) fn explain(ctx: &Ctx<'_>, trace: &mut LoweringTrace) {
    for (l, info) in ctx.loops.enumerate().filter(|(_, info)| !info.others.is_empty()) {
        let names: Vec<String> = info.others.iter().map(|i| name(ctx, *i)).collect();
        trace.did(ctx.program.loops[l].with_case(), format!("runs for {} as well", names.join(" and ")));
    }
}

fn name(ctx: &Ctx<'_>, instance: usize) -> String {
    let Instance { func, stage, .. } = ctx.instances[instance];
    format!("`{}`", ctx.stage_name(func, stage))
}

/// Returns true if `place` is in the part of a definition that shares `v` and that only its own iterations of that loop
/// run: the first of these may be none of the loop's first ones.
pub(crate) fn is_own_part(ctx: &Ctx<'_>, place: Scope, v: LoopId) -> bool {
    let inner = ctx.enclosing(place).take_while(|s| *s != Scope::Body(v));
    let mut loops = inner.filter_map(|s| match s {
        Scope::Body(l) => Some(l),
        Scope::Root => None,
    });
    loops.any(|l| {
        let inst = &ctx.instances[ctx.loops[l].instance];
        let leaf = |of: LoopId| inst.leaves.iter().find(|(_, id)| **id == of).and_then(|(var, _)| inst.shared.get(var));
        leaf(l).is_none() && leaf(v).is_some_and(|shared| shared.own.is_some())
    })
}

/// The conditions under which an iteration of the shared loops is one of a definition's own.
pub(crate) fn own_iterations(ctx: &Ctx<'_>, instance: usize) -> Vec<Expr> {
    let inst = &ctx.instances[instance];
    let own = inst.plan.loops.iter().filter_map(|l| inst.shared.get(&l.var));
    own.filter_map(|leaf| {
        let own = leaf.own.as_ref()?;
        let value = build::likely(leaf.value.clone());
        Some(build::and(build::le(own.0.clone(), value.clone()), build::le(value, last(own))))
    })
    .collect()
}
