//! The constants of the CPU backend that were chosen, rather than given by a protocol or a machine's manual.
//!
//! Each has its unit, the reason for it, and the measurement behind it where one is on record; "by reasoning" says that
//! none is. None is made for one app or one size of image.

use std::time::Duration;

// Code generation.

/// Instructions of a function from which on registers are assigned in one pass. Trying again and again takes time that
/// grows faster than the code. Measured: it takes minutes beyond this.
pub(crate) const ONE_PASS_INSTRUCTIONS: usize = 40_000;

/// Rounds through all blocks in search of moves that change nothing: one more than loops inside of each other are
/// enough for most functions, and others keep their moves. By reasoning.
pub(crate) const MOVE_ROUNDS: usize = 16;

/// Instructions beyond the largest function for which another thread is asked to help with them. Measured: one takes
/// some 3.7 µs, and to hand work to rayon's pool takes 15.
pub(crate) const HELPER_INSTRUCTIONS: usize = 64;

/// Nodes on the way down an expression that is searched for its range: a clamp, a cast, a shift and a sum above a load
/// are what conversions have above them. Each more may double the search. By reasoning.
pub(crate) const RANGE_DEPTH: u32 = 6;

/// Terms of an index from which on names of sums are not opened further: the number of terms may double with each name.
/// By reasoning.
pub(crate) const INDEX_TERMS: usize = 12;

/// Iterations of inner loops that make an iteration long enough for a look at the flag that ends a run: a load and a
/// branch that is predicted, next to at least as many iterations as this. By reasoning: nobody can measure it.
pub(crate) const POLL_ITERATIONS: u64 = 64;

/// Nodes of expressions of a definition that is marked in profiled code: a mark is two stores, next to at least as many
/// instructions as this. By reasoning.
pub(crate) const MARKED_WORK: u64 = 256;

/// Variables that a buffer in registers may need with 128-bit vectors: four times the 16 registers of the machine,
/// since not all are live at the same time. By reasoning.
pub(crate) const REGISTER_VARIABLES: usize = 64;

/// Registers that a buffer in registers leaves free in a kernel of wide vectors: two operands, a result and a constant.
/// What stays in memory is an operand of instructions at no cost. By reasoning.
pub(crate) const FREE_REGISTERS: usize = 4;

/// Terms of the address of a row: many times those of four dimensions with offsets and minima, so that hardly any has
/// more. By reasoning.
pub(crate) const ADDRESS_TERMS: usize = 64;

/// Names that are looked through for what a captured name is a sum of: each nests a call. By reasoning.
pub(crate) const CAPTURED_DEPTH: usize = 64;

/// Odd multiples of a stride that rows may be reached by: 1, 3, 5 and 7 reach nine rows from one pointer, and more
/// would need a register for each two rows. By reasoning.
pub(crate) const STRIDE_MULTIPLES: u64 = 4;

/// Rows that are compared with one in search of those that are multiples of a stride from it: more than registers could
/// be saved for. All with all would take time that grows with the square of a loop's code. By reasoning.
pub(crate) const ROWS_SEARCHED: usize = 256;

/// Pointers from which a row is searched: those of rows further back are out of reach but for gaps. By reasoning.
pub(crate) const POINTERS_SEARCHED: usize = 8;

/// Instructions behind its definition in which a general register is used again for what computes the same. Measured:
/// stack operands of innermost loops of all apps.
pub(crate) const REUSED_WITHIN: usize = 16;

/// Instructions that a core starts a cycle: six on Zen 3, Zen 4 and Golden Cove, by their makers' manuals. Zen 5 starts
/// eight, and gains less from unrolling.
pub(crate) const ISSUE_WIDTH: usize = 6;

/// Instructions of an unrolled loop, all its copies together: eleven cycles at [`ISSUE_WIDTH`] a cycle. A body of more
/// than half of them is left as it is: with a second copy, counter and test cost one instruction an iteration less, of
/// more than 32. By reasoning.
pub(crate) const UNROLLED_INSTRUCTIONS: usize = 64;

/// Copies of a body in an unrolled loop: with four, a counter, a comparison and a branch cost half an instruction an
/// iteration. By reasoning.
pub(crate) const MOST_COPIES: usize = 4;

/// Instructions of a loop of which there are two, with and without non-temporal stores: some 12 KiB of code, so that
/// either fits a first-level cache. Next to so many, tests in each iteration cost little. By reasoning.
pub(crate) const UNSWITCHED_INSTRUCTIONS: usize = 2048;

/// Elements between lanes up to which everything from the first to the last lane is loaded and picked from: that takes
/// one load for each element of the distance, a gather one for each lane. By reasoning.
pub(crate) const DENSE_STRIDE: u64 = 4;

/// Bytes of a buffer from which on stores to it are non-temporal where a schedule allows it: far more than the caches
/// that a core has to itself (1 to 2 MiB) or its share of others, so nothing of it would be read from a cache. By
/// reasoning.
pub(crate) const NON_TEMPORAL_BYTES: i64 = 16 << 20;

/// Bytes of a line of a cache, on all processors that machine code is made for.
pub(crate) const LINE_BYTES: u64 = 64;

/// Bytes of a page. Where rows of an output are whole pages apart, those of inputs mostly are, too: they evict each
/// other from a first-level cache, and open lines leave before they are full. Measured on Zen 3: of outputs alone, such
/// rows are combined; with three or ten rows of inputs as well, stores take two to four times as long as through the
/// caches.
pub(crate) const PAGE_BYTES: i64 = 4096;

/// Lines of a row that follow each other before those of another one, so that rows that are whole pages apart leave by
/// full lines. Measured on Zen 3 with the output of `interpolate`, three such rows: with half a line, one, two and four
/// at a time the pipeline takes 46, 44, 31 and 22 ms, and 24 ms through the caches.
pub(crate) const LINES_OF_TURN: u64 = 4;

/// Lines that are filled in parts at once, at most, by non-temporal stores. Measured on Zen 3 with `blur`, rows of half
/// lines: 6 take a fifth of the time of 10, 8 do so from run to run; of `unsharp`, 3 that are whole pages apart take
/// two to three times as long as through the caches.
pub(crate) const MOST_OPEN_LINES: u64 = 6;

/// Lanes below which sums of products are no dot products: with fewer, moving operands next to each other costs more
/// than the products. By reasoning.
pub(crate) const DOT_LANES: u16 = 4;

/// Sums that are opened into one that may be a dot product: each sum inside of it that has no products is looked at
/// again, so the work is quadratic. By reasoning.
pub(crate) const DOT_SUMS: usize = 128;

/// Registers of 64 bytes that a table may fill for lookups in registers: half of the 32 that the machine has; the other
/// half is for indices, masks and what is live around. By reasoning.
pub(crate) const TABLE_REGISTERS: u64 = 16;

/// Lanes that load their element one by one in the time that one lookup in a pair of registers takes, with its
/// comparison. By reasoning.
pub(crate) const LANES_PER_TABLE_PAIR: u64 = 4;

// Memory of functions.

/// Bytes of an allocation on the stack of a function: a quarter of the smallest first-level cache. By reasoning.
pub(crate) const STACK_ALLOCATION_BYTES: u64 = 8 << 10;

/// Bytes of all allocations on the stack of a function, or in the frame of a kernel: twice a first-level cache, and
/// little next to the stack of a thread. By reasoning.
pub(crate) const FRAME_BUDGET_BYTES: u64 = 64 << 10;

/// Bytes of an allocation in the frame of a kernel: the smallest first-level cache. By reasoning.
pub(crate) const FRAME_ALLOCATION_BYTES: u64 = 32 << 10;

/// Bytes of an upper bound of an allocation that is claimed in place of a size that is known inside of a kernel only.
/// Memory that is never touched costs addresses only, and this much for each thread is no burden. By reasoning.
pub(crate) const CLAIM_BYTES: u64 = 1 << 20;

/// Bytes of stack for each level of nesting of a program that is compiled: a generous bound. By
/// reasoning.
pub(crate) const COMPILER_STACK_PER_LEVEL: usize = 4 << 10;

/// Bytes of stack of the code generators, on top of [`COMPILER_STACK_PER_LEVEL`]. By reasoning.
pub(crate) const COMPILER_STACK: usize = 1 << 20;

// The runtime.

/// Bytes of stack that functions of the runtime, and of libraries that these use, take between two looks at what is
/// left. A generous bound, by reasoning.
pub(crate) const RUNTIME_STACK: usize = 64 << 10;

/// Bytes of a new stack beyond what the code needs: what a thread of std has, so that other work that is taken up finds
/// as much as it would elsewhere.
pub(crate) const SPARE_STACK: usize = 2 << 20;

/// Bytes of an allocation that is taken from a chunk; larger ones get a block of their own. An eighth of a chunk, so
/// that little of one is left unused. By reasoning.
pub(crate) const CHUNK_ALLOCATION_BYTES: usize = 32 << 10;

/// Bytes of a chunk: a part of the second-level cache of a core. By reasoning.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

/// The logarithm of the number of locks of a run: a kilobyte of them, of which two threads at random sites rarely want
/// one. By reasoning.
pub(crate) const LOCK_BITS: u32 = 10;

/// Attempts at a lock after which a thread lets others run: an atomic step is short. By reasoning.
pub(crate) const LOCK_ATTEMPTS: usize = 100;

/// Chunks of iterations for each thread of a parallel loop: small ones, so that no thread waits long for another's last
/// one. Measured: taking one costs some 50 ns.
pub(crate) const CHUNKS_PER_THREAD: i64 = 64;

// Profiles.

/// The mean time between two looks of the sampler where a processor is left for it.
pub(crate) const PERIOD: Duration = Duration::from_micros(100);

/// The mean time between two looks where every processor computes: each look interrupts a thread for some 5 µs.
pub(crate) const BUSY_PERIOD: Duration = Duration::from_millis(1);

/// The mean time between two looks once a run has taken [`SHORT_RUN`].
pub(crate) const LATE_PERIOD: Duration = Duration::from_millis(1);

/// The time from which on a run is looked at more rarely: there are ten thousand samples by then.
pub(crate) const SHORT_RUN: Duration = Duration::from_secs(1);

/// The time that a thread may take to wake from a sleep. Measured: some 60 µs on Linux.
pub(crate) const WAKING: Duration = Duration::from_micros(100);

/// The most spans of a timeline, and events of memory, that a profile keeps: a few megabytes. By reasoning.
pub(crate) const MOST_EVENTS: usize = 100_000;
