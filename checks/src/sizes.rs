//! The input images of a case: as large as what is read of them.

use crate::case::Case;
use halide::buffer::Span;
use halide::prelude::*;
use halide_core::ids::{Id, ImageId};
use halide_core::interp::Inputs;

/// The most elements of one input image or output; a case that needs more is refused.
pub(crate) const MOST_ELEMENTS: u64 = 1 << 17;

/// The images of a run: their regions and values.
pub(crate) struct Sizes {
    regions: Vec<Region>,
    /// In the order of the pipeline's images.
    pub(crate) buffers: Vec<AnyBuffer>,
    case: Case,
}

impl Sizes {
    /// Images around the origin.
    pub(crate) fn new(case: &Case) -> Sizes {
        let regions = case.pipeline.images.iter().map(|i| Region::new(vec![Span { min: -1, extent: 9 }; i.dims]));
        let mut sizes = Sizes { regions: regions.collect(), buffers: Vec::new(), case: case.clone() };
        for image in case.pipeline.images.ids() {
            let buffer = sizes.fill(image);
            sizes.buffers.push(buffer);
        }
        sizes
    }

    fn fill(&self, image: ImageId) -> AnyBuffer {
        let def = &self.case.pipeline.images[image];
        let made = self.case.image(&def.name, def.ty, &self.regions[image.index()]);
        made.unwrap_or_else(|e| panic!("a small image cannot be made: {e}"))
    }

    /// Whether `grow` would do it.
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
        self.buffers[image] = self.fill(ImageId::new(image));
        true
    }

    /// What the interpreter takes.
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
