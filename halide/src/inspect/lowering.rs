//! One lowering of a pipeline, with what views of it need.

use crate::compiled::Compiled;
use crate::error::Error;
use crate::variant_key::VariantKey;
use halide_ir::Program;
use halide_sched::lower::{LowerOptions, Lowered, Snapshots, lower};

/// The pass behind which the loops are those of the schedule.
const BOUNDED: &str = "infer_bounds";
/// The pass behind which the loads and stores of the program are final.
const PLACED: &str = "place_copies";

/// A lowered pipeline.
pub(super) struct Lowering {
    pub(super) lowered: Lowered,
}

impl Lowering {
    /// Lowers the main variant of a pipeline.
    pub(super) fn of(compiled: &Compiled) -> Result<Lowering, Error> {
        let snapshots = Snapshots::After(&[BOUNDED, PLACED]);
        let options = LowerOptions { snapshots, ..VariantKey::default().options() };
        Ok(Lowering { lowered: lower(compiled.plan(), &options).map_err(Error::Lower)? })
    }
    /// The program that becomes code.
    pub(super) fn program(&self) -> &Program {
        &self.lowered.program
    }
    /// The program whose loops are those of the schedule.
    pub(super) fn bounded(&self) -> &Program {
        self.after(BOUNDED)
    }
    /// The program whose accesses are checked.
    pub(super) fn placed(&self) -> &Program {
        self.after(PLACED)
    }
    /// The program after the last run of a pass.
    fn after(&self, name: &str) -> &Program {
        let passes = self.lowered.trace.passes.iter().rev().filter(|pass| pass.name == name);
        passes.into_iter().find_map(|pass| pass.after.as_ref()).unwrap_or(self.program())
    }
}
