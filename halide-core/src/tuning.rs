//! The chosen numbers of the crate: each with its unit, the reason for its size, and the measurement behind it, if
//! there is one. Results do not depend on those of the first two groups.

// Memory of expressions under construction.

/// Creations: nodes younger than this are never swept, nor those younger than there are nodes that Funcs and domains
/// reach. Unit: nodes made since.
/// Reason: more than a user makes between two uses of a handle that nothing else keeps. A large program makes more, and
/// its Funcs reach more. Measured: no.
pub(crate) const YOUNG_NODES: u64 = 1 << 16;
/// The size up to which an arena, or a thread's table of names, is never swept. Unit: nodes, or names.
/// Reason: twice [`YOUNG_NODES`], so that a sweep finds something to free. Measured: so many nodes take 16 MiB, and two
/// million that are swept take no longer than as many that are not.
pub(crate) const SMALL_ARENA: usize = 2 << 16;
/// The longest text that a name holds itself. Unit: bytes.
/// Reason: a name is then 24 bytes with its tag and length, three words, and usual names never meet the table.
/// Measured: no.
pub(crate) const SHORT_NAME: usize = 22;

// Memory and time of runs.

/// The need for memory below which the machine is not asked how much it has. Unit: bytes.
/// Reason: asking costs more than such a run. Measured: no.
pub const UNMETERED_BYTES: u64 = 64 << 20;
/// The size from which memory is asked to be in large pages. Unit: bytes.
/// Reason: two large pages of 2 MiB; of less, the ends that no large page covers are most. Measured: no.
pub(crate) const LARGE_PAGES_FROM: usize = 4 << 20;
/// The most operations in each other in an index expression over the ends of a region. Unit: operations.
/// Reason: walks of them recurse, and nobody writes so many by hand. Measured: no.
pub(crate) const MOST_END_DEPTH: usize = 100;
/// The points of an output that the interpreter demands at once. Unit: points.
/// Reason: batches are full, and the list of points stays in a cache of 1 MiB. Measured: no.
pub(crate) const DEMANDED_POINTS: usize = 1 << 16;
/// The most lanes of a batch of the interpreter. Unit: lanes; a multiple of 64, the bits of a word of a mask.
/// Reason: the cost of an operation's dispatch is shared by so many values. Measured: no.
pub(crate) const BATCH_LANES: usize = 256;
/// The size of a page of the interpreter's values. Unit: the logarithm of points.
/// Reason: a page is made for one point that is demanded, so it is no larger than a batch. Measured: no.
pub(crate) const PAGE_POINTS_LOG2: u32 = 8;
/// The pages of the interpreter's values that are found without a look into the index. Unit: pages.
/// Reason: a stencil of some rows meets its pages again and again. Measured: no.
pub(crate) const RECENT_PAGES: usize = 256;
/// The promises that are remembered with one memory. Unit: promises, each of a region of it.
/// Reason: more than the pipelines that read one buffer; and a buffer whose crops are given one by one stays small.
/// Measured: no.
pub(crate) const REMEMBERED_PROMISES: usize = 16;
/// The expanded size from which a printed expression names what it uses more than once. Unit: nodes.
/// Reason: some lines of text, which can be read without names. Measured: no.
pub(crate) const PRINTED_WHOLE: u64 = 400;

// Limits of the language.

/// The most dimensions of Funcs, images and reduction domains. Unit: dimensions.
/// Reason: dimensions are counted in one byte, and tuples of coordinates are written out up to this length.
pub(crate) const MAX_DIMS: usize = 8;
/// The largest alignment of memory that a rule may ask for. Unit: bytes; a power of two.
/// Reason: beyond the pages of all systems, and small beside an image.
pub(crate) const MAX_ALIGNMENT: u64 = 1 << 20;
