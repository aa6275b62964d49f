//! The roofs of a report beside what should lie right under them: a triad under that of memory, and a product of
//! matrices under that of multiply-adds: `cargo bench -p halide-benches --bench roofline -- --help`.

use clap::Parser;
use halide::machine::{Declared, Machine};
use halide::prelude::*;
use halide_apps::app::APPS;
use halide_apps::job::{Job, Source};
use halide_benches::output::{Table, machine};
use halide_tool::measure;
use std::time::Instant;

/// Measures this machine, and times a triad and a product of matrices.
#[derive(Debug, Parser)]
struct Options {
    /// Threads to run on; all by default
    #[arg(long)]
    threads: Option<u32>,
    /// Rounds, of which the fastest counts
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// Elements of each row of the triad: 256 MiB, beyond all caches.
const ELEMENTS: i64 = 64 << 20;

fn main() -> Result<(), String> {
    let options = Options::parse();
    let mut target = Target::host();
    target.threads = options.threads.unwrap_or(target.threads).max(1);
    let declared = Declared::host(&target).machine;
    let measured = measure::measure(&declared, &target, measure::MOST_BYTES, || ()).map_err(|e| e.to_string())?.machine;
    let mut table = Table::new(&["", "reached", "roof", "part of it"]);
    let row = |what: &str, reached: f64, roof: f64| {
        vec![what.to_string(), format!("{reached:.1}"), format!("{roof:.1}"), format!("{:.3}", reached / roof)]
    };
    let gbs = triad(&target, options.rounds).map_err(|e| e.to_string())?;
    table.row(row("triad, bytes a ns", gbs, measured.memory.peak_bandwidth(target.threads)));
    let gops = product(&target, options.rounds)?;
    table.row(row("matmul, operations a ns", gops, multiply_adds(&measured, target.threads)));
    println!("{}, {} threads, {} rounds\n{}", machine(), target.threads, options.rounds, table.text());
    Ok(())
}

/// Operations a nanosecond of products and sums of floats of 32 bits.
fn multiply_adds(machine: &Machine, threads: u32) -> f64 {
    let lanes = f64::from(machine.vector.bits) / 32.0;
    f64::from(threads.min(machine.cores)) * machine.ghz * lanes * 2.0 * machine.vector.fmas
}

/// Bytes a nanosecond of `out = a + 3 b`.
fn triad(target: &Target, rounds: usize) -> Result<f64, Error> {
    let x = Var::new("x");
    let (a, b) = (ImageParam::new("a", F32, 1), ImageParam::new("b", F32, 1));
    let mut out = Func::new("out");
    out[x] = a[x] + b[x] * 3.0f32;
    let schedule = "out: split(x, xo, xi, 65536) parallel(xo) vectorize(xi, natural)".parse()?;
    let compiled = Pipeline::new([&out])?.compile(&schedule, target)?;
    let image = |value: f32| Buffer::from_fn(&Region::of_extents([ELEMENTS]), |_| value);
    let (a, b) = (image(1.0)?, image(2.0)?);
    let mut to = Buffer::<f32>::new([ELEMENTS])?;
    let mut least = f64::INFINITY;
    for _ in 0..rounds.max(1) {
        let call = compiled.inputs().image_named("a", &a).image_named("b", &b).threads(target.threads as usize);
        let begun = Instant::now();
        call.realize_into(to.view_mut()?)?;
        least = least.min(begun.elapsed().as_secs_f64());
    }
    Ok(3.0 * 4.0 * ELEMENTS as f64 / least / 1e9)
}

/// Operations a nanosecond of the app `matmul` under its best schedule.
fn product(target: &Target, rounds: usize) -> Result<f64, String> {
    let app = APPS.iter().find(|app| app.name == "matmul").ok_or("there is no app matmul")?;
    let best = app.best(false, target.vector_bits);
    let schedule: Schedule = best.parse().map_err(|e| e.to_string())?;
    let (width, height) = app.size;
    let job = Job::new(app, Source::Random { seed: 1, width, height }, &[]).map_err(|e| e.to_string())?;
    let compiled = job.pipeline.compile(&schedule, target).map_err(|e| e.to_string())?;
    let mut outputs = job.outputs().map_err(|e| e.to_string())?;
    let mut least = f64::INFINITY;
    for _ in 0..rounds.max(1) {
        let begun = Instant::now();
        job.run(&compiled, Some(target.threads as usize), &mut outputs).map_err(|e| e.to_string())?;
        least = least.min(begun.elapsed().as_secs_f64());
    }
    let (columns, rows) = (width as f64, height as f64);
    Ok(2.0 * columns * rows * columns / least / 1e9)
}
