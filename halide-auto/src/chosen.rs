//! Schedules that were chosen, and what they may be.

use crate::error::AutoError;
use crate::group::Group;
use halide_ir::machine::{GpuSpeed, Machine};
use halide_ir::target::Target;
use halide_sched::plan::Plan;
use halide_sched::schedule::{FloatMode, Schedule};

/// A schedule that was chosen.
#[derive(Clone, Debug)]
pub struct Auto {
    /// The schedule.
    pub schedule: Schedule,
    /// Its predicted time in nanoseconds.
    pub predicted_ns: f64,
    /// The predicted time with every Func at the root that is not kept elsewhere.
    pub breadth_first_ns: f64,
    /// The predicted time of each group: a Func outside of all loops with those that are computed in its loops.
    pub groups: Vec<Group>,
    /// The groups of Funcs that were priced: those that share the loops of one that is outside of all loops.
    pub priced: usize,
    /// The reasons of the compiler against schedules that were considered, which were given up. There should be none.
    pub refused: Vec<String>,
}

impl Auto {
    /// Returns true if a GPU computes any of it.
    pub fn has_kernels(&self) -> bool {
        self.schedule.has_kernels()
    }
}

/// The freedom that a schedule has beside its speed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AutoOptions {
    /// The floats that a schedule may make of those that are written. By default each bit of the result is as the
    /// algorithm says.
    pub floats: FloatMode,
    /// Directives that stay as they are. Funcs that they place or give loops are priced so, with those in whose loops
    /// they are; all others are scheduled around them.
    pub keep: Schedule,
    /// The machine for which times are predicted. By default it is a typical one with the target's vectors, so that
    /// schedules are the same wherever they are chosen.
    pub machine: Option<Machine>,
    /// The speed of the target's GPU, if it has one. By default it is that of a typical card.
    pub gpu: Option<GpuSpeed>,
}

impl AutoOptions {
    /// Says what may become of floats.
    pub fn floats(mut self, floats: FloatMode) -> AutoOptions {
        self.floats = floats;
        self
    }

    /// Says which directives stay as they are.
    pub fn keep(mut self, keep: &Schedule) -> AutoOptions {
        self.keep = keep.clone();
        self
    }

    /// Says for which machine times are predicted.
    pub fn machine(mut self, machine: &Machine) -> AutoOptions {
        self.machine = Some(machine.clone());
        self
    }

    /// Says how fast the target's GPU is.
    pub fn gpu(mut self, speed: GpuSpeed) -> AutoOptions {
        self.gpu = Some(speed);
        self
    }

    /// The speed of the target's GPU.
    pub fn gpu_speed(&self) -> GpuSpeed {
        self.gpu.unwrap_or(GpuSpeed::DISCRETE)
    }

    /// The machine for which times are predicted, where code is for a target.
    pub fn machine_for(&self, target: &Target) -> Machine {
        self.machine.clone().unwrap_or_else(|| Machine::typical(target))
    }
}

/// Facts about the code that a compiler makes of a schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeFacts {
    /// The names of loops, such as `f.update(0).x`, for which no code with vectors as wide as the target's was made.
    pub refused: Vec<String>,
}

/// A compiler that is asked for facts about code, and runs none; nothing, if there is none to ask. What it does not
/// compile is its error.
pub type Inspect<'i> = dyn FnMut(&Plan) -> Result<Option<CodeFacts>, AutoError> + 'i;
