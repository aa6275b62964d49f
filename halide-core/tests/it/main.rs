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
mod mistakes_of_functions;
mod mistakes_of_inputs;
mod print;
mod random;
mod reduce;
