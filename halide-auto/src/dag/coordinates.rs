//! Coordinates of a definition as a list of steps, to be asked for their ranges again and again.

use halide_core::buffer::Region;
use halide_core::ids::{ExprId, IdVec, ImageId, ParamId, RDomId, VarId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::{DimField, Kind, Pipeline};
use halide_core::value::Scalar;
use halide_ir::{Elem, Type};
use halide_sched::nest::range::{self, Range};
use std::collections::BTreeMap;

/// Values that are known before any coordinate is.
pub(crate) struct Known<'q> {
    /// Values of parameters.
    pub(crate) params: &'q IdVec<ParamId, Scalar>,
    /// Regions of inputs.
    pub(crate) images: &'q IdVec<ImageId, Region>,
}

/// A variable of a definition as it stands in expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variable {
    Pure(VarId),
    Reduction(RDomId, u8),
}

/// Expressions over the variables of a definition, each computed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coordinates {
    steps: Vec<Step>,
    /// The step of each expression.
    at: BTreeMap<ExprId, usize>,
}

#[derive(Clone, Debug)]
enum Step {
    Known(Range),
    Variable(usize),
    Unary(UnOp, usize, Type),
    Binary(BinOp, [usize; 2], Type, Type),
    Select([usize; 3]),
    Cast(usize, Elem, bool),
    Same(usize),
    Any(Vec<usize>),
}

impl Coordinates {
    /// The steps of `roots`, where variables are numbered.
    pub(crate) fn new(
        pipeline: &Pipeline,
        roots: &[ExprId],
        known: &Known<'_>,
        variables: &BTreeMap<Variable, usize>,
    ) -> Coordinates {
        let mut made = Coordinates::default();
        for e in halide_sched::plan::reachable(pipeline, roots) {
            let step = made.step(pipeline, e, known, variables);
            made.at.insert(e, made.steps.len());
            made.steps.push(step);
        }
        made
    }

    fn step(&self, pipeline: &Pipeline, e: ExprId, known: &Known<'_>, variables: &BTreeMap<Variable, usize>) -> Step {
        let node = &pipeline.exprs[e];
        let of = |e: &ExprId| self.at.get(e).copied().unwrap_or(0);
        let ty = Type::data;
        let variable = |v: Variable| {
            variables.get(&v).map_or_else(|| Step::Known(Range::of_type(Elem::Data(node.ty))), |n| Step::Variable(*n))
        };
        match &node.kind {
            Kind::Const(value) => Step::Known(Range::of_scalar(*value)),
            Kind::Var(v) => variable(Variable::Pure(*v)),
            Kind::RVar { rdom, dim } => variable(Variable::Reduction(*rdom, *dim)),
            Kind::Param(param) => Step::Known(known.params.get(*param).map_or(Range::Any, |v| Range::of_scalar(*v))),
            Kind::ImageDim { image, dim, field } => {
                let span = known.images.get(*image).and_then(|r| r.spans().get(usize::from(*dim)));
                Step::Known(span.map_or(Range::Any, |span| match field {
                    DimField::Min => Range::point(span.min),
                    DimField::Extent => Range::point(span.extent),
                    DimField::Stride => Range::point(1),
                }))
            }
            Kind::Unary(op, a) => Step::Unary(*op, of(a), ty(node.ty)),
            Kind::Binary(op, a, b) => Step::Binary(*op, [of(a), of(b)], ty(pipeline.exprs[*a].ty), ty(node.ty)),
            Kind::Select(c, a, b) => Step::Select([of(c), of(a), of(b)]),
            Kind::Cast(a) => Step::Cast(of(a), Elem::Data(node.ty), false),
            Kind::SaturatingCast(a) => Step::Cast(of(a), Elem::Data(node.ty), true),
            Kind::Likely(a) | Kind::LikelyIfInnermost(a) | Kind::Strict(a) | Kind::Note { value: a, .. } => {
                Step::Same(of(a))
            }
            Kind::Sites(all) => Step::Any(all.iter().map(of).collect()),
            Kind::Reinterpret(_) | Kind::Math(..) | Kind::Call { .. } | Kind::Image { .. } | Kind::Before { .. } => {
                Step::Known(Range::of_type(Elem::Data(node.ty)))
            }
        }
    }

    /// The place of an expression in what [`Coordinates::ranges`] gives.
    pub(crate) fn place(&self, e: ExprId) -> usize {
        self.at.get(&e).copied().unwrap_or(0)
    }

    /// The values of all expressions, where variables have these, into `done`.
    pub(crate) fn ranges(&self, variables: &[(i64, i64)], done: &mut Vec<Range>) {
        done.clear();
        for step in &self.steps {
            let made = match step {
                Step::Known(range) => *range,
                Step::Variable(n) => variables.get(*n).map_or(Range::Any, |(first, last)| Range::Int(*first, *last)),
                Step::Unary(op, a, ty) => range::unary(*op, done[*a], *ty),
                Step::Binary(op, [a, b], of, ty) => range::binary(*op, done[*a], done[*b], *of, *ty),
                Step::Select([c, a, b]) => match done[*c].value() {
                    Some(holds) => done[if holds == 0 { *b } else { *a }],
                    None => done[*a].or(done[*b]),
                },
                Step::Cast(a, elem, saturating) => done[*a].cast(*elem, *saturating),
                Step::Same(a) => done[*a],
                Step::Any(all) => {
                    let first = all.first().map_or(Range::Any, |a| done[*a]);
                    all.iter().fold(first, |range, a| range.or(done[*a]))
                }
            };
            done.push(made);
        }
    }
}
