//! The predicted time of kernels, and of copies between host and device.
//!
//! A thread is priced as a core without vectors: the walk over a group's loops counts the instructions of all threads,
//! and the bytes that blocks move. These are shared by the lanes of all units, as far as there are threads enough to
//! keep them busy.

use super::hybrid::Hybrid;
use super::shapes::{threads, threads_along};
use crate::cost::{Cost, Parts, Pricer};
use crate::dag::{Box, Source, extent, volume};
use crate::kernel::elements;
use crate::role::Role;
use crate::state::{LoopSpec, Place, Shape};
use crate::tuning::{MOST_OF_SHADER, PIECE_OF_WORD, STEP, SUBGROUP, THREAD, TOO_LONG, WORD};
use halide_core::ids::FuncId;
use halide_ir::machine::{Cache, GpuSpeed, Machine, Memory};
use halide_ir::target::Gpu;
use std::collections::BTreeMap;

/// A thread of a GPU as a machine: one lane, the cache of its unit, and that of all.
pub(super) fn thread(speed: &GpuSpeed) -> Machine {
    let cache = |bytes: u64, rate: f64| Cache {
        bytes,
        line: 64,
        ways: 8,
        unified: false,
        shared_by: 1,
        bytes_per_cycle: rate,
        latency: 0.0,
    };
    let far = speed.far_bytes_per_ns / speed.ghz;
    Machine {
        cores: 1,
        ghz: speed.ghz,
        caches: vec![cache(speed.near_bytes, far), cache(speed.far_bytes, far)],
        memory: Memory {
            bytes_per_ns: vec![(1, speed.bytes_per_ns)],
            streamed_bytes_per_ns: vec![(1, speed.bytes_per_ns)],
            mixed_bytes_per_ns: vec![(1, speed.bytes_per_ns)],
            latency_ns: 0.0,
        },
        vector: THREAD,
    }
}

/// Prices of kernels.
pub(super) struct Prices<'q> {
    /// Prices of what threads do.
    pub(super) threads: Pricer<'q>,
    /// Prices of loops of the host.
    pub(super) host: Pricer<'q>,
    pub(super) speed: &'q GpuSpeed,
    pub(super) limits: Gpu,
}

impl Prices<'_> {
    /// The predicted time of a group, and its parts.
    pub(super) fn group(&mut self, state: &Hybrid, root: FuncId) -> Parts {
        let mut sum = Parts::default();
        for stage in 0..self.threads.dag.funcs[root].stages.len() {
            sum.add(&self.stage(state, (root, stage)).1);
        }
        sum
    }

    /// The cost of a definition outside of all loops, and the parts of its time.
    pub(super) fn stage(&mut self, state: &Hybrid, of: (FuncId, usize)) -> (Cost, Parts) {
        if state.role(of.0) == Role::Host {
            let cost = self.host.root_cost(&state.state, of);
            let parts = self.host.parts(&state.state, of, &cost);
            return (cost, parts);
        }
        self.threads.waits = self.waits(state, of);
        let cost = self.threads.root_cost(&state.state, of);
        let parts = self.kernel(state, of, &cost);
        (cost, parts)
    }

    fn kernel(&self, state: &Hybrid, of: (FuncId, usize), cost: &Cost) -> Parts {
        let (dag, speed) = (self.threads.dag, self.speed);
        let (Some(region), Some(shape)) = (self.threads.roots.get(&of.0), state.state.shape(of)) else {
            return Parts::default();
        };
        let domain = dag.domain(of, region);
        let loops = shape.loops(&domain);
        let blocks: f64 = loops.iter().filter(|l| l.is_tile).map(|l| l.trip.max(1.0)).product();
        let threads = threads(shape) as f64;
        let in_groups = (threads / SUBGROUP).ceil() * SUBGROUP;
        let shared = self.shared(state, of);
        let of_unit = (speed.shared_bytes as f64 / shared.max(1.0)).floor().max(1.0);
        let resident = (of_unit * threads)
            .min(f64::from(speed.most_threads))
            .min((blocks / f64::from(speed.units)).ceil() * threads);
        let lanes = f64::from(speed.lanes);
        let busy = (resident / (lanes * speed.threads_per_lane)).min(1.0);
        let idle = if threads > lanes { in_groups / threads } else { 1.0 };
        // The last round of blocks may leave some of the units without work.
        let rounds = (blocks / f64::from(speed.units)).ceil().max(1.0);
        let units = blocks / rounds;
        let barriers =
            self.members(state, of, Role::Block).count() as f64 * 2.0 * speed.barrier_cycles * blocks * threads;
        let points: f64 = volume(&domain);
        let long = if cost.code > MOST_OF_SHADER { TOO_LONG } else { 1.0 };
        let cycles = cost.cycles * long * self.scatter(state, of, shape, &loops, &domain)
            + barriers
            + self.pieces(of, shape, points)
            + self.steps(of, shape, points);
        Parts {
            instructions_ns: cycles * idle / (units * lanes * busy * speed.ghz),
            caches_ns: cost.moved.first().map(|bytes| bytes / speed.far_bytes_per_ns).into_iter().collect(),
            memory_ns: cost.moved.get(1).map_or(0.0, |bytes| bytes / speed.bytes_per_ns),
            tasks_ns: speed.launch_ns,
        }
    }

    /// The Funcs with a role in the kernel of a definition.
    fn members<'s>(&self, state: &'s Hybrid, of: (FuncId, usize), role: Role) -> impl Iterator<Item = FuncId> + 's {
        let ids = state.state.choices.enumerate();
        ids.filter(move |(id, choice)| {
            matches!(choice.place, Place::At { host, .. } if host == of) && state.role(*id) == role
        })
        .map(|(id, _)| id)
    }

    /// The factors by which the instructions of members of blocks take longer, since threads without any wait.
    fn waits(&self, state: &Hybrid, of: (FuncId, usize)) -> BTreeMap<(FuncId, usize), f64> {
        let Some(all) = state.state.shape(of).map(threads) else { return BTreeMap::new() };
        let mut found = BTreeMap::new();
        for member in self.members(state, of, Role::Block) {
            for (stage, shape) in state.state.choices[member].shapes.iter().enumerate() {
                found.insert((member, stage), (all as f64 / threads(shape) as f64).max(1.0));
            }
        }
        found
    }

    /// The bytes that the threads of a block share: an element is at least a word.
    pub(super) fn shared(&self, state: &Hybrid, of: (FuncId, usize)) -> f64 {
        let dag = self.threads.dag;
        let bytes = |func: FuncId| {
            let region = self.threads.region(&state.state, func, 0).unwrap_or_default();
            let elements = dag.pipeline.funcs[func].types.iter().map(|ty| (ty.bytes() as i64).max(WORD) as f64);
            volume(&region) * elements.sum::<f64>()
        };
        self.members(state, of, Role::Block).map(bytes).sum()
    }

    /// The factor by which instructions take longer where neighbouring threads access memory far apart.
    fn scatter(&self, state: &Hybrid, of: (FuncId, usize), shape: &Shape, loops: &[LoopSpec], domain: &Box) -> f64 {
        let dag = self.threads.dag;
        let Some(var) = shape.order.iter().copied().find(|n| threads_along(shape, *n) > 1) else { return 1.0 };
        let mut at: Vec<i64> = domain.iter().map(|span| span.0).collect();
        for l in loops.iter().filter(|l| l.is_tile) {
            at[l.var] += l.step * ((l.trip - 1.0) / 2.0) as i64;
        }
        let mut next = at.clone();
        next[var] += shape.block(var);
        let (is_inlined, mut visits) = (|func| state.state.is_inlined(func), 0);
        let here = elements(dag, of, &at, &is_inlined, &mut visits);
        let there = elements(dag, of, &next, &is_inlined, &mut visits);
        let is_far = |source: Source| match source {
            Source::Func(func) => state.state.place(func) == Place::Root,
            Source::Image(_) => true,
        };
        let apart = |source: Source, a: &Box, b: &Box| {
            let whole = dag.whole(source);
            let (mut sum, mut stride) = (0.0, dag.bytes(source));
            for (d, (a, b)) in a.iter().zip(b).enumerate() {
                sum += (b.0.saturating_sub(a.0)) as f64 * stride;
                stride *= whole.get(d).map_or(1.0, |span| extent(*span).max(1) as f64);
            }
            // Four words apart are taken in one go by four threads less.
            (sum.abs() / (4.0 * WORD as f64)).clamp(1.0, 8.0)
        };
        let read = here.iter().zip(&there).filter(|(a, _)| is_far(a.source));
        let mut all: Vec<f64> = read.map(|(a, b)| apart(a.source, &a.at, &b.at)).collect();
        let stored = |at: &[i64]| dag.own_reads(of, &at.iter().map(|v| (*v, *v)).collect::<Box>()).1;
        all.push(apart(Source::Func(of.0), &stored(&at), &stored(&next)));
        all.iter().sum::<f64>() / all.len() as f64
    }

    /// The cycles of threads that store parts of words.
    fn pieces(&self, of: (FuncId, usize), shape: &Shape, points: f64) -> f64 {
        let bytes = self.threads.dag.funcs[of.0].widths.1;
        let lanes = shape.vector.map_or(1, |(_, lanes)| lanes);
        if bytes * lanes < WORD { points * PIECE_OF_WORD } else { 0.0 }
    }

    /// The cycles of threads that add terms to one element in single steps.
    fn steps(&self, of: (FuncId, usize), shape: &Shape, points: f64) -> f64 {
        let vars = &self.threads.dag.funcs[of.0].stages[of.1].vars;
        let in_steps = (0..vars.len()).any(|n| shape.tile[n] > 0 && vars[n].dim.is_none());
        if in_steps { points * STEP } else { 0.0 }
    }

    /// The time of copies between host and device: of what one side computes and the other reads. Arguments stay where
    /// they were.
    pub(super) fn copies(&self, state: &Hybrid) -> f64 {
        let dag = self.threads.dag;
        let mut sum = 0.0;
        if state.host.is_empty() {
            return sum;
        }
        for func in state.state.choices.ids().filter(|func| state.state.place(*func) == Place::Root) {
            let is_host = |func: FuncId| state.role(state.state.root(func)) == Role::Host;
            let readers = state.state.readers(dag, func);
            if readers.iter().any(|reader| is_host(reader.0) != is_host(func)) {
                let points = self.threads.roots.get(&func).map_or(0.0, |region| volume(region));
                sum += self.speed.copy_ns + points * dag.funcs[func].bytes / self.speed.copy_bytes_per_ns;
            }
        }
        sum
    }
}
