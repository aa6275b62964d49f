//! The primitives of the language: one row each.
//!
//! A primitive's value is defined twice, independently: by the interpreter (`meaning`) and by the pipelines that
//! `lower` makes of procs.

use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType::{self, *};

/// An operation that the language does not define in itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Primitive {
    /// A function of each element of one or more sequences.
    Map,
    /// Sequences to a sequence of tuples.
    Zip,
    /// A sequence of tuples to a tuple of sequences.
    Unzip,
    /// The elements at indices.
    Gather,
    /// The number of elements.
    Length,
    /// The integers from 0 on.
    Range,
    /// One value again and again.
    Replicate,
    /// All elements, combined from the first to the last.
    Reduce,
    /// Prefixes, combined; each with its last element.
    Scan,
    /// Suffixes, combined; each with its first element.
    Rscan,
    /// Elements moved to indices, into a copy of a sequence.
    Scatter,
    /// The elements for which a function says so, in order.
    Filter,
    /// A value made a number of a type.
    Cast(ScalarType),
    /// The operator of two scalars.
    Binary(BinOp),
    /// The operator of one scalar.
    Unary(UnOp),
    /// The function of scalars.
    Math(MathFn),
}

/// A primitive's row.
pub struct Row {
    /// Its name in texts.
    pub name: &'static str,
    /// The primitive.
    pub primitive: Primitive,
    /// Its type; variables that begin with `n` are numbers, with `i` integers, with `r` reals, with `s` scalars, with
    /// `t` truth values or integers. `..` stands for any number of sequences.
    pub scheme: &'static str,
    /// The value, in a line.
    pub meaning: &'static str,
}

const fn row(name: &'static str, primitive: Primitive, scheme: &'static str, meaning: &'static str) -> Row {
    Row { name, primitive, scheme, meaning }
}

const fn binary(name: &'static str, op: BinOp, scheme: &'static str, meaning: &'static str) -> Row {
    row(name, Primitive::Binary(op), scheme, meaning)
}

const fn unary(name: &'static str, op: UnOp, scheme: &'static str, meaning: &'static str) -> Row {
    row(name, Primitive::Unary(op), scheme, meaning)
}

const fn real(name: &'static str, function: MathFn, meaning: &'static str) -> Row {
    row(name, Primitive::Math(function), "(r) -> r", meaning)
}

const fn real2(name: &'static str, function: MathFn, meaning: &'static str) -> Row {
    row(name, Primitive::Math(function), "(r, r) -> r", meaning)
}

const fn cast(name: &'static str, ty: ScalarType, scheme: &'static str) -> Row {
    row(name, Primitive::Cast(ty), scheme, "the value as another type")
}

/// Every primitive.
pub const ROWS: &[Row] = &{
    use BinOp::*;
    use MathFn::*;
    use Primitive::*;
    [
        row("map", Map, "((a ..) -> b, [a] ..) -> [b]", "f(x) of each element"),
        row("zip", Zip, "([a] ..) -> [(a ..)]", "tuples of the elements at one place"),
        row("unzip", Unzip, "([(a, b)]) -> ([a], [b])", "the parts of tuples as sequences"),
        row("gather", Gather, "([a], [Int]) -> [a]", "x[index] for each index"),
        row("length", Length, "([a]) -> Int", "the number of elements"),
        row("range", Range, "(Int) -> [Int]", "0, 1, .. up to n - 1"),
        row("replicate", Replicate, "(a, Int) -> [a]", "a value n times"),
        row("reduce", Reduce, "((b, a) -> b, [a], b) -> b", "f(.. f(f(prefix, x0), x1) .., xn)"),
        row("scan", Scan, "((a, a) -> a, [a]) -> [a]", "x0, f(x0, x1), f(f(x0, x1), x2), .."),
        row("rscan", Rscan, "((a, a) -> a, [a]) -> [a]", ".., f(f(xn, xn-1), xn-2), f(xn, xn-1), xn"),
        row("scatter", Scatter, "([a], [Int], [a]) -> [a]", "y with x[k] at index[k], in order"),
        row("filter", Filter, "((a) -> Bool, [a]) -> [a]", "elements for which f is True, in order"),
        cast("int32", I32, "(s) -> Int"),
        cast("int64", I64, "(s) -> Long"),
        cast("float32", F32, "(s) -> Float"),
        cast("float64", F64, "(s) -> Double"),
        cast("uint32", U32, "(s) -> UInt"),
        binary("op_add", Add, "(n, n) -> n", "sum; integers wrap"),
        binary("op_sub", Sub, "(n, n) -> n", "difference; integers wrap"),
        binary("op_mul", Mul, "(n, n) -> n", "product; integers wrap"),
        binary("op_div", Div, "(n, n) -> n", "quotient; on integers with a remainder of 0 or more, and x / 0 = 0"),
        binary("op_mod", Mod, "(n, n) -> n", "remainder of op_div, 0 or more; x % 0 = 0"),
        binary("op_min", Min, "(n, n) -> n", "the smaller one; NaN loses"),
        binary("op_max", Max, "(n, n) -> n", "the larger one; NaN loses"),
        binary("op_and", BitAnd, "(t, t) -> t", "bitwise and; of Bools, and"),
        binary("op_or", BitOr, "(t, t) -> t", "bitwise or; of Bools, or"),
        binary("op_xor", BitXor, "(t, t) -> t", "bitwise exclusive or"),
        binary("op_lshift", Shl, "(i, i) -> i", "shift to the left; below 0 to the right"),
        binary("op_rshift", Shr, "(i, i) -> i", "shift to the right, of signed integers with their sign"),
        binary("cmp_eq", Eq, "(s, s) -> Bool", "a == b"),
        binary("cmp_ne", Ne, "(s, s) -> Bool", "a != b"),
        binary("cmp_lt", Lt, "(s, s) -> Bool", "a < b"),
        binary("cmp_le", Le, "(s, s) -> Bool", "a <= b"),
        binary("cmp_gt", Gt, "(s, s) -> Bool", "a > b"),
        binary("cmp_ge", Ge, "(s, s) -> Bool", "a >= b"),
        unary("op_neg", UnOp::Neg, "(n) -> n", "-a; integers wrap"),
        unary("op_invert", UnOp::Not, "(t) -> t", "all bits turned; of a Bool, not"),
        unary("abs", UnOp::Abs, "(n) -> n", "the number without its sign; the least integer stays"),
        unary("sqrt", UnOp::Sqrt, "(r) -> r", "square root"),
        unary("floor", UnOp::Floor, "(r) -> r", "the integer below"),
        unary("ceil", UnOp::Ceil, "(r) -> r", "the integer above"),
        real("exp", Exp, "e to the power"),
        real("log", Log, "natural logarithm"),
        real("sin", Sin, "sine"),
        real("cos", Cos, "cosine"),
        real("tan", Tan, "tangent"),
        real("tanh", Tanh, "hyperbolic tangent"),
        real("atan", Atan, "arcus tangent"),
        real("erf", Erf, "error function"),
        real2("pow", Pow, "a to the power b"),
        real2("atan2", Atan2, "angle of the point (b, a)"),
        real2("hypot", Hypot, "length of the vector (a, b)"),
    ]
};

impl Primitive {
    /// Its row, by its name.
    pub fn by_name(name: &str) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.name == name)
    }

    /// Its row.
    pub fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.primitive == self).unwrap_or(&ROWS[0])
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }
}
