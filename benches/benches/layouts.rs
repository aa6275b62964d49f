//! Layouts of inputs: apps on interleaved colours beside planes, and a sparse matrix by rows beside one by columns:
//! `cargo bench -p halide-benches --bench layouts -- --help`.

use clap::Parser;
use halide::buffer::BufferError;
use halide::prelude::*;
use halide_apps::app::{APPS, App, Takes};
use halide_apps::job::{Job, Source};
use halide_benches::output::{Table, machine};
use halide_benches::rounds::{Budget, Times, interleaved};
use std::time::Duration;

/// Times pipelines on the same values in two layouts.
#[derive(Debug, Parser)]
struct Options {
    /// Only apps whose name has this in it
    #[arg(long)]
    only: Option<String>,
    /// A file with a schedule for the app, instead of its best one
    #[arg(long, requires = "only")]
    schedule: Option<std::path::PathBuf>,
    /// Seconds for each group of candidates, which take turns
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// Threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// Images and values that a pipeline runs on, and a name for their layout.
struct Candidate {
    layout: &'static str,
    compiled: Compiled,
    threads: usize,
    images: Vec<(String, AnyBuffer)>,
    params: Vec<(String, Scalar)>,
    outputs: Vec<AnyBuffer>,
}

impl Candidate {
    fn run(&mut self) -> Result<(), Error> {
        let call = self.compiled.inputs().threads(self.threads);
        let call = self.params.iter().fold(call, |call, (name, value)| call.param_named(name, *value));
        let call = self.images.iter().fold(call, |call, (name, image)| call.image_named(name, image));
        let mut outputs = self.outputs.iter_mut().map(|output| output.view_mut()).collect::<Result<Vec<_>, _>>()?;
        call.realize_all_into(&mut outputs).map(drop)
    }
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    println!("{}", machine());
    let mut table = Table::new(&["", "layout", "min ms", "median ms", "of the first: min", "median"]);
    for app in APPS.iter().filter(|app| options.only.as_ref().is_none_or(|only| app.name.contains(only))) {
        if let Some(mut candidates) = colours(app, &options)? {
            rows(&mut table, app.name, &mut candidates, &options)?;
        }
    }
    if options.only.is_none() {
        rows(&mut table, "sparse matrix", &mut sparse(&options)?, &options)?;
    }
    println!("{}", table.text());
    Ok(())
}

fn rows(table: &mut Table, what: &str, candidates: &mut [Candidate], options: &Options) -> Result<(), String> {
    let budget = Budget { least: 5, most: 10_000, time: Duration::from_secs_f64(options.seconds.max(0.0)) };
    let run = |candidate: &mut Candidate| candidate.run().map_err(|error| format!("{what}: {error}"));
    let times: Vec<Times> = interleaved(candidates, budget, run)?;
    for (candidate, own) in candidates.iter().zip(&times) {
        let ratio = |own: f64, first: f64| format!("{:.3}", own / first);
        table.row(vec![
            what.to_string(),
            candidate.layout.to_string(),
            format!("{:.4}", own.min()),
            format!("{:.4}", own.median()),
            ratio(own.min(), times[0].min()),
            ratio(own.median(), times[0].median()),
        ]);
    }
    Ok(())
}

/// An app whose input or output has colours, in planes and interleaved; `None` if it has none.
fn colours(app: &'static App, options: &Options) -> Result<Option<Vec<Candidate>>, String> {
    let text = |error: &dyn std::fmt::Display| format!("{}: {error}", app.name);
    let (width, height) = app.size;
    let job = Job::new(app, Source::Random { seed: 1, width, height }, &[]).map_err(|e| text(&e))?;
    let target = Target { threads: options.threads as u32, ..Target::host() };
    let schedule = match &options.schedule {
        Some(file) => std::fs::read_to_string(file).map_err(|e| text(&e))?.parse().map_err(|e| text(&e))?,
        None => app.best(false, target.vector_bits).parse().map_err(|e| text(&e))?,
    };
    let compiled = job.pipeline.compile(&schedule, &target).map_err(|e| text(&e))?;
    let [case] = &job.cases()[..] else { return Ok(None) };
    let outputs = job.outputs().map_err(|e| text(&e))?;
    let has_colours =
        matches!(app.takes, Takes::Rgb | Takes::Channels) && case.images().iter().any(|(_, image)| is_colours(image));
    if !has_colours {
        return Ok(None);
    }
    let made = |layout: &'static str, input: bool, output: bool| -> Result<Candidate, BufferError> {
        let turned = |image: &AnyBuffer, turn: bool| match turn && is_colours(image) {
            true => interleave(image),
            false => Ok(image.clone()),
        };
        let images = case.images().iter().map(|(name, image)| Ok((name.clone(), turned(image, input)?)));
        let images = images.collect::<Result<_, BufferError>>()?;
        let outputs = outputs.iter().map(|image| turned(image, output)).collect::<Result<_, _>>()?;
        let (compiled, threads, params) = (compiled.clone(), options.threads, case.params().to_vec());
        Ok(Candidate { layout, compiled, threads, images, params, outputs })
    };
    let mut all = vec![made("planes", false, false), made("interleaved input", true, false)];
    if outputs.iter().any(is_colours) {
        all.push(made("interleaved input and output", true, true));
    }
    all.into_iter().collect::<Result<_, _>>().map(Some).map_err(|e| text(&e))
}

/// Returns true for three colours of two dimensions of pixels.
fn is_colours(image: &AnyBuffer) -> bool {
    image.region().dims() == 3 && image.extent(2) == 3
}

/// The same values with the colours of a pixel beside each other.
fn interleave(image: &AnyBuffer) -> Result<AnyBuffer, BufferError> {
    let mut to = AnyBuffer::interleaved(image.ty(), &image.region())?;
    to.view_mut()?.copy_from(image)?;
    Ok(to)
}

/// Elements of each row that are not 0.
const FILLED: i32 = 16;
/// Rows and columns.
const ROWS: i32 = 200_000;

/// A product of a sparse matrix in ELLPACK format: each row has as many elements, stored one row after the other, or
/// the first elements of all rows first.
fn sparse(options: &Options) -> Result<Vec<Candidate>, String> {
    let (values, columns) = (ImageParam::new("values", F32, 2), ImageParam::new("columns", I32, 2));
    let (x, row, mut out) = (ImageParam::new("x", F32, 1), Var::new("row"), Func::new("out"));
    columns.promise_coordinates(&x, 0);
    let k = RDom::named("k", [(0, FILLED)]);
    out[row] += values[(row, k.x)] * x[columns[(row, k.x)]];
    let pipeline = Pipeline::new([&out]).map_err(|e| e.to_string())?;
    let schedule = "out.update(0): vectorize(row, 16) reorder(k.x, row$v)";
    let schedule: Schedule = schedule.parse().map_err(|e: halide::schedule::ParseErrors| e.to_string())?;
    let target = Target { threads: options.threads as u32, ..Target::host() };
    let compiled = pipeline.compile(&schedule, &target).map_err(|e| e.to_string())?;
    let region = Region::of_extents([ROWS, FILLED]);
    let made = |layout: &'static str, order: [usize; 2]| -> Result<Candidate, BufferError> {
        let laid = |from: AnyBuffer| {
            let mut to = AnyBuffer::with_layout(from.ty(), &region, &order)?;
            to.view_mut()?.copy_from(&from)?;
            Ok::<_, BufferError>(to)
        };
        let values = Buffer::<f32>::from_fn(&region, |at| ((at[0] * 7 + at[1]) % 31) as f32)?;
        // Near the diagonal, as those of meshes are.
        let columns = Buffer::<i32>::from_fn(&region, |at| (at[0] + (at[1] * 37) % 400) % ROWS)?;
        let x = Buffer::<f32>::from_fn(&Region::of_extents([ROWS]), |at| (at[0] % 13) as f32)?;
        let images = [("values", laid(values.into())?), ("columns", laid(columns.into())?), ("x", x.into())];
        let images = images.map(|(name, image)| (name.to_string(), image)).into();
        let (compiled, threads, outputs) = (compiled.clone(), options.threads, vec![AnyBuffer::new(F32, [ROWS])?]);
        Ok(Candidate { layout, compiled, threads, images, params: Vec::new(), outputs })
    };
    let all = [made("by rows", [1, 0]), made("by columns", [0, 1])];
    all.into_iter().collect::<Result<_, _>>().map_err(|e| e.to_string())
}
