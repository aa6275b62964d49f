//! Copies of host buffers on devices, kept with the host's memory until that may be written.

use super::pool::{Copies, HostCopy, Pool};
use halide_core::buffer::AnyBuffer;
use std::ops::Range;
use std::sync::Arc;

impl HostCopy {
    /// Returns the `base` of a copy of the bytes `held`, for kernels that count elements from byte `first`: that byte
    /// then stands at a multiple of a word in the slab.
    pub(super) fn base_for(held: &Range<usize>, first: usize) -> i64 {
        let before = (first - held.start) as i64;
        first as i64 - (before + 3) / 4 * 4
    }
    /// Returns true if it holds `wanted` of a memory, on the device of `pool`, for kernels that count from byte
    /// `first`.
    pub(super) fn serves(&self, pool: &Arc<Pool>, wanted: &Range<usize>, first: usize) -> bool {
        self.slab.is_of(pool)
            && self.held.start <= wanted.start
            && wanted.end <= self.held.end
            && (first as i64 - self.base) % 4 == 0
    }
}

/// The copy of what a buffer uses, if there is one.
pub(super) fn find(buffer: &AnyBuffer, pool: &Arc<Pool>) -> Option<HostCopy> {
    let copies = buffer.companion::<Copies>()?;
    let memory = buffer.memory();
    copies.lock().iter().find(|c| c.serves(pool, &memory.used, memory.first)).cloned()
}

/// Keeps a copy with the memory of `buffer`, in place of those that it makes unnecessary. Its contents must be there
/// for whatever is submitted from now on.
pub(super) fn keep(buffer: &AnyBuffer, copy: HostCopy) {
    let copies = buffer.companion_or(Copies::default);
    copy.slab.pool().watch(&copies);
    let mut copies = copies.lock();
    copies.retain(|old| {
        let covered = copy.held.start <= old.held.start && old.held.end <= copy.held.end;
        let alike = (old.base - copy.base) % 4 == 0 && old.slab.is_with(&copy.slab);
        !(old.slab.is_lost() || (covered && alike))
    });
    copies.push(copy);
}
