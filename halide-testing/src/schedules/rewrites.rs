//! Random directives that change the graph.

use super::random::{Draw, directive};
use halide_core::ids::FuncId;
use halide_sched::schedule::{
    Amount, Directive, Subject, Tail, Verb, carry_name, clone_name, rfactor_name, total_name, wrapper_name,
};

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

    /// Wraps and copies Funcs, wrappers and copies for each other, in any order.
    pub(super) fn wrappers(&mut self) {
        let mut names: Vec<String> = self.pipeline.funcs.iter().map(|f| f.name.clone()).collect();
        for _ in 0..2 + self.below(5) {
            let Some((func, consumers)) = self.of_and_for(&names) else { return };
            let (first, name) = self.rewrite(&func, &consumers);
            let mut rewrites = vec![first];
            let mut made = vec![name.clone()];
            if self.one_in(2) {
                // One more of the same Func for what was just made, or of that.
                let (func, consumers) = if self.one_in(2) { (func, vec![name]) } else { (name, consumers) };
                let (second, name) = self.rewrite(&func, &consumers);
                rewrites.insert(self.below(2), second);
                made.push(name);
            }
            for name in &made {
                // What is not placed is left inline.
                let verb = if self.one_in(5) { Verb::ComputeInline } else { Verb::ComputeRoot };
                rewrites.push(directive(name, verb));
            }
            if self.propose(rewrites) {
                names.extend(made);
            }
        }
    }

    /// A Func, wrapper or copy, and mostly one or two of those that read it.
    fn of_and_for(&mut self, names: &[String]) -> Option<(String, Vec<String>)> {
        let func = if self.one_in(3) { names.last().cloned()? } else { self.pick(names)? };
        let funcs = self.plan.pipeline.funcs.enumerate();
        let readers: Vec<String> =
            funcs.filter(|(id, _)| self.reads(*id, &func)).map(|(_, f)| f.name.clone()).collect();
        let mut consumers = Vec::new();
        if !self.one_in(4) {
            consumers.push(self.pick(if readers.is_empty() { names } else { &readers })?);
        }
        if self.one_in(6) {
            consumers.extend(self.pick(&readers).filter(|c| !consumers.contains(c)));
        }
        Some((func, consumers))
    }

    /// A wrapper or a copy, and its name.
    fn rewrite(&mut self, func: &str, consumers: &[String]) -> (Directive, String) {
        let of = consumers.to_vec();
        match self.one_in(3) && !consumers.is_empty() {
            true => (directive(func, Verb::CloneIn { consumers: of }), clone_name(func, consumers)),
            false => (directive(func, Verb::In { consumers: of }), wrapper_name(func, consumers)),
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
            let (total, carry) = (total_name(&name, &vars[0]), carry_name(&name, &vars[0]));
            said.push(Verb::Rfactor { rvars: factored, vars });
            let mut all: Vec<Directive> =
                said.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None }).collect();
            if !self.one_in(3) {
                all.push(directive(&made, Verb::ComputeRoot));
            }
            self.propose(all);
            // Scans have these, too.
            for made in [total, carry] {
                self.propose(vec![directive(&made, Verb::ComputeRoot)]);
            }
        }
    }
    /// Stores the elements of some tuples in one buffer each.
    pub(super) fn join_elements(&mut self) {
        for func in self.plan.order().to_vec() {
            // What is kept may number the Funcs anew.
            let Some(def) = self.plan.pipeline.funcs.get(func) else { return };
            let name = def.name.clone();
            if def.types.len() == 1 || def.types.iter().any(|ty| *ty != def.types[0]) || self.one_in(2) {
                continue;
            }
            let join = directive(&name, Verb::TupleStorage { dim: self.new_name() });
            let place = directive(&name, Verb::ComputeRoot);
            let alone = self.one_in(4);
            self.propose(if alone { vec![join] } else { vec![join, place] });
        }
    }
}
