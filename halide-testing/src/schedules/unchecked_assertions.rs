//! Random directives by which a schedule vouches for something, lets floats be rounded in another way, or ends runs.

use super::random::Draw;
use halide_sched::plan::order;
use halide_sched::schedule::{FloatMode, Identity, Subject, Verb};

impl Draw<'_> {
    /// Draws the directives about an update as a whole, before its loops: which operation it is, whether steps are
    /// indivisible.
    pub(super) fn operation(&mut self, subject: &Subject) {
        if self.one_in(2) {
            // Where the order matters, what comes out is one of several results.
            let any_order = self.one_in(6) && self.order_is_free(subject);
            self.say(subject, Verb::Atomic { any_order });
        }
        if self.one_in(3) {
            let elements = self.func(&subject.func).map_or(1, |f| self.plan.pipeline.funcs[f].types.len());
            let all = [Identity::Const(0), Identity::Const(0), Identity::Const(1), Identity::Lowest, Identity::Highest];
            let one = self.one_of(all);
            let identity = (0..elements).map(|_| if self.one_in(3) { self.one_of(all) } else { one }).collect();
            let commutes = self.one_in(2);
            self.say(subject, Verb::Monoid { identity, commutes });
        }
    }

    fn order_is_free(&self, subject: &Subject) -> bool {
        let pipeline = &self.plan.pipeline;
        let Some(func) = self.func(&subject.func) else { return false };
        pipeline.funcs[func].stages.get(subject.stage).is_some_and(|stage| order(pipeline, func, stage).is_ok())
    }

    /// Draws the float mode of a stage.
    pub(super) fn floats(&mut self, subject: &Subject) {
        let mode = match self.options.floats {
            true => self.one_of([FloatMode::Contract, FloatMode::Relaxed, FloatMode::Strict]),
            false => FloatMode::Strict,
        };
        if self.one_in(if self.options.floats { 2 } else { 12 }) {
            self.say(subject, Verb::Float(mode));
        }
    }

    /// Ends runs that no specialisation serves: they are for some shapes only.
    pub(super) fn fail(&mut self, subject: &Subject) {
        if self.options.any_shape && self.one_in(3) {
            self.say(subject, Verb::SpecializeFail("nothing of this shape".into()));
        }
    }

    /// Vouches for the absence of races where none were found, so that nothing changes.
    pub(super) fn races(&mut self) {
        let order = self.plan.order().to_vec();
        let Some(func) = self.pick(&order) else { return };
        let stage = self.below(self.plan.funcs[func].stages.len());
        let name = self.plan.pipeline.funcs[func].name.clone();
        self.say(&Subject { stage, ..Subject::func(name) }, Verb::AllowRaceConditions);
    }

    /// The name of an integer parameter, which may be anything: also what no factor can be.
    pub(super) fn parameter(&mut self) -> Option<String> {
        let names: Vec<String> =
            self.pipeline.params.iter().filter(|p| p.ty.is_int()).map(|p| p.name.clone()).collect();
        self.pick(&names)
    }
}
