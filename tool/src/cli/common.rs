//! Code that the commands share: finding apps and schedules, inputs, timing, progress.

use super::args_common::{Backend, CommonArgs};
use super::failure::Failure;
use super::gpu::{self, Gpu};
use super::terminal::busy;
use super::tool::Tool;
use crate::app::{App, Edges, Takes};
use crate::estimate::{self, Shape};
use crate::files;
use crate::inferred;
use crate::job::{Difference, Job, JobError, Source};
use halide::Tier;
use halide::error::Problem;
use halide::machine::Machine;
use halide::machine_file;
use halide::prelude::*;
use halide::schedule::{Amount, closest};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const SAMPLE_NAME: &str = "the sample photograph";

/// The app called `name`.
pub(crate) fn find_app(tool: &Tool, name: &str) -> Result<&'static App, Failure> {
    let names = || tool.apps.iter().map(|a| a.name);
    tool.app(name).ok_or_else(|| {
        Failure(match closest(name, names()) {
            Some(near) => format!("there is no app `{name}`; did you mean `{near}`?"),
            None => format!("there is no app `{name}`; there are {}", names().collect::<Vec<_>>().join(", ")),
        })
    })
}

/// A schedule that was named, with its text.
pub(crate) struct Found {
    pub(crate) schedule: Schedule,
    pub(crate) text: String,
    /// True if it is from a file that the user named.
    pub(crate) is_file: bool,
}

/// A schedule of the app by name, or from a file, with other numbers for what it defines by `let`.
pub(crate) fn found_schedule(app: &App, name: &str, set: &[(String, Amount)]) -> Result<Found, Failure> {
    let set = set.iter().cloned();
    if let Some(named) = app.schedule(name) {
        let schedule = Schedule::parse_with(named.text, named.file, set)?;
        return Ok(Found { schedule, text: named.text.to_string(), is_file: false });
    }
    let path = Path::new(name);
    let looks_like_a_file = path.components().count() > 1 || path.extension().is_some();
    match read_text(path) {
        Ok(text) => Ok(Found { schedule: Schedule::parse_with(&text, name, set)?, text, is_file: true }),
        Err(error) if looks_like_a_file => Err(Failure(format!("{}: {error}", files::shown(path)))),
        Err(_) => {
            let names: Vec<&str> = app.schedules.iter().map(|s| s.name).collect();
            let hint = match closest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", names.join(", ")),
            };
            Err(Failure(format!("app `{}` has no schedule `{name}`, and there is no such file; {hint}", app.name)))
        }
    }
}

/// The schedule alone of what [`found_schedule`] finds.
pub(crate) fn find_schedule(app: &App, name: &str, set: &[(String, Amount)]) -> Result<Schedule, Failure> {
    Ok(found_schedule(app, name, set)?.schedule)
}

/// The schedule called `name`, if one is named; numbers for none are a mistake.
pub(crate) fn named_found(app: &App, name: Option<&str>, set: &[(String, Amount)]) -> Result<Option<Found>, Failure> {
    match (name, set) {
        (Some(name), _) => found_schedule(app, name, set).map(Some),
        (None, []) => Ok(None),
        (None, [(number, _), ..]) => {
            let text = format!("--set {number}: a schedule that is chosen has no numbers to set; name a schedule");
            Err(Failure(text))
        }
    }
}

/// The schedule alone of what [`named_found`] finds.
pub(crate) fn named_schedule(
    app: &App,
    name: Option<&str>,
    set: &[(String, Amount)],
) -> Result<Option<Schedule>, Failure> {
    Ok(named_found(app, name, set)?.map(|found| found.schedule))
}

/// The machine in a file.
pub(crate) fn read_machine(path: &Path) -> Result<Machine, Failure> {
    let failed = |error: &dyn Display| Failure(format!("{}: {error}", files::shown(path)));
    let text = read_text(path).map_err(|error| failed(&error))?;
    machine_file::read(text.as_bytes()).map_err(|error| failed(&error))
}

/// The most bytes of a schedule file.
const LONGEST: u64 = 16 << 20;

/// Reads a text file that is no longer than a schedule file may be.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 {
        0..=LONGEST => Ok(text),
        _ => Err(std::io::Error::other(format!("it is longer than {LONGEST} bytes, and no schedule"))),
    }
}

/// The app at work on what was asked for: random values, the image in a file, or the sample.
/// Synthetic inputs of no size that was asked for are as large as `schedule` estimates.
pub(crate) fn job(
    tool: &Tool,
    app: &'static App,
    common: &CommonArgs,
    input: Option<&Path>,
    schedule: Option<&Schedule>,
) -> Result<Job, Failure> {
    let estimated = match (common.size, common.random, schedule) {
        (None, Some(_), Some(schedule)) => estimated_size(&app.default_pipeline(Edges::Inside)?, schedule),
        _ => None,
    };
    let takes = match app.takes {
        Takes::AsRead => inferred::with_takes(app, &app.default_pipeline(Edges::Repeat)?).takes,
        takes => takes,
    };
    let numbers = (takes == Takes::Nothing).then_some((app.size, 0));
    if let (Some(_), Some(path)) = (numbers, input) {
        return Err(Failure(format!(
            "{}: `{}` takes no image; --random SEED says which numbers",
            path.display(),
            app.name
        )));
    }
    let mut profile = None;
    let mut decoded = |file: files::Encoded<'_>, name: &str| {
        profile.clone_from(&file.profile);
        image(app, common, file, name)
    };
    let source = match (common.synthetic(estimated, app.size).or(numbers), input) {
        (Some(((width, height), seed)), _) => {
            if width < 1 || height < 1 {
                return Err(Failure(format!("--size {width}x{height}: width and height must be at least 1")));
            }
            Source::Random { seed, width, height }
        }
        (None, Some(path)) => decoded(files::open(path, common.memory_cap)?, &files::shown(path))?,
        (None, None) => {
            let Some(sample) = tool.sample else {
                let text = "no image is named; name one, or run on random values with --random SEED";
                return Err(Failure(text.to_string()));
            };
            let path = Path::new(SAMPLE_NAME);
            decoded(files::Encoded::new(sample, path, common.memory_cap)?, SAMPLE_NAME)?
        }
    };
    let size = match &source {
        Source::Random { width, height, .. } => format!("--size {width}x{height}: "),
        Source::Image(_) => String::new(),
    };
    let made = busy("making the inputs", || Job::within(app, source, &common.params, common.memory_cap));
    let mut job = made.map_err(|e| of_job(e, &size))?;
    job.profile = profile;
    Ok(job)
}

/// An image file as a source, decoded if there may be the memory to work on it.
fn image(app: &'static App, common: &CommonArgs, file: files::Encoded<'_>, name: &str) -> Result<Source, Failure> {
    let about = || format!("{name}, an image of {}x{}: ", file.size.0, file.size.1);
    estimate::check(app, &common.params, file.size, Shape::of(file.color), common.memory_cap)
        .map_err(|e| of_job(e, &about()))?;
    Ok(Source::Image(Arc::new(busy("decoding the image", || file.decode())?)))
}

/// Converts an error of a job into a message; `about` names the subject.
fn of_job(error: JobError, about: &str) -> Failure {
    match error {
        JobError::Given(text) => Failure(text),
        error => Failure(format!("{about}{error}")),
    }
}

/// Width and height of the first output as a schedule estimates them.
fn estimated_size(pipeline: &Pipeline, schedule: &Schedule) -> Option<(i64, i64)> {
    let output = &pipeline.funcs[*pipeline.outputs.first()?];
    let dims: Vec<&str> = output.args.iter().map(|&v| pipeline.vars[v].as_str()).collect();
    match schedule.estimates(&output.name, &dims)[..] {
        [Some((_, width)), Some((_, height)), ..] => Some((width, height)),
        _ => None,
    }
}

/// An engine or a GPU that runs pipelines.
pub(crate) enum Runner {
    /// An engine that needs nothing opened.
    Engine(Engine),
    /// A GPU.
    Gpu(Gpu),
}

/// The machine that code is for.
pub(crate) fn target(common: &CommonArgs) -> Target {
    let mut target = Target::host();
    if let Some(tier) = common.target {
        target.vector_bits = tier.vector_bits();
    }
    if let Some(features) = common.cpu_features {
        target.vector_bits = Tier::of_features(features).vector_bits();
        target.features = Some(features);
    }
    target.threads = threads(common);
    target
}

impl Runner {
    /// Returns the runner of `backend`; `device` selects the GPU.
    pub(crate) fn new(backend: Backend, device: Option<&str>) -> Result<Runner, Failure> {
        Ok(match backend {
            Backend::Cpu => Runner::Engine(Engine::Cpu),
            Backend::Interp => Runner::Engine(Engine::Interp),
            Backend::Eval => Runner::Engine(Engine::Eval),
            Backend::Gpu => Runner::Gpu(gpu::open(device)?),
        })
    }
    /// A schedule compiled, and how long that took in ms. One for a GPU that nobody asked for is a failure of one line.
    pub(crate) fn compile(
        &self,
        job: &Job,
        schedule: &Schedule,
        common: &CommonArgs,
    ) -> Result<(Compiled, f64), Failure> {
        let target = target(common);
        let start = Instant::now();
        let compiled = match self {
            Runner::Engine(engine) => {
                let compiler = Compiler::new(&job.pipeline).engine(*engine).schedule(schedule).target(&target);
                let compiler = match &common.code_cache {
                    Some(folder) => compiler.code_cache(&CodeCache::in_folder(folder)),
                    None => compiler,
                };
                compiler.compile().map_err(|error| match needs_gpu(&error) {
                    true => Failure(format!("the schedule gives work to a GPU, and the CPU runs all; {}", gpu::REMEDY)),
                    false => error.into(),
                })?
            }
            Runner::Gpu(device) => gpu::compile(device, job, schedule, &target)?,
        };
        Ok((compiled, milliseconds(start)))
    }
    /// Returns a description of the device that runs pipelines.
    pub(crate) fn device(&self) -> String {
        match self {
            Runner::Engine(_) => cpu(),
            Runner::Gpu(device) => gpu::describe(device),
        }
    }
}

/// Returns true if nothing but a GPU lacks.
fn needs_gpu(error: &Error) -> bool {
    match error {
        Error::NoDevice { .. } => true,
        Error::Schedule(errors) => errors.iter().all(|error| matches!(error.problem, Problem::NoGpu { .. })),
        _ => false,
    }
}

/// Timed runs of one compiled schedule.
pub(crate) struct Timing {
    /// Each run in ms, fastest first.
    pub(crate) sorted: Vec<f64>,
    /// The most memory that intermediate values took, in bytes.
    pub(crate) peak_bytes: u64,
    /// The time in ms of compiling more variants of the code, which these sizes needed: no run has it.
    pub(crate) variants_ms: f64,
}

impl Timing {
    pub(crate) fn min(&self) -> f64 {
        self.sorted[0]
    }
    pub(crate) fn median(&self) -> f64 {
        let n = self.sorted.len();
        (self.sorted[(n - 1) / 2] + self.sorted[n / 2]) / 2.0
    }
}

/// A compiled job that is run over and over.
pub(crate) struct Bench<'a> {
    pub(crate) job: &'a Job,
    pub(crate) compiled: &'a Compiled,
    pub(crate) threads: Option<usize>,
    /// A handle that ends a run early.
    pub(crate) cancel: Option<Cancel>,
}

impl Bench<'_> {
    /// Times `runs` runs, after one as warm-up if that is more than one, or if more variants of the code were compiled
    /// in the first one.
    pub(crate) fn time(&self, runs: u32, outputs: &mut [AnyBuffer], progress: &ProgressBar) -> Result<Timing, Failure> {
        let variants = self.compiled.variants().len();
        let mut timing = Timing { sorted: Vec::new(), peak_bytes: 0, variants_ms: 0.0 };
        progress.tick();
        let first = self.once(&mut timing, outputs)?;
        let compiled_more = self.compiled.variants().len() > variants;
        if runs > 1 || compiled_more {
            timing.sorted.clear();
        } else {
            progress.inc(1);
        }
        while timing.sorted.len() < runs as usize {
            self.once(&mut timing, outputs)?;
            progress.inc(1);
        }
        timing.sorted.sort_by(f64::total_cmp);
        if compiled_more {
            timing.variants_ms = (first - timing.median()).max(0.0);
        }
        Ok(timing)
    }

    /// One more run, and its time in ms.
    fn once(&self, timing: &mut Timing, outputs: &mut [AnyBuffer]) -> Result<f64, Failure> {
        let (ms, peak_bytes) = timed(self.job, self.compiled, self.threads, self.cancel.as_ref(), outputs)?;
        timing.sorted.push(ms);
        timing.peak_bytes = timing.peak_bytes.max(peak_bytes);
        Ok(ms)
    }
}

/// Runs a job once: how long that took, in ms, and the most bytes of intermediate values.
pub(crate) fn timed(
    job: &Job,
    compiled: &Compiled,
    threads: Option<usize>,
    cancel: Option<&Cancel>,
    outputs: &mut [AnyBuffer],
) -> Result<(f64, u64), Failure> {
    let start = Instant::now();
    let stats = job.run_with(compiled, threads, cancel, outputs)?;
    Ok((milliseconds(start), stats.peak_bytes))
}

/// This processor, in words.
pub(crate) fn cpu() -> String {
    let target = Target::host();
    format!("{} CPU, {}-bit vectors, {} threads", std::env::consts::ARCH, target.vector_bits, target.threads)
}

/// Returns the number of threads that a run may use.
pub(crate) fn threads(common: &CommonArgs) -> u32 {
    common.threads.map_or(Target::host().threads, u32::from)
}

/// The largest difference as JSON.
pub(crate) fn largest(difference: Difference) -> Value {
    number(difference.largest)
}

/// A number as JSON: an integer if it is one, and null if it is none at all.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as i64) } else { json!(value) }
}

/// Billions of operations on floats per second, where the app counts in these.
pub(crate) fn gflop_per_s(job: &Job, ms: f64) -> Option<f64> {
    Some(job.operations()? / 1e6 / ms.max(1e-6))
}

/// The speed of a job in its unit.
pub(crate) fn speed(job: &Job, ms: f64) -> (f64, &'static str) {
    match gflop_per_s(job, ms) {
        Some(speed) => (speed, "GFLOP/s"),
        None => (mpix_per_s(job.size, ms), "Mpix/s"),
    }
}

/// Megapixels of output per second.
pub(crate) fn mpix_per_s(size: (i64, i64), ms: f64) -> f64 {
    size.0 as f64 * size.1 as f64 / 1e3 / ms.max(1e-6)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIGHT: App = App::new("bright", "twice as bright", |_| {
        let input = ImageParam::new("input", U8, 2);
        let (x, y) = vars!(x, y);
        let mut bright = Func::new("bright");
        bright[(x, y)] = saturating_cast::<u8>(cast::<u16>(input[(x, y)]) * 2);
        Pipeline::new([&bright])
    });

    #[test]
    fn no_run_has_the_compilation_of_a_variant_that_its_sizes_need() -> Result<(), Box<dyn std::error::Error>> {
        let job = Job::new(&BRIGHT, Source::Random { seed: 0, width: 3, height: 2 }, &[])?;
        let schedule = "bright: tile(x, y, xo, yo, xi, yi, 64, 8) vectorize(xi, natural)".parse()?;
        let compiled = job.pipeline.compile(&schedule, &Target::host())?;
        let mut outputs = job.outputs()?;
        let bench = Bench { job: &job, compiled: &compiled, threads: None, cancel: None };
        let mut time = |runs| bench.time(runs, &mut outputs, &ProgressBar::hidden()).map_err(|Failure(text)| text);
        let first = time(1)?;
        assert!(compiled.variants().len() > 1, "tiles are larger than the output");
        assert!(first.sorted.len() == 1 && first.variants_ms > 0.0);
        let again = time(3)?;
        assert_eq!((again.sorted.len(), again.variants_ms), (3, 0.0), "nothing is left to compile");
        Ok(())
    }
}
