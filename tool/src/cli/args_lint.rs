//! The arguments of `lint`.

use super::args_common::{CommonArgs, NumberArgs, time};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct LintArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The image to read; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// A schedule of the app by name, a file with one, or `auto`: one that is chosen for these sizes; the app's best
    /// one by default
    #[arg(long, value_name = "NAME|FILE|auto")]
    pub(crate) schedule: Option<String>,
    /// Run nothing: findings come without parts of the time, those with most work first
    #[arg(long, conflicts_with = "fix")]
    pub(crate) no_run: bool,
    /// Time edits beside the schedule, keep each that is faster by more than 2 % and 3 deviations and gives the same
    /// bits, and print the patch; Ctrl-C ends it and keeps the best
    ///
    /// Edits are those of findings, all together and those of each rule together. Where none of these is
    /// faster, the schedule that `halide auto` chooses for these sizes is tried, then edits one by one, and
    /// steps that it advises. It ends where nothing is faster, or with the time.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) fix: bool,
    /// With --fix, the time that all of it may take, such as 30s or 2m
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s", requires = "fix")]
    pub(crate) budget: Duration,
    /// With --fix, write the schedule to FILE, whenever an edit is kept
    #[arg(short, long, value_name = "FILE", requires = "fix")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object and nothing else
    ///
    /// It has app, schedule, size, threads and findings: rule, func and at_loop (or null), value, threshold,
    /// unit, work (the part of the run's operations), share (of the time, or null), text, and edit (from
    /// and to, lines of the schedule, and the schedule after it, or null). With --fix also before_ms,
    /// after_ms, ratio (of speeds), tried (each with what and outcome: "kept", "not faster", "refused",
    /// "other result"), seconds, ended, kept (each with what, gain, before_ms and after_ms), wrong (edits
    /// whose result differs), patch, result (the schedule) and out (the file or null); findings are those
    /// of the result.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
