//! Random stages that are computed together, and hints.

use super::aim::Aim;
use super::random::{Draw, directive, loop_names};
use halide_core::ids::FuncId;
use halide_sched::plan::Level;
use halide_sched::schedule::{Align, Directive, PrefetchBound, Site, Subject, Verb};

impl Draw<'_> {
    /// Lets some stages run in loops of others, and puts Funcs into these loops.
    pub(super) fn join(&mut self) {
        let rounds = if self.options.aim == Aim::Groups { 8 } else { 1 + self.below(4) };
        for _ in 0..rounds {
            let funcs: Vec<FuncId> =
                self.plan.order().iter().copied().filter(|&f| self.plan.funcs[f].compute != Level::Inline).collect();
            let Some(member) = self.pick(&funcs) else { return };
            let leaders = if self.options.aim == Aim::Groups { self.partners(member, &funcs) } else { funcs };
            let Some(leader) = self.pick(&leaders) else { continue };
            // A member of a group more often than not, once there is one.
            let is_member = |f: &FuncId| self.plan.funcs[*f].stages.iter().any(|s| s.with.is_some());
            let members: Vec<FuncId> = leaders.iter().copied().filter(is_member).collect();
            let leader = if self.one_in(2) { self.pick(&members).unwrap_or(leader) } else { leader };
            if member == leader || self.plan.funcs[member].compute != self.plan.funcs[leader].compute {
                continue;
            }
            let stage = self.below(self.plan.funcs[leader].stages.len());
            let names = loop_names(&self.plan.funcs[leader].stages[stage]);
            let Some(var) = self.pick(&names) else { continue };
            let site = Site { func: self.plan.pipeline.funcs[leader].name.clone(), stage, var: var.clone() };
            let own = self.below(self.plan.funcs[member].stages.len());
            let subject = Subject { stage: own, ..Subject::func(self.plan.pipeline.funcs[member].name.clone()) };
            let mut said = Vec::new();
            // Loops of the same names, so that more often than by chance there are some that can run as one.
            let own_names = loop_names(&self.plan.funcs[member].stages[own]);
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

    /// The Funcs that could run in loops of one with `member`: in the same place, and neither reads the other.
    fn partners(&self, member: FuncId, funcs: &[FuncId]) -> Vec<FuncId> {
        let name = |f: FuncId| self.plan.pipeline.funcs[f].name.as_str();
        let fits = |&leader: &FuncId| {
            leader != member
                && self.plan.funcs[member].compute == self.plan.funcs[leader].compute
                && !self.reads(member, name(leader))
                && !self.reads(leader, name(member))
        };
        funcs.iter().copied().filter(fits).collect()
    }

    /// Says what changes no value: estimates, hints, and room in memory that may be too little.
    pub(super) fn hint(&mut self) {
        let order = self.plan.order().to_vec();
        for _ in 0..1 + self.below(3) {
            let Some(func) = self.pick(&order) else { return };
            let def = &self.plan.pipeline.funcs[func];
            let (name, dims) = (def.name.clone(), def.args.len());
            let vars: Vec<String> = def.args.iter().map(|&v| self.plan.pipeline.vars[v].clone()).collect();
            let sources = self.pipeline.images.iter().map(|i| i.name.clone());
            let sources: Vec<String> = sources.chain(self.pipeline.funcs.iter().map(|f| f.name.clone())).collect();
            let loops = loop_names(&self.plan.funcs[func].stages[0]);
            let verb = match (self.below(5), self.pick(&vars), self.pick(&loops), self.pick(&sources)) {
                (0, Some(var), ..) if self.options.any_shape => {
                    Verb::BoundStorage { var, extent: self.one_of([4, 16, 64]) }
                }
                (1, Some(var), ..) => Verb::SetEstimate { var, min: self.one_of([-1, 0, 7]), extent: 9 },
                (2, ..) => Verb::SetEstimates(vec![(0, 8); dims]),
                (3, _, Some(from), Some(what)) => {
                    let all = [PrefetchBound::Clamp, PrefetchBound::GuardWithIf, PrefetchBound::NonFaulting];
                    let bound = self.one_of(all);
                    let inside = loops.iter().position(|l| *l == from).unwrap_or(0);
                    let at = self.pick(&loops[inside..]).unwrap_or_else(|| from.clone());
                    Verb::Prefetch { what, at, from, offset: self.one_of([1, 2, -1]), bound }
                }
                // By what was drawn anyway, so that seeds keep the rest of their schedules.
                (_, Some(var), Some(inner), _) if vars.first() != Some(&var) => {
                    match loops.iter().position(|l| *l == inner) {
                        Some(0) => Verb::StreamLoads,
                        Some(n) if n + 1 == loops.len() => Verb::NeverUnroll,
                        _ => Verb::CacheStores,
                    }
                }
                _ => Verb::StreamStores,
            };
            self.propose(vec![directive(&name, verb)]);
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
