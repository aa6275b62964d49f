//! Schedules from instructions.

use crate::auto::code_facts;
use crate::error::Error;
use crate::pipeline::Pipeline;
pub use halide_auto::isa::{
    Answer, Approach, Attempt, Choice, ChoiceKind, CostError, Costs, Heuristic, Mapped, MappedStage, Random, Replay,
    Unsuited, WhyNot,
};
use halide_auto::isa::{Mappable, map};
use halide_auto::{AutoOptions, Estimates, Priceable};
use halide_ir::machine::Machine;
use halide_ir::target::Target;
use halide_sched::schedule::{FloatMode, InstructionSet, Schedule};

/// The freedom that a schedule from instructions has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IsaOptions {
    /// The instructions. By default they are those that code generators find.
    pub set: InstructionSet,
    /// The costs of instructions. By default each costs what a fused product and sum does.
    pub costs: Costs,
    /// The most that may become of floats. By default products are added without being rounded first.
    pub floats: FloatMode,
    /// Directives that stay as they are. Stages whose loops they change are not mapped.
    pub keep: Schedule,
    /// The machine for which cycles are predicted. By default it is a typical one with the target's vectors.
    pub machine: Option<Machine>,
}

impl Default for IsaOptions {
    fn default() -> IsaOptions {
        IsaOptions {
            set: InstructionSet::built_in(),
            costs: Costs::new(),
            floats: FloatMode::Contract,
            keep: Schedule::new(),
            machine: None,
        }
    }
}

impl IsaOptions {
    /// Says which instructions there are.
    pub fn set(mut self, set: &InstructionSet) -> IsaOptions {
        self.set = set.clone();
        self
    }
    /// Says what instructions cost.
    pub fn costs(mut self, costs: &Costs) -> IsaOptions {
        self.costs = costs.clone();
        self
    }
    /// Says what may become of floats.
    pub fn floats(mut self, floats: FloatMode) -> IsaOptions {
        self.floats = floats;
        self
    }
    /// Says which directives stay as they are.
    pub fn keep(mut self, keep: &Schedule) -> IsaOptions {
        self.keep = keep.clone();
        self
    }
    /// Says for which machine cycles are predicted.
    pub fn machine(mut self, machine: &Machine) -> IsaOptions {
        self.machine = Some(machine.clone());
        self
    }
}

impl Pipeline {
    /// Chooses instructions for the stages that are sums of products, without running anything: the instruction and
    /// the loops that are its axes, the part of the result that stays in registers, the order of the loops around it,
    /// and copies of operands that do not lie as it reads them. The schedule is text to look at and to go on from, and
    /// is legal at all sizes. Products of floats are added without being rounded first.
    ///
    /// An output that has a point for each of a sum, or a Func that is substituted in it, is computed in the same
    /// tiles. Stages that no instruction computes have the loops that [`Pipeline::auto_schedule`] gives them beside
    /// the others.
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    /// let ((x, y), k, mut out) = (vars!(x, y), RDom::named("k", [(0, 64)]), Func::new("out"));
    /// out[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    /// let pipeline = Pipeline::new([&out])?;
    /// let mapped = pipeline.auto_isa(&Target::host(), &Estimates::new().output("out", [256, 256]))?;
    /// assert!(mapped.stages[0].to_string().starts_with("out.update(0): fma_f32: j <- x; a <- a, b <- b (1 of "));
    /// assert!(mapped.schedule.to_string().contains("use(fma_f32, j=xi)"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Nothing maps, with each attempt and what differs; mistakes in the estimates; pipelines with extern stages.
    pub fn auto_isa(&self, target: &Target, sizes: &Estimates) -> Result<Mapped, Error> {
        self.auto_isa_with(target, sizes, &IsaOptions::default(), &mut Heuristic)
    }

    /// Chooses instructions as [`Pipeline::auto_isa`] does, with other instructions, costs and floats, and by an
    /// approach that is asked each question.
    ///
    /// # Errors
    /// As of [`Pipeline::auto_isa`]; mistakes in the directives that are kept, and costs of instructions that the set
    /// does not have.
    pub fn auto_isa_with(
        &self,
        target: &Target,
        sizes: &Estimates,
        options: &IsaOptions,
        approach: &mut dyn Approach,
    ) -> Result<Mapped, Error> {
        let machine = options.machine.clone().unwrap_or_else(|| Machine::typical(target));
        let question = Priceable { pipeline: self, schedule: &options.keep, target, machine: &machine, sizes };
        let (set, costs, floats) = (&options.set, &options.costs, options.floats);
        let mut mapped = map(&Mappable { question, set, costs, floats }, approach, &mut |plan| code_facts(plan))?;
        if !std::mem::take(&mut mapped.rest).is_empty() {
            let around = AutoOptions::default().keep(&mapped.schedule).floats(floats).machine(&machine);
            let chosen = self.auto_schedule_with(target, sizes, &around)?;
            mapped.schedule = chosen.schedule.with_instructions(set);
        }
        Ok(mapped)
    }
}
