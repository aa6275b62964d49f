//! Nodes of expressions under construction.

use super::expr::Expr;
use super::func::FuncBody;
use super::image::ImageBody;
use super::param::ParamData;
use super::rdom::RDomBody;
use crate::error::AlgorithmError;
use crate::location::Location;
use crate::names::Name;
use crate::ops::{BinOp, MathFn, UnOp};
use crate::pipeline::node::DimField;
use crate::pipeline::note::NoteDef;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::rc::Rc;

/// The type of a node's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ty {
    One(ScalarType),
    /// A tuple.
    Many(Rc<[ScalarType]>),
    /// Poisoned, or not known yet.
    None,
}

/// A literal of Rust, which takes the type of the other operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Literal {
    Int(i128),
    Float(f64),
}

#[derive(Clone)]
pub(crate) enum Kind {
    Const(Scalar),
    Literal(Literal),
    Var(Name),
    RVar(Rc<RDomBody>, u8),
    Param(Rc<ParamData>),
    ImageDim(Rc<ImageBody>, u8, DimField),
    Unary(UnOp, Expr),
    Binary(BinOp, Expr, Expr),
    Select(Expr, Expr, Expr),
    Cast(Expr),
    SaturatingCast(Expr),
    Reinterpret(Expr),
    Math(MathFn, Vec<Expr>),
    /// A read of a Func, or of all its elements if it is a tuple; and how many definitions it had then.
    Call(Rc<FuncBody>, Vec<Expr>, usize),
    Element(Expr, usize),
    Image(Rc<ImageBody>, Vec<Expr>),
    Likely(Expr),
    /// The same as `Likely`, if the innermost loop runs over it.
    LikelyIfInnermost(Expr),
    /// The operand, whose float operations stay as they are.
    Strict(Expr),
    /// The absence of a value: nothing is stored.
    Undef,
    /// The contents of an output's buffer before the run, of tuple element `.0`; made when `Undef` is frozen.
    Before(u8),
    /// The second operand; a requirement that the first holds, or a line printed where it does. The parts are shown.
    Note(Rc<NoteDef>, Expr, Expr, Vec<Expr>),
    /// 32 random bits, the same for the same seed, place and coordinates.
    Random(Expr),
    Tuple(Vec<Expr>),
    /// One value for each site of an update: `scatter` and `gather`.
    Sites(Vec<Expr>),
    /// The old value on a left side of a Func that has no definition yet: the identity of the operator.
    Undefined(Rc<FuncBody>),
    /// A mistake, its own or those of its operands, all of which it keeps so that theirs are reported too.
    Poison(Option<Rc<AlgorithmError>>, Vec<Expr>),
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) ty: Ty,
    pub(crate) at: Location,
}

/// The operands of a node; not what the Funcs and domains it mentions reach.
pub(crate) fn operands(kind: &Kind, out: &mut Vec<Expr>) {
    match kind {
        Kind::Call(_, args, _) | Kind::Image(_, args) => out.extend(args),
        Kind::RVar(..) | Kind::ImageDim(..) | Kind::Undefined(_) => {}
        other => children(other, out),
    }
}

/// The node's kind with each operand replaced.
pub(crate) fn map_operands(kind: Kind, mut f: impl FnMut(Expr) -> Expr) -> Kind {
    let mut all = |args: Vec<Expr>| args.into_iter().map(&mut f).collect::<Vec<_>>();
    match kind {
        Kind::Math(op, args) => Kind::Math(op, all(args)),
        Kind::Call(body, args, defs) => Kind::Call(body, all(args), defs),
        Kind::Image(body, args) => Kind::Image(body, all(args)),
        Kind::Tuple(args) => Kind::Tuple(all(args)),
        Kind::Sites(args) => Kind::Sites(all(args)),
        Kind::Poison(error, args) => Kind::Poison(error, all(args)),
        Kind::Unary(op, a) => Kind::Unary(op, f(a)),
        Kind::Cast(a) => Kind::Cast(f(a)),
        Kind::SaturatingCast(a) => Kind::SaturatingCast(f(a)),
        Kind::Reinterpret(a) => Kind::Reinterpret(f(a)),
        Kind::Likely(a) => Kind::Likely(f(a)),
        Kind::LikelyIfInnermost(a) => Kind::LikelyIfInnermost(f(a)),
        Kind::Strict(a) => Kind::Strict(f(a)),
        Kind::Random(a) => Kind::Random(f(a)),
        Kind::Element(a, i) => Kind::Element(f(a), i),
        Kind::Binary(op, a, b) => Kind::Binary(op, f(a), f(b)),
        Kind::Select(c, a, b) => Kind::Select(f(c), f(a), f(b)),
        Kind::Note(note, c, a, parts) => Kind::Note(note, f(c), f(a), parts.into_iter().map(f).collect()),
        leaf @ (Kind::Const(_)
        | Kind::Literal(_)
        | Kind::Var(_)
        | Kind::RVar(..)
        | Kind::Param(_)
        | Kind::ImageDim(..)
        | Kind::Undef
        | Kind::Before(_)
        | Kind::Undefined(_)) => leaf,
    }
}

/// Direct children of a node, and the definitions that it reaches.
pub(crate) fn children(kind: &Kind, out: &mut Vec<Expr>) {
    match kind {
        Kind::Undef | Kind::Before(_) => {}
        Kind::Const(_) | Kind::Literal(_) | Kind::Var(_) | Kind::Param(_) => {}
        Kind::ImageDim(body, ..) => body.exprs(out),
        Kind::RVar(body, _) => body.exprs(out),
        Kind::Unary(_, a) | Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) => out.push(*a),
        Kind::LikelyIfInnermost(a) | Kind::Strict(a) => out.push(*a),
        Kind::Likely(a) | Kind::Random(a) | Kind::Element(a, _) => out.push(*a),
        Kind::Binary(_, a, b) => out.extend([*a, *b]),
        Kind::Select(c, a, b) => out.extend([*c, *a, *b]),
        Kind::Note(_, c, a, parts) => {
            out.extend([*c, *a]);
            out.extend(parts);
        }
        Kind::Math(_, args) | Kind::Tuple(args) | Kind::Sites(args) | Kind::Poison(_, args) => out.extend(args),
        Kind::Image(body, args) => {
            out.extend(args);
            body.exprs(out);
        }
        Kind::Call(body, args, _) => {
            out.extend(args);
            body.exprs(out);
        }
        Kind::Undefined(body) => body.exprs(out),
    }
}
