//! The names that the text of a schedule gives to numbers.

use super::error::ParseError;
use super::values::Amount;
use halide_core::error::Location;
use halide_ir::spelling::closest;
use std::collections::BTreeMap;

/// The names that a text gives to numbers, and what they are to be instead.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    known: BTreeMap<String, (Amount, Location)>,
    /// Numbers from outside of the text, which count instead of those that it says.
    set: BTreeMap<String, Amount>,
}

impl Numbers {
    pub(super) fn new(set: BTreeMap<String, Amount>) -> Numbers {
        Numbers { known: BTreeMap::new(), set }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Amount> {
        self.known.get(name).map(|(amount, _)| amount)
    }

    /// Adds the definition of `name` that stands at `at`.
    pub(super) fn define(&mut self, name: &str, amount: Amount, at: Location) -> Result<(), ParseError> {
        let amount = self.set.get(name).cloned().unwrap_or(amount);
        match self.known.insert(name.to_string(), (amount, at)) {
            None => Ok(()),
            Some((_, first)) => Err(ParseError {
                at,
                message: format!("the number `{name}` is defined twice, first at {first}"),
                help: Some("give the second one another name".to_string()),
            }),
        }
    }

    /// The errors of numbers that were set from outside and that the text does not define.
    pub(super) fn unknown(&self, file: &str) -> Vec<ParseError> {
        let names = || self.known.keys().map(String::as_str);
        let unknown = self.set.keys().filter(|name| !self.known.contains_key(*name));
        let error = |name: &String| ParseError {
            at: Location::in_text(file, 1, 1),
            message: format!("the schedule defines no number `{name}`"),
            help: Some(match (closest(name, names()), names().next()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, Some(_)) => format!("it defines {}", names().collect::<Vec<_>>().join(", ")),
                (None, None) => format!("add `let {name} = NUMBER` to its text"),
            }),
        };
        unknown.map(error).collect()
    }
}
