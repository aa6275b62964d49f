//! The text form of schedules: the one printer. [`Schedule::parse`] is its inverse.

use super::directive::{Directive, Subject, Verb};
use super::func_name::{FuncText, clone_name, is_made_name, update_suffix, wrapper_name, wrappers_named};
use super::list::Schedule;
use super::text::quote;
use std::fmt;

impl fmt::Display for Schedule {
    /// One line per run of directives with the same subject. A directive that opens a specialisation or makes a wrapper
    /// is left out where the next line's subject says as much.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line: Option<&Subject> = None;
        let mut start = "";
        let mut before = Schedule::new();
        for (i, directive) in self.directives().iter().enumerate() {
            let next = self.directives().get(i + 1).map(|d| &d.subject);
            before.push(directive.clone());
            if opened_by_subject(directive, next, &before) {
                // The next line must name its subject, also if the line before it has the same one.
                line = None;
                continue;
            }
            if line == Some(&directive.subject) {
                f.write_str(" ")?;
            } else {
                write!(f, "{start}{}: ", SubjectText(&directive.subject, &before))?;
                line = Some(&directive.subject);
                start = "\n";
            }
            write!(f, "{}", directive.verb)?;
        }
        Ok(())
    }
}

/// Returns true if `directive` only makes what the subject of the directive after it speaks of, so that parsing that
/// subject makes the same directive again. `before` ends with `directive`.
fn opened_by_subject(directive: &Directive, next: Option<&Subject>, before: &Schedule) -> bool {
    let Some(next) = next else { return false };
    let subject = &directive.subject;
    match &directive.verb {
        Verb::Specialize(condition) => {
            let opened = before.opened(subject) - 1;
            let first = before.specialization(subject, condition) == Some(opened);
            let path = [subject.specializations.as_slice(), &[opened]].concat();
            first && *next == Subject { specializations: path, ..subject.clone() }
        }
        Verb::In { consumers } => makes(subject, next, &wrapper_name(&subject.func, consumers), before),
        Verb::CloneIn { consumers } => makes(subject, next, &clone_name(&subject.func, consumers), before),
        _ => false,
    }
}

fn makes(subject: &Subject, next: &Subject, name: &str, before: &Schedule) -> bool {
    let plain = *subject == Subject::func(subject.func.as_str()) && is_made(&subject.func, before);
    plain && next.func == name && is_made_name(name) && before.times_made(name) == 1
}

/// Returns true if the directives of `schedule` make every wrapper that the name `func` speaks of.
fn is_made(func: &str, schedule: &Schedule) -> bool {
    wrappers_named(func).iter().all(|name| schedule.times_made(name) > 0)
}

/// A subject as text. A specialisation is named by its condition as the directives in the schedule opened it, or by its
/// number where no condition, or an earlier one with the same condition, is there.
pub(crate) struct SubjectText<'a>(pub(crate) &'a Subject, pub(crate) &'a Schedule);

impl fmt::Display for SubjectText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SubjectText(subject, schedule) = self;
        // In plain letters, the name of a wrapper that nothing makes would make it when read back.
        if is_made(&subject.func, schedule) {
            write!(f, "{}", FuncText(&subject.func))?;
        } else {
            quote(f, &subject.func)?;
        }
        if subject.updates {
            f.write_str(".updates()")?;
        } else {
            update_suffix(f, subject.stage)?;
        }
        let mut outer = Subject { specializations: Vec::new(), ..(*subject).clone() };
        for &index in &subject.specializations {
            match schedule.first_condition(&outer, index) {
                Some(condition) => write!(f, ".specialize({condition})")?,
                None => write!(f, ".specialize({index})")?,
            }
            outer.specializations.push(index);
        }
        Ok(())
    }
}

impl Schedule {
    /// A subject as the text form of this schedule writes it.
    pub(crate) fn subject_text(&self, subject: &Subject) -> String {
        SubjectText(subject, self).to_string()
    }
}
