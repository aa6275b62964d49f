//! The search for a schedule: strips of Funcs that nothing reads but what is in them, priced by their loop nests.

use crate::error::AutoError;
use crate::estimate::{Complete, Estimates};
use crate::inline::{inlined, reached};
use crate::price::price;
use crate::shape::{Extents, Shape};
use crate::state::{Place, State};
use crate::tuning::{FEW_FUNCS, LEAST_NESTS, LEAST_PART, MOST_MEMBERS, MOST_NESTS, ROWS};
use halide_core::buffer::Dim;
use halide_core::ids::{FuncId, IdVec, ImageId};
use halide_core::pipeline::{Kind, Pipeline};
use halide_ir::machine::Machine;
use halide_ir::target::Target;
use halide_sched::lower::LowerOptions;
use halide_sched::lower::regions::query::ShapeQuery;
use halide_sched::nest::{Item, Nest, NestQuery, Sizes, dense_dims, dims, output_dims};
use halide_sched::plan::{Plan, resolve};
use halide_sched::schedule::Schedule;
use std::collections::{BTreeMap, BTreeSet};

/// A schedule that was chosen.
#[derive(Clone, Debug)]
pub struct Auto {
    /// The schedule.
    pub schedule: Schedule,
    /// Its predicted time in nanoseconds.
    pub predicted_ns: f64,
    /// The predicted time with every Func at the root.
    pub breadth_first_ns: f64,
    /// The schedules that were priced.
    pub priced: usize,
    /// The reasons of the compiler against schedules that were considered, which were given up. There should be none.
    pub refused: Vec<String>,
}

/// Chooses a schedule for sizes, without running anything. Equal questions have equal answers.
///
/// # Errors
/// Estimates with mistakes, and algorithms that no schedule can lower.
pub fn auto_schedule(
    pipeline: &Pipeline,
    target: &Target,
    machine: &Machine,
    sizes: &Estimates,
) -> Result<Auto, AutoError> {
    if let Some(stage) = pipeline.externs.first() {
        return Err(AutoError::Extern { func: stage.name.clone() });
    }
    let complete = sizes.complete(pipeline).map_err(AutoError::Estimates)?;
    let plan = resolve(pipeline, &root_only(pipeline), target).map_err(AutoError::Schedule)?;
    let images = image_dims(&plan, &complete)?;
    let mut search = Search::new((pipeline, target, machine), complete, images);
    let nest = search.nest(&plan)?;
    let extents = search.extents(&nest);
    let points = pipeline.order.iter().map(|id| (*id, nest.points(&pipeline.funcs[*id].name))).collect();
    let first = State::breadth_first(pipeline, &inlined(pipeline, &points));
    search.find_shapes(&first, &extents);
    search.leave_refused_loops(&first)?;
    let mut best = search.candidate(first)?;
    let breadth_first_ns = best.ns;
    search.strips(&mut best);
    search.moves(&mut best);
    let Search { priced, refused, .. } = search;
    Ok(Auto { schedule: best.schedule, predicted_ns: best.ns, breadth_first_ns, priced, refused })
}

/// The dimensions of inputs: as they are said, or as large as outputs need them.
fn image_dims(plan: &Plan, complete: &Complete) -> Result<IdVec<ImageId, Vec<Dim>>, AutoError> {
    let query = ShapeQuery::new(plan, &LowerOptions::default()).map_err(AutoError::Lower)?;
    let Complete { regions, images, params } = complete;
    let given = images.iter().map(|_| None).collect();
    let needs = query.needs(regions, &given, params).map_err(AutoError::Query)?;
    let said = images.iter().zip(needs.iter());
    Ok(said.map(|(said, n)| said.as_ref().map_or_else(|| dims(&n.region, &n.strides), dense_dims)).collect())
}

/// Every Func at the root, with plain loops.
fn root_only(pipeline: &Pipeline) -> Schedule {
    let mut schedule = Schedule::new();
    for id in &pipeline.order {
        schedule.func(pipeline.funcs[*id].name.as_str()).compute_root();
    }
    schedule
}

struct Candidate {
    state: State,
    schedule: Schedule,
    ns: f64,
}

struct Search<'q> {
    pipeline: &'q Pipeline,
    target: &'q Target,
    machine: &'q Machine,
    complete: Complete,
    images: IdVec<ImageId, Vec<Dim>>,
    shapes: BTreeMap<FuncId, Vec<Shape>>,
    /// The Funcs that read a Func, those that are substituted passed through.
    readers: BTreeMap<FuncId, BTreeSet<FuncId>>,
    seen: BTreeSet<State>,
    priced: usize,
    most: usize,
    refused: Vec<String>,
}

impl<'q> Search<'q> {
    fn new(
        (pipeline, target, machine): (&'q Pipeline, &'q Target, &'q Machine),
        complete: Complete,
        images: IdVec<ImageId, Vec<Dim>>,
    ) -> Search<'q> {
        let most = (MOST_NESTS * FEW_FUNCS / pipeline.order.len().max(FEW_FUNCS)).max(LEAST_NESTS);
        Search {
            pipeline,
            target,
            machine,
            complete,
            images,
            shapes: BTreeMap::new(),
            readers: BTreeMap::new(),
            seen: BTreeSet::new(),
            priced: 0,
            most,
            refused: Vec::new(),
        }
    }

    /// The plan of a schedule.
    fn plan(&self, schedule: &Schedule) -> Result<Plan, AutoError> {
        resolve(self.pipeline, schedule, self.target).map_err(AutoError::Schedule)
    }

    /// The costs of a plan at the estimates.
    fn nest(&self, plan: &Plan) -> Result<Nest, AutoError> {
        let query = NestQuery::new(plan, &LowerOptions::default()).map_err(AutoError::Lower)?;
        let outputs = output_dims(self.pipeline, &self.complete.regions);
        Ok(query.at(&Sizes { images: &self.images, outputs: &outputs, params: &self.complete.params }))
    }

    /// Extents of Funcs that are stored, by name.
    fn extents(&self, nest: &Nest) -> BTreeMap<String, Vec<i64>> {
        let outputs = self.pipeline.outputs.iter().zip(&self.complete.regions);
        let mut extents: BTreeMap<String, Vec<i64>> = outputs
            .map(|(func, region)| {
                let own = region.spans().iter().map(|span| span.extent).collect();
                (self.pipeline.funcs[*func].name.clone(), own)
            })
            .collect();
        nest.for_each(&mut |item| {
            if let Item::Store(s) = item {
                extents.entry(s.name.clone()).or_insert_with(|| s.extents.clone());
            }
        });
        extents
    }

    /// Chooses the loops of each Func, and finds who reads it.
    fn find_shapes(&mut self, state: &State, extents: &BTreeMap<String, Vec<i64>>) {
        let (pipeline, target) = (self.pipeline, self.target);
        let mut through: BTreeMap<FuncId, BTreeSet<FuncId>> = BTreeMap::new();
        // Consumers first, so that what substituted Funcs pass on is known.
        for &id in pipeline.order.iter().rev() {
            let func = &pipeline.funcs[id];
            let is_inline = state.places.get(&id) == Some(&Place::Inline);
            let by = if is_inline { through.get(&id).cloned().unwrap_or_default() } else { BTreeSet::from([id]) };
            for stage in &func.stages {
                for e in reached(pipeline, stage) {
                    match pipeline.exprs[e].kind {
                        Kind::Call { func, .. } if func != id => through.entry(func).or_default().extend(by.iter()),
                        _ => {}
                    }
                }
            }
            if !is_inline {
                let dims = extents.get(&func.name).map_or(&[][..], |e| e);
                let reduction = dims.iter().copied().max().unwrap_or(1);
                let shape = |n| Shape::new(pipeline, (id, n), &Extents { dims, reduction }, target);
                self.shapes.insert(id, (0..func.stages.len()).map(shape).collect());
            }
        }
        self.readers = through;
    }

    /// Leaves loops serial of which the compiler refuses that they run at once.
    fn leave_refused_loops(&mut self, state: &State) -> Result<(), AutoError> {
        loop {
            let schedule = state.schedule(self.pipeline, &self.shapes);
            let Err(AutoError::Schedule(errors)) = self.plan(&schedule) else { return Ok(()) };
            let wrong = errors.iter().filter_map(|e| schedule.directives().get(e.directive?));
            let mut left = false;
            for subject in wrong.map(|directive| &directive.subject) {
                let func = self.pipeline.funcs.enumerate().find(|(_, f)| f.name == subject.func);
                let shape = func.and_then(|(id, _)| self.shapes.get_mut(&id)?.get_mut(subject.stage));
                if let Some(shape) = shape {
                    left |= shape.vector.take().is_some() | shape.parallel.take().is_some();
                }
            }
            self.refused.extend(errors.iter().map(|e| e.to_string()));
            if !left {
                return Err(AutoError::Schedule(errors));
            }
        }
    }

    /// A state with its price.
    fn candidate(&mut self, state: State) -> Result<Candidate, AutoError> {
        let schedule = state.schedule(self.pipeline, &self.shapes);
        let plan = self.plan(&schedule)?;
        let nest = self.nest(&plan)?;
        self.priced += 1;
        let ns = price(&nest, &plan.pipeline, self.machine, self.target.threads);
        Ok(Candidate { state, schedule, ns })
    }

    /// Takes a state if it is cheaper than the best one. A state that cannot be lowered is none.
    fn consider(&mut self, state: State, best: &mut Candidate) -> bool {
        if self.priced >= self.most || !self.is_nested(&state) || !self.seen.insert(state.clone()) {
            return false;
        }
        match self.candidate(state) {
            Err(AutoError::Schedule(errors)) => {
                self.refused.extend(errors.iter().map(|e| e.to_string()));
                false
            }
            Ok(candidate) if candidate.ns < best.ns * (1.0 - LEAST_PART) => {
                *best = candidate;
                true
            }
            _ => false,
        }
    }

    /// Returns true if every Func in strips is computed where all that reads it is, or outside of that.
    fn is_nested(&self, state: &State) -> bool {
        state.places.iter().all(|(func, place)| {
            let readers = self.readers.get(func).into_iter().flatten();
            let mut places = readers.map(|reader| (reader, state.places.get(reader).copied()));
            match *place {
                Place::Inline | Place::Root => true,
                Place::Row(host) => places.all(|(r, at)| *r == host || at == Some(Place::Row(host))),
                Place::Strip(host) => places.all(|(r, at)| *r == host || at.and_then(Place::host) == Some(host)),
            }
        })
    }

    /// The Func whose strips may hold another one: all that reads it is there.
    fn host(&self, state: &State, func: FuncId) -> Option<FuncId> {
        if self.pipeline.outputs.contains(&func) {
            return None;
        }
        let hosts: BTreeSet<FuncId> = self
            .readers
            .get(&func)?
            .iter()
            .map(|reader| state.places.get(reader).and_then(|place| place.host()).unwrap_or(*reader))
            .collect();
        let host = hosts.first().copied().filter(|_| hosts.len() == 1)?;
        let def = &self.pipeline.funcs[host];
        let has_strips = self.shapes.get(&host).and_then(|all| all.first()).is_some_and(|shape| shape.strips.is_some());
        let members = state.places.values().filter(|place| place.host() == Some(host)).count();
        if members >= MOST_MEMBERS && state.places.get(&func).and_then(|place| place.host()) != Some(host) {
            return None;
        }
        let can_be_host = state.places.get(&host) == Some(&Place::Root) && def.is_pure() && has_strips;
        can_be_host.then_some(host)
    }

    /// Everything in strips of what reads it, as far as it goes.
    fn strips(&mut self, best: &mut Candidate) {
        let start = best.state.clone();
        for rows in ROWS {
            for place in [Place::Row, Place::Strip] {
                let mut state = start.clone();
                for &func in self.pipeline.order.iter().rev() {
                    if state.places.get(&func) != Some(&Place::Root) {
                        continue;
                    }
                    if let Some(host) = self.host(&state, func).filter(|_| !state.has_strips(func)) {
                        state.places.insert(func, place(host));
                        state.rows.insert(host, rows);
                    }
                }
                self.consider(state, best);
            }
        }
    }

    /// Single changes, from consumers to producers, as long as one gains.
    fn moves(&mut self, best: &mut Candidate) {
        loop {
            let mut gained = false;
            for &func in self.pipeline.order.iter().rev() {
                for state in self.neighbours(&best.state, func) {
                    gained |= self.consider(state, best);
                }
            }
            if !gained || self.priced >= self.most {
                return;
            }
        }
    }

    fn neighbours(&self, state: &State, func: FuncId) -> Vec<State> {
        let mut all = Vec::new();
        let place = state.places.get(&func).copied();
        if let Some(&rows) = state.rows.get(&func).filter(|_| state.has_strips(func)) {
            for rows in [rows * 2, rows / 2] {
                let mut next = state.clone();
                next.rows.insert(func, rows.max(1));
                all.push(next);
            }
        }
        if place.is_none_or(|place| place == Place::Inline) || state.has_strips(func) {
            return all;
        }
        let root = place.filter(|place| *place != Place::Root).map(|_| Place::Root);
        let hosted = self.host(state, func).into_iter().flat_map(|host| [Place::Row(host), Place::Strip(host)]);
        for to in hosted.chain(root).filter(|to| Some(*to) != place) {
            let mut next = state.clone();
            next.places.insert(func, to);
            if let Some(host) = to.host() {
                next.rows.entry(host).or_insert(ROWS[2]);
            }
            all.push(next);
        }
        all
    }
}
