//! Code that the benches share: interleaved repetitions, chains of stencils and other graphs, tables and JSON.

pub mod chain;
pub mod graphs;
pub mod output;
pub mod rounds;
