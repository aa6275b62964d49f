//! Funcs under construction.

use super::expr::Expr;
use super::shape::OpenShape;
use crate::location::Location;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Alive as long as the user's Func.
pub(crate) struct FuncHandle {
    pub(crate) body: Rc<FuncBody>,
}

/// The body of a Func, which calls point to.
pub(crate) struct FuncBody {
    pub(crate) name: String,
    pub(crate) at: Location,
    pub(crate) defs: RefCell<Vec<Def>>,
    /// The left side that was written but not collected yet.
    pub(crate) open: Cell<Option<Written>>,
    /// The rules and estimates for the caller's buffer, if the Func is an output.
    pub(crate) shape: OpenShape,
}

/// One definition.
#[derive(Clone)]
pub(crate) struct Def {
    pub(crate) args: Vec<Expr>,
    pub(crate) value: Expr,
    pub(crate) written: Written,
}

/// The place in the source and the time (see [`crate::arena::now`]) at which a left side was written.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    pub(crate) at: Location,
    pub(crate) born: u64,
}

impl FuncBody {
    /// A Func without definitions.
    pub(crate) fn new(name: String, at: Location) -> FuncBody {
        FuncBody { name, at, defs: RefCell::default(), open: Cell::new(None), shape: OpenShape::default() }
    }
    /// Appends the expressions of its definitions and rules.
    pub(crate) fn exprs(&self, out: &mut Vec<Expr>) {
        for def in self.defs.borrow().iter() {
            out.extend(&def.args);
            out.push(def.value);
        }
        self.shape.exprs(out);
    }
    /// The number of dimensions, once there is a definition.
    pub(crate) fn dims(&self) -> Option<usize> {
        self.defs.borrow().first().map(|d| d.args.len())
    }
}
