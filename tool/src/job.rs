//! One app at work: what an image, or random values, become as its inputs, and what its outputs become as an image.

use crate::app::{App, Edges, Settings, Takes};
use crate::estimate::{Layout, Shape, needs, points};
use crate::inferred;
use crate::input::{Input, Picture, White};
pub use crate::job_error::JobError;
use crate::memory;
use crate::params;
use crate::shown;
use halide::buffer::Span;
use halide::call::RunStats;
use halide::check::Case;
use halide::isa::{Heuristic, IsaOptions, Mapped};
use halide::machine::Machine;
use halide::prelude::*;
use halide::tune::Tuning;
use image::DynamicImage;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The width and height of the parts that [`Job::check`] compares.
const CHECKED_SIZE: i64 = 16;

/// The data that an app works on.
#[derive(Clone, Debug)]
pub enum Source {
    /// An image; the output is as large, with repeated edges, unless the app gives another size.
    Image(Arc<DynamicImage>),
    /// Random values for an output of this size, with as much around it as the app reads.
    Random {
        /// The seed of the values.
        seed: u64,
        /// Width of the output, at least 1.
        width: i64,
        /// Height of the output, at least 1.
        height: i64,
    },
}

/// An app with its inputs: some runs of one pipeline, usually one.
pub struct Job {
    /// The app; what it takes of an image is decided.
    pub app: App,
    /// Its algorithm.
    pub pipeline: Pipeline,
    /// Width and height of the output.
    pub size: (i64, i64),
    params: Vec<(String, Scalar)>,
    pub(crate) runs: Vec<Vec<(String, AnyBuffer)>>,
    pub(crate) extents: Vec<i64>,
    original: Option<Arc<DynamicImage>>,
    /// The brightest value of the first input.
    white: u32,
    /// The words for what the image is taken as, if it is not taken as it is.
    pub taken_as: Option<String>,
    /// The colour profile (ICC) of the image's file, if it has one.
    pub profile: Option<Vec<u8>>,
    /// The memory cap of runs in bytes, if one was asked for.
    memory_cap: Option<u64>,
}

/// The difference of a result from the interpreter's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// The largest difference of two values; infinite where one is a NaN and the other is not, and where a value lacks.
    pub largest: f64,
    /// The largest value that was expected, without its sign.
    pub magnitude: f64,
    /// True if values are integers.
    pub integers: bool,
    /// The number of values that were compared.
    pub compared: u64,
}

impl Job {
    /// An app on a source, with settings and parameters by name.
    ///
    /// # Errors
    /// Names and values that there are not, and inputs that are too large.
    pub fn new(app: &'static App, source: Source, given: &[(String, String)]) -> Result<Job, JobError> {
        Job::within(app, source, given, None)
    }
    /// [`Job::new`] where all may take so many bytes of memory, by default what the machine has: the image, inputs,
    /// outputs, the result, and what runs need.
    ///
    /// # Errors
    /// As there; more memory, before any of it is allocated.
    pub fn within(
        app: &'static App,
        source: Source,
        given: &[(String, String)],
        cap: Option<u64>,
    ) -> Result<Job, JobError> {
        let edges = match source {
            Source::Random { .. } => Edges::Inside,
            Source::Image(_) => Edges::Repeat,
        };
        let mut settings = Settings::new(app, edges);
        let rest = settings.take(app, given).map_err(JobError::Given)?;
        let pipeline = (app.pipeline)(&settings).map_err(Error::from)?;
        if pipeline.outputs.len() != 1 || pipeline.funcs[pipeline.outputs[0]].types.len() != 1 {
            let text = "has several outputs, of which the command line shows one; make it a pipeline of one value";
            return Err(JobError::Given(format!("`{}` {text}", app.name)));
        }
        let app = &inferred::with_takes(app, &pipeline);
        let params = params::resolve(&pipeline, &rest).map_err(JobError::Given)?;
        let (width, height) = match &source {
            Source::Random { width, height, .. } => (*width, *height),
            Source::Image(image) => (i64::from(image.width()), i64::from(image.height())),
        };
        let (shape, channels) = match &source {
            Source::Random { .. } => (Shape::RANDOM, None),
            Source::Image(image) => (Shape::of(image.color()), Some(u64::from(image.color().channel_count()))),
        };
        let layout = Layout::new(app, &settings, (&pipeline, &params), (width, height), channels)?;
        for input in &layout.inputs {
            Region::of_spans(&input.region).check().map_err(Error::from)?;
        }
        Region::of_extents(&layout.extents).check().map_err(Error::from)?;
        let mut parts = needs(app, &pipeline, &layout, shape).to_vec();
        if let (Source::Image(image), Some(_)) = (&source, cap) {
            // What the machine has does not count it any more.
            parts.push(("the image", image.as_bytes().len() as u64));
        }
        memory::check(&parts, cap).map_err(JobError::Memory)?;
        let memory_cap = cap.map(|cap| cap.saturating_sub(memory::total(&parts)));
        let Layout { inputs, extents } = layout;
        let (mut taken_as, mut white) = (None, inputs.first().map_or(1, |input| input.white.of_random()));
        let (runs, original) = match source {
            Source::Random { seed, .. } => {
                let all = inputs.iter().zip(seed..).map(|(input, seed)| Ok((input.name.clone(), input.random(seed)?)));
                (vec![all.collect::<Result<Vec<_>, Error>>()?], None)
            }
            Source::Image(image) => {
                let stored = Picture::new(&image).white;
                white = inputs.first().map_or(stored, |input| input.white.of(stored));
                taken_as = inputs.iter().find_map(|input| taken(input, stored, pictures(app.takes, &image).first()?));
                let all = pictures(app.takes, &image).into_iter().map(|picture| {
                    let of = |input: &Input| Ok((input.name.clone(), input.of(&picture)?));
                    inputs.iter().map(of).collect::<Result<Vec<_>, Error>>()
                });
                (all.collect::<Result<Vec<_>, Error>>()?, Some(image))
            }
        };
        let size = shown::size(app, &extents);
        Ok(Job {
            app: *app,
            pipeline,
            size,
            params,
            runs,
            extents,
            original,
            white,
            taken_as,
            profile: None,
            memory_cap,
        })
    }

    /// Buffers for the outputs: one per run.
    ///
    /// # Errors
    /// Too large an output.
    pub fn outputs(&self) -> Result<Vec<AnyBuffer>, Error> {
        let ty = self.pipeline.funcs[self.pipeline.outputs[0]].types[0];
        self.runs.iter().map(|_| Ok(AnyBuffer::new(ty, &self.extents)?)).collect()
    }

    /// Runs everything once. The statistics are those of the run that took the most memory.
    ///
    /// # Errors
    /// Of the run.
    pub fn run(
        &self,
        compiled: &Compiled,
        threads: Option<usize>,
        outputs: &mut [AnyBuffer],
    ) -> Result<RunStats, Error> {
        self.run_with(compiled, threads, None, outputs)
    }

    /// [`Job::run`] that another thread can end by `cancel`.
    ///
    /// # Errors
    /// Errors of the run; [`Error::Cancelled`].
    pub fn run_with(
        &self,
        compiled: &Compiled,
        threads: Option<usize>,
        cancel: Option<&Cancel>,
        outputs: &mut [AnyBuffer],
    ) -> Result<RunStats, Error> {
        let mut most = RunStats::default();
        for (inputs, output) in self.runs.iter().zip(outputs) {
            let call = cancel.into_iter().fold(self.call(compiled, inputs, threads), Call::cancel_with);
            let stats = call.realize_all_into(&mut [output.view_mut()?])?;
            most.peak_bytes = most.peak_bytes.max(stats.peak_bytes);
        }
        Ok(most)
    }

    /// The runs as cases of a [`Check`](halide::check::Check).
    pub fn cases(&self) -> Vec<Case> {
        let output = Region::of_extents(self.extents.clone());
        let case = |inputs: &Vec<(String, AnyBuffer)>| {
            let case = Case::of_regions([output.clone()]);
            let case = inputs.iter().fold(case, |case, (name, buffer)| case.image(name, buffer.clone()));
            self.params.iter().fold(case, |case, (name, value)| case.param(name, *value))
        };
        self.runs.iter().map(case).collect()
    }

    /// Computes parts of the outputs (two corners and the middle) with `reference` and says how far they are apart.
    ///
    /// # Errors
    /// Of the runs of `reference`.
    pub fn check(&self, reference: &Compiled, outputs: &[AnyBuffer]) -> Result<Difference, Error> {
        self.check_with(reference, None, outputs)
    }

    /// [`Job::check`] that another thread can end by `cancel`.
    ///
    /// # Errors
    /// Of the runs of `reference`; [`Error::Cancelled`].
    pub fn check_with(
        &self,
        reference: &Compiled,
        cancel: Option<&Cancel>,
        outputs: &[AnyBuffer],
    ) -> Result<Difference, Error> {
        let mut difference = Difference::default();
        if outputs.len() != self.runs.len() {
            difference.largest = f64::INFINITY;
        }
        for (inputs, output) in self.runs.iter().zip(outputs) {
            for region in self.checked_regions() {
                let call = cancel.into_iter().fold(self.call(reference, inputs, None), Call::cancel_with);
                let expected = call.realize_all(std::slice::from_ref(&region))?.swap_remove(0);
                difference.add(&expected, &output.crop(&region)?);
            }
        }
        Ok(difference)
    }

    /// The outputs as an image of the depth of the source, with its alpha if it fits; 16 bit for random values.
    /// Nothing if the app's output is no image.
    ///
    /// # Errors
    /// Too large an image.
    pub fn image(&self, outputs: &[AnyBuffer]) -> Result<Option<DynamicImage>, Error> {
        shown::image(&self.app, self.original.as_ref(), self.white, outputs)
    }

    /// Returns true if the image has alpha, and what its outputs became has none.
    pub fn lost_alpha(&self, shown: &DynamicImage) -> bool {
        self.original.as_ref().is_some_and(|image| image.color().has_alpha()) && !shown.color().has_alpha()
    }

    /// The colour profile for what outputs became: that of the image, unless one of the two is grey only.
    pub fn profile_of(&self, shown: &DynamicImage) -> Option<&[u8]> {
        /// The place of the signature of the colour space in the head of a profile.
        const SPACE: std::ops::Range<usize> = 16..20;
        let space: &[u8] = if shown.color().has_color() { b"RGB " } else { b"GRAY" };
        self.profile.as_deref().filter(|profile| profile.get(SPACE) == Some(space))
    }

    /// The operations on floats of all runs, where the app counts in these.
    pub fn operations(&self) -> Option<f64> {
        let of_point = (self.app.operations?)(&self.extents) as f64;
        Some(of_point * points(&self.extents) as f64 * self.runs.len() as f64)
    }

    /// Explains what the loops of a run cost, as text. Apps that run several times, once for each channel, do the same
    /// each time.
    ///
    /// # Errors
    /// As of [`Call::explain_nest`].
    pub fn explain_nest(&self, compiled: &Compiled) -> Result<String, Error> {
        let inputs = self.runs.first().map_or(&[][..], |inputs| inputs);
        self.call(compiled, inputs, None).explain_nest(&[Region::of_extents(self.extents.clone())])
    }

    /// Chooses a schedule for the sizes and parameters of a run.
    ///
    /// # Errors
    /// As of [`Pipeline::auto_schedule`].
    pub fn auto_schedule(&self, target: &Target, options: &AutoOptions) -> Result<halide::auto::Auto, Error> {
        self.pipeline.auto_schedule_with(target, &self.estimates(), options)
    }

    /// Chooses instructions for the sizes and parameters of a run.
    ///
    /// # Errors
    /// As of [`Pipeline::auto_isa`].
    pub fn auto_isa(&self, target: &Target, options: &IsaOptions) -> Result<Mapped, Error> {
        self.pipeline.auto_isa_with(target, &self.estimates(), options, &mut Heuristic)
    }

    /// Predicts the time of a schedule for the sizes and parameters of a run.
    ///
    /// # Errors
    /// As of [`Pipeline::price`].
    pub fn price(
        &self,
        machine: &Machine,
        schedule: &Schedule,
        target: &Target,
    ) -> Result<halide::auto::Priced, Error> {
        self.pipeline.price_on(machine, schedule, target, &self.estimates())
    }

    /// Prices a schedule, with at most `count` single steps from it that are predicted to make it faster.
    ///
    /// # Errors
    /// As of [`Pipeline::advise`].
    pub fn advise(
        &self,
        machine: &Machine,
        schedule: &Schedule,
        target: &Target,
        count: usize,
    ) -> Result<halide::auto::Advised, Error> {
        self.pipeline.advise_on(machine, schedule, target, &self.estimates(), count)
    }

    /// Prepares a tuning for the sizes, inputs and parameters of a run: of several, the first, since they do the same.
    pub fn tuner(&self, target: &Target) -> Tuning<'_> {
        let inputs = self.runs.first().into_iter().flatten().map(|(name, buffer)| (name.as_str(), buffer.clone()));
        let tuning = self.pipeline.tuner(target, &self.estimates()).inputs(inputs);
        self.memory_cap.into_iter().fold(tuning, Tuning::memory_cap)
    }

    /// The sizes and parameters of a run.
    pub fn estimates(&self) -> Estimates {
        let output = &self.pipeline.funcs[self.pipeline.outputs[0]].name;
        let sizes = Estimates::new().output(output, &self.extents);
        let extents = |buffer: &AnyBuffer| buffer.dims().iter().map(|d| d.extent).collect::<Vec<i64>>();
        let inputs = self.runs.first().into_iter().flatten();
        let sizes = inputs.fold(sizes, |sizes, (name, buffer)| sizes.input(name, extents(buffer)));
        self.params.iter().fold(sizes, |sizes, (name, value)| sizes.param(name, *value))
    }

    /// The bytes of each image of the first run.
    pub(crate) fn image_bytes(&self) -> BTreeMap<String, u64> {
        let bytes = |buffer: &AnyBuffer| buffer.len() * buffer.ty().bytes() as u64;
        let inputs = self.runs.first().into_iter().flatten();
        inputs.map(|(name, buffer)| (name.clone(), bytes(buffer))).collect()
    }

    pub(crate) fn call<'c>(
        &self,
        compiled: &'c Compiled,
        inputs: &[(String, AnyBuffer)],
        threads: Option<usize>,
    ) -> Call<'c> {
        let mut call = compiled.inputs();
        for (name, buffer) in inputs {
            call = call.image_named(name, buffer);
        }
        for (name, value) in &self.params {
            call = call.param_named(name, *value);
        }
        let call = threads.into_iter().fold(call, Call::threads);
        self.memory_cap.into_iter().fold(call, Call::memory_cap)
    }

    fn checked_regions(&self) -> Vec<Region> {
        let span = |size: i64, at: i64| {
            let extent = size.min(CHECKED_SIZE);
            Span { min: (size - extent) * at / 2, extent }
        };
        let region = |at: i64| self.extents.iter().map(|&extent| span(extent, at)).collect();
        let mut regions: Vec<Region> = (0..=2).map(region).collect();
        regions.dedup();
        regions
    }
}

impl std::fmt::Display for Difference {
    /// Writes the rest of a sentence whose subject is the result.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.largest {
            0.0 => f.write_str("agrees with the interpreter"),
            largest => write!(f, "differs from the interpreter by {largest} at most"),
        }
    }
}

impl Difference {
    /// Also counts how far `got` is from `expected`. A result that lacks points is infinitely far.
    pub fn add(&mut self, expected: &AnyBuffer, got: &AnyBuffer) {
        self.integers = !expected.ty().is_float();
        for at in expected.coords() {
            let (Some(a), Some(b)) = (expected.get(&at), got.get(&at)) else {
                self.largest = f64::INFINITY;
                continue;
            };
            self.compared += 1;
            let size = a.as_f64().abs();
            if size.is_finite() {
                self.magnitude = self.magnitude.max(size);
            }
            if !a.same(b) {
                let apart = (a.as_f64() - b.as_f64()).abs();
                self.largest = self.largest.max(if apart.is_nan() { f64::INFINITY } else { apart });
            }
        }
    }
    /// Returns true if a schedule may differ so: not at all, unless it is `loose`, which lets floats be rounded
    /// otherwise. Nothing is allowed where nothing was compared.
    pub fn is_allowed(&self, loose: bool) -> bool {
        let allowed = match (loose, self.integers) {
            (false, _) => 0.0,
            (true, true) => 1.0,
            (true, false) => 1e-4 * self.magnitude,
        };
        self.compared > 0 && self.largest <= allowed
    }
}

/// The words for what an input takes a picture as, if it does not take it as it is; its brightest value is `stored`.
fn taken(input: &Input, stored: u32, picture: &Picture) -> Option<String> {
    let white = input.white.of(stored);
    let scaled = || format!("values from 0 to {white} in place of {stored}, so that its sums do not wrap");
    let is_scaled = matches!(input.white, White::AtMost(_)) && white < stored;
    (input.taken_as)(picture).map(str::to_string).or_else(|| is_scaled.then(scaled))
}

/// Returns the pictures that the runs of an app take of an image.
fn pictures(takes: Takes, image: &Arc<DynamicImage>) -> Vec<Picture> {
    let picture = Picture::new(image);
    let color = image.color();
    let of_color =
        |rest: &[usize]| if color.has_color() { [&[0, 1, 2], rest].concat() } else { [&[0, 0, 0], rest].concat() };
    // A channel that is not there is 1.
    let alpha = if color.has_alpha() { picture.channels() - 1 } else { usize::MAX };
    match takes {
        Takes::EachChannel => (0..picture.channels()).map(|c| picture.with(&[c])).collect(),
        Takes::Channels => vec![picture],
        Takes::Rgb | Takes::AsRead | Takes::Nothing => vec![picture.with(&of_color(&[]))],
        Takes::Rgba => vec![picture.with(&of_color(&[alpha]))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(extent: i64) -> AnyBuffer {
        Buffer::from_fn(&Region::of_extents([extent]), |at| at[0] as f32).unwrap().into()
    }

    #[test]
    fn results_that_lack_points_are_not_equal() {
        for (extent, equal) in [(9, true), (8, false), (0, false), (12, true)] {
            let mut difference = Difference::default();
            difference.add(&ramp(9), &ramp(extent));
            assert_eq!(
                (difference.largest == 0.0, difference.is_allowed(false)),
                (equal, equal),
                "{extent} of 9 points"
            );
            assert_eq!(difference.is_allowed(true), equal, "{extent} of 9 points");
        }
    }

    #[test]
    fn nothing_compared_is_not_equal() {
        let mut difference = Difference::default();
        assert!(!difference.is_allowed(true));
        difference.add(&ramp(0), &ramp(0));
        assert!(!difference.is_allowed(true));
    }
}
