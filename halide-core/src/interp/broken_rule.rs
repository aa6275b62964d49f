//! Reports of buffers that break the pipeline's rules.

use crate::error::Location;
use crate::pipeline::DimField;
use crate::shape::describe_rule;
use std::fmt;

/// A rule that a buffer breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokenRule {
    /// A property that is not what a rule says.
    Dim {
        /// The buffer: `input `in``.
        buffer: String,
        /// The dimension.
        dim: usize,
        /// The property.
        field: DimField,
        /// True if multiples of `needed` will do.
        multiple: bool,
        /// The value in the rule.
        needed: i64,
        /// The value that the buffer has.
        found: i64,
        /// The place in the source where the rule was made.
        at: Location,
    },
    /// A property that the shapes of calls give a value that a rule does not allow.
    Shape {
        /// The buffer: `input `in``.
        buffer: String,
        /// The dimension.
        dim: usize,
        /// The property.
        field: DimField,
        /// True if multiples of `needed` will do.
        multiple: bool,
        /// The value in the rule.
        needed: i64,
        /// The value in the shapes.
        found: i64,
        /// The place in the source where the rule was made.
        at: Location,
        /// The place in the source where the shapes were set.
        shaped: Location,
    },
    /// The address of the first element.
    Alignment {
        /// The buffer.
        buffer: String,
        /// The number of bytes that the address must be a multiple of.
        bytes: u64,
        /// The number of bytes from such a multiple to the address.
        beyond: u64,
        /// The place in the source where the rule was made.
        at: Location,
    },
    /// A rule whose value cannot be computed, since it leaves the range of 64 bits.
    Overflow {
        /// The buffer.
        buffer: String,
        /// The dimension.
        dim: usize,
        /// The place in the source where the rule was made.
        at: Location,
    },
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BrokenRule::Dim { buffer, dim, field, multiple, needed, found, at } => write!(
                f,
                "{buffer} needs {} in dimension {dim}, by the rule at {at}, but it has {}; give another buffer or \
                 drop the rule",
                describe_rule(*field, *multiple, *needed),
                describe_rule(*field, false, *found)
            ),
            BrokenRule::Shape { buffer, dim, field, multiple, needed, found, at, shaped } => write!(
                f,
                "{buffer} needs {} in dimension {dim}, by the rule at {at}, but the shapes of calls at {shaped} give \
                 it {}; give other shapes or drop the rule",
                describe_rule(*field, *multiple, *needed),
                describe_rule(*field, false, *found)
            ),
            BrokenRule::Alignment { buffer, bytes, beyond, at } => write!(
                f,
                "{buffer} must begin at an address that is a multiple of {bytes} bytes, by the rule at {at}, but it \
                 begins {beyond} bytes beyond one; give another buffer or drop the rule"
            ),
            BrokenRule::Overflow { buffer, dim, at } => {
                write!(
                    f,
                    "the rule for dimension {dim} of {buffer} at {at} has no value in 64 bits; check the parameters"
                )
            }
        }
    }
}
