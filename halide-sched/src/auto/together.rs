//! Random stages that are computed together.

use super::random::{Draw, loop_names};
use crate::plan::Level;
use crate::schedule::{Align, Directive, Site, Subject, Verb};
use halide_core::ids::FuncId;

impl Draw<'_> {
    /// Lets some stages run in loops of others, and puts Funcs into these loops.
    pub(super) fn join(&mut self) {
        for _ in 0..1 + self.below(4) {
            let funcs: Vec<FuncId> =
                self.plan.order().iter().copied().filter(|&f| self.plan.funcs[f].compute != Level::Inline).collect();
            let (Some(guest), Some(host)) = (self.pick(&funcs), self.pick(&funcs)) else { return };
            if guest == host || self.plan.funcs[guest].compute != self.plan.funcs[host].compute {
                continue;
            }
            let stage = self.below(self.plan.funcs[host].stages.len());
            let names = loop_names(&self.plan.funcs[host].stages[stage]);
            let Some(var) = self.pick(&names) else { continue };
            let site = Site { func: self.plan.pipeline.funcs[host].name.clone(), stage, var: var.clone() };
            let own = self.below(self.plan.funcs[guest].stages.len());
            let subject = Subject { stage: own, ..Subject::func(self.plan.pipeline.funcs[guest].name.clone()) };
            let mut said = Vec::new();
            // Loops of the same names, so that more often than by chance there are some that can run as one.
            let own_names = loop_names(&self.plan.funcs[guest].stages[own]);
            for (from, to) in own_names.iter().zip(&names).filter(|(from, to)| from != to) {
                said.push(Verb::Rename { from: from.clone(), to: to.clone() });
                if *to == var {
                    break;
                }
            }
            let aligns = [Align::NoAlign, Align::AlignStart, Align::AlignEnd];
            let align = self.one_of(aligns);
            let each = match self.one_in(3) {
                true => vec![(var.clone(), self.one_of(aligns))],
                false => Vec::new(),
            };
            said.push(Verb::ComputeWith { site: site.clone(), align, each });
            let said = said.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None });
            if self.propose(said.collect()) {
                self.move_inside(&site);
            }
        }
    }

    /// Computes something in a loop.
    fn move_inside(&mut self, site: &Site) {
        let names: Vec<String> = self.plan.pipeline.funcs.iter().map(|f| f.name.clone()).collect();
        for _ in 0..4 {
            let Some(name) = self.pick(&names) else { return };
            let mut verbs = vec![Verb::ComputeAt(site.clone())];
            if self.one_in(2) {
                verbs.push(Verb::StoreRoot);
            }
            let subject = Subject::func(name);
            self.propose(
                verbs.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None }).collect(),
            );
        }
    }
}
