//! The answer of the mapper, as data and as text.

use crate::attempt::Unsuited;
use halide_sched::plan::Mapping;
use halide_sched::schedule::Schedule;
use std::fmt;

/// A schedule by which instructions compute stages of a pipeline.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// The schedule: the directives that were given, and those of the stages.
    pub schedule: Schedule,
    /// The stages that instructions compute, producers first.
    pub stages: Vec<MappedStage>,
    /// The number of each answer that was chosen, in order, also of what the compiler refused then: what
    /// [`Replay`](super::Replay) takes.
    pub decisions: Vec<usize>,
    /// The Funcs outside of all loops that have no directives yet.
    pub rest: Vec<String>,
}

/// A stage that an instruction computes.
#[derive(Clone, Debug)]
pub struct MappedStage {
    /// The stage, as schedules name it.
    pub stage: String,
    /// The instruction, its axes and its operands.
    pub mapping: Mapping,
    /// The number of mappings among which it was chosen.
    pub choices: usize,
    /// The loops of the tile that stays in registers, each with its iterations.
    pub tile: Vec<(String, i64)>,
    /// The operands that are copied to lie together.
    pub copies: Vec<String>,
    /// The predicted cycles.
    pub cycles: f64,
    /// The other mappings of which a schedule could be made, with the predicted cycles of the best one.
    pub others: Vec<(Mapping, f64)>,
    /// The mappings that were not taken, with the reasons.
    pub passed_over: Vec<(Mapping, Unsuited)>,
}

impl fmt::Display for MappedStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tile: Vec<String> = self.tile.iter().map(|(name, size)| format!("{name} {size}")).collect();
        write!(f, "{}: {} (1 of {}), tile {}", self.stage, self.mapping, self.choices, tile.join(" x "))?;
        if !self.copies.is_empty() {
            write!(f, ", copies of {}", self.copies.join(", "))?;
        }
        Ok(())
    }
}
