//! The code of a lowered pipeline, with the definition and the loop of each line.

#[cfg(feature = "cpu")]
mod machine;

#[cfg(feature = "cpu")]
pub(super) use machine::Machine;

use super::nest::Loops;
use super::rows::{CodeUnit, Decided};
use crate::compiled::Compiled;
#[cfg(feature = "cpu")]
use crate::engine::Engine;
use crate::error::Error;
use halide_ir::Program;

/// The code that was made of a program; none of an engine that evaluates.
pub(super) struct Generated {
    #[cfg(feature = "cpu")]
    machine: Option<Machine>,
}

impl Generated {
    /// Makes the code of the main variant of a pipeline, with its text if that is asked for.
    #[cfg_attr(not(feature = "cpu"), expect(unused_variables))]
    pub(super) fn of(compiled: &Compiled, program: &Program, keep_text: bool) -> Result<Generated, Error> {
        Ok(Generated {
            #[cfg(feature = "cpu")]
            machine: match compiled.engine() {
                Engine::Eval | Engine::Interp => None,
                _ => Some(Machine::of(compiled, program, keep_text)?),
            },
        })
    }
    /// The decisions of the code generator, by subject.
    pub(super) fn decisions(&self) -> Vec<Decided> {
        #[cfg(feature = "cpu")]
        if let Some(machine) = &self.machine {
            return machine.decisions();
        }
        Vec::new()
    }
    /// The functions of machine code, then the kernels.
    #[cfg_attr(not(feature = "cpu"), allow(unused_variables, unused_mut))]
    pub(super) fn units(&self, compiled: &Compiled, program: &Program, loops: &Loops) -> Result<Vec<CodeUnit>, Error> {
        let mut all = Vec::new();
        #[cfg(feature = "cpu")]
        if let Some(machine) = &self.machine {
            all.extend(machine.units(compiled, program, loops));
        }
        #[cfg(feature = "gpu")]
        all.extend(super::wgsl::units(compiled, loops)?);
        Ok(all)
    }
}
