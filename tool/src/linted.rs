//! Findings about a job.

use crate::job::Job;
use halide::findings::{Edit, Finding};
use halide::prelude::*;
use halide::profile::Profile;

impl Job {
    /// The region of the output.
    fn whole(&self) -> Vec<Region> {
        vec![Region::of_extents(self.extents.clone())]
    }

    /// Finds what the schedule of `compiled` does that costs time; of several runs the first counts, since they do the
    /// same.
    ///
    /// # Errors
    /// As of [`Call::findings`].
    pub fn findings(&self, compiled: &Compiled, profile: Option<&Profile>) -> Result<Vec<Finding>, Error> {
        let call = self.call(compiled, self.runs.first().map_or(&[][..], |inputs| inputs), None);
        match profile {
            Some(profile) => call.findings_of(&self.whole(), profile),
            None => call.findings(&self.whole()),
        }
    }

    /// Makes one edit of those of several findings.
    ///
    /// # Errors
    /// As of [`Call::together`].
    pub fn together(&self, compiled: &Compiled, findings: &[&Finding]) -> Result<Option<Edit>, Error> {
        let call = self.call(compiled, self.runs.first().map_or(&[][..], |inputs| inputs), None);
        call.together(&self.whole(), findings)
    }
}
