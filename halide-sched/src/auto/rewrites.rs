//! Random directives that change the graph.

use super::random::{Draw, directive};
use crate::schedule::{Amount, Directive, Subject, Tail, Verb, clone_name, rfactor_name, wrapper_name};
use halide_core::ids::FuncId;

impl Draw<'_> {
    /// Wraps or copies a Func for one of the others, or wraps it for all.
    pub(super) fn rewrite_graph(&mut self) {
        let names: Vec<String> = self.pipeline.funcs.iter().map(|f| f.name.clone()).collect();
        for _ in 0..4 {
            let (Some(func), Some(consumer)) = (self.pick(&names), self.pick(&names)) else { return };
            let consumers = if self.one_in(4) { Vec::new() } else { vec![consumer] };
            let (verb, name) = if self.one_in(2) && !consumers.is_empty() {
                let name = clone_name(&func, &consumers);
                (Verb::CloneIn { consumers }, name)
            } else {
                let name = wrapper_name(&func, &consumers);
                (Verb::In { consumers }, name)
            };
            if self.propose(vec![directive(&func, verb), directive(&name, Verb::ComputeRoot)]) && self.one_in(2) {
                return;
            }
        }
    }

    /// Does reductions of some updates in parts.
    pub(super) fn reduce_in_parts(&mut self) {
        for _ in 0..3 {
            // What is kept may number the Funcs anew.
            let updates = |f: FuncId| (1..self.plan.funcs[f].stages.len()).map(move |stage| (f, stage));
            let mut all: Vec<(FuncId, usize)> = self.plan.order().iter().copied().flat_map(updates).collect();
            all.truncate(12);
            let Some((func, stage)) = self.pick(&all) else { return };
            let plan = &self.plan.funcs[func].stages[stage];
            let loops = plan.loops.iter().filter(|l| plan.vars[l.var].reduction);
            let rvars: Vec<String> = loops.map(|l| plan.loop_name(l).to_string()).collect();
            let Some(var) = self.pick(&rvars) else { continue };
            let name = self.plan.pipeline.funcs[func].name.clone();
            let subject = Subject { stage, ..Subject::func(&name) };
            let mut said = Vec::new();
            let mut factored = vec![var.clone()];
            if self.one_in(2) {
                let (outer, inner) = (self.new_name(), self.new_name());
                let factor = Amount::Const(self.one_of([1, 2, 3, 4]));
                factored = vec![if self.one_in(2) { outer.clone() } else { inner.clone() }];
                said.push(Verb::Split { var, outer, inner, factor, tail: Tail::Auto });
            }
            if let Some(other) = self.pick(&rvars).filter(|_| self.one_in(4)) {
                factored.push(other);
            }
            let vars: Vec<String> = factored.iter().map(|_| self.new_name()).collect();
            let made = rfactor_name(&name, &vars);
            said.push(Verb::Rfactor { rvars: factored, vars });
            let mut all: Vec<Directive> =
                said.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None }).collect();
            all.push(directive(&made, Verb::ComputeRoot));
            self.propose(all);
        }
    }
}
