//! Schedules as values: an ordered list of directives with a fluent builder and a text form of the same words.

mod arguments;
mod build;
mod condition;
mod definitions;
mod directive;
mod display;
mod error;
mod func_name;
mod instruction;
mod list;
mod names;
mod number;
mod parse;
mod part;
mod print;
mod row;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod tiling;
mod updates;
mod values;

pub use arguments::Draws;
pub use build::{StageSchedule, update};
pub use directive::{Directive, Scope, Subject, Verb};
pub(crate) use directive::{kind_word, partition_word};
pub use error::{ParseError, ParseErrors};
pub use func_name::{carry_name, clone_name, rfactor_name, total_name, wrapper_name};
pub use halide_ir::spelling::closest;
pub(crate) use instruction::TileFn;
pub use instruction::{Axis, AxisVar, Extents, Form, Instruction, InstructionError, InstructionSet, Tile};
pub use list::Schedule;
pub use names::{FuncName, FuncNames, LoopName, LoopNames, StageName};
pub use part::made_names;
pub use row::{Parameter, Row, rows};
pub(crate) use updates::WrittenOut;
pub use values::{
    Align, Amount, CompareOp, Condition, FloatMode, Identity, LoopKind, Memory, Partition, PrefetchBound, Site, Tail,
    Term,
};
