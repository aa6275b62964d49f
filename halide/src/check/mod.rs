//! Checks of schedules: results of every engine, held against the reference interpreter over sizes.
//!
//! A schedule never changes a result, so a program that differs under one is a defect of the compiler, or of a promise
//! that the schedule makes (`bound`, `monoid`, `allow_race_conditions`). A pipeline's own tests need a line for it:
//!
//! ```
//! use halide::check;
//! use halide::prelude::*;
//! let input = ImageParam::new("input", U16, 2);
//! let (x, y) = vars!(x, y);
//! let (mut rows, mut blur) = (Func::new("rows"), Func::new("blur"));
//! rows[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
//! blur[(x, y)] = (rows[(x, y)] + rows[(x, y + 1)] + rows[(x, y + 2)]) / 3;
//! let pipeline = Pipeline::new([&blur])?;
//!
//! let tiles: Schedule = "
//!     blur: tile(x, y, xo, yo, xi, yi, 16, 8) parallel(yo) vectorize(xi, natural)
//!     rows: compute_at(blur, xo) vectorize(x, natural)".parse()?;
//! let agreed = check::agree(&pipeline, [&tiles], [[1, 1], [7, 3], [33, 17]])?;
//! assert_eq!(agreed.cases, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod checker;
mod engines;
mod outcome;
mod values;

pub use case::Case;
pub use checker::{Check, SIZES, agree};
pub use outcome::{Agreed, Cause, Disagreement, Disagreements};
