//! Demand-driven realization: which points of which Funcs are computed, and when.
//!
//! A task is a Func's points somebody demanded, an evaluation of its pure definition at up to [`BATCH_LANES`] points,
//! or a run of one of its updates. Tasks that need values of other Funcs wait on an explicit stack, so that neither
//! long chains of Funcs nor deep expressions use the machine's.
//!
//! Updates. In stage `s` some dimensions are pure: the stored coordinate, and that of every read of the Func itself, is
//! the Func's own variable. A *key* gives those coordinates, and running stage `s` for a key reads and writes only
//! points that agree with it. So a point has stages 0..=s applied when its pure definition is known and each stage up
//! to `s` has run for the point's key, in order; each (stage, key) runs once. A run that touches a point first demands
//! it with the stages before its own applied. Runs for different keys are independent and become lanes; so do several
//! points of the reduction domain, of which only what does not read the Func itself is evaluated ahead of its turn.

use super::batch::Batch;
use super::bound::Bound;
use super::error::RunError;
use super::mask::Mask;
use super::op::{Program, Site};
use super::options::PrintSink;
use super::program::compile;
use super::store::{Points, Store};
use super::world::{Requests, World};
use crate::buffer::{AnyBuffer, Region, Span};
use crate::ids::{FuncId, IdVec};
use crate::limits::{Limits, OverCap};
use crate::pipeline::PipelineData;
use crate::tuning::BATCH_LANES;
use std::collections::{BTreeMap, HashSet};

/// The realization of one pipeline on one set of inputs. Values once computed stay.
pub(super) struct Realizer<'a> {
    world: World<'a>,
    /// The stages of each Func that was demanded.
    programs: IdVec<FuncId, Vec<Program>>,
    /// Per Func and stage, the keys for which the stage has run or is running.
    started: IdVec<FuncId, Vec<HashSet<Box<[i32]>>>>,
}

/// The arguments of a run beside its pipeline.
pub(super) struct Surroundings<'a> {
    pub(super) bound: &'a Bound,
    pub(super) print: Option<&'a PrintSink>,
    pub(super) before: BTreeMap<FuncId, &'a [AnyBuffer]>,
    pub(super) limits: &'a Limits,
}

enum Task {
    Demand(Demand),
    Define(Define),
    Update(Update),
}

/// Points that need `stages` stages applied.
struct Demand {
    func: FuncId,
    stages: u32,
    points: Points,
    /// The stage being applied, and the points that it was applied to.
    stage: u32,
    next: usize,
}

/// The pure definition at some points.
struct Define {
    points: Points,
    batch: Batch,
}

/// One update for some keys.
struct Update {
    func: FuncId,
    stage: usize,
    keys: Points,
    /// The next point of the reduction domain that is not in a batch yet.
    next: Option<Vec<i32>>,
    chunk: Option<Chunk>,
}

/// Some consecutive points of the reduction domain, each for all keys: lane `turn * keys + key`.
struct Chunk {
    batch: Batch,
    turns: usize,
    turn: usize,
    /// The lanes whose target is known to have all earlier stages applied, or was requested.
    touched: Mask,
}

/// The outcome of working on a task.
enum Progress {
    Done,
    /// These come first.
    Wait(Vec<Task>),
}

impl<'a> Realizer<'a> {
    pub(super) fn new(pipeline: &'a PipelineData, around: Surroundings<'a>) -> Result<Realizer<'a>, RunError> {
        let Surroundings { bound, print, before, limits } = around;
        let stores = pipeline.funcs.iter().map(|f| Store::new(f.dims(), f.types.len())).collect();
        let index = pipeline.index_table();
        let (mut programs, mut started) = (IdVec::new(), IdVec::new());
        for (id, func) in pipeline.funcs.enumerate() {
            let stages = 0..func.stages.len();
            programs
                .push(stages.clone().map(|s| compile(pipeline, &index, bound, id, s)).collect::<Result<Vec<_>, _>>()?);
            started.push(stages.map(|_| HashSet::new()).collect::<Vec<_>>());
        }
        Ok(Realizer { world: World { pipeline, bound, stores, print, before, limits, memory: 0 }, programs, started })
    }

    /// Computes a Func at some points, all stages.
    pub(super) fn realize(&mut self, func: FuncId, points: Points) -> Result<(), RunError> {
        let stages = self.world.pipeline.funcs[func].stages.len() as u32;
        let mut stack = vec![Task::demand(func, stages, points)];
        while let Some(task) = stack.last_mut() {
            check_stop(&self.world)?;
            let step = match task {
                Task::Demand(demand) => self.demand(demand)?,
                Task::Define(define) => self.define(define)?,
                Task::Update(update) => self.update(update)?,
            };
            match step {
                Progress::Done => drop(stack.pop()),
                Progress::Wait(tasks) => stack.extend(tasks),
            }
        }
        Ok(())
    }

    /// The value of a tuple element at a realized point.
    pub(super) fn value(&self, func: FuncId, element: usize, at: &[i32]) -> u64 {
        let store = &self.world.stores[func];
        store.find(at).map_or(0, |place| store.value(place, element))
    }

    /// Finds what to run next for the demanded points: stage after stage, a batch of points or keys at a time.
    fn demand(&mut self, d: &mut Demand) -> Result<Progress, RunError> {
        while d.stage < d.stages {
            check_stop(&self.world)?;
            let program = &self.programs[d.func][d.stage as usize];
            let (started, store) = (&mut self.started[d.func][d.stage as usize], &mut self.world.stores[d.func]);
            let mut keys = Points::new(program.pure_dims.len());
            let whole = program.pure_dims.len() == d.points.dims();
            while d.next < d.points.len() && keys.len() < BATCH_LANES {
                let at = d.points.get(d.next);
                d.next += 1;
                let place = match store.find(at) {
                    Some(place) => place,
                    None => {
                        let (limits, bytes) = (self.world.limits, store.page_bytes());
                        let over = |over| over_cap(self.world.pipeline, d.func, over);
                        limits.check(bytes, self.world.memory, || 0).map_err(over)?;
                        self.world.memory += bytes;
                        store.make(at).map_err(|_| no_memory(self.world.pipeline, d.func))?
                    }
                };
                if store.applied(place) > d.stage {
                    continue;
                }
                // Noted before it is so: whoever could look sooner waits for this demand.
                store.set_applied(place, d.stage + 1);
                let key: Box<[i32]> = program.pure_dims.iter().map(|dim| at[*dim]).collect();
                if whole || started.insert(key.clone()) {
                    keys.push(&key);
                }
            }
            if keys.len() > 0 {
                return Ok(Progress::Wait(vec![Task::run(d.func, d.stage as usize, keys, program)]));
            }
            (d.stage, d.next) = (d.stage + 1, 0);
        }
        Ok(Progress::Done)
    }

    fn define(&mut self, d: &mut Define) -> Result<Progress, RunError> {
        let program = &self.programs[d.batch.func][0];
        let mut requests = Requests::new();
        if !d.batch.advance(program, &self.world, Mask::range(0..d.points.len()), &mut requests)? {
            return Ok(wait_for(requests));
        }
        let store = &mut self.world.stores[d.batch.func];
        for lane in 0..d.points.len() {
            if let Some(place) = store.find(d.points.get(lane)) {
                for (element, reg) in program.sites[0].values.iter().enumerate() {
                    store.set_value(place, element, d.batch.value(*reg, lane));
                }
            }
        }
        Ok(Progress::Done)
    }

    fn update(&mut self, u: &mut Update) -> Result<Progress, RunError> {
        let program = &self.programs[u.func][u.stage];
        loop {
            check_stop(&self.world)?;
            let Some(chunk) = &mut u.chunk else {
                u.chunk = next_chunk(self.world.pipeline.funcs[u.func].dims(), program, u);
                match u.chunk {
                    Some(_) => continue,
                    None => return Ok(Progress::Done),
                }
            };
            let keys = u.keys.len();
            let now = Mask::range(chunk.turn * keys..(chunk.turn + 1) * keys);
            let mut requests = Requests::new();
            let ready = chunk.batch.advance(program, &self.world, now, &mut requests)?;
            touch(&self.world, program, chunk, &mut requests)?;
            if !ready || !requests.is_empty() {
                return Ok(wait_for(requests));
            }
            store_turn(&mut self.world, program, &chunk.batch, now)?;
            chunk.turn += 1;
            let goes_on: Vec<usize> =
                (0..keys).filter(|key| !chunk.batch.is_done(program, now.span().start + key)).collect();
            if goes_on.is_empty() {
                return Ok(Progress::Done);
            }
            if chunk.turn == chunk.turns {
                u.chunk = None;
                u.keys = u.keys.only(&goes_on);
            }
        }
    }
}

impl Task {
    fn demand(func: FuncId, stages: u32, points: Points) -> Task {
        Task::Demand(Demand { func, stages, points, stage: 0, next: 0 })
    }
    /// Stage `stage` for some keys, which for the pure definition are points.
    fn run(func: FuncId, stage: usize, keys: Points, program: &Program) -> Task {
        if stage == 0 {
            let vars = columns(&keys);
            return Task::Define(Define { batch: Batch::new(func, 0, keys.len(), vars, Vec::new()), points: keys });
        }
        let empty = program.rdom.iter().any(|(_, extent)| *extent <= 0);
        let next = (!empty).then(|| program.rdom.iter().map(|(min, _)| *min as i32).collect());
        Task::Update(Update { func, stage, keys, next, chunk: None })
    }
}

/// The next points of the reduction domain, as many as fit a batch.
fn next_chunk(dims: usize, program: &Program, u: &mut Update) -> Option<Chunk> {
    let region: Region = program.rdom.iter().map(|(min, extent)| Span { min: *min, extent: *extent }).collect();
    let mut rvars = vec![Vec::new(); program.rdom.len()];
    let (keys, mut turns) = (u.keys.len(), 0);
    while turns == 0 || (turns + 1) * keys <= BATCH_LANES {
        let Some(r) = &mut u.next else { break };
        for (column, c) in rvars.iter_mut().zip(r.iter()) {
            column.resize(column.len() + keys, *c);
        }
        turns += 1;
        if !crate::buffer::advance(region.spans(), r) {
            u.next = None;
        }
    }
    if turns == 0 {
        return None;
    }
    let mut vars = vec![Vec::new(); dims];
    for (column, dim) in columns(&u.keys).into_iter().zip(&program.pure_dims) {
        vars[*dim] = column.repeat(turns);
    }
    let batch = Batch::new(u.func, u.stage, turns * keys, vars, rvars);
    Some(Chunk { batch, turns, turn: 0, touched: Mask::NONE })
}

/// Requests the points that are going to be stored to and have not all earlier stages applied.
fn touch(world: &World, program: &Program, chunk: &mut Chunk, requests: &mut Requests) -> Result<(), RunError> {
    let batch = &chunk.batch;
    let (store, lanes) = (&world.stores[batch.func], known_targets(program, batch).minus(chunk.touched));
    for lane in lanes.lanes() {
        for site in &program.sites {
            let at = target(world, site, batch, lane)?;
            if store.find(&at).is_none_or(|place| store.applied(place) < batch.stage as u32) {
                let wanted = (batch.func, batch.stage as u32);
                requests.entry(wanted).or_insert_with(|| Points::new(at.len())).push(&at);
            }
        }
    }
    chunk.touched = chunk.touched.or(lanes);
    Ok(())
}

/// Stores the values of the lanes of one turn where the predicate holds.
fn store_turn(world: &mut World, program: &Program, batch: &Batch, now: Mask) -> Result<(), RunError> {
    for lane in batch.active(program).and(now).lanes() {
        for site in &program.sites {
            let at = target(world, site, batch, lane)?;
            let store = &mut world.stores[batch.func];
            if let Some(place) = store.find(&at) {
                for (element, reg) in site.values.iter().enumerate() {
                    store.set_value(place, element, batch.value(*reg, lane));
                }
            }
        }
    }
    Ok(())
}

fn known_targets(program: &Program, batch: &Batch) -> Mask {
    let targets = program.sites.iter().flat_map(|s| &s.targets);
    targets.fold(batch.active(program), |mask, reg| mask.and(batch.known(*reg)))
}

fn target(world: &World, site: &Site, batch: &Batch, lane: usize) -> Result<Vec<i32>, RunError> {
    let place = batch.reader(world);
    let coordinate = |(dim, reg): (usize, &usize)| place.coordinate(batch.func, dim, batch.value(*reg, lane) as i64);
    site.targets.iter().enumerate().map(coordinate).collect()
}

fn wait_for(requests: Requests) -> Progress {
    Progress::Wait(requests.into_iter().map(|((func, stages), points)| Task::demand(func, stages, points)).collect())
}

fn columns(points: &Points) -> Vec<Vec<i32>> {
    (0..points.dims()).map(|d| (0..points.len()).map(|i| points.get(i)[d]).collect()).collect()
}

/// Ends the run where it was told to.
fn check_stop(world: &World<'_>) -> Result<(), RunError> {
    world.limits.stopped().map_or(Ok(()), |stop| Err(RunError::Stopped(stop)))
}

fn over_cap(pipeline: &PipelineData, func: FuncId, over: OverCap) -> RunError {
    RunError::OverCap { func: pipeline.funcs[func].name.clone(), over }
}

fn no_memory(pipeline: &PipelineData, func: FuncId) -> RunError {
    RunError::OutOfMemory { func: pipeline.funcs[func].name.clone() }
}
