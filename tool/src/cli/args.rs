//! The command line as a value.

use super::args_common::time;
use super::examples;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use halide::machine::GpuSpeed;
use halide::schedule::FloatMode;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use super::args_common::{Backend, CommonArgs, NumberArgs};
pub(crate) use super::args_lint::LintArgs;
pub(crate) use super::args_report::ReportArgs;
pub(crate) use super::args_timing::{BenchArgs, WatchArgs, WhyArgs};

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
    /// Time a schedule file each time it is saved: a row for each version, with what changed and what it gained
    #[command(after_help = examples::WATCH)]
    Watch(WatchArgs),
    /// Say which directives make a schedule of an app faster or slower than another one, by timing those between them
    #[command(after_help = examples::WHY)]
    Why(WhyArgs),
    /// Say what a schedule of an app does that costs time, with the edit that mends it; with --fix, time the edits and
    /// keep what is faster
    #[command(after_help = examples::LINT)]
    Lint(LintArgs),
    /// Time schedules of an app in turn; keep the times in a file, and fail where one became slower
    #[command(after_help = examples::BENCH)]
    Bench(BenchArgs),
    /// Write a page about a schedule of an app: its loops, code, times, memory, and the order of evaluation
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Write a crate to begin with, with a pipeline, two schedules, a photograph and a command line of its own
    #[command(after_help = examples::NEW)]
    New(NewArgs),
    /// Say in which ways instructions compute the stages of an app: what `use` in a schedule can name; runs nothing
    #[command(after_help = examples::MAP)]
    Map(MapArgs),
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
pub(crate) struct MapArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// Only this instruction; where it computes no stage, the first difference is told
    #[arg(long, value_name = "NAME")]
    pub(crate) instruction: Option<String>,
    /// Print one JSON object of {app, rows, chosen} and nothing else: a row for each stage and instruction, with its
    /// mappings, or why there are none; and the choices for stages
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
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
    /// A schedule of the app by name, a file with one, `auto`: one that is chosen for these sizes, or `auto-isa`: one
    /// of instructions that compute its stages; the app's best one by default
    #[arg(long, value_name = "NAME|FILE|auto|auto-isa")]
    pub(crate) schedule: Option<String>,
    /// The engine that runs the pipeline
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(crate) backend: Backend,
    /// With --backend gpu, which device: its number or a part of its name in `halide list`, or `software`; by default
    /// what the environment variable HALIDE_DEVICE says, or the fastest
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    /// With `--schedule auto`, the floats that it may make of those that are written; none by default. With `auto-isa`,
    /// products are added without being rounded first by default
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
    /// Also say how long each definition took, on how many threads, and what it computed, read and wrote; with
    /// --backend gpu how long each kernel took on the device, and what was copied
    #[arg(long)]
    pub(crate) profile: bool,
    /// Write a page about this run to FILE: loops, storage, code and, with --profile, times of definitions; `halide
    /// report` shows more
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
    /// A schedule to begin with besides the one that is chosen for these sizes: of the app by name, a file with one, or
    /// `auto-isa`: one of instructions that compute its stages
    #[arg(long, value_name = "NAME|FILE|auto|auto-isa", default_value = "auto")]
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

/// Ends the process as clap does for a wrong command line, with exit status 2.
pub(crate) fn usage_error(text: &str) -> ! {
    Cli::command().error(ErrorKind::ArgumentConflict, text).exit()
}
