//! Rewrite rules of data arithmetic, boolean algebra and selects, as tables.
//!
//! A rule is a row: a name, the types it is for, a left side, a right side, and sometimes a condition. In the sides,
//! `x y z` stand for any expression of one type, `p q r` for conditions, `c d` for constants of the type of `x`; a
//! number is that value in the type of `x`. Every operation is in parentheses. Both operand orders of a commutative
//! operator match. `README.md` states the laws; `tests` hold every row to them.

mod add_sub;
mod boolean;
mod compare;
mod div_mod;
mod min_max;
mod mul;
mod select;
#[cfg(test)]
mod tests;

use super::facts::Facts;
use super::range::Range;
use crate::tuning::FIRST_CONDITION;
use halide_core::ops::{BinOp, UnOp};
use halide_core::value::Scalar;
use halide_ir::build::{self, as_bool, as_const, as_int};
use halide_ir::{Elem, Expr, ExprKind};
use smallvec::{SmallVec, smallvec};

/// One row.
pub(super) struct Rule {
    /// The name of the rule, which says what it does; unique in its table. Only tests read it.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(super) name: &'static str,
    /// The types of `x` that it is for.
    class: Class,
    left: Pattern,
    right: Pattern,
    /// The condition that must hold beside the shape.
    when: fn(&Match) -> bool,
}

/// Element types that rules are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// Wrapping integers.
    Int,
    /// Signed wrapping integers.
    Signed,
    /// Unsigned wrapping integers.
    Unsigned,
    /// Wrapping integers and Index.
    Whole,
    /// IEEE floats.
    Float,
    /// Integers and floats.
    Number,
    /// Everything.
    Any,
}

impl Class {
    fn holds(self, elem: Elem) -> bool {
        let Elem::Data(ty) = elem else { return matches!(self, Class::Whole | Class::Any) };
        match self {
            Class::Int | Class::Whole => ty.is_int(),
            Class::Signed => ty.is_signed_int(),
            Class::Unsigned => ty.is_unsigned_int(),
            Class::Float => ty.is_float(),
            Class::Number => ty.is_int() || ty.is_float(),
            Class::Any => true,
        }
    }
}

/// One side of a rule.
enum Pattern {
    /// An expression; the same number stands for the same one. 0 to 2 are `x y z`; 3 to 5 are `p q r`, conditions.
    Any(usize),
    /// A constant of the type of `x`.
    Constant(usize),
    /// This value in the type of `x`.
    Value(i64),
    /// This truth.
    Truth(bool),
    Unary(UnOp, &'static Pattern),
    Binary(BinOp, &'static Pattern, &'static Pattern),
    Select(&'static Pattern, &'static Pattern, &'static Pattern),
}

/// Makes a [`Pattern`].
macro_rules! pattern {
    (x) => { Pattern::Any(0) };
    (y) => { Pattern::Any(1) };
    (z) => { Pattern::Any(2) };
    (p) => { Pattern::Any(3) };
    (q) => { Pattern::Any(4) };
    (r) => { Pattern::Any(5) };
    (c) => { Pattern::Constant(0) };
    (d) => { Pattern::Constant(1) };
    (true) => { Pattern::Truth(true) };
    (false) => { Pattern::Truth(false) };
    ($value:literal) => { Pattern::Value($value) };
    (($($inner:tt)*)) => { pattern!($($inner)*) };
    (neg $a:tt) => { Pattern::Unary(UnOp::Neg, &pattern!($a)) };
    (not $a:tt) => { Pattern::Unary(UnOp::Not, &pattern!($a)) };
    (select $c:tt $a:tt $b:tt) => { Pattern::Select(&pattern!($c), &pattern!($a), &pattern!($b)) };
    ($a:tt + $b:tt) => { Pattern::Binary(BinOp::Add, &pattern!($a), &pattern!($b)) };
    ($a:tt - $b:tt) => { Pattern::Binary(BinOp::Sub, &pattern!($a), &pattern!($b)) };
    ($a:tt * $b:tt) => { Pattern::Binary(BinOp::Mul, &pattern!($a), &pattern!($b)) };
    ($a:tt / $b:tt) => { Pattern::Binary(BinOp::Div, &pattern!($a), &pattern!($b)) };
    ($a:tt % $b:tt) => { Pattern::Binary(BinOp::Mod, &pattern!($a), &pattern!($b)) };
    ($a:tt quot $b:tt) => { Pattern::Binary(BinOp::DivToZero, &pattern!($a), &pattern!($b)) };
    ($a:tt rem $b:tt) => { Pattern::Binary(BinOp::ModToZero, &pattern!($a), &pattern!($b)) };
    ($a:tt min $b:tt) => { Pattern::Binary(BinOp::Min, &pattern!($a), &pattern!($b)) };
    ($a:tt max $b:tt) => { Pattern::Binary(BinOp::Max, &pattern!($a), &pattern!($b)) };
    ($a:tt & $b:tt) => { Pattern::Binary(BinOp::BitAnd, &pattern!($a), &pattern!($b)) };
    ($a:tt | $b:tt) => { Pattern::Binary(BinOp::BitOr, &pattern!($a), &pattern!($b)) };
    ($a:tt ^ $b:tt) => { Pattern::Binary(BinOp::BitXor, &pattern!($a), &pattern!($b)) };
    ($a:tt == $b:tt) => { Pattern::Binary(BinOp::Eq, &pattern!($a), &pattern!($b)) };
    ($a:tt != $b:tt) => { Pattern::Binary(BinOp::Ne, &pattern!($a), &pattern!($b)) };
    ($a:tt < $b:tt) => { Pattern::Binary(BinOp::Lt, &pattern!($a), &pattern!($b)) };
    ($a:tt <= $b:tt) => { Pattern::Binary(BinOp::Le, &pattern!($a), &pattern!($b)) };
    ($a:tt > $b:tt) => { Pattern::Binary(BinOp::Gt, &pattern!($a), &pattern!($b)) };
    ($a:tt >= $b:tt) => { Pattern::Binary(BinOp::Ge, &pattern!($a), &pattern!($b)) };
}

/// Makes a table of [`Rule`]s: `Class "name": (left) => (right) if |m| condition;`
macro_rules! rules {
    ($($class:ident $name:literal: $left:tt => $right:tt $(if $when:expr)?;)*) => {
        &[$($crate::simplify::rules::rule!($class $name: $left => $right $(if $when)?)),*]
    };
}
macro_rules! rule {
    ($class:ident $name:literal: $left:tt => $right:tt) => {
        rule!($class $name: $left => $right if |_| true)
    };
    ($class:ident $name:literal: $left:tt => $right:tt if $when:expr) => {
        Rule { name: $name, class: Class::$class, left: pattern!($left), right: pattern!($right), when: $when }
    };
}
use {pattern, rule, rules};

/// Every table.
pub(super) const TABLES: [&[Rule]; 7] =
    [add_sub::RULES, mul::RULES, div_mod::RULES, min_max::RULES, compare::RULES, boolean::RULES, select::RULES];

/// The expressions and constants that the names of a rule stand for.
pub(super) struct Match<'a> {
    any: [Option<&'a Expr>; 6],
    constants: [Option<&'a Expr>; 2],
    facts: &'a Facts,
}

impl Match<'_> {
    /// The value of `c`; a float's is truncated.
    fn c(&self) -> i128 {
        self.value(0)
    }
    /// The value of `d`.
    fn d(&self) -> i128 {
        self.value(1)
    }
    fn value(&self, i: usize) -> i128 {
        let value = |e: &Expr| as_int(e).map(i128::from).or_else(|| as_const(e).map(Scalar::as_i128));
        self.constants[i].and_then(value).expect("the left side has the constant")
    }
    /// `c` as a float.
    fn float(&self) -> f64 {
        self.constants[0].and_then(as_const).map_or(f64::NAN, Scalar::as_f64)
    }
    /// The range of `x`.
    fn x(&self) -> Range {
        self.facts.range_of(self.any[0].expect("the left side has x"))
    }
    /// The range of `y`.
    fn y(&self) -> Range {
        self.facts.range_of(self.any[1].expect("the left side has y"))
    }
    /// The values of the type of `x`; everything for Index.
    fn all(&self) -> Range {
        let ty = self.any[0].and_then(|x| x.ty().scalar());
        ty.map_or(Range::ALL, Range::of_type)
    }
    /// Returns true if `value` is in the type of `x`.
    fn fits(&self, value: i128) -> bool {
        Range::point(value).within(self.all())
    }
}

/// `e` after the first rule that matches it.
pub(super) fn rewrite(e: &Expr, facts: &Facts) -> Option<Expr> {
    let here = tables(Root::of(e)?);
    here.iter().flat_map(|table| TABLES[*table]).find_map(|rule| apply(rule, e, facts))
}

/// The operation at the root of what a rule is for.
#[derive(Clone, Copy, Debug)]
enum Root {
    Unary(UnOp),
    Binary(BinOp),
    Select,
}

impl Root {
    fn of(e: &Expr) -> Option<Root> {
        match e.kind() {
            ExprKind::Unary(op, _) => Some(Root::Unary(*op)),
            ExprKind::Binary(op, ..) => Some(Root::Binary(*op)),
            ExprKind::Select(..) => Some(Root::Select),
            _ => None,
        }
    }
}

/// The places in [`TABLES`] of the rules for an operation.
fn tables(root: Root) -> &'static [usize] {
    use BinOp::*;
    match root {
        Root::Unary(UnOp::Neg) => &[0, 1],
        Root::Unary(_) => &[],
        Root::Binary(Add | Sub) => &[0],
        Root::Binary(Mul) => &[1],
        Root::Binary(Div | Mod | DivToZero | ModToZero) => &[2],
        Root::Binary(Min | Max) => &[3],
        Root::Binary(Eq | Ne | Lt | Le | Gt | Ge) => &[4],
        Root::Binary(BitAnd | BitOr | BitXor) => &[5],
        Root::Binary(Shl | Shr | Absd) => &[],
        Root::Select => &[6],
    }
}

fn apply(rule: &'static Rule, e: &Expr, facts: &Facts) -> Option<Expr> {
    let alike = match (&rule.left, e.kind()) {
        (Pattern::Binary(op, a, b), ExprKind::Binary(of, x, y)) => {
            op == of && (may_be(a, x) && may_be(b, y) || commutes(*op, x) && may_be(a, y) && may_be(b, x))
        }
        (Pattern::Unary(op, a), ExprKind::Unary(of, x)) => op == of && may_be(a, x),
        (Pattern::Select(c, a, b), ExprKind::Select(k, x, y)) => may_be(c, k) && may_be(a, x) && may_be(b, y),
        _ => false,
    };
    if !alike {
        return None;
    }
    let mut m = Match { any: Default::default(), constants: Default::default(), facts };
    if !matches(rule, smallvec![(&rule.left, e)], &mut m) {
        return None;
    }
    Some(build::broadcast(make(&rule.right, &m), e.lanes()))
}

/// Returns true if `e` may have the shape of a pattern, by a look at its root: most rules end here.
fn may_be(pattern: &Pattern, e: &Expr) -> bool {
    match (pattern, e.kind()) {
        (Pattern::Any(_), _) => true,
        (Pattern::Constant(_) | Pattern::Value(_), _) => as_const(e).is_some() || as_int(e).is_some(),
        (Pattern::Truth(_), _) => as_bool(e).is_some(),
        (Pattern::Unary(op, _), ExprKind::Unary(of, _)) => op == of,
        (Pattern::Binary(op, ..), ExprKind::Binary(of, ..)) => op == of,
        (Pattern::Select(..), ExprKind::Select(..)) => true,
        _ => false,
    }
}

/// Expressions to be held against patterns.
type Work<'a> = SmallVec<[(&'static Pattern, &'a Expr); 8]>;

/// Returns true if every expression of `work` has the shape of its pattern, and the rule's condition holds then. Where
/// operands commute, both orders are tried.
fn matches<'a>(rule: &'static Rule, mut work: Work<'a>, m: &mut Match<'a>) -> bool {
    while let Some((pattern, e)) = work.pop() {
        match (pattern, e.kind()) {
            (Pattern::Any(i), _) => {
                if *i >= FIRST_CONDITION && !e.ty().is_bool() || *m.any[*i].get_or_insert(e) != e {
                    return false;
                }
            }
            (Pattern::Constant(i), _) => {
                let constant = as_const(e).is_some() || as_int(e).is_some();
                if !constant || *m.constants[*i].get_or_insert(e) != e {
                    return false;
                }
            }
            (Pattern::Value(v), _) => {
                if as_int(e) != Some(*v) && as_const(e).is_none_or(|s| s != Scalar::int(s.ty(), *v as i128)) {
                    return false;
                }
            }
            (Pattern::Truth(v), _) if as_bool(e) == Some(*v) => {}
            (Pattern::Unary(op, a), ExprKind::Unary(of, x)) if op == of => work.push((a, x)),
            (Pattern::Select(c, a, b), ExprKind::Select(k, x, y)) => work.extend([(*b, y), (*a, x), (*c, k)]),
            (Pattern::Binary(op, a, b), ExprKind::Binary(of, x, y)) if op == of => {
                if commutes(*op, x) {
                    let before = (m.any, m.constants);
                    let mut first = work.clone();
                    first.extend([(*b, y), (*a, x)]);
                    if matches(rule, first, m) {
                        return true;
                    }
                    (m.any, m.constants) = before;
                    work.extend([(*b, x), (*a, y)]);
                } else {
                    work.extend([(*b, y), (*a, x)]);
                }
            }
            _ => return false,
        }
    }
    m.any[0].is_none_or(|x| rule.class.holds(x.ty().elem)) && (rule.when)(m)
}

/// Returns true if the operands of `op`, of which `x` is one, may change places.
pub(super) fn commutes(op: BinOp, x: &Expr) -> bool {
    let float = x.ty().scalar().is_some_and(|t| t.is_float());
    match op {
        BinOp::Add | BinOp::Mul | BinOp::Eq | BinOp::Ne => true,
        // The order of zeros and NaNs shows.
        BinOp::Min | BinOp::Max => !float,
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => true,
        _ => false,
    }
}

/// The right side, with constants folded.
fn make(pattern: &Pattern, m: &Match) -> Expr {
    match pattern {
        Pattern::Any(i) => m.any[*i].cloned().expect("the left side has the name"),
        Pattern::Constant(i) => m.constants[*i].cloned().expect("the left side has the constant"),
        Pattern::Value(v) => {
            let x = m.any[0].expect("a rule with numbers has x");
            let value = match x.ty().elem {
                Elem::Index => build::int(*v),
                Elem::Data(ty) => build::constant(Scalar::int(ty, *v as i128)),
            };
            build::broadcast(value, x.lanes())
        }
        Pattern::Truth(v) => build::boolean(*v),
        Pattern::Unary(op, a) => build::unary(*op, make(a, m)),
        Pattern::Binary(op, a, b) => build::binary(*op, make(a, m), make(b, m)),
        Pattern::Select(c, a, b) => build::select(make(c, m), make(a, m), make(b, m)),
    }
}
