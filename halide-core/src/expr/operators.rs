//! Operator overloads for expressions, variables, parameters and literals.

use super::{Expr, IntoExpr, binary, unary};
use crate::error::Location;
use crate::ops::{BinOp, UnOp};
use crate::param::Param;
use crate::rdom::RVar;
use crate::value::{Element, Scalar, bf16, f16};
use crate::var::Var;
use std::ops::*;

macro_rules! operators {
    ($($Trait:ident $method:ident $AssignTrait:ident $assign:ident $op:ident;)*) => {$(
        operators!(@left $Trait $method $op; Expr, Var, RVar);
        impl<T: Element, R: IntoExpr> $Trait<R> for Param<T>
        where
            Scalar: From<T>,
        {
            type Output = Expr;
            #[track_caller]
            fn $method(self, right: R) -> Expr {
                binary(BinOp::$op, self.expr(), right.expr(), Location::caller())
            }
        }
        operators!(@literal $Trait $method $op; bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);
        impl<R: IntoExpr> $AssignTrait<R> for Expr {
            #[track_caller]
            fn $assign(&mut self, right: R) {
                *self = binary(BinOp::$op, *self, right.expr(), Location::caller());
            }
        }
    )*};
    (@left $Trait:ident $method:ident $op:ident; $($left:ty),*) => {$(
        impl<R: IntoExpr> $Trait<R> for $left {
            type Output = Expr;
            #[track_caller]
            fn $method(self, right: R) -> Expr {
                binary(BinOp::$op, IntoExpr::expr(self), right.expr(), Location::caller())
            }
        }
    )*};
    (@literal $Trait:ident $method:ident $op:ident; $($left:ty),*) => {$(
        operators!(@pair $Trait $method $op; $left, Expr);
        operators!(@pair $Trait $method $op; $left, Var);
        operators!(@pair $Trait $method $op; $left, RVar);
        impl<T: Element> $Trait<Param<T>> for $left
        where
            Scalar: From<T>,
        {
            type Output = Expr;
            #[track_caller]
            fn $method(self, right: Param<T>) -> Expr {
                binary(BinOp::$op, self.expr(), right.expr(), Location::caller())
            }
        }
    )*};
    (@pair $Trait:ident $method:ident $op:ident; $left:ty, $right:ty) => {
        impl $Trait<$right> for $left {
            type Output = Expr;
            #[track_caller]
            fn $method(self, right: $right) -> Expr {
                binary(BinOp::$op, self.expr(), IntoExpr::expr(right), Location::caller())
            }
        }
    };
}

operators! {
    Add add AddAssign add_assign Add;
    Sub sub SubAssign sub_assign Sub;
    Mul mul MulAssign mul_assign Mul;
    Div div DivAssign div_assign Div;
    Rem rem RemAssign rem_assign Mod;
    BitAnd bitand BitAndAssign bitand_assign BitAnd;
    BitOr bitor BitOrAssign bitor_assign BitOr;
    BitXor bitxor BitXorAssign bitxor_assign BitXor;
    Shl shl ShlAssign shl_assign Shl;
    Shr shr ShrAssign shr_assign Shr;
}

macro_rules! prefix {
    ($($Trait:ident $method:ident $op:ident;)*) => {$(
        prefix!(@one $Trait $method $op; Expr, Var, RVar);
        impl<T: Element> $Trait for Param<T>
        where
            Scalar: From<T>,
        {
            type Output = Expr;
            #[track_caller]
            fn $method(self) -> Expr {
                unary(UnOp::$op, self.expr(), Location::caller())
            }
        }
    )*};
    (@one $Trait:ident $method:ident $op:ident; $($left:ty),*) => {$(
        impl $Trait for $left {
            type Output = Expr;
            #[track_caller]
            fn $method(self) -> Expr {
                unary(UnOp::$op, IntoExpr::expr(self), Location::caller())
            }
        }
    )*};
}

prefix! {
    Neg neg Neg;
    Not not Not;
}
