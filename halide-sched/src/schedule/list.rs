//! The schedule itself: an ordered list of directives.

use super::directive::{Directive, Subject, Verb};
use super::func_name::{clone_name, wrapper_name};
use super::instruction::InstructionSet;
use super::values::{Condition, LoopKind, Tail};
use halide_core::pipeline::PipelineData;
use std::collections::HashMap;
use std::fmt;
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
#[derive(Clone, Default)]
pub struct Schedule {
    directives: Vec<Directive>,
    /// The wrappers and clones that directives make, by name, with the number of directives that do.
    made: HashMap<String, usize>,
    /// The specialisations that directives open, by what is specialised.
    opened: HashMap<Subject, Opened>,
    /// The instructions that directives may name; `None` for the built-in ones.
    instructions: Option<InstructionSet>,
}

/// The specialisations of a stage or specialisation.
#[derive(Clone, Default)]
struct Opened {
    /// The directives that open them.
    directives: Vec<usize>,
    /// The first one for each condition.
    first: HashMap<Condition, usize>,
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule").field("directives", &self.directives).finish()
    }
}

impl Schedule {
    /// A schedule that says nothing: outputs at the root, everything else inline.
    pub fn new() -> Schedule {
        Schedule::default()
    }

    /// A schedule under which every Func of a pipeline is computed at the root.
    pub fn all_at_root(pipeline: &PipelineData) -> Schedule {
        let mut schedule = Schedule::new();
        // Copies for closures, and what closures compute, are where the extern stages are.
        let is_of_call = |func| pipeline.callees.iter().any(|c| c.func == func || c.inputs.contains(&func));
        for id in pipeline.order.iter().filter(|func| !is_of_call(**func)) {
            schedule.func(pipeline.funcs[*id].name.as_str()).compute_root();
        }
        schedule
    }

    /// The same schedule, whose directives name instructions of this set. It is no part of the text: schedules that are
    /// read name the built-in ones.
    #[must_use]
    pub fn with_instructions(&self, set: &InstructionSet) -> Schedule {
        Schedule { instructions: Some(set.clone()), ..self.clone() }
    }

    /// The instructions that its directives name.
    pub fn instructions(&self) -> InstructionSet {
        self.instructions.clone().unwrap_or_else(InstructionSet::built_in)
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

    /// Adds one directive at the end. A tail without a factor means nothing and is dropped; a mark of blocks, threads
    /// or lanes with a factor, which no word says, becomes the split and the mark that it stands for.
    pub fn push(&mut self, mut directive: Directive) {
        match &mut directive.verb {
            Verb::Mark { factor: None, tail, .. } => *tail = Tail::Auto,
            Verb::Mark { kind, var, factor: Some(factor), tail } if kind.is_gpu() => {
                let inner = self.inner_name(&directive.subject, var, *kind);
                let marked = if *kind == LoopKind::GpuBlocks { var.clone() } else { inner.clone() };
                let mark = Verb::Mark { kind: *kind, var: marked, factor: None, tail: Tail::Auto };
                let (var, factor, tail) = (var.clone(), factor.clone(), *tail);
                let split = Verb::Split { var: var.clone(), outer: var, inner, factor, tail };
                self.push(Directive { verb: split, ..directive.clone() });
                directive.verb = mark;
            }
            _ => {}
        }
        match &directive.verb {
            Verb::In { consumers } => self.count_made(wrapper_name(&directive.subject.func, consumers)),
            Verb::CloneIn { consumers } => self.count_made(clone_name(&directive.subject.func, consumers)),
            Verb::Specialize(condition) => {
                let opened = self.opened.entry(directive.subject.clone()).or_default();
                opened.first.entry(condition.clone()).or_insert(opened.directives.len());
                opened.directives.push(self.directives.len());
            }
            _ => {}
        }
        self.directives.push(directive);
    }

    fn count_made(&mut self, name: String) {
        *self.made.entry(name).or_default() += 1;
    }

    /// A name for the inner part of a loop that no split of the stage has given.
    fn inner_name(&self, subject: &Subject, var: &str, kind: LoopKind) -> String {
        let letter = match kind {
            LoopKind::GpuBlocks => 'b',
            LoopKind::GpuThreads => 't',
            _ => 'l',
        };
        let given = |name: &String| {
            let is_split = |d: &Directive| matches!(&d.verb, Verb::Split { inner, .. } if inner == name);
            self.directives.iter().any(|d| d.subject.func == subject.func && is_split(d))
        };
        let mut name = format!("{var}${letter}");
        while given(&name) {
            name.push(letter);
        }
        name
    }

    /// Adds the directives of `other` at the end.
    pub fn append(&mut self, other: &Schedule) {
        other.directives.iter().for_each(|d| self.push(d.clone()));
    }

    /// Returns true if some stage may round differently than the algorithm says, so that results are compared within a
    /// tolerance.
    pub fn reassociates(&self) -> bool {
        self.directives.iter().any(Directive::reassociates)
    }

    /// Returns true if it gives work to a GPU.
    pub fn has_kernels(&self) -> bool {
        self.directives().iter().any(|d| match d.verb {
            Verb::Mark { kind, .. } => kind.is_gpu(),
            Verb::GpuSingleThread => true,
            _ => false,
        })
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

    /// The number of specialisations opened on a stage or specialisation.
    pub(super) fn opened(&self, subject: &Subject) -> usize {
        self.opened.get(subject).map_or(0, |opened| opened.directives.len())
    }

    /// The number of the first specialisation of `subject` for `condition`, if one is open.
    pub(super) fn specialization(&self, subject: &Subject, condition: &Condition) -> Option<usize> {
        self.opened.get(subject)?.first.get(condition).copied()
    }

    /// The condition of a specialisation by its number, if it is the first one for that condition.
    pub(super) fn first_condition(&self, subject: &Subject, index: usize) -> Option<&Condition> {
        let opened = self.opened.get(subject)?;
        match &self.directives[*opened.directives.get(index)?].verb {
            Verb::Specialize(condition) => Some(condition).filter(|c| opened.first.get(c) == Some(&index)),
            _ => None,
        }
    }

    /// The number of directives that make the wrapper or clone called `name`.
    pub(super) fn times_made(&self, name: &str) -> usize {
        self.made.get(name).copied().unwrap_or(0)
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
