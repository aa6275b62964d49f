//! Findings: what a schedule does that costs time, with the edit of the schedule that mends it.
//!
//! [`Call::findings`] holds the loop nest of a call, with its costs at the sizes of the call, against a table of rules
//! ([`RULES`]). Nothing is run, so equal questions have equal answers. An [`Edit`] is a schedule that was resolved and
//! lowered; whether it is faster on a machine is for a clock to say, as `halide lint --fix` does.
//!
//! ```
//! use halide::findings::Rule;
//! use halide::prelude::*;
//! let (x, y) = vars!(x, y);
//! let mut f = Func::new("f");
//! f[(x, y)] = x * y;
//! let pipeline = Pipeline::new([&f])?;
//! let across: Schedule = "f: vectorize(y, 16)".parse()?;
//! let compiled = pipeline.compile(&across, &Target { threads: 1, ..Target::host() })?;
//! let found = compiled.inputs().findings(&[Region::of_extents([1000, 800])])?;
//! assert_eq!(found[0].rule, Rule::VectorsAcrossRows);
//! assert!(found[0].text.starts_with("`f` has vectors over `f.y$v`"), "{}", found[0]);
//! let edit = found[0].edit.as_ref().expect("rows can be vectors");
//! assert_eq!(edit.schedule.to_string(), "f: vectorize(x, natural)");
//! # Ok::<(), Error>(())
//! ```

mod code;
mod edits;
mod far_out;
mod finding;
mod inner;
mod place;
mod recompute;
mod rule;
mod scene;
mod threads;

use crate::call::Call;
use crate::error::Error;
use crate::profile::Profile;
use edits::Edits;
pub use finding::{Edit, Finding};
use halide_core::buffer::Region;
pub use rule::{RULES, Rule, RuleRow};
use scene::Scene;

impl Call<'_> {
    /// Finds what the schedule does that costs time in a call for outputs over these regions, the most work first.
    /// Nothing is run.
    ///
    /// # Errors
    /// As of [`Call::nest`].
    pub fn findings(&self, regions: &[Region]) -> Result<Vec<Finding>, Error> {
        let scene = Scene::new(self, regions)?;
        let edits = Edits { call: self, regions, scene: &scene };
        let mut found = threads::find(&edits);
        found.extend(inner::find(&edits));
        found.extend(recompute::find(&edits));
        found.extend(far_out::find(&edits));
        found.extend(code::find(&edits));
        edits.check(&mut found);
        // Stable: what has equal weight stays in the order of rules.
        found.sort_by(|a, b| b.work.total_cmp(&a.work));
        Ok(found)
    }

    /// Finds as [`Call::findings`] does, with the part of the time that each Func took in a profile, the most first.
    ///
    /// # Errors
    /// As of [`Call::findings`].
    pub fn findings_of(&self, regions: &[Region], profile: &Profile) -> Result<Vec<Finding>, Error> {
        let mut found = self.findings(regions)?;
        found.iter_mut().for_each(|finding| finding.note_share(profile));
        found.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
        Ok(found)
    }

    /// Makes one edit of those of several findings of the schedule: each that is still legal after those before it.
    /// `None` if no finding has an edit.
    ///
    /// # Errors
    /// As of [`Call::findings`].
    pub fn together(&self, regions: &[Region], findings: &[&Finding]) -> Result<Option<Edit>, Error> {
        let scene = Scene::new(self, regions)?;
        let edits = Edits { call: self, regions, scene: &scene };
        Ok(edits.together(findings.iter().filter_map(|finding| finding.edit.as_ref())))
    }
}
