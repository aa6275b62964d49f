//! Walks of the expressions of a pipeline.

use halide_core::ids::ExprId;
use halide_core::pipeline::{Kind, PipelineData, StageDef};
use std::collections::BTreeSet;

/// The expressions that a definition evaluates.
pub(super) fn expressions(pipeline: &PipelineData, stage: &StageDef) -> Vec<ExprId> {
    let predicate = stage.rdom.and_then(|r| pipeline.rdoms[r].predicate);
    stage.args.iter().chain(&stage.values).copied().chain(predicate).collect()
}

/// Every expression reachable from `from`, each once, children first.
pub fn reachable(pipeline: &PipelineData, from: &[ExprId]) -> BTreeSet<ExprId> {
    let mut found = BTreeSet::new();
    let mut todo = from.to_vec();
    while let Some(e) = todo.pop() {
        if found.insert(e) {
            todo.extend(children(&pipeline.exprs[e].kind));
        }
    }
    found
}

/// The operands of a node.
pub(super) fn children(kind: &Kind) -> Vec<ExprId> {
    kind.children()
}
