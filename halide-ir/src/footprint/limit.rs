//! The check of a run's cap on memory, before it starts.

use super::{Footprint, Known};
use crate::buffer_info::BufferRole;
use crate::program::Program;
use crate::sym::BufId;
use halide_core::buffer::AnyBufferMut;
use halide_core::interp::Bound;
use halide_core::limits::{Limits, OverCap};

impl Footprint {
    /// Checks that what is known to be allocated at once is within the cap. Where the arguments are wrong, so that the
    /// program ends before it comes to that, it says so itself. `spare` is as of [`Limits::check`].
    ///
    /// # Errors
    /// The largest allocation, with the cap that it would exceed.
    pub fn check(
        &self,
        program: &Program,
        bound: &Bound,
        outputs: &[AnyBufferMut<'_>],
        limits: &Limits,
        spare: &dyn Fn() -> u64,
    ) -> Result<(), (BufId, OverCap)> {
        if self.is_empty() {
            return Ok(());
        }
        let params: Vec<_> = bound.params.iter().copied().collect();
        let dims = |buf: BufId| match program.buffers.get(buf)?.role {
            BufferRole::Input(image) => Some(bound.images.get(image)?.dims().to_vec()),
            BufferRole::Output(position) => Some(outputs.get(position as usize)?.dims().to_vec()),
            BufferRole::Internal => None,
        };
        let over = |checks: bool| {
            let Known { bytes, largest } = self.known(&params, &dims, checks);
            limits.check(bytes, 0, spare).err().zip(largest).map(|(over, largest)| (over, bytes, largest))
        };
        if over(false).is_none() {
            return Ok(());
        }
        let Some((over, bytes, (buf, own))) = over(true) else { return Ok(()) };
        Err((buf, OverCap { bytes: own, held: over.held.saturating_add(bytes - own), ..over }))
    }
}
