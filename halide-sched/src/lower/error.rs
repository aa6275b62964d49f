//! What lowering can refuse although the schedule was legal.

use super::offload::KernelProblem;
use halide_core::error::Location;
use std::fmt;

/// Why a plan cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LowerError {
    /// The region that a definition reads has no bounds.
    Unbounded {
        /// The Func or image that is read.
        producer: String,
        /// The Func whose definition reads it.
        consumer: String,
        /// Which dimension.
        dim: usize,
        /// Where the definition stands.
        at: Location,
    },
    /// A `fold_storage` that cannot be: no constant window, or a longer one.
    Fold {
        /// Whose storage.
        func: String,
        /// Which dimension.
        var: String,
        /// The factor asked for.
        factor: i64,
        /// The factor needed, if there is a constant one.
        needed: Option<i64>,
    },
    /// Loops over blocks and threads that cannot be a kernel.
    Kernel {
        /// Its name: that of the Func that it computes.
        kernel: String,
        /// What is wrong.
        problem: KernelProblem,
    },
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LowerError::Unbounded { producer, consumer, dim, at } => write!(
                f,
                "{at}: `{consumer}` reads `{producer}` at coordinates of dimension {dim} that nothing bounds\n  \
                 hint: clamp that coordinate, or give its value a type or a parameter range that bounds it"
            ),
            LowerError::Kernel { kernel, problem } => write!(f, "the kernel of `{kernel}`: {problem}"),
            LowerError::Fold { func, var, factor, needed: Some(k) } => write!(
                f,
                "`{func}: fold_storage({var}, {factor})` cannot be: {k} coordinates of `{var}` are alive at once\n  \
                 hint: fold by {k} or more, or leave the factor to the compiler"
            ),
            LowerError::Fold { func, var, factor, needed: None } => write!(
                f,
                "`{func}: fold_storage({var}, {factor})` cannot be: what is alive of `{func}` does not move along `{var}` \
                 inside a constant window\n  \
                 hint: store it outside of a serial loop over `{var}` and compute it inside, and do not vectorize along `{var}`"
            ),
        }
    }
}

impl std::error::Error for LowerError {}
