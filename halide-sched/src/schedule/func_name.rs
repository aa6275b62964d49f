//! Names of Funcs: those of the pipeline, and those that directives give to the Funcs that they make.

use super::error::ParseError;
use super::text::{NameText, Text, is_plain, quote, separated};
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
        let mut func = Func { name: self.name(what)?, makes: Vec::new(), is_made: false };
        loop {
            if self.take(".rfactor(") {
                func.name = rfactor_name(&func.name, &self.items(")", |text| text.name("a variable"))?);
                func.is_made = true;
                continue;
            }
            let clones = self.sees(".clone_in(");
            if !self.take(".clone_in(") && !self.take(".in(") {
                return Ok(func);
            }
            let consumers = self.list(|text| Ok(text.func("the name of a Func")?.name))?;
            self.expect(")")?;
            let name = if clones { clone_name(&func.name, &consumers) } else { wrapper_name(&func.name, &consumers) };
            func.makes.push(Maker { of: func.name, clones, consumers, name: name.clone() });
            func.name = name;
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

/// The names of the wrappers and clones that the name of a Func speaks of, from the innermost on; empty if it is an
/// ordinary name.
pub(super) fn wrappers_named(name: &str) -> Vec<String> {
    let mut text = Text::new(name, "");
    match text.func("") {
        Ok(func) if text.at_end() && func.name == name => func.makes.into_iter().map(|made| made.name).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if `name` is one that a directive gives to the Func that it makes.
fn is_made_name(name: &str) -> bool {
    let mut text = Text::new(name, "");
    text.func("").is_ok_and(|func| text.at_end() && func.name == name && func.is_made)
}

/// The name of the wrapper that `in_` makes of `func` for `consumers`.
pub fn wrapper_name(func: &str, consumers: &[String]) -> String {
    format!("{}.in({})", FuncText(func), separated(consumers.iter().map(|name| FuncText(name))))
}

/// The name of the copy that `clone_in` makes of `func` for `consumers`.
pub fn clone_name(func: &str, consumers: &[String]) -> String {
    format!("{}.clone_in({})", FuncText(func), separated(consumers.iter().map(|name| FuncText(name))))
}

/// The name of the Func that `rfactor` makes of an update of `func` for the new variables `vars`.
pub fn rfactor_name(func: &str, vars: &[String]) -> String {
    format!("{}.rfactor({})", FuncText(func), separated(vars.iter().map(|name| NameText(name))))
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
