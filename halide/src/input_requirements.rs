//! Requirements of a call on its inputs: to allocate them, or to know before a run that they are too small.

use crate::error::Error;
use halide_core::buffer::{AnyBuffer, BufferError, Region};
use halide_core::ids::ImageId;
use halide_core::interp::{Inputs, PartlyBound};
use halide_core::pipeline::{DimField, Kind, PipelineData};
use halide_core::shape::{BufferOf, Law, ShapeRule, dense_strides};
use halide_core::types::ScalarType;
use halide_sched::lower::LowerOptions;
use halide_sched::lower::regions::query::ShapeQuery;
use halide_sched::plan::Plan;

/// The requirements of a call on one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputNeed {
    /// The input's name.
    pub name: String,
    /// Its element type.
    pub ty: ScalarType,
    /// The region that it must have, at least. It is a box that holds every pixel that the interpreter would read; that
    /// may be more than those pixels, where coordinates depend on data, or on each other.
    pub region: Region,
    /// The region with which the main variant of the code runs, which may round reads up; with less another variant
    /// runs, after it was compiled once.
    pub roomy: Region,
    /// Strides in elements that suit the algorithm's rules for a buffer over `region`; dense ones where there is no
    /// rule.
    pub strides: Vec<i64>,
    /// The first element must be at an address that is a multiple of this many bytes; 1 is any.
    pub alignment: u64,
}

impl InputNeed {
    /// A zeroed buffer that is as needed. Buffers begin at addresses that are multiples of 64 bytes.
    ///
    /// # Errors
    /// No memory; or strides that no buffer can have.
    pub fn allocate(&self) -> Result<AnyBuffer, BufferError> {
        AnyBuffer::with_strides(self.ty, &self.region, &self.strides)
    }
}

/// The questions that a compiled pipeline can answer.
pub(crate) struct Queries {
    exact: ShapeQuery,
    main: ShapeQuery,
}

impl Queries {
    pub(crate) fn new(plan: &Plan) -> Result<Queries, Error> {
        let exact = LowerOptions { exact_tails: true, ..LowerOptions::default() };
        Ok(Queries {
            exact: ShapeQuery::new(plan, &exact).map_err(Error::Lower)?,
            main: ShapeQuery::new(plan, &LowerOptions::default()).map_err(Error::Lower)?,
        })
    }

    /// Returns the requirements on every image of `pipeline`.
    pub(crate) fn needs(
        &self,
        pipeline: &PipelineData,
        inputs: &Inputs,
        regions: &[Region],
    ) -> Result<Vec<InputNeed>, Error> {
        let PartlyBound { images, params } = inputs.bind_partly(pipeline)?;
        let exact = self.exact.needs(regions, &images, &params).map_err(Error::Query)?;
        let main = self.main.needs(regions, &images, &params).map_err(Error::Query)?;
        let alignment = |of: BufferOf| {
            let rules = pipeline.alignments.iter().filter(|r| r.of == of);
            rules.map(|r| r.bytes).max().unwrap_or(1)
        };
        let need = |(id, image): (ImageId, &halide_core::pipeline::ImageDef)| InputNeed {
            name: image.name.clone(),
            ty: image.ty,
            region: exact[id].region.clone(),
            roomy: main[id].region.clone(),
            strides: exact[id].strides.clone(),
            alignment: alignment(BufferOf::Image(id)),
        };
        Ok(pipeline.images.enumerate().map(need).collect())
    }
}

/// Needs of one input from several sides.
#[derive(Default)]
pub(crate) struct Spans(Vec<InputNeed>);

impl Spans {
    /// Also this.
    pub(crate) fn add(&mut self, need: InputNeed) {
        let Some(known) = self.0.iter_mut().find(|n| n.name == need.name) else { return self.0.push(need) };
        known.region = known.region.around(&need.region);
        known.roomy = known.roomy.around(&need.roomy);
        known.alignment = known.alignment.max(need.alignment);
    }
    /// Also this region of an image.
    pub(crate) fn add_region(&mut self, pipeline: &PipelineData, image: ImageId, region: &Region) {
        let def = &pipeline.images[image];
        let rules = pipeline.alignments.iter().filter(|r| r.of == BufferOf::Image(image));
        self.add(InputNeed {
            name: def.name.clone(),
            ty: def.ty,
            region: region.clone(),
            roomy: region.clone(),
            strides: Vec::new(),
            alignment: rules.map(|r| r.bytes).max().unwrap_or(1),
        });
    }
    /// All of it, `first` first. Strides suit the rules of `pipeline` that are constants.
    pub(crate) fn joined(self, pipeline: &PipelineData, first: Vec<InputNeed>) -> Vec<InputNeed> {
        let mut all = Spans(first.clone());
        self.0.into_iter().for_each(|need| all.add(need));
        for need in all.0.iter_mut().filter(|need| !first.contains(need)) {
            need.strides = ruled_strides(pipeline, &need.name, &need.region);
        }
        all.0
    }
}

/// Strides for a buffer over `region` that suit the rules for the image called `name`, as far as these are constants.
fn ruled_strides(pipeline: &PipelineData, name: &str, region: &Region) -> Vec<i64> {
    let image = pipeline.images.enumerate().find(|(_, image)| image.name == *name).map(|(id, _)| BufferOf::Image(id));
    let rules = |dim: usize| {
        let mine = move |r: &&ShapeRule| Some(r.of) == image && r.dim == dim && r.field == DimField::Stride;
        pipeline.shapes.iter().filter(mine)
    };
    let fixed = |dim: usize| {
        rules(dim).find_map(|r| match r.law {
            Law::Is(e) => match pipeline.exprs[e].kind {
                Kind::Const(value) => Some(value.as_i64()),
                _ => None,
            },
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
