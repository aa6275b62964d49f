//! The tuning constants of the crate: limits of searches and sizes that decide between two ways. Each says its unit and
//! its reason. A measurement is named where there was one; all others are by reasoning, and were not measured.

// bounds

/// The depth to which sums are opened.
pub(crate) const DEEP_SUM: u32 = 8;

/// The magnitude beyond which a value may round to an infinity, and nearer to zero than its inverse to zero.
pub(crate) const FINITE: f64 = 1e37;

/// The most times that the rest of a sum is moved into the arms of a choice.
pub(crate) const MOST_INTERVAL_MOVES: u32 = 64;

/// In how many nested selects the condition narrows the symbols of the arms.
pub(crate) const MOST_NESTED_INTERVALS: u32 = 4;

/// More comparisons than this are not looked at.
pub(crate) const MOST_READ_ENDS: usize = 8;

/// The most sums that are solved for one condition.
pub(crate) const SOLVE_FUEL: u32 = 200;

// simplify

/// The number of times that definitions are put in place one level at a time, before they are seen through.
pub(crate) const NEAR_ROUNDS: u32 = 3;

/// The most sums that a search takes apart to decide a comparison while simplifying.
pub(crate) const COMPARE_FUEL: u32 = 32;

/// The most choices that are followed, one inside the other.
pub(crate) const CONGRUENCE_CHOICES: u32 = 2;

/// The number of points: loops at their first, their last and a middle iteration.
pub(crate) const COUNTEREXAMPLE_POINTS: usize = 3;

/// Farther from 0 than this nothing is computed.
pub(crate) const FAR_POINT: i128 = 1 << 40;

/// The most facts that are looked through for a symbol to move.
pub(crate) const MOST_CLAIMS: usize = 200;

/// The most times that symbols are moved: each time what is bound to them is found again.
pub(crate) const MOST_COUNTEREXAMPLE_MOVES: u32 = 16;

/// The most levels to which a learned inequality is taken apart into those that follow from it.
pub(crate) const CONSEQUENCES: u32 = 8;

/// Comparing all pairs of operands stops being cheap beyond this many; more are only joined where they are equal.
pub(crate) const MOST_COMPARED: usize = 6;

/// The most sums that are taken apart to compare two operands.
pub(crate) const MIN_MAX_FUEL: u32 = 16;

/// The scale to which relaxing quotients may multiply a sum.
pub(crate) const LARGEST_SCALE: i64 = 1 << 40;

/// The most learned sums in a row that may be added to eliminate an atom.
pub(crate) const ELIMINATIONS: u32 = 3;

/// From this number on, names stand for conditions only.
pub(crate) const FIRST_CONDITION: usize = 3;

/// The most nodes that a value may have to stand for its symbol.
pub(crate) const LARGEST_DEFINITION: usize = 96;

/// The most loop variables in a sum that stands in place of the symbols bound to it: two levels of tiles and a chunk.
pub(crate) const ALIAS_TERMS: usize = 3;
