//! Loop partitioning (`partition`) of a loop that runs for several stages: those that ask for one must ask for the
//! same.

use super::joined::Joined;
use crate::plan::diagnostics::{Errors, Problem};
use crate::plan::draft::FuncDraft;
use crate::plan::graph::Stage;
use crate::schedule::{Partition, partition_word};
use halide_core::ids::{FuncId, IdVec};
use std::collections::{BTreeMap, BTreeSet};

/// Reports stages that share a loop and want it cut in different ways.
pub(super) fn agree(joined: &Joined, drafts: &IdVec<FuncId, FuncDraft>, errors: &mut Errors<'_>) {
    let draft = |(func, stage): Stage| &drafts[func].stages[stage];
    let mut links: Vec<_> = joined.links.iter().collect();
    links.sort_by_key(|(_, (directive, _))| *directive);
    // By the stage whose loop it is and the position: who spoke first, and what that said.
    let mut said: BTreeMap<(Stage, usize), (Stage, Partition)> = BTreeMap::new();
    let mut reported = BTreeSet::new();
    for (&stage, (directive, with)) in links {
        for position in 0..with.align.len() {
            let owner = joined.owner(stage, position);
            for member in [with.leader, stage] {
                let own = draft(member).loops[position];
                let (other, theirs) = *said.entry((owner, position)).or_insert((member, own.partition));
                match (own.partition, theirs) {
                    (Partition::Auto, _) => {}
                    (how, Partition::Auto) => _ = said.insert((owner, position), (member, how)),
                    (how, theirs) if how == theirs || !reported.insert((member, position)) => {}
                    (how, theirs) => {
                        let text = |at: Stage| draft(at).subject.clone();
                        let (of, other, var) = (text(member), text(other), draft(member).name(own.var).to_string());
                        let (own, theirs) = (partition_word(how), partition_word(theirs));
                        errors.report(*directive, Problem::WithOtherCuts { of, own, other, theirs, var });
                    }
                }
            }
        }
    }
}
