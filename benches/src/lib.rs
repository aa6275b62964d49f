//! What the benches have in common: interleaved repetitions, chains of stencils, tables and JSON.

pub mod chain;
pub mod output;
pub mod rounds;
