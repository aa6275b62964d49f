//! Freezing what the caller's buffers must be like.

use super::domain::too_late;
use super::{DefinitionScope, Freezer};
use crate::arena::{self, Expr, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::expr::as_type;
use crate::func::{FuncBody, Written};
use crate::ids::ExprId;
use crate::pipeline::{DimField, Kind};
use crate::shape::{AlignmentRule, BufferOf, Estimate, Law, OpenLaw, OpenShape, ShapeRule};
use crate::tuning::MAX_ALIGNMENT;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::HashMap;
use std::rc::Rc;

impl Freezer {
    /// The rules of every image met and of the outputs. Rules of images may mention others, whose rules count too.
    pub(super) fn freeze_shapes(&mut self, outputs: &[Rc<FuncBody>]) {
        let Some(any) = outputs.first() else { return };
        for body in outputs {
            let func = self.funcs[&super::address(body)];
            let dims = self.data.funcs[func].dims();
            if self.is_new(BufferOf::Output(func)) {
                self.freeze_shape(BufferOf::Output(func), &body.name, dims, &body.shape, any);
            }
        }
        let mut next = 0;
        while next < self.image_bodies.len() {
            let (id, body) = self.image_bodies[next].clone();
            self.freeze_shape(BufferOf::Image(id), &body.name, body.dims, &body.shape, any);
            next += 1;
        }
        self.check_conflicts();
    }

    /// An output may be given twice.
    fn is_new(&self, of: BufferOf) -> bool {
        self.data.shapes.iter().all(|r| r.of != of) && self.data.alignments.iter().all(|r| r.of != of)
    }

    fn freeze_shape(&mut self, of: BufferOf, name: &str, dims: usize, shape: &OpenShape, any: &Rc<FuncBody>) {
        for rule in shape.rules.borrow().iter() {
            if rule.dim >= dims {
                let kind = AlgorithmErrorKind::ShapeDim { of: name.into(), dim: rule.dim, dims };
                self.mistake(rule.at, kind);
                continue;
            }
            let law = match rule.law {
                OpenLaw::MultipleOf(n) if (1..=i32::MAX.into()).contains(&n) => Law::MultipleOf(n),
                OpenLaw::MultipleOf(multiple) => {
                    self.mistake(rule.at, AlgorithmErrorKind::ShapeMultiple { of: name.into(), multiple });
                    continue;
                }
                OpenLaw::Is(e) => Law::Is(self.shape_value(name, e, rule.at, any)),
            };
            let rule = ShapeRule { of, dim: rule.dim, field: rule.field, law, at: rule.at };
            let same = |r: &ShapeRule| (r.of, r.dim, r.field, r.law) == (of, rule.dim, rule.field, rule.law);
            if !self.data.shapes.iter().any(same) {
                self.data.shapes.push(rule);
            }
        }
        for &(bytes, at) in shape.alignments.borrow().iter() {
            match bytes.is_power_of_two() && bytes <= MAX_ALIGNMENT {
                true => self.data.alignments.push(AlignmentRule { of, bytes, at }),
                false => self.mistake(at, AlgorithmErrorKind::HostAlignment { of: name.into(), bytes }),
            }
        }
        for &(dim, min, extent, at) in shape.estimates.borrow().iter() {
            match dim < dims {
                true => self.data.estimates.push(Estimate { of, dim, min, extent }),
                false => self.mistake(at, AlgorithmErrorKind::ShapeDim { of: name.into(), dim, dims }),
            }
        }
    }

    fn shape_value(&mut self, of: &str, e: Expr, at: Location, any: &Rc<FuncBody>) -> ExprId {
        let what = match arena::ty(e) {
            Ty::One(ty) if ty.is_int() => too_late(e),
            Ty::None => None,
            _ => Some("is not an integer".to_string()),
        };
        if let Some(what) = what {
            self.mistake(at, AlgorithmErrorKind::ShapeValue { of: of.into(), what });
            return self.constant(Scalar::zero(ScalarType::I32));
        }
        // It has no variables, so it means the same wherever it stands.
        let written = Written { at, born: u64::MAX };
        let scope = DefinitionScope { body: any, written, rename: HashMap::new(), args: &[], coordinates: Vec::new() };
        self.freeze(as_type(e, ScalarType::I32, at), &scope)
    }

    /// Handles of one image may each have rules: those that are constants must agree.
    fn check_conflicts(&mut self) {
        let constant = |rule: &ShapeRule| match rule.law {
            Law::Is(e) => match self.data.exprs[e].kind {
                Kind::Const(value) => Some(value.as_i64()),
                _ => None,
            },
            Law::MultipleOf(_) => None,
        };
        let mut conflicts = Vec::new();
        for (i, rule) in self.data.shapes.iter().enumerate() {
            for other in &self.data.shapes[i + 1..] {
                let same = (rule.of, rule.dim, rule.field) == (other.of, other.dim, other.field);
                let (a, b) = (constant(rule), constant(other));
                let never = match (a.or(b), rule.law, other.law) {
                    _ if !same => false,
                    (Some(_), Law::Is(_), Law::Is(_)) => a.is_some() && b.is_some() && a != b,
                    (Some(value), Law::MultipleOf(n), _) | (Some(value), _, Law::MultipleOf(n)) => value % n != 0,
                    _ => false,
                };
                if never {
                    conflicts.push((other.at, rule.of, rule.dim, rule.field));
                }
            }
        }
        for (at, of, dim, field) in conflicts {
            let of = match of {
                BufferOf::Image(image) => self.data.images[image].name.clone(),
                BufferOf::Output(func) => self.data.funcs[func].name.clone(),
            };
            let field = match field {
                DimField::Min => "min",
                DimField::Extent => "extent",
                DimField::Stride => "stride",
            };
            self.mistake(at, AlgorithmErrorKind::ShapeConflict { of, dim, field });
        }
    }
}
