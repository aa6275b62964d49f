//! Coordinates, and tuple values.

use super::into::IntoExpr;
use super::make;
use crate::arena::Expr;
use crate::error::Location;

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
