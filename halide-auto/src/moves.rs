//! Steps from a state to others: one Func at another place, or one definition with other loops.

use crate::dag::{Dag, StageNode, extent};
use crate::state::{Place, Shape, State};
use crate::tuning::{BLOCKS, FEW, MOST_REGISTERS, MOST_TERMS, REGISTER_STEPS, TILE_STEPS};
use halide_core::ids::FuncId;

/// The places that a Func may have other than where it is, in states of their own. With `tiles`, Funcs outside of all
/// loops that hold no other one may be tiled to hold it.
pub(crate) fn places(
    dag: &Dag<'_>,
    state: &State,
    func: FuncId,
    threads: u32,
    tiles: &dyn Fn(FuncId) -> Vec<Shape>,
) -> Vec<State> {
    let mut all = Vec::new();
    let current = state.place(func);
    let mut put = |state: &State, place: Place| {
        let mut next = state.clone();
        next.choice_mut(func).place = place;
        all.push(next);
    };
    if current != Place::Root {
        put(state, Place::Root);
    }
    for host in hosts(dag, state, func) {
        let mut at_depths = |state: &State| {
            let Some(shape) = state.shape(host) else { return };
            for depth in (1..=shape.depth()).rev() {
                if !state.encloses(dag, func, host, depth) {
                    continue;
                }
                // Windows do not slide along vectors.
                let vars_of_loops = shape.loop_vars();
                let along = shape.vector.map(|(var, _)| var);
                let var = vars_of_loops.get(depth - 1).copied();
                let is_along = var == along && along.is_some();
                // Copies of what is in a loop whose terms are written out would be as many.
                let vars = &dag.funcs[host.0].stages[host.1].vars;
                if var.is_some_and(|n| vars[n].dim.is_none() && shape.regs[n] > 1) {
                    continue;
                }
                let is_shared = threads > 1 && state.place(host.0) == Place::Root && shape.shares(depth - 1);
                for slides in [false, true] {
                    let place = Place::At { host, depth, slides };
                    if !(slides && (is_shared || is_along)) && place != current {
                        put(state, place);
                    }
                }
            }
        };
        at_depths(state);
        let is_plain = state.shape(host).is_some_and(|shape| shape.tile.iter().all(|tile| *tile == 0));
        if host.1 == 0 && is_plain && state.place(host.0) == Place::Root && !state.has_members(host.0) {
            for tiled in tiles(host.0) {
                let mut next = state.clone();
                if let Some(shape) = next.choice_mut(host.0).shapes.first_mut() {
                    *shape = tiled;
                }
                at_depths(&next);
            }
        }
    }
    all
}

/// The state in which a Func is substituted where it is used, if it is not.
pub(crate) fn inlined(state: &State, func: FuncId) -> Option<State> {
    let mut next = Some(state).filter(|state| !state.is_inlined(func)).cloned()?;
    next.choice_mut(func).place = Place::Inline;
    Some(next)
}

/// The definitions in whose loops all that reads a Func is, innermost first.
fn hosts(dag: &Dag<'_>, state: &State, func: FuncId) -> Vec<(FuncId, usize)> {
    if dag.funcs[func].is_output {
        return Vec::new();
    }
    let readers = state.readers(dag, func);
    let Some(first) = readers.first().copied() else { return Vec::new() };
    let (mut chain, mut at) = (vec![first], first.0);
    while let Place::At { host, .. } = state.place(at) {
        chain.push(host);
        at = host.0;
    }
    // A Func in the loops of what it holds would hold itself.
    chain.retain(|host| host.0 != func && !is_within(state, host.0, func));
    chain
}

/// Returns true if `inner` is computed somewhere in the loops of `outer`.
fn is_within(state: &State, inner: FuncId, outer: FuncId) -> bool {
    let mut at = inner;
    while let Place::At { host, .. } = state.place(at) {
        if host.0 == outer {
            return true;
        }
        at = host.0;
    }
    false
}

/// Tiles that a definition may have at first, over a domain: those whose iterations are written out, too, if it holds a
/// sum, whose terms are then added up in registers.
pub(crate) fn tilings(
    dag: &Dag<'_>,
    of: (FuncId, usize),
    shape: &Shape,
    domain: &[(i64, i64)],
    holds_sum: bool,
) -> Vec<Shape> {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let along = shape.vector.map(|(var, _)| var);
    let is_long = |n: &usize| vars[*n].tells_apart && vars[*n].dim.is_some() && extent(domain[*n]) >= 16;
    let outer = shape.order.iter().rev().copied().find(|n| Some(*n) != along && is_long(n));
    let mut all = Vec::new();
    for rows in [8, 32, 128] {
        let Some(outer) = outer.filter(|n| extent(domain[*n]) >= 2 * rows) else { continue };
        let mut next = shape.clone();
        next.tile[outer] = rows;
        all.push(next.clone());
        for columns in [128, 256, 512] {
            if let Some(along) = along.filter(|n| extent(domain[*n]) >= 2 * columns) {
                next.tile[along] = columns;
                all.push(next.clone());
            }
        }
    }
    let others = (0..vars.len()).filter(|n| Some(*n) != along && vars[*n].tells_apart && vars[*n].dim.is_some());
    for (along, other) in along.into_iter().flat_map(|along| others.clone().map(move |other| (along, other))) {
        for (vectors, rows) in [(1, 8), (2, 4), (2, 6), (2, 8), (4, 2), (4, 4)] {
            let mut next = shape.clone();
            (next.regs[along], next.regs[other]) = (vectors, rows);
            let fits = extent(domain[other]) >= rows && extent(domain[along]) >= next.block(along);
            if !holds_sum || !fits {
                continue;
            }
            // Rows that stay in a cache while they meet one column after the other.
            let mut tiled = next.clone();
            tiled.tile[other] = BLOCKS * rows;
            tiled.order.retain(|n| *n != other);
            tiled.order.insert(0, other);
            all.extend(
                [Some(next), Some(tiled).filter(|t| extent(domain[other]) >= 2 * t.tile[other])].into_iter().flatten(),
            );
        }
    }
    all
}

/// Other loops of a definition: one number changed, or one loop at another place.
pub(crate) fn shapes(
    dag: &Dag<'_>,
    of: (FuncId, usize),
    shape: &Shape,
    domain: &[(i64, i64)],
    is_root: bool,
    most_lanes: i64,
) -> Vec<Shape> {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let mut all = Vec::new();
    for (n, var) in vars.iter().enumerate() {
        let is_free = var.tells_apart && var.dim.is_some();
        let whole = extent(domain[n]);
        if is_free {
            for regs in REGISTER_STEPS {
                let mut next = shape.clone();
                next.regs[n] = regs;
                let within = if shape.tile[n] > 0 { shape.tile[n] } else { whole };
                if next.regs.iter().product::<i64>() <= MOST_REGISTERS && next.block(n) < 2 * within {
                    all.push(next);
                }
            }
        }
        if is_free && is_root && of.1 == 0 && shape.tile.iter().any(|tile| *tile > 0) {
            // A loop that is not tiled stays so: places of other Funcs count loops.
            for tile in
                TILE_STEPS.into_iter().filter(|tile| shape.tile[n] > 0 && *tile < whole && *tile % shape.block(n) == 0)
            {
                let mut next = shape.clone();
                next.tile[n] = tile;
                all.push(next);
            }
        }
        if is_free && shape.vector.is_some_and(|(along, _)| along != n) && whole >= 4 {
            let mut next = shape.clone();
            next.vector = Some((n, most_lanes.min(1 << whole.ilog2())));
            next.regs[n] = 1;
            let first = next.order.iter().position(|m| vars[*m].dim.is_some()).unwrap_or(0);
            next.order.retain(|m| *m != n);
            next.order.insert(first, n);
            // A few elements that follow each other in memory, written out, make up whole vectors.
            let few = |m: usize| m != n && vars[m].dim.is_some() && vars[m].tells_apart && extent(domain[m]) <= FEW;
            let mut with_few = next.clone();
            (0..vars.len()).filter(|m| few(*m)).for_each(|m| with_few.regs[m] = extent(domain[m]).max(1));
            all.push(next);
            all.push(with_few);
        }
    }
    if let Some((along, lanes)) = shape.vector {
        for lanes in [lanes / 2, lanes * 2] {
            if lanes > 1 && lanes <= most_lanes && lanes <= extent(domain[along]) {
                all.push(Shape { vector: Some((along, lanes)), ..shape.clone() });
            }
        }
    }
    all.extend(scattered(dag, of, shape, domain));
    all.extend(written_terms(dag, of, shape));
    all.extend(orders(dag, of, shape).into_iter().map(|order| Shape { order, ..shape.clone() }));
    all.retain(|next| next != shape);
    all
}

/// A definition that stores where data say, without the vectors that would store each lane elsewhere, where their loop
/// is the only one that threads may share: it is the outermost one.
fn scattered(dag: &Dag<'_>, of: (FuncId, usize), shape: &Shape, domain: &[(i64, i64)]) -> Option<Shape> {
    let stage = &dag.funcs[of.0].stages[of.1];
    let (along, _) = shape.vector.filter(|_| stage.indexed.contains(&of.0))?;
    let mut others = stage.vars.iter().enumerate().filter(|(n, var)| *n != along && var.tells_apart);
    if others.any(|(n, _)| extent(domain[n]) > 1) {
        return None;
    }
    let mut next = Shape { vector: None, ..shape.clone() };
    next.regs[along] = 1;
    next.order.retain(|n| *n != along);
    next.order.push(along);
    Some(next).filter(|next| keeps_order(stage, &shape.order, &next.order))
}

/// The innermost loop of a reduction with a few terms, written out or not.
fn written_terms(dag: &Dag<'_>, of: (FuncId, usize), shape: &Shape) -> Option<Shape> {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let n = shape.order.iter().copied().find(|n| vars[*n].dim.is_none())?;
    let terms = vars[n].extent.filter(|terms| (2..=MOST_TERMS).contains(terms))?;
    let mut next = shape.clone();
    next.regs[n] = if shape.regs[n] > 1 { 1 } else { terms };
    // What is written out is inside of all loops.
    next.order.retain(|m| *m != n);
    next.order.insert(0, n);
    Some(next).filter(|next| keeps_order(&dag.funcs[of.0].stages[of.1], &shape.order, &next.order))
}

/// Other orders: one loop outermost, or one innermost.
fn orders(dag: &Dag<'_>, of: (FuncId, usize), shape: &Shape) -> Vec<Vec<usize>> {
    let stage = &dag.funcs[of.0].stages[of.1];
    let mut all = Vec::new();
    for &var in &shape.order {
        let rest: Vec<usize> = shape.order.iter().copied().filter(|n| *n != var).collect();
        let innermost: Vec<usize> = [var].into_iter().chain(rest.iter().copied()).collect();
        let outermost: Vec<usize> = rest.iter().copied().chain([var]).collect();
        all.extend([innermost, outermost]);
    }
    all.sort();
    all.dedup();
    // Rows go from vector to vector: elsewhere lines would come again and again.
    let along = shape.vector.map(|(var, _)| var);
    let goes_along = |order: &[usize]| {
        let first = order.iter().copied().find(|n| stage.vars[*n].dim.is_some() && shape.regs[*n] <= 1);
        along.is_none() || shape.regs[along.unwrap_or(0)] > 1 || first == along
    };
    // Terms that are written out stay inside of all loops.
    let is_written = |n: &&usize| stage.vars[**n].dim.is_none() && shape.regs[**n] > 1;
    let written = shape.order.iter().filter(is_written).count();
    let keeps_written = |order: &[usize]| order.iter().take_while(is_written).count() == written;
    all.retain(|order| {
        *order != shape.order && keeps_order(stage, &shape.order, order) && goes_along(order) && keeps_written(order)
    });
    all
}

/// Returns true if loops that do not tell iterations apart have the same order in two orders of all loops.
fn keeps_order(stage: &StageNode, before: &[usize], after: &[usize]) -> bool {
    let is_bound = |n: &&usize| !stage.vars[**n].tells_apart && !stage.any_order;
    before.iter().filter(is_bound).eq(after.iter().filter(is_bound))
}
