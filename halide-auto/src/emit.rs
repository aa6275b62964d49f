//! The schedule that a state stands for.

use crate::cost::Pricer;
use crate::dag::{Dag, extent};
use crate::kept::Kept;
use crate::role::Role;
use crate::state::{Place, Shape, State};
use crate::tuning::MOST_FIXED;
use halide_core::ids::FuncId;
use halide_core::pipeline::DimField;
use halide_ir::target::Target;
use halide_sched::schedule::{Amount, CompareOp, Condition, Schedule, StageName, StageSchedule, Term};

/// Tasks of a loop for each thread: few make threads wait for the last one, and many cost their starts.
const TASKS: i64 = 16;

/// The names of a definition's loops, outermost first, and of what is written out.
struct Names {
    loops: Vec<String>,
    /// By variable: the loop over a tile's points that is split for registers, and the part that is written out.
    inner: Vec<(String, Option<String>)>,
    tiles: Vec<Option<String>>,
}

impl Names {
    /// The loops over the points of tiles, innermost first.
    fn threads(&self, shape: &Shape) -> Vec<String> {
        shape.order.iter().filter(|n| shape.tile[**n] > 0).map(|n| self.inner[*n].0.clone()).collect()
    }

    /// The loops, outermost first: in the order of their shape, but for threads of a block, which go over its tiles.
    fn order(&self, shape: &Shape, role: Role) -> Vec<String> {
        if role != Role::Block {
            return self.loops.clone();
        }
        let inner = |is_tiled: bool| {
            let vars = shape.order.iter().rev().filter(move |n| (shape.tile[**n] > 0) == is_tiled);
            vars.map(|n| self.inner[*n].0.clone())
        };
        let tiles = shape.order.iter().rev().filter_map(|n| self.tiles[*n].clone());
        inner(true).chain(tiles).chain(inner(false)).collect()
    }
}

/// The names of a definition's loops, to which new ones are added.
pub(crate) struct Fresh {
    used: Vec<String>,
}

impl Fresh {
    /// The names that there are.
    pub(crate) fn new(used: &[String]) -> Fresh {
        Fresh { used: used.to_vec() }
    }

    /// A new name for a part of the loop over `var`.
    pub(crate) fn name(&mut self, var: &str, suffix: &str) -> String {
        let base: String = var.chars().map(|c| if c == '.' { '_' } else { c }).collect();
        let mut name = base + suffix;
        while self.used.contains(&name) {
            name += suffix;
        }
        self.used.push(name.clone());
        name
    }
}

fn names(dag: &Dag<'_>, of: (FuncId, usize), shape: &Shape) -> Names {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let used: Vec<String> = vars.iter().map(|v| v.name.clone()).collect();
    let mut fresh = Fresh::new(&used);
    let (mut inner, mut tiles) = (Vec::new(), Vec::new());
    for (n, var) in vars.iter().enumerate() {
        let is_tiled = shape.tile[n] > 0;
        tiles.push(is_tiled.then(|| fresh.name(&var.name, "o")));
        let serial = if is_tiled { fresh.name(&var.name, "i") } else { var.name.clone() };
        // All terms of a reduction are written out, or none.
        let is_plain = shape.block(n) == 1 || is_plain_vector(shape, n) || var.dim.is_none();
        inner.push((serial, (!is_plain).then(|| fresh.name(&var.name, "r"))));
    }
    let outer = shape.order.iter().rev().filter_map(|n| tiles[*n].clone());
    let serial = shape.order.iter().rev().map(|n| inner[*n].0.clone());
    Names { loops: outer.chain(serial).collect(), inner, tiles }
}

/// Returns true if a variable is that of vectors, which are all that is written out, in the innermost loop.
fn is_plain_vector(shape: &Shape, var: usize) -> bool {
    shape.vector.is_some_and(|(v, _)| v == var)
        && shape.order.first() == Some(&var)
        && shape.regs.iter().all(|regs| *regs == 1)
}

/// The name of the innermost loop of a definition, as the compiler speaks of it.
pub(crate) fn innermost_loop(dag: &Dag<'_>, of: (FuncId, usize), shape: &Shape) -> String {
    let name = &dag.pipeline.funcs[of.0].name;
    let innermost = names(dag, of, shape).loops.pop().unwrap_or_default();
    match of.1.checked_sub(1) {
        None => format!("{name}.{innermost}"),
        Some(k) => format!("{name}.update({k}).{innermost}"),
    }
}

/// A definition, as directives name it: the name of its Func and its number, 0 for the pure one.
#[derive(Clone)]
pub(crate) struct Definition(pub(crate) String, pub(crate) usize);

impl StageName for Definition {
    fn stage_name(&self) -> (String, usize) {
        (self.0.clone(), self.1)
    }
}

/// A definition and the name of its loop that has so many around it, with itself.
fn level(
    dag: &Dag<'_>,
    state: &State,
    kept: &Kept,
    host: (FuncId, usize),
    depth: usize,
) -> Option<(Definition, String)> {
    let var = match kept.has(host.0) {
        true => kept.name(host, depth)?.to_string(),
        false => names(dag, host, state.shape(host)?).loops.get(depth.checked_sub(1)?)?.clone(),
    };
    Some((Definition(dag.pipeline.funcs[host.0].name.clone(), host.1), var))
}

/// The schedule that a state stands for, without those that are kept.
pub(crate) fn schedule(
    pricer: &Pricer<'_>,
    state: &State,
    target: &Target,
    kept: &Kept,
    role: &dyn Fn(FuncId) -> Role,
) -> Schedule {
    let dag = pricer.dag;
    let mut schedule = Schedule::new();
    for &id in dag.pipeline.order.iter().filter(|id| !kept.has(**id)) {
        let choice = &state.choices[id];
        let name = dag.pipeline.funcs[id].name.as_str();
        match choice.place {
            Place::Inline => continue,
            Place::Root => drop(schedule.func(name).compute_root()),
            Place::At { host, depth, slides } => {
                let Some(compute) = level(dag, state, kept, host, depth) else { continue };
                // Outside of all loops of its host is where that is computed, which may be in loops of another Func.
                let outside = match (depth, state.place(host.0)) {
                    (2.., _) => Some((host, depth - 1)),
                    (_, Place::At { host, depth, .. }) => Some((host, depth)),
                    (_, Place::Root | Place::Inline) => None,
                };
                let stored = outside.map(|(host, depth)| level(dag, state, kept, host, depth));
                let func = schedule.func(name);
                let func = match stored.filter(|_| slides) {
                    Some(Some((of, var))) => func.store_at(of, var),
                    None if slides => func.store_root(),
                    // A loop that no directive can name keeps nothing.
                    None | Some(None) => func,
                };
                drop(func.compute_at(compute.0, compute.1));
            }
        }
        for (n, shape) in choice.shapes.iter().enumerate() {
            let stage = schedule.func(name);
            let stage = if n == 0 { stage } else { stage.update(n - 1) };
            loops_of(stage, pricer, state, (id, n), shape, target, role(id));
        }
    }
    schedule
}

fn loops_of(
    mut stage: StageSchedule<'_>,
    pricer: &Pricer<'_>,
    state: &State,
    of: (FuncId, usize),
    shape: &Shape,
    target: &Target,
    role: Role,
) {
    let vars = &pricer.dag.funcs[of.0].stages[of.1].vars;
    let named = names(pricer.dag, of, shape);
    let region = pricer.region(state, of.0, 0).filter(|_| state.place(of.0) != Place::Root);
    let domain = region.map(|region| pricer.dag.domain(of, &region));
    // What is written out of a member is no more than there is of it, so that inputs need not have more either: where
    // they have not, all loops guard each point. The last vector begins earlier.
    let block = |n: usize| {
        let (lanes, all) = (shape.block(n) / shape.regs[n], domain.as_ref().map(|d| extent(d[n])));
        all.filter(|all| *all >= lanes).map_or(shape.block(n), |all| shape.block(n).min(all))
    };
    for (n, var) in vars.iter().enumerate() {
        if let Some(outer) = &named.tiles[n] {
            stage = stage.split(&var.name, outer, &named.inner[n].0, shape.tile[n]);
        }
    }
    for (serial, inner) in &named.inner {
        if let Some(inner) = inner {
            let var = named.inner.iter().position(|(s, _)| s == serial).unwrap_or(0);
            stage = stage.split(serial, serial, inner, block(var));
        }
    }
    let along = shape.vector.map(|(var, _)| var);
    let written_out = |n: &usize| named.inner[*n].1.clone();
    let vector_first = along.into_iter().chain((0..vars.len()).filter(|n| Some(*n) != along));
    let order: Vec<String> =
        vector_first.filter_map(|n| written_out(&n)).chain(named.order(shape, role).into_iter().rev()).collect();
    if order != default_order(pricer.dag, of) {
        stage = stage.reorder(order);
    }
    if let Some((var, lanes)) = shape.vector {
        let natural = pricer.dag.pipeline.funcs[of.0].types.iter().map(|ty| target.natural_lanes(*ty)).min();
        let is_natural = role == Role::Host && natural == Some(lanes);
        let amount = if is_natural { Amount::Natural } else { Amount::Const(lanes) };
        let name = named.inner[var].1.as_ref().unwrap_or(&named.inner[var].0);
        stage = match (&named.inner[var].1, shape.regs[var]) {
            (Some(_), 1) => stage.vectorize_all(name),
            _ => stage.vectorize(name, amount),
        };
    }
    for n in 0..vars.len() {
        if let Some(name) = written_out(&n).filter(|_| shape.regs[n] > 1) {
            stage = stage.unroll_all(&name);
        }
    }
    for (n, _) in vars.iter().enumerate().filter(|(n, var)| var.dim.is_none() && shape.regs[*n] > 1) {
        stage = stage.unroll_all(&named.inner[n].0);
    }
    match role {
        Role::Host if state.place(of.0) == Place::Root => share(stage, pricer, state, of, shape, &named),
        Role::Kernel => {
            // Terms that several threads add to one element are added in single steps.
            let in_steps = (0..vars.len()).any(|n| shape.tile[n] > 0 && vars[n].dim.is_none());
            kernel(if in_steps { stage.atomic() } else { stage }, shape, &named);
        }
        Role::Block => drop(stage.gpu_threads(named.threads(shape))),
        Role::Host | Role::Thread => {}
    }
}

/// Makes loops over tiles blocks, and those over their points threads; without tiles, all is for one thread.
fn kernel(stage: StageSchedule<'_>, shape: &Shape, named: &Names) {
    let blocks: Vec<String> = shape.order.iter().filter_map(|n| named.tiles[*n].clone()).collect();
    match blocks.is_empty() {
        true => drop(stage.gpu_single_thread()),
        false => drop(stage.gpu_blocks(blocks).gpu_threads(named.threads(shape))),
    }
}

/// Adds specialisations for outputs that have a few elements in some dimensions, as estimated, where these are written
/// out: in other runs it is not known that all of them are there.
pub(crate) fn specialize(schedule: &mut Schedule, pricer: &Pricer<'_>, state: &State, kept: &Kept) {
    let dag = pricer.dag;
    for &id in dag.pipeline.outputs.iter().filter(|id| !kept.has(**id)) {
        let (Some(region), Place::Root) = (pricer.roots.get(&id), state.place(id)) else { continue };
        let name = dag.pipeline.funcs[id].name.as_str();
        for (n, shape) in state.choices[id].shapes.iter().enumerate() {
            let vars = &dag.funcs[id].stages[n].vars;
            let is_few = |d: usize| extent(region[d]) <= MOST_FIXED;
            let dims = (0..vars.len()).filter(|n| shape.block(*n) > 1).filter_map(|n| vars[n].dim);
            let equal = |field, d, value| Condition::Compare(CompareOp::Eq, dim(name, field, d), Term::Const(value));
            let known = dims
                .filter(|d| is_few(*d))
                .flat_map(|d| [equal(DimField::Extent, d, extent(region[d])), equal(DimField::Min, d, region[d].0)]);
            let Some(condition) = known.reduce(|a, b| Condition::And(a.into(), b.into())) else { continue };
            let stage = schedule.func(name);
            drop(if n == 0 { stage } else { stage.update(n - 1) }.specialize(condition));
        }
    }
}

fn dim(name: &str, field: DimField, d: usize) -> Term {
    Term::Dim(name.to_string(), field, d)
}

/// The loops of a definition without directives, innermost first.
fn default_order(dag: &Dag<'_>, of: (FuncId, usize)) -> Vec<String> {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let (pure, reductions): (Vec<_>, Vec<_>) = vars.iter().partition(|v| v.dim.is_some());
    reductions.into_iter().chain(pure).map(|v| v.name.clone()).collect()
}

/// Gives loops to all threads.
fn share(
    mut stage: StageSchedule<'_>,
    pricer: &Pricer<'_>,
    state: &State,
    of: (FuncId, usize),
    shape: &Shape,
    named: &Names,
) {
    let Some(region) = pricer.roots.get(&of.0) else { return };
    let domain = pricer.dag.domain(of, region);
    let loops = shape.loops(&domain);
    for n in pricer.shared(of, shape, &loops) {
        let name = &named.loops[n];
        let chunk = loops[n].trip as i64 / (i64::from(pricer.threads()) * TASKS);
        let is_alone = n == 0 && !state.has_members(of.0) && !loops[n].is_tile;
        let is_vector = named.loops.len() == 1 && shape.vector.is_some();
        stage = match chunk > 1 && is_alone && !is_vector {
            true => stage.parallel_chunks(name, chunk),
            false => stage.parallel(name),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::tests::{TARGET, inside, pipeline, priced};
    use halide_core::Func;

    #[test]
    fn what_slides_in_the_loops_of_a_member_is_stored_in_those_around_it() {
        let heavy = pipeline(|input, x, y| {
            let mut first = Func::new("first");
            first[(x, y)] = input[(x, y)] * 2.0f32;
            first[(x, y - 1)] + first[(x, y + 1)]
        });
        let text = priced(&heavy, |pricer, root, [inner, out]| {
            let first = pricer.dag.pipeline.funcs.ids().find(|id| pricer.dag.pipeline.funcs[*id].name == "first");
            let first = first.unwrap_or_else(|| panic!("no Func is called `first`"));
            let mut state = inside(&root, [inner, out], 1, 64, false);
            state.choice_mut(out).shapes[0].tile[1] = 64;
            state.choice_mut(first).place = Place::At { host: (inner, 0), depth: 1, slides: true };
            schedule(pricer, &state, &TARGET, &Kept::default(), &|_| Role::Host).to_string()
        });
        assert!(text.contains("first: store_at(out, yo) compute_at(inner, y)"), "{text}");
    }
}
