//! Pure variables.

use crate::arena::{self, Expr, Kind, Ty};
use crate::error::Location;
use crate::types::ScalarType;

/// A pure variable: a name for a coordinate. Two variables of one name are the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Var {
    name: u32,
    here: std::marker::PhantomData<*const ()>,
}

impl Var {
    /// The variable called `name`.
    pub fn new(name: impl AsRef<str>) -> Var {
        Var { name: arena::intern(name.as_ref()), here: std::marker::PhantomData }
    }
    /// Its name.
    pub fn name(self) -> String {
        arena::name_of(self.name).to_string()
    }
    /// The variable as an i32 index value.
    #[track_caller]
    pub fn expr(self) -> Expr {
        arena::add(Kind::Var(self.name), Ty::One(ScalarType::I32), Location::caller())
    }
}

/// Declares variables named after themselves: `let (x, y) = vars!(x, y);`, `let x = vars!(x);`.
#[macro_export]
macro_rules! vars {
    ($x:ident $(,)?) => { $crate::Var::new(stringify!($x)) };
    ($($x:ident),+ $(,)?) => { ($($crate::Var::new(stringify!($x))),+) };
}
