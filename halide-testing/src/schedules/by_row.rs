//! Directives that are drawn by their rows of the table alone, whatever words it has.

use super::random::{Draw, loop_names};
use halide_sched::schedule::{Amount, Condition, Directive, Draws, Row, Scope, Site, Subject, rows};

impl Draw<'_> {
    /// Proposes directives of any rows, with arguments that fit.
    pub(super) fn any_rows(&mut self) {
        let all: Vec<&Row> = rows().collect();
        for _ in 0..40 {
            let order = self.plan.order().to_vec();
            let (Some(row), Some(func)) = (self.pick(&all), self.pick(&order)) else { return };
            let stages = self.plan.funcs[func].stages.len();
            let stage = if row.scope == Scope::Func { 0 } else { self.below(stages) };
            let subject = Subject { stage, ..Subject::func(self.plan.pipeline.funcs[func].name.clone()) };
            let verbs = row.draw(&mut Arguments { draw: self, subject: subject.clone() });
            let said = verbs.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None });
            self.propose(said.collect());
        }
    }
}

/// Arguments for a directive of a stage, from its loops and the pipeline.
struct Arguments<'a, 'p> {
    draw: &'a mut Draw<'p>,
    subject: Subject,
}

impl Draws for Arguments<'_, '_> {
    fn below(&mut self, n: usize) -> usize {
        self.draw.below(n)
    }
    fn loop_name(&mut self) -> String {
        let loops = self.draw.current_loops(&self.subject);
        self.draw.pick(&loops).unwrap_or_default()
    }
    fn new_name(&mut self) -> String {
        self.draw.new_name()
    }
    fn dim(&mut self) -> String {
        let pipeline = &self.draw.plan.pipeline;
        let func = self.draw.func(&self.subject.func).map(|func| &pipeline.funcs[func]);
        let dims: Vec<String> =
            func.map_or(Vec::new(), |def| def.args.iter().map(|&v| pipeline.vars[v].clone()).collect());
        self.draw.pick(&dims).unwrap_or_default()
    }
    fn func(&mut self) -> String {
        let names: Vec<String> = self.draw.plan.pipeline.funcs.iter().map(|f| f.name.clone()).collect();
        self.draw.pick(&names).unwrap_or_default()
    }
    fn func_or_image(&mut self) -> String {
        let pipeline = &self.draw.plan.pipeline;
        let images = pipeline.images.iter().map(|i| i.name.clone());
        let names: Vec<String> = images.chain(pipeline.funcs.iter().map(|f| f.name.clone())).collect();
        self.draw.pick(&names).unwrap_or_default()
    }
    fn integer(&mut self) -> i64 {
        self.draw.one_of([0, 1, 2, 4, 8, -1])
    }
    fn amount(&mut self) -> Amount {
        Amount::Const(self.draw.one_of([1, 2, 4, 8]))
    }
    fn site(&mut self) -> Site {
        let order = self.draw.plan.order().to_vec();
        let Some(func) = self.draw.pick(&order) else {
            return Site { func: String::new(), stage: 0, var: String::new() };
        };
        let stage = self.draw.below(self.draw.plan.funcs[func].stages.len());
        let loops = loop_names(&self.draw.plan.funcs[func].stages[stage]);
        let func = self.draw.plan.pipeline.funcs[func].name.clone();
        Site { func, stage, var: self.draw.pick(&loops).unwrap_or_default() }
    }
    fn condition(&mut self) -> Condition {
        Condition::Param(self.draw.parameter().unwrap_or_default())
    }
}
