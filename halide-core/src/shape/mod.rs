//! Rules for the caller's buffers, which a pipeline makes for the mins, extents and strides of its inputs and outputs.
//! Code is compiled for them, and every run checks them first.
//!
//! ```
//! use halide_core::{Func, ImageParam, Pipeline, types::U8, vars};
//! let input = ImageParam::new("input", U8, 2);
//! // Rows of whole words, three planes one after the other in memory.
//! input.dim(0).set_extent_multiple_of(4).set_min(0);
//! input.dim(1).set_extent(input.dim(0).extent() * 2);
//! let (x, y) = vars!(x, y);
//! let mut f = Func::new("f");
//! f[(x, y)] = input[(x, y)] + 1;
//! f.output().dim(1).set_stride_multiple_of(16);
//! assert_eq!(Pipeline::new([&f])?.shapes.len(), 4);
//! # Ok::<(), halide_core::error::AlgorithmErrors>(())
//! ```

pub(crate) mod rules;

pub(crate) use crate::graph::shape::{OpenLaw, OpenRule, OpenShape};
pub use rules::{AlignmentRule, BufferOf, Estimate, Law, ShapeRule};

use crate::buffer::Span;
use crate::error::Location;
use crate::expr::IntoExpr;
use crate::graph::func::FuncBody;
use crate::graph::image::ImageBody;
use crate::pipeline::{DimField, PipelineData};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

impl BufferOf {
    /// `input `in``, `output `f``.
    pub fn describe(self, pipeline: &PipelineData) -> String {
        match self {
            BufferOf::Image(image) => format!("input `{}`", pipeline.images[image].name),
            BufferOf::Output(func) => format!("output `{}`", pipeline.funcs[func].name),
        }
    }
}

/// Describes a rule for messages: `stride 3`, `an extent that is a multiple of 16`.
pub fn describe_rule(field: DimField, multiple: bool, value: i64) -> String {
    let (name, article) = match field {
        DimField::Min => ("min", "a"),
        DimField::Extent => ("extent", "an"),
        DimField::Stride => ("stride", "a"),
    };
    if multiple { format!("{article} {name} that is a multiple of {value}") } else { format!("{name} {value}") }
}

/// Strides for a buffer with these coordinates, as small as they can be where `fixed` says nothing, in the order of
/// those that it gives, with gaps where those need them; and multiples of what `multiple` says, at least 1. Where
/// `fixed` asks for what cannot be, strides are larger.
pub fn dense_strides(
    spans: &[Span],
    fixed: &dyn Fn(usize) -> Option<i64>,
    multiple: &dyn Fn(usize) -> i64,
) -> Vec<i64> {
    let extent = |dim: usize| spans[dim].extent.max(1);
    let rounded = |value: i64, n: i64| value.saturating_add(n - 1) / n * n;
    let mut wanted: Vec<(i64, usize)> = (0..spans.len()).filter_map(|d| Some((fixed(d)?, d))).collect();
    wanted.sort_unstable();
    let mut free: VecDeque<usize> = (0..spans.len()).filter(|d| fixed(*d).is_none()).collect();
    let (mut strides, mut next) = (vec![1i64; spans.len()], 1i64);
    let mut place = |dim: usize, stride: i64, next: &mut i64| {
        strides[dim] = stride;
        *next = stride.saturating_mul(extent(dim));
    };
    for (asked, dim) in wanted {
        // What fits below this stride goes there.
        while let Some(&first) = free.front()
            && next < asked
            && next.saturating_mul(extent(first)) <= asked
        {
            free.pop_front();
            place(first, rounded(next, multiple(first)), &mut next);
        }
        place(dim, asked.max(next), &mut next);
    }
    for dim in free {
        place(dim, rounded(next, multiple(dim)), &mut next);
    }
    strides
}

/// The image or Func whose buffer the rules are for.
#[derive(Clone)]
enum Owner {
    Image(Rc<ImageBody>),
    Func(Rc<FuncBody>),
}

impl Owner {
    fn shape(&self) -> &OpenShape {
        match self {
            Owner::Image(body) => &body.shape,
            Owner::Func(body) => &body.shape,
        }
    }
}

/// The buffer of an output: what it is to be like. Made by [`Func::output`](crate::Func::output).
pub struct OutputShape {
    body: Rc<FuncBody>,
}

impl OutputShape {
    pub(crate) fn of_func(body: Rc<FuncBody>) -> OutputShape {
        OutputShape { body }
    }
    /// Its dimension `d`.
    pub fn dim(&self, d: usize) -> ShapeDim {
        ShapeDim { of: Owner::Func(self.body.clone()), dim: d }
    }
    /// Demands that the first element is at an address that is a multiple of `bytes`, a power of two.
    #[track_caller]
    pub fn set_host_alignment(&self, bytes: u64) {
        self.body.shape.alignments.borrow_mut().push((bytes, Location::caller()));
    }
}

/// One dimension of a buffer that the caller gives, to make rules for. A rule is a fact that code is compiled with, and
/// is checked when the pipeline runs. Values are integers made of constants, parameters and image dimensions.
#[derive(Clone)]
pub struct ShapeDim {
    of: Owner,
    dim: usize,
}

impl ShapeDim {
    pub(crate) fn of_image(body: Rc<ImageBody>, dim: usize) -> ShapeDim {
        ShapeDim { of: Owner::Image(body), dim }
    }
    /// Demands this first coordinate.
    #[track_caller]
    pub fn set_min(self, min: impl IntoExpr) -> ShapeDim {
        self.rule(DimField::Min, OpenLaw::Is(min.expr()), Location::caller())
    }
    /// Demands this many coordinates.
    #[track_caller]
    pub fn set_extent(self, extent: impl IntoExpr) -> ShapeDim {
        self.rule(DimField::Extent, OpenLaw::Is(extent.expr()), Location::caller())
    }
    /// Demands this distance in elements between neighbours.
    #[track_caller]
    pub fn set_stride(self, stride: impl IntoExpr) -> ShapeDim {
        self.rule(DimField::Stride, OpenLaw::Is(stride.expr()), Location::caller())
    }
    /// Demands this first coordinate and this many.
    #[track_caller]
    pub fn set_bounds(self, min: impl IntoExpr, extent: impl IntoExpr) -> ShapeDim {
        let at = Location::caller();
        self.rule(DimField::Min, OpenLaw::Is(min.expr()), at).rule(DimField::Extent, OpenLaw::Is(extent.expr()), at)
    }
    /// Demands a first coordinate that is a multiple of `n`, at least 1.
    #[track_caller]
    pub fn set_min_multiple_of(self, n: i64) -> ShapeDim {
        self.rule(DimField::Min, OpenLaw::MultipleOf(n), Location::caller())
    }
    /// Demands a number of coordinates that is a multiple of `n`, at least 1.
    #[track_caller]
    pub fn set_extent_multiple_of(self, n: i64) -> ShapeDim {
        self.rule(DimField::Extent, OpenLaw::MultipleOf(n), Location::caller())
    }
    /// Demands a stride that is a multiple of `n`, at least 1.
    #[track_caller]
    pub fn set_stride_multiple_of(self, n: i64) -> ShapeDim {
        self.rule(DimField::Stride, OpenLaw::MultipleOf(n), Location::caller())
    }
    /// Gives the expected coordinates. Nothing is checked, and results do not depend on it.
    #[track_caller]
    pub fn set_estimate(self, min: i32, extent: i32) -> ShapeDim {
        self.of.shape().estimates.borrow_mut().push((self.dim, min, extent, Location::caller()));
        self
    }

    /// A later rule about the same property takes the place of an earlier one of its kind.
    fn rule(self, field: DimField, law: OpenLaw, at: Location) -> ShapeDim {
        let kind = |law: &OpenLaw| matches!(law, OpenLaw::Is(_));
        let mut rules = self.of.shape().rules.borrow_mut();
        rules.retain(|r| (r.dim, r.field, kind(&r.law)) != (self.dim, field, kind(&law)));
        rules.push(OpenRule { dim: self.dim, field, law, at });
        drop(rules);
        self
    }
}

impl fmt::Debug for ShapeDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match &self.of {
            Owner::Image(body) => &body.name,
            Owner::Func(body) => &body.name,
        };
        write!(f, "ShapeDim({} of {name})", self.dim)
    }
}
