//! The circumstances of a watch: the job, the arguments, and what runs it.

use super::super::args_common::CommonArgs;
use super::super::args_timing::WatchArgs;
use super::super::common::Runner;
use super::super::stamp;
use super::mailbox::Mailbox;
use super::state::State;
use crate::app::App;
use crate::job::Job;
use std::path::Path;

/// The circumstances of a watch, which do not change.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) app: &'static App,
    pub(super) job: &'a Job,
    pub(super) args: &'a WatchArgs,
    pub(super) runner: &'a Runner,
    pub(super) mailbox: &'a Mailbox,
    /// The fingerprint of the algorithm.
    pub(super) algorithm: &'a str,
    pub(super) processor: &'a str,
    /// The file for the rows, where a supervisor starts programs one after the other.
    pub(super) state: Option<&'a Path>,
}

impl Setting<'_> {
    pub(super) fn common(&self) -> &CommonArgs {
        &self.args.common
    }

    pub(super) fn threads(&self) -> Option<usize> {
        self.common().threads.map(usize::from)
    }

    /// Keeps the rows for the program after this one.
    ///
    /// # Errors
    /// They cannot be kept: why.
    pub(super) fn keep(&self, state: &State) -> Result<(), String> {
        let failed = |text: String| format!("the rows are not kept for the next program: {text}");
        self.state.map_or(Ok(()), |path| state.write(path).map_err(failed))
    }

    /// The line that begins the first row of a program that took over from another one.
    pub(super) fn program(&self, state: &State) -> Option<String> {
        let number = Some(state.program).filter(|number| self.state.is_some() && *number > 1)?;
        let best = state.best.map(|(version, ms)| format!(", the best before was {version}: {ms:.3} ms"));
        Some(format!("program {number}{}", best.unwrap_or_default()))
    }

    /// The text of the file that keeps the best version: `text` with its stamp, and the numbers that it was timed with.
    pub(super) fn best_text(&self, text: &str, ms: f64) -> String {
        let line = stamp::stamp(self.algorithm, ms, self.processor);
        let set = self.args.numbers.set.iter().map(|(name, number)| format!(" --set {name}={number}"));
        let set: String = set.collect();
        let set = if set.is_empty() { set } else { format!("# with{set}\n") };
        format!("{set}{}", stamp::stamped(text, &line))
    }
}
