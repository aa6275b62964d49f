//! Tests of the algorithm language.

mod define;
mod interp;
mod local_laplacian;
mod mistakes;
mod print;
mod reduce;
