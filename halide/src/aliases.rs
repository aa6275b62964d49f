//! Buffers of a call that share memory, and the proofs that they may.

use crate::once_map::OnceMap;
use halide_core::buffer::AnyBuffer;
use halide_core::ids::{FuncId, ImageId};
use halide_sched::lower::storage::in_place::{InPlaceError, InPlaceProof, in_place};
use halide_sched::plan::Plan;
use std::convert::Infallible;

/// An input that is in the memory of an output buffer.
#[derive(Clone, Debug)]
pub(crate) struct InPlace {
    /// The name of the input.
    pub(crate) image: String,
    /// The number of the output buffer.
    pub(crate) buffer: usize,
    /// A buffer of its type and dimensions, whose elements do not matter; one is made where there is none.
    pub(crate) stand_in: Option<AnyBuffer>,
}

/// The buffers of a call that are in the same memory.
#[derive(Default)]
pub(crate) struct Aliases {
    /// Inputs with the number of the output buffer that they are in.
    pub(crate) shared: Vec<(ImageId, usize)>,
    /// True if only code with exact tails computes each point of such outputs once.
    pub(crate) needs_exact_tails: bool,
    /// Outputs, as bits by position, whose first definition is in memory already.
    pub(crate) in_memory: u64,
}

/// The results of proofs about inputs and output buffers, by input, output and element: also that there is none.
#[derive(Default)]
pub(crate) struct Proofs(OnceMap<(ImageId, FuncId, usize), Result<InPlaceProof, InPlaceError>, Infallible>);

impl Proofs {
    pub(crate) fn of(
        &self,
        plan: &Plan,
        image: ImageId,
        (func, element): (FuncId, usize),
    ) -> Result<InPlaceProof, InPlaceError> {
        let Ok(found) = self.0.get_or_make(&(image, func, element), || Ok(in_place(plan, image, func, element)));
        found
    }
}
