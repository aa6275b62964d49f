//! Polls of the flag that ends a run early.
//!
//! A loop looks at the flag before each further iteration if an iteration is long: if it launches tasks, or runs inner
//! loops of at least [`POLL_ITERATIONS`](crate::tuning::POLL_ITERATIONS) iterations, or of an unknown number. Shorter
//! loops, innermost ones among them, have not an instruction more. So from the moment that the flag is raised to the
//! end of the run, every thread runs at most one loop whose iterations are short. A kernel of wide vectors returns as
//! soon as it sees the flag, and its caller looks again.

use super::abi::WORKER_STOP;
use super::func::Func;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

impl Func<'_> {
    /// The address of the flag.
    pub(super) fn stop_flag(&mut self) -> Value {
        let constant = MemFlagsData::trusted().with_readonly().with_can_move();
        let worker = self.worker;
        self.ins().load(types::I64, constant, worker, WORKER_STOP)
    }
    /// Leaves the function if the flag is raised.
    pub(super) fn poll(&mut self) {
        let flag = self.stop_flag();
        let raised = self.ins().load(types::I8, MemFlagsData::new().with_notrap(), flag, 0);
        let (ends, next) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(ends);
        self.ins().brif(raised, ends, &[], next, &[]);
        self.enter(ends);
        self.return_code(1);
        self.enter(next);
    }
}
