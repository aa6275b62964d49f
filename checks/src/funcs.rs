//! Funcs and variables that checks write by hand.

use halide::prelude::*;

/// A variable as an expression.
pub(crate) fn var(name: &str) -> Expr {
    Var::new(name).expr()
}

/// A Func of one value at these coordinates.
pub(crate) fn func(name: &str, vars: &[Expr], value: Expr) -> Func {
    let mut func = Func::new(name);
    func[vars] = value;
    func
}
