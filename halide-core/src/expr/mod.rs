//! Operators and functions on expressions, as users write them. Nothing here fails; a mistake makes a poisoned node
//! that `Pipeline::new` reports.

mod coords;
pub mod dynamic;
mod fixed_point;
mod functions;
mod into;
mod lerp;
mod make;
mod note;
mod operators;
mod random;
mod sites;

pub use crate::arena::Expr;
pub use coords::Coords;
pub use fixed_point::*;
pub use functions::*;
pub use into::IntoExpr;
pub use lerp::lerp;
pub(crate) use make::{
    as_type, binary, check_coords, element, is_literal, likely as likely_at, scalar, select as select_at,
    tuple as tuple_at, unary,
};
pub use note::*;
pub use random::*;
pub use sites::*;

use crate::arena::{self, Ty};
use crate::error::Location;
use crate::types::ScalarType;

impl Expr {
    /// The type of its value; `None` for a tuple or a mistake.
    pub fn ty(self) -> Option<ScalarType> {
        match arena::node(self).ty {
            Ty::One(ty) => Some(ty),
            _ => None,
        }
    }
    /// Element `i` of a tuple value.
    #[track_caller]
    pub fn at(self, i: usize) -> Expr {
        make::element(self, i, Location::caller())
    }
}
