//! The chosen numbers of the crate: each with its unit and the reason for its size. None was measured.

// Text.

/// The depth beyond which statements of a text are refused. Unit: levels.
/// Reason: the stack must suffice; a chain of 500 stages is about 1500 deep.
pub(crate) const DEEPEST_STMT: u32 = 1600;
/// The depth beyond which expressions of a text are refused. Unit: levels.
/// Reason: the stack must suffice; printed expressions name what is large.
pub(crate) const DEEPEST_EXPR: u32 = 300;
/// The expanded size from which a printed expression has its big shared parts named. Unit: nodes, shared ones counted
/// each time.
/// Reason: some lines of text, which can be read without names.
pub(crate) const PRINTED_WHOLE: u64 = 300;
/// The size below which a shared part is printed each time. Unit: nodes.
/// Reason: it is hardly longer than a name.
pub(crate) const PRINTED_EACH_TIME: u64 = 6;

// Walks.

/// The comparisons of nodes after which an equality remembers the pairs that it has compared. Unit: nodes.
/// Reason: a table costs more than comparing a small expression twice.
pub(crate) const COMPARED_WITHOUT_TABLE: u32 = 400;
/// The size up to which allocations are left out of a footprint. Unit: bytes.
/// Reason: they may not be on the heap, and do not matter beside images.
pub(crate) const SMALL_ALLOCATION: u64 = 64 << 10;
/// The depth of tasks that launch each other from which on a footprint does not look at them. Unit: levels.
/// Reason: schedules nest a few parallel loops; this ends the walk of a program that launches itself.
pub(crate) const DEEPEST_TASK: usize = 64;

// Evaluator and verifier.

/// The most elements of a buffer of the evaluator. Unit: elements.
/// Reason: it is for small inputs, and memory is shared with others.
pub(crate) const MOST_ELEMENTS: usize = 1 << 28;
/// The number of holes in memory from which on all share one description. Unit: descriptions.
/// Reason: each is a text, and the first ones say enough.
pub(crate) const MOST_HOLES: usize = 10_000;
/// The most errors that the verifier collects. Unit: errors.
/// Reason: one bug tends to break many nodes.
pub(crate) const MOST_ERRORS: usize = 100;
