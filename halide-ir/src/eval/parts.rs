//! Steps that are common to running statements at once and to walking them by futures.

use super::code::Reg;
use super::compile::Code;
use super::error::{Check, EvalError};
use super::machine::Machine;
use crate::sym::BufId;

impl Machine<'_> {
    /// Binds names; the result is how many of their lanes are holes.
    pub(super) fn enter_let(&mut self, code: &Code, bound: &[(Reg, u16)]) -> Result<usize, Box<EvalError>> {
        let tracked = self.eval(&code.instrs)?;
        let holes = if tracked { lanes_of(bound).filter(|&r| self.holes[r] != 0).count() } else { 0 };
        self.live_holes += holes;
        Ok(holes)
    }
    pub(super) fn leave_let(&mut self, bound: &[(Reg, u16)], holes: usize) {
        self.live_holes -= holes;
        if holes > 0 {
            lanes_of(bound).for_each(|r| self.holes[r] = 0);
        }
    }

    /// The first value and the number of values of a loop.
    pub(super) fn range(&mut self, code: &Code, min: Reg, extent: Reg) -> Result<(i64, i64), Box<EvalError>> {
        let tracked = self.eval(&code.instrs)?;
        let min = self.certain(tracked, min, "the min of a loop")?;
        Ok((min, self.certain(tracked, extent, "the extent of a loop")?))
    }

    /// Returns the number of elements of an allocation; an error if it is negative or exceeds `constant`.
    pub(super) fn count(
        &mut self,
        buf: BufId,
        code: &Code,
        count: Reg,
        constant: Option<u64>,
    ) -> Result<i64, Box<EvalError>> {
        let count = self.known(code, count, "the size of an allocation")?;
        if count < 0 || constant.is_some_and(|c| count as u64 > c) {
            let name = &self.program.buffers[buf].name;
            let message = format!("`{name}` has {count} elements, bounded by {constant:?}");
            return Err(EvalError::failed(Check::Allocation, message));
        }
        Ok(count)
    }
}

/// The registers of names.
fn lanes_of(bound: &[(Reg, u16)]) -> impl Iterator<Item = usize> {
    bound.iter().flat_map(|&(r, n)| r as usize..r as usize + n as usize)
}
