//! The cost of a profile: every app with samples and without, in turn:
//! `cargo bench -p halide-benches --bench profile -- --help`.

use clap::Parser;
use halide::prelude::*;
use halide_apps::app::APPS;
use halide_apps::job::{Job, Source};
use halide_benches::output::{Table, machine};
use halide_benches::rounds::{Times, milliseconds};
use std::time::{Duration, Instant};

/// Times every app under its best schedule for this machine, sampled and not, in turn.
#[derive(Debug, Parser)]
struct Options {
    /// Only apps whose name has this in it
    #[arg(long)]
    only: Option<String>,
    /// Threads to run on; all by default
    #[arg(long)]
    threads: Option<usize>,
    /// Rounds; each compiles an app anew and runs it for a part of a second with samples, and for as long without
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// The option that `cargo bench` gives to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// Pages between the memory of two rounds, times another number for each: no power of two.
const PAGES_BETWEEN: usize = 37;
/// The time of runs that follow each other.
const TURN: Duration = Duration::from_millis(250);

fn main() -> Result<(), String> {
    let options = Options::parse();
    let mut table = Table::new(&["", "ms", "sampled", "ratio of minima", "of medians", "samples a run", "in no row %"]);
    let mut logs = [0.0; 2];
    let apps = APPS.iter().filter(|app| options.only.as_ref().is_none_or(|part| app.name.contains(part)));
    let apps: Vec<_> = apps.collect();
    for app in &apps {
        let best = app.best(false, Target::host().vector_bits);
        let schedule: Schedule = best.parse().map_err(|e| e.to_string())?;
        let (width, height) = app.size;
        let job = Job::new(app, Source::Random { seed: 1, width, height }, &[]).map_err(|e| e.to_string())?;
        let [plain, sampled] = times(&job, &schedule, &options).map_err(|e| e.to_string())?;
        let ratios = [sampled.0.min() / plain.0.min(), sampled.0.median() / plain.0.median()];
        logs.iter_mut().zip(ratios).for_each(|(log, ratio)| *log += ratio.ln());
        let mut row = vec![format!("{} {}", app.name, best.name)];
        row.extend([plain.0.min(), sampled.0.min()].map(|ms| format!("{ms:.3}")));
        row.extend(ratios.map(|ratio| format!("{ratio:.3}")));
        row.extend([format!("{:.1}", sampled.1[0]), format!("{:.1}", 100.0 * sampled.1[1])]);
        table.row(row);
    }
    let [min, median] = logs.map(|log| format!("{:.3}", (log / apps.len().max(1) as f64).exp()));
    table.row(vec!["geometric means".into(), String::new(), String::new(), min, median, String::new(), String::new()]);
    println!("{}, {} rounds\n{}", machine(), options.rounds, table.text());
    Ok(())
}

/// The times of a run without samples, and with; of the latter the samples of a run, and the part of the time that no
/// definition has. Each round has its own code and its own memory, both at places that were not used before: a time
/// belongs to these as much as to the code (Mytkowicz et al. 2009), up to a tenth here, and that is no cost of samples.
fn times(job: &Job, schedule: &Schedule, options: &Options) -> Result<[(Times, [f64; 2]); 2], Error> {
    let mut kept = Vec::new();
    let [mut plain, mut sampled] = [Times::default(), Times::default()];
    let mut of_last = [0.0; 2];
    for round in 0..options.rounds.max(1) {
        let compiled = job.pipeline.compile(schedule, &Target::host())?;
        let mut outputs = job.outputs()?;
        let between = Buffer::<u8>::new([((round % 7 + 1) * PAGES_BETWEEN * 4096) as i64])?;
        let (begun, mut runs) = (Instant::now(), 0);
        while begun.elapsed() < TURN || runs == 0 {
            job.run(&compiled, options.threads, &mut outputs)?;
            runs += 1;
        }
        plain.add(milliseconds(begun.elapsed()) / f64::from(runs));
        let profiles = job.profiles(&compiled, options.threads, &mut outputs, (u64::MAX, TURN))?;
        sampled.add(profiles.iter().map(|profile| milliseconds(profile.wall) / profile.runs.max(1) as f64).sum());
        if let Some(profile) = profiles.first() {
            let named = |row: &&halide::profile::ActivityTime| row.at.is_some();
            let named: f64 = profile.rows.iter().filter(named).map(|row| profile.share(row)).sum();
            of_last = [profile.samples as f64 / profile.runs.max(1) as f64, 1.0 - named];
        }
        kept.push((compiled, outputs, between));
    }
    Ok([(plain, [0.0; 2]), (sampled, of_last)])
}
