//! Procs to pipelines.
//!
//! A walk of the tree with symbolic values ([`state`]): primitives that need one element of their arguments for one of
//! their result compose expressions; the others become Funcs: `fold` has reductions and scans, `moves` what stores at
//! data, `repeat` recursion. [`close`] makes what a map computed a function of its position. At the end `output`
//! defines the outputs, and [`crate::schedule`] says where each Func is computed.

mod close;
mod fold;
mod images;
mod inputs;
mod maps;
mod moves;
mod output;
mod repeat;
mod scalars;
mod size;
mod stage;
mod state;

pub(crate) use images::length_name;
pub(crate) use output::{Out, OutDomain, OutRows};
pub(crate) use size::{Given, Size};
pub(crate) use stage::{Check, Order, Role, Stage};

use crate::ast::Name;
use crate::error::Error;
use crate::fault::{Fault, FaultKind};
use crate::module::Module;
use crate::primitive::Primitive;
use crate::signature::Signature;
use crate::span::Span;
use crate::tuning::MOST_CALLS;
use crate::types::{Type, Variable};
use crate::walk::{self, Flow, Machine, Round, Value};
use halide::prelude::Pipeline;
use halide_core::types::ScalarType::I32;
use halide_core::value::Scalar;
use state::{Leaf, Lower, Result, Sym};
use std::collections::HashMap;
use std::sync::Arc;

/// The pipeline of a proc for one signature.
pub(crate) struct Lowered {
    pub(crate) pipeline: Pipeline,
    pub(crate) stages: Vec<Stage>,
    pub(crate) checks: Vec<Check>,
    pub(crate) result: Out,
    /// The extents of each output Func.
    pub(crate) extents: Vec<Vec<Size>>,
}

/// The pipeline of a module's last def for arguments of `signature`.
///
/// # Errors
/// What no pipeline says.
pub(crate) fn lower(
    module: &Arc<Module>,
    types: HashMap<Variable, Type>,
    signature: &Signature,
) -> std::result::Result<Lowered, Error> {
    let mut lower = Lower::new(images::Images::new(signature), signature);
    let arguments = signature.arguments.iter().map(|form| inputs::argument(&lower.inputs, form)).collect();
    let value = walk::call(&mut lower, module, types, arguments)?;
    let result = lower.output(&value)?;
    let pipeline = Pipeline::new(lower.outputs.iter().map(|(func, _)| &**func).collect::<Vec<_>>())
        .map_err(|errors| Error::Pipeline(halide::Error::from(errors)))?;
    let extents = lower.outputs.into_iter().map(|(_, extents)| extents).collect();
    // What no output needs is not in the pipeline.
    let is_there = |stage: &Stage| pipeline.funcs.iter().any(|func| func.name == stage.name);
    let stages = lower.stages.into_iter().filter(is_there).collect();
    let checks = lower.checks;
    Ok(Lowered { pipeline, stages, checks, result, extents })
}

impl Machine for Lower {
    type Data = Sym;
    type Fault = Fault;

    fn constant(&mut self, value: Scalar) -> Sym {
        let size = match value.ty() {
            I32 => Some(Size::Constant(value.as_i64() as i32)),
            _ => None,
        };
        Sym::Scalar(Leaf::constant(halide_core::expr::dynamic::constant(value), value.ty(), size))
    }

    fn tuple(&mut self, parts: Vec<Sym>) -> Sym {
        Sym::Tuple(parts)
    }

    fn parts(&mut self, tuple: &Sym) -> Vec<Sym> {
        match tuple {
            Sym::Tuple(parts) => parts.clone(),
            other => vec![other.clone()],
        }
    }

    fn choose(
        &mut self,
        condition: Sym,
        then: impl FnOnce(&mut Self) -> Result<Flow<Sym>>,
        otherwise: impl FnOnce(&mut Self) -> Result<Flow<Sym>>,
        span: Span,
    ) -> Result<Flow<Sym>> {
        let Sym::Scalar(condition) = condition else { return self.confuse(span) };
        self.guards.push(condition.clone());
        let then = then(self);
        self.guards.pop();
        let then = then?;
        let not = Leaf::computed(!condition.expr, condition.ty, &[&condition]);
        self.guards.push(not);
        let otherwise = otherwise(self);
        self.guards.pop();
        self.either(&condition, then, otherwise?, span)
    }

    fn index(&mut self, of: Sym, index: Sym, span: Span) -> Result<Sym> {
        let span = self.prelude.unwrap_or(span);
        let (Sym::Seq(of), Sym::Scalar(index)) = (of, index) else { return self.confuse(span) };
        self.element_at(&of, &index, None, "x[i]", span)
    }

    fn primitive(
        &mut self,
        primitive: Primitive,
        arguments: Vec<Value<Sym>>,
        result: &Type,
        span: Span,
    ) -> Result<Sym> {
        let span = self.prelude.unwrap_or(span);
        match primitive {
            Primitive::Map => self.map(&arguments, result, span),
            Primitive::Zip => self.zip(&arguments, span),
            Primitive::Unzip => self.unzip(&arguments, result, span),
            Primitive::Gather => self.gather(&arguments, span),
            Primitive::Length => self.length(&arguments, span),
            Primitive::Range => self.range(&arguments, span),
            Primitive::Replicate => self.replicate(&arguments, span),
            Primitive::Reduce => self.reduce(&arguments, result, span),
            Primitive::Scan => self.scan(&arguments, result, false, span),
            Primitive::Rscan => self.scan(&arguments, result, true, span),
            Primitive::Scatter => self.scatter(&arguments, span),
            Primitive::Filter => self.filter(&arguments, span),
            Primitive::Cast(_) | Primitive::Binary(_) | Primitive::Unary(_) | Primitive::Math(_) => {
                self.operator(primitive, &arguments, result, span)
            }
        }
    }

    fn repeat(&mut self, arguments: Vec<Sym>, round: Round<'_, Self>, span: Span) -> Result<Sym> {
        self.rounds(arguments, round, span)
    }

    fn enter(&mut self, span: Span) -> Result<()> {
        self.calls += 1;
        if self.calls > MOST_CALLS { Err(Fault::new(span, FaultKind::Calls)) } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.calls -= 1;
    }

    fn in_prelude(&mut self, span: Option<Span>) {
        self.prelude = span;
    }

    fn naming(&mut self, name: Option<&Name>) {
        self.hint = name.cloned();
    }

    fn confused(&mut self, span: Span) -> Fault {
        Fault::new(span, FaultKind::Confused)
    }
}
