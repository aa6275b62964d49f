//! The draft of one Func: all that a schedule says of it.

use crate::plan::stage::StageDraft;
use crate::plan::types::{BoundConstraint, Room, StorageDim, StoragePart};
use halide_core::ids::FuncId;
use halide_core::pipeline::{DimField, Kind, Pipeline};
use halide_core::shape::{BufferOf, Law};
use halide_ir::build;
use std::collections::BTreeMap;

/// The directives about one Func, collected.
#[derive(Clone, Debug)]
pub(crate) struct FuncDraft {
    pub(crate) compute: Option<(Request, usize)>,
    pub(crate) store: Option<(Request, usize)>,
    pub(crate) hoist: Option<(Request, usize)>,
    pub(crate) storage: Vec<StorageDim>,
    pub(crate) memory: halide_ir::Memory,
    /// The directive that chose the memory.
    pub(crate) memory_by: Option<usize>,
    /// The memories, of host or device, to which the values are copied, each with the directive that says so.
    pub(crate) copies: BTreeMap<halide_ir::Residency, usize>,
    pub(crate) bounds: Vec<BoundConstraint>,
    pub(crate) room: Vec<Option<Room>>,
    pub(crate) estimates: Vec<Option<(i64, i64)>>,
    pub(crate) stages: Vec<StageDraft>,
    /// The first directive that only makes sense for a Func with loops or storage.
    pub(crate) needs_loops: Option<usize>,
    /// The first directive that only makes sense for a Func whose memory is ours.
    pub(crate) needs_storage: Option<usize>,
    /// The last directive that folds the storage.
    pub(crate) folded: Option<usize>,
    /// The number of copies of the storage, with the last directive that says so.
    pub(crate) ring: Option<(i64, usize)>,
    /// The last directive that computes it ahead.
    pub(crate) ahead: Option<usize>,
    /// The last directive that keeps the values between runs.
    pub(crate) memoized: Option<usize>,
    /// Its part in the calls of a closure, if it has one.
    pub(crate) called: Option<CalleeRole>,
}

/// The part that a Func has in the calls of a closure in loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CalleeRole {
    /// It is a copy of what the closure needs of an input.
    Input,
    /// The closure computes its values.
    Values,
}

/// The part of a Func in the calls of closures.
fn role(pipeline: &Pipeline, func: FuncId) -> Option<CalleeRole> {
    pipeline.callees.iter().find_map(|callee| match callee.func == func {
        true => Some(CalleeRole::Values),
        false => callee.inputs.contains(&func).then_some(CalleeRole::Input),
    })
}

/// A level that a directive asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Inline,
    Root,
    At { func: FuncId, stage: usize, var: String },
}

/// The draft of a Func without any directive, and without stages.
pub(super) fn empty(pipeline: &Pipeline, func: FuncId) -> FuncDraft {
    let dims = pipeline.funcs[func].dims();
    FuncDraft {
        compute: None,
        store: None,
        hoist: None,
        storage: (0..dims).map(|dim| stored(pipeline, func, dim)).collect(),
        memory: halide_ir::Memory::Auto,
        memory_by: None,
        copies: BTreeMap::new(),
        bounds: (0..dims).map(|dim| ruled(pipeline, func, dim)).collect(),
        room: vec![None; dims],
        estimates: vec![None; dims],
        stages: Vec::new(),
        needs_loops: None,
        needs_storage: None,
        folded: None,
        ring: None,
        ahead: None,
        memoized: None,
        called: role(pipeline, func),
    }
}

/// Returns the storage of a dimension that no directive speaks of.
fn stored(pipeline: &Pipeline, func: FuncId, dim: usize) -> StorageDim {
    let name = pipeline.vars[pipeline.funcs[func].args[dim]].clone();
    StorageDim { name, dim, part: StoragePart::Whole, align: 1, fold: None, at: None }
}

/// Returns the extent that rules of the algorithm give to an output's dimension: constants only, since these make loops
/// constant.
fn ruled(pipeline: &Pipeline, func: FuncId, dim: usize) -> BoundConstraint {
    let mut constraint = BoundConstraint::default();
    let rules = pipeline.shapes.iter().filter(|r| r.of == BufferOf::Output(func) && r.dim == dim);
    for rule in rules.filter(|_| pipeline.outputs.contains(&func)) {
        let Law::Is(e) = rule.law else { continue };
        let Kind::Const(value) = pipeline.exprs[e].kind else { continue };
        if rule.field == DimField::Extent {
            constraint.extent = Some(build::int(value.as_i64()));
        }
    }
    constraint
}
