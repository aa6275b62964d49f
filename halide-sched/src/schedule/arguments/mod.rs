//! The kinds of arguments that the rows of the table of directives name: how each is read, written and drawn.

mod argument;
mod names;
mod numbers;
mod words;

pub use argument::Draws;
pub(super) use argument::{Argument, Reader, Written};
pub(super) use names::{
    AxisLoops, Dim, Dims, FuncOrImage, Funcs, InstructionName, Loop, LoopAligns, LoopOrLoops, Loops, Message, NewDim,
    NewLoop, NewLoopOrLoops, loop_name,
};
pub(super) use numbers::{Estimates, Factor, Identities, Integer, Offset, Remainder, amount};
pub(super) use words::{AnyOrder, Backward, Commutative};

/// Without a second argument, the type that a kind of argument has in a [`Verb`](super::Verb), or as an argument of the
/// builder if `builder` stands before it. With one, the value of such an argument of the builder.
macro_rules! kind {
    (Loop) => { String };
    (NewLoop) => { String };
    (Dim) => { String };
    (NewDim) => { String };
    (FuncOrImage) => { String };
    (Message) => { String };
    (InstructionName) => { String };
    (AxisLoops) => { Vec<(String, String)> };
    (Loops) => { Vec<String> };
    (Dims) => { Vec<String> };
    (Funcs) => { Vec<String> };
    (LoopOrLoops) => { Vec<String> };
    (NewLoopOrLoops) => { Vec<String> };
    (LoopAligns) => { Vec<(String, Align)> };
    (Integer) => { i64 };
    (Offset) => { i64 };
    (Remainder) => { i64 };
    (Factor) => { Option<Amount> };
    (Estimates) => { Vec<(i64, i64)> };
    (Identities) => { Vec<Identity> };
    (Backward) => { bool };
    (Commutative) => { bool };
    (AnyOrder) => { bool };
    ($own:ident) => { $own };

    (builder Loop) => { impl LoopName };
    (builder NewLoop) => { impl LoopName };
    (builder Dim) => { impl LoopName };
    (builder NewDim) => { impl LoopName };
    (builder FuncOrImage) => { impl FuncName };
    (builder Stage) => { impl StageName };
    (builder Loops) => { impl LoopNames };
    (builder Dims) => { impl LoopNames };
    (builder LoopOrLoops) => { impl LoopNames };
    (builder NewLoopOrLoops) => { impl LoopNames };
    (builder Funcs) => { impl FuncNames };
    (builder LoopAligns) => { impl IntoIterator<Item = (impl LoopName, Align)> };
    (builder Amount) => { impl Into<Amount> };
    (builder Condition) => { impl Into<Condition> };
    (builder Message) => { impl Into<String> };
    (builder InstructionName) => { impl Into<String> };
    (builder AxisLoops) => { impl IntoIterator<Item = (impl Into<String>, impl LoopName)> };
    (builder Estimates) => { impl IntoIterator<Item = (i64, i64)> };
    (builder Identities) => { impl IntoIterator<Item = impl Into<Identity>> };
    (builder $other:ident) => { kind!($other) };

    (Loop $given:ident) => { $given.loop_name() };
    (NewLoop $given:ident) => { $given.loop_name() };
    (Dim $given:ident) => { $given.loop_name() };
    (NewDim $given:ident) => { $given.loop_name() };
    (Stage $given:ident) => { $given.stage_name() };
    (FuncOrImage $given:ident) => { $given.func_name() };
    (Loops $given:ident) => { $given.loop_names() };
    (Dims $given:ident) => { $given.loop_names() };
    (LoopOrLoops $given:ident) => { $given.loop_names() };
    (NewLoopOrLoops $given:ident) => { $given.loop_names() };
    (Funcs $given:ident) => { $given.func_names() };
    (LoopAligns $given:ident) => { $given.into_iter().map(|(name, align)| (name.loop_name(), align)).collect() };
    (Amount $given:ident) => { $given.into() };
    (Condition $given:ident) => { $given.into() };
    (Message $given:ident) => { $given.into() };
    (InstructionName $given:ident) => { $given.into() };
    (AxisLoops $given:ident) => { $given.into_iter().map(|(axis, name)| (axis.into(), name.loop_name())).collect() };
    (Estimates $given:ident) => { $given.into_iter().collect() };
    (Identities $given:ident) => { $given.into_iter().map(Into::into).collect() };
    ($other:ident $given:ident) => { $given };
}

pub(super) use kind;
