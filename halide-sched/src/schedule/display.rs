//! The text of values that directives take as arguments.

use super::func_name::StageText;
use super::text::{NameText, quote};
use super::values::{Amount, Identity, Site, Tail};
use std::fmt;

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", StageText(&self.func, self.stage), NameText(&self.var))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Const(value) => write!(f, "{value}"),
            Amount::Natural => f.write_str("natural"),
            Amount::Param(name) if name == "natural" => quote(f, name),
            Amount::Param(name) => write!(f, "{}", NameText(name)),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::Const(value) => write!(f, "{value}"),
            Identity::Lowest | Identity::Highest => f.write_str(self.word()),
        }
    }
}
