//! Names of Funcs: those of the pipeline, and those that directives give to the Funcs that they make.

use super::error::ParseError;
use super::text::{NameText, Text, is_plain, quote, separated};
use crate::tuning::MOST_WRAPPERS;
use halide_core::error::Location;
use std::fmt;

/// The name of a Func.
pub(super) struct Func {
    pub(super) name: String,
    /// For every wrapper and clone in it, from the innermost on, the directive that makes it.
    pub(super) makes: Vec<Maker>,
    /// True if it is a name that a directive gives.
    pub(super) is_made: bool,
}

/// A directive that makes a wrapper or a clone.
pub(super) struct Maker {
    /// The Func that is wrapped or cloned.
    pub(super) of: String,
    /// True if it is cloned.
    pub(super) clones: bool,
    /// The Funcs that use what is made.
    pub(super) consumers: Vec<String>,
    /// The name of what is made.
    pub(super) name: String,
}

impl Text<'_> {
    /// The name of a Func, also of one that a directive makes.
    pub(super) fn func(&mut self, what: &str) -> Result<Func, ParseError> {
        let at = self.location();
        self.open_names = 0;
        self.func_at(what, at).map(|(func, _)| func)
    }

    /// A Func, and its name as it stands in the names of what is made of it. Funcs in its name count for the Func that
    /// begins `at`.
    fn func_at(&mut self, what: &str, at: Location) -> Result<(Func, String), ParseError> {
        let mut func = Func { name: self.name(what)?, makes: Vec::new(), is_made: false };
        let mut text = Part(&func.name).to_string();
        loop {
            let suffixes = [".rfactor(", ".total(", ".carry(", ".clone_in(", ".in("];
            let suffix = suffixes.into_iter().find(|suffix| self.sees(suffix));
            let Some(suffix) = suffix else { return Ok((func, text)) };
            // Each level of names in names, in quotes or not, has a parenthesis more, so this bounds the stack, too.
            self.open_names += 1;
            if self.open_names + parentheses(&text) > MOST_WRAPPERS {
                return Err(too_many_wrappers(at));
            }
            self.take(suffix);
            if [".rfactor(", ".total(", ".carry("].contains(&suffix) {
                let vars = self.items(")", |text| text.name("a variable"))?;
                text = format!("{text}{suffix}{})", separated(vars.iter().map(|name| NameText(name))));
            } else {
                let consumers = self.list(|text| text.func_at("the name of a Func", at))?;
                self.expect(")")?;
                text = format!("{text}{suffix}{})", separated(consumers.iter().map(|(_, text)| text)));
                let consumers = consumers.into_iter().map(|(func, _)| func.name).collect();
                let clones = suffix == ".clone_in(";
                func.makes.push(Maker { of: func.name, clones, consumers, name: text.clone() });
            }
            self.open_names -= 1;
            if parentheses(&text) > MOST_WRAPPERS {
                return Err(too_many_wrappers(at));
            }
            func.name = text.clone();
            func.is_made = true;
        }
    }

    /// The number of a stage, of which the name of its Func has been read: `.update(1)`, or nothing for 0.
    pub(super) fn update(&mut self) -> Result<usize, ParseError> {
        if !self.take(".update(") {
            return Ok(0);
        }
        let stage = self.count("the number of an update")?.saturating_add(1);
        self.expect(")")?;
        Ok(stage)
    }
}

fn too_many_wrappers(at: Location) -> ParseError {
    let message = format!("the name of this Func has more than {MOST_WRAPPERS} wrappers in it");
    ParseError { at, message, help: Some("make fewer wrappers of wrappers".to_string()) }
}

/// The names of the wrappers and clones that the name of a Func speaks of, from the innermost on; empty if it is an
/// ordinary name.
pub(super) fn wrappers_named(name: &str) -> Vec<String> {
    let func = made(name).map(|func| func.makes).unwrap_or_default();
    func.into_iter().map(|made| made.name).collect()
}

/// Returns true if `name` is one that a directive gives to the Func that it makes, and that text says without quotes.
pub(super) fn is_made_name(name: &str) -> bool {
    made(name).is_some()
}

/// The Func whose name reads as that of one that a directive makes.
fn made(name: &str) -> Option<Func> {
    if !(1..=MOST_WRAPPERS).contains(&parentheses(name)) {
        return None;
    }
    let mut text = Text::new(name, "");
    text.func("").ok().filter(|func| text.at_end() && func.name == name && func.is_made)
}

/// The parentheses that are opened in a name, of which each wrapper has one.
fn parentheses(name: &str) -> usize {
    name.matches('(').count()
}

/// The name of the wrapper that `in_` makes of `func` for `consumers`.
pub fn wrapper_name(func: &str, consumers: &[String]) -> String {
    format!("{}.in({})", Part(func), separated(consumers.iter().map(|name| Part(name))))
}

/// The name of the copy that `clone_in` makes of `func` for `consumers`.
pub fn clone_name(func: &str, consumers: &[String]) -> String {
    format!("{}.clone_in({})", Part(func), separated(consumers.iter().map(|name| Part(name))))
}

/// The name of the Func that `rfactor` makes of an update of `func` for the new variables `vars`.
pub fn rfactor_name(func: &str, vars: &[String]) -> String {
    format!("{}.rfactor({})", Part(func), separated(vars.iter().map(|name| NameText(name))))
}

/// The name of the Func of the reductions of all chunks that `rfactor` makes of a scan of `func`.
pub fn total_name(func: &str, var: &str) -> String {
    format!("{}.total({})", Part(func), NameText(var))
}

/// The name of the Func of what comes into each chunk that `rfactor` makes of a scan of `func`.
pub fn carry_name(func: &str, var: &str) -> String {
    format!("{}.carry({})", Part(func), NameText(var))
}

/// The name of a Func in the name of another one: as [`FuncText`], but as it is beyond the limit of the text, since
/// quotes in quotes would double it with each wrapper.
struct Part<'a>(&'a str);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if parentheses(self.0) > MOST_WRAPPERS { f.write_str(self.0) } else { write!(f, "{}", FuncText(self.0)) }
    }
}

/// The name of a Func: as it is if it reads as a name or as a wrapper of one, else in quotes.
pub(crate) struct FuncText<'a>(pub(crate) &'a str);

impl fmt::Display for FuncText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.0) || is_made_name(self.0) { f.write_str(self.0) } else { quote(f, self.0) }
    }
}

/// A stage as text.
pub(super) struct StageText<'a>(pub(super) &'a str, pub(super) usize);

impl fmt::Display for StageText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", FuncText(self.0))?;
        update_suffix(f, self.1)
    }
}

/// Writes what follows the name of a Func in the name of a stage.
pub(super) fn update_suffix(f: &mut fmt::Formatter<'_>, stage: usize) -> fmt::Result {
    if stage > 0 { write!(f, ".update({})", stage - 1) } else { Ok(()) }
}
