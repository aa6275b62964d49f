//! Structures that a pipeline can be made to have: the kinds of coordinates and updates, and shapes of graphs.

/// A structure that a pipeline is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Every other coordinate is of this kind, where it can be.
    Coordinate(Coordinate),
    /// Every Func has updates of this kind.
    Update(Update),
    /// Funcs that only one arm of a select on parameters reads.
    Arms,
    /// Funcs that do not read each other, of which some may be outputs, and a Func that reads them all.
    Siblings,
    /// Funcs that read a few neighbours in the one before.
    Stencils,
}

/// A way in which a coordinate is made of a variable, and of other things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// `x + 1`
    Moved,
    /// `x * 2`
    Doubled,
    /// `x / 2`
    Halved,
    /// `3`
    Constant,
    /// `x + r`
    OfDomain,
    /// `7 - x`
    Mirrored,
    /// A value that is clamped, or of a type that is narrow.
    Data,
    /// `clamp(x, 0, 5)`
    Clamped,
    /// `x % 3`
    Remainder,
    /// `select(x > 3, x + 1, x - 1)`
    Chosen,
    /// `min(x, 5) + max(x, 1) - x`
    Extremes,
    /// `x + offset`
    Parameter,
    /// `x + y / 2`
    Sum,
    /// `x / 3 * 2`
    Steps,
    /// `likely(x)`
    Likely,
    /// `i32(u8(x))`
    Wrapped,
    /// `i32(f32(x) * 0.75)`
    Float,
    /// `i32(f32(x) / real)`
    Quotient,
    /// `i32(f32(i32(u8(x))) * 0.75)`
    WrappedFloat,
    /// `a(x) * b(x) * 4`
    Product,
    /// `i32(a(x))`
    Element,
    /// `x << a(x)`
    Shift,
    /// `select(a(x), x + 1, b(x))`
    ChosenByData,
    /// `sum(a(x + r))`
    Reduction,
    /// Any expression of the language.
    Anything,
}

impl Coordinate {
    /// The kinds that stay within a few points.
    pub const NEAR: [Coordinate; 15] = {
        use Coordinate::*;
        [
            Moved, Doubled, Halved, Constant, OfDomain, Mirrored, Data, Clamped, Remainder, Chosen, Extremes,
            Parameter, Sum, Steps, Likely,
        ]
    };
    /// The kinds that do not, unless they are clamped.
    pub const FAR: [Coordinate; 10] = {
        use Coordinate::*;
        [Wrapped, Float, Quotient, WrappedFloat, Product, Element, Shift, ChosenByData, Reduction, Anything]
    };

    /// Returns whether it stays within a few points of a variable, or of the origin.
    pub fn is_near(self) -> bool {
        Coordinate::NEAR.contains(&self)
    }
}

/// A kind of update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// `f(x) = e`
    EveryPoint,
    /// `f(x) += e(x, r)`
    Reduce,
    /// `f(r) = f(r - 1) + e`
    Scan,
    /// `f(r.x, r.y) = f(r.x - 1, r.y) + f(r.x, r.y + 1)`
    Neighbours,
    /// `f(data) = e`
    Scatter,
    /// `f(3, r) = e`
    SomePoints,
    /// `f(x) = e` where `f(x)` is this or that
    OwnPredicate,
    /// `f(x) = {f(x)[1] + e, f(x)[0]}`
    OwnElements,
}

impl Update {
    /// All of them.
    pub const ALL: [Update; 8] = {
        use Update::*;
        [EveryPoint, Reduce, Scan, Neighbours, Scatter, SomePoints, OwnPredicate, OwnElements]
    };
}
