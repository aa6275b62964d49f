//! Edits of lists of directives.

use halide_sched::schedule::{Amount, Directive, LoopKind, Schedule, Scope, Site, Subject, Tail, Verb};

/// Directives that are edited.
#[derive(Clone, Debug)]
pub struct Draft(pub Vec<Directive>);

impl Draft {
    /// The directives of a schedule, without their places.
    pub fn new(schedule: &Schedule) -> Draft {
        Draft(schedule.directives().iter().map(|d| Directive { at: None, ..d.clone() }).collect())
    }

    /// The schedule that they make.
    pub fn schedule(self) -> Schedule {
        Schedule::from(self.0)
    }

    /// Adds a directive behind the last one about its subject.
    pub fn add(&mut self, subject: &Subject, verb: Verb) {
        let at = self.0.iter().rposition(|d| d.subject == *subject).map_or(self.0.len(), |last| last + 1);
        self.0.insert(at, Directive { subject: subject.clone(), verb, at: None });
    }

    /// Adds directives about a Func as a whole, in front of the first one about it.
    pub fn add_first(&mut self, func: &str, verbs: impl IntoIterator<Item = Verb>) {
        let at = self.0.iter().position(|d| d.subject.func == func).unwrap_or(self.0.len());
        let new = verbs.into_iter().map(|verb| Directive { subject: Subject::func(func), verb, at: None });
        self.0.splice(at..at, new);
    }

    /// Takes away the directives about a subject that are so; the number of them.
    pub fn remove(&mut self, subject: &Subject, mut is_so: impl FnMut(&Verb) -> bool) -> usize {
        let before = self.0.len();
        self.0.retain(|d| d.subject != *subject || !is_so(&d.verb));
        before - self.0.len()
    }

    /// Takes away everything about the loops of a stage.
    pub fn remove_loops(&mut self, subject: &Subject) {
        self.remove(subject, is_of_loops);
    }

    /// Takes away everything that says where a Func is computed and kept.
    pub fn remove_place(&mut self, func: &str) {
        self.0.retain(|d| d.subject.func != func || !is_place(&d.verb));
    }

    /// Takes away everything that says where a Func is kept.
    pub fn remove_store(&mut self, func: &str) {
        self.0.retain(|d| d.subject.func != func || !is_store(&d.verb));
    }

    /// Takes away marks of a kind on a loop, or on any loop of the stage.
    pub fn unmark(&mut self, subject: &Subject, kind: LoopKind, on: Option<&str>) -> usize {
        self.remove(
            subject,
            |verb| matches!(verb, Verb::Mark { kind: k, var, .. } if *k == kind && on.is_none_or(|on| on == var)),
        )
    }

    /// Whatever is placed in loop `from` of a stage is placed in loop `to`.
    pub fn move_sites(&mut self, of: &Subject, from: &str, to: &str) {
        for directive in &mut self.0 {
            let site = match &mut directive.verb {
                Verb::ComputeAt(site) | Verb::StoreAt(site) | Verb::HoistStorage(site) => site,
                _ => continue,
            };
            if site.func == of.func && site.stage == of.stage && site.var == from {
                site.var = to.to_string();
            }
        }
    }

    /// Gives loops a new order, innermost first. Orders that it makes idle are taken away.
    pub fn order(&mut self, subject: &Subject, loops: Vec<String>) {
        let makes_loops = |verb: &Verb| {
            matches!(
                verb,
                Verb::Split { .. }
                    | Verb::Fuse { .. }
                    | Verb::Skew { .. }
                    | Verb::Rename { .. }
                    | Verb::Mark { factor: Some(_), .. }
            )
        };
        let last = self.0.iter().rposition(|d| d.subject == *subject && makes_loops(&d.verb)).unwrap_or(0);
        let mut at = 0;
        self.0.retain(|d| {
            at += 1;
            at <= last || d.subject != *subject || !matches!(d.verb, Verb::Reorder(_))
        });
        self.add(subject, Verb::Reorder(loops));
    }
}

/// A mark of a loop as a whole.
pub fn mark(kind: LoopKind, var: &str) -> Verb {
    Verb::Mark { kind, var: var.to_string(), factor: None, tail: Tail::Auto }
}

/// A mark of a loop in chunks.
pub fn mark_part(kind: LoopKind, var: &str, factor: Amount) -> Verb {
    Verb::Mark { kind, var: var.to_string(), factor: Some(factor), tail: Tail::Auto }
}

/// A place in a loop.
pub fn site(of: &Subject, var: &str) -> Site {
    Site { func: of.func.clone(), stage: of.stage, var: var.to_string() }
}

/// Returns true for directives about loops, which another stage could have, too.
pub(crate) fn is_of_loops(verb: &Verb) -> bool {
    let stays = matches!(verb, Verb::Specialize(_) | Verb::SpecializeFail(_) | Verb::Float(_) | Verb::Monoid { .. });
    verb.scope() == Scope::Stage && !stays
}

fn is_store(verb: &Verb) -> bool {
    matches!(verb, Verb::StoreRoot | Verb::StoreAt(_) | Verb::HoistStorageRoot | Verb::HoistStorage(_))
}

fn is_place(verb: &Verb) -> bool {
    is_store(verb) || matches!(verb, Verb::ComputeRoot | Verb::Memoize | Verb::ComputeAt(_) | Verb::ComputeInline)
}
