//! Checks that the caller's buffers are as the pipeline's rules say. Every engine asks before it begins.

use super::bound::Bound;
use super::broken_rule::BrokenRule;
use super::error::RunError;
use super::inputs::Inputs;
use super::program;
use crate::buffer::{AnyBuffer, AnyBufferMut, Dim, Region};
use crate::error::Location;
use crate::ids::{ExprId, FuncId, ImageId};
use crate::ops::BinOp;
use crate::pipeline::{DimField, Kind, Node, PipelineData};
use crate::shape::{BufferOf, Law, ShapeRule, dense_strides};
use crate::types::ScalarType;
use crate::value::Scalar;

/// The properties of a buffer that rules are about: its dimensions, and the address of its first element.
pub struct Given {
    dims: Vec<Dim>,
    address: usize,
    is_empty: bool,
}

impl From<&AnyBuffer> for Given {
    fn from(buffer: &AnyBuffer) -> Given {
        let memory = buffer.memory();
        let address = (memory.bytes.as_ptr() as usize).wrapping_add(memory.first);
        Given { dims: buffer.dims().to_vec(), address, is_empty: buffer.is_empty() }
    }
}

impl From<&AnyBufferMut<'_>> for Given {
    fn from(view: &AnyBufferMut<'_>) -> Given {
        let is_empty = view.region().is_empty();
        Given { dims: view.dims().to_vec(), address: view.first_address(), is_empty }
    }
}

impl Bound {
    /// The value of an expression of parameters, image dimensions and constants; `None` if it is no such expression, or
    /// overflows.
    fn value(&self, pipeline: &PipelineData, e: crate::ids::ExprId) -> Option<i64> {
        match &pipeline.exprs[e].kind {
            Kind::Const(value) => Some(value.as_i64()),
            _ => program::uniform(pipeline, self, e),
        }
    }

    /// The rules that a buffer breaks, of those whose values are `known`.
    fn broken(
        &self,
        pipeline: &PipelineData,
        of: BufferOf,
        given: &Given,
        known: &dyn Fn(ExprId) -> bool,
        out: &mut Vec<BrokenRule>,
    ) {
        let buffer = of.describe(pipeline);
        let is_known = |law: &Law| match law {
            Law::Is(e) => known(*e),
            Law::MultipleOf(_) => true,
        };
        for rule in pipeline.shapes.iter().filter(|r| r.of == of && is_known(&r.law)) {
            let Some(dim) = given.dims.get(rule.dim) else { continue };
            let (found, field) = match rule.field {
                DimField::Min => (dim.min, rule.field),
                DimField::Extent => (dim.extent, rule.field),
                DimField::Stride => (dim.stride, rule.field),
            };
            let (needed, multiple) = match rule.law {
                Law::MultipleOf(n) => (n, true),
                Law::Is(e) => match self.value(pipeline, e) {
                    Some(value) => (value, false),
                    None => {
                        out.push(BrokenRule::Overflow { buffer: buffer.clone(), dim: rule.dim, at: rule.at });
                        continue;
                    }
                },
            };
            if (multiple && found % needed != 0) || (!multiple && found != needed) {
                let (buffer, dim, at) = (buffer.clone(), rule.dim, rule.at);
                out.push(BrokenRule::Dim { buffer, dim, field, multiple, needed, found, at });
            }
        }
        for rule in pipeline.alignments.iter().filter(|r| r.of == of && !given.is_empty) {
            let beyond = given.address as u64 % rule.bytes;
            if beyond != 0 {
                let (buffer, bytes, at) = (buffer.clone(), rule.bytes, rule.at);
                out.push(BrokenRule::Alignment { buffer, bytes, beyond, at });
            }
        }
    }

    /// Checks the rules for inputs.
    pub(super) fn check_inputs(&self, pipeline: &PipelineData) -> Result<(), RunError> {
        let mut broken = Vec::new();
        for (id, buffer) in self.images.enumerate() {
            self.broken(pipeline, BufferOf::Image(id), &buffer.into(), &|_| true, &mut broken);
        }
        if broken.is_empty() { Ok(()) } else { Err(RunError::Rules(broken)) }
    }

    /// Checks the rules for an image whose elements lie in another buffer than that of [`Bound::images`]: in `given`.
    ///
    /// # Errors
    /// [`RunError::Rules`] with every rule that is broken.
    pub fn check_input(&self, pipeline: &PipelineData, image: ImageId, given: &Given) -> Result<(), RunError> {
        let mut broken = Vec::new();
        self.broken(pipeline, BufferOf::Image(image), given, &|_| true, &mut broken);
        if broken.is_empty() { Ok(()) } else { Err(RunError::Rules(broken)) }
    }

    /// Checks the rules for the outputs' buffers: one per element of each output, in order.
    ///
    /// # Errors
    /// [`RunError::Rules`] with every rule that is broken.
    pub fn check_outputs(
        &self,
        pipeline: &PipelineData,
        buffers: impl IntoIterator<Item = Given>,
    ) -> Result<(), RunError> {
        let mut broken = Vec::new();
        let elements = pipeline.outputs.iter().flat_map(|f| pipeline.funcs[*f].types.iter().map(move |_| *f));
        for (func, given) in elements.zip(buffers) {
            self.broken(pipeline, BufferOf::Output(func), &given, &|_| true, &mut broken);
        }
        broken.dedup();
        if broken.is_empty() { Ok(()) } else { Err(RunError::Rules(broken)) }
    }

    /// Strides for a buffer for `func` over `region` with which the rules for its strides hold, where any do: in the
    /// order of the strides that rules ask for, dimensions without such a rule in between, and gaps where a rule needs
    /// them.
    pub fn strides(&self, pipeline: &PipelineData, func: FuncId, region: &Region) -> Vec<i64> {
        let rules = |dim: usize| {
            let of = BufferOf::Output(func);
            pipeline.shapes.iter().filter(move |r| (r.of, r.dim, r.field) == (of, dim, DimField::Stride))
        };
        let fixed = |dim: usize| {
            rules(dim).find_map(|r| match r.law {
                Law::Is(e) => self.value(pipeline, e),
                Law::MultipleOf(_) => None,
            })
        };
        let multiple = |dim: usize| {
            rules(dim).fold(1, |n, r| match r.law {
                Law::MultipleOf(m) => n.max(m),
                Law::Is(_) => n,
            })
        };
        dense_strides(region.spans(), &fixed, &multiple)
    }
}

impl Inputs {
    /// Checks the rules for the images that are given, as far as these mention no others.
    ///
    /// # Errors
    /// As of [`Inputs::bind_partly`], and [`RunError::Rules`] with every rule that is broken.
    pub fn check_rules(&self, pipeline: &PipelineData) -> Result<(), RunError> {
        let partly = self.bind_partly(pipeline)?;
        let stand_in = |id| {
            let def = &pipeline.images[id];
            let empty = Region::of_spans(vec![(0, 0); def.dims]);
            AnyBuffer::with_region(def.ty, &empty).map_err(|error| RunError::Image { image: def.name.clone(), error })
        };
        let images = partly.images.enumerate().map(|(id, image)| image.clone().map_or_else(|| stand_in(id), Ok));
        let bound = Bound { images: images.collect::<Result<_, _>>()?, params: partly.params };
        let is_there = |e: &ExprId| match pipeline.exprs[*e].kind {
            Kind::ImageDim { image, .. } => partly.images[image].is_some(),
            _ => true,
        };
        let known = |e: ExprId| pipeline.reachable(&[e]).iter().all(is_there);
        let mut broken = Vec::new();
        for (id, image) in partly.images.enumerate() {
            if let Some(image) = image {
                bound.broken(pipeline, BufferOf::Image(id), &image.into(), &known, &mut broken);
            }
        }
        if broken.is_empty() { Ok(()) } else { Err(RunError::Rules(broken)) }
    }
}

impl PipelineData {
    /// Adds the rules that the buffer `of` lies over `region`, which has its dimensions and passes [`Region::check`].
    /// Other rules for it stay.
    ///
    /// # Errors
    /// [`RunError::Rules`] with every rule of constants that no buffer over `region` follows.
    pub fn add_region(&mut self, of: BufferOf, region: &Region, at: Location) -> Result<(), RunError> {
        let (buffer, mut broken) = (of.describe(self), Vec::new());
        for (dim, span) in region.spans().iter().enumerate() {
            for (field, found) in [(DimField::Min, span.min), (DimField::Extent, span.extent)] {
                let mut is_said = false;
                for rule in self.shapes.iter().filter(|r| (r.of, r.dim, r.field) == (of, dim, field)) {
                    let (needed, multiple) = match rule.law {
                        Law::MultipleOf(n) => (n, true),
                        Law::Is(e) => match self.exprs[e].kind {
                            Kind::Const(value) => (value.as_i64(), false),
                            _ => continue,
                        },
                    };
                    is_said |= !multiple;
                    if (multiple && found % needed != 0) || (!multiple && found != needed) {
                        let (buffer, at, shaped) = (buffer.clone(), rule.at, at);
                        broken.push(BrokenRule::Shape { buffer, dim, field, multiple, needed, found, at, shaped });
                    }
                }
                if !is_said {
                    let law = Law::Is(self.whole(found));
                    self.shapes.push(ShapeRule { of, dim, field, law, at });
                }
            }
        }
        if broken.is_empty() { Ok(()) } else { Err(RunError::Rules(broken)) }
    }

    /// A number as index arithmetic: a constant, or a sum of constants where it is no `I32`.
    fn whole(&mut self, value: i64) -> ExprId {
        let kind = match i32::try_from(value) {
            Ok(value) => Kind::Const(Scalar::from(value)),
            Err(_) => Kind::Binary(BinOp::Add, self.whole(value / 2), self.whole(value - value / 2)),
        };
        self.exprs.push(Node { kind, ty: ScalarType::I32 })
    }
}
