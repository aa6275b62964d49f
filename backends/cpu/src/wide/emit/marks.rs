//! Marks of profiled code: stores of the number of a definition where it begins, and of the one around where it ends.

use super::super::interface::{Capture, Emitted, refuse};
use super::super::machine::{Arg, Mem};
use super::kernel::Emit;
use super::value::Val;
use halide_ir::{Stmt, Type};
use iced_x86::Code;

impl Emit<'_> {
    /// Marks the beginning of a definition, if this statement begins one and the code is to say so; gives the number of
    /// the one around.
    pub(super) fn begin_mark(&mut self, s: &Stmt) -> Emitted<Option<u64>> {
        let Some((marks, outside)) = self.around.marks() else { return Ok(None) };
        let around = self.mark.unwrap_or(outside);
        let Some(number) = marks.begun(self.program, s, around) else { return Ok(None) };
        self.write_mark(number)?;
        Ok(Some(around))
    }
    /// Marks the end of a definition, where one began.
    pub(super) fn end_mark(&mut self, around: Option<u64>) -> Emitted<()> {
        around.map_or(Ok(()), |around| self.write_mark(around))
    }

    fn write_mark(&mut self, number: u64) -> Emitted<()> {
        self.mark = Some(number);
        let word = self.capture(Capture::Mark, 1);
        let innermost = self.innermost();
        let cursor = std::mem::replace(&mut self.cursor, innermost);
        // Loaded at each mark: a register that holds the address all along is one that loops lack.
        let mem = self.word(word);
        let Val::Scalar(word) = self.unpack(mem, Type::INDEX)? else { return refuse("an address that is no scalar") };
        self.push(Code::Mov_rm64_imm32, vec![Arg::Mem(Mem::at(word, 0)), Arg::Imm(number as i64)]);
        self.cursor = cursor;
        Ok(())
    }
}
