//! Calls with interleaved buffers, for which variants are made.

use halide_core::buffer::{AnyBuffer, AnyBufferMut, Dim};
use halide_sched::lower::Pixels;

/// The interleaved buffers of a call; `None` if one is neither that nor dense along its first dimension.
pub(crate) fn pixels<'b>(
    images: impl IntoIterator<Item = &'b AnyBuffer>,
    outputs: &[AnyBufferMut<'_>],
) -> Option<Pixels> {
    let images = images.into_iter().map(|image| values(image.dims()));
    let outputs = outputs.iter().map(|output| values(output.dims()));
    images.chain(outputs).enumerate().try_fold(Pixels::default(), |pixels, (number, values)| match values? {
        1 => Some(pixels),
        values => Some(pixels.with(number, values)).filter(|pixels| pixels.of(number).is_some()),
    })
}

/// The number of values of a pixel; 1 if neighbours of the first dimension lie beside each other.
fn values(dims: &[Dim]) -> Option<i64> {
    match dims {
        [] => Some(1),
        [first, ..] if first.stride == 1 || first.extent <= 1 => Some(1),
        [first, .., last] if last.stride == 1 && last.extent == first.stride => Some(first.stride),
        _ => None,
    }
}
