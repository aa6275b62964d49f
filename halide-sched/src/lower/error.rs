//! Errors that lowering reports although the schedule was legal.

use crate::lower::cause::Cause;
use crate::lower::gpu::offload::error::KernelProblem;
use halide_core::error::Location;
use halide_ir::ForKind;
use std::fmt;

/// A reason that a plan cannot be lowered.
#[derive(Clone, PartialEq, Eq)]
pub enum LowerError {
    /// The region that a definition reads has no bounds.
    Unbounded {
        /// The Func or image that is read.
        producer: String,
        /// The Func whose definition reads it.
        consumer: String,
        /// Index of the dimension.
        dim: usize,
        /// The coordinate as the algorithm writes it; `None` if it is long.
        index: Option<String>,
        /// The use of the coordinate.
        access: Access,
        /// Location of the definition.
        at: Location,
    },
    /// A `fold_storage` that cannot be: no constant window, or a longer one.
    Fold {
        /// The Func whose storage it is.
        func: String,
        /// The variable of the dimension.
        var: String,
        /// The factor asked for.
        factor: i64,
        /// The factor needed, if there is a constant one.
        needed: Option<i64>,
        /// Location of the directive, if there is one.
        at: Option<Location>,
    },
    /// A vectorized or unrolled loop whose number of iterations has no constant bound.
    NoConstantExtent {
        /// Name of the loop.
        name: String,
        /// The kind of loop that it was to be.
        kind: ForKind,
        /// A bound that is too large, if there is one.
        most: Option<i64>,
        /// Location of the directive, if there is one.
        at: Option<Location>,
    },
    /// A loop that is to be cut whatever it takes, and has no ends to cut off.
    NothingToPartition {
        /// Name of the loop.
        name: String,
        /// Location of the directive, if there is one.
        at: Option<Location>,
    },
    /// A program that would be too large, with copies of its code or without.
    TooLarge {
        /// The number of its nodes, or one beyond the budget at which counting ended.
        nodes: u64,
        /// The number that the target's budget allows.
        most: u64,
        /// The directives that multiply code, those that do so most first.
        causes: Vec<Cause>,
    },
    /// Loops over blocks and threads that cannot be a kernel.
    Kernel {
        /// Its name: that of the Func that it computes.
        kernel: String,
        /// Location of the directive that says how its outermost loop runs, if there is one.
        at: Option<Location>,
        /// The reason that the loops cannot be a kernel.
        problem: KernelProblem,
    },
}

/// A use of coordinates by a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read of an input image.
    Image,
    /// A read of a Func.
    Func,
    /// A store to the Func itself.
    Store,
}

/// A place before a sentence.
struct Place(Option<Location>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |at| write!(f, "{at}: "))
    }
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LowerError::Unbounded { producer, consumer, dim, index, access, at } => {
                let index = index.as_deref();
                let shown = index.map_or("a coordinate".to_string(), |index| format!("`{index}`"));
                let does = if *access == Access::Store { "stores to" } else { "reads" };
                let range = "or give its value a type or a range that bounds it, such as u8 or Param::with_range";
                let boundary = match access {
                    Access::Image => format!("read `{producer}` through a boundary condition such as repeat_edge, "),
                    Access::Func | Access::Store => String::new(),
                };
                let index = index.unwrap_or("coordinate");
                write!(
                    f,
                    "{at}: `{consumer}` {does} `{producer}` at {shown} in dimension {dim}, which nothing bounds\n  \
                     help: write `clamp({index}, lo, hi)`, {boundary}{range}"
                )
            }
            LowerError::NoConstantExtent { name, kind, most, at } => {
                let done = if *kind == ForKind::Vectorized { "vectorized" } else { "unrolled" };
                let why = match most {
                    Some(most) => format!("it may run {most} times"),
                    None => "no constant bounds how often it runs".to_string(),
                };
                let word = if *kind == ForKind::Vectorized { "vectorize" } else { "unroll" };
                write!(
                    f,
                    "{}`{name}` cannot be {done}: {why}\n  \
                     help: say {word} with a factor, or promise the extent with bound_extent",
                    Place(*at)
                )
            }
            LowerError::NothingToPartition { name, at } => write!(
                f,
                "{}`{name}` cannot be cut into prologue, steady state and epilogue: nothing in it is different at its \
                 ends\n  help: leave always_partition out, or say auto_partition",
                Place(*at)
            ),
            LowerError::TooLarge { nodes, most, causes } => {
                if let Some(first) = causes.first() {
                    write!(f, "{first}: ")?;
                }
                write!(f, "the program would have {nodes} nodes, more than the {most} allowed")?;
                causes.iter().skip(1).try_for_each(|cause| write!(f, "\n  {cause}"))?;
                f.write_str("\n  help: unroll, vectorize or specialize by less, or allow more by the target's budget")
            }
            LowerError::Kernel { kernel, at, problem } => {
                write!(f, "{}the kernel of `{kernel}`: {problem}", Place(*at))
            }
            LowerError::Fold { func, var, factor, needed: Some(k), at } => write!(
                f,
                "{}`{func}: fold_storage({var}, {factor})` cannot be: {k} coordinates of `{var}` are alive at once\n  \
                 help: fold by {k} or more, or leave the factor to the compiler",
                Place(*at)
            ),
            LowerError::Fold { func, var, factor, needed: None, at } => write!(
                f,
                "{}`{func}: fold_storage({var}, {factor})` cannot be: what is alive of `{func}` does not move along `{var}` \
                 inside a constant window\n  \
                 help: store it outside of a serial loop over `{var}` and compute it inside, and do not vectorize along `{var}`",
                Place(*at)
            ),
        }
    }
}

halide_core::debug_is_display!(LowerError);

impl std::error::Error for LowerError {}
