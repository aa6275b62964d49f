//! Contractions that deep-learning compilers are measured by: layers of ResNet-50, products of DeepBench, products of
//! bytes, blocks of a transformer, and gated recurrent units. Each is an algorithm and its inputs; the mapper writes
//! its schedule.

mod block;
mod case;
mod gru;
mod tables;
#[cfg(test)]
mod tests;

pub use case::{Case, Shape};
pub use gru::{Gru, GruProgram};
pub use tables::{blocks, deep_bench, int8, resnet50};
