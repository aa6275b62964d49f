//! Memory of a run: needs that are known before it starts, and copies of outputs.

use crate::error::Error;
use crate::failure::Failure;
use crate::run_options::How;
use halide_core::buffer::{AnyBuffer, AnyBufferMut, BufferError, Region};
use halide_core::interp::Bound;
use halide_core::limits::{Held, Limits};
use halide_core::types::ScalarType;
use halide_ir::Program;
use halide_ir::footprint::Footprint;

/// Checks that what is known to be allocated at once is within the cap.
pub(crate) fn check(
    program: &Program,
    footprint: &Footprint,
    bound: &Bound,
    outputs: &[AnyBufferMut<'_>],
    limits: &Limits,
    spare: &dyn Fn() -> u64,
) -> Result<(), Error> {
    let checked = footprint.check(program, bound, outputs, limits, spare);
    checked.map_err(|(buf, over)| Error::Memory { func: program.buffers[buf].name.clone(), over })
}

/// Charges copies of all outputs, for as long as the result lives.
pub(crate) fn hold_copies<'h>(outputs: &[AnyBufferMut<'_>], how: &'h How) -> Result<Option<Held<'h>>, Failure> {
    let bytes = outputs.iter().map(|view| view.used_bytes() as u64).fold(0, u64::saturating_add);
    how.hold(bytes, "a copy of the outputs").map_err(Failure::Other)
}

/// Buffers to compute outputs in that are not written where the caller's are: with their strides, since rules may speak
/// of them, and with what they hold where the program keeps some of that.
pub(crate) fn copies_of(program: &Program, outputs: &[AnyBufferMut<'_>]) -> Result<Vec<AnyBuffer>, BufferError> {
    let keeps = program.buffers.iter().any(|info| info.keeps);
    let copy = |view: &AnyBufferMut<'_>| match keeps {
        true => view.to_buffer(),
        false => AnyBuffer::like(view.ty(), view.dims()),
    };
    outputs.iter().map(copy).collect()
}

/// Returns how many bytes a dense buffer over a region has.
pub(crate) fn dense_bytes(ty: ScalarType, region: &Region) -> u64 {
    let points = region.spans().iter().fold(1u64, |all, s| all.saturating_mul(s.extent.max(0) as u64));
    points.saturating_mul(ty.bytes() as u64)
}
