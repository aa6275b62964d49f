//! The text form of schedules: the one parser. Its inverse is the printer.
//!
//! ```text
//! schedule  = { definition | subject ":" { directive } } a run of directives goes on over lines; # begins a comment
//! subject   = func [ ".update(" k ")" | ".updates()" ] { ".specialize(" condition ")" }
//! func      = name { ".in(" funcs ")" | ".clone_in(" funcs ")" | ".rfactor(" names ")" }
//! directive = word "(" arguments ")"                     the parentheses may be left out where they are empty
//! name      = identifiers joined by dots, or any text in double quotes
//! ```
//!
//! Definitions (`let tile = 32`) and arithmetic of numbers are in [`number`](super::number). `f.updates()` speaks of
//! every update of a Func.
//!
//! A subject makes what it speaks of: `f.specialize(p > 3):` opens that specialisation unless it is open, and
//! `g.in(f):` makes that wrapper unless it is made. (`f.rfactor(u)` is only the name of what the directive makes.)

use super::condition;
use super::definitions::Numbers;
use super::directive::{Directive, Subject, Verb};
use super::error::{ParseError, ParseErrors};
use super::func_name::{Func, Maker};
use super::list::Schedule;
use super::row::{Row, read, row, rows};
use super::text::Text;
use super::values::{Amount, Condition};
use crate::tuning::MOST_SPECIALIZATIONS;
use halide_core::error::Location;
use halide_ir::spelling::closest;

impl std::str::FromStr for Schedule {
    type Err = ParseErrors;
    fn from_str(text: &str) -> Result<Schedule, ParseErrors> {
        Schedule::parse(text, "schedule")
    }
}

impl Schedule {
    /// Reads the text form; `file` names the text in places of errors.
    ///
    /// # Errors
    /// All mistakes of the text, each with its place.
    pub fn parse(text: &str, file: &str) -> Result<Schedule, ParseErrors> {
        Schedule::parse_with(text, file, [] as [(&str, Amount); 0])
    }

    /// Reads the text form with other numbers than those that its `let`s say.
    ///
    /// ```
    /// use halide_sched::schedule::Schedule;
    /// let text = "let rows = 32
    ///             blur: split(y, yo, yi, rows) unroll(x, rows / 8)";
    /// let set = Schedule::parse_with(text, "blur.sched", [("rows", 64)]).unwrap();
    /// assert_eq!(set.to_string(), "blur: split(y, yo, yi, 64) unroll(x, 8)");
    /// ```
    ///
    /// # Errors
    /// All mistakes of the text, and numbers that it does not define.
    pub fn parse_with(
        text: &str,
        file: &str,
        set: impl IntoIterator<Item = (impl Into<String>, impl Into<Amount>)>,
    ) -> Result<Schedule, ParseErrors> {
        let set = set.into_iter().map(|(name, amount)| (name.into(), amount.into())).collect();
        let mut parser = Parser { text: Text::new(text, file), schedule: Schedule::new(), subject: Current::None };
        parser.text.numbers = Numbers::new(set);
        let mut errors = Vec::new();
        while !parser.text.at_end() {
            let start = parser.text.position();
            if let Err(error) = parser.item() {
                errors.push(error);
                parser.text.skip_item(start);
            }
        }
        if errors.is_empty() {
            errors = parser.text.numbers.unknown(file);
        }
        if errors.is_empty() { Ok(parser.schedule) } else { Err(ParseErrors(errors)) }
    }
}

struct Parser<'t> {
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

impl Parser<'_> {
    /// A definition, a subject or a directive.
    fn item(&mut self) -> Result<(), ParseError> {
        if self.text.sees_definition() {
            return self.text.definition().inspect_err(|_| self.subject = Current::Broken);
        }
        let at = self.text.location();
        let func = match self.text.func("a directive or the name of a Func") {
            Ok(func) => func,
            Err(error) => {
                self.subject = Current::Broken;
                return Err(error);
            }
        };
        let bare = row(&func.name).is_some_and(Row::is_bare);
        let is_directive = self.text.sees("(") || (bare && !self.text.sees_any(":."));
        if !is_directive {
            self.subject = Current::Broken;
            return self.subject(func, at);
        }
        let verbs = read(&mut self.text, &func.name, at)?;
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
        for Maker { of, clones, consumers, name } in func.makes {
            if self.schedule.times_made(&name) == 0 {
                let verb = if clones { Verb::CloneIn { consumers } } else { Verb::In { consumers } };
                made.push(Directive { subject: Subject::func(of), verb, at: Some(at) });
            }
        }
        made.into_iter().for_each(|d| self.schedule.push(d));
        let mut subject = Subject::func(func.name);
        if self.text.take(".updates()") {
            subject.updates = true;
        } else {
            subject.stage = self.text.update()?;
        }
        while self.text.take(".specialize(") {
            if subject.specializations.len() == MOST_SPECIALIZATIONS {
                let message =
                    format!("`{}` has more than {MOST_SPECIALIZATIONS} specialisations in each other", subject.func);
                return Err(ParseError { at, message, help: Some("join their conditions by `&&`".to_string()) });
            }
            let index = match self.text.index_before_paren() {
                Some(index) => index,
                None => {
                    let condition = condition::read(&mut self.text)?;
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
        self.schedule.specialization(subject, &condition).unwrap_or_else(|| {
            let index = self.schedule.opened(subject);
            self.schedule.push(Directive { subject: subject.clone(), verb: Verb::Specialize(condition), at: Some(at) });
            index
        })
    }

    fn not_a_subject(&self, subject: &Subject, at: Location) -> ParseError {
        let word = closest(&subject.func, rows().map(|row| row.word)).filter(|_| subject.stage == 0);
        let known = row(&subject.func).is_some();
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
