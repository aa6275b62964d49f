//! Share of the accesses of random pipelines that are proved to be inside of their buffers.

use crate::case::Case;
use halide_sched::lower::{Accesses, LowerOptions, Lowered, LoweringTrace, lower};
use halide_sched::plan;

/// Accesses of programs, and those among them that are proved.
#[derive(Clone, Copy, Default, Debug)]
pub struct Share {
    /// The number of those that are proved.
    pub proved: usize,
    /// The number of all.
    pub all: usize,
}

impl Share {
    /// The share of a case in its main variant; `None` if it is refused.
    pub fn of(case: Case) -> Option<Share> {
        let case = case.main_part();
        let plan = plan::resolve(&case.pipeline, &case.schedule, &case.target).ok()?;
        let options = LowerOptions { accesses: Accesses::BeforeLoops, ..LowerOptions::default() };
        let Lowered { trace, .. } = lower(&plan, &options).ok()?;
        Share::of_trace(&trace)
    }

    /// The share that a proof of accesses recorded; `None` if it looked at none.
    pub(crate) fn of_trace(trace: &LoweringTrace) -> Option<Share> {
        // A pass that runs alone has a record without a name.
        let pass = trace.passes.iter().find(|pass| ["check_accesses", ""].contains(&pass.name))?;
        let text = format!("{:?}", pass.decisions);
        let (_, rest) = text.split_once("proved ")?;
        let mut words = rest.split(' ');
        let proved = words.next()?.parse().ok()?;
        Some(Share { proved, all: words.nth(1)?.parse().ok()? })
    }

    /// The sum of both.
    pub fn and(self, other: Share) -> Share {
        Share { proved: self.proved + other.proved, all: self.all + other.all }
    }
}
