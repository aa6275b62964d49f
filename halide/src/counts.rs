//! The counts of a run: what each Func computes, reads, writes and allocates.

/// The counts of one Func in a run. They are exact: a program counts that has the loops of the schedule, and computes
/// values only where counts depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuncCounts {
    /// The Func; the name of one that a directive made is as the schedule says it.
    pub func: String,
    /// Points that its definitions computed; one that is computed twice counts twice.
    pub points: u64,
    /// Points that would be computed if each were once: those of the box around what consumers read. `None` of a Func
    /// that a directive made, and where counts depend on data.
    pub needed: Option<u64>,
    /// Elements of a tuple element that were allocated, in all.
    pub elements: u64,
    /// Allocations.
    pub allocations: u64,
    /// Bytes that its definitions read, each distinct access once for a point: of all Funcs and inputs, from wherever
    /// they are.
    pub loaded: u64,
    /// Bytes that its definitions stored.
    pub stored: u64,
    /// Operations on data, each distinct one once for a point.
    pub operations: u64,
    /// The bytes of `loaded` by what they are read from.
    pub sources: Vec<SourceCount>,
}

/// The bytes that the definitions of a Func read from one Func or image. What is inlined reads for its consumer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceCount {
    /// The Func or the image.
    pub of: String,
    /// True if it is an image.
    pub is_image: bool,
    /// The bytes.
    pub loaded: u64,
}

impl FuncCounts {
    /// Returns how often each point that is needed was computed.
    pub fn recompute(&self) -> Option<f64> {
        self.needed.filter(|needed| *needed > 0).map(|needed| self.points as f64 / needed as f64)
    }
    /// Returns the operations for each byte that is read or written.
    pub fn intensity(&self) -> Option<f64> {
        let bytes = self.loaded + self.stored;
        (bytes > 0).then(|| self.operations as f64 / bytes as f64)
    }
}
