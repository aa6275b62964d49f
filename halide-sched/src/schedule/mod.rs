//! Schedules as values: an ordered list of directives with a fluent builder and a text form of the same words.

mod build;
mod condition;
mod directive;
mod gpu;
mod hints;
mod list;
mod names;
mod parse;
mod part;
mod print;
#[cfg(test)]
mod tests;
mod tiling;

pub use build::{StageSchedule, update};
pub use directive::{
    Align, Amount, CompareOp, Condition, Directive, FloatMode, Identity, LoopKind, Memory, Partition, PrefetchBound,
    Site, Subject, Tail, Term, Verb,
};
pub use halide_ir::spelling::closest;
pub use list::Schedule;
pub use names::{FuncName, FuncNames, LoopName, LoopNames, StageName};
pub use parse::directive_words;
pub use parse::{ParseError, ParseErrors};
pub use print::clone_name;
pub use print::rfactor_name;
pub use print::wrapper_name;
