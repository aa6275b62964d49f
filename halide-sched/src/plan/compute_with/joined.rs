//! The stages that are computed with others, as far as they are known.

use crate::plan::graph::Stage;
use crate::plan::types::{Agreement, With};
use halide_core::ids::FuncId;
use std::collections::{BTreeMap, BTreeSet};

/// The stages that are computed with others.
#[derive(Clone, Default)]
pub(crate) struct Joined {
    /// The directive of each stage that has a leader, and what it says.
    pub(super) links: BTreeMap<Stage, (usize, With)>,
    /// The properties of variables that must agree where a stage needs values of one that it is computed with.
    pub(super) agreements: BTreeMap<Stage, Vec<Agreement>>,
    /// The Funcs of its group that a stage needs values of.
    pub(super) needs: BTreeMap<Stage, Vec<FuncId>>,
    groups: Vec<BTreeSet<FuncId>>,
}

impl Joined {
    /// The Funcs that are computed together.
    pub(crate) fn groups(&self) -> &[BTreeSet<FuncId>] {
        &self.groups
    }

    /// Every stage with a leader, and the directive that gave it.
    pub(crate) fn links(&self) -> impl Iterator<Item = (Stage, Stage, usize)> {
        self.links.iter().map(|(stage, (directive, with))| (*stage, with.leader, *directive))
    }

    /// The leader of a stage.
    pub(crate) fn with(&self, stage: Stage) -> Option<&With> {
        self.links.get(&stage).map(|(_, with)| with)
    }

    /// The properties of variables that must agree for a stage to find what it needs of those that it is computed with.
    pub(crate) fn agreements(&self, stage: Stage) -> &[Agreement] {
        self.agreements.get(&stage).map_or(&[], Vec::as_slice)
    }

    /// The Funcs of its group that a stage needs values of.
    pub(crate) fn needs(&self, stage: Stage) -> &[FuncId] {
        self.needs.get(&stage).map_or(&[], Vec::as_slice)
    }

    /// The number of outer loops of `stage` that are those of `leader` as well.
    pub(crate) fn shared(&self, stage: Stage, leader: Stage) -> usize {
        let (mut at, mut shared) = (stage, usize::MAX);
        while at != leader {
            let Some(with) = self.with(at) else { return 0 };
            (at, shared) = (with.leader, shared.min(with.align.len()));
        }
        shared
    }

    /// The stage whose loop the loop number `position`, from the outermost, of `stage` is.
    pub(crate) fn owner(&self, mut stage: Stage, position: usize) -> Stage {
        while let Some(with) = self.with(stage).filter(|w| position < w.align.len()) {
            stage = with.leader;
        }
        stage
    }

    /// The stage at the root of the tree of `stage`.
    pub(super) fn root(&self, stage: Stage) -> Stage {
        self.owner(stage, 0)
    }

    pub(super) fn group(&self, func: FuncId) -> BTreeSet<FuncId> {
        self.groups.iter().find(|g| g.contains(&func)).cloned().unwrap_or_else(|| BTreeSet::from([func]))
    }

    pub(super) fn merge(&mut self, a: FuncId, b: FuncId) {
        let all = &self.group(a) | &self.group(b);
        self.groups.retain(|g| g.is_disjoint(&all));
        self.groups.push(all);
    }
}
