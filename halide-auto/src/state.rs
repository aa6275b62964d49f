//! A state of the search: where each Func is computed, and the schedule that says so.

use crate::shape::Shape;
use halide_core::ids::{FuncId, IdVec};
use halide_core::pipeline::Pipeline;
use halide_sched::schedule::{Schedule, StageSchedule};
use std::collections::BTreeMap;

/// The place of a Func.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Substituted where it is used.
    Inline,
    /// Outside of all loops.
    Root,
    /// In a strip of another Func, which is at the root: all that the strip needs at once.
    Strip(FuncId),
    /// In a strip of another Func, row by row: a row computes what the one before it did not.
    Row(FuncId),
}

impl Place {
    /// The Func in whose strips it is.
    pub(crate) fn host(self) -> Option<FuncId> {
        match self {
            Place::Strip(host) | Place::Row(host) => Some(host),
            Place::Inline | Place::Root => None,
        }
    }
}

/// The places of all Funcs, and the rows of strips.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct State {
    pub(crate) places: BTreeMap<FuncId, Place>,
    /// Iterations of a strip, by host.
    pub(crate) rows: BTreeMap<FuncId, i64>,
}

impl State {
    /// Every Func at the root that is not substituted.
    pub(crate) fn breadth_first(pipeline: &Pipeline, inlined: &IdVec<FuncId, bool>) -> State {
        let place = |id: &FuncId| (*id, if inlined[*id] { Place::Inline } else { Place::Root });
        State { places: pipeline.order.iter().map(place).collect(), rows: BTreeMap::new() }
    }

    /// Returns true if strips of `host` hold another Func.
    pub(crate) fn has_strips(&self, host: FuncId) -> bool {
        self.places.values().any(|place| place.host() == Some(host))
    }

    /// The schedule that says so.
    pub(crate) fn schedule(&self, pipeline: &Pipeline, shapes: &BTreeMap<FuncId, Vec<Shape>>) -> Schedule {
        let mut schedule = Schedule::new();
        for (&id, &place) in &self.places {
            let Some(stages) = shapes.get(&id) else { continue };
            let name = pipeline.funcs[id].name.as_str();
            let strips = |host: FuncId| {
                let shape = shapes.get(&host)?.first()?;
                let (outer, inner) = shape.parts(&shape.strips.as_ref()?.0);
                Some((pipeline.funcs[host].name.as_str(), outer, inner))
            };
            match place {
                Place::Inline => continue,
                Place::Root => drop(schedule.func(name).compute_root()),
                Place::Strip(host) => {
                    if let Some((host, outer, _)) = strips(host) {
                        schedule.func(name).compute_at(host, outer);
                    }
                }
                Place::Row(host) => {
                    if let Some((host, outer, inner)) = strips(host) {
                        schedule.func(name).store_at(host, outer).compute_at(host, inner);
                    }
                }
            }
            for (n, shape) in stages.iter().enumerate() {
                let stage = schedule.func(name);
                let stage = if n == 0 { stage } else { stage.update(n - 1) };
                match (place, self.rows.get(&id).filter(|_| n == 0 && self.has_strips(id))) {
                    (Place::Root, Some(rows)) => strips_of(stage, shape, *rows),
                    (Place::Root, None) => spread(stage, shape),
                    _ => along_rows(stage, shape),
                }
            }
        }
        schedule
    }
}

/// One loop in strips, which several threads take, with the others inside of a row.
fn strips_of(stage: StageSchedule<'_>, shape: &Shape, rows: i64) {
    let Some((var, is_shared)) = &shape.strips else { return along_rows(stage, shape) };
    let stage = match shape.with_outermost(var) {
        Some(order) => stage.reorder(order),
        None => stage,
    };
    let (outer, inner) = shape.parts(var);
    let stage = stage.split(var, &outer, &inner, rows);
    along_rows(if *is_shared { stage.parallel(&outer) } else { stage }, shape);
}

/// One loop for all threads, the others inside of it.
fn spread(stage: StageSchedule<'_>, shape: &Shape) {
    let Some((var, chunk)) = &shape.parallel else { return along_rows(stage, shape) };
    let stage = match shape.with_outermost(var) {
        Some(order) => stage.reorder(order),
        None => stage,
    };
    if let Some((along, lanes)) = shape.vector.as_ref().filter(|(along, _)| along == var) {
        let (outer, inner) = shape.parts(along);
        drop(stage.split(var, &outer, &inner, *chunk).parallel(&outer).vectorize(&inner, lanes.clone()));
        return;
    }
    along_rows(if *chunk > 1 { stage.parallel_chunks(var, *chunk) } else { stage.parallel(var) }, shape);
}

fn along_rows(stage: StageSchedule<'_>, shape: &Shape) {
    if let Some((along, lanes)) = &shape.vector {
        drop(stage.vectorize(along, lanes.clone()));
    }
}
