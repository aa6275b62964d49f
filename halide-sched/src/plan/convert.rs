//! Numbers and conditions of directives as loop IR.

use super::diagnostics::Problem;
use super::query::{image_buffer, output_buffer};
use crate::schedule::{Amount, CompareOp, Condition, Term, closest};
use halide_core::ids::{FuncId, ParamId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{DimField, Pipeline};
use halide_core::types::ScalarType;
use halide_ir::target::Target;
use halide_ir::{Expr, Sym, build};

/// Factors, lanes and extents stay below this, so that products of a few of them do not overflow.
const MOST: i64 = i32::MAX as i64;

/// A factor or extent of `func` as a scalar Index: at least `least`, where that is known.
pub(super) fn amount(
    pipeline: &Pipeline,
    target: &Target,
    func: FuncId,
    what: &'static str,
    least: i64,
    amount: &Amount,
) -> Result<Expr, Problem> {
    match amount {
        Amount::Const(value) => in_range(what, least, *value).map(build::int),
        Amount::Natural => {
            let types = &pipeline.funcs[func].types;
            let lanes = types.iter().map(|t| target.natural_lanes(*t)).min();
            Ok(build::int(lanes.unwrap_or(1)))
        }
        Amount::Param(name) => integer_param(pipeline, name),
    }
}

/// `value` if it is one that a directive may have.
pub(super) fn in_range(what: &'static str, least: i64, value: i64) -> Result<i64, Problem> {
    match value {
        _ if value < least => Err(Problem::TooSmall { what, value, least }),
        _ if value > MOST => Err(Problem::TooLarge { what, value, most: MOST }),
        _ => Ok(value),
    }
}

fn param(pipeline: &Pipeline, name: &str) -> Result<(ParamId, ScalarType), Problem> {
    let found = pipeline.params.enumerate().find(|(_, p)| p.name == name);
    found.map(|(id, p)| (id, p.ty)).ok_or_else(|| {
        let near = closest(name, pipeline.params.iter().map(|p| p.name.as_str()));
        Problem::UnknownParam { name: name.to_string(), near: near.map(str::to_string) }
    })
}

fn integer_param(pipeline: &Pipeline, name: &str) -> Result<Expr, Problem> {
    let (id, ty) = param(pipeline, name)?;
    if ty.is_int() {
        Ok(build::to_index(build::param(id, ty)))
    } else {
        Err(Problem::ParamType { name: name.to_string(), ty, needed: "an integer" })
    }
}

/// A condition as scalar `Bool`.
pub(super) fn condition(pipeline: &Pipeline, c: &Condition) -> Result<Expr, Problem> {
    Ok(match c {
        Condition::Compare(op, a, b) => build::binary(compare(*op), term(pipeline, a)?, term(pipeline, b)?),
        Condition::Param(name) => {
            let (id, ty) = param(pipeline, name)?;
            if ty != ScalarType::Bool {
                return Err(Problem::ParamType { name: name.clone(), ty, needed: "a bool" });
            }
            build::param(id, ty)
        }
        Condition::And(a, b) => build::and(condition(pipeline, a)?, condition(pipeline, b)?),
        Condition::Or(a, b) => build::or(condition(pipeline, a)?, condition(pipeline, b)?),
        Condition::Not(a) => build::not(condition(pipeline, a)?),
        Condition::Invalid(message) => return Err(Problem::BadCondition { message: message.clone() }),
    })
}

fn compare(op: CompareOp) -> BinOp {
    match op {
        CompareOp::Eq => BinOp::Eq,
        CompareOp::Ne => BinOp::Ne,
        CompareOp::Lt => BinOp::Lt,
        CompareOp::Le => BinOp::Le,
        CompareOp::Gt => BinOp::Gt,
        CompareOp::Ge => BinOp::Ge,
    }
}

fn term(pipeline: &Pipeline, t: &Term) -> Result<Expr, Problem> {
    match t {
        Term::Const(value) => Ok(build::int(*value)),
        Term::Param(name) => integer_param(pipeline, name),
        Term::Dim(name, field, dim) => dimension(pipeline, name, *field, *dim),
        Term::Binary(op, a, b) => {
            let (a, b) = (term(pipeline, a)?, term(pipeline, b)?);
            match op {
                '+' => Ok(build::add(a, b)),
                '-' => Ok(build::sub(a, b)),
                '*' => Ok(build::mul(a, b)),
                '/' => Ok(build::div(a, b)),
                '%' => Ok(build::rem(a, b)),
                _ => Err(Problem::BadCondition { message: format!("`{op}` is no operator of numbers") }),
            }
        }
    }
}

fn dimension(pipeline: &Pipeline, name: &str, field: DimField, dim: usize) -> Result<Expr, Problem> {
    let image = pipeline.images.enumerate().find(|(_, i)| i.name == name).map(|(id, i)| (image_buffer(id), i.dims));
    let output = || {
        let func = pipeline.outputs.iter().copied().find(|&f| pipeline.funcs[f].name == name)?;
        Some((output_buffer(pipeline, func)?, pipeline.funcs[func].dims()))
    };
    let Some((buf, dims)) = image.or_else(output) else {
        let outputs = pipeline.outputs.iter().map(|&f| pipeline.funcs[f].name.as_str());
        let near = closest(name, pipeline.images.iter().map(|i| i.name.as_str()).chain(outputs)).map(str::to_string);
        return Err(Problem::UnknownBuffer { name: name.to_string(), near });
    };
    if dim >= dims {
        return Err(Problem::NoSuchDim { name: name.to_string(), dim, dims });
    }
    Ok(build::sym(Sym::Buffer { buf, dim: dim as u16, field }))
}
