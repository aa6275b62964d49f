//! Loops as rows of a program: what belongs to a loop beside its statement.
//!
//! A loop is its row. A pass that copies a loop gives the copy a row of its own ([`Program::copy_loop`]), which says
//! the same and knows its origin, so passes ask the row and never compare names. Text holds the names alone.

use super::stmt::Stmt;
use super::sym::{BufId, LoopId};
use super::visit;
use halide_core::error::Location;
use halide_core::ids::FuncId;
use std::collections::BTreeSet;
use std::fmt;

/// A loop: its name, and what the schedule says of it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LoopInfo {
    /// Name for messages and text, `blur_y.yi`. Loops of variants and copies have equal names.
    pub name: String,
    /// The case of specialisations in which it runs, for reports: `where f.extent(0) > 99`, or `otherwise`; empty if
    /// there are none.
    pub case: String,
    /// The definition whose loop it is: the Func, and 0 or the number of its update counted from 1. `None` if it is
    /// nobody's.
    pub definition: Option<(FuncId, usize)>,
    /// The loop of the nest that this one is a copy of; `None` if it is no copy.
    pub origin: Option<LoopId>,
    /// Policy for cutting it into prologue, steady state and epilogue.
    pub partition: Partition,
    /// Buffers that a scan stores to: each iteration reads the element that the one before it stored, and combines it
    /// with new values by an associative operation.
    pub scans: BTreeSet<BufId>,
    /// True if float operations of its definition may be reordered.
    pub is_relaxed: bool,
    /// True if code generators are not to unroll it.
    pub never_unroll: bool,
    /// Place of the directive that chose its kind or policy.
    pub at: Option<Location>,
    /// Funcs whose memory is allocated in its body, outside of where they are stored.
    pub hoisted: BTreeSet<FuncId>,
    /// Prefetches that each of its iterations begins with.
    pub prefetches: Vec<PrefetchRequest>,
    /// Dead code that lowering has dropped: no run comes to it.
    pub is_dead: bool,
}

/// A prefetch that a schedule asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrefetchRequest {
    /// Source: one buffer for each tuple element.
    pub bufs: Vec<BufId>,
    /// The loop whose later iteration reads: the one that asks, or one around it.
    pub from: LoopId,
    /// Distance in iterations of that loop.
    pub offset: i64,
    /// Treatment of what is beyond the ends of the source.
    pub bound: PrefetchBound,
}

/// Policy for cutting a loop into prologue, steady state and epilogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Partition {
    /// Cut where it pays.
    #[default]
    Auto,
    /// Left whole.
    Never,
    /// Cut, or lowering fails.
    Always,
}

/// Treatment of what a prefetch would bring from beyond the bounds of its source. Nothing beyond is ever read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum PrefetchBound {
    /// Nothing is brought if any of it is beyond.
    #[default]
    GuardWithIf,
    /// The part inside is brought.
    Clamp,
    /// Left to an instruction that does not fault.
    NonFaulting,
}

impl PrefetchBound {
    /// Returns its word in text.
    pub fn word(self) -> &'static str {
        match self {
            PrefetchBound::GuardWithIf => "GuardWithIf",
            PrefetchBound::Clamp => "Clamp",
            PrefetchBound::NonFaulting => "NonFaulting",
        }
    }
}

impl LoopInfo {
    /// Returns a loop of which the schedule says nothing.
    pub fn new(name: impl Into<String>) -> LoopInfo {
        LoopInfo { name: name.into(), ..LoopInfo::default() }
    }

    /// Returns its name with the case in which it runs, which tells loops of specialisations apart.
    pub fn with_case(&self) -> String {
        if self.case.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.case) }
    }
}

impl<T: Into<String>> From<T> for LoopInfo {
    fn from(name: T) -> LoopInfo {
        LoopInfo::new(name)
    }
}

impl fmt::Display for LoopInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Adds the loops in `s` to `found`.
pub fn loops_in(s: &Stmt, found: &mut BTreeSet<LoopId>) {
    if let Stmt::For(l) = s {
        found.insert(l.id);
    }
    visit::for_each_stmt(s, |inner| loops_in(inner, found));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Program;
    use crate::{ForKind, Stage, build};

    #[test]
    fn copies_say_what_their_original_says() {
        let mut p = Program::empty(Stage::Bounded);
        let original = p.loops.push(LoopInfo { partition: Partition::Never, ..LoopInfo::new("f.x") });
        let other = p.loops.push("f.x".into());
        let copy = p.copy_loop(original);
        let again = p.copy_loop(copy);
        assert_eq!([copy, again].map(|l| (p.origin(l), p.loops[l].partition)), [(original, Partition::Never); 2]);
        assert_eq!((p.origin(other), p.loops[other].partition), (other, Partition::Auto));
    }

    #[test]
    fn loops_that_the_body_lacks_are_dead() {
        let mut p = Program::empty(Stage::Bounded);
        let [live, dropped] = ["f.x", "f.x"].map(|name| p.loops.push(name.into()));
        let body = Stmt::Free { buf: BufId(0) };
        p.body = build::for_loop(live, ForKind::Serial, build::int(0), build::int(9), body);
        p.mark_dropped_loops();
        assert_eq!([live, dropped].map(|l| p.loops[l].is_dead), [false, true]);
    }
}
