//! States of schedules with kernels.

use super::shapes;
use crate::role::Role;
use crate::state::{Place, State};
use halide_core::ids::FuncId;
use std::collections::BTreeSet;

/// A state, with the Funcs outside of all loops that the host computes.
#[derive(Clone)]
pub(super) struct Hybrid {
    pub(super) state: State,
    pub(super) host: BTreeSet<FuncId>,
}

impl Hybrid {
    /// The role of a Func that is not substituted.
    pub(super) fn role(&self, func: FuncId) -> Role {
        if self.host.contains(&self.state.root(func)) {
            return Role::Host;
        }
        let Place::At { host, depth, .. } = self.state.place(func) else { return Role::Kernel };
        let blocks = self.state.shape(host).map_or(0, shapes::blocks);
        if depth <= blocks { Role::Block } else { Role::Thread }
    }
}
