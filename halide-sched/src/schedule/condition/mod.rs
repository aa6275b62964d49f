//! Conditions and amounts: from expressions and parameters of the algorithm language, and as text.

mod read;
mod write;

use crate::tuning::{CONDITION_DEPTH, MOST_CONDITION_OPERATORS};
pub(super) use read::read;

use super::values::{Amount, CompareOp, Condition, Term};
use halide_core::ids::ExprId;
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::{Kind, PipelineData};
use halide_core::types::ScalarType;
use halide_core::value::{Element, Scalar};
use halide_core::{Expr, Func, Param, Pipeline};

impl<T: Element> From<Param<T>> for Amount
where
    Scalar: From<T>,
{
    /// The parameter's value when the pipeline runs.
    fn from(param: Param<T>) -> Amount {
        Amount::Param(param.name())
    }
}

impl From<Param<bool>> for Condition {
    /// The parameter's value when the pipeline runs.
    fn from(param: Param<bool>) -> Condition {
        Condition::Param(param.name())
    }
}

impl From<Expr> for Condition {
    /// A condition on integer and `bool` parameters and the dimensions of input images. Its integers are exact: they do
    /// not wrap. An expression of anything else becomes [`Condition::Invalid`].
    fn from(e: Expr) -> Condition {
        // A Func without dimensions is the way to have an expression checked and its types made explicit.
        let mut func = Func::new("condition");
        func[()] = e;
        let converted = match Pipeline::new([&func]) {
            Ok(pipeline) => {
                let value = pipeline.funcs[pipeline.outputs[0]].stages[0].values[0];
                Reading { p: &pipeline, left: MOST_CONDITION_OPERATORS }.condition(value, CONDITION_DEPTH)
            }
            Err(errors) => Err(errors.0.iter().map(|e| e.kind.reason()).collect::<Vec<_>>().join("; ")),
        };
        converted.unwrap_or_else(Condition::Invalid)
    }
}

fn inside(depth: usize) -> Result<usize, String> {
    depth.checked_sub(1).ok_or_else(|| "it nests too deep".to_string())
}

/// An expression that is read, and the operators that its condition may still have: nodes that are used more than once
/// are copied.
struct Reading<'p> {
    p: &'p PipelineData,
    left: usize,
}

impl Reading<'_> {
    fn operator(&mut self) -> Result<(), String> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| format!("it has more than {MOST_CONDITION_OPERATORS} operators"))?;
        Ok(())
    }

    fn condition(&mut self, e: ExprId, depth: usize) -> Result<Condition, String> {
        let (p, depth) = (self.p, inside(depth)?);
        let node = &p.exprs[e];
        if matches!(node.kind, Kind::Unary(..) | Kind::Binary(..)) {
            self.operator()?;
        }
        let mut of = |e: ExprId| self.condition(e, depth).map(Box::new);
        match &node.kind {
            _ if node.ty != ScalarType::Bool => Err(format!("it is {}, not bool", node.ty)),
            Kind::Const(c) => {
                let op = if c.as_bool() { CompareOp::Eq } else { CompareOp::Ne };
                Ok(Condition::Compare(op, Term::Const(0), Term::Const(0)))
            }
            Kind::Param(param) => Ok(Condition::Param(p.params[*param].name.clone())),
            Kind::Likely(a) => self.condition(*a, depth),
            Kind::Unary(UnOp::Not, a) => Ok(Condition::Not(of(*a)?)),
            Kind::Binary(BinOp::BitAnd, a, b) => Ok(Condition::And(of(*a)?, of(*b)?)),
            Kind::Binary(BinOp::BitOr, a, b) => Ok(Condition::Or(of(*a)?, of(*b)?)),
            Kind::Binary(op, a, b) => {
                let bools = p.exprs[*a].ty == ScalarType::Bool;
                match (comparison(*op), p.exprs[*b].kind.clone()) {
                    (Some(CompareOp::Eq), Kind::Const(c)) if bools => agree(*of(*a)?, c.as_bool()),
                    (Some(CompareOp::Ne), Kind::Const(c)) if bools => agree(*of(*a)?, !c.as_bool()),
                    (Some(op), _) => Ok(Condition::Compare(op, self.term(*a, depth)?, self.term(*b, depth)?)),
                    (None, _) => Err(format!("{op:?} of bools cannot stand in it")),
                }
            }
            _ => Err("only comparisons, bool parameters, and, or and not can stand in it".to_string()),
        }
    }

    fn term(&mut self, e: ExprId, depth: usize) -> Result<Term, String> {
        let (p, depth) = (self.p, inside(depth)?);
        let node = &p.exprs[e];
        if !node.ty.is_int() {
            return Err(format!("only integers can be compared in it, not {}", node.ty));
        }
        if matches!(node.kind, Kind::Unary(..) | Kind::Binary(..)) {
            self.operator()?;
        }
        let mut operation =
            |symbol, a, b| Ok(Term::Binary(symbol, Box::new(self.term(a, depth)?), Box::new(self.term(b, depth)?)));
        match &node.kind {
            Kind::Const(c) => {
                i64::try_from(c.as_i128()).map(Term::Const).map_err(|_| format!("{c} does not fit 64 bits"))
            }
            Kind::Param(param) => Ok(Term::Param(p.params[*param].name.clone())),
            Kind::ImageDim { image, dim, field } => {
                Ok(Term::Dim(p.images[*image].name.clone(), *field, usize::from(*dim)))
            }
            Kind::Likely(a) => self.term(*a, depth),
            Kind::Cast(a) if widens(p.exprs[*a].ty, node.ty) => self.term(*a, depth),
            Kind::Unary(UnOp::Neg, a) => {
                Ok(Term::Binary('-', Box::new(Term::Const(0)), Box::new(self.term(*a, depth)?)))
            }
            Kind::Binary(BinOp::Add, a, b) => operation('+', *a, *b),
            Kind::Binary(BinOp::Sub, a, b) => operation('-', *a, *b),
            Kind::Binary(BinOp::Mul, a, b) => operation('*', *a, *b),
            Kind::Binary(BinOp::Div, a, b) => operation('/', *a, *b),
            Kind::Binary(BinOp::Mod, a, b) => operation('%', *a, *b),
            _ => Err("only integer parameters, dimensions of images, constants and + - * / % can be compared in it"
                .to_string()),
        }
    }
}

fn agree(c: Condition, value: bool) -> Result<Condition, String> {
    Ok(if value { c } else { Condition::Not(Box::new(c)) })
}

fn comparison(op: BinOp) -> Option<CompareOp> {
    match op {
        BinOp::Eq => Some(CompareOp::Eq),
        BinOp::Ne => Some(CompareOp::Ne),
        BinOp::Lt => Some(CompareOp::Lt),
        BinOp::Le => Some(CompareOp::Le),
        BinOp::Gt => Some(CompareOp::Gt),
        BinOp::Ge => Some(CompareOp::Ge),
        _ => None,
    }
}

/// Returns true if every value of `from` is one of `to`.
fn widens(from: ScalarType, to: ScalarType) -> bool {
    let edge = |t: ScalarType| t.int_min().zip(t.int_max()).filter(|_| t.is_int());
    match (edge(from), edge(to)) {
        (Some((from_min, from_max)), Some((to_min, to_max))) => to_min <= from_min && from_max <= to_max,
        _ => false,
    }
}
