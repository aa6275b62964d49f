//! Results as outputs of the pipeline.

use super::close::together;
use super::size::Size;
use super::stage::Role;
use super::state::{Depths, Domain, Leaf, Lower, Pull, Result, Sym};
use crate::fault::FaultKind;
use crate::span::Span;
use halide::prelude::Func;
use std::rc::Rc;

/// A result, in terms of the outputs of the pipeline by number.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    /// An output without dimensions.
    Scalar(usize),
    Tuple(Vec<Out>),
    /// A sequence of scalars.
    Values(OutDomain, usize),
    /// A sequence of tuples.
    Zipped(Vec<Out>),
    /// A sequence of sequences, with the elements of all of them.
    Rows(OutDomain, OutRows, Box<Out>),
}

/// The number of elements of a result.
#[derive(Clone, Debug)]
pub(crate) enum OutDomain {
    Size(Size),
    /// The number that an output without dimensions says.
    Count(usize),
    /// The elements of all rows around.
    Inner,
}

/// The rows of a result.
#[derive(Clone, Debug)]
pub(crate) enum OutRows {
    /// The rows of an argument, by the buffer of its offsets.
    Descriptor(usize),
    /// Rows of one length.
    Uniform(Size),
}

impl Lower {
    /// Defines the outputs of a result.
    pub(crate) fn output(&mut self, value: &Sym) -> Result<Out> {
        self.hint = None;
        let span = Span::new(1, 1);
        match value {
            Sym::Scalar(leaf) => {
                let output = self.define_output(leaf, Depths::NONE, Vec::new());
                Ok(Out::Scalar(output))
            }
            Sym::Tuple(parts) => parts.iter().map(|part| self.output(part)).collect::<Result<_>>().map(Out::Tuple),
            Sym::Seq(pull) => {
                let domain = match &pull.domain {
                    Domain::Flat(size) => OutDomain::Size(size.clone()),
                    Domain::Counted { count, .. } => {
                        let count = count.clone();
                        OutDomain::Count(self.define_output(&count, Depths::NONE, Vec::new()))
                    }
                    Domain::Rows { .. } => {
                        return self.unsupported(span, "the result of one row of a ragged sequence");
                    }
                };
                let (Domain::Flat(size) | Domain::Counted { capacity: size, .. }) = &pull.domain else {
                    return self.fault(span, FaultKind::Confused);
                };
                self.sequence(pull, domain, vec![size.clone()], span)
            }
        }
    }

    /// The outputs of a sequence; `extents` are those of the sequences around it and its own, outermost first.
    fn sequence(&mut self, pull: &Rc<Pull>, domain: OutDomain, extents: Vec<Size>, span: Span) -> Result<Out> {
        let depth = self.depth;
        self.under(&pull.domain, span, |lower, position| {
            let element = (pull.element)(lower, &position)?;
            lower.elements(&element, domain, extents, depth, span)
        })
    }

    fn elements(
        &mut self,
        element: &Sym,
        domain: OutDomain,
        extents: Vec<Size>,
        depth: usize,
        span: Span,
    ) -> Result<Out> {
        match element {
            Sym::Scalar(leaf) => {
                let depths = (0..=depth).fold(Depths::NONE, |all, depth| all.with(Depths::one(depth)));
                let output = self.define_output(leaf, depths, extents);
                Ok(Out::Values(domain, output))
            }
            Sym::Tuple(parts) => {
                let part = |part: &Sym| self.elements(part, domain.clone(), extents.clone(), depth, span);
                parts.iter().map(part).collect::<Result<_>>().map(Out::Zipped)
            }
            Sym::Seq(pull) => match &pull.domain {
                Domain::Flat(size) if matches!(domain, OutDomain::Size(_) | OutDomain::Inner) => {
                    let mut extents = extents;
                    extents.push(size.clone());
                    let rows = self.sequence(pull, OutDomain::Inner, extents, span)?;
                    Ok(Out::Rows(domain, OutRows::Uniform(size.clone()), Box::new(rows)))
                }
                Domain::Rows { descriptor, row } if row.coordinate == Some(depth) && extents.len() == 1 => {
                    let descriptor = *descriptor;
                    let rows = self.row_outputs(pull, descriptor, depth, span)?;
                    Ok(Out::Rows(domain, OutRows::Descriptor(descriptor), Box::new(rows)))
                }
                _ => self.unsupported(span, "a result of sequences whose lengths are computed"),
            },
        }
    }

    /// The outputs of the rows of an argument's descriptor.
    fn row_outputs(&mut self, pull: &Rc<Pull>, descriptor: usize, row_depth: usize, span: Span) -> Result<Out> {
        let Some(size) = self.inputs.elements_of(descriptor) else { return self.confuse(span) };
        let depth = self.depth;
        let parts = self.under(&pull.domain, span, |lower, position| (pull.element)(lower, &position))?;
        let Some(leaves) = parts.leaves() else {
            return self.unsupported(span, "a result of sequences in three levels");
        };
        let mut outputs = Vec::new();
        for i in 0..leaves.len() {
            let of = pull.element.clone();
            let element: super::state::Element = Rc::new(move |lower, position| {
                let leaves = of(lower, position)?.leaves();
                match leaves.and_then(|leaves| leaves.get(i).cloned()) {
                    Some(leaf) => Ok(Sym::Scalar(leaf)),
                    None => lower.confuse(span),
                }
            });
            let pull = Rc::new(Pull { element, ..(**pull).clone() });
            let rows = self.rows("result", &pull, descriptor, row_depth, span)?;
            if rows.depths != Depths::one(depth) {
                return self.unsupported(span, "a result of sequences in three levels");
            }
            self.stage(&rows.definition, Role::Output, rows.domains.clone());
            self.outputs.push((Rc::new(rows.definition.func), vec![size.clone()]));
            outputs.push(Out::Values(OutDomain::Inner, self.outputs.len() - 1));
        }
        Ok(shape(&parts, &mut outputs.into_iter()))
    }

    /// An output Func of the variables of `depths`, whose extents are given outermost first.
    fn define_output(&mut self, leaf: &Leaf, depths: Depths, extents: Vec<Size>) -> usize {
        let extents: Vec<Size> = extents.into_iter().rev().collect();
        let mut definition = self.declare("result", depths);
        let at = self.at_vars(&definition.dims);
        definition.func.define(at, together(std::slice::from_ref(leaf)));
        self.stage(&definition, Role::Output, Vec::new());
        let func = Rc::new(std::mem::replace(&mut definition.func, Func::new("")));
        self.outputs.push((func, extents));
        self.outputs.len() - 1
    }
}

/// The outputs of a sequence's scalars in the form of its elements.
fn shape(element: &Sym, outputs: &mut impl Iterator<Item = Out>) -> Out {
    match element {
        Sym::Tuple(parts) => Out::Zipped(parts.iter().map(|part| shape(part, outputs)).collect()),
        Sym::Scalar(_) | Sym::Seq(_) => outputs.next().unwrap_or(Out::Tuple(Vec::new())),
    }
}
