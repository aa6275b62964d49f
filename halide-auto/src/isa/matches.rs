//! The mappings of all stages, each of which is matched once.

use halide_core::pipeline::Pipeline;
use halide_sched::plan::{MapError, Mapping, mappings};
use halide_sched::schedule::{Instruction, InstructionSet};

/// The mappings of the instructions that add to their results in the update definitions of a pipeline.
pub(super) struct Matches(Vec<Match>);

/// The mappings of one instruction in one definition.
pub(super) struct Match {
    /// The name of the Func and the number of the definition.
    of: (String, usize),
    pub(super) instruction: String,
    pub(super) found: Result<Vec<Mapping>, MapError>,
}

impl Matches {
    /// Matches all definitions with all instructions.
    pub(super) fn new(pipeline: &Pipeline, set: &InstructionSet) -> Matches {
        let sums: Vec<&str> = set.names().filter(|name| set.find(name).is_some_and(adds)).collect();
        let funcs = pipeline.order.iter().map(|id| &pipeline.funcs[*id]);
        let stages = funcs.flat_map(|func| (1..func.stages.len()).map(move |stage| (func.name.clone(), stage)));
        let matched = |of: (String, usize)| {
            let found = sums.iter().map(|name| Match {
                found: mappings(pipeline, (&of.0, of.1), set, name),
                instruction: name.to_string(),
                of: of.clone(),
            });
            found.collect::<Vec<_>>()
        };
        Matches(stages.flat_map(matched).collect())
    }

    /// The matches of a definition, in the order of the set.
    pub(super) fn of<'a>(&'a self, func: &'a str, stage: usize) -> impl Iterator<Item = &'a Match> {
        self.0.iter().filter(move |m| m.of.0 == func && m.of.1 == stage)
    }

    /// The names of all operands.
    pub(super) fn operands(&self) -> impl Iterator<Item = &str> {
        let found = self.0.iter().filter_map(|m| m.found.as_ref().ok()).flatten();
        found.flat_map(|mapping| &mapping.operands).map(|(_, operand)| operand.as_str())
    }
}

/// Returns true for an instruction that adds to its result.
fn adds(instruction: &Instruction) -> bool {
    let stages = |meaning: &Pipeline| meaning.outputs.first().map_or(0, |id| meaning.funcs[*id].stages.len());
    instruction.meanings().iter().any(|meaning| stages(meaning) > 1)
}
