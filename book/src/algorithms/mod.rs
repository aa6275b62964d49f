//! The algorithms that schedules of the pages speak of. A page shows the code of each, and a test compares it.

pub mod blur;
pub mod sums;

use halide::check::Case;
use halide::prelude::*;

/// An algorithm of a page.
pub struct Algorithm {
    /// The word behind the fence of its code: `rust,algorithm-blur`.
    pub name: &'static str,
    /// The file, whose code stands in the page.
    pub code: &'static str,
    /// The pipeline.
    pub pipeline: fn() -> Result<Pipeline, Error>,
    /// The regions of all outputs, by width and height.
    pub regions: fn(i64, i64) -> Vec<Region>,
    /// Blocks of loops have those of all Funcs, not only of those that a schedule names.
    pub shows_all: bool,
    /// The cases in which schedules are held against the interpreter.
    pub cases: fn() -> Vec<Case>,
}

/// All algorithms.
pub const ALGORITHMS: [Algorithm; 2] = [
    Algorithm {
        name: "blur",
        code: include_str!("blur.rs"),
        pipeline: blur::algorithm,
        regions: |width, height| vec![Region::of_extents([width, height])],
        shows_all: true,
        cases: || [[1, 1], [9, 6], [33, 19]].map(Case::from).into(),
    },
    Algorithm {
        name: "sums",
        code: include_str!("sums.rs"),
        pipeline: sums::algorithm,
        regions: sums_regions,
        shows_all: false,
        cases: || [(1, 1), (9, 6), (33, 19)].map(|(w, h)| Case::of_regions(sums_regions(w, h))).into(),
    },
];

/// A histogram of 16 bins, a mean for each row, and running sums of at least the 32 rows that these change.
fn sums_regions(width: i64, height: i64) -> Vec<Region> {
    vec![Region::of_extents([16]), Region::of_extents([height]), Region::of_extents([width, height.max(32)])]
}
