//! Messages of a run: assertions that fail, and lines that are printed.

use super::code::Reg;
use super::compile::Code;
use super::error::{Check, EvalError};
use super::machine::{Machine, Outcome};
use crate::fault::Fault;
use crate::sym::{FaultId, PrintId};
use halide_core::pipeline::note_text;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

impl Machine<'_> {
    /// Ends the run unless the condition holds.
    pub(super) fn assert(&mut self, code: &Code, cond: Reg, fault: FaultId, args: &[Reg]) -> Outcome {
        let holds = self.known(code, cond, "an asserted condition");
        let garbage = matches!(&holds, Err(e) if e.check() == Some(Check::Uninitialised));
        // What depends on a hole is at a point that nobody needs, but the code cannot know.
        let garbage = garbage && matches!(self.program.faults.get(fault), Some(Fault::Require { .. }));
        if !garbage && holds? != 0 {
            return Ok(());
        }
        let args = args.iter().map(|&a| self.regs[a as usize] as i64).collect();
        Err(Box::new(EvalError::Fault { fault, args, garbage }))
    }

    /// Prints a line; not where that depends on a hole: nobody needs that point.
    pub(super) fn print(&mut self, code: &Code, when: Reg, line: PrintId, args: &[(Reg, ScalarType)]) -> Outcome {
        let tracked = self.eval(&code.instrs)?;
        let hole = tracked && self.holes[when as usize] != 0;
        if let Some(sink) = self.print.filter(|_| !hole && self.regs[when as usize] != 0) {
            let values: Vec<Scalar> =
                args.iter().map(|(r, ty)| Scalar::from_bits(*ty, self.regs[*r as usize])).collect();
            sink(&note_text(&self.program.prints[line], &values));
        }
        Ok(())
    }
}
