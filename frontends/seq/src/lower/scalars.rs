//! Operators, and the choice of arms.

use super::size::Size;
use super::state::{Domain, Leaf, Lower, Pull, Result, Sym};
use crate::primitive::Primitive;
use crate::span::Span;
use crate::types::Type;
use crate::walk::{Flow, Value};
use halide::prelude::{IntoExpr, cast_to, select};
use halide_core::expr::dynamic;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use std::rc::Rc;

/// One arm, or several arms joined: what each of the results of a round is.
struct Round {
    /// The condition of another round.
    again: Leaf,
    arguments: Option<Vec<Sym>>,
    done: Option<Sym>,
}

impl Lower {
    /// A scalar argument.
    pub(crate) fn scalar(&self, value: &Value<Sym>, span: Span) -> Result<Leaf> {
        match value {
            Value::Data(Sym::Scalar(leaf)) => Ok(leaf.clone()),
            _ => self.confuse(span),
        }
    }

    pub(crate) fn operator(
        &mut self,
        primitive: Primitive,
        arguments: &[Value<Sym>],
        result: &Type,
        span: Span,
    ) -> Result<Sym> {
        let leaves: Result<Vec<Leaf>> = arguments.iter().map(|argument| self.scalar(argument, span)).collect();
        let leaves = leaves?;
        let Type::Scalar(ty) = result else { return self.confuse(span) };
        let a = leaves[0].expr;
        let expr = match primitive {
            Primitive::Cast(ty) => cast_to(ty, a),
            Primitive::Unary(op) => dynamic::unary(op, a),
            Primitive::Binary(op @ (BinOp::Shl | BinOp::Shr)) => {
                dynamic::binary(op, a, cast_to(ScalarType::signed(leaves[0].ty.bits()), leaves[1].expr))
            }
            Primitive::Binary(op) => dynamic::binary(op, a, leaves[1].expr),
            Primitive::Math(function) => {
                let mut operands = [a; 3];
                operands.iter_mut().zip(&leaves).for_each(|(operand, leaf)| *operand = leaf.expr);
                dynamic::math(function, operands)
            }
            _ => return self.confuse(span),
        };
        // The absolute value of a signed integer has the unsigned type.
        let expr = if expr.ty() == Some(*ty) { expr } else { cast_to(*ty, expr) };
        let mut leaf = Leaf::computed(expr, *ty, &leaves.iter().collect::<Vec<_>>());
        if let (Primitive::Binary(op), [Some(a), Some(b)], ScalarType::I32) =
            (primitive, &[leaves[0].size.clone(), leaves.last().and_then(|leaf| leaf.size.clone())], ty)
            && Size::has(op)
        {
            leaf.size = Some(Size::binary(op, a.clone(), b.clone()));
        }
        if leaf.depths == super::state::Depths::NONE && leaves.iter().all(|leaf| leaf.at.is_some() && leaf.weight == 0)
        {
            leaf = Leaf { weight: 0, ..Leaf::constant(expr, *ty, leaf.size) };
        }
        Ok(Sym::Scalar(leaf))
    }

    /// The value of the arm that `condition` says.
    pub(crate) fn either(
        &mut self,
        condition: &Leaf,
        then: Flow<Sym>,
        otherwise: Flow<Sym>,
        span: Span,
    ) -> Result<Flow<Sym>> {
        if let (Flow::Done(then), Flow::Done(otherwise)) = (&then, &otherwise) {
            return Ok(Flow::Done(self.select(condition, then, otherwise, span)?));
        }
        let (then, otherwise) = (round(then), round(otherwise));
        let again = self.select_leaf(condition, &then.again, &otherwise.again);
        let arguments = match (then.arguments, otherwise.arguments) {
            (Some(a), Some(b)) => {
                let all: Result<Vec<Sym>> = a.iter().zip(&b).map(|(a, b)| self.select(condition, a, b, span)).collect();
                Some(all?)
            }
            (a, b) => a.or(b),
        };
        let done = match (then.done, otherwise.done) {
            (Some(a), Some(b)) => Some(self.select(condition, &a, &b, span)?),
            (a, b) => a.or(b),
        };
        match (arguments, done) {
            (Some(arguments), Some(done)) => Ok(Flow::Either { again: Sym::Scalar(again), arguments, done }),
            (Some(arguments), None) => Ok(Flow::Again(arguments)),
            (None, Some(done)) => Ok(Flow::Done(done)),
            (None, None) => self.confuse(span),
        }
    }

    pub(crate) fn select_leaf(&self, condition: &Leaf, a: &Leaf, b: &Leaf) -> Leaf {
        let expr = select(condition.expr, a.expr, b.expr);
        Leaf::computed(expr, a.ty, &[condition, a, b])
    }

    /// `a` where the condition holds, else `b`.
    pub(crate) fn select(&mut self, condition: &Leaf, a: &Sym, b: &Sym, span: Span) -> Result<Sym> {
        match (a, b) {
            (Sym::Scalar(a), Sym::Scalar(b)) => Ok(Sym::Scalar(self.select_leaf(condition, a, b))),
            (Sym::Tuple(a), Sym::Tuple(b)) => {
                let parts: Result<_> = a.iter().zip(b).map(|(a, b)| self.select(condition, a, b, span)).collect();
                Ok(Sym::Tuple(parts?))
            }
            (Sym::Seq(a), Sym::Seq(b)) if Rc::ptr_eq(a, b) => Ok(Sym::Seq(a.clone())),
            (Sym::Seq(a), Sym::Seq(b)) if a.domain.same(&b.domain) => {
                let condition = self.readable(condition, span)?;
                let depths = a.depths.with(b.depths).with(condition.depths);
                let (domain, a, b): (Domain, _, _) = (a.domain.clone(), a.element.clone(), b.element.clone());
                let element: super::state::Element = Rc::new(move |lower, position| {
                    let (a, b) = (a(lower, position)?, b(lower, position)?);
                    lower.select(&condition, &a, &b, span)
                });
                Ok(Sym::Seq(Rc::new(Pull { domain, depths, element })))
            }
            (Sym::Seq(_), Sym::Seq(_)) => self.unsupported(span, "a choice between sequences of different lengths"),
            _ => self.confuse(span),
        }
    }
}

fn round(flow: Flow<Sym>) -> Round {
    let truth = |value: bool| Leaf::constant(value.expr(), ScalarType::Bool, None);
    match flow {
        Flow::Done(done) => Round { again: truth(false), arguments: None, done: Some(done) },
        Flow::Again(arguments) => Round { again: truth(true), arguments: Some(arguments), done: None },
        Flow::Either { again: Sym::Scalar(again), arguments, done } => {
            Round { again, arguments: Some(arguments), done: Some(done) }
        }
        Flow::Either { arguments, done, .. } => {
            Round { again: truth(true), arguments: Some(arguments), done: Some(done) }
        }
    }
}
