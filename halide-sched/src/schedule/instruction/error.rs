//! The mistakes of an instruction.

use super::super::values::LoopKind;
use std::fmt;

/// A mistake of an instruction, by which it is no value that schedules can use.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstructionError {
    /// The set has one of that name.
    Taken {
        /// The instruction.
        name: String,
    },
    /// The meaning is not one definition of one value.
    Meaning {
        /// The instruction.
        name: String,
        /// The part of the meaning that is more.
        what: String,
    },
    /// An axis is no variable of the meaning.
    UnknownAxis {
        /// The instruction.
        name: String,
        /// The axis.
        axis: String,
        /// The variables.
        variables: Vec<String>,
    },
    /// A variable of the meaning is no axis, or several.
    Axes {
        /// The instruction.
        name: String,
        /// The variable.
        variable: String,
        /// The number of axes that it is.
        count: usize,
    },
    /// A loop over an axis cannot run in this way.
    Runs {
        /// The instruction.
        name: String,
        /// The axis.
        axis: String,
        /// The way.
        runs: LoopKind,
    },
    /// A closure computes it, and it asks for machine instructions or loops that are not serial.
    Called {
        /// The instruction.
        name: String,
        /// The part that asks for them.
        what: String,
    },
    /// Something is asked of an operand or axis that is not there.
    Dense {
        /// The instruction.
        name: String,
        /// The operand.
        operand: String,
        /// The axis.
        axis: String,
    },
}

impl fmt::Display for InstructionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstructionError::Taken { name } => {
                write!(f, "there is an instruction `{name}` already; give this one another name")
            }
            InstructionError::Meaning { name, what } => write!(
                f,
                "the meaning of instruction `{name}` has {what}; write one pure definition, or `undef` and one update, \
                 of one value"
            ),
            InstructionError::UnknownAxis { name, axis, variables } => write!(
                f,
                "axis `{axis}` of instruction `{name}` is no variable of its meaning, which has {}",
                variables.join(", ")
            ),
            InstructionError::Axes { name, variable, count: 0 } => {
                write!(f, "variable `{variable}` of instruction `{name}` is no axis; add one of that name")
            }
            InstructionError::Axes { name, variable, count } => {
                write!(f, "variable `{variable}` of instruction `{name}` is {count} axes; leave one")
            }
            InstructionError::Runs { name, axis, runs } => write!(
                f,
                "axis `{axis}` of instruction `{name}` cannot be {runs:?}; it can be Serial, Vectorized or Unrolled"
            ),
            InstructionError::Called { name, what } => write!(
                f,
                "a closure computes instruction `{name}`, whose code has no {what}; leave that out, or let all axes be \
                 Serial"
            ),
            InstructionError::Dense { name, operand, axis } => write!(
                f,
                "instruction `{name}` has no image `{operand}` or no axis `{axis}`, of which neighbours could be dense"
            ),
        }
    }
}

halide_core::debug_is_display!(InstructionError);

impl std::error::Error for InstructionError {}
