//! Runs one contraction in a process of its own: reads numbers of runs, a line each, and prints the milliseconds of
//! each run as a JSON list; the protocol of `benches/peers`.

use clap::Parser;
use halide::plan::mappings;
use halide::prelude::*;
use halide::schedule::InstructionSet;
use halide_apps::input::Input;
use halide_benches::at_root;
use halide_benches::contractions::{Case, Gru, blocks, deep_bench, int8, resnet50};
use halide_benches::rounds::milliseconds;
use halide_benches::serve::serve;
use serde_json::json;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// The samples of a profile.
const SAMPLES: u64 = 2000;

/// Times one contraction.
#[derive(Debug, Parser)]
struct Options {
    /// Its name
    #[arg(required_unless_present_any = ["list", "mappings"])]
    case: Option<String>,
    /// Print the contractions as JSON, and nothing else
    #[arg(long)]
    list: bool,
    /// Print the milliseconds in which all instructions are matched with each contraction, and nothing else
    #[arg(long)]
    mappings: bool,
    /// A file with its schedule, or `auto-isa`: one of instructions that compute it
    #[arg(long, default_value = "auto-isa")]
    schedule: String,
    /// The number of threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Compile for its shapes alone
    #[arg(long)]
    shapes: bool,
    /// Print the machine code
    #[arg(long)]
    asm: bool,
    /// Compare the result with that of the schedule that stores each Func whole
    #[arg(long)]
    check: bool,
    /// Print the time of each definition
    #[arg(long)]
    profile: bool,
}

fn main() -> Result<(), String> {
    let options = Options::parse();
    let cases = [resnet50(1), resnet50(28), deep_bench(), int8(), blocks()].concat();
    let layers = Gru::all();
    if options.list {
        println!("{}", json!(cases.iter().map(Case::json).chain(layers.iter().map(Gru::json)).collect::<Vec<_>>()));
        return Ok(());
    }
    if options.mappings {
        return matched(&cases, &layers);
    }
    let name = options.case.as_deref().unwrap_or_default();
    if let Some(layer) = layers.iter().find(|layer| layer.name() == name) {
        return recurrent(layer, &options);
    }
    let case = cases.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("there is no contraction {name}; --list has all"))?;
    let worker = Worker::new(case, &options)?;
    let mut output = worker.output()?;
    worker.run(&worker.compiled, &mut output)?;
    if options.check {
        worker.check(&output)?;
    }
    if options.profile {
        worker.profile(&mut output)?;
    }
    serve(&mut || worker.run(&worker.compiled, &mut output))
}

/// Matches all instructions with each contraction.
fn matched(cases: &[Case], layers: &[Gru]) -> Result<(), String> {
    let set = InstructionSet::built_in();
    let mut all: Vec<(String, Vec<Pipeline>)> = Vec::new();
    for case in cases {
        all.push((case.name.clone(), vec![case.pipeline().map_err(text)?]));
    }
    for layer in layers {
        all.push((layer.name(), layer.steps().map_err(text)?.into()));
    }
    for (name, pipelines) in all {
        let (begin, mut found) = (Instant::now(), 0);
        for pipeline in &pipelines {
            for func in pipeline.order.iter().map(|id| &pipeline.funcs[*id]) {
                for (stage, instruction) in
                    (1..func.stages.len()).flat_map(|stage| set.names().map(move |i| (stage, i)))
                {
                    found += mappings(pipeline, (&func.name, stage), &set, instruction).map_or(0, |all| all.len());
                }
            }
        }
        println!("{name} {:.2} ms, {found} mappings", milliseconds(begin.elapsed()));
    }
    Ok(())
}

/// Times a layer of gated recurrent units.
fn recurrent(layer: &Gru, options: &Options) -> Result<(), String> {
    let target = Target { threads: options.threads as u32, ..Target::host() };
    let begin = Instant::now();
    let made = layer.program(&target).map_err(text)?;
    eprintln!("{}\nmapped in {:.1} ms", made.told, milliseconds(begin.elapsed()));
    let compiled = made.program.compile(&target).map_err(text)?;
    let data = layer.data().map_err(text)?;
    let call = data.iter().fold(compiled.inputs(), |call, (name, numbers)| call.image_named(name, numbers));
    let call = call.threads(options.threads);
    let mut done = call.run().map_err(text)?;
    serve(&mut || call.run_into(&mut done).map_err(text))
}

/// A contraction with its code and its inputs.
struct Worker<'c> {
    case: &'c Case,
    pipeline: Pipeline,
    target: Target,
    compiled: Compiled,
    inputs: Vec<(String, AnyBuffer)>,
}

impl Worker<'_> {
    fn new<'c>(case: &'c Case, options: &Options) -> Result<Worker<'c>, String> {
        let pipeline = case.pipeline().map_err(text)?;
        let target = Target { threads: options.threads as u32, ..Target::host() };
        let schedule = schedule(case, &pipeline, &target, &options.schedule)?;
        let mut compiler = Compiler::new(&pipeline).schedule(&schedule).target(&target);
        if options.shapes {
            let shapes = Shapes::of_outputs([Region::of_extents(case.output())]);
            let of = |shapes: Shapes, input: &Input| shapes.input(&input.name, Region::of_extents(extents(input)));
            compiler = compiler.shapes(&case.inputs().iter().fold(shapes, of));
        }
        let begin = Instant::now();
        let compiled = compiler.compile().map_err(text)?;
        eprintln!("compiled in {:.1} ms", milliseconds(begin.elapsed()));
        if options.asm {
            println!("{}", compiled.asm().map_err(text)?);
        }
        let inputs = case.data().map_err(text)?;
        Ok(Worker { case, pipeline, target, compiled, inputs })
    }

    fn output(&self) -> Result<AnyBuffer, String> {
        AnyBuffer::new(self.pipeline.funcs[self.pipeline.outputs[0]].types[0], self.case.output()).map_err(text)
    }

    fn run(&self, compiled: &Compiled, output: &mut AnyBuffer) -> Result<(), String> {
        let call = self.inputs.iter().fold(compiled.inputs(), |call, (name, buffer)| call.image_named(name, buffer));
        let view = output.view_mut().map_err(text)?;
        call.threads(self.target.threads as usize).realize_all_into(&mut [view]).map_err(text).map(drop)
    }

    /// Prints the time of each definition.
    fn profile(&self, output: &mut AnyBuffer) -> Result<(), String> {
        let call =
            self.inputs.iter().fold(self.compiled.inputs(), |call, (name, buffer)| call.image_named(name, buffer));
        let call = call.threads(self.target.threads as usize).profile_until(SAMPLES, Duration::from_secs(10));
        let view = output.view_mut().map_err(text)?;
        let stats = call.realize_all_into(&mut [view]).map_err(text)?;
        eprintln!("{}", stats.profile.map_or_else(|| "there is no profile".to_string(), |profile| profile.text(&[])));
        Ok(())
    }

    /// Tells how far a result is from that of the schedule that stores each Func whole.
    fn check(&self, output: &AnyBuffer) -> Result<(), String> {
        let schedule = at_root::schedule(&self.pipeline, &self.target);
        let plain = self.pipeline.compile(&schedule, &self.target).map_err(text)?;
        let mut wanted = self.output()?;
        self.run(&plain, &mut wanted)?;
        let (mut most, mut largest) = (0f64, 0f64);
        for at in wanted.coords() {
            let [a, b] = [output, &wanted].map(|buffer| buffer.get(&at).map_or(f64::NAN, |value| value.as_f64()));
            most = if (a - b).is_nan() { f64::NAN } else { most.max((a - b).abs()) };
            largest = largest.max(b.abs());
        }
        eprintln!("differs by at most {most:e} of {largest:e}");
        Ok(())
    }
}

/// The schedule in a file, or one of instructions.
fn schedule(case: &Case, pipeline: &Pipeline, target: &Target, name: &str) -> Result<Schedule, String> {
    if name != "auto-isa" {
        return std::fs::read_to_string(name).map_err(text)?.parse::<Schedule>().map_err(text);
    }
    let output = &pipeline.funcs[pipeline.outputs[0]].name;
    let sizes = Estimates::new().output(output, case.output());
    let sizes = case.inputs().iter().fold(sizes, |sizes, input| sizes.input(&input.name, extents(input)));
    let begin = Instant::now();
    let mapped = pipeline.auto_isa(target, &sizes).map_err(text)?;
    let ms = milliseconds(begin.elapsed());
    mapped.stages.iter().for_each(|stage| eprintln!("{stage}"));
    eprintln!("mapped in {ms:.1} ms\n{}", mapped.schedule);
    Ok(mapped.schedule)
}

fn extents(input: &Input) -> Vec<i64> {
    input.region.iter().map(|(_, extent)| *extent).collect()
}

fn text(error: impl Display) -> String {
    error.to_string()
}
