//! Calls of closures.

use super::abi::RuntimeFn;
use super::func::{Callee, Func};
use super::places::Place;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_ir::{CallArg, CalleeId};

impl Func<'_> {
    /// Hands boxes to a closure, by the runtime.
    pub(super) fn call_closure(&mut self, callee: CalleeId, args: &[CallArg]) {
        // The runtime takes as many words as the row of the closure says.
        let program = self.env.program;
        let row = program.callees.get(callee);
        let is_whole = |arg: &CallArg| [arg.bounds.len(), arg.memory.len()] == [program.buffers[arg.buf].dims; 2];
        let is_of = |row: &halide_ir::Callee| args.iter().map(|arg| arg.buf).eq(row.buffers.iter().copied());
        if !row.is_some_and(is_of) || !args.iter().all(is_whole) {
            return self.wrong(format!("{callee:?} is handed other boxes than its row has"));
        }
        let mut words: Vec<Value> = Vec::new();
        for arg in args {
            let Place::Memory(area) = self.place(arg.buf) else {
                return self.wrong(format!("{:?} is handed to a closure but in registers", arg.buf));
            };
            words.push(area.base);
            for ((min, extent), memory) in arg.bounds.iter().zip(&arg.memory) {
                let [first, length, stride] = memory;
                words.extend([min, extent, first, length, stride].map(|e| self.scalar(e)));
            }
        }
        let slot = self.new_slot((8 * words.len().max(1)) as u32);
        let list = self.ins().stack_addr(types::I64, slot, 0);
        for (i, word) in words.iter().enumerate() {
            self.store_scratch(*word, list, 8 * i);
        }
        let (worker, id) = (self.worker, self.index(i64::from(callee.0)));
        let code = self.call_value(Callee::Runtime(RuntimeFn::Call), &[worker, id, list]);
        self.check_code(code);
        for arg in args {
            self.memo.stored(arg.buf);
        }
    }
}
