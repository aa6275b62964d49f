//! Directives of every update of a Func, written out for a pipeline.

use super::directive::{Directive, Subject, Verb};
use super::list::Schedule;
use super::part::made_names;
use halide_core::pipeline::PipelineData;
use std::borrow::Cow;
use std::collections::HashMap;

/// A schedule in which each directive speaks of one stage.
pub(crate) struct WrittenOut<'s> {
    pub(crate) schedule: Cow<'s, Schedule>,
    /// The directive of the given schedule that each of its directives comes from; empty if it is that schedule.
    pub(crate) origins: Vec<usize>,
}

impl Schedule {
    /// Writes directives of `f.updates()` out: once for each update that `f` has in `pipeline`, or that a directive
    /// gives it. Of a Func without updates and of one that is not there, a directive of `f.update(0)` stays, which is
    /// refused later.
    pub(crate) fn written_out(&self, pipeline: &PipelineData) -> WrittenOut<'_> {
        if !self.directives().iter().any(|d| d.subject.updates) {
            return WrittenOut { schedule: Cow::Borrowed(self), origins: Vec::new() };
        }
        let mut updates = UpdateCounts::of(pipeline);
        let (mut schedule, mut origins) = (Schedule::new(), Vec::new());
        let mut opened = Opened::default();
        for (number, directive) in self.directives().iter().enumerate() {
            let stages = match directive.subject.updates {
                true => (1..=updates.count(&directive.subject.func).max(1)).collect(),
                false => vec![directive.subject.stage],
            };
            for stage in stages {
                schedule.push(opened.of_stage(directive, stage, &schedule));
                // Some directives are kept as several.
                origins.resize(schedule.len(), number);
            }
            if directive.subject.updates && matches!(directive.verb, Verb::Specialize(_)) {
                *opened.so_far.entry(directive.subject.clone()).or_default() += 1;
            }
            updates.make(directive);
        }
        WrittenOut { schedule: Cow::Owned(schedule), origins }
    }

    /// Returns the schedule with directives of `f.updates()` written out for the Funcs of `pipeline`.
    pub fn for_pipeline(&self, pipeline: &PipelineData) -> Schedule {
        self.written_out(pipeline).schedule.into_owned()
    }
}

/// The number of updates of each Func, by name.
struct UpdateCounts(HashMap<String, usize>);

impl UpdateCounts {
    fn of(pipeline: &PipelineData) -> UpdateCounts {
        UpdateCounts(pipeline.funcs.iter().map(|f| (f.name.clone(), f.stages.len().saturating_sub(1))).collect())
    }

    fn count(&self, func: &str) -> usize {
        self.0.get(func).copied().unwrap_or(0)
    }

    /// Adds the Funcs that a directive makes.
    fn make(&mut self, directive: &Directive) {
        let count = match directive.verb {
            Verb::CloneIn { .. } => self.count(&directive.subject.func),
            Verb::Rfactor { .. } => 1,
            _ => 0,
        };
        for name in made_names(directive) {
            self.0.entry(name).or_insert(count);
        }
    }
}

/// Specialisations of every update: an update may have others of its own before them, so that their numbers differ.
#[derive(Default)]
struct Opened {
    /// The number that each specialisation of every update has in a stage.
    number_in: HashMap<(Subject, usize), usize>,
    /// The number of specialisations opened on a subject.
    so_far: HashMap<Subject, usize>,
}

impl Opened {
    /// The directive for one stage, to be added to `before`.
    fn of_stage(&mut self, directive: &Directive, stage: usize, before: &Schedule) -> Directive {
        if !directive.subject.updates {
            return directive.clone();
        }
        let mut general = Subject { specializations: Vec::new(), ..directive.subject.clone() };
        let mut subject = Subject { stage, ..Subject::func(directive.subject.func.as_str()) };
        for &index in &directive.subject.specializations {
            general.specializations.push(index);
            let number = self.number_in.get(&(general.clone(), stage)).copied().unwrap_or(index);
            subject.specializations.push(number);
        }
        if let Verb::Specialize(_) = directive.verb {
            let index = self.so_far.get(&directive.subject).copied().unwrap_or(0);
            general.specializations.push(index);
            self.number_in.insert((general, stage), before.opened(&subject));
        }
        Directive { subject, ..directive.clone() }
    }
}
