//! Loops of definitions in kernels: threads, and the points of a thread.
//!
//! A tile is what a block computes of a variable, and what is written out is what a thread does. Variables that are
//! not tiled are loops of each thread.

use crate::dag::{Dag, StageVar, extent, pieces};
use crate::state::Shape;
use crate::tuning::{FEW_CHANNELS, FIRST_THREADS, MOST_OF_THREAD, MOST_TERMS, POINTS_OF_THREAD, WORD};
use halide_core::ids::FuncId;
use halide_ir::target::Gpu;

/// The number of dimensions of blocks and of threads.
const DIMENSIONS: usize = 3;

/// The variables along which blocks and threads lie: the longest ones of those that tell points apart, in order. Terms
/// that are added in single steps lie along all variables.
pub(super) fn grid(vars: &[StageVar], domain: &[(i64, i64)], in_steps: bool) -> Vec<usize> {
    let is_apart = |n: &usize| vars[*n].dim.is_some() && vars[*n].tells_apart;
    let is_free = |n: &usize| (in_steps || is_apart(n)) && extent(domain[*n]) > 1;
    let mut found: Vec<usize> = (0..vars.len()).filter(is_free).collect();
    // Neighbours in memory are neighbouring threads, whatever their number.
    let is_first = |n: usize| vars[n].dim == Some(0) && extent(domain[n]) > FEW_CHANNELS;
    found.sort_by_key(|n| (!is_first(*n), std::cmp::Reverse(extent(domain[*n]))));
    found.truncate(DIMENSIONS);
    found.sort_by_key(|n| (vars[*n].dim, *n));
    found
}

/// The first loops of a definition in a kernel of its own: a thread for each point, or for each term that is added in a
/// single step.
pub(super) fn first(dag: &Dag<'_>, of: (FuncId, usize), domain: &[(i64, i64)], gpu: &Gpu, in_steps: bool) -> Shape {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let grid = grid(vars, domain, in_steps);
    let others = (0..vars.len()).filter(|n| vars[*n].dim.is_none() && !grid.contains(n));
    let inner = (0..vars.len()).filter(|n| vars[*n].dim.is_some() && !grid.contains(n));
    let order = others.chain(inner).chain(grid.iter().copied()).collect();
    let mut shape =
        Shape { vector: None, order, tile: vec![0; vars.len()], regs: vec![1; vars.len()], fixed: 0, shared: 0 };
    // A few elements, such as channels, are for one thread: a tile of them is as constant as others are.
    let is_few = |n: usize| vars[n].tells_apart && (1..=FEW_CHANNELS).contains(&extent(domain[n]));
    let long: Vec<usize> = grid.iter().copied().filter(|n| !is_few(*n)).collect();
    for n in (0..vars.len()).filter(|n| vars[*n].dim.is_some() && is_few(*n)) {
        let points = shape.regs.iter().product::<i64>() * extent(domain[n]);
        shape.regs[n] = if points <= MOST_OF_THREAD { extent(domain[n]) } else { 1 };
        shape.tile[n] = if grid.contains(&n) { extent(domain[n]) } else { 0 };
    }
    let threads = if long.len() == 1 { &[FIRST_THREADS[0] * FIRST_THREADS[1]][..] } else { &FIRST_THREADS[..] };
    grid.iter().filter(|n| vars[**n].dim.is_none()).for_each(|n| shape.tile[*n] = 1);
    for (n, most) in long.iter().zip(threads.iter().chain([1, 1].iter())) {
        shape.tile[*n] = (*most).min(enough(extent(domain[*n])));
    }
    // Elements of a word that several threads store are stored one after the other.
    let bytes = dag.funcs[of.0].widths.0;
    if let Some(n) = long.first().filter(|n| vars[**n].dim == Some(0) && bytes < WORD) {
        let lanes = WORD / bytes;
        shape.vector = Some((*n, lanes)).filter(|_| extent(domain[*n]) >= lanes);
        shape.tile[*n] *= shape.block(*n);
    }
    while !fits(&shape, gpu) {
        let Some(n) = grid.iter().copied().max_by_key(|n| threads_along(&shape, *n)) else { break };
        if threads_along(&shape, n) <= 1 {
            break;
        }
        shape.tile[n] = shape.block(n) * (threads_along(&shape, n) / 2).max(1);
    }
    shape
}

/// The least power of two that is no less.
fn enough(count: i64) -> i64 {
    (count.clamp(1, 1 << 20) as u64).next_power_of_two() as i64
}

/// The loops over blocks.
pub(super) fn blocks(shape: &Shape) -> usize {
    shape.tile.iter().filter(|tile| **tile > 0).count()
}

/// The loops of a kernel down to a point of a thread, or several that are written out: all but those over terms.
pub(super) fn of_points(vars: &[StageVar], shape: &Shape) -> usize {
    blocks(shape) + vars.iter().filter(|v| v.dim.is_some()).count()
}

/// The threads of a block along a variable.
pub(super) fn threads_along(shape: &Shape, var: usize) -> i64 {
    if shape.tile[var] > 0 { pieces(shape.tile[var], shape.block(var)) } else { 1 }
}

/// The threads of a block.
pub(super) fn threads(shape: &Shape) -> i64 {
    (0..shape.tile.len()).map(|n| threads_along(shape, n)).product()
}

/// Returns true if a device has as many threads, and a thread no more to do than code is good for.
fn fits(shape: &Shape, gpu: &Gpu) -> bool {
    let along: Vec<i64> =
        shape.order.iter().filter(|n| shape.tile[**n] > 0).map(|n| threads_along(shape, *n)).collect();
    let points: i64 = (0..shape.regs.len()).map(|n| shape.block(n)).product();
    along.iter().zip(gpu.most_threads).all(|(threads, most)| *threads <= i64::from(most))
        && along.iter().product::<i64>() <= i64::from(gpu.most_threads_in_all)
        && points <= MOST_OF_THREAD
}

/// The loops that differ in one number: threads, points of a thread, lanes of a word, or terms that are written out.
pub(super) fn next(dag: &Dag<'_>, of: (FuncId, usize), shape: &Shape, domain: &[(i64, i64)], gpu: &Gpu) -> Vec<Shape> {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let tiled: Vec<usize> = (0..vars.len()).filter(|n| shape.tile[*n] > 0).collect();
    let mut all = Vec::new();
    let mut put = |next: Shape| {
        if next != *shape && fits(&next, gpu) {
            all.push(next);
        }
    };
    let with_threads = |shape: &Shape, n: usize, threads: i64| {
        let mut next = shape.clone();
        next.tile[n] = threads.max(1) * next.block(n);
        next
    };
    for &n in &tiled {
        let (own, most) = (threads_along(shape, n), enough(pieces(extent(domain[n]), shape.block(n))));
        let more = (2 * own).min(most);
        put(with_threads(shape, n, more));
        put(with_threads(shape, n, own / 2));
        for &other in tiled.iter().filter(|other| **other != n) {
            put(with_threads(&with_threads(shape, n, more), other, threads_along(shape, other) / 2));
        }
        let few = Some(extent(domain[n])).filter(|all| *all <= FEW_CHANNELS);
        if vars[n].dim.is_none() {
            continue;
        }
        for points in POINTS_OF_THREAD.into_iter().chain(few).filter(|points| *points <= extent(domain[n])) {
            let mut next = shape.clone();
            next.regs[n] = points;
            let most = enough(pieces(extent(domain[n]), next.block(n)));
            put(with_threads(&next, n, own.min(most)));
        }
        let bytes = dag.funcs[of.0].widths.0;
        if vars[n].dim == Some(0) && bytes < WORD {
            for lanes in [1, WORD / bytes, 2 * WORD / bytes] {
                let mut next = shape.clone();
                next.vector = Some((n, lanes)).filter(|_| lanes > 1 && lanes <= extent(domain[n]));
                let most = enough(pieces(extent(domain[n]), next.block(n)));
                put(with_threads(&next, n, own.min(most)));
            }
        }
    }
    for n in (0..vars.len()).filter(|n| vars[*n].dim.is_none() && shape.tile[*n] == 0) {
        for terms in [Some(1), vars[n].extent.filter(|all| (2..=MOST_TERMS).contains(all))].into_iter().flatten() {
            let mut next = shape.clone();
            next.regs[n] = terms;
            put(next);
        }
    }
    all
}

/// The loops of a definition in the blocks of a kernel with so many threads along its variables: the first variables
/// are those of the most of the threads.
pub(super) fn of_block(dag: &Dag<'_>, of: (FuncId, usize), domain: &[(i64, i64)], host: &Shape) -> Shape {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let threads = host.order.iter().filter(|n| host.tile[**n] > 0).map(|n| threads_along(host, *n));
    let grid = grid(vars, domain, false);
    let mut shape = of_thread(dag, of, domain);
    shape.regs.iter_mut().for_each(|regs| *regs = 1);
    shape.order.retain(|n| !grid.contains(n));
    shape.order.extend(&grid);
    for (n, threads) in grid.into_iter().zip(threads) {
        shape.tile[n] = threads.min(enough(extent(domain[n])));
    }
    shape
}

/// The loops of a definition that a thread computes on its own.
pub(super) fn of_thread(dag: &Dag<'_>, of: (FuncId, usize), domain: &[(i64, i64)]) -> Shape {
    let vars = &dag.funcs[of.0].stages[of.1].vars;
    let (pure, terms): (Vec<usize>, Vec<usize>) = (0..vars.len()).partition(|n| vars[*n].dim.is_some());
    let (tile, mut regs) = (vec![0; vars.len()], vec![1; vars.len()]);
    for &n in pure.iter().filter(|n| vars[**n].tells_apart) {
        regs[n] = extent(domain[n]).max(1);
    }
    if regs.iter().product::<i64>() > MOST_OF_THREAD {
        regs.iter_mut().for_each(|regs| *regs = 1);
    }
    Shape { vector: None, order: terms.into_iter().chain(pure).collect(), tile, regs, fixed: 0, shared: 0 }
}
