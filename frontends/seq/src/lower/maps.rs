//! Primitives that need one element of their arguments for one of their result.

use super::size::Size;
use super::stage::Check;
use super::state::{Domain, Element, Leaf, Lower, Pull, Result, Sym};
use crate::span::Span;
use crate::types::Type;
use crate::walk::{Value, apply_value};
use halide::prelude::{Expr, ExprMethods, IntoExpr, require};
use halide_core::types::ScalarType::I32;
use std::rc::Rc;

/// Sequences with one domain.
struct Together {
    domain: Domain,
    elements: Vec<Element>,
    depths: super::state::Depths,
}

impl Lower {
    /// An argument that is a sequence.
    pub(crate) fn pull(&self, value: &Value<Sym>, span: Span) -> Result<Rc<Pull>> {
        match value {
            Value::Data(Sym::Seq(pull)) => Ok(pull.clone()),
            _ => self.confuse(span),
        }
    }

    /// The first position of a sequence, and the one behind the last.
    pub(crate) fn ends(&self, domain: &Domain) -> (Leaf, Leaf) {
        let zero = Leaf::constant(0.expr(), I32, Some(Size::Constant(0)));
        match domain {
            Domain::Flat(size) => (zero, Leaf::constant(self.inputs.size(size), I32, Some(size.clone()))),
            Domain::Counted { count, .. } => (zero, count.clone()),
            Domain::Rows { descriptor, row } => {
                let offsets = &self.inputs.images[*descriptor];
                let at = |shift: i32| {
                    let place = if shift == 0 { row.expr } else { row.expr + shift };
                    let mut leaf = Leaf::computed(offsets.read(place), I32, &[row]);
                    if let Some(row) = row.at.clone() {
                        let offsets = offsets.clone();
                        leaf.at = Some(Rc::new(move |coordinates: &[Expr]| offsets.read(row(coordinates) + shift)));
                    }
                    leaf
                };
                (at(0), at(1))
            }
        }
    }

    /// A size with as many positions as a sequence can have at most: positions are below it.
    pub(crate) fn most(&self, pull: &Pull, span: Span) -> Result<Expr> {
        match &pull.domain {
            Domain::Flat(size) | Domain::Counted { capacity: size, .. } => Ok(self.inputs.size(size)),
            Domain::Rows { descriptor, .. } => match self.inputs.elements_of(*descriptor) {
                Some(size) => Ok(self.inputs.size(&size)),
                None => self.confuse(span),
            },
        }
    }

    /// The number of elements.
    pub(crate) fn count(&self, domain: &Domain) -> Leaf {
        match domain {
            Domain::Rows { .. } => {
                let (begin, end) = self.ends(domain);
                let mut count = Leaf::computed(end.expr - begin.expr, I32, &[&begin, &end]);
                if let (Some(begin), Some(end)) = (begin.at, end.at) {
                    count.at = Some(Rc::new(move |at: &[Expr]| end(at) - begin(at)));
                }
                Leaf { counts: Some(Rc::new(domain.clone())), ..count }
            }
            Domain::Counted { count, .. } => Leaf { counts: Some(Rc::new(domain.clone())), ..count.clone() },
            Domain::Flat(_) => self.ends(domain).1,
        }
    }

    /// `value` where `condition` holds or the code does not count; elsewhere the run is an `Err`.
    pub(crate) fn required(&self, condition: Expr, value: Leaf, message: impl halide::expr::Message) -> Leaf {
        let mut condition = condition;
        for guard in &self.guards {
            condition |= !guard.expr;
        }
        let depths = self.guards.iter().fold(value.depths, |all, guard| all.with(guard.depths));
        Leaf { expr: require(condition, value.expr, message), depths, at: None, size: None, coordinate: None, ..value }
    }

    /// The sequences of `values` in the positions of the first one.
    fn together(&mut self, values: &[Value<Sym>], primitive: &'static str, span: Span) -> Result<Together> {
        let pulls: Result<Vec<Rc<Pull>>> = values.iter().map(|value| self.pull(value, span)).collect();
        let pulls = pulls?;
        let Some(first) = pulls.first() else { return self.confuse(span) };
        let depths = pulls.iter().fold(first.depths, |all, pull| all.with(pull.depths));
        let mut elements = vec![first.element.clone()];
        for other in &pulls[1..] {
            elements.push(self.aligned(&first.domain, other, primitive, span));
        }
        Ok(Together { domain: first.domain.clone(), elements, depths })
    }

    /// The elements of `other` at the positions of `domain`.
    fn aligned(&mut self, domain: &Domain, other: &Rc<Pull>, primitive: &'static str, span: Span) -> Element {
        if domain.same(&other.domain) {
            return other.element.clone();
        }
        if let (Domain::Flat(first), Domain::Flat(size), true) = (domain, &other.domain, self.guards.is_empty()) {
            let (first, other_size) = (first.clone(), Some(size.clone()));
            self.checks.push(Check { span, primitive, first, other: other_size });
            return other.element.clone();
        }
        let (domain, other) = (domain.clone(), other.clone());
        Rc::new(move |lower, position| {
            let (a, b) = (lower.ends(&domain).0, lower.ends(&other.domain).0);
            let (here, there) = (lower.count(&domain), lower.count(&other.domain));
            let shifted = position.expr - a.expr + b.expr;
            let moved = Leaf::computed(shifted, I32, &[position, &a, &b, &here, &there]);
            let text = format!("{span}: `{primitive}` takes sequences of one length but there are");
            let message = (text, here.expr, "and", there.expr, "elements");
            let moved = lower.required(here.expr.eq(there.expr), moved, message);
            (other.element)(lower, &moved)
        })
    }

    pub(crate) fn map(&mut self, arguments: &[Value<Sym>], result: &Type, span: Span) -> Result<Sym> {
        let Type::Seq(ty) = result else { return self.confuse(span) };
        let together = self.together(&arguments[1..], "map", span)?;
        let (element, depths) = self.under(&together.domain, span, |lower, position| {
            let elements: Result<Vec<Sym>> =
                together.elements.iter().map(|element| element(lower, &position)).collect();
            let elements = elements?.into_iter().map(Value::Data).collect();
            let depth = lower.depth - 1;
            let value = apply_value(lower, &arguments[0], elements, ty, span)?;
            let depths = lower.depths(&value).without(depth);
            Ok((lower.close(&value, depth, span)?, depths))
        })?;
        let depths = depths.with(together.domain.depths());
        Ok(Sym::Seq(Rc::new(Pull { domain: together.domain, depths, element })))
    }

    /// The depths of all of a value.
    pub(crate) fn depths(&self, value: &Sym) -> super::state::Depths {
        match value {
            Sym::Scalar(leaf) => leaf.depths,
            Sym::Tuple(parts) => parts.iter().fold(super::state::Depths::NONE, |all, part| all.with(self.depths(part))),
            Sym::Seq(pull) => pull.depths.with(pull.domain.depths()),
        }
    }

    pub(crate) fn zip(&mut self, arguments: &[Value<Sym>], span: Span) -> Result<Sym> {
        let Together { domain, elements, depths } = self.together(arguments, "zip", span)?;
        let element: Element = Rc::new(move |lower, position| {
            let parts: Result<Vec<Sym>> = elements.iter().map(|element| element(lower, position)).collect();
            Ok(Sym::Tuple(parts?))
        });
        Ok(Sym::Seq(Rc::new(Pull { domain, depths, element })))
    }

    pub(crate) fn unzip(&mut self, arguments: &[Value<Sym>], result: &Type, span: Span) -> Result<Sym> {
        let (pull, Type::Tuple(types)) = (self.pull(&arguments[0], span)?, result) else { return self.confuse(span) };
        let part = |i: usize| {
            let of = pull.element.clone();
            let element: Element = Rc::new(move |lower, position| match of(lower, position)? {
                Sym::Tuple(parts) if i < parts.len() => Ok(parts[i].clone()),
                _ => lower.confuse(span),
            });
            Sym::Seq(Rc::new(Pull { element, ..(*pull).clone() }))
        };
        Ok(Sym::Tuple((0..types.len()).map(part).collect()))
    }

    pub(crate) fn length(&mut self, arguments: &[Value<Sym>], span: Span) -> Result<Sym> {
        let pull = self.pull(&arguments[0], span)?;
        Ok(Sym::Scalar(self.count(&pull.domain)))
    }

    /// The domain of as many elements as an argument says.
    fn domain_of(&mut self, count: &Leaf, primitive: &'static str, span: Span) -> Result<Domain> {
        if let Some(domain) = &count.counts {
            return Ok((**domain).clone());
        }
        let Some(size) = &count.size else {
            return self.unsupported(span, "a number of elements that is computed of elements");
        };
        if self.guards.is_empty() {
            self.checks.push(Check { span, primitive, first: size.clone(), other: None });
            return Ok(Domain::Flat(size.clone()));
        }
        Ok(Domain::Flat(Size::binary(halide_core::ops::BinOp::Max, size.clone(), Size::Constant(0))))
    }

    pub(crate) fn range(&mut self, arguments: &[Value<Sym>], span: Span) -> Result<Sym> {
        let count = self.scalar(&arguments[0], span)?;
        let domain = self.domain_of(&count, "range", span)?;
        let (depths, within) = (domain.depths(), domain.clone());
        let is_from_zero = !matches!(domain, Domain::Rows { .. });
        let element: Element = Rc::new(move |lower, position| {
            if is_from_zero {
                return Ok(Sym::Scalar(position.clone()));
            }
            let begin = lower.ends(&within).0;
            Ok(Sym::Scalar(Leaf::computed(position.expr - begin.expr, I32, &[position, &begin])))
        });
        Ok(Sym::Seq(Rc::new(Pull { domain, depths, element })))
    }

    pub(crate) fn replicate(&mut self, arguments: &[Value<Sym>], span: Span) -> Result<Sym> {
        let Value::Data(value) = &arguments[0] else { return self.confuse(span) };
        let count = self.scalar(&arguments[1], span)?;
        let domain = self.domain_of(&count, "replicate", span)?;
        let (value, depths) = (value.clone(), self.depths(value));
        let element: Element = Rc::new(move |_, _| Ok(value.clone()));
        Ok(Sym::Seq(Rc::new(Pull { domain, depths, element })))
    }
}
