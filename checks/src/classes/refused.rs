//! Kinds of classes that cannot be served, and why.

use crate::coverage::Product;
use halide::schedule::Tail;

/// A kind of class.
struct Kind {
    /// The mechanism by which every schedule of the kind is illegal.
    why: &'static str,
    is: fn(&Product) -> bool,
}

const KINDS: [Kind; 1] = [Kind {
    why: "only updates read reduction variables, and ShiftInwards would apply an update twice",
    is: |class| class.tail == Tail::ShiftInwards && class.part == "reduction variable",
}];

/// The reason that no case of a class can be served, if there is one.
pub(super) fn kind(class: &Product) -> Option<&'static str> {
    KINDS.iter().find(|kind| (kind.is)(class)).map(|kind| kind.why)
}
