//! Operators and functions on expressions, as users write them. Nothing here fails; a mistake makes a poisoned node
//! that `Pipeline::new` reports.

pub mod dynamic;
mod fixed_point;
mod functions;
mod lerp;
mod make;
mod note;
mod operators;
mod random;
mod sites;

pub use crate::arena::Expr;
pub use fixed_point::*;
pub use functions::*;
pub use lerp::lerp;
pub(crate) use make::{
    as_type, binary, check_coords, element, is_literal, likely as likely_at, scalar, scalars, select as select_at,
    tuple as tuple_at, unary,
};
pub use note::*;
pub use random::*;
pub use sites::*;

use crate::arena::{self, Kind, Literal, Ty};
use crate::error::Location;
use crate::types::ScalarType;
use crate::value::{Scalar, bf16, f16};
use crate::var::Var;

/// Anything that can stand in an expression: expressions, variables, parameters, literals.
pub trait IntoExpr: Copy {
    /// It as an expression.
    fn expr(self) -> Expr;
}

impl IntoExpr for Expr {
    fn expr(self) -> Expr {
        self
    }
}

impl IntoExpr for &Expr {
    fn expr(self) -> Expr {
        *self
    }
}

impl IntoExpr for Var {
    #[track_caller]
    fn expr(self) -> Expr {
        Var::expr(self)
    }
}

impl IntoExpr for bool {
    #[track_caller]
    fn expr(self) -> Expr {
        arena::add(Kind::Const(Scalar::bool(self)), Ty::One(ScalarType::Bool), Location::caller())
    }
}

macro_rules! literals {
    ($($rust:ty, $literal:ident, $ty:ident;)*) => {$(
        impl IntoExpr for $rust {
            #[track_caller]
            fn expr(self) -> Expr {
                let literal = Literal::$literal(self.into());
                arena::add(Kind::Literal(literal), Ty::One(ScalarType::$ty), Location::caller())
            }
        }
    )*};
}

literals! {
    i8, Int, I8;
    i16, Int, I16;
    i32, Int, I32;
    i64, Int, I64;
    u8, Int, U8;
    u16, Int, U16;
    u32, Int, U32;
    u64, Int, U64;
    f32, Float, F32;
    f64, Float, F64;
}

impl IntoExpr for f16 {
    #[track_caller]
    fn expr(self) -> Expr {
        arena::add(Kind::Literal(Literal::Float(self.to_f64())), Ty::One(ScalarType::F16), Location::caller())
    }
}

impl IntoExpr for bf16 {
    #[track_caller]
    fn expr(self) -> Expr {
        arena::add(Kind::Literal(Literal::Float(self.to_f64())), Ty::One(ScalarType::BF16), Location::caller())
    }
}

/// Coordinates: one value, a tuple of up to 8, an array, a slice or a vector.
pub trait Coords {
    /// The coordinates in order.
    fn coords(self) -> Vec<Expr>;
}

impl<T: IntoExpr> Coords for T {
    #[track_caller]
    fn coords(self) -> Vec<Expr> {
        vec![self.expr()]
    }
}

impl Coords for () {
    fn coords(self) -> Vec<Expr> {
        Vec::new()
    }
}

impl<T: IntoExpr, const N: usize> Coords for [T; N] {
    #[track_caller]
    fn coords(self) -> Vec<Expr> {
        let mut all = Vec::with_capacity(N);
        for c in self {
            all.push(c.expr());
        }
        all
    }
}

impl<T: IntoExpr> Coords for &[T] {
    #[track_caller]
    fn coords(self) -> Vec<Expr> {
        let mut all = Vec::with_capacity(self.len());
        for c in self {
            all.push(c.expr());
        }
        all
    }
}

impl<T: IntoExpr> Coords for Vec<T> {
    #[track_caller]
    fn coords(self) -> Vec<Expr> {
        self.as_slice().coords()
    }
}

impl<T: IntoExpr> Coords for &Vec<T> {
    #[track_caller]
    fn coords(self) -> Vec<Expr> {
        self.as_slice().coords()
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+);)*) => {$(
        impl<$($name: IntoExpr),+> Coords for ($($name,)+) {
            #[track_caller]
            fn coords(self) -> Vec<Expr> {
                vec![$(self.$index.expr()),+]
            }
        }
        impl<$($name: IntoExpr),+> From<($($name,)+)> for Expr {
            /// A tuple value.
            #[track_caller]
            fn from(values: ($($name,)+)) -> Expr {
                make::tuple(vec![$(values.$index.expr()),+], Location::caller())
            }
        }
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

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
