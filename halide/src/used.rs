//! Instructions that stages use, and whether their code has them.

use halide_core::error::Location;
use halide_core::ids::FuncId;
use halide_cpu::Executable;
use halide_sched::plan::{Plan, StagePlan, Used};
use std::fmt;

/// An instruction that a stage uses and that its code does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotEmitted {
    /// The stage.
    pub stage: String,
    /// The instruction.
    pub instruction: String,
    /// The beginning of the machine instruction that is missing.
    pub emits: String,
    /// The loops of the Func for which there is no code with vectors as wide as the target's, each with the reason.
    pub refusals: Vec<(String, String)>,
    /// The place of the directive.
    pub at: Option<Location>,
}

impl fmt::Display for NotEmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotEmitted { stage, instruction, emits, refusals, at } = self;
        let at = at.map_or_else(String::new, |at| format!("{at}: "));
        write!(f, "{at}`{stage}` uses instruction `{instruction}`, and its code has no `{emits}`")?;
        refusals.iter().try_for_each(|(name, why)| write!(f, "; loop `{name}` has no wide vectors: {why}"))?;
        write!(f, "; compile for a machine with it, or leave `use` out")
    }
}

/// The instructions that the stages of a plan use: the Func, the number of the definition, its loops, the instruction.
pub(crate) fn used(plan: &Plan) -> impl Iterator<Item = (FuncId, usize, &StagePlan, &Used)> {
    plan.funcs.enumerate().flat_map(|(func, row)| {
        row.stages.iter().enumerate().flat_map(move |(number, stage)| {
            let variants = stage.with_loops().into_iter();
            variants.flat_map(move |variant| variant.uses.iter().map(move |used| (func, number, variant, used)))
        })
    })
}

/// The name of a definition, as schedules write it.
pub(crate) fn stage_name(plan: &Plan, func: FuncId, number: usize) -> String {
    let name = &plan.pipeline.funcs[func].name;
    if number == 0 { name.clone() } else { format!("{name}.update({})", number - 1) }
}

/// Checks that code has the instructions that its plan uses.
pub(crate) fn check(plan: &Plan, code: &Executable) -> Result<(), NotEmitted> {
    for (func, number, _, used) in used(plan) {
        let Some(emits) = &used.emits else { continue };
        if code.has_instruction((func, number), emits) {
            continue;
        }
        let own = format!("{}.", plan.pipeline.funcs[func].name);
        let refusals = code.refusals().iter().filter(|(name, _)| name.starts_with(&own)).cloned().collect();
        let (stage, instruction) = (stage_name(plan, func, number), used.instruction.clone());
        return Err(NotEmitted { stage, instruction, emits: emits.clone(), refusals, at: used.at });
    }
    Ok(())
}
