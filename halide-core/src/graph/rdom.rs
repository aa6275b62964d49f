//! Reduction domains under construction.

use super::expr::Expr;
use super::func::Written;
use crate::location::Location;
use std::cell::Cell;
use std::rc::Rc;

/// A variable of a reduction domain: an i32 index value.
#[derive(Clone, Copy)]
pub struct RVar {
    pub(crate) expr: Expr,
}

pub(crate) struct RDomHandle {
    pub(crate) body: Rc<RDomBody>,
    pub(crate) vars: Vec<RVar>,
}

pub(crate) struct RDomBody {
    pub(crate) name: String,
    pub(crate) dims: Vec<(String, Expr, Expr)>,
    pub(crate) predicate: Cell<Option<Expr>>,
    /// The last restriction.
    pub(crate) restricted: Cell<Option<Written>>,
    /// The user's domain that this one stands for, with a predicate of its own.
    pub(crate) original: Option<Rc<RDomBody>>,
    pub(crate) at: Location,
}

impl RDomBody {
    /// The same domain, to be given a predicate of its own.
    pub(crate) fn copy_of(body: &Rc<RDomBody>) -> RDomBody {
        RDomBody {
            name: body.name.clone(),
            dims: body.dims.clone(),
            predicate: Cell::new(None),
            restricted: Cell::new(None),
            original: Some(body.clone()),
            at: body.at,
        }
    }
    /// The place in the source and the time at which the user restricted it last.
    pub(crate) fn restricted(&self) -> Option<Written> {
        self.original.as_ref().map_or_else(|| self.restricted.get(), |o| o.restricted())
    }
    pub(crate) fn exprs(&self, out: &mut Vec<Expr>) {
        out.extend(self.dims.iter().flat_map(|(_, a, b)| [*a, *b]));
        out.extend(self.predicate.get());
    }
}

impl RDomHandle {
    pub(crate) fn roots(&self, out: &mut Vec<Expr>) {
        self.body.exprs(out);
        out.extend(self.vars.iter().map(|v| v.expr));
    }
}
