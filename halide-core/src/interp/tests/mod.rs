//! The interpreter against values computed by hand or by plain loops.

mod build;
mod errors;
mod pure;
mod random;
mod updates;

use build::Build;
