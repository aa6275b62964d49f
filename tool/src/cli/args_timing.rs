//! The arguments of `watch`, `why` and `bench`.

use super::args_common::{Backend, CommonArgs, NumberArgs, time};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The schedule file; it need not be there yet
    #[arg(value_name = "FILE")]
    pub(crate) schedule: PathBuf,
    /// The image to read; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// The engine that runs the pipeline
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    pub(crate) backend: Backend,
    /// With --backend gpu, which device, as for `run`
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    /// Also show rows, schedules and loop nests as a page at http://127.0.0.1:PORT/, for this machine alone, and the
    /// full report of the newest version, which follows it, at /report; /report/3 is that of version 3, /report/3,5
    /// compares two. 0 takes a port that is free
    #[arg(long, value_name = "PORT")]
    pub(crate) serve: Option<u16>,
    /// For algorithms in Rust: also watch the sources of the crate (src/**/*.rs, build.rs, Cargo.toml), build it when
    /// they change, and go on with the new program
    ///
    /// Cargo builds the program that runs, with its profile; nothing is timed meanwhile. A compiler error is
    /// a row with its place, and the program that runs goes on; so is a program that cannot begin or
    /// crashes. The new program has the same arguments and port, its rows stand below those before it, and
    /// its first version is held against the interpreter again. CARGO names another cargo. Ctrl-C and `q`
    /// end both, and a build that goes on. Not for Windows, where a program that runs cannot be replaced.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) cargo: bool,
    /// The manifest of the crate; by default the one in this folder or in the nearest one around it
    #[arg(long, value_name = "FILE", requires = "cargo")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// The features to build the crate with
    #[arg(long, value_name = "LIST", requires = "cargo")]
    pub(crate) features: Option<String>,
    /// Print one JSON object a line and nothing else
    ///
    /// The first has `event` "start", with app, file, size, threads, processor, algorithm (a hash of its
    /// text), url (of the page, or null) and program (its number: with --cargo there is one such object for
    /// each program). All others have `event` "row", with version (the number of
    /// the row), saved (in UTC), kind ("timed", "error", "gone") and done: the last object of a version
    /// has true, and replaces those before it. Timed rows have changes (directives that differ from the
    /// version before), runs, min_ms, median_ms, deviation (the median of how far samples are from their
    /// median, of 1), noise (how far the least times of two halves of the samples are apart, of 1), delta
    /// (of the least time, from that of the best version before it), standing ("first", "again" (the
    /// best), "faster" or "slower" by more than the noise, "equal" within it, "open" while it is not
    /// known), is_best, kept_as (a file or null), compile_ms, compiled (false where the code of an
    /// earlier version was kept), result and right. Others have error and goes_on (the version whose code
    /// is the newest that runs, or null).
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,
    /// End after N rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) saves: Option<u64>,
    /// End after this time, such as 90s or 5m
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub(crate) lasts: Option<Duration>,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The schedule to begin with: of the app by name, or a file with one
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The schedule that is faster or slower, likewise
    #[arg(value_name = "B")]
    pub(crate) b: String,
    /// The image to read; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// The GPU that schedules for one run on, as for `run`
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    /// The time that all of it may take, such as 30s or 2m
    ///
    /// A row is a change: a directive that comes, goes, or has other arguments, or several that are legal
    /// only together. `alone` is the speed of A with it beside A's, `without it` that of B without it
    /// beside B's; `-` stands where that is not legal, `?` where no time was left. Worth is the mean of
    /// the logarithms of the first and of one by the second, as far as there are both, as a part of the
    /// logarithm of B's speed beside A's; without both, that of the step on the way from A to B. Parts
    /// need not sum to 100 %.
    ///
    /// The way from A to B is looked for in the first 40 % of the time, and schedules are compiled in the
    /// first 70 %. All are timed in turn in at most 15 rounds, of which none but the first two begins
    /// where there is no time for it. One that is 20 times as slow as A and B is ended, and has `<` before
    /// its ratio.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "60s", verbatim_doc_comment)]
    pub(crate) time: Duration,
    /// Print one JSON object and nothing else
    ///
    /// It has app, size, threads, rounds, a and b (schedule, min_ms, noise, differs: by how much the
    /// result differs from A's, if it may not), answer ("faster" or "slower", which B is, "same time"
    /// within the noise, "same directives"), ratio (of speeds, B's beside A's), noise, changes (text,
    /// before and after, each null or text and at), and steps, the one that is worth most first: changes
    /// (their positions), alone and without (ratio, noise and is_less, or error), worth (a factor of
    /// speed), share (of the difference, of 1) and differs.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// The app, by name; `halide list` names them all
    pub(crate) app: String,
    /// The image to read; the photograph that comes with the tool by default
    #[arg(value_name = "IN")]
    pub(crate) file: Option<PathBuf>,
    /// A schedule of the app by name, or a file with one; may be repeated; all of the app by default
    #[arg(long = "schedule", value_name = "NAME|FILE")]
    pub(crate) schedules: Vec<String>,
    /// The GPU that schedules for one run on, as for `run`; without any they are skipped
    #[arg(long, value_name = "WHICH")]
    pub(crate) device: Option<String>,
    /// Time each schedule N times, in turn with the others
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) rounds: u32,
    /// Keep the times in FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Compare with the times in FILE, and fail where a schedule is slower by more than the tolerance and the noise.
    /// The file must be of the same app, size, parameters, threads, target and processor
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// With --against, how much slower than in the file a schedule may be, noise not counted
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percentage)]
    pub(crate) tolerance: f64,
    /// Write a comment into each schedule file that is named: the algorithm that it is for, and its time
    #[arg(long)]
    pub(crate) stamp: bool,
    /// Print one JSON object and nothing else: what --save keeps, and the comparison
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// A percentage as a part of 1.
fn percentage(text: &str) -> Result<f64, String> {
    let expected = || "expected a percentage that is not negative, for example 3%".to_string();
    let number: f64 = text.strip_suffix('%').unwrap_or(text).parse().map_err(|_| expected())?;
    if number.is_finite() && number >= 0.0 { Ok(number / 100.0) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::percentage;

    #[test]
    fn percentages_may_have_their_sign() {
        assert_eq!(["3%", "3", "0", "0.5%"].map(percentage), [Ok(0.03), Ok(0.03), Ok(0.0), Ok(0.005)]);
        for text in ["", "%", "-1%", "x", "nan", "inf%", "3%%"] {
            assert!(percentage(text).is_err(), "{text}");
        }
    }
}
