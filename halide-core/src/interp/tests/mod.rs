//! The interpreter against values computed by hand or by plain loops.

mod build;
mod errors;
mod pure;
mod updates;

use build::Build;
