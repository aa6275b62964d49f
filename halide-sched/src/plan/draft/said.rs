//! Answers about a stage that depend on later directives.

use crate::schedule::{Directive, FloatMode, Identity, Schedule, Subject, Verb};

/// The identity that a schedule vouches for in a stage, and whether its operation commutes.
pub(crate) fn said_monoid<'s>(schedule: &'s Schedule, subject: &Subject) -> Option<(&'s [Identity], bool)> {
    let mine = schedule.directives().iter().rev().filter(|d| d.subject == *subject);
    mine.filter_map(|d| match &d.verb {
        Verb::Monoid { identity, commutes } => Some((identity.as_slice(), *commutes)),
        _ => None,
    })
    .next()
}

/// Returns the float mode of a stage after all directives up to number `limit`: that of the stage's last one, else that
/// of its general case when the specialisation was opened.
pub(crate) fn float_mode(schedule: &Schedule, subject: &Subject, limit: usize) -> FloatMode {
    let before = &schedule.directives()[..limit];
    let said = before.iter().rev().filter(|d| d.subject == *subject).find_map(|d| match d.verb {
        Verb::Float(mode) => Some(mode),
        _ => None,
    });
    let Some((&index, outer)) = subject.specializations.split_last() else { return said.unwrap_or_default() };
    let outer = Subject { specializations: outer.to_vec(), ..subject.clone() };
    let opens = |(_, d): &(usize, &Directive)| d.subject == outer && matches!(d.verb, Verb::Specialize(_));
    let opened = before.iter().enumerate().filter(opens).nth(index).map_or(0, |(number, _)| number);
    said.unwrap_or_else(|| float_mode(schedule, &outer, opened))
}
