//! Pure variables.

use crate::arena::{self, Expr, Kind, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::names::Name;
use crate::types::ScalarType;
use std::fmt;
use std::marker::PhantomData;

/// A pure variable: a name for a coordinate. Two variables of one name are the same.
///
/// ```
/// use halide_core::{Func, Pipeline, Var, vars};
/// let (x, y) = vars!(x, y);
/// assert_eq!(x, Var::new("x"));
/// let mut f = Func::new("f");
/// f[(x, y)] = x + 2 * y;
/// let pipeline = Pipeline::new([&f])?;
/// assert!(pipeline.to_string().contains("func f(x, y): i32"));
/// # Ok::<(), halide_core::error::AlgorithmErrors>(())
/// ```
///
/// A variable with a name of more than 22 bytes that nothing used for a long time is forgotten, like an [`Expr`].
///
/// ```
/// use halide_core::{Func, Var, vars};
/// let (x, y) = vars!(x, y);
/// assert_eq!(x, Var::new("x"));
/// let mut f = Func::new("f");
/// f[(x, y)] = x + 2 * y;
/// assert_eq!(f.args(), [x, y]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Var {
    name: Name,
    /// Long names are kept per thread, so a variable stays on its own.
    here: PhantomData<*const ()>,
}

impl Var {
    /// The variable called `name`.
    pub fn new(name: impl AsRef<str>) -> Var {
        Var { name: arena::intern(name.as_ref()), here: PhantomData }
    }
    /// Its name.
    pub fn name(self) -> String {
        arena::name_of(self.name).to_string()
    }
    /// The variable as an i32 index value.
    #[track_caller]
    pub fn expr(self) -> Expr {
        self.expr_at(Location::caller())
    }
    pub(crate) fn expr_at(self, at: Location) -> Expr {
        match arena::touch(self.name) {
            true => arena::add(Kind::Var(self.name), Ty::One(ScalarType::I32), at),
            false => arena::poison(AlgorithmErrorKind::Stale, at),
        }
    }
    /// The variable that an expression is.
    pub(crate) fn from_expr(e: Expr) -> Option<Var> {
        match arena::node(e).kind {
            Kind::Var(name) => Some(Var { name, here: PhantomData }),
            _ => None,
        }
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Var({})", self.name())
    }
}

/// Declares variables named after themselves: `let (x, y) = vars!(x, y);`, `let x = vars!(x);`.
#[macro_export]
macro_rules! vars {
    ($x:ident $(,)?) => { $crate::var::Var::new(stringify!($x)) };
    ($($x:ident),+ $(,)?) => { ($($crate::var::Var::new(stringify!($x))),+) };
}
