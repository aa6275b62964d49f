//! The options of lowering.

use crate::lower::pixels::Pixels;
use crate::lower::trace::{Clock, Snapshots};
use std::collections::BTreeSet;

/// The variant of the code to make, and additions to it. The default is the main variant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct LowerOptions {
    /// Compile `Auto` tails as guards, so that regions are exact for every shape: for outputs smaller than a factor and
    /// inputs that hold no more than what the algorithm itself reads.
    pub exact_tails: bool,
    /// Take any stride in every dimension of inputs and outputs.
    pub generic_strides: bool,
    /// Inputs and outputs that are interleaved, for which the code is then made; no others may be.
    pub pixels: Pixels,
    /// Take inputs and outputs without elements. Otherwise every buffer of the call has at least one, on which bounds
    /// rely: the region of `clamp(x, 0, width - 1)` has no coordinate below 0.
    pub may_be_empty: bool,
    /// Leave out what the algorithm requires: for a call in which the requirements that are needed are known to hold.
    pub unchecked: bool,
    /// Outputs, by position, whose first definition is left out: its values are in the output's memory already, as
    /// [`in_place`](crate::lower::storage::in_place::in_place) found.
    pub in_memory: BTreeSet<usize>,
    /// The accesses that are checked to be in bounds.
    pub accesses: Accesses,
    /// Count the elements computed and allocated of each Func.
    pub count: bool,
    /// The passes after which the trace keeps a copy of the program.
    pub snapshots: Snapshots,
    /// Measure every pass by this clock.
    pub clock: Option<Clock>,
}

/// The accesses that a program checks to be in bounds, of those that are not proved to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Accesses {
    /// None, and nothing is proved: what bounds inference found is relied on.
    #[default]
    Trusted,
    /// All, before the loops around them. A check may ask for more than its accesses need, and end a run that is right
    /// with [`halide_ir::Fault::Unproved`].
    BeforeLoops,
    /// All, each directly before it: slow, and exact.
    InPlace,
}
