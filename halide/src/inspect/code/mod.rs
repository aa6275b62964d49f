//! The code of a lowered pipeline, with the definition and the loop of each line.

#[cfg(feature = "cpu")]
mod machine;

#[cfg(feature = "cpu")]
pub(super) use machine::Machine;

use super::nest::Loops;
use super::rows::CodeUnit;
use crate::compiled::Compiled;
use crate::error::Error;
use halide_ir::Program;

/// The decisions about one subject: true if something was done, and a line.
pub(super) type Decided = (String, Vec<(bool, String)>);

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
                crate::Engine::Eval | crate::Engine::Interp => None,
                _ => Some(Machine::of(compiled, program, keep_text)?),
            },
        })
    }
    /// What the code generator decided, by subject.
    pub(super) fn decisions(&self) -> Vec<Decided> {
        #[cfg(feature = "cpu")]
        if let Some(machine) = &self.machine {
            return machine.decisions();
        }
        Vec::new()
    }
    /// The functions of machine code, then the kernels.
    #[cfg_attr(not(any(feature = "cpu", feature = "gpu")), expect(unused_variables))]
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
