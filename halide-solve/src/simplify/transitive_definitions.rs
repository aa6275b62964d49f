//! Definitions seen through: the value of a symbol in terms of what its definition's own symbols are defined as, down
//! to where that grows too large.
//!
//! In a chain of a hundred stages each region is defined by the next one's. A proof that puts definitions in place one
//! level at a time takes a hundred rounds; with what is remembered here it takes one.

use super::expr::simplify;
use super::facts::Facts;
use super::walk::nodes;
use crate::tuning::LARGEST_DEFINITION;
use halide_ir::hash::Map;
use halide_ir::visit::{deep, substitute};
use halide_ir::{Expr, Sym};
use std::cell::{OnceCell, RefCell};

/// The distance to which definitions are followed at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The definition as it stands.
    Near,
    /// Its symbols replaced as well, as far as that stays small.
    Far,
}

/// The transitive definitions of symbols, remembered. They hold as long as the definitions do.
#[derive(Default)]
pub struct FarValues {
    found: RefCell<Map<Sym, Expr>>,
    /// Nothing in particular, remembered between simplifications.
    nothing: OnceCell<Box<Facts>>,
}

impl FarValues {
    /// The value of `s` with all that `lookup` defines put in place, unless that is too large: then its definition.
    pub fn of(&self, s: Sym, lookup: &dyn Fn(Sym) -> Option<Expr>) -> Option<Expr> {
        if let Some(known) = self.found.borrow().get(&s) {
            return Some(known.clone());
        }
        let value = lookup(s)?;
        // Asked again on the way, in a circle, a symbol is its definition.
        self.found.borrow_mut().insert(s, value.clone());
        let whole = substitute(&value, &|t| deep(|| self.of(t, lookup)));
        let far = if nodes(&whole, |_| false).len() <= LARGEST_DEFINITION {
            simplify(&whole, self.nothing.get_or_init(Box::default))
        } else {
            value
        };
        self.found.borrow_mut().insert(s, far.clone());
        Some(far)
    }
    /// Forgets what `s` is.
    pub(crate) fn forget(&mut self, s: Sym) {
        self.found.get_mut().remove(&s);
    }
    /// Forgets all.
    pub fn clear(&mut self) {
        self.found.get_mut().clear();
    }
}
