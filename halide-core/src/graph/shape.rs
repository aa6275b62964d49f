//! Rules for the caller's buffers under construction.

use super::expr::Expr;
use crate::location::Location;
use crate::pipeline::node::DimField;
use std::cell::RefCell;

/// The rules of a Func or an image under construction.
#[derive(Default)]
pub(crate) struct OpenShape {
    pub(crate) rules: RefCell<Vec<OpenRule>>,
    pub(crate) alignments: RefCell<Vec<(u64, Location)>>,
    pub(crate) estimates: RefCell<Vec<(usize, i32, i32, Location)>>,
}

#[derive(Clone)]
pub(crate) struct OpenRule {
    pub(crate) dim: usize,
    pub(crate) field: DimField,
    pub(crate) law: OpenLaw,
    pub(crate) at: Location,
}

#[derive(Clone, Copy)]
pub(crate) enum OpenLaw {
    Is(Expr),
    MultipleOf(i64),
}

impl OpenShape {
    /// Every expression in the rules.
    pub(crate) fn exprs(&self, out: &mut Vec<Expr>) {
        out.extend(self.rules.borrow().iter().filter_map(|rule| match rule.law {
            OpenLaw::Is(e) => Some(e),
            OpenLaw::MultipleOf(_) => None,
        }));
    }
}
