//! Random loop IR for tests and fuzzing: well typed, of every kind of node, the same for the same seed.

mod by_hand;
mod expr;
mod mutate;
mod order;
mod program;
mod vocabulary;

pub use by_hand::around;
pub use expr::expr;
pub use mutate::mutant;
pub use order::{parallelised, reversed};
pub use program::{program, wild};
pub use vocabulary::{BufferWord, Random, Vocabulary};
