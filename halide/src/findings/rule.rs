//! The rules by which findings are found, with their thresholds.

use std::fmt;

/// A rule: a number that says how bad something is, and a threshold beyond which it is a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Loops of a Func outside of all others of which none is parallel.
    NothingParallel,
    /// A parallel loop with fewer iterations than there are threads.
    FewTasks,
    /// A parallel loop whose iterations are over before a thread has taken up the next.
    ShortTasks,
    /// A Func whose points are computed again and again.
    Recompute,
    /// Values that are stored for longer than needed, so that they leave the caches.
    StoredFarOut,
    /// An innermost loop that could be vectors and is none.
    NoVectors,
    /// Vectors whose lanes are in different lines of memory.
    VectorsAcrossRows,
    /// Vectors whose lanes are read one by one, since data decide where they are.
    Gathers,
    /// An innermost loop that goes across rows, where another loop goes along them.
    InnerAcrossRows,
    /// A vectorized loop for which there is no code with vectors as wide as the target's.
    NarrowVectors,
    /// Memory that the iterations of a parallel loop obtain again and again.
    HeapInParallel,
    /// Work that goes from the host to the device and back.
    DeviceInTurns,
    /// Values that are stored wider than they are read.
    StoredWider,
}

/// A rule with its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleRow {
    /// The rule.
    pub rule: Rule,
    /// Its name.
    pub name: &'static str,
    /// The number from which on it is a finding; for some rules, up to which it is one.
    pub threshold: f64,
    /// The unit of the number.
    pub unit: &'static str,
}

/// The bytes between elements from which on each is in a line of memory of its own.
pub(super) const LINE_BYTES: f64 = 64.0;

/// The rules, in the order in which edits are mostly worth trying.
///
/// Thresholds: a task costs a few microseconds to start, so 20 are what makes that small. Recompute of 1.5 is more than
/// what the borders of usual tiles cost. Lines have 64 bytes on all machines of today. The cache is that of a core. 16
/// allocations for each task are more than what one for each of its rows of tiles would be.
pub const RULES: [RuleRow; 13] = [
    RuleRow { rule: Rule::NothingParallel, name: "nothing-parallel", threshold: 1.0, unit: "parallel loops" },
    RuleRow { rule: Rule::NoVectors, name: "no-vectors", threshold: 2.0, unit: "lanes" },
    RuleRow { rule: Rule::VectorsAcrossRows, name: "vectors-across-rows", threshold: LINE_BYTES, unit: "bytes" },
    RuleRow { rule: Rule::InnerAcrossRows, name: "inner-loop-across-rows", threshold: LINE_BYTES, unit: "bytes" },
    RuleRow { rule: Rule::Recompute, name: "recompute", threshold: 1.5, unit: "times" },
    RuleRow { rule: Rule::StoredFarOut, name: "stored-far-out", threshold: 1.0, unit: "caches" },
    RuleRow { rule: Rule::FewTasks, name: "few-tasks", threshold: 1.0, unit: "tasks for each thread" },
    RuleRow { rule: Rule::ShortTasks, name: "short-tasks", threshold: 20.0, unit: "us" },
    RuleRow { rule: Rule::NarrowVectors, name: "narrow-vectors", threshold: 128.0, unit: "bits" },
    RuleRow { rule: Rule::Gathers, name: "gathers", threshold: 1.0, unit: "reads" },
    RuleRow {
        rule: Rule::HeapInParallel,
        name: "heap-in-parallel",
        threshold: 16.0,
        unit: "allocations for each task",
    },
    RuleRow { rule: Rule::DeviceInTurns, name: "device-in-turns", threshold: 3.0, unit: "turns" },
    RuleRow { rule: Rule::StoredWider, name: "stored-wider", threshold: 2.0, unit: "times" },
];

impl Rule {
    /// Returns the row of the table.
    pub fn row(self) -> RuleRow {
        let found = RULES.iter().find(|row| row.rule == self);
        found.copied().unwrap_or(RuleRow { rule: self, name: "", threshold: 0.0, unit: "" })
    }

    /// Returns its name, such as `no-vectors`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the number from which on it is a finding.
    pub fn threshold(self) -> f64 {
        self.row().threshold
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
