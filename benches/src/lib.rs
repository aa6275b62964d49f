//! Code that the benches share: interleaved repetitions, chains of stencils and other graphs, counts of machine code,
//! tables and JSON; loop nests to tile, pipelines that nobody tuned, and the schedule that takes no thought.

pub mod accuracy;
pub mod at_root;
pub mod chain;
pub mod codegen;
pub mod contractions;
pub mod graphs;
pub mod output;
pub mod polyhedral;
pub mod rounds;
pub mod serve;
pub mod sparse;
pub mod untuned;
