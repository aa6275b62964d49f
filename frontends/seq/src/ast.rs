//! The tree of a proc, which its text and Rust closures both become.

use crate::primitive::Primitive;
use crate::span::Span;
use halide_core::ops::{BinOp, UnOp};
use std::sync::Arc;

/// The number of a node in its module: types are kept by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

/// A name as the user wrote it.
pub(crate) type Name = Arc<str>;

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    /// Its number.
    pub(crate) id: NodeId,
    /// The place where it begins.
    pub(crate) span: Span,
    /// The number of expressions inside of each other, from it on.
    pub(crate) height: usize,
    /// Its form.
    pub(crate) kind: ExprKind,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// A variable, a def, or a primitive by its name.
    Name(Name),
    /// A primitive that the syntax stands for.
    Primitive(Primitive),
    /// An integer, of the type that its use asks for.
    Int(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// `True` or `False`.
    Bool(bool),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `lambda x: e`, also the body of a comprehension.
    Lambda(Arc<Function>),
    /// `f(a, b)`
    Call(Box<Expr>, Vec<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `-a`, `~a`
    Unary(UnOp, Box<Expr>),
    /// `a + b`
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `a if c else b`; also `a and b`, which is `b if a else False`, `a or b` and `not a`.
    If { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
}

/// The target of a parameter or an assignment: a name, or a tuple of these.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    /// One name.
    Name(Name, NodeId, Span),
    /// The elements of a tuple.
    Tuple(Vec<Pattern>, Span),
}

/// A def or a lambda.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Its number.
    pub(crate) id: NodeId,
    /// Its name; `lambda` for those without.
    pub(crate) name: Name,
    /// The place of its name, or of the word `lambda`.
    pub(crate) span: Span,
    /// Its parameters in order.
    pub(crate) params: Vec<Pattern>,
    /// Its statements; the last one returns.
    pub(crate) body: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// A def inside of another.
    Def(Arc<Function>),
    /// `pattern = value`
    Let(Pattern, Expr),
    /// `if`, both of whose arms return: the last statement.
    If { condition: Expr, then: Vec<Statement>, otherwise: Vec<Statement> },
    /// `return value`
    Return(Expr),
}

impl Pattern {
    /// The place where it begins.
    pub(crate) fn span(&self) -> Span {
        match self {
            Pattern::Name(_, _, span) | Pattern::Tuple(_, span) => *span,
        }
    }

    /// Calls `visit` with every name, from left to right.
    pub(crate) fn names<'a>(&'a self, visit: &mut impl FnMut(&'a Name, NodeId)) {
        match self {
            Pattern::Name(name, id, _) => visit(name, *id),
            Pattern::Tuple(parts, _) => parts.iter().for_each(|part| part.names(visit)),
        }
    }
}

/// Numbers for the nodes of one module.
#[derive(Default)]
pub(crate) struct Numbering(u32);

impl Numbering {
    pub(crate) fn next(&mut self) -> NodeId {
        self.0 += 1;
        NodeId(self.0 - 1)
    }

    pub(crate) fn count(&self) -> usize {
        self.0 as usize
    }
}

impl ExprKind {
    /// The height of an expression of this form.
    pub(crate) fn height(&self) -> usize {
        let inside = match self {
            ExprKind::Name(_) | ExprKind::Primitive(_) | ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => 0,
            ExprKind::Tuple(parts) => parts.iter().map(|part| part.height).max().unwrap_or(0),
            ExprKind::Lambda(function) => function.body.iter().map(Statement::height).max().unwrap_or(0),
            ExprKind::Call(callee, arguments) => {
                arguments.iter().map(|argument| argument.height).fold(callee.height, usize::max)
            }
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => a.height.max(b.height),
            ExprKind::Unary(_, a) => a.height,
            ExprKind::If { condition, then, otherwise } => condition.height.max(then.height).max(otherwise.height),
        };
        inside + 1
    }
}

impl Statement {
    /// The height of its highest expression; that of a def counts for its own calls.
    fn height(&self) -> usize {
        match self {
            Statement::Def(_) => 0,
            Statement::Let(_, value) | Statement::Return(value) => value.height,
            Statement::If { condition, then, otherwise } => {
                then.iter().chain(otherwise).map(Statement::height).fold(condition.height, usize::max)
            }
        }
    }
}
