//! Properties that hold of everything drawn at random. Each check is a function from a seed, or from bytes that nobody
//! vetted, to `Err` with what went wrong; the tests of this crate run each for about a second from fixed seeds, and
//! `fuzz/` runs the same functions under libFuzzer.
//!
//! A check may also panic: that is a failure too, which [`runs::caught`] turns into text.

pub mod accesses;
pub mod algebra;
pub mod auto;
pub mod budgets;
pub mod case;
mod class;
pub mod classes;
pub mod contractions;
pub mod coverage;
pub mod device;
pub mod edges;
pub mod empties;
pub mod engines;
pub mod externs;
mod facade;
pub mod failure;
pub mod families;
pub mod findings;
mod funcs;
pub mod image_input;
mod in_place;
pub mod instruction_calls;
pub mod ladder;
mod legal;
pub mod nests;
pub mod order;
pub mod proofs;
pub mod refusals;
pub mod runs;
pub mod schedules;
pub mod shrink;
mod sizes;
pub mod stacks;
pub mod steps;
pub mod text;
mod theme;
mod tiers;
pub mod trust;
mod watch;
pub mod words;
pub mod work;
