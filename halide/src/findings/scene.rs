//! The definitions of a plan with the loops around them, as rules look at them.

use crate::call::Call;
use crate::error::Error;
use crate::nest::at_the_root;
use halide_core::buffer::Region;
use halide_core::ids::FuncId;
use halide_ir::machine::Machine;
use halide_ir::{ForKind, LoopId};
use halide_sched::nest::{AccessCost, Item, LoopCost, Nest, PointsCost, StoreCost};
use halide_sched::plan::{Level, Plan, StagePlan};
use halide_sched::schedule::Subject;

/// The operations and accesses of a cycle, as code of usual loops has them.
const AT_ONCE: f64 = 2.0;

/// A plan with its costs.
pub(super) struct Scene<'s> {
    pub(super) plan: &'s Plan,
    pub(super) nest: Nest,
    /// The costs with every Func at the root that is not inlined.
    pub(super) least: Option<Nest>,
    pub(super) machine: Machine,
    pub(super) threads: u32,
    /// The definitions that compute something.
    pub(super) definitions: Vec<Definition>,
    /// The allocations that there are.
    pub(super) stores: Vec<Stored>,
    /// The work of all definitions.
    work: f64,
}

/// A definition in one place.
pub(super) struct Definition {
    pub(super) of: (FuncId, usize),
    pub(super) func: String,
    /// The name with the number of the update: `f.update(0)`.
    pub(super) name: String,
    pub(super) subject: Subject,
    pub(super) points: f64,
    /// Operations and accesses of all its points.
    pub(super) work: f64,
    /// The loops around it, outermost first.
    pub(super) around: Vec<Around>,
    pub(super) accesses: Vec<AccessCost>,
    /// True if its loops are said by the directives about its stage alone, so that edits can speak of them.
    pub(super) is_plain: bool,
}

/// A loop around a definition or an allocation.
#[derive(Clone)]
pub(super) struct Around {
    pub(super) id: LoopId,
    pub(super) name: String,
    /// The definition whose loop it is.
    of: Option<(FuncId, usize)>,
    pub(super) kind: ForKind,
    pub(super) entries: f64,
    pub(super) iterations: f64,
    /// Distinct bytes that an iteration touches.
    pub(super) touched: f64,
    /// Distinct bytes that all iterations of an entry touch.
    pub(super) footprint: f64,
    /// The name of its variable, if it is a loop of the definition itself.
    pub(super) var: Option<String>,
}

/// Memory of a Func in one place.
pub(super) struct Stored {
    pub(super) func: FuncId,
    pub(super) name: String,
    pub(super) bytes: f64,
    pub(super) allocations: f64,
    /// The loops around it, outermost first.
    pub(super) around: Vec<Around>,
}

impl Around {
    /// The iterations of an entry.
    pub(super) fn trip(&self) -> f64 {
        if self.entries > 0.0 { self.iterations / self.entries } else { 0.0 }
    }
}

impl Definition {
    /// The loops of the definition itself, outermost first.
    pub(super) fn own(&self) -> impl DoubleEndedIterator<Item = &Around> {
        self.around.iter().filter(|around| around.var.is_some())
    }

    /// The steps in memory of all accesses for a loop.
    pub(super) fn steps(&self, of: &Around) -> Vec<(&AccessCost, Option<i64>)> {
        let step = |access: &AccessCost| access.steps.iter().find(|(id, _)| *id == of.id).map(|(_, step)| *step);
        self.accesses.iter().filter_map(|access| Some((access, step(access)?))).collect()
    }

    /// The least bytes of an element that it stores.
    pub(super) fn element(&self) -> i64 {
        self.accesses.iter().filter(|access| access.is_store).map(|access| access.bytes).min().unwrap_or(1)
    }

    /// Returns true if a loop around it is so.
    pub(super) fn is_in(&self, kind: impl Fn(ForKind) -> bool) -> bool {
        self.around.iter().any(|around| kind(around.kind))
    }
}

impl<'s> Scene<'s> {
    /// Reads the plan of a call over these regions.
    pub(super) fn new(call: &'s Call<'_>, regions: &[Region]) -> Result<Scene<'s>, Error> {
        let compiled = call.compiled();
        let plan = compiled.plan();
        let nest = call.nest_of(plan, regions)?;
        let least = at_the_root(compiled).and_then(|plan| call.nest_of(&plan, regions).ok());
        let mut scene = Scene {
            plan,
            nest: Nest { body: Vec::new(), guesses: Vec::new(), ..nest },
            least,
            machine: Machine::typical(&plan.target),
            threads: plan.target.threads,
            definitions: Vec::new(),
            stores: Vec::new(),
            work: 0.0,
        };
        scene.read(&nest.body, &mut Vec::new());
        scene.nest = nest;
        scene.work = scene.definitions.iter().map(|definition| definition.work).sum::<f64>().max(1.0);
        Ok(scene)
    }

    /// The part of the work of all definitions that some of them do.
    pub(super) fn part<'d>(&self, definitions: impl IntoIterator<Item = &'d Definition>) -> f64 {
        definitions.into_iter().map(|definition| definition.work).sum::<f64>() / self.work
    }

    /// The stage of a definition.
    pub(super) fn stage(&self, of: (FuncId, usize)) -> &StagePlan {
        &self.plan.funcs[of.0].stages[of.1]
    }

    /// The lanes of a vector register for elements of so many bytes.
    pub(super) fn lanes(&self, bytes: i64) -> i64 {
        (i64::from(self.plan.target.vector_bits) / 8 / bytes.max(1)).max(1)
    }

    /// The time of a loop on one thread in nanoseconds: of its operations and accesses, or of the bytes that it needs,
    /// whichever is more.
    pub(super) fn nanoseconds(&self, around: &Around) -> f64 {
        let of = |d: &Definition| {
            let lanes = if d.is_in(|kind| kind == ForKind::Vectorized) { self.lanes(d.element()) } else { 1 };
            d.work / lanes as f64 / AT_ONCE / self.machine.ghz.max(0.1)
        };
        let bytes = around.footprint * around.entries;
        self.inside(around).map(of).sum::<f64>().max(bytes / self.machine.memory.bandwidth(1).max(0.1))
    }

    /// The time of an iteration, likewise.
    pub(super) fn nanoseconds_each(&self, around: &Around) -> f64 {
        let bytes = around.touched / self.machine.memory.bandwidth(1).max(0.1);
        (self.nanoseconds(around) / around.iterations.max(1.0)).max(bytes)
    }

    /// The definitions in a loop.
    pub(super) fn inside<'a>(&'a self, around: &Around) -> impl Iterator<Item = &'a Definition> {
        let id = around.id;
        self.definitions.iter().filter(move |d| d.around.iter().any(|other| other.id == id))
    }

    fn read(&mut self, items: &[Item], around: &mut Vec<Around>) {
        for item in items {
            match item {
                Item::Loop(l) => {
                    around.push(self.around(l));
                    self.read(&l.body, around);
                    around.pop();
                }
                Item::Store(store) => {
                    self.add_store(store, around);
                    self.read(&store.body, around);
                }
                Item::Points(points) => self.add_points(points, around),
            }
        }
    }

    fn around(&self, l: &LoopCost) -> Around {
        Around {
            id: l.id,
            name: l.name.clone(),
            of: l.definition,
            kind: l.kind,
            entries: l.entries,
            iterations: l.iterations,
            touched: l.touched,
            footprint: l.footprint,
            var: None,
        }
    }

    fn add_store(&mut self, store: &StoreCost, around: &[Around]) {
        let StoreCost { func, name, bytes, allocations, .. } = store;
        let around = around.to_vec();
        self.stores.push(Stored { func: *func, name: name.clone(), bytes: *bytes, allocations: *allocations, around });
    }

    fn add_points(&mut self, points: &PointsCost, around: &[Around]) {
        if points.points <= 0.0 {
            return;
        }
        let own = around.iter().rev().find_map(|around| around.of.filter(|(func, _)| *func == points.func));
        let of = own.unwrap_or((points.func, 0));
        let name = match of.1.checked_sub(1) {
            None => points.name.clone(),
            Some(update) => format!("{}.update({update})", points.name),
        };
        let Some(stage) = self.plan.funcs.get(of.0).and_then(|func| func.stages.get(of.1)) else { return };
        let var = |around: &Around| {
            let is_it = |var: &&str| format!("{name}.{var}") == around.name;
            stage.loops.iter().map(|l| stage.vars[l.var].name.as_str()).find(is_it).map(str::to_string)
        };
        let is_own = |around: &Around| around.of == Some(of);
        let around =
            around.iter().map(|around| Around { var: var(around).filter(|_| is_own(around)), ..around.clone() });
        let each = f64::from(points.operations) + f64::from(points.reads) + 1.0;
        self.definitions.push(Definition {
            of,
            func: points.name.clone(),
            subject: Subject { stage: of.1, ..Subject::func(points.name.as_str()) },
            points: points.points,
            work: points.points * each,
            around: around.collect(),
            accesses: points.accesses.clone(),
            is_plain: stage.variants.is_empty() && stage.with.is_none(),
            name,
        });
    }

    /// Returns true if something is computed, stored or allocated at a loop.
    pub(super) fn is_used(&self, of: (FuncId, usize), var: &str) -> bool {
        let stage = self.stage(of);
        let is_here = |level: &Level| match level {
            Level::At { func, stage: host, label } => {
                (*func, *host) == of
                    && stage.loops.iter().any(|l| stage.labels[l.var] == *label && stage.vars[l.var].name == var)
            }
            _ => false,
        };
        self.plan.funcs.iter().any(|func| [&func.compute, &func.store, &func.hoist].into_iter().any(is_here))
    }
}
