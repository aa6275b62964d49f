//! Tests of the algorithm language.

mod arena;
mod boundary;
mod define;
mod expressions;
mod fixed_point;
mod interp;
mod lerp;
mod local_laplacian;
mod mistakes;
mod print;
mod random;
mod reduce;
