//! The command line as a value.

use super::examples;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use halide::Tier;
use halide::features::CpuFeatures;
use halide::machine::GpuSpeed;
use halide::schedule::{Amount, FloatMode};
use std::path::PathBuf;
use std::time::Duration;

/// Image pipelines as algorithms with schedules: run them, swap their schedules, time them.
#[derive(Debug, Parser)]
#[command(name = "halide", version, max_term_width = 100, disable_help_subcommand = true, after_help = examples::ALL)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the apps, their schedules and parameters, and this machine
    #[command(after_help = examples::LIST)]
    List {
        /// Print one JSON array of {app, schedules, params} and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Run an app on an image: without one, on the photograph that comes with the tool, if one does
    #[command(after_help = examples::RUN)]
    Run(RunArgs),
    /// Time and check every schedule of an app
    #[command(after_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Hold schedules of an app against the reference interpreter: over sizes, on every engine, in every value
    #[command(after_help = examples::CHECK)]
    Check(CheckArgs),
    /// Choose a schedule of an app for a size, predict the time of one, or say which steps would make it faster; runs
    /// nothing
    #[command(after_help = examples::AUTO)]
    Auto(AutoArgs),
    /// Search for a fast schedule of an app by timing candidates on this machine; Ctrl-C ends it and keeps the best
    #[command(after_help = examples::TUNE)]
    Tune(TuneArgs),
    /// Write a crate to begin with, with a pipeline, two schedules, a photograph and a command line of its own
    #[command(after_help = examples::NEW)]
    New(NewArgs),
    /// Show the sizes and speeds of this machine: what it tells, and typical figures for the rest
    #[command(after_help = examples::MACHINE)]
    Machine(MachineArgs),
    /// Print what a shell needs to complete these commands
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print this message, the help of a command, or the language of schedules: each word, with examples and errors
    #[command(after_help = examples::HELP)]
    Help {
        /// The command, or `schedule` for the language of schedules
        command: Option<String>,
        /// With `schedule`, the word to explain, or a topic such as `tails`
        word: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The folder, which is made; its name is that of the crate
    #[arg(value_name = "NAME")]
    pub(crate) path: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MachineArgs {
    /// Measure speeds by small pipelines instead of taking typical ones; about 3 seconds and half a GiB of memory
    #[arg(long)]
    pub(crate) measure: bool,
    /// Write the machine to FILE, as JSON that halide reads back
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object of {machine, sources, bandwidths} and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The image to read and the image to write (out/APP.png when neither is named). With --random, only the one to
    /// write
    #[arg(value_names = ["IN", "OUT"], num_args = 0..=2)]
    pub(crate) files: Vec<PathBuf>,
    /// A schedule of the app by name, a file with one, or `auto`: one that is chosen for these sizes; the app's best
    /// one by default
    #[arg(long, value_name = "NAME|FILE|auto")]
    pub(crate) schedule: Option<String>,
    /// The engine that runs the pipeline
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(crate) backend: Backend,
    /// With --backend gpu, which device: its number or a part of its name in `halide list`, or `software`; by default
    /// what the environment variable HALIDE_DEVICE says, or the fastest
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    /// With `--schedule auto`, the floats that it may make of those that are written; none by default
    #[arg(long, value_enum)]
    pub(crate) allow: Option<Allow>,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// Time N runs after warm-up: min, median, megapixels per second; and compiling it again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) bench: Option<u32>,
    /// Also run the reference interpreter on parts of the image and compare
    #[arg(long)]
    pub(crate) check: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what was compiled; runs nothing unless asked to
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) print: Option<Print>,
    /// Also say how long each definition took, on how many threads, and what it computed, read and wrote; with --backend
    /// gpu how long each kernel took on the device, and what was copied
    #[arg(long)]
    pub(crate) profile: bool,
    /// Write a report to FILE: loop nest, storage, code and, with --profile, times of definitions, as one HTML page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Say what slid, folded and vectorized, and what did not and why; runs nothing unless asked to
    #[arg(long)]
    pub(crate) explain: bool,
    /// Say what demanded each edge of the region of a Func, with the places in the source; runs nothing unless asked to
    #[arg(long, value_name = "FUNC")]
    pub(crate) explain_bounds: Option<String>,
    /// Say how often each loop runs, what its iterations touch, and what is stored and computed; runs nothing unless
    /// asked to
    #[arg(long)]
    pub(crate) explain_nest: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The image to read; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// The GPU that schedules for one run on, as for `run`; without any they are skipped
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// Time N runs of each schedule
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) bench: u32,
    /// Print one JSON array and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// A schedule of the app by name, or a file with one; may be repeated; all of the app by default
    #[arg(long = "schedule", value_name = "NAME|FILE")]
    pub(crate) schedules: Vec<String>,
    /// Run kernels on a GPU, as for `run`; by default they are evaluated
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    /// Print one JSON array and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    /// [--size takes the place of the usual six sizes]
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The numbers of schedules.
#[derive(Debug, clap::Args)]
pub(crate) struct NumberArgs {
    /// Another number for a `let` of the schedule, such as tile=64; may be repeated
    #[arg(long, value_name = "NAME=NUMBER", value_parser = name_and_number)]
    pub(crate) set: Vec<(String, Amount)>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AutoArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The image whose size counts; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// Predict the time of a schedule instead of choosing one: of the app by name, or a file with one
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["output", "allow", "advise"])]
    pub(crate) price: Option<String>,
    /// Say which single steps from a schedule are predicted to make it faster: of the app by name, or a file with one.
    /// With -o, the schedule after the best step is written
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "allow")]
    pub(crate) advise: Option<String>,
    /// Directives that stay as they are, around which the rest is chosen: a schedule of the app by name, or a file
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["price", "advise"])]
    pub(crate) keep: Option<String>,
    /// The machine for which times are predicted, a file that `halide machine -o` wrote; a typical one by default
    #[arg(long, value_name = "FILE")]
    pub(crate) machine: Option<PathBuf>,
    /// Choose kernels for a GPU of this kind, too, which need not be here: with the limits that every device keeps
    #[arg(long, value_enum, conflicts_with_all = ["price", "advise"])]
    pub(crate) gpu: Option<GpuKind>,
    /// The floats that a chosen schedule may make of those that are written; none by default
    #[arg(long, value_enum)]
    pub(crate) allow: Option<Allow>,
    /// Also say the predicted time of each group of Funcs that share loops, and the points that it computes
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write the schedule to FILE
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TuneArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The image to read; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// The time that all of it may take, such as 500ms, 60s or 5m; with 0s the schedule is picked without a run
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s")]
    pub(crate) time: Duration,
    /// A schedule to begin with besides the one that is chosen for these sizes: of the app by name, or a file with one
    #[arg(long, value_name = "NAME|FILE|auto", default_value = "auto")]
    pub(crate) from: String,
    /// Keep what is measured in FILE, a JSON object a line, and go on from what is in it
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
    /// The seed of random choices
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Write the schedule to FILE, whenever a better one is found
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The options that `run`, `compare`, `auto` and `tune` share.
#[derive(Debug, clap::Args)]
pub(crate) struct CommonArgs {
    /// The number of threads that parallel loops may use; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// The vector instructions that machine code may use: baseline (128 bits), avx2 or avx512; the widest of this
    /// machine by default
    #[arg(long, value_name = "NAME", value_parser = tier)]
    pub(crate) target: Option<Tier>,
    /// The extensions that machine code may use, such as avx2,fma,f16c,bmi2: no others, and the widest vectors that
    /// they are enough for; all of this machine by default
    #[arg(long, value_name = "LIST", value_parser = CpuFeatures::parse, conflicts_with = "target")]
    pub(crate) cpu_features: Option<CpuFeatures>,
    /// A parameter or a setting of the app; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) params: Vec<(String, String)>,
    /// The output size of a synthetic input [default with --random: what the schedule estimates, else that of benches]
    #[arg(long, value_name = "WxH", value_parser = size, allow_hyphen_values = true)]
    pub(crate) size: Option<(i64, i64)>,
    /// The most memory for images, inputs, outputs and what runs store, such as 512M or 4G; by default what this
    /// machine has available
    #[arg(long, value_name = "BYTES", value_parser = crate::memory::parse)]
    pub(crate) memory_cap: Option<u64>,
    /// Run on random values from SEED instead of an image [default with --size: 0]
    #[arg(long, value_name = "SEED")]
    pub(crate) random: Option<u64>,
}

impl CommonArgs {
    /// Returns true if the input is synthetic.
    pub(crate) fn is_synthetic(&self) -> bool {
        self.size.is_some() || self.random.is_some()
    }

    /// The size and seed of a synthetic input, if one is asked for. Where no size is, it is the one that is
    /// `estimated`, or the `usual` one.
    pub(crate) fn synthetic(&self, estimated: Option<(i64, i64)>, usual: (i64, i64)) -> Option<((i64, i64), u64)> {
        let size = self.size.or(estimated).unwrap_or(usual);
        self.is_synthetic().then(|| (size, self.random.unwrap_or(0)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Machine code for this CPU
    Cpu,
    /// Machine code for this CPU, and kernels on a GPU for what the schedule gives to it
    Gpu,
    /// The reference interpreter: slow, and right by definition
    Interp,
    /// The lowered loops, evaluated with every access checked: slow, finds the pass that went wrong
    Eval,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GpuKind {
    /// A card with memory of its own
    Discrete,
    /// A GPU that shares memory with the host
    Integrated,
    /// The host's own cores, as llvmpipe uses them
    Software,
}

impl GpuKind {
    /// The speed that is typical of the kind.
    pub(crate) fn speed(self) -> GpuSpeed {
        match self {
            GpuKind::Discrete => GpuSpeed::DISCRETE,
            GpuKind::Integrated => GpuSpeed::INTEGRATED,
            GpuKind::Software => GpuSpeed::SOFTWARE,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allow {
    /// `a * b + c` with one rounding
    Contract,
    /// Sums in another order, too
    Relaxed,
}

impl Allow {
    pub(crate) fn floats(self) -> FloatMode {
        match self {
            Allow::Contract => FloatMode::Contract,
            Allow::Relaxed => FloatMode::Relaxed,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Print {
    /// The schedule in full
    Schedule,
    /// The loop nest
    Loops,
    /// The lowered program
    Ir,
    /// The program after every pass of lowering
    Passes,
    /// Cranelift's input
    Clif,
    /// Machine code
    Asm,
    /// Kernels of the GPU, in the shading language of WebGPU
    Wgsl,
    /// Kernels of the GPU, in the form that Vulkan takes
    Spirv,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE".to_string()),
    }
}

fn name_and_number(text: &str) -> Result<(String, Amount), String> {
    let expected = || "expected NAME=NUMBER, for example tile=64, or NAME=natural".to_string();
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(expected)?;
    let number = match value {
        "natural" => Amount::Natural,
        digits => Amount::Const(digits.parse().map_err(|_| expected())?),
    };
    Ok((name.to_string(), number))
}

fn size(text: &str) -> Result<(i64, i64), String> {
    let number = |t: &str| t.parse::<i64>().map_err(|_| "expected WxH, for example 1536x1024".to_string());
    let (width, height) = text.split_once(['x', 'X']).ok_or("expected WxH, for example 1536x1024")?;
    Ok((number(width)?, number(height)?))
}

/// A time with its unit.
fn time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time with its unit, for example 500ms, 60s or 5m".to_string();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(expected)?;
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())
}

fn tier(name: &str) -> Result<Tier, String> {
    let names = || Tier::ALL.map(Tier::name).join(", ");
    Tier::named(name).ok_or_else(|| format!("there are {}", names()))
}

/// Ends the process as clap does for a wrong command line, with exit status 2.
pub(crate) fn usage_error(text: &str) -> ! {
    Cli::command().error(ErrorKind::ArgumentConflict, text).exit()
}
