//! The schedule itself: an ordered list of directives.

use super::directive::{Directive, Subject, Verb};
use super::func_name::{clone_name, wrapper_name};
use super::values::{Condition, Tail};
use std::hash::{Hash, Hasher};

/// A schedule: directives in the order in which they apply. A value; it knows Funcs, stages and loops by name only, so
/// it outlives any pipeline, and it never fails while it is built.
///
/// Two schedules are equal when their directives are, wherever they were written.
///
/// ```
/// use halide_sched::schedule::Schedule;
/// let mut built = Schedule::new();
/// built.func("blur_y").split("y", "yo", "yi", 32).parallel("yo").vectorize("x", 16);
/// built.func("blur_x").store_at("blur_y", "yo").compute_at("blur_y", "yi").vectorize("x", 16);
/// let read: Schedule = "blur_y: split(y, yo, yi, 32) parallel(yo) vectorize(x, 16)
///                       blur_x: store_at(blur_y, yo) compute_at(blur_y, yi) vectorize(x, 16)".parse().unwrap();
/// assert_eq!(built, read);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    directives: Vec<Directive>,
}

impl Schedule {
    /// A schedule that says nothing: outputs at the root, everything else inline.
    pub fn new() -> Schedule {
        Schedule::default()
    }

    /// The directives in order.
    pub fn directives(&self) -> &[Directive] {
        &self.directives
    }

    /// The number of directives.
    pub fn len(&self) -> usize {
        self.directives.len()
    }

    /// Returns true if there are no directives.
    pub fn is_empty(&self) -> bool {
        self.directives.is_empty()
    }

    /// Adds one directive at the end. A tail without a factor means nothing and is dropped.
    pub fn push(&mut self, mut directive: Directive) {
        if let Verb::Mark { factor: None, tail, .. } = &mut directive.verb {
            *tail = Tail::Auto;
        }
        self.directives.push(directive);
    }

    /// Adds the directives of `other` at the end.
    pub fn append(&mut self, other: &Schedule) {
        self.directives.extend(other.directives.iter().cloned());
    }

    /// Returns true if some stage may round differently than the algorithm says, so that results are compared within a
    /// tolerance.
    pub fn reassociates(&self) -> bool {
        self.directives.iter().any(Directive::reassociates)
    }

    /// Returns the estimates of a Func with these dimensions: first coordinate and extent, dimension by dimension, as
    /// the last directive about each says.
    pub fn estimates(&self, func: &str, dims: &[&str]) -> Vec<Option<(i64, i64)>> {
        let mut found = vec![None; dims.len()];
        for directive in self.directives().iter().filter(|d| d.subject.func == func) {
            match &directive.verb {
                Verb::SetEstimate { var, min, extent } => {
                    let dim = dims.iter().position(|d| d == var);
                    dim.into_iter().for_each(|dim| found[dim] = Some((*min, *extent)));
                }
                Verb::SetEstimates(region) => {
                    found.iter_mut().zip(region).for_each(|(f, estimate)| *f = Some(*estimate));
                }
                _ => {}
            }
        }
        found
    }

    /// The conditions opened on a stage or specialisation, in order.
    pub(super) fn conditions<'s>(&'s self, subject: &'s Subject) -> impl Iterator<Item = &'s Condition> {
        self.directives.iter().filter(move |d| d.subject == *subject).filter_map(|d| match &d.verb {
            Verb::Specialize(condition) => Some(condition),
            _ => None,
        })
    }

    /// Returns true if a directive makes the wrapper or clone called `name`.
    pub(super) fn makes_func(&self, name: &str) -> bool {
        self.directives.iter().any(|d| match &d.verb {
            Verb::In { consumers } => wrapper_name(&d.subject.func, consumers) == name,
            Verb::CloneIn { consumers } => clone_name(&d.subject.func, consumers) == name,
            _ => false,
        })
    }
}

impl From<Vec<Directive>> for Schedule {
    fn from(directives: Vec<Directive>) -> Schedule {
        let mut schedule = Schedule::new();
        directives.into_iter().for_each(|d| schedule.push(d));
        schedule
    }
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Schedule) -> bool {
        let same = |(a, b): (&Directive, &Directive)| a.subject == b.subject && a.verb == b.verb;
        self.len() == other.len() && self.directives.iter().zip(&other.directives).all(same)
    }
}

impl Eq for Schedule {}

impl Hash for Schedule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.directives.iter().for_each(|d| (&d.subject, &d.verb).hash(state));
    }
}
