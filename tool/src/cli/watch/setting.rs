//! The circumstances of a watch: the job, the arguments, and what runs it.

use super::super::args_common::CommonArgs;
use super::super::args_timing::WatchArgs;
use super::super::common::Runner;
use super::super::stamp;
use super::mailbox::Mailbox;
use crate::job::Job;

/// The circumstances of a watch, which do not change.
pub(super) struct Setting<'a> {
    pub(super) job: &'a Job,
    pub(super) args: &'a WatchArgs,
    pub(super) runner: &'a Runner,
    pub(super) mailbox: &'a Mailbox,
    /// The fingerprint of the algorithm.
    pub(super) algorithm: String,
    pub(super) processor: String,
}

impl Setting<'_> {
    pub(super) fn common(&self) -> &CommonArgs {
        &self.args.common
    }

    pub(super) fn threads(&self) -> Option<usize> {
        self.common().threads.map(usize::from)
    }

    /// The text of the file that keeps the best version: `text` with its stamp, and the numbers that it was timed with.
    pub(super) fn best_text(&self, text: &str, ms: f64) -> String {
        let line = stamp::stamp(&self.algorithm, ms, &self.processor);
        let set = self.args.numbers.set.iter().map(|(name, number)| format!(" --set {name}={number}"));
        let set: String = set.collect();
        let set = if set.is_empty() { set } else { format!("# with{set}\n") };
        format!("{set}{}", stamp::stamped(text, &line))
    }
}
