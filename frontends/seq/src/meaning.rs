//! The meaning of procs: an interpreter that computes element by element.
//!
//! It is the definition of correct for everything that [`crate::lower`] makes, and shares no code with that but the
//! walk of trees and the operators of scalars.

use crate::fault::{Fault, FaultKind};
use crate::module::Module;
use crate::primitive::Primitive;
use crate::span::Span;
use crate::tuning::{MOST_CALLS, MOST_ELEMENTS, MOST_ROUNDS};
use crate::types::{Type, Variable};
use crate::walk::{self, Flow, Machine, Round, Value, apply_value};
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use std::collections::HashMap;
use std::sync::Arc;

/// A value of a proc: a scalar, a tuple or a sequence.
#[derive(Clone, PartialEq, Debug)]
pub enum Datum {
    /// A number or a truth value.
    Scalar(Scalar),
    /// A tuple.
    Tuple(Vec<Datum>),
    /// A sequence.
    Seq(Arc<Vec<Datum>>),
}

impl Datum {
    /// The sequence of `elements`.
    pub fn seq(elements: Vec<Datum>) -> Datum {
        Datum::Seq(Arc::new(elements))
    }
}

type Result<T> = std::result::Result<T, Fault>;

/// The value of a module's last def at `arguments`.
pub(crate) fn run(module: &Arc<Module>, types: HashMap<Variable, Type>, arguments: Vec<Datum>) -> Result<Datum> {
    walk::call(&mut Interpreter { calls: 0, prelude: None }, module, types, arguments)
}

struct Interpreter {
    /// The number of calls around.
    calls: usize,
    /// The call of the def of the prelude whose primitives run.
    prelude: Option<Span>,
}

/// The value of a function that is not there, for machines.
fn confused<T>(span: Span) -> Result<T> {
    Err(Fault::new(span, FaultKind::Confused))
}

fn scalar(datum: &Datum, span: Span) -> Result<Scalar> {
    match datum {
        Datum::Scalar(value) => Ok(*value),
        _ => confused(span),
    }
}

fn elements(value: &Value<Datum>, span: Span) -> Result<Arc<Vec<Datum>>> {
    match value {
        Value::Data(Datum::Seq(elements)) => Ok(elements.clone()),
        _ => confused(span),
    }
}

fn datum(value: &Value<Datum>, span: Span) -> Result<Datum> {
    match value {
        Value::Data(datum) => Ok(datum.clone()),
        _ => confused(span),
    }
}

impl Machine for Interpreter {
    type Data = Datum;
    type Fault = Fault;

    fn constant(&mut self, value: Scalar) -> Datum {
        Datum::Scalar(value)
    }

    fn tuple(&mut self, parts: Vec<Datum>) -> Datum {
        Datum::Tuple(parts)
    }

    fn parts(&mut self, tuple: &Datum) -> Vec<Datum> {
        match tuple {
            Datum::Tuple(parts) => parts.clone(),
            other => vec![other.clone()],
        }
    }

    fn choose(
        &mut self,
        condition: Datum,
        then: impl FnOnce(&mut Self) -> Result<Flow<Datum>>,
        otherwise: impl FnOnce(&mut Self) -> Result<Flow<Datum>>,
        span: Span,
    ) -> Result<Flow<Datum>> {
        if scalar(&condition, span)?.as_bool() { then(self) } else { otherwise(self) }
    }

    fn index(&mut self, of: Datum, index: Datum, span: Span) -> Result<Datum> {
        let span = self.prelude.unwrap_or(span);
        let of = elements(&Value::Data(of), span)?;
        at(&of, scalar(&index, span)?, "x[i]", None, span).cloned()
    }

    fn primitive(
        &mut self,
        primitive: Primitive,
        arguments: Vec<Value<Datum>>,
        result: &Type,
        span: Span,
    ) -> Result<Datum> {
        let span = self.prelude.unwrap_or(span);
        let run = Run { machine: self, name: primitive.name(), arguments, span };
        run.value(primitive, result)
    }

    fn repeat(&mut self, mut arguments: Vec<Datum>, round: Round<'_, Self>, span: Span) -> Result<Datum> {
        for _ in 0..MOST_ROUNDS {
            match round(self, arguments)? {
                Flow::Done(value) => return Ok(value),
                Flow::Again(next) => arguments = next,
                Flow::Either { .. } => return confused(span),
            }
        }
        Err(Fault::new(span, FaultKind::Endless))
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

    fn confused(&mut self, span: Span) -> Fault {
        Fault::new(span, FaultKind::Confused)
    }
}

/// The element at an index.
fn at<'a>(
    of: &'a [Datum],
    index: Scalar,
    primitive: &'static str,
    position: Option<usize>,
    span: Span,
) -> Result<&'a Datum> {
    let place = usize::try_from(index.as_i128()).ok();
    place.and_then(|place| of.get(place)).ok_or_else(|| {
        let (index, extent) = (index.as_i128(), of.len());
        Fault::new(span, FaultKind::Outside { primitive, position, index, extent })
    })
}

/// One use of a primitive.
struct Run<'a> {
    machine: &'a mut Interpreter,
    name: &'static str,
    arguments: Vec<Value<Datum>>,
    span: Span,
}

impl Run<'_> {
    fn fault<T>(&self, kind: FaultKind) -> Result<T> {
        Err(Fault::new(self.span, kind))
    }

    fn seq(&self, i: usize) -> Result<Arc<Vec<Datum>>> {
        elements(&self.arguments[i], self.span)
    }

    fn scalar(&self, i: usize) -> Result<Scalar> {
        scalar(&datum(&self.arguments[i], self.span)?, self.span)
    }

    /// A number of elements.
    fn length(&self, i: usize) -> Result<usize> {
        let length = self.scalar(i)?.as_i64();
        match usize::try_from(length) {
            Ok(length) if length > MOST_ELEMENTS => self.fault(FaultKind::TooLong { length }),
            Ok(length) => Ok(length),
            Err(_) => self.fault(FaultKind::Negative { primitive: self.name, length }),
        }
    }

    /// Calls the function that is the first argument; `result` is the type of its value.
    fn call(&mut self, arguments: Vec<Datum>, result: &Type) -> Result<Datum> {
        let function = self.arguments[0].clone();
        let arguments = arguments.into_iter().map(Value::Data).collect();
        apply_value(self.machine, &function, arguments, result, self.span)
    }

    /// The sequences from argument `first` on, which have one length.
    fn together(&self, first: usize) -> Result<Vec<Arc<Vec<Datum>>>> {
        let all: Result<Vec<_>> = (first..self.arguments.len()).map(|i| self.seq(i)).collect();
        let all = all?;
        if let Some(other) = all.iter().find(|seq| seq.len() != all[0].len()) {
            let (first, other) = (all[0].len(), other.len());
            return self.fault(FaultKind::Lengths { primitive: self.name, first, other });
        }
        Ok(all)
    }

    fn value(mut self, primitive: Primitive, result: &Type) -> Result<Datum> {
        let element = match result {
            Type::Seq(element) => element,
            other => other,
        };
        match primitive {
            Primitive::Map => {
                let all = self.together(1)?;
                let values = (0..all[0].len()).map(|k| {
                    let arguments = all.iter().map(|seq| seq[k].clone()).collect();
                    self.call(arguments, element)
                });
                values.collect::<Result<_>>().map(Datum::seq)
            }
            Primitive::Zip => {
                let all = self.together(0)?;
                let tuple = |k: usize| Datum::Tuple(all.iter().map(|seq: &Arc<Vec<Datum>>| seq[k].clone()).collect());
                Ok(Datum::seq((0..all[0].len()).map(tuple).collect()))
            }
            Primitive::Unzip => {
                let (tuples, Type::Tuple(types)) = (self.seq(0)?, result) else { return confused(self.span) };
                let part = |i: usize| tuples.iter().map(|tuple| self.machine.parts(tuple)[i].clone()).collect();
                Ok(Datum::Tuple((0..types.len()).map(part).map(Datum::seq).collect()))
            }
            Primitive::Gather => {
                let (of, indices) = (self.seq(0)?, self.seq(1)?);
                let values = (0..)
                    .zip(indices.iter())
                    .map(|(k, index)| at(&of, scalar(index, self.span)?, self.name, Some(k), self.span).cloned());
                values.collect::<Result<_>>().map(Datum::seq)
            }
            Primitive::Length => Ok(Datum::Scalar(Scalar::int(ScalarType::I32, self.seq(0)?.len() as i128))),
            Primitive::Range => {
                let int = |k| Datum::Scalar(Scalar::int(ScalarType::I32, k as i128));
                Ok(Datum::seq((0..self.length(0)?).map(int).collect()))
            }
            Primitive::Replicate => Ok(Datum::seq(vec![datum(&self.arguments[0], self.span)?; self.length(1)?])),
            Primitive::Reduce => {
                let mut value = datum(&self.arguments[2], self.span)?;
                for element in self.seq(1)?.iter() {
                    value = self.call(vec![value, element.clone()], result)?;
                }
                Ok(value)
            }
            Primitive::Scan | Primitive::Rscan => self.scan(primitive == Primitive::Rscan, element),
            Primitive::Scatter => self.scatter(),
            Primitive::Filter => {
                let mut kept = Vec::new();
                for element in self.seq(1)?.iter() {
                    let keeps = self.call(vec![element.clone()], &Type::BOOL)?;
                    if scalar(&keeps, self.span)?.as_bool() {
                        kept.push(element.clone());
                    }
                }
                Ok(Datum::seq(kept))
            }
            Primitive::Cast(_) | Primitive::Binary(_) | Primitive::Unary(_) | Primitive::Math(_) => {
                self.operator(primitive, result).map(Datum::Scalar)
            }
        }
    }

    /// Prefixes, or suffixes from the last one on.
    fn scan(&mut self, is_reversed: bool, element: &Type) -> Result<Datum> {
        let mut elements = self.seq(1)?.to_vec();
        if is_reversed {
            elements.reverse();
        }
        for k in 1..elements.len() {
            elements[k] = self.call(vec![elements[k - 1].clone(), elements[k].clone()], element)?;
        }
        if is_reversed {
            elements.reverse();
        }
        Ok(Datum::seq(elements))
    }

    fn scatter(&self) -> Result<Datum> {
        let (from, indices, mut to) = (self.seq(0)?, self.seq(1)?, self.seq(2)?.to_vec());
        if from.len() != indices.len() {
            let (first, other) = (from.len(), indices.len());
            return self.fault(FaultKind::Lengths { primitive: self.name, first, other });
        }
        for (k, (value, index)) in from.iter().zip(indices.iter()).enumerate() {
            let index = scalar(index, self.span)?;
            at(&to, index, self.name, Some(k), self.span)?;
            to[index.as_i64() as usize] = value.clone();
        }
        Ok(Datum::seq(to))
    }

    fn operator(&self, primitive: Primitive, result: &Type) -> Result<Scalar> {
        let operands: Result<Vec<Scalar>> = (0..self.arguments.len()).map(|i| self.scalar(i)).collect();
        let operands = operands?;
        let a = operands[0];
        let value = match primitive {
            Primitive::Cast(ty) => value::cast(ty, a),
            Primitive::Unary(op) => value::unary(op, a),
            Primitive::Binary(op) if matches!(op, halide_core::ops::BinOp::Shl | halide_core::ops::BinOp::Shr) => {
                value::binary(op, a, value::cast(ScalarType::signed(a.ty().bits()), operands[1]))
            }
            Primitive::Binary(op) => value::binary(op, a, operands[1]),
            Primitive::Math(function) => value::math(function, &operands),
            _ => return confused(self.span),
        };
        // The absolute value of a signed integer has the unsigned type.
        match result {
            Type::Scalar(ty) if *ty != value.ty() => Ok(value::cast(*ty, value)),
            _ => Ok(value),
        }
    }
}
