//! Several sites that one update stores to at once.

use super::coords::Coords;
use super::make;
use crate::arena::Expr;
use crate::error::Location;

/// Returns one coordinate for each of several sites that an update stores to at once; stands in its left side.
///
/// All scatters and gathers of an update have as many values. At each point, everything is read before anything is
/// stored, and the sites are stored in order; what is neither scattered nor gathered is the same at all of them.
///
/// ```
/// use halide_core::{Func, RDom, expr::{gather, scatter}, vars};
/// let x = vars!(x);
/// let mut f = Func::new("f");
/// f[x] = x * 10;
/// // Swaps two elements, then rotates three.
/// f[scatter((3, 5))] = f[gather((5, 3))];
/// f[scatter((0, 1, 2))] = f[gather((1, 2, 0))];
/// ```
#[track_caller]
pub fn scatter(values: impl Coords) -> Expr {
    make::sites("scatter", &values.coords(), Location::caller())
}

/// Returns one value for each of several sites that an update stores to at once (see [`scatter`]); stands in its value,
/// also as a coordinate there.
#[track_caller]
pub fn gather(values: impl Coords) -> Expr {
    make::sites("gather", &values.coords(), Location::caller())
}
