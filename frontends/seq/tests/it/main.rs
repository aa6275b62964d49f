//! Tests of procs: texts, types, values.

mod agree;
mod golden;
mod mistakes;
mod random;
mod types;
