//! Tests of the algorithm language.

mod define;
mod print;
