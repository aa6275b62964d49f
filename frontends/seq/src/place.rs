//! Places: what runs procs.

use crate::data::{Data, Rows};
use crate::error::Error;
use crate::fault::{Fault, FaultKind};
use crate::inference;
use crate::lower::{self, Given, Lowered, Out, OutDomain, OutRows};
use crate::meaning;
use crate::proc::Proc;
use crate::schedule::{Nest, schedule};
use crate::signature::{Form, SeqForm, Signature};
use crate::span::Span;
use crate::types::{Type, Variable};
use halide::prelude::{AnyBuffer, Buffer, Compiled, Engine, Region, Schedule, Target};
use halide_core::value::Scalar;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs procs, and keeps their code.
#[derive(Clone, Debug)]
pub struct Place {
    target: Target,
    /// `None` runs the interpreter of procs.
    engine: Option<Engine>,
    code: Arc<Mutex<HashMap<Key, Arc<Prepared>>>>,
}

/// The calls that code serves.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    proc: u64,
    nest: Vec<Nest>,
    is_relaxed: bool,
    signature: Signature,
}

/// Code for one form of arguments.
struct Prepared {
    compiled: Compiled,
    checks: Vec<lower::Check>,
    result: Out,
    extents: Vec<Vec<lower::Size>>,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// A proc's pipeline and schedule for one form of arguments, as text.
#[derive(Clone, Debug)]
pub struct Report {
    /// The algorithm.
    pub pipeline: String,
    /// The schedule.
    pub schedule: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.pipeline, self.schedule)
    }
}

/// The arguments of a call by number, and their form.
struct Bound {
    signature: Signature,
    buffers: Vec<AnyBuffer>,
    /// The number of elements of each buffer that count.
    extents: Vec<i64>,
    scalars: Vec<Scalar>,
}

impl Place {
    /// Machine code on this processor, with parallel loops on so many threads.
    pub fn cpu(threads: u32) -> Place {
        Place::new(Some(Engine::default()), threads)
    }

    /// The interpreter of procs: slow, and the definition of correct.
    pub fn host() -> Place {
        Place::new(None, 1)
    }

    /// Any engine of pipelines.
    pub fn engine(engine: Engine, threads: u32) -> Place {
        Place::new(Some(engine), threads)
    }

    fn new(engine: Option<Engine>, threads: u32) -> Place {
        let target = Target { threads: threads.max(1), ..Target::host() };
        Place { target, engine, code: Arc::default() }
    }

    /// The value of `proc` at `arguments`.
    ///
    /// # Errors
    /// Arguments of other types, lengths that differ, indices that are none, what no pipeline says.
    pub fn call(&self, proc: &Proc, arguments: impl IntoIterator<Item = Data>) -> Result<Data, Error> {
        let arguments: Vec<Data> = arguments.into_iter().collect();
        arguments.iter().try_for_each(Data::check)?;
        let bound = bind(proc, &arguments);
        let types = types_of(proc, &bound.signature)?;
        if self.engine.is_none() {
            let data = arguments.iter().map(Data::datum).collect();
            let result = match proc.scheme().ty {
                Type::Function(_, result) => result.replace(&mut |v| types.get(&v).cloned().unwrap_or(Type::INT)),
                other => other,
            };
            return Data::from_datum(&meaning::run(&proc.module, types, data)?, &result);
        }
        // Chunks of a reduction ask for an element: without any, there is one loop after the other.
        let is_empty = bound.extents.contains(&0);
        let nest = if is_empty { vec![Nest::Seq] } else { proc.nest.clone() };
        let prepared = self.prepared(proc, nest, &bound.signature, types)?;
        prepared.run(&bound)
    }

    /// The pipeline and the schedule by which `proc` runs at `arguments`.
    ///
    /// # Errors
    /// Those of [`Place::call`] before a run.
    pub fn report(&self, proc: &Proc, arguments: impl IntoIterator<Item = Data>) -> Result<Report, Error> {
        let arguments: Vec<Data> = arguments.into_iter().collect();
        arguments.iter().try_for_each(Data::check)?;
        let bound = bind(proc, &arguments);
        let types = types_of(proc, &bound.signature)?;
        let lowered = lower::lower(&proc.module, types, &bound.signature)?;
        let schedule = schedule(&lowered.stages, &proc.nest, proc.is_relaxed);
        Ok(Report { pipeline: lowered.pipeline.to_string(), schedule })
    }

    fn prepared(
        &self,
        proc: &Proc,
        nest: Vec<Nest>,
        signature: &Signature,
        types: HashMap<Variable, Type>,
    ) -> Result<Arc<Prepared>, Error> {
        let is_relaxed = proc.is_relaxed;
        let key = Key { proc: proc.number, nest, is_relaxed, signature: signature.clone() };
        if let Some(known) = self.code.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let lowered = lower::lower(&proc.module, types, signature)?;
        let text = schedule(&lowered.stages, &key.nest, is_relaxed);
        let Lowered { pipeline, checks, result, extents, .. } = lowered;
        let schedule: Schedule = text.parse().map_err(halide::Error::from)?;
        let engine = self.engine.unwrap_or_default();
        let compiler = halide::Compiler::new(&pipeline).schedule(&schedule).target(&self.target).engine(engine);
        let prepared = Arc::new(Prepared { compiled: compiler.compile()?, checks, result, extents });
        self.code.lock().unwrap_or_else(PoisonError::into_inner).insert(key, prepared.clone());
        Ok(prepared)
    }
}

/// The types that arguments give to the variables of a proc's scheme.
fn types_of(proc: &Proc, signature: &Signature) -> Result<HashMap<Variable, Type>, Error> {
    let arguments: Vec<Type> = signature.arguments.iter().map(Form::ty).collect();
    let span = proc.module.defs.last().map_or(Span::new(1, 1), |def| def.span);
    Ok(inference::at(&proc.scheme(), &arguments).map_err(|kind| Fault::new(span, kind))?)
}

/// The arguments by number. Offsets that are equal are one buffer: their rows are walked together.
fn bind(proc: &Proc, arguments: &[Data]) -> Bound {
    let signature = Signature { arguments: Vec::new(), buffers: Vec::new(), scalars: Vec::new() };
    let mut bound = Bound { signature, buffers: Vec::new(), extents: Vec::new(), scalars: Vec::new() };
    let params = proc.module.defs.last().map_or(&[][..], |def| &def.params);
    for (i, argument) in arguments.iter().enumerate() {
        let name = match params.get(i) {
            Some(crate::ast::Pattern::Name(name, ..)) => name.to_string(),
            _ => format!("argument.{i}"),
        };
        let form = bound.form(argument, &name);
        bound.signature.arguments.push(form);
    }
    bound
}

impl Bound {
    fn form(&mut self, data: &Data, name: &str) -> Form {
        match data {
            Data::Scalar(value) => {
                self.scalars.push(*value);
                self.signature.scalars.push((name.to_string(), value.ty()));
                Form::Scalar(value.ty(), self.scalars.len() - 1)
            }
            Data::Tuple(parts) => {
                let part = |(i, part): (usize, &Data)| self.form(part, &format!("{name}.{i}"));
                Form::Tuple(parts.iter().enumerate().map(part).collect())
            }
            Data::Values(_) | Data::Zipped(_) | Data::Rows(_) => Form::Seq(self.sequence(data, name)),
        }
    }

    fn sequence(&mut self, data: &Data, name: &str) -> SeqForm {
        match data {
            Data::Values(buffer) => SeqForm::Values(buffer.ty(), self.buffer(buffer, name, false)),
            Data::Zipped(parts) => {
                let part = |(i, part): (usize, &Data)| self.sequence(part, &format!("{name}.{i}"));
                SeqForm::Zipped(parts.iter().enumerate().map(part).collect())
            }
            Data::Rows(Rows { offsets, elements }) => {
                let known = self.signature.buffers.iter().zip(&self.buffers);
                let same =
                    known.into_iter().position(|((_, _, is_offsets), known)| *is_offsets && are_equal(known, offsets));
                let number = match same {
                    Some(number) => number,
                    None => self.buffer(offsets.as_any(), &format!("{name}.offsets"), true),
                };
                SeqForm::Rows(number, Box::new(self.sequence(elements, name)))
            }
            Data::Scalar(_) | Data::Tuple(_) => SeqForm::Zipped(Vec::new()),
        }
    }

    fn buffer(&mut self, buffer: &AnyBuffer, name: &str, is_offsets: bool) -> usize {
        // Where nothing is read, something must be there to be read: code for no element is another variant.
        let padded = if buffer.is_empty() { AnyBuffer::new(buffer.ty(), [1]).ok() } else { None };
        self.extents.push(buffer.extent(0));
        self.buffers.push(padded.unwrap_or_else(|| buffer.clone()));
        self.signature.buffers.push((name.to_string(), buffer.ty(), is_offsets));
        self.buffers.len() - 1
    }
}

/// Returns true if a buffer has the same offsets.
fn are_equal(known: &AnyBuffer, offsets: &Buffer<i32>) -> bool {
    if known.shares_memory(offsets.as_any()) {
        return true;
    }
    let known = known.typed::<i32>();
    known.is_ok_and(|known| known.as_slice().is_some() && known.as_slice() == offsets.as_slice())
}

impl Prepared {
    fn run(&self, bound: &Bound) -> Result<Data, Error> {
        let extents = &bound.extents;
        let given = Given { extents, scalars: &bound.scalars };
        for check in &self.checks {
            let (first, primitive) = (check.first.value(&given), check.primitive);
            let kind = match check.other.as_ref().map(|other| other.value(&given)) {
                Some(other) if first != other => {
                    FaultKind::Lengths { primitive, first: first as usize, other: other as usize }
                }
                None if first < 0 => FaultKind::Negative { primitive, length: i64::from(first) },
                _ => continue,
            };
            return Err(Fault::new(check.span, kind).into());
        }
        let regions: Vec<Region> = self
            .extents
            .iter()
            .map(|dims| Region::of_extents(dims.iter().map(|size| size.value(&given)).collect::<Vec<_>>()))
            .collect();
        let mut call = self.compiled.inputs();
        for ((name, ..), buffer) in bound.signature.buffers.iter().zip(&bound.buffers) {
            call = call.image_named(name, buffer.clone());
        }
        for ((name, _, is_offsets), extent) in bound.signature.buffers.iter().zip(extents) {
            if !is_offsets {
                call = call.param_named(&lower::length_name(name), *extent as i32);
            }
        }
        for ((name, _), value) in bound.signature.scalars.iter().zip(&bound.scalars) {
            call = call.param_named(name, *value);
        }
        // Of some arguments only the length is asked.
        let outputs = call.ignore_unused().realize_all(&regions)?;
        Results { outputs: &outputs, bound, given }.data(&self.result)
    }
}

/// The outputs of a run.
struct Results<'a> {
    outputs: &'a [AnyBuffer],
    bound: &'a Bound,
    given: Given<'a>,
}

impl Results<'_> {
    fn scalar(&self, output: usize) -> Result<Scalar, Error> {
        self.outputs[output].get::<i32>([]).ok_or(Error::NotAScalar)
    }

    fn data(&self, out: &Out) -> Result<Data, Error> {
        match out {
            Out::Scalar(output) => Ok(Data::Scalar(self.scalar(*output)?)),
            Out::Tuple(parts) => Ok(Data::Tuple(parts.iter().map(|part| self.data(part)).collect::<Result<_, _>>()?)),
            Out::Zipped(parts) => Ok(Data::Zipped(parts.iter().map(|part| self.data(part)).collect::<Result<_, _>>()?)),
            Out::Values(domain, output) => {
                let mut buffer = self.outputs[*output].clone();
                while buffer.dims().len() > 1 {
                    buffer = buffer.join(0)?;
                }
                match domain {
                    OutDomain::Count(count) => {
                        let count = self.scalar(*count)?.as_i64();
                        Ok(Data::Values(buffer.crop(&Region::of_extents([count as i32]))?))
                    }
                    OutDomain::Size(_) | OutDomain::Inner => Ok(Data::Values(buffer)),
                }
            }
            Out::Rows(domain, rows, elements) => {
                let elements = Box::new(self.data(elements)?);
                let offsets = match rows {
                    OutRows::Descriptor(buffer) => self.bound.buffers[*buffer].typed::<i32>()?,
                    OutRows::Uniform(size) => {
                        let size = size.value(&self.given);
                        let count = match domain {
                            OutDomain::Size(count) => count.value(&self.given),
                            OutDomain::Count(output) => self.scalar(*output)?.as_i64() as i32,
                            OutDomain::Inner => elements.len().map_or(0, |all| all as i32 / size.max(1)),
                        };
                        let offsets: Vec<i32> = (0..=count).map(|row| row * size).collect();
                        Buffer::from_slice([count + 1], &offsets)?
                    }
                };
                Ok(Data::Rows(Rows { offsets, elements }))
            }
        }
    }
}
