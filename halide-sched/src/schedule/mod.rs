//! Schedules as values: an ordered list of directives with a fluent builder and a text form of the same words.

mod directive;

pub use directive::{
    Amount, CompareOp, Condition, Directive, FloatMode, LoopKind, Partition, Site, Subject, Tail, Term, Verb,
};
