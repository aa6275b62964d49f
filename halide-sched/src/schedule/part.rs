//! The part of a schedule that is about some of the Funcs of a pipeline, for when these are compiled by themselves.

use super::directive::{Directive, Verb};
use super::func_name::{carry_name, clone_name, rfactor_name, total_name, wrapper_name};
use super::list::Schedule;
use std::collections::BTreeSet;

impl Schedule {
    /// The directives that speak of the Funcs in `own`, and of what they make of these, but for those that mention
    /// other Funcs of the pipeline: loops in which nothing here is computed, and consumers that are not here. `all` are
    /// the names of all Funcs of the pipeline; names that are none of these stay, so that `plan` says so.
    pub(crate) fn part(&self, own: &BTreeSet<String>, all: &BTreeSet<String>) -> Vec<bool> {
        let mut own = own.clone();
        let mut all = all.clone();
        for directive in self.directives() {
            for made in made_names(directive) {
                if own.contains(&directive.subject.func) {
                    own.insert(made.clone());
                }
                all.insert(made);
            }
        }
        let elsewhere = |name: &String| all.contains(name) && !own.contains(name);
        let keep = |d: &Directive| match &d.verb {
            Verb::ComputeAt(site) | Verb::StoreAt(site) | Verb::HoistStorage(site) => !elsewhere(&site.func),
            Verb::In { consumers } | Verb::CloneIn { consumers } => !consumers.iter().any(elsewhere),
            _ => true,
        };
        self.directives().iter().map(|d| own.contains(&d.subject.func) && keep(d)).collect()
    }

    /// The directives for which `keep` says so, in order.
    pub(crate) fn kept(&self, keep: &[bool]) -> Schedule {
        let kept = self.directives().iter().zip(keep).filter(|(_, keep)| **keep);
        kept.map(|(directive, _)| directive.clone()).collect::<Vec<Directive>>().into()
    }
}

/// The names of the Funcs that a directive makes, the one that it is for first. Those of `rfactor` include the Funcs
/// that it makes of scans alone.
pub fn made_names(directive: &Directive) -> Vec<String> {
    let func = &directive.subject.func;
    match &directive.verb {
        Verb::In { consumers } => vec![wrapper_name(func, consumers)],
        Verb::CloneIn { consumers } => vec![clone_name(func, consumers)],
        Verb::Rfactor { vars, .. } => {
            let scan = vars.iter().filter(|_| vars.len() == 1).flat_map(|v| [total_name(func, v), carry_name(func, v)]);
            std::iter::once(rfactor_name(func, vars)).chain(scan).collect()
        }
        _ => Vec::new(),
    }
}
