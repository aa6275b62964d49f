//! Contractions that deep-learning compilers are measured by: layers of ResNet-50, products of DeepBench, and
//! products of bytes. Each is an algorithm and its inputs; the mapper writes its schedule.

mod case;
mod tables;

pub use case::{Case, Shape};
pub use tables::{deep_bench, int8, resnet50};
