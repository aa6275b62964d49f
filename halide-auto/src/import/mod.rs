//! The state that a schedule stands for: the way back from what `emit` does, also for schedules that people write.

mod approximation;
mod digits;
mod loops;
mod subject;

pub use approximation::{Approximation, Part};

use crate::cost::Pricer;
use crate::dag::extent;
use crate::error::AutoError;
use crate::kept::LoopNames;
use crate::state::{Choice, Place, State};
use halide_core::ids::{FuncId, IdVec, ParamId};
use halide_core::value::Scalar;
use halide_ir::target::Target;
use halide_sched::plan::{FuncPlan, KnownSpan, Level, LoopLabel, Plan, StagePlan, StoragePart};
use loops::{Loops, loops};
use std::collections::{BTreeMap, BTreeSet};
use subject::Subject;

/// A state that was read from a plan.
pub(crate) struct Imported {
    pub(crate) state: State,
    /// The parts of the plan that it does not have.
    pub(crate) approximations: Vec<Approximation>,
    /// The name of each definition's innermost loop, as the compiler speaks of it.
    pub(crate) innermost: Vec<((FuncId, usize), String)>,
    /// The names of each definition's loops, outermost first.
    pub(crate) loops: BTreeMap<(FuncId, usize), LoopNames>,
}

/// Reads the state that a plan stands for, at the sizes of a pricer.
///
/// # Errors
/// Kernels, which have other loops.
pub(crate) fn state_of(
    plan: &Plan,
    pricer: &Pricer<'_>,
    params: &IdVec<ParamId, Scalar>,
    target: &Target,
) -> Result<Imported, AutoError> {
    let dag = pricer.dag;
    let is_inlined = |func: FuncId| plan.funcs[func].compute == Level::Inline;
    let state = State::first(dag, pricer.roots, &is_inlined, target);
    let (approximations, innermost) = (Vec::new(), Vec::new());
    let read = Imported { state, approximations, innermost, loops: BTreeMap::new() };
    let mut reader = Reader { plan, pricer, params, used: used(plan), read, loops: BTreeMap::new() };
    // Consumers come first, so that loops are known where others are placed in them.
    for &func in plan.pipeline.order.iter().rev().filter(|func| !is_inlined(**func)) {
        reader.func(func)?;
    }
    let mut read = reader.read;
    read.approximations.sort();
    read.approximations.dedup();
    Ok(read)
}

/// The labels at which anything is placed, by definition.
fn used(plan: &Plan) -> BTreeSet<(FuncId, usize, LoopLabel)> {
    let place = |level: &Level| match level {
        Level::At { func, stage, label } => Some((*func, *stage, *label)),
        Level::Inline | Level::Root => None,
    };
    plan.funcs.iter().flat_map(|f| [&f.compute, &f.store]).filter_map(place).collect()
}

struct Reader<'r> {
    plan: &'r Plan,
    pricer: &'r Pricer<'r>,
    params: &'r IdVec<ParamId, Scalar>,
    used: BTreeSet<(FuncId, usize, LoopLabel)>,
    read: Imported,
    /// The loops of the definitions that were read.
    loops: BTreeMap<(FuncId, usize), Loops>,
}

impl Reader<'_> {
    /// Reads the place and the loops of a Func.
    fn func(&mut self, func: FuncId) -> Result<(), AutoError> {
        let (dag, plan) = (self.pricer.dag, &self.plan.funcs[func]);
        let name = self.plan.pipeline.funcs[func].name.clone();
        let place = self.place(plan, &name);
        self.read.state.choice_mut(func).place = place;
        let is_split = plan.storage.iter().any(|dim| dim.part != StoragePart::Whole);
        if is_split || !plan.storage.is_sorted_by_key(|dim| dim.dim) {
            self.read.approximations.push(Approximation { part: Part::Storage, of: name.clone() });
        }
        let Some(region) = self.pricer.region(&self.read.state, func, 0) else { return Ok(()) };
        for (n, general) in plan.stages.iter().enumerate() {
            let subject = Subject::new(&name, n, &dag.funcs[func].stages[n].vars);
            let domain = dag.domain((func, n), &region);
            let stage = variant(general, &region);
            let notes = &mut self.read.approximations;
            if stage.variants.iter().any(|(_, other)| !is_known(other)) {
                notes.push(subject.note(Part::Specialisations));
            }
            if stage.with.is_some() {
                notes.push(subject.note(Part::ComputedWith));
            }
            if !stage.prefetches.is_empty() {
                notes.push(subject.note(Part::Prefetch));
            }
            let is_used = |label: LoopLabel| self.used.contains(&(func, n, label));
            let Some(loops) = loops(stage, &subject, &domain, self.params, &is_used, notes) else {
                return Err(AutoError::Kernel { func: name });
            };
            if self.pricer.threads() > 1 && place != Place::Root && !loops.parallel.is_empty() {
                notes.push(subject.note(Part::InnerParallel));
            }
            if let Some(var) = loops.innermost {
                let loop_name = format!("{}.{}", subject.name, stage.vars[var].name);
                self.read.innermost.push(((func, n), loop_name));
            }
            let name = |var: &Option<_>| var.map(|var| stage.vars[var].name.clone());
            self.read.loops.insert((func, n), loops.vars.iter().map(name).collect());
            self.set_shape(func, n, &loops);
            self.loops.insert((func, n), loops);
        }
        self.pricer.note_fixed(&mut self.read.state, func);
        Ok(())
    }

    fn set_shape(&mut self, func: FuncId, stage: usize, loops: &Loops) {
        let choice: &mut Choice = self.read.state.choice_mut(func);
        if let Some(shape) = choice.shapes.get_mut(stage) {
            *shape = loops.shape.clone();
        }
    }

    /// The place of a Func.
    fn place(&mut self, plan: &FuncPlan, name: &str) -> Place {
        let Level::At { func: host, stage, label } = plan.compute else { return Place::Root };
        let of = (host, stage);
        let Some(loops) = self.loops.get(&of) else { return Place::Root };
        let at = |label: &LoopLabel| loops.depths.get(label).copied().unwrap_or(0);
        let depth = at(&label);
        let (stored, is_far) = match &plan.store {
            Level::At { func, stage, label } if (*func, *stage) == of => (at(label), false),
            // Outside of all loops of its host is where that is computed.
            other => (0, *other != self.plan.funcs[host].compute),
        };
        let Some(region) = self.pricer.region(&self.read.state, host, 0) else { return Place::Root };
        let own = loops.shape.loops(&self.pricer.dag.domain(of, &region));
        let along = loops.shape.vector.map(|(var, _)| var);
        let is_free = |n: usize| {
            let l = own.get(n).filter(|l| l.trip > 1.0);
            l.is_some_and(|l| Some(l.var) != along) && !loops.parallel.contains(&(n + 1))
        };
        let slides = stored < depth && is_free(depth - 1);
        if is_far || (stored..depth).filter(|n| is_free(*n)).count() > usize::from(slides) {
            self.read.approximations.push(Approximation { part: Part::KeptFar, of: name.to_string() });
        }
        Place::At { host: of, depth, slides }
    }
}

/// The loops of a definition at these sizes: those of the first specialisation that is known to hold.
fn variant<'s>(stage: &'s StagePlan, region: &[(i64, i64)]) -> &'s StagePlan {
    let holds = |plan: &StagePlan| {
        let is = |(known, span): (&KnownSpan, &(i64, i64))| {
            known.min.is_none_or(|min| min == span.0) && known.extent.is_none_or(|e| e == extent(*span))
        };
        is_known(plan) && plan.known.iter().zip(region).all(is)
    };
    let found = stage.variants.iter().map(|(_, plan)| plan).find(|plan| holds(plan));
    found.map_or(stage, |plan| variant(plan, region))
}

/// Returns true if the conditions of a specialisation tell sizes of an output.
fn is_known(plan: &StagePlan) -> bool {
    plan.known.iter().any(|known| known.min.is_some() || known.extent.is_some())
}
