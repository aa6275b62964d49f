//! The parts of a schedule that a price does not know, and what it takes for them.

use std::fmt;

/// A part of a schedule that the model of times does not have. The price takes what is nearest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Approximation {
    /// The part, and what is taken for it.
    pub part: Part,
    /// The name of the definition, such as `f.update(0)`, or of the Func.
    pub of: String,
}

/// The parts of schedules that are priced as others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// Loops that run as one with those of another definition are priced as its own.
    ComputedWith,
    /// Prefetches are not priced.
    Prefetch,
    /// Lanes of vectors that are no neighbours are priced as neighbours.
    LanesApart,
    /// A loop inside of one that is written out is priced as outside of it.
    InsideUnrolled,
    /// The innermost two loops of more over one variable are priced.
    Tiles,
    /// Loops over tiles are priced in the order of those over their points.
    TileOrder,
    /// Parallel loops of a Func that is computed in the loops of another one are priced as serial.
    InnerParallel,
    /// Memory in which the first dimension is not the innermost one is priced as if it were.
    Storage,
    /// Specialisations whose conditions say more than the sizes of outputs are priced as if they did not hold.
    Specialisations,
    /// Values that are kept over iterations of several loops are priced as if over those of the innermost one.
    KeptFar,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::ComputedWith => "loops that run as one with others are priced as its own",
            Part::Prefetch => "prefetches are not priced",
            Part::LanesApart => "lanes that are no neighbours are priced as neighbours",
            Part::InsideUnrolled => "a loop inside of an unrolled one is priced as outside of it",
            Part::Tiles => "the innermost two loops of more over one variable are priced",
            Part::TileOrder => "loops over tiles are priced in the order of those over their points",
            Part::InnerParallel => "parallel loops inside of those of another Func are priced as serial",
            Part::Storage => "an order or blocks of storage are priced as the order of the dimensions",
            Part::Specialisations => "specialisations are priced as if none held",
            Part::KeptFar => "values that are kept over several loops are priced as kept over the innermost one",
        })
    }
}

impl fmt::Display for Approximation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.of, self.part)
    }
}
