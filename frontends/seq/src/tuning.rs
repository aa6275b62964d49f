//! Constants that were chosen.

/// Brackets and blocks inside of each other in one text. A level takes about ten frames of the parser, a few kilobytes.
pub(crate) const MOST_NESTING: usize = 64;

/// Operations that reads of an element may repeat. A value with more is stored, so that chains of primitives that read
/// an element twice do not double the work each time.
pub(crate) const MOST_INLINED: usize = 64;

/// Elements of one task of a parallel loop over elements: some ten microseconds of simple arithmetic.
pub(crate) const CHUNK: usize = 16384;

/// Elements of one task where each is a reduction of its own.
pub(crate) const ROWS: usize = 256;

/// Expressions inside of each other. A level takes two frames of inference and of a walk each: some kilobytes without
/// optimisation.
pub(crate) const MOST_HEIGHT: usize = 100;

/// Calls of defs and lambdas inside of each other: a call takes about ten frames of a walk.
pub(crate) const MOST_CALLS: usize = 64;

/// Parts of a type. Tuples of tuples double them with each statement, and every type is written out once.
pub(crate) const MOST_PARTS: usize = 4096;

/// Elements of a sequence that the interpreter makes of a number: each takes some 40 bytes there.
pub(crate) const MOST_ELEMENTS: usize = 1 << 26;

/// Rounds of a def that calls itself, for one element: what goes on after a million is taken not to end, and the
/// interpreter of pipelines, which words the error, is there in a second.
pub(crate) const MOST_ROUNDS: i32 = 1 << 20;
