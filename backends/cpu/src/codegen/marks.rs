//! Marks of profiled code: stores of the number of a definition where it begins, and of the one around where it ends.

use super::abi::WORKER_MARK;
use super::func::{Func, REGION_MARKS};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use halide_ir::Stmt;

impl Func<'_> {
    /// Marks the beginning of a definition, if this statement begins one and the code is to say so; gives the number of
    /// the one around.
    pub(super) fn begin_mark(&mut self, s: &Stmt) -> Option<u64> {
        let number = self.env.marks?.begun(self.env.program, s, self.mark)?;
        let around = std::mem::replace(&mut self.mark, number);
        self.write_mark(number);
        Some(around)
    }
    /// Marks the end of a definition, where one began.
    pub(super) fn end_mark(&mut self, around: Option<u64>) {
        let Some(around) = around else { return };
        self.mark = around;
        self.write_mark(around);
    }
    /// The address of this thread's word.
    pub(super) fn mark_word(&mut self) -> Value {
        let constant = MemFlagsData::trusted().with_readonly().with_can_move();
        let worker = self.worker;
        self.ins().load(types::I64, constant, worker, WORKER_MARK)
    }
    /// Writes the number of the definition at hand.
    pub(super) fn write_mark(&mut self, number: u64) {
        let word = self.mark_word();
        let flags = self.flags(REGION_MARKS);
        let number = self.index(number as i64);
        self.ins().store(flags, number, word, 0);
    }
}
