//! The input images of a case: as large as what is read of them.

use crate::case::Case;
use halide::buffer::Span;
use halide::prelude::*;
use halide_core::ids::{Id, ImageId};
use halide_core::interp::Inputs;
use halide_core::pipeline::{DimField, ImageDef};
use halide_core::shape::dense_strides;

/// The most elements of one input image or output; a case that needs more is refused.
pub(crate) const MOST_ELEMENTS: u64 = 1 << 17;

/// The requirement of a rule on a dimension of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ruled {
    pub(crate) dim: usize,
    pub(crate) field: DimField,
    /// True if multiples of `needed` will do.
    pub(crate) multiple: bool,
    pub(crate) needed: i64,
}

impl Ruled {
    /// The coordinates that are as the rule says and hold those of `span` where they can; `None` where none are.
    pub(crate) fn span(self, Span { min, extent }: Span) -> Option<Span> {
        let (n, end) = (self.needed, min.checked_add(extent)?);
        Some(match (self.field, self.multiple) {
            (DimField::Min, true) => {
                let first = min.div_euclid(n) * n;
                Span { min: first, extent: end - first }
            }
            (DimField::Min, false) => Span { min: n, extent: end.checked_sub(n)?.max(1) },
            (DimField::Extent, true) => Span { min, extent: extent.checked_add(n - 1)? / n * n },
            (DimField::Extent, false) if n >= 1 => Span { min, extent: n },
            (DimField::Extent, false) => return None,
            (DimField::Stride, _) => Span { min, extent },
        })
    }
}

/// The images of a run: their regions and values.
pub(crate) struct Sizes {
    regions: Vec<Region>,
    /// Rules for strides that were met.
    strides: Vec<Vec<Ruled>>,
    /// In the order of the pipeline's images.
    pub(crate) buffers: Vec<AnyBuffer>,
    case: Case,
}

impl Sizes {
    /// Images around the origin.
    pub(crate) fn new(case: &Case) -> Sizes {
        let regions = case.pipeline.images.iter().map(|i| Region::new(vec![Span { min: -1, extent: 9 }; i.dims]));
        let strides = vec![Vec::new(); case.pipeline.images.len()];
        let mut sizes = Sizes { regions: regions.collect(), strides, buffers: Vec::new(), case: case.clone() };
        for image in case.pipeline.images.ids() {
            let buffer = sizes.fill(image);
            sizes.buffers.push(buffer);
        }
        sizes
    }

    fn fill(&self, image: ImageId) -> AnyBuffer {
        let (def, region) = (&self.case.pipeline.images[image], &self.regions[image.index()]);
        let rules = &self.strides[image.index()];
        let of = |dim: usize, multiple: bool| {
            let mine = rules.iter().filter(move |r| r.dim == dim && r.multiple == multiple);
            mine.map(|r| r.needed).max()
        };
        let strides = dense_strides(region.spans(), &|dim| of(dim, false), &|dim| of(dim, true).unwrap_or(1));
        let mut made = AnyBuffer::with_strides(def.ty, region, &strides).map_err(|e| e.to_string());
        let region_of = |image: ImageId| Some(self.regions[image.index()].clone());
        let filled = made.as_mut().map_err(|e| e.clone()).and_then(|buffer| self.case.fill(def, buffer, &region_of));
        match (made, filled) {
            (Ok(buffer), Ok(())) => buffer,
            (Err(e), _) | (_, Err(e)) => panic!("a small image cannot be made: {e}"),
        }
    }

    /// Fills an image anew, and those that hold its coordinates.
    fn refill(&mut self, image: usize) {
        let images = self.case.pipeline.images.enumerate();
        let holds = |def: &ImageDef| def.coordinates.iter().any(|promise| promise.image.index() == image);
        let all: Vec<ImageId> =
            images.filter(|(id, def)| id.index() == image || holds(def)).map(|(id, _)| id).collect();
        for id in all {
            self.buffers[id.index()] = self.fill(id);
        }
    }

    /// Makes an image be as a rule says; false if that cannot be or is so already.
    pub(crate) fn obey(&mut self, image: usize, rule: Ruled) -> bool {
        if rule.field == DimField::Stride {
            let rules = &mut self.strides[image];
            if rules.contains(&rule) || rule.needed < 1 || rule.needed > 64 {
                return false;
            }
            rules.retain(|r| (r.dim, r.multiple) != (rule.dim, rule.multiple));
            rules.push(rule);
        } else {
            let mut spans = self.regions[image].spans().to_vec();
            let Some(span) = rule.span(spans[rule.dim]) else { return false };
            spans[rule.dim] = span;
            let region = Region::new(spans);
            if region == self.regions[image] || region.points().is_none_or(|n| n > MOST_ELEMENTS) {
                return false;
            }
            self.regions[image] = region;
        }
        self.refill(image);
        true
    }

    /// Returns true if `grow` would succeed.
    pub(crate) fn fits(&self, image: usize, dim: usize, span: Span) -> bool {
        let region = hull(&self.regions[image], dim, span);
        region.points().is_some_and(|n| n <= MOST_ELEMENTS) && region != self.regions[image]
    }

    /// Makes an image hold `span` in one dimension too; false if that is too much.
    pub(crate) fn grow(&mut self, image: usize, dim: usize, span: Span) -> bool {
        if !self.fits(image, dim, span) {
            return false;
        }
        self.regions[image] = hull(&self.regions[image], dim, span);
        self.refill(image);
        true
    }

    /// The region of an image.
    pub(crate) fn region(&self, image: ImageId) -> Region {
        self.regions[image.index()].clone()
    }

    /// Returns the inputs for the interpreter.
    pub(crate) fn given(&self, case: &Case) -> Inputs {
        let images = case.pipeline.images.iter().zip(&self.buffers);
        let inputs = images.fold(Inputs::new(), |all, (i, b)| all.image(&i.name, b.clone()));
        case.pipeline.params.iter().fold(inputs, |all, p| all.param(&p.name, case.param(p)))
    }
}

/// The region with one dimension that holds `span` too.
pub(crate) fn hull(region: &Region, dim: usize, span: Span) -> Region {
    let mut spans = region.spans().to_vec();
    let (min, end) = (spans[dim].min.min(span.min), spans[dim].end().max(span.end()));
    spans[dim] = Span { min, extent: end.saturating_sub(min) };
    Region::new(spans)
}
