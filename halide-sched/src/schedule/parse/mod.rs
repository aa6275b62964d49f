//! The text form of schedules: the one parser. [`super::print`] is its inverse.
//!
//! ```text
//! schedule  = { subject ":" { directive } }              a run of directives goes on over lines; # begins a comment
//! subject   = func [ ".update(" k ")" ] { ".specialize(" condition ")" }
//! func      = name { ".in(" funcs ")" | ".clone_in(" funcs ")" | ".rfactor(" names ")" }
//! directive = word "(" arguments ")"                     the parentheses may be left out where they are empty
//! name      = identifiers joined by dots, or any text in double quotes
//! ```
//!
//! A subject makes what it speaks of: `f.specialize(p > 3):` opens that specialisation unless it is open, and
//! `g.in(f):` makes that wrapper unless it is made. (`f.rfactor(u)` is only the name of what the directive makes.)

mod condition;
mod directive;
mod hints;
mod text;

use super::directive::*;
use super::list::Schedule;
use halide_core::error::Location;
use halide_ir::spelling::closest;
use std::fmt;
use text::{Func, Text};

/// Every word that begins a directive.
pub fn directive_words() -> &'static [&'static str] {
    &directive::WORDS
}

/// Everything that is wrong with a text that should be a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseErrors(pub Vec<ParseError>);

/// One thing that is wrong with a text that should be a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The place in the text.
    pub at: Location,
    /// The message: what was expected, and what is there.
    pub message: String,
    /// The remedy, if one is known.
    pub help: Option<String>,
}

impl std::str::FromStr for Schedule {
    type Err = ParseErrors;
    fn from_str(text: &str) -> Result<Schedule, ParseErrors> {
        Schedule::parse(text, "schedule")
    }
}

impl Schedule {
    /// Reads the text form; `file` names the text in places of errors.
    pub fn parse(text: &str, file: &str) -> Result<Schedule, ParseErrors> {
        let mut reader = Reader { text: Text::new(text, file), schedule: Schedule::new(), subject: Current::None };
        let mut errors = Vec::new();
        while !reader.text.at_end() {
            let start = reader.text.position();
            if let Err(error) = reader.item() {
                errors.push(error);
                reader.text.skip_item(start);
            }
        }
        if errors.is_empty() { Ok(reader.schedule) } else { Err(ParseErrors(errors)) }
    }
}

impl std::str::FromStr for Condition {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Condition, ParseError> {
        let mut text = Text::new(text, "condition");
        let condition = condition::condition(&mut text)?;
        if text.at_end() { Ok(condition) } else { Err(text.expected("the end of the condition")) }
    }
}

/// The names of the wrappers and clones that the name of a Func speaks of, from the innermost on; empty if it is an
/// ordinary name.
pub(super) fn wrappers_named(name: &str) -> Vec<String> {
    let mut text = Text::new(name, "");
    match text.func("") {
        Ok(func) if text.at_end() && func.name == name => func.makes.into_iter().map(|(.., made)| made).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if `name` is one that a directive gives to the Func that it makes.
pub(super) fn is_made_name(name: &str) -> bool {
    let mut text = Text::new(name, "");
    text.func("").is_ok_and(|func| text.at_end() && func.name == name && func.is_made)
}

struct Reader<'t> {
    text: Text<'t>,
    schedule: Schedule,
    subject: Current,
}

/// The subject whose directives are read.
enum Current {
    None,
    /// The subject could not be read; its directives are read for their errors only.
    Broken,
    Of(Subject),
}

impl Reader<'_> {
    /// A subject or a directive.
    fn item(&mut self) -> Result<(), ParseError> {
        let at = self.text.location();
        let func = match self.text.func("a directive or the name of a Func") {
            Ok(func) => func,
            Err(error) => {
                self.subject = Current::Broken;
                return Err(error);
            }
        };
        let is_directive = self.text.sees("(") || (directive::takes_nothing(&func.name) && !self.text.sees_any(":."));
        if !is_directive {
            self.subject = Current::Broken;
            return self.subject(func, at);
        }
        let verbs = directive::directive(&mut self.text, &func.name, at)?;
        match &self.subject {
            Current::Of(subject) => {
                for verb in verbs {
                    self.schedule.push(Directive { subject: subject.clone(), verb, at: Some(at) });
                }
                Ok(())
            }
            Current::Broken => Ok(()),
            Current::None => {
                self.subject = Current::Broken;
                let message = format!("expected the name of a Func and `:` before `{}`", func.name);
                Err(ParseError { at, message, help: None })
            }
        }
    }

    fn subject(&mut self, func: Func, at: Location) -> Result<(), ParseError> {
        let mut made = Vec::new();
        for (base, verb, name) in func.makes {
            if !self.schedule.makes_func(&name) {
                made.push(Directive { subject: Subject::func(base), verb, at: Some(at) });
            }
        }
        made.into_iter().for_each(|d| self.schedule.push(d));
        let mut subject = Subject::func(func.name);
        if self.text.take(".update(") {
            subject.stage = self.text.count("the number of an update")?.saturating_add(1);
            self.text.expect(")")?;
        }
        while self.text.take(".specialize(") {
            let index = match self.text.index_before_paren() {
                Some(index) => index,
                None => {
                    let condition = condition::condition(&mut self.text)?;
                    self.text.expect(")")?;
                    self.open(&subject, condition, at)
                }
            };
            subject.specializations.push(index);
        }
        if !self.text.take(":") {
            return Err(self.not_a_subject(&subject, at));
        }
        self.subject = Current::Of(subject);
        Ok(())
    }

    /// The number of the specialisation of `subject` for `condition`, which is opened unless it is open.
    fn open(&mut self, subject: &Subject, condition: Condition, at: Location) -> usize {
        let known = self.schedule.conditions(subject).position(|c| *c == condition);
        known.unwrap_or_else(|| {
            let index = self.schedule.conditions(subject).count();
            self.schedule.push(Directive { subject: subject.clone(), verb: Verb::Specialize(condition), at: Some(at) });
            index
        })
    }

    fn not_a_subject(&self, subject: &Subject, at: Location) -> ParseError {
        let word = closest(&subject.func, directive::WORDS).filter(|_| subject.stage == 0);
        let known = directive::WORDS.contains(&subject.func.as_str());
        let found = self.text.found();
        match word {
            _ if known => ParseError {
                at: self.text.location(),
                message: format!("expected `(` after `{}`, found {found}", subject.func),
                help: None,
            },
            Some(word) => ParseError {
                at,
                message: format!("expected a directive or `{}:`, found {found} after it", subject.func),
                help: Some(format!("did you mean `{word}(...)`?")),
            },
            None => ParseError {
                at: self.text.location(),
                message: format!("expected `:` after `{}`, found {found}", subject.func),
                help: None,
            },
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl fmt::Display for ParseErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let line = if i == 0 { "" } else { "\n" };
            write!(f, "{line}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}
impl std::error::Error for ParseErrors {}
