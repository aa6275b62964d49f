//! Conditions of selects on parameters, as conditions of specialisations.

use halide_core::ids::ExprId;
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::{Kind, Pipeline};
use halide_core::types::ScalarType;
use halide_sched::schedule::{CompareOp, Condition, Term};

/// The conditions on parameters that selects of the algorithm ask, as a schedule writes them.
pub fn conditions_of(pipeline: &Pipeline) -> Vec<Condition> {
    let selects = pipeline.exprs.iter().filter_map(|node| match node.kind {
        Kind::Select(condition, ..) => condition_of(pipeline, condition),
        _ => None,
    });
    selects.collect()
}

fn condition_of(pipeline: &Pipeline, e: ExprId) -> Option<Condition> {
    let both = |a, b| Some((Box::new(condition_of(pipeline, a)?), Box::new(condition_of(pipeline, b)?)));
    Some(match &pipeline.exprs[e].kind {
        Kind::Param(p) if pipeline.params[*p].ty == ScalarType::Bool => {
            Condition::Param(pipeline.params[*p].name.clone())
        }
        Kind::Unary(UnOp::Not, a) => Condition::Not(Box::new(condition_of(pipeline, *a)?)),
        Kind::Binary(op, a, b) => {
            let compare = match op {
                BinOp::BitAnd => return both(*a, *b).map(|(a, b)| Condition::And(a, b)),
                BinOp::BitOr => return both(*a, *b).map(|(a, b)| Condition::Or(a, b)),
                BinOp::Eq => CompareOp::Eq,
                BinOp::Ne => CompareOp::Ne,
                BinOp::Lt => CompareOp::Lt,
                BinOp::Le => CompareOp::Le,
                BinOp::Gt => CompareOp::Gt,
                BinOp::Ge => CompareOp::Ge,
                _ => return None,
            };
            Condition::Compare(compare, term_of(pipeline, *a)?, term_of(pipeline, *b)?)
        }
        _ => return None,
    })
}

fn term_of(pipeline: &Pipeline, e: ExprId) -> Option<Term> {
    match &pipeline.exprs[e].kind {
        Kind::Param(p) if pipeline.params[*p].ty.is_int() => Some(Term::Param(pipeline.params[*p].name.clone())),
        Kind::Const(value) if value.ty().is_int() => Some(Term::Const(value.as_i64())),
        _ => None,
    }
}
