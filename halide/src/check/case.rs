//! Cases: sizes, inputs and parameters, and the results that are right for them.

use super::engines::{Runner, regions_text};
use super::outcome::{Agreed, Cause, Disagreement};
use super::values::{drawn, input};
use crate::call::Call;
use crate::compiled::Compiled;
use crate::compiler::Compiler;
use crate::difference;
use crate::engine::Engine;
use crate::error::Error;
use crate::fault::FaultKind;
use crate::input_requirements::InputNeed;
use crate::pipeline::Pipeline;
use halide_core::buffer::{AnyBuffer, Coordinate, Region, Span};
use halide_core::interp::{Inputs, RunError};
use halide_core::pipeline::ImageDef;
use halide_core::promise::{CoordinatePromise, ValuePromise};
use halide_core::value::Scalar;
use halide_ir::target::Target;
use halide_sched::schedule::Schedule;

/// The regions of the outputs of a run, with inputs and parameters. Those that are not given are drawn at random:
/// inputs of just the size that the run needs, parameters from their ranges.
#[derive(Clone, Debug)]
pub struct Case {
    outputs: Vec<Region>,
    /// True if the one region is that of every output.
    for_all: bool,
    images: Vec<(String, AnyBuffer)>,
    params: Vec<(String, Scalar)>,
    seed: u64,
}

impl Case {
    /// Outputs of these extents, from coordinate 0 on; several outputs are equally large.
    pub fn new<C: Coordinate>(extents: impl AsRef<[C]>) -> Case {
        Case { for_all: true, ..Case::of_regions([Region::of_extents(extents)]) }
    }

    /// Outputs over these regions, one per output Func.
    pub fn of_regions(regions: impl IntoIterator<Item = Region>) -> Case {
        let outputs = regions.into_iter().collect();
        Case { outputs, for_all: false, images: Vec::new(), params: Vec::new(), seed: 0 }
    }

    /// The image called `name` is this buffer.
    pub fn image(mut self, name: &str, buffer: impl Into<AnyBuffer>) -> Case {
        self.images.push((name.to_string(), buffer.into()));
        self
    }

    /// The parameter called `name` is `value`.
    pub fn param(mut self, name: &str, value: impl Into<Scalar>) -> Case {
        self.params.push((name.to_string(), value.into()));
        self
    }

    /// Draws from this seed what is not given.
    pub fn seed(self, seed: u64) -> Case {
        Case { seed, ..self }
    }

    /// Returns the images that are given, with their names.
    pub fn images(&self) -> &[(String, AnyBuffer)] {
        &self.images
    }

    /// Returns the parameters that are given, with their names.
    pub fn params(&self) -> &[(String, Scalar)] {
        &self.params
    }

    /// The sizes as text.
    pub(super) fn text(&self) -> String {
        regions_text(&self.outputs)
    }
}

impl<C: Coordinate, const N: usize> From<[C; N]> for Case {
    fn from(extents: [C; N]) -> Case {
        Case::new(extents)
    }
}

impl From<Region> for Case {
    fn from(region: Region) -> Case {
        Case { for_all: true, ..Case::of_regions([region]) }
    }
}

/// A case with what is right for it.
pub(super) struct Prepared {
    text: String,
    regions: Vec<Region>,
    given: Inputs,
    /// The names of the images that are given.
    images: Vec<String>,
    /// The regions that the interpreter reads of the others.
    needs: Vec<InputNeed>,
    seed: u64,
    right: Result<Vec<AnyBuffer>, Error>,
}

impl Prepared {
    /// Computes the results by the reference interpreter.
    pub(super) fn new(case: &Case, pipeline: &Pipeline, target: &Target) -> Result<Prepared, Cause> {
        let (expected, found) = (pipeline.outputs.len(), case.outputs.len());
        let regions = match (case.for_all, &case.outputs[..]) {
            (true, [region]) => vec![region.clone(); expected],
            _ if expected == found => case.outputs.clone(),
            _ => return Err(Cause::Case(RunError::OutputCount { expected, found }.into())),
        };
        let mut given = Inputs::new();
        let params = pipeline.params.iter().enumerate();
        for (n, param) in params {
            let said = case.params.iter().find(|(name, _)| *name == param.name);
            let value = said.map_or_else(|| drawn(param, case.seed ^ n as u64), |(_, value)| *value);
            given = given.param(&param.name, value);
        }
        for (name, value) in case.params.iter().filter(|(name, _)| pipeline.params.iter().all(|p| p.name != *name)) {
            given = given.param(name, *value);
        }
        for (name, buffer) in &case.images {
            given = given.image(name, buffer.clone());
        }
        let images = case.images.iter().map(|(name, _)| name.clone()).collect();
        let right = Ok(Vec::new());
        let (text, seed, needs) = (case.text(), case.seed, Vec::new());
        let mut prepared = Prepared { text, regions, given, images, needs, seed, right };
        // The interpreter takes no heed of the schedule, and bounds inference is quick where nothing is inline.
        let root = Schedule::all_at_root(pipeline);
        let reference = Compiler::new(pipeline).engine(Engine::Interp).schedule(&root).target(target).compile();
        let reference = reference.map_err(Cause::Case)?;
        if !prepared.has_all_images(&reference) {
            let call = prepared.call(&reference, &prepared.given);
            prepared.needs = call.infer_input_bounds(&prepared.regions).map_err(Cause::Case)?;
        }
        let inputs = prepared.inputs(&reference, Room::Least).map_err(Cause::Case)?;
        prepared.right = prepared.call(&reference, &inputs).realize_all(&prepared.regions);
        match &prepared.right {
            // A requirement of the algorithm that fails is a result, too.
            Err(error) if !is_requirement(error) => Err(Cause::Case(error.clone())),
            _ => Ok(prepared),
        }
    }

    fn call<'c>(&self, compiled: &'c Compiled, inputs: &Inputs) -> Call<'c> {
        compiled.inputs().with_given(inputs).print_to(|_| {})
    }

    /// Returns true if every image is given.
    fn has_all_images(&self, compiled: &Compiled) -> bool {
        compiled.whole().images.iter().all(|image| self.images.contains(&image.name))
    }

    /// The sizes of inputs to run with.
    fn rooms(&self, compiled: &Compiled) -> &'static [Room] {
        if self.has_all_images(compiled) { &[Room::Least] } else { &[Room::Least, Room::Most] }
    }

    /// Inputs with random values for those that are not given.
    fn inputs(&self, compiled: &Compiled, room: Room) -> Result<Inputs, Error> {
        let mut all = self.given.clone();
        if self.has_all_images(compiled) {
            return Ok(all);
        }
        let needs = self.call(compiled, &self.given).infer_input_bounds(&self.regions)?;
        for (n, need) in needs.iter().enumerate().filter(|(_, need)| !self.images.contains(&need.name)) {
            let image = compiled.whole().images.iter().find(|image| image.name == need.name);
            let promise = image.map(|image| self.promise(compiled.whole(), image)).unwrap_or_default();
            all = all.image(&need.name, input(need, room.of(need), promise, self.seed ^ (n as u64) << 32)?);
        }
        Ok(all)
    }

    /// The promises about the elements of an image. Coordinates are those of what the interpreter reads, for inputs of
    /// every size.
    fn promise(&self, pipeline: &Pipeline, image: &ImageDef) -> ValuePromise {
        let span = |promise: &CoordinatePromise| {
            let name = &pipeline.images[promise.image].name;
            let read = self.needs.iter().find(|need| need.name == *name).map(|need| need.region.spans()[promise.dim]);
            self.given.get(name).map(|buffer| buffer.dims()[promise.dim].span()).or(read)
        };
        let spans = image.coordinates.iter().filter_map(span);
        spans.fold(image.values, |all, Span { min, extent }| {
            all.and(ValuePromise { range: Some((min, min + extent - 1)), ..ValuePromise::default() })
        })
    }

    /// The first difference that any engine makes of a schedule.
    pub(super) fn differs(&self, schedule: &Schedule, runners: &[Runner], agreed: &mut Agreed) -> Option<Disagreement> {
        for runner in runners {
            for &room in self.rooms(&runner.compiled) {
                let inputs = self.inputs(&runner.compiled, room);
                for &threads in &runner.threads {
                    agreed.runs += 1;
                    if let Err(cause) = self.run(schedule, runner, inputs.as_ref(), threads, agreed) {
                        let engine = runner.text(threads);
                        return Some(Disagreement { case: self.text.clone(), engine, ..Disagreement::of(cause) });
                    }
                }
            }
        }
        None
    }

    fn run(
        &self,
        schedule: &Schedule,
        runner: &Runner,
        inputs: Result<&Inputs, &Error>,
        threads: usize,
        agreed: &mut Agreed,
    ) -> Result<(), Cause> {
        let inputs = inputs.map_err(|error| Cause::Error(error.clone()))?;
        let found = self.call(&runner.compiled, inputs).threads(threads).realize_all(&self.regions);
        let (right, found) = match (&self.right, found) {
            (Ok(right), Ok(found)) => (right, found),
            (Ok(_), Err(error)) => return Err(Cause::Error(error)),
            (Err(expected), Ok(_)) => return Err(Cause::NoError(expected.clone())),
            (Err(_), Err(error)) if is_requirement(&error) => return Ok(()),
            (Err(_), Err(error)) => return Err(Cause::OtherError(error)),
        };
        let outputs = runner.compiled.outputs().into_iter().flat_map(|func| func.types.iter().map(|_| &func.name));
        for ((right, found), output) in right.iter().zip(&found).zip(outputs) {
            agreed.values += right.len();
            if let Some((at, expected, found)) = difference::first(right, found, schedule.reassociates()) {
                return Err(Cause::Value { output: output.clone(), at, expected, found });
            }
        }
        Ok(())
    }
}

/// Returns true if a run ended since a requirement of the algorithm does not hold.
fn is_requirement(error: &Error) -> bool {
    match error {
        Error::Run(RunError::Require { .. }) => true,
        Error::Fault(fault) => fault.kind() == FaultKind::Requirement,
        _ => false,
    }
}

/// The size of inputs.
#[derive(Clone, Copy)]
enum Room {
    /// The size that the run must have.
    Least,
    /// The size that the main variant of the code wants.
    Most,
}

impl Room {
    fn of(self, need: &InputNeed) -> &Region {
        match self {
            Room::Least => &need.region,
            Room::Most => &need.roomy,
        }
    }
}
