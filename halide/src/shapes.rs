//! Code for calls whose sizes are known.
//!
//! ```
//! use halide::prelude::*;
//! # fn main() -> Result<(), Error> {
//! let input = ImageParam::new("input", U8, 2);
//! let (x, y) = vars!(x, y);
//! let mut f = Func::new("f");
//! f[(x, y)] = input[(x, y)] / 2 + input[(x + 1, y)] / 2;
//! let pipeline = Pipeline::new([&f])?;
//! let made = ByShape::new(&pipeline, &"f: vectorize(x, 16)".parse()?, &Target::host());
//! for (width, height) in [(640, 480), (320, 240), (640, 480)] {
//!     let compiled = made.get(&Shapes::of_outputs([Region::of_extents([width, height])]))?;
//!     let image = Buffer::<u8>::new([width + 1, height]).unwrap();
//!     let out: Buffer<u8> = compiled.inputs().image(&input, image).realize([width, height])?;
//! }
//! assert_eq!(made.shapes().len(), 2);
//! # Ok(())
//! # }
//! ```

use crate::compile::{Compile, Compiled, Engine};
use crate::error::Error;
use halide_core::Pipeline;
use halide_core::buffer::Region;
use halide_core::error::Location;
use halide_core::interp::RunError;
use halide_core::shape::BufferOf;
use halide_ir::target::Target;
use halide_sched::schedule::Schedule;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The regions that the buffers of a call lie over.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
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

    /// `pipeline` with the rules that calls have these shapes, made at `at`.
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
            data.add_region(BufferOf::Output(func), region, at);
        }
        for (name, region) in &self.inputs {
            let Some((id, def)) = pipeline.images.enumerate().find(|(_, i)| i.name == *name) else {
                let known = pipeline.images.iter().map(|i| i.name.clone()).collect();
                return Err(RunError::UnknownImage { image: name.clone(), known }.into());
            };
            let (expected, found) = (def.dims, region.dims());
            if expected != found {
                return Err(RunError::ImageDims { image: name.clone(), expected, found }.into());
            }
            data.add_region(BufferOf::Image(id), region, at);
        }
        Ok(Pipeline::from_data(data))
    }
}

/// Code that is made when it is first needed; who needs it meanwhile waits.
type Made = Arc<OnceLock<Result<Compiled, Error>>>;

/// One pipeline and schedule, compiled for each shape that is asked for. Keeps what was used last.
pub struct ByShape {
    pipeline: Pipeline,
    schedule: Schedule,
    target: Target,
    engine: Engine,
    most: usize,
    at: Location,
    /// The compiled pipelines, the one used last at the end.
    made: Mutex<Vec<(Shapes, Made)>>,
}

impl ByShape {
    /// Nothing is compiled yet. Code for up to 64 shapes is kept.
    #[track_caller]
    pub fn new(pipeline: &Pipeline, schedule: &Schedule, target: &Target) -> ByShape {
        ByShape {
            pipeline: pipeline.clone(),
            schedule: schedule.clone(),
            target: *target,
            engine: Engine::default(),
            most: 64,
            at: Location::caller(),
            made: Mutex::default(),
        }
    }
    /// The same for one of the engines that need no device to be opened.
    pub fn on(self, engine: Engine) -> ByShape {
        ByShape { engine, ..self }
    }
    /// The same, keeping code for up to so many shapes (at least one).
    pub fn keep(self, most: usize) -> ByShape {
        ByShape { most: most.max(1), ..self }
    }

    /// The code for calls of these shapes, compiled now if it is not there.
    ///
    /// # Errors
    /// As of [`Compile::compile_for_shapes`].
    pub fn get(&self, shapes: &Shapes) -> Result<Compiled, Error> {
        let entry = self.entry(shapes);
        let compile = || {
            let ruled = shapes.rule(&self.pipeline, self.at)?;
            ruled.compile_on(self.engine, &self.schedule, &self.target)
        };
        entry.get_or_init(compile).clone()
    }
    /// The shapes that code is kept for; what was used last comes last.
    pub fn shapes(&self) -> Vec<Shapes> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().map(|(shapes, _)| shapes.clone()).collect()
    }

    fn entry(&self, shapes: &Shapes) -> Made {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().position(|(s, _)| s == shapes);
        let entry = known.map_or_else(|| (shapes.clone(), Made::default()), |i| made.remove(i));
        let code = entry.1.clone();
        made.push(entry);
        if made.len() > self.most {
            made.remove(0);
        }
        code
    }
}
