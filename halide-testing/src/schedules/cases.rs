//! Random specialisations.

use super::aim::Aim;
use super::arms::conditions_of;
use super::random::Draw;
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType;
use halide_sched::schedule::{CompareOp, Condition, Subject, Term, Verb};

impl Draw<'_> {
    /// A copy of the stage's loops for some calls, with loops of its own.
    pub(super) fn specialize(&mut self, subject: &Subject) {
        let condition = match self.options.aim {
            Aim::Arms => self.condition_of_arms(subject),
            _ => self.condition(subject),
        };
        if self.say(subject, Verb::Specialize(condition)) {
            let mut variant = subject.clone();
            variant.specializations.push(0);
            self.loops(&variant);
            self.fail(subject);
        }
    }

    /// The condition of a select of the algorithm, its opposite, or that and something else.
    fn condition_of_arms(&mut self, subject: &Subject) -> Condition {
        let arms = conditions_of(self.pipeline);
        let Some(one) = self.pick(&arms) else { return self.condition(subject) };
        match self.below(6) {
            0 | 1 => Condition::Not(Box::new(one)),
            2 => Condition::And(Box::new(one), Box::new(self.comparison())),
            3 => {
                let other = self.pick(&arms).unwrap_or_else(|| one.clone());
                Condition::Or(Box::new(one), Box::new(other))
            }
            _ => one,
        }
    }

    /// Constant extents, and often first coordinates, of dimensions of an output; another condition of other Funcs.
    fn constants(&mut self, subject: &Subject) -> Condition {
        let output = self.func(&subject.func).filter(|func| self.pipeline.outputs.contains(func));
        let dims = output.map_or(0, |func| self.pipeline.funcs[func].dims());
        let mut all: Option<Condition> = None;
        for d in 0..dims {
            if d > 0 && self.one_in(2) {
                continue;
            }
            let equal = |field, value| {
                let term = Term::Dim(subject.func.clone(), field, d);
                Condition::Compare(CompareOp::Eq, term, Term::Const(value))
            };
            let extent = equal(DimField::Extent, self.one_of([1, 2, 3, 4, 4, 8]));
            let min = equal(DimField::Min, self.one_of([0, 0, 0, -1, 2]));
            let both = if self.one_in(4) { extent } else { Condition::And(Box::new(extent), Box::new(min)) };
            all = Some(all.map_or(both.clone(), |all| Condition::And(Box::new(all), Box::new(both))));
        }
        all.unwrap_or_else(|| self.comparison())
    }

    fn condition(&mut self, subject: &Subject) -> Condition {
        let one = self.comparison();
        match self.below(9) {
            3 => self.constants(subject),
            0 => Condition::And(Box::new(one), Box::new(self.comparison())),
            1 => Condition::Or(Box::new(one), Box::new(self.comparison())),
            2 => Condition::Not(Box::new(one)),
            _ => one,
        }
    }

    fn comparison(&mut self) -> Condition {
        let mut terms: Vec<Term> = Vec::new();
        for image in self.pipeline.images.iter() {
            terms.extend((0..image.dims).map(|d| Term::Dim(image.name.clone(), DimField::Extent, d)));
        }
        for &output in &self.pipeline.outputs {
            let def = &self.pipeline.funcs[output];
            terms.extend((0..def.dims()).map(|d| Term::Dim(def.name.clone(), DimField::Extent, d)));
        }
        terms.extend(self.pipeline.params.iter().filter(|p| p.ty.is_int()).map(|p| Term::Param(p.name.clone())));
        let bools: Vec<String> =
            self.pipeline.params.iter().filter(|p| p.ty == ScalarType::Bool).map(|p| p.name.clone()).collect();
        if self.one_in(3)
            && let Some(name) = self.pick(&bools)
        {
            return Condition::Param(name);
        }
        let term = self.pick(&terms).unwrap_or(Term::Const(0));
        let limit = Term::Const(self.one_of([0, 1, 4, 7, 8, 16]));
        if self.one_in(3) {
            let rest = Term::Binary('%', Box::new(term), Box::new(Term::Const(2)));
            return Condition::Compare(CompareOp::Eq, rest, Term::Const(0));
        }
        let op = self.one_of([CompareOp::Ge, CompareOp::Gt, CompareOp::Lt, CompareOp::Ne]);
        Condition::Compare(op, term, limit)
    }
}
