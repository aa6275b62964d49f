//! Tokens to trees: expressions, by precedence as in Python.

use super::lex::Token;
use super::parse::{Parser, Result};
use crate::ast::{Expr, ExprKind, Function, Pattern, Statement};
use crate::primitive::Primitive;
use crate::span::Span;
use crate::tuning::MOST_HEIGHT;
use halide_core::ops::{BinOp, MathFn, UnOp};
use std::sync::Arc;

/// Binary operators from those that bind loosest.
const BINARY: [&[(&str, BinOp)]; 6] = [
    &[("|", BinOp::BitOr)],
    &[("^", BinOp::BitXor)],
    &[("&", BinOp::BitAnd)],
    &[("<<", BinOp::Shl), (">>", BinOp::Shr)],
    &[("+", BinOp::Add), ("-", BinOp::Sub)],
    &[("*", BinOp::Mul), ("//", BinOp::Div), ("/", BinOp::Div), ("%", BinOp::Mod)],
];

const COMPARISONS: [(&str, BinOp); 6] =
    [("<=", BinOp::Le), (">=", BinOp::Ge), ("==", BinOp::Eq), ("!=", BinOp::Ne), ("<", BinOp::Lt), (">", BinOp::Gt)];

impl Parser {
    fn node(&mut self, span: Span, kind: ExprKind) -> Expr {
        let height = kind.height();
        if height <= MOST_HEIGHT {
            return Expr { id: self.numbering.next(), span, height, kind };
        }
        // What is too high is left out, and told once.
        self.too_high(span);
        Expr { id: self.numbering.next(), span, height: 1, kind: ExprKind::Int(0) }
    }

    /// `then if condition else otherwise`
    fn choice(&mut self, condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        let span = condition.span;
        let [condition, then, otherwise] = [condition, then, otherwise].map(Box::new);
        self.node(span, ExprKind::If { condition, then, otherwise })
    }

    /// `left and right`
    fn both(&mut self, left: Expr, right: Expr) -> Expr {
        let no = self.node(right.span, ExprKind::Bool(false));
        self.choice(left, right, no)
    }

    /// `lambda x: e`, `a if c else b`, or what binds tighter.
    pub(super) fn expression(&mut self) -> Result<Expr> {
        self.deeper(|parser| {
            if parser.is_mark("lambda") {
                return parser.lambda();
            }
            let then = parser.any_of()?;
            if !parser.skip("if") {
                return Ok(then);
            }
            let condition = parser.any_of()?;
            parser.expect("else", "`else` after the condition")?;
            let otherwise = parser.expression()?;
            Ok(parser.choice(condition, then, otherwise))
        })
    }

    /// Reads the other elements of a tuple without brackets, if there are any.
    pub(super) fn tuple_from(&mut self, first: Expr) -> Result<Expr> {
        if !self.is_mark(",") {
            return Ok(first);
        }
        let (span, mut parts) = (first.span, vec![first]);
        while self.skip(",") {
            if matches!(self.peek(), Token::Newline | Token::End | Token::Dedent | Token::Mark(")")) {
                break;
            }
            parts.push(self.expression()?);
        }
        Ok(self.node(span, ExprKind::Tuple(parts)))
    }

    fn lambda(&mut self) -> Result<Expr> {
        let span = self.span();
        self.take();
        let params = self.patterns(":")?;
        self.expect(":", "`:` after the parameters of a lambda")?;
        self.check_names(&params);
        let body = self.expression()?;
        let id = self.numbering.next();
        let function = Function { id, name: "lambda".into(), span, params, body: vec![Statement::Return(body)] };
        Ok(self.node(span, ExprKind::Lambda(Arc::new(function))))
    }

    fn any_of(&mut self) -> Result<Expr> {
        let mut left = self.all_of()?;
        while self.skip("or") {
            let (span, right) = (self.span(), self.all_of()?);
            let yes = self.node(span, ExprKind::Bool(true));
            left = self.choice(left, yes, right);
        }
        Ok(left)
    }

    fn all_of(&mut self) -> Result<Expr> {
        let mut left = self.negation()?;
        while self.skip("and") {
            let right = self.negation()?;
            left = self.both(left, right);
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expr> {
        let span = self.span();
        if !self.skip("not") {
            return self.comparison();
        }
        let inner = self.deeper(|parser| parser.negation())?;
        let (no, yes) = (self.node(span, ExprKind::Bool(false)), self.node(span, ExprKind::Bool(true)));
        Ok(self.choice(inner, no, yes))
    }

    /// `a < b`, also as a chain: `a <= b < c` is `a <= b and b < c`.
    fn comparison(&mut self) -> Result<Expr> {
        let mut left = self.binary(0)?;
        let mut chain: Option<Expr> = None;
        while let Some(op) = self.operator(&COMPARISONS) {
            let right = self.binary(0)?;
            let span = left.span;
            let compared = self.node(span, ExprKind::Binary(op, Box::new(left), Box::new(right.clone())));
            chain = Some(match chain {
                None => compared,
                Some(before) => self.both(before, compared),
            });
            left = right;
        }
        Ok(chain.unwrap_or(left))
    }

    /// Passes one of `operators`.
    fn operator(&mut self, operators: &[(&str, BinOp)]) -> Option<BinOp> {
        let (_, op) = operators.iter().find(|(mark, _)| self.is_mark(mark))?;
        self.take();
        Some(*op)
    }

    fn binary(&mut self, level: usize) -> Result<Expr> {
        let Some(operators) = BINARY.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(op) = self.operator(operators) {
            let right = self.binary(level + 1)?;
            let span = left.span;
            left = self.node(span, ExprKind::Binary(op, Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        let span = self.span();
        let op = match self.peek() {
            Token::Mark("-") => UnOp::Neg,
            Token::Mark("~") => UnOp::Not,
            _ => return self.power(),
        };
        self.take();
        let inner = self.deeper(|parser| parser.unary())?;
        Ok(self.node(span, ExprKind::Unary(op, Box::new(inner))))
    }

    /// `a ** b`, which binds tighter than a sign on its left and looser than one on its right.
    fn power(&mut self) -> Result<Expr> {
        let base = self.postfix()?;
        if !self.skip("**") {
            return Ok(base);
        }
        let exponent = self.deeper(|parser| parser.unary())?;
        let span = base.span;
        let pow = self.node(span, ExprKind::Primitive(Primitive::Math(MathFn::Pow)));
        Ok(self.node(span, ExprKind::Call(Box::new(pow), vec![base, exponent])))
    }

    fn postfix(&mut self) -> Result<Expr> {
        let mut value = self.atom()?;
        loop {
            let span = value.span;
            if self.skip("(") {
                let arguments = self.deeper(|parser| parser.elements(")"))?;
                self.expect(")", "`,` or `)` after an argument")?;
                value = self.node(span, ExprKind::Call(Box::new(value), arguments));
            } else if self.skip("[") {
                let index = self.expression()?;
                self.expect("]", "`]` after an index")?;
                value = self.node(span, ExprKind::Index(Box::new(value), Box::new(index)));
            } else {
                return Ok(value);
            }
        }
    }

    /// Expressions between commas, up to `end`.
    fn elements(&mut self, end: &str) -> Result<Vec<Expr>> {
        let mut all = Vec::new();
        while !self.is_mark(end) {
            all.push(self.expression()?);
            if !self.skip(",") {
                break;
            }
        }
        Ok(all)
    }

    fn atom(&mut self) -> Result<Expr> {
        let span = self.span();
        let kind = match self.peek().clone() {
            Token::Name(name) => ExprKind::Name(name),
            Token::Int(value) => ExprKind::Int(value),
            Token::Float(value) => ExprKind::Float(value),
            Token::Mark("True") => ExprKind::Bool(true),
            Token::Mark("False") => ExprKind::Bool(false),
            Token::Mark("(") => return self.brackets(),
            Token::Mark("[") => return self.comprehension(),
            _ => return self.unexpected("an expression"),
        };
        self.take();
        Ok(self.node(span, kind))
    }

    /// `(e)`, or a tuple.
    fn brackets(&mut self) -> Result<Expr> {
        let span = self.span();
        self.take();
        self.deeper(|parser| {
            if parser.skip(")") {
                return Ok(parser.node(span, ExprKind::Tuple(Vec::new())));
            }
            let first = parser.expression()?;
            let value = parser.tuple_from(first)?;
            parser.expect(")", "`,` or `)`")?;
            Ok(value)
        })
    }

    /// `[e for x in xs]`, which is `map(lambda x: e, xs)`; `x` may be any pattern.
    fn comprehension(&mut self) -> Result<Expr> {
        let span = self.span();
        self.take();
        self.deeper(|parser| {
            let body = parser.expression()?;
            parser.expect("for", "`for` in a comprehension")?;
            let mut params = parser.patterns("in")?;
            parser.expect("in", "`in` in a comprehension")?;
            parser.check_names(&params);
            let over = parser.expression()?;
            parser.expect("]", "`]` after a comprehension")?;
            if params.len() > 1 {
                params = vec![Pattern::Tuple(params, span)];
            }
            let id = parser.numbering.next();
            let function = Function { id, name: "lambda".into(), span, params, body: vec![Statement::Return(body)] };
            let lambda = parser.node(span, ExprKind::Lambda(Arc::new(function)));
            let map = parser.node(span, ExprKind::Primitive(Primitive::Map));
            Ok(parser.node(span, ExprKind::Call(Box::new(map), vec![lambda, over])))
        })
    }
}
