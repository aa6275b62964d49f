//! Calls of closures.

use super::*;
use crate::callee::CallArg;
use crate::sym::CalleeId;

impl Verifier<'_> {
    pub(super) fn call(&mut self, callee: CalleeId, args: &[CallArg]) {
        for e in args.iter().flat_map(CallArg::exprs) {
            self.scalar(e, Type::INDEX, "an end of a box");
        }
        let Some(row) = self.program.callees.get(callee) else {
            return self.error(format!("{callee:?} is not in the table"));
        };
        if !args.iter().map(|arg| arg.buf).eq(row.buffers.iter().copied()) {
            self.error(format!("{callee:?} is handed other buffers than those of its row"));
        }
        let mut results = args.iter().take(row.results);
        let first = results.next();
        if results.any(|result| Some(&result.bounds) != first.map(|first| &first.bounds)) {
            self.error(format!("{callee:?} writes boxes that are not the same"));
        }
        for (i, arg) in args.iter().enumerate() {
            let is_written = i < row.results;
            self.call_arg(arg, is_written);
            if is_written && args.iter().filter(|other| other.buf == arg.buf).count() > 1 {
                self.error(format!("{} is written by a closure that is handed it twice", self.buf(arg.buf)));
            }
        }
    }

    fn call_arg(&mut self, arg: &CallArg, is_written: bool) {
        self.used(arg.buf);
        let Some(info) = self.program.buffers.get(arg.buf) else { return };
        if is_written && matches!(info.role, BufferRole::Input(_)) {
            self.error(format!("{} is an input and is written by a closure", self.buf(arg.buf)));
        }
        if info.fold.iter().any(Option::is_some) {
            self.error(format!("{} is folded and is handed to a closure", self.buf(arg.buf)));
        }
        let in_memory = if self.stage() >= Stage::Flat { info.dims } else { 0 };
        if arg.bounds.len() != info.dims || arg.memory.len() != in_memory {
            let (dims, memory) = (arg.bounds.len(), arg.memory.len());
            self.error(format!("the box of {} has {dims} dimensions, and {memory} in memory", self.buf(arg.buf)));
        }
    }
}
