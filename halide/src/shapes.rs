//! Shapes of calls, for code whose sizes are known.

use crate::error::Error;
use halide_core::Pipeline;
use halide_core::buffer::Region;
use halide_core::error::Location;
use halide_core::interp::RunError;
use halide_core::shape::BufferOf;
use std::collections::BTreeMap;

/// The regions that the buffers of a call lie over: a setting of [`Compiler::shapes`](crate::Compiler::shapes), and the
/// key of a [`ShapeCache`](crate::ShapeCache).
///
/// ```
/// use halide::prelude::*;
/// let input = ImageParam::new("input", U8, 1);
/// let x = Var::new("x");
/// let mut f = Func::new("f");
/// f[x] = input[x] / 2;
/// let pipeline = Pipeline::new([&f])?;
/// let shapes = Shapes::of_outputs([Region::of_extents([640])]).input("input", Region::of_extents([640]));
/// let compiled = Compiler::new(&pipeline).shapes(&shapes).compile()?;
/// let call = compiled.inputs().image(&input, Buffer::<u8>::new([640])?);
/// assert!(call.realize::<u8>([640]).is_ok());
/// assert!(call.realize::<u8>([320]).is_err());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
#[must_use]
pub struct Shapes {
    outputs: Vec<Region>,
    inputs: BTreeMap<String, Region>,
}

impl Shapes {
    /// Outputs over these regions, one per output Func; inputs of any size.
    pub fn of_outputs(regions: impl IntoIterator<Item = Region>) -> Shapes {
        Shapes { outputs: regions.into_iter().collect(), inputs: BTreeMap::new() }
    }
    /// The image called `name` lies over `region`.
    pub fn input(mut self, name: &str, region: Region) -> Shapes {
        self.inputs.insert(name.to_string(), region);
        self
    }

    /// `pipeline` with the rules that calls have these shapes, made at `at`, beside those that it has.
    pub(crate) fn rule(&self, pipeline: &Pipeline, at: Location) -> Result<Pipeline, Error> {
        let (expected, found) = (pipeline.outputs.len(), self.outputs.len());
        if expected != found {
            return Err(RunError::OutputCount { expected, found }.into());
        }
        let mut data = (**pipeline).clone();
        for (&func, region) in pipeline.outputs.iter().zip(&self.outputs) {
            let def = &pipeline.funcs[func];
            let (expected, found) = (def.dims(), region.dims());
            if expected != found {
                return Err(RunError::OutputDims { func: def.name.clone(), expected, found }.into());
            }
            let wrong = |error| RunError::Output { func: def.name.clone(), error };
            region.check().map_err(wrong)?;
            data.add_region(BufferOf::Output(func), region, at)?;
        }
        for (name, region) in &self.inputs {
            let given = || pipeline.images.enumerate().filter(|(id, _)| !pipeline.is_result(*id));
            let Some((id, def)) = given().find(|(_, i)| i.name == *name) else {
                let known = given().map(|(_, i)| i.name.clone()).collect();
                return Err(RunError::UnknownImage { image: name.clone(), known }.into());
            };
            let (expected, found) = (def.dims, region.dims());
            if expected != found {
                return Err(RunError::ImageDims { image: name.clone(), expected, found }.into());
            }
            let wrong = |error| RunError::Image { image: name.clone(), error };
            region.check().map_err(wrong)?;
            data.add_region(BufferOf::Image(id), region, at)?;
        }
        Ok(Pipeline::from_data(data))
    }
}
