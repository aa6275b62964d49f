//! The reasons that a nest has no tiles.

use std::fmt;

/// A reason that no sizes of tiles can be chosen.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TssError {
    /// A loop that does nothing.
    EmptyLoop {
        /// The loop.
        name: String,
    },
    /// A subscript that uses a loop which the nest does not have.
    UnknownLoop {
        /// The array.
        array: String,
        /// The number of the loop.
        index: usize,
        /// The number of loops of the nest.
        loops: usize,
    },
    /// A reference with more offsets than its array has subscripts.
    Offsets {
        /// The array.
        array: String,
        /// The number of subscripts.
        subscripts: usize,
        /// The number of offsets.
        offsets: usize,
    },
    /// An innermost loop that vectors cannot go along.
    NoVectorLoop {
        /// The reason.
        why: NoVector,
    },
    /// Vectors without lanes.
    NoLanes,
    /// A machine without a cache.
    NoCache,
    /// A cache whose lines are of no length, or longer than any.
    Line {
        /// The bytes of a line.
        bytes: u32,
        /// The most bytes there may be.
        most: u32,
    },
    /// A slant of fewer than two loops of the nest.
    Slant {
        /// The number of loops of the nest.
        loops: usize,
    },
    /// Tiles that fit no cache, however small.
    NothingFits {
        /// The bytes of the smallest tile.
        bytes: u64,
        /// The bytes of the largest cache that one thread may use.
        usable: u64,
        /// True if rows were not to be cut, as in the paper's choice.
        has_whole_rows: bool,
    },
    /// Sizes for another number of loops.
    Sizes {
        /// The number of sizes.
        sizes: usize,
        /// The number of loops.
        loops: usize,
    },
    /// A block along a loop that is the last one or not in the nest.
    Block {
        /// The number of loops.
        loops: usize,
    },
    /// A Func that is not in the pipeline.
    UnknownFunc {
        /// The name.
        func: String,
        /// A Func of a similar name.
        near: Option<String>,
    },
    /// An update that a Func does not have.
    UnknownStage {
        /// The Func.
        func: String,
        /// The number of the definition, 0 for the pure one.
        stage: usize,
        /// The number of updates.
        updates: usize,
    },
    /// A Func without loops of its own.
    Inlined {
        /// The Func.
        func: String,
    },
    /// A definition whose loops directives have changed.
    HasLoops {
        /// The definition.
        definition: String,
    },
    /// An access of elements about which data decide.
    DataIndexed {
        /// The definition.
        definition: String,
        /// The array.
        array: String,
    },
}

/// A reason that the innermost loop has no vectors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoVector {
    /// A nest without loops.
    NoLoops,
    /// Iterations that wait for each other.
    Carries {
        /// The loop.
        name: String,
    },
    /// Stores that are not side by side.
    Strided {
        /// The loop.
        name: String,
        /// The array that is written.
        array: String,
        /// The elements from one store to the next.
        step: i64,
    },
    /// No array whose elements are read or written side by side.
    NothingDense {
        /// The loop.
        name: String,
    },
}

impl fmt::Display for TssError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TssError::EmptyLoop { name } => {
                write!(f, "loop `{name}` has no iterations; tile nests in which every loop has some")
            }
            TssError::UnknownLoop { array, index, loops } => write!(
                f,
                "a subscript of `{array}` uses loop {index} of a nest of {loops}; number loops from 0, the outermost"
            ),
            TssError::Offsets { array, subscripts, offsets } => write!(
                f,
                "a reference to `{array}` has {offsets} offsets for {subscripts} subscripts; give at most one for each"
            ),
            TssError::NoVectorLoop { why } => why.fmt(f),
            TssError::NoLanes => {
                write!(f, "vectors of 0 lanes do nothing; give at least 1, or leave it to the machine")
            }
            TssError::NoCache => write!(f, "the machine has no caches to choose tiles for; list at least one"),
            TssError::Line { bytes, most } => {
                write!(f, "a cache has lines of {bytes} bytes; give a length from 1 to {most}")
            }
            TssError::NothingFits { bytes, usable, has_whole_rows } => {
                let remedy = match has_whole_rows {
                    true => "choose by `Fidelity::Corrected`, which cuts rows",
                    false => "read fewer arrays in one nest",
                };
                write!(
                    f,
                    "the smallest tile holds {bytes} bytes, too many for every cache: a thread has at most {usable}; \
                     {remedy}"
                )
            }
            TssError::Sizes { sizes, loops } => {
                write!(f, "{sizes} sizes are given for a nest of {loops} loops; give one for each, outermost first")
            }
            TssError::Slant { loops } => write!(
                f,
                "a slant is of one loop, or of one that a nest of {loops} loops has not; name two loops that it has"
            ),
            TssError::Block { loops } => write!(
                f,
                "a block is along a loop that is none outside of the last one of {loops}; name one that is, or none"
            ),
            TssError::UnknownFunc { func, near } => {
                let hint = near.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                write!(f, "the pipeline has no Func `{func}` whose loops could be tiled{hint}")
            }
            TssError::UnknownStage { func, stage, updates } => write!(
                f,
                "`{func}` has no `update({})` whose loops could be tiled; it has {updates} updates, numbered from 0",
                stage.saturating_sub(1)
            ),
            TssError::Inlined { func } => write!(
                f,
                "`{func}` is substituted where it is used and has no loops to tile; compute it with `compute_root` or \
                 `compute_at`"
            ),
            TssError::HasLoops { definition } => write!(
                f,
                "directives have changed the loops of `{definition}` already; leave out those that split, mark or \
                 specialise them"
            ),
            TssError::DataIndexed { definition, array } => write!(
                f,
                "`{definition}` accesses elements of `{array}` about which data decide, so reuse cannot be told; give \
                 sizes of tiles by `split`"
            ),
        }
    }
}

impl fmt::Display for NoVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoVector::NoLoops => write!(f, "the nest has no loops; give at least the one that vectors go along"),
            NoVector::Carries { name } => write!(
                f,
                "iterations of the innermost loop `{name}` depend on each other; \
                 move a loop inside whose iterations do not"
            ),
            NoVector::Strided { name, array, step } => write!(
                f,
                "stores to `{array}` are {step} elements apart along the innermost loop `{name}`; \
                 move a loop inside along which they are neighbours"
            ),
            NoVector::NothingDense { name } => write!(
                f,
                "no array has neighbouring elements along the innermost loop `{name}`; \
                 move a loop inside along which one has"
            ),
        }
    }
}

halide_core::debug_is_display!(TssError);

impl std::error::Error for TssError {}
