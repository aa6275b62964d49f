//! Values that can stand in an expression.

use crate::arena::{self, Expr, Kind, Literal, Ty};
use crate::error::Location;
use crate::types::ScalarType;
use crate::value::{Scalar, bf16, f16};
use crate::var::Var;

/// A value that can stand in an expression: an expression, variable, parameter or literal.
pub trait IntoExpr: Copy {
    /// Converts to an expression.
    fn expr(self) -> Expr;
}

/// Makes `0u32.into()` an expression, which the compiler suggests where an expression is assigned.
macro_rules! conversions {
    ($($rust:ty),*) => {$(
        impl From<$rust> for Expr {
            #[track_caller]
            fn from(value: $rust) -> Expr {
                value.expr()
            }
        }
    )*};
}

conversions!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, f16, bf16, Var, &Expr);

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
