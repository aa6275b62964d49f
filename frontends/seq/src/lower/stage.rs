//! Funcs that are computed as a whole, and what is checked before a run.

use super::size::Size;
use crate::span::Span;

/// The orders in which a reduction may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Any: it gives the same.
    Free,
    /// Any that gives the same but for rounding.
    Relaxed,
    /// From the first element to the last.
    Fixed,
}

/// The kinds of Funcs that are computed as a whole.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Role {
    /// Elements that are stored because they are read at data, or more than once.
    Elements,
    /// Results.
    Output,
    /// A reduction over variable `domain.x`; `is_whole` if that runs over all of the domain.
    Fold { order: Order, is_whole: bool },
    /// A scan.
    Scan,
    /// Updates at data, or in rows.
    Scatter,
    /// Rounds of a def that calls itself.
    Rounds,
}

/// A Func that is computed as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Its variables, innermost first.
    pub(crate) dims: Vec<String>,
    /// The variables of the reduction domain of each update, innermost first.
    pub(crate) domains: Vec<Vec<String>>,
}

/// Lengths that must be equal, or not below 0, before a run.
pub(crate) struct Check {
    pub(crate) span: Span,
    pub(crate) primitive: &'static str,
    pub(crate) first: Size,
    /// The other length; `None` asks that the first is not below 0.
    pub(crate) other: Option<Size>,
}
