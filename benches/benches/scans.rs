//! Prefix sums, sums of products and loops that end, beside plain loops of Rust and beside measured roofs:
//! `cargo bench -p halide-benches --bench scans -- --help`.

use clap::Parser;
use halide::machine::{Declared, Machine};
use halide::prelude::*;
use halide_apps::app::find;
use halide_apps::job::{Job, Source};
use halide_benches::output::{Table, machine};
use halide_benches::rounds::{Budget, Times, interleaved};
use halide_tool::measure;
use std::hint::black_box;
use std::time::Duration;

/// Times scans, sums of products, escape times and a step of conjugate gradients.
#[derive(Debug, Parser)]
struct Options {
    /// Seconds for each group of candidates, which take turns
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// A way to compute something, and how often one round does so.
struct Candidate {
    name: String,
    times: usize,
    run: Box<dyn FnMut() -> Result<(), String>>,
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    println!("{}", machine());
    for n in [100_000, 10_000_000] {
        let candidates = prefix_sums(n)?;
        group(&format!("prefix sum of {n} f32"), candidates, &options)?;
    }
    group("escape times, 1536x1024, 256 steps", escape_times()?, &options)?;
    let cg = [("root", 1), ("apart", 1), ("cpu", 1), ("apart", 2), ("cpu", 2)];
    let cg = cg.iter().map(|(schedule, threads)| app("cg_step", (2048, 2048), schedule, *threads, 1));
    group("step of conjugate gradients, 2048x2048", cg.collect::<Result<_, _>>()?, &options)?;
    products(&options)
}

/// Times candidates in turns, the first of which is the measure.
fn group(what: &str, mut candidates: Vec<Candidate>, options: &Options) -> Result<(), String> {
    let times = timed(&mut candidates, options)?;
    let mut table = Table::new(&[what, "min ms", "median ms", "of the first: min", "median"]);
    for (candidate, own) in candidates.iter().zip(&times) {
        let each = |ms: f64| format!("{:.4}", ms / candidate.times as f64);
        let first = candidates[0].times as f64 / candidate.times as f64;
        let ratio = |own: f64, theirs: f64| format!("{:.3}", own / theirs * first);
        let ratios = [ratio(own.min(), times[0].min()), ratio(own.median(), times[0].median())];
        let [min, median] = ratios;
        table.row(vec![candidate.name.clone(), each(own.min()), each(own.median()), min, median]);
    }
    println!("{}", table.text());
    Ok(())
}

fn timed(candidates: &mut [Candidate], options: &Options) -> Result<Vec<Times>, String> {
    let budget = Budget { least: 5, most: 100_000, time: Duration::from_secs_f64(options.seconds.max(0.0)) };
    interleaved(candidates, budget, |c| (0..c.times).try_for_each(|_| (c.run)()))
}

/// An app under one of its schedules.
fn app(name: &str, size: (i64, i64), schedule: &str, threads: usize, times: usize) -> Result<Candidate, String> {
    let app = find(name).ok_or_else(|| format!("there is no app {name}"))?;
    let named = app.schedules.iter().find(|s| s.name == schedule).ok_or_else(|| format!("{name}: no {schedule}"))?;
    let source = Source::Random { seed: 1, width: size.0, height: size.1 };
    let job = Job::new(app, source, &[]).map_err(|e| e.to_string())?;
    let target = Target { threads: threads as u32, ..Target::host() };
    let schedule: Schedule = named.parse().map_err(|e| e.to_string())?;
    let compiled = job.pipeline.compile(&schedule, &target).map_err(|e| e.to_string())?;
    let mut outputs = job.outputs().map_err(|e| e.to_string())?;
    let run = move || job.run(&compiled, Some(threads), &mut outputs).map(drop).map_err(|e| e.to_string());
    Ok(Candidate { name: format!("`{}`, {threads} threads", named.name), times, run: Box::new(run) })
}

/// A plain loop of Rust, and the app `cumsum` in order, in lanes and in chunks.
fn prefix_sums(n: i64) -> Result<Vec<Candidate>, String> {
    let times = (2_000_000 / n).max(1) as usize;
    let input: Vec<f32> = (0..n).map(|i| ((i * 7919) % 1000) as f32 / 1000.0).collect();
    let mut output = vec![0f32; input.len()];
    let plain = move || {
        let mut sum = 0f32;
        for (to, from) in output.iter_mut().zip(black_box(&input)) {
            sum += from;
            *to = sum;
        }
        black_box(&mut output);
        Ok(())
    };
    let mut all = vec![Candidate { name: "loop in Rust".to_string(), times, run: Box::new(plain) }];
    for (schedule, threads) in [("root", 1), ("lanes", 1), ("cpu", 1), ("lanes", 2), ("cpu", 2)] {
        all.push(app("cumsum", (n, 1), schedule, threads, times)?);
    }
    Ok(all)
}

/// A plain loop of Rust over the points, and the app `mandelbrot`.
fn escape_times() -> Result<Vec<Candidate>, String> {
    const SIZE: (i64, i64) = (1536, 1024);
    let mut output = vec![0u8; (SIZE.0 * SIZE.1) as usize];
    let plain = move || {
        for (y, row) in output.chunks_mut(SIZE.0 as usize).enumerate() {
            for (x, to) in row.iter_mut().enumerate() {
                let (real, imaginary) = (-2.0 + x as f32 / 512.0, -1.0 + y as f32 / 512.0);
                let (mut re, mut im, mut steps) = (0f32, 0f32, 0);
                while steps < black_box(256) && re * re + im * im <= 4.0 {
                    (re, im) = (re * re - im * im + real, re * im * 2.0 + imaginary);
                    steps += 1;
                }
                *to = if steps == 256 { 0 } else { (steps * 8 % 224 + 32) as u8 };
            }
        }
        black_box(&mut output);
        Ok(())
    };
    let plain = Candidate { name: "loops in Rust".to_string(), times: 1, run: Box::new(plain) };
    Ok(vec![plain, app("mandelbrot", SIZE, "root", 1, 1)?, app("mandelbrot", SIZE, "cpu", 1, 1)?])
}

/// Floats of a row of a product, twice of which stay in the first cache.
const ROW: i64 = 3072;
/// Products in a call.
const PRODUCTS: i64 = 4096;

/// Sums of products of two rows in the first cache, beside what it is measured to give.
fn products(options: &Options) -> Result<(), String> {
    let target = Target { threads: 1, ..Target::host() };
    let declared = Declared::host(&target).machine;
    let found: Machine =
        measure::measure(&declared, &target, measure::MOST_BYTES, || ()).map_err(|e| e.to_string())?.machine;
    let (a, b, y) = (ImageParam::new("a", F32, 1), ImageParam::new("b", F32, 1), Var::new("y"));
    let (mut out, r) = (Func::new("out"), RDom::named("r", [(0, ROW as i32)]));
    // Two rows that overlap, so that no product is the one before it.
    out[y] += a[r.x] * b[r.x + y % 2 * 16];
    let pipeline = Pipeline::new([&out]).map_err(|e| e.to_string())?;
    let schedule: Schedule = "out.update(0): float(relaxed) atomic() split(r.x, ro, ri, 128) vectorize(ri)"
        .parse()
        .map_err(|e: halide::schedule::ParseErrors| e.to_string())?;
    let compiled = pipeline.compile(&schedule, &target).map_err(|e| e.to_string())?;
    let row = |n: i64| Buffer::<f32>::from_fn(&Region::of_extents([n]), |at| (at[0] % 7) as f32);
    let (a, b) = (row(ROW).map_err(|e| e.to_string())?, row(ROW + 16).map_err(|e| e.to_string())?);
    let mut to = Buffer::<f32>::new([PRODUCTS]).map_err(|e| e.to_string())?;
    let run = move || {
        let call = compiled.inputs().image_named("a", &a).image_named("b", &b).threads(1);
        let to = to.view_mut().map_err(|e| e.to_string())?;
        call.realize_into(to).map(drop).map_err(|e| e.to_string())
    };
    let times = timed(&mut [Candidate { name: String::new(), times: 1, run: Box::new(run) }], options)?;
    let bytes = (2 * 4 * ROW * PRODUCTS) as f64;
    let cycles = times[0].min() * 1e6 * found.ghz;
    let roof = found.caches.first().map_or(f64::NAN, |cache| cache.bytes_per_cycle);
    let mut table = Table::new(&["products of 3072 f32 in the first cache", "bytes a cycle", "vectors a cycle"]);
    let mut row = |what: &str, per_cycle: f64| {
        let vectors = per_cycle / f64::from(found.vector.bits / 8);
        table.row(vec![what.to_string(), format!("{per_cycle:.1}"), format!("{vectors:.2}")]);
    };
    row("loads of products", bytes / cycles);
    row("loads alone, measured", roof);
    println!("{}", table.text());
    Ok(())
}
