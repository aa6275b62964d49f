//! The accesses of a program, by what became of them.

use crate::lower::trace::LoweringTrace;
use halide_ir::hash::Map;
use halide_ir::{BufId, LoopId, Program};

/// The verdict on an access; later ones cost more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Verdict {
    /// It is inside of its buffer whenever it is reached.
    Proved,
    /// Checked once, before any loop.
    Before,
    /// Checked in a loop, outside of the innermost loop around it.
    Outer,
    /// Checked in the innermost loop around it.
    Inner,
    /// Neither proved nor checked: in a kernel, or in an atomic step whose index depends on what it stores.
    Trusted,
}

/// The number of accesses of each verdict.
#[derive(Default)]
pub(super) struct Tally {
    counts: [usize; 5],
    /// Buffers with the innermost loop of an access that is not settled outside of it.
    costly: Map<(BufId, Option<LoopId>, Verdict), usize>,
}

impl Tally {
    pub(super) fn count(&mut self, buf: BufId, innermost: Option<LoopId>, verdict: Verdict) {
        self.counts[verdict as usize] += 1;
        if verdict >= Verdict::Inner {
            *self.costly.entry((buf, innermost, verdict)).or_default() += 1;
        }
    }

    /// Says how many accesses are proved, and names those that are checked again and again.
    pub(super) fn report(&self, program: &Program, trace: &mut LoweringTrace) {
        let [proved, before, outer, inner, trusted] = self.counts;
        let all = proved + before + outer + inner + trusted;
        if all == 0 {
            return;
        }
        let mut text = format!("proved {proved} of {all} accesses in bounds");
        for (n, what) in [(before, "checked before all loops"), (outer, "checked in outer loops")] {
            if n > 0 {
                text += &format!(", {n} {what}");
            }
        }
        trace.did("accesses", text);
        let mut costly: Vec<_> = self.costly.iter().collect();
        costly.sort();
        for ((buf, at, verdict), n) in costly {
            let place = at.map_or("outside of loops".to_string(), |l| format!("in {}", program.loops[l]));
            let because = match verdict {
                Verdict::Trusted => "it is in a kernel, or its index changes with the element: it rests on lowering",
                _ => "no bound of the index is known outside: it is checked each time",
            };
            trace.did_not(&program.buffers[*buf].name, format!("proved in bounds {place} ({n})"), because);
        }
    }
}
