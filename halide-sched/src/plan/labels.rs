//! Labels of loops: ids for their names, so that levels compare ids.

use crate::plan::types::LoopLabel;
use halide_core::ids::IdVec;
use std::collections::BTreeMap;

/// The names of loops that have a label so far.
#[derive(Default)]
pub(super) struct Labels {
    names: IdVec<LoopLabel, String>,
    known: BTreeMap<String, LoopLabel>,
}

impl Labels {
    /// Returns the label of a name.
    pub(super) fn label(&mut self, name: &str) -> LoopLabel {
        if let Some(&label) = self.known.get(name) {
            return label;
        }
        let label = self.names.push(name.to_string());
        self.known.insert(name.to_string(), label);
        label
    }

    /// Returns the name of each label.
    pub(super) fn finish(self) -> IdVec<LoopLabel, String> {
        self.names
    }
}
