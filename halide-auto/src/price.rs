//! The predicted time of a loop nest on a machine: what it computes, and what it moves through the caches.
//!
//! A sum over the loops outside of all others, each of which takes the larger one of its arithmetic and its traffic, of
//! which a part is not hidden. A loop whose iterations fit in a cache moves into it what all of them touch together,
//! once; another loop moves what its iterations move one by one.

use crate::tuning::{CYCLES_OF_ENTRY, CYCLES_OF_ITERATION, ELEMENT_BYTES, FORK_NS, NOT_HIDDEN, SHARE_OF_ISSUE};
use halide_core::pipeline::Pipeline;
use halide_ir::ForKind;
use halide_ir::machine::Machine;
use halide_sched::nest::{Item, LoopCost, Nest, PointsCost};

/// The predicted time of a run in nanoseconds.
pub(crate) fn price(nest: &Nest, pipeline: &Pipeline, machine: &Machine, threads: u32) -> f64 {
    let context = Context { pipeline, machine, threads };
    nest.body.iter().fold(0.0, |sum, item| sum + context.outermost(item))
}

struct Context<'a> {
    pipeline: &'a Pipeline,
    machine: &'a Machine,
    threads: u32,
}

impl Context<'_> {
    /// The time of a loop outside of all others, or of what storage around it holds.
    fn outermost(&self, item: &Item) -> f64 {
        match item {
            Item::Store(s) => s.body.iter().fold(0.0, |sum, item| sum + self.outermost(item)),
            _ => {
                let (threads, forks) = at_once(item, self.threads);
                let arithmetic = self.cycles(item, false) / self.machine.ghz / threads;
                let traffic = self.traffic_ns(item, threads as u32);
                arithmetic.max(traffic) + NOT_HIDDEN * arithmetic.min(traffic) + forks * FORK_NS
            }
        }
    }

    /// Cycles of one core.
    fn cycles(&self, item: &Item, is_vector: bool) -> f64 {
        let all = |body: &[Item], is_vector| body.iter().fold(0.0, |sum, item| sum + self.cycles(item, is_vector));
        match item {
            Item::Store(s) => all(&s.body, is_vector),
            Item::Loop(l) => {
                let own = match l.kind {
                    ForKind::Vectorized | ForKind::Unrolled => 0.0,
                    _ => l.iterations * CYCLES_OF_ITERATION + l.entries * CYCLES_OF_ENTRY,
                };
                all(&l.body, is_vector || l.kind == ForKind::Vectorized) + if is_vector { 0.0 } else { own }
            }
            Item::Points(p) => self.cycles_of_points(p, is_vector),
        }
    }

    fn cycles_of_points(&self, p: &PointsCost, is_vector: bool) -> f64 {
        let vector = &self.machine.vector;
        let types = &self.pipeline.funcs[p.func].types;
        let bytes = types.iter().map(|ty| ty.bytes()).max().unwrap_or(1) as f64;
        let lanes = if is_vector { (f64::from(vector.bits) / 8.0 / bytes).max(1.0) } else { 1.0 };
        let (operations, reads, stores) = (f64::from(p.operations), f64::from(p.reads), types.len() as f64);
        let issue = (operations + reads + stores) / (vector.issue * SHARE_OF_ISSUE);
        let ports = (reads / vector.loads).max(stores / vector.stores);
        p.points / lanes * issue.max(ports)
    }

    /// The time of what is moved to each cache but the first, and of what memory moves.
    fn traffic_ns(&self, item: &Item, threads: u32) -> f64 {
        let caches = &self.machine.caches;
        let mut most: f64 = 0.0;
        for (level, cache) in caches.iter().enumerate() {
            let moved = moved(item, cache.usable(threads) as f64);
            let per_ns = match caches.get(level + 1) {
                Some(next) => next.bytes_per_cycle * self.machine.ghz * f64::from(threads),
                None => self.machine.memory.bandwidth(threads),
            };
            most = most.max(moved / per_ns);
        }
        most
    }
}

/// The threads that share the work of a loop, and how often they are called together.
fn at_once(item: &Item, threads: u32) -> (f64, f64) {
    match item {
        Item::Loop(LoopCost { kind: ForKind::Parallel, entries, iterations, .. }) if *entries > 0.0 => {
            let (tasks, threads) = (iterations / entries, f64::from(threads));
            // The last round of tasks may not keep all of them busy.
            (tasks / (tasks / threads).ceil().max(1.0), *entries)
        }
        Item::Loop(LoopCost { body, .. }) => match &body[..] {
            [inner] => at_once(inner, threads),
            _ => (1.0, 0.0),
        },
        _ => (1.0, 0.0),
    }
}

/// Bytes that are moved into a cache that holds so many.
fn moved(item: &Item, holds: f64) -> f64 {
    let all = |body: &[Item]| body.iter().fold(0.0, |sum, item| sum + moved(item, holds));
    match item {
        Item::Store(s) => all(&s.body),
        // Loops know better, if there are any that fit.
        Item::Points(p) => p.points * f64::from(p.reads + 1) * ELEMENT_BYTES,
        Item::Loop(l) => {
            let one_by_one = all(&l.body);
            let together = l.footprint * l.entries;
            if l.touched <= holds { one_by_one.min(together) } else { one_by_one }
        }
    }
}
