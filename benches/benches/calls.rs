//! Times of calls that do next to nothing, and of programs beside the same calls by hand:
//! `cargo bench -p halide-benches --bench calls -- --help`.

use clap::Parser;
use halide::prelude::*;
use halide_benches::output::{Table, machine};
use halide_benches::rounds::{Budget, interleaved};
use std::time::{Duration, Instant};

/// Times empty calls, and loops of steps.
#[derive(Debug, Parser)]
struct Options {
    /// Seconds for each group of candidates, which take turns
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// A way to run a loop of steps.
struct Candidate {
    name: &'static str,
    run: Box<dyn FnMut() -> Result<(), Error>>,
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    println!("{}", machine());
    empty_calls().map_err(|e| e.to_string())?;
    for (width, height, steps) in [(1, 1, 2000), (1024, 1024, 20)] {
        let mut candidates = relaxations(width, height, steps).map_err(|e| e.to_string())?;
        let budget = Budget { least: 5, most: 100_000, time: Duration::from_secs_f64(options.seconds.max(0.0)) };
        let times = interleaved(&mut candidates, budget, |c| (c.run)().map_err(|e| e.to_string()))?;
        let what = format!("{steps} steps on {width}x{height}");
        let mut table = Table::new(&[&what, "min us a step", "median us a step", "of the first: min", "median"]);
        for (candidate, own) in candidates.iter().zip(&times) {
            let each = |ms: f64| format!("{:.2}", ms * 1e3 / f64::from(steps));
            let ratio = |own: f64, first: f64| format!("{:.3}", own / first);
            let ratios = [ratio(own.min(), times[0].min()), ratio(own.median(), times[0].median())];
            let [min, median] = ratios;
            table.row(vec![candidate.name.to_string(), each(own.min()), each(own.median()), min, median]);
        }
        println!("{}", table.text());
    }
    Ok(())
}

/// Times of a map over one element, by quantile.
fn empty_calls() -> Result<(), Error> {
    const CALLS: usize = 200_000;
    let (input, x) = (ImageParam::new("input", F32, 1), Var::new("x"));
    let mut f = Func::new("f");
    f[x] = input[x] + 1.0f32;
    let target = Target { threads: 1, ..Target::host() };
    let compiled = Pipeline::new([&f])?.compile(&"f: vectorize(x, 8)".parse()?, &target)?;
    let (image, mut out) = (Buffer::<f32>::new([1])?, Buffer::<f32>::new([1])?);
    let mut table = Table::new(&["a map over one element", "p50 ns", "p99 ns"]);
    let mut time = |what: &str, call: &mut dyn FnMut() -> Result<(), Error>| -> Result<(), Error> {
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let begun = Instant::now();
            call()?;
            times.push(begun.elapsed().as_nanos());
        }
        times.sort_unstable();
        table.row(vec![what.to_string(), times[CALLS / 2].to_string(), times[CALLS / 100 * 99].to_string()]);
        Ok(())
    };
    time("a new call", &mut || compiled.inputs().image(&input, &image).realize_into(out.view_mut()?).map(drop))?;
    let call = compiled.inputs().image(&input, &image);
    time("a call that is kept", &mut || call.realize_into(out.view_mut()?).map(drop))?;
    let (index, mut g) = (ImageParam::new("index", I32, 1), Func::new("g"));
    index.promise_values(0, 7);
    g[x] = index[x] * 2;
    let promised = Pipeline::new([&g])?.compile(&Schedule::new(), &target)?;
    let (indices, mut out) = (Buffer::<i32>::new([1_000_000])?, Buffer::<i32>::new([1])?);
    let call = promised.inputs().image(&index, &indices);
    time("the same, of a million elements with a promise", &mut || call.realize_into(out.view_mut()?).map(drop))?;
    println!("{}", table.text());
    Ok(())
}

/// Jacobi's method on a grid: by a call for each step, on two buffers that change places, and as a program.
fn relaxations(width: i64, height: i64, steps: u32) -> Result<Vec<Candidate>, Error> {
    let (u, (x, y)) = (ImageParam::new("u", F32, 2), vars!(x, y));
    let inside = constant_exterior(&u, 1.0f32);
    let mut next = Func::new("u");
    next[(x, y)] = (inside[(x - 1, y)] + inside[(x + 1, y)] + inside[(x, y - 1)] + inside[(x, y + 1)]) * 0.25f32;
    let pipeline = Pipeline::new([&next])?;
    let schedule: Schedule = "u: vectorize(x, natural)".parse()?;
    let target = Target { threads: 1, ..Target::host() };
    let compiled = pipeline.compile(&schedule, &target)?;
    let start = Buffer::<f32>::new([width, height])?;

    let (mut from, mut to) = (start.compact()?, start.compact()?);
    let by_hand = move || {
        for _ in 0..steps {
            compiled.inputs().image_named("u", from.clone()).realize_all_into(&mut [to.view_mut()?])?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(())
    };
    let mut program = Program::new("relaxation");
    program.input("u", F32, 2).repeat(steps.into(), |it| it.run(&pipeline, &schedule));
    let program = program.compile(&target)?;
    let (again, beginning) = (program.clone(), start.clone());
    let whole = move || program.inputs().image_named("u", &start).run().map(drop);
    let mut result = again.inputs().image_named("u", &beginning).run()?;
    let into = move || again.inputs().image_named("u", &beginning).run_into(&mut result);
    Ok(vec![
        Candidate { name: "calls by hand", run: Box::new(by_hand) },
        Candidate { name: "a program", run: Box::new(whole) },
        Candidate { name: "a program, on memory of a result", run: Box::new(into) },
    ])
}
