//! Numbers of functions while they are made.

use cranelift_module::FuncId;

/// Numbers for the functions of a program, in the order in which they are asked for.
#[derive(Default)]
pub(super) struct Numbers(u32);

impl Numbers {
    pub(super) fn next(&mut self) -> FuncId {
        let id = FuncId::from_u32(self.0);
        self.0 += 1;
        id
    }
}
