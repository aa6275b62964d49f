//! Enough stack for compiled code, on whatever thread it runs.
//!
//! A thread that waits for others in a parallel loop may take up any work of its pool meanwhile, so runs come to lie on
//! top of each other, as deep as there is work to take up. So wherever a thread enters compiled code, it looks at how
//! much stack it has left; if that is not what the code needs, the code runs on a stack of its own.

use super::run::Run;
use crate::tuning::{RUNTIME_STACK, SPARE_STACK};

impl Run<'_> {
    /// Runs compiled code with enough stack.
    pub(crate) fn with_stack<T>(&self, code: impl FnOnce() -> T) -> T {
        let need = self.stack.saturating_add(RUNTIME_STACK);
        if stacker::remaining_stack().is_some_and(|left| left >= need) {
            return code();
        }
        let size = need.saturating_add(SPARE_STACK);
        self.hold(need);
        let result = stacker::grow(size, code);
        self.let_go(need);
        result
    }
}
