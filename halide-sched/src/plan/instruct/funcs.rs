//! The Funcs that instructions are checked among.

use crate::plan::draft::FuncDraft;
use crate::plan::levels::{DraftLevel, Levels};
use halide_core::ids::{FuncId, IdVec};
use halide_core::pipeline::PipelineData;

/// The Funcs of a pipeline while a schedule is resolved.
pub(crate) struct Funcs<'a> {
    pub(crate) pipeline: &'a PipelineData,
    pub(crate) drafts: &'a IdVec<FuncId, FuncDraft>,
    pub(crate) levels: &'a IdVec<FuncId, Levels>,
}

impl Funcs<'_> {
    pub(super) fn is_inline(&self, func: FuncId) -> bool {
        self.levels[func].compute == DraftLevel::Inline
    }
}
