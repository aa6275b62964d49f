//! A case of each class of the largest product of tables (`coverage`): two directives of which the first has a tail, at
//! a place, on a stage that reads at a kind of coordinate. Random draws reach a third of these; here cases are written
//! for a class, and legality is learnt from the compiler: a class is served when one of its cases is, by the main
//! variant. Classes that never are must be of a kind that cannot be (`refused.rs`).

mod algorithm;
mod coordinates;
mod nest;
mod refused;
mod schedule;
mod serve;
mod tally;

pub use tally::run;
