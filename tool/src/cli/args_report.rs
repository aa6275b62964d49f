//! The arguments of `halide report`.

use super::args_common::{Backend, CommonArgs, NumberArgs};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The image to read; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// A schedule of the app by name, or a file with one; two with a comma between them are compared
    #[arg(long = "schedule", value_name = "NAME|FILE", value_delimiter = ',')]
    pub(crate) schedules: Vec<String>,
    /// The engine that runs the pipeline
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(crate) backend: Backend,
    /// The GPU to run on, as for `run`
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// The figures of the machine for the roofline, a file that `halide machine -o` wrote; by default those that the
    /// first report measures and keeps in the user's cache folder
    #[arg(long, value_name = "FILE")]
    pub(crate) machine: Option<PathBuf>,
    /// Also run the reference interpreter on parts of the image and compare
    #[arg(long)]
    pub(crate) check: bool,
    /// Leave out lines of the source
    #[arg(long)]
    pub(crate) no_source: bool,
    /// The page to write [default: out/APP.html]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Give the data of the page as one JSON object, whose schema is `report/schema.json`, in place of the page
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the order of evaluation as an animation, in place of the page
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "json", "check", "no_source"])]
    pub(crate) gif: Option<PathBuf>,
}
