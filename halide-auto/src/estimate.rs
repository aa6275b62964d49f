//! Sizes that a schedule is made for: those of outputs and inputs, and the values of parameters.

use halide_core::buffer::{Region, Span};
use halide_core::ids::{IdVec, ImageId, ParamId};
use halide_core::pipeline::{FuncDef, ParamDef, Pipeline};
use halide_core::shape::BufferOf;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::spelling::closest;
use std::collections::BTreeMap;
use std::fmt;

/// The sizes that a schedule is made for. They decide what is fast, and never what is legal or right: the schedule runs
/// at all sizes.
///
/// Sizes of inputs follow from those of outputs, unless an algorithm goes over all of an input, as histograms do: then
/// say them. What is not said here is what the algorithm estimates
/// ([`ShapeDim::set_estimate`](halide_core::shape::ShapeDim::set_estimate)) and the defaults of parameters.
///
/// ```
/// use halide_auto::Estimates;
/// let sizes = Estimates::new().output("equalised", [6400, 4800]).input("photo", [6400, 4800]).param("levels", 8);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimates {
    outputs: BTreeMap<String, Vec<i64>>,
    inputs: BTreeMap<String, Vec<i64>>,
    params: BTreeMap<String, Scalar>,
}

/// Estimates with nothing missing, for one pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Complete {
    /// The region of each output.
    pub regions: Vec<Region>,
    /// The region of each input of which one is said.
    pub images: IdVec<ImageId, Option<Region>>,
    /// The value of each parameter.
    pub params: IdVec<ParamId, Scalar>,
}

/// A mistake in estimates.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum EstimateError {
    /// An output without a size.
    NoSize {
        /// The output.
        output: String,
        /// Its dimensions.
        dims: usize,
    },
    /// A size for an input that there is not.
    UnknownInput {
        /// The name.
        name: String,
        /// An input of a similar name.
        near: Option<String>,
    },
    /// A size for a Func that is no output.
    UnknownOutput {
        /// The name.
        name: String,
        /// An output of a similar name.
        near: Option<String>,
    },
    /// A size of another number of dimensions.
    Dims {
        /// The output or input.
        buffer: String,
        /// Its dimensions.
        dims: usize,
        /// The number of extents given.
        given: usize,
    },
    /// An extent that no buffer has.
    Extent {
        /// The output or input.
        buffer: String,
        /// The dimension.
        dim: usize,
        /// The extent.
        extent: i64,
    },
    /// A parameter without a default and without a value.
    NoValue {
        /// The parameter.
        param: String,
    },
    /// A value for a parameter that there is not.
    UnknownParam {
        /// The name.
        name: String,
        /// A parameter of a similar name.
        near: Option<String>,
    },
    /// A value that the parameter cannot have.
    Value {
        /// The parameter.
        param: String,
        /// Its type.
        ty: ScalarType,
        /// The smallest and the largest value that it may have, where there are limits.
        range: (Option<Scalar>, Option<Scalar>),
        /// The value given.
        given: Scalar,
    },
}

/// The largest extent of an output: coordinates are 32 bits wide.
const MOST_EXTENT: i64 = i32::MAX as i64;

impl Estimates {
    /// Estimates that say nothing.
    pub fn new() -> Estimates {
        Estimates::default()
    }

    /// Says the extents of the output called `name`, first dimension first.
    pub fn output(mut self, name: &str, extents: impl AsRef<[i64]>) -> Estimates {
        self.outputs.insert(name.to_string(), extents.as_ref().to_vec());
        self
    }

    /// Says the extents of the input called `name`, first dimension first.
    pub fn input(mut self, name: &str, extents: impl AsRef<[i64]>) -> Estimates {
        self.inputs.insert(name.to_string(), extents.as_ref().to_vec());
        self
    }

    /// Says the value of the parameter called `name`; a number of another type is converted where that is exact.
    pub fn param(mut self, name: &str, value: impl Into<Scalar>) -> Estimates {
        self.params.insert(name.to_string(), value.into());
        self
    }

    /// Completes these estimates for a pipeline.
    ///
    /// # Errors
    /// Every mistake: what is missing, unknown, or impossible.
    pub fn complete(&self, pipeline: &Pipeline) -> Result<Complete, Vec<EstimateError>> {
        let mut errors = Vec::new();
        let outputs: Vec<&FuncDef> = pipeline.outputs.iter().map(|f| &pipeline.funcs[*f]).collect();
        for name in self.outputs.keys().filter(|name| outputs.iter().all(|f| f.name != **name)) {
            let near = closest(name, outputs.iter().map(|f| f.name.as_str())).map(str::to_string);
            errors.push(EstimateError::UnknownOutput { name: name.clone(), near });
        }
        for name in self.params.keys().filter(|name| pipeline.params.iter().all(|p| p.name != **name)) {
            let near = closest(name, pipeline.params.iter().map(|p| p.name.as_str())).map(str::to_string);
            errors.push(EstimateError::UnknownParam { name: name.clone(), near });
        }
        for name in self.inputs.keys().filter(|name| pipeline.images.iter().all(|i| i.name != **name)) {
            let near = closest(name, pipeline.images.iter().map(|i| i.name.as_str())).map(str::to_string);
            errors.push(EstimateError::UnknownInput { name: name.clone(), near });
        }
        let (mut regions, mut images) = (Vec::new(), IdVec::new());
        for (id, func) in pipeline.outputs.iter().zip(&outputs) {
            let (name, dims) = (func.name.as_str(), func.dims());
            let region = region(pipeline, BufferOf::Output(*id), (name, dims), self.outputs.get(name));
            match region.and_then(|r| r.ok_or(EstimateError::NoSize { output: name.to_string(), dims })) {
                Ok(region) => regions.push(region),
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
        for (id, image) in pipeline.images.enumerate() {
            let (name, dims) = (image.name.as_str(), image.dims);
            match region(pipeline, BufferOf::Image(id), (name, dims), self.inputs.get(name)) {
                Ok(region) => drop(images.push(region)),
                Err(error) => errors.push(error),
            }
        }
        let mut params = IdVec::new();
        for param in pipeline.params.iter() {
            match self.value(param) {
                Ok(value) => drop(params.push(value)),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Complete { regions, images, params }) } else { Err(errors) }
    }

    fn value(&self, param: &ParamDef) -> Result<Scalar, EstimateError> {
        let Some(&given) = self.params.get(&param.name) else {
            return param.default.ok_or_else(|| EstimateError::NoValue { param: param.name.clone() });
        };
        let value = halide_core::value::cast(param.ty, given);
        let (below, above) = (param.min, param.max);
        let is_within = below.is_none_or(|min| value.as_f64() >= min.as_f64())
            && above.is_none_or(|max| value.as_f64() <= max.as_f64());
        if value.as_f64() == given.as_f64() && is_within {
            return Ok(value);
        }
        Err(EstimateError::Value { param: param.name.clone(), ty: param.ty, range: (below, above), given })
    }
}

/// The region of a buffer: with the extents given, or as the algorithm estimates all of its dimensions.
fn region(
    pipeline: &Pipeline,
    of: BufferOf,
    (name, dims): (&str, usize),
    given: Option<&Vec<i64>>,
) -> Result<Option<Region>, EstimateError> {
    let Some(extents) = given else {
        let estimated = |dim: usize| {
            let own = pipeline.estimates.iter().rev().find(|e| e.of == of && e.dim == dim)?;
            Some(Span { min: own.min.into(), extent: own.extent.into() })
        };
        let spans: Option<Vec<Span>> = (0..dims).map(estimated).collect();
        return Ok(spans.map(Region::new));
    };
    let buffer = name.to_string();
    if extents.len() != dims {
        return Err(EstimateError::Dims { buffer, dims, given: extents.len() });
    }
    match extents.iter().position(|e| !(1..=MOST_EXTENT).contains(e)) {
        Some(dim) => Err(EstimateError::Extent { buffer, dim, extent: extents[dim] }),
        None => Ok(Some(Region::of_extents(extents))),
    }
}

impl fmt::Display for EstimateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hint = |near: &Option<String>| near.as_ref().map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        match self {
            EstimateError::NoSize { output, dims } => {
                write!(f, "output `{output}` has no size; estimate its {dims} extents")
            }
            EstimateError::UnknownOutput { name, near } => {
                write!(f, "the pipeline has no output `{name}`, of which a size is estimated{}", hint(near))
            }
            EstimateError::UnknownInput { name, near } => {
                write!(f, "the pipeline has no input `{name}`, of which a size is estimated{}", hint(near))
            }
            EstimateError::Dims { buffer, dims, given } => {
                write!(f, "`{buffer}` has {dims} dimensions, and {given} extents are estimated; give one for each")
            }
            EstimateError::Extent { buffer, dim, extent } => {
                write!(f, "dimension {dim} of `{buffer}` is estimated as {extent}; extents are 1 to {MOST_EXTENT}")
            }
            EstimateError::NoValue { param } => {
                write!(f, "parameter `{param}` has neither a default nor an estimate; estimate its value")
            }
            EstimateError::UnknownParam { name, near } => {
                write!(f, "the pipeline has no parameter `{name}`, of which a value is estimated{}", hint(near))
            }
            EstimateError::Value { param, ty, range: (min, max), given } => {
                write!(f, "parameter `{param}` cannot be {given}; it is a {ty}")?;
                min.iter().try_for_each(|min| write!(f, ", at least {min}"))?;
                max.iter().try_for_each(|max| write!(f, ", at most {max}"))
            }
        }
    }
}

halide_core::debug_is_display!(EstimateError);

impl std::error::Error for EstimateError {}
