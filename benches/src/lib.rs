//! Code that the benches share: interleaved repetitions, chains of stencils and other graphs, counts of machine code,
//! tables and JSON; and pipelines that nobody tuned.

pub mod chain;
pub mod codegen;
pub mod graphs;
pub mod output;
pub mod rounds;
pub mod untuned;
