//! The rules of a program's tables.

use super::Verifier;
use crate::buffer_info::{BufferInfo, BufferRole};
use crate::fault::Fault;
use std::collections::HashSet;

impl Verifier<'_> {
    pub(super) fn tables(&mut self) {
        let program = self.program;
        let mut names = HashSet::new();
        let mut roles = Vec::new();
        for (id, info) in program.buffers.enumerate() {
            // An image and a Func may have one name: users give both.
            if !names.insert((&info.name, matches!(info.role, BufferRole::Input(_)))) {
                self.error(format!("two buffers are named `{}`", info.name));
            }
            if info.role != BufferRole::Internal && roles.contains(&info.role) {
                self.error(format!("{} has the role {:?} of another buffer", self.buf(id), info.role));
            }
            roles.push(info.role);
            if let Some(what) = bad_row(info) {
                self.error(format!("{} has {what}", self.buf(id)));
            }
        }
        for (image, buf) in program.image_buffers.enumerate() {
            let role = program.buffers.get(*buf).map(|info| info.role);
            if role != Some(BufferRole::Input(image)) {
                self.error(format!("{image:?} is in {buf:?}, whose role is {role:?}"));
            }
        }
        for (func, bufs) in program.func_buffers.enumerate() {
            for buf in bufs.iter().filter(|b| program.buffers.get(**b).is_none()) {
                self.error(format!("{buf:?} of {func:?} is not in the table"));
            }
        }
        for (id, callee) in program.callees.enumerate() {
            if callee.results > callee.buffers.len() {
                self.error(format!("{id:?} writes {} of {} buffers", callee.results, callee.buffers.len()));
            }
            for buf in callee.buffers.iter().filter(|b| program.buffers.get(**b).is_none()) {
                self.error(format!("{buf:?} of {id:?} is not in the table"));
            }
            for param in callee.params.iter().filter(|p| program.params.get(**p).is_none()) {
                self.error(format!("{param:?} of {id:?} is not in the table"));
            }
        }
        for (id, fault) in program.faults.enumerate() {
            if let Fault::InputTooSmall { buf, dim } | Fault::OutputRegion { buf, dim, .. } | Fault::Stride { buf, dim } =
                fault
                && program.buffers.get(*buf).is_none_or(|info| *dim >= info.dims)
            {
                self.error(format!("{id:?} speaks of dimension {dim} of {buf:?}"));
            }
        }
    }
}

/// Returns the first defect of a row of the buffer table.
fn bad_row(info: &BufferInfo) -> Option<&'static str> {
    let mut order = info.order.clone();
    order.sort_unstable();
    Some(match info {
        _ if !order.iter().copied().eq(0..info.dims) => "an order that is no permutation of its dimensions",
        _ if info.align.len() != info.dims || info.align.iter().any(|&a| a < 1) => "bad alignments",
        _ if info.fold.len() != info.dims || info.fold.iter().flatten().any(|&f| f < 1) => "bad folds",
        _ if info.fold.iter().any(Option::is_some) && info.role != BufferRole::Internal => "a fold but is the caller's",
        _ if info.unit_stride.is_some_and(|d| d >= info.dims) => "a unit stride in a dimension it lacks",
        _ => return None,
    })
}
