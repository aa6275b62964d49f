//! The tuning constants of the crate: each with its unit and its reason, and the measurement where there was one.

use halide_ir::machine::Vector;

// tss/price: measured before this code was written, by a fit to eleven tiles of products of f64 matrices of 1599 and
// 3199 rows, padded and not, on a processor with vectors of 512 bits. The fit had 6.4 % rms. It was not repeated with
// the price as it is here; `tests/it/price.rs` holds that against ratios from these measurements.

/// The time to enter a row of vectors. Unit: cycles.
pub(crate) const ROW_CYCLES: f64 = 4.0;
/// The time to enter a block that is written out, and to leave it. Unit: cycles.
/// Reason: a mispredicted jump now and then, and loads and stores that wait for each other.
pub(crate) const BLOCK_CYCLES: f64 = 30.0;
/// The loads that a load of two lines costs more than one of a line. Unit: loads.
pub(crate) const STRADDLED_LOAD: f64 = 1.0;
/// The stores that a store to two lines costs more than one to a line. Unit: stores.
pub(crate) const STRADDLED_STORE: f64 = 1.4;
/// The share of the time of the second cache that other work hides. Unit: 1.
pub(crate) const HIDDEN_NEAR: f64 = 0.2;
/// The share of the time of caches behind it, and of memory, that other work hides. Unit: 1.
/// Reason: prefetching; fitted for the third cache, and taken for memory, too.
pub(crate) const HIDDEN_FAR: f64 = 0.8;

// tss: by reasoning.

/// The largest step, in elements, of lanes that are loaded as whole vectors and shuffled. Unit: elements.
/// Reason: it is as in the price of stages; beyond, each lane is a load.
pub(crate) const MOST_SHUFFLED: u64 = 4;
/// The longest line of a cache that is priced. Unit: bytes.
/// Reason: lines have 32 to 256 bytes; tables are as long as a line.
pub(crate) const MOST_LINE: u32 = 4096;
/// The most sizes that a loop has in a search. Unit: sizes.
/// Reason: all multiples of a vector in rows of 4096 floats.
pub(crate) const MOST_SIZES: usize = 512;
/// The most sizes of a loop in an exhaustive search. Unit: sizes.
/// Reason: lists must fit in memory, whatever is asked for.
pub(crate) const MOST_LISTED: usize = 1 << 20;
/// The most tilings that a search prices first, before it goes on from the best one. Unit: tilings.
/// Reason: 27 sizes for each of three loops; some 50 ms.
pub(crate) const MOST_TILINGS: usize = 20_000;
/// The most tilings that a search prices around the best one. Unit: tilings.
/// Reason: it ends by itself after some hundred.
pub(crate) const MOST_STEPS: usize = 4_000;
/// The least gain for which padding is advised. Unit: 1.
/// Reason: the price is not righter than that.
pub(crate) const LEAST_GAIN: f64 = 1.03;

/// The time of a block of which masks leave some elements out, over that of a whole one. Unit: 1.
/// Reason: a correlation of 799 columns, f32 in vectors of 512 bits on Zen 4: 2.9 in blocks of 4 x 2 vectors, 3.2 in
/// those of 4 x 4, whose masks take more registers than there are.
pub(crate) const MASKED_BLOCK: f64 = 3.0;
/// The sums of a block over those that a core works on at once. Unit: 1.
/// Reason: the same correlation takes 1.2 to 1.4 times as long in blocks of 4 sums, where 4 would do if nothing else
/// ever waited, and 1.1 times in blocks of 6, as in blocks of 8.
pub(crate) const SUMS_IN_FLIGHT: f64 = 2.0;
/// The time of a load of a block that arithmetic hides, over that of one that nothing hides. Unit: 1.
/// Reason: fewer loads are better where all else is equal. Not fitted.
pub(crate) const HIDDEN_LOAD: f64 = 0.1;
/// The loads of an element for all lanes that a core does in a cycle, however wide vectors are. Unit: loads.
/// Reason: the least of machines with vectors; Zen 4 does one of 512 bits. The same correlation is the fastest in
/// blocks of 8 x 1 vectors, with 9 loads for 8 sums.
pub(crate) const BROADCAST_LOADS: f64 = 2.0;
/// The parts of loops at whose ends it is looked at whether a condition holds. Unit: 1.
/// Reason: enough to tell a triangle from a corner that is cut off.
pub(crate) const SLANT_STEPS: i64 = 8;

/// The most iterations of a loop over which the slope of a coordinate is taken. Unit: iterations.
/// Reason: a multiple of the factors by which pipelines scale, and short enough to stay off the ends of images.
pub(crate) const SLOPE_STEPS: i64 = 64;

// price

/// The cost of entering a loop. Unit: cycles.
/// Reason: a mispredicted jump now and then, and what bounds and addresses take.
pub(crate) const CYCLES_OF_ENTRY: f64 = 10.0;
/// The cost of going on to the next iteration of a loop. Unit: cycles.
/// Reason: a sum, a comparison and a jump.
pub(crate) const CYCLES_OF_ITERATION: f64 = 0.3;
/// The part of the shorter one of arithmetic and traffic that does not overlap with the other. Unit: 1.
/// Reason: as the hidden share of traffic between near caches.
pub(crate) const NOT_HIDDEN: f64 = 0.3;
/// The time to start tasks on other threads and to wait for them. Unit: nanoseconds.
/// Reason: a wake-up of a thread of rayon's pool.
pub(crate) const FORK_NS: f64 = 5_000.0;
/// The most bytes of lines that a point brings of a buffer. Unit: bytes.
/// Reason: four lines, where data decide about coordinates; others read less.
pub(crate) const BYTES_OF_POINT: f64 = 256.0;

/// The bytes that memory moves in the time that a new row takes to begin. Unit: bytes.
pub(crate) const BYTES_OF_ROW: f64 = 192.0;

/// The rows that are read and written at once without memory being slower for it. Unit: rows.
pub(crate) const FEW_STREAMS: f64 = 24.0;
/// The rows beyond these of which memory moves half as much as of one. Unit: rows.
/// Reason: hardware foresees some tens; measured with `unsharp`, 78 rows at once.
pub(crate) const HALVING_STREAMS: f64 = 64.0;
/// The rows that count at most.
pub(crate) const MOST_STREAMS: f64 = 128.0;

/// The rows of a region of which the sets are looked at that hold them. Unit: rows.
/// Reason: many times the ways of a cache; it takes some ten microseconds, once for a region of a size.
pub(crate) const MOST_ROWS: u64 = 1024;

/// The bytes of a line of a cache. Unit: bytes.
pub(crate) const LINE: f64 = 64.0;
/// The bytes of a page, which lines collide by. Unit: bytes.
pub(crate) const PAGE: f64 = 4096.0;
/// The lines of a row that follow each other, for rows that are whole pages apart to be stored past the caches. Unit:
/// lines. Reason: as the compiler decides it, by a measurement on Zen 3.
pub(crate) const LINES_OF_TURN: f64 = 4.0;
/// The lines that are filled in parts at once, at most, to be stored past the caches. Unit: lines.
/// Reason: measured on Zen 3 with `blur`: 6 lines take a fifth of the time of 10, 8 do so from run to run; of
/// `unsharp`, 3 lines that are whole pages apart take two to three times as long as through the caches. It was not
/// measured on other processors.
pub(crate) const MOST_OPEN_LINES: f64 = 6.0;

// kernel

/// Iterations that are written out of which what they read is compared. Unit: iterations.
pub(crate) const MOST_POINTS: usize = 64;
/// Elements that are looked at to find what a kernel loads. Unit: elements.
pub(crate) const MOST_VISITS: usize = 20_000;
/// The cost of a lane that is loaded by itself, beside the load. Unit: instructions.
pub(crate) const GATHERED_LANE: f64 = 1.0;
/// The loads that a lane costs that is loaded by itself. Unit: loads.
/// Reason: small tables are looked up in registers, and others take longer; with 2.0, other schedules were misjudged.
pub(crate) const GATHERED_LOADS: f64 = 1.0;
/// The cost of a lane that is stored where data say. Unit: instructions.
/// Reason: its address is taken out of a vector, and stores that may be to one place follow each other.
pub(crate) const SCATTERED_LANE: f64 = 8.0;
/// The factor by which a lane of vectors that are computed one element after the other is slower than an element of a
/// loop. Unit: 1. Reason: measured with the histograms of `bilateral_grid` on Zen 3, 10.5 and 4.7 cycles.
pub(crate) const SERIAL_LANES: f64 = 2.0;
/// The time that a load of a part of what was just stored waits. Unit: cycles.
/// Reason: stores leave in order, and nothing behind the load hides its wait; measured with the weights of `nl_means`
/// on Zen 3, 110 cycles with the exponential that follows.
pub(crate) const FORWARDING_STALL: f64 = 60.0;
/// The largest distance of lanes that are loaded as whole vectors and shuffled. Unit: elements.
pub(crate) const LONGEST_SHUFFLE: i64 = 4;
/// The largest distance of lanes of which neighbours are loaded and stored together, where most of them are used.
/// Unit: elements.
pub(crate) const LONGEST_WINDOW: i64 = 16;
/// The instructions that pick lanes of two registers, with vectors of less than 512 bits. Unit: instructions.
/// Reason: lanes are picked in each half, and halves are put in order.
pub(crate) const CROSSING_STEPS: f64 = 2.0;
/// The instructions that repeat lanes of a register, with such vectors. Unit: instructions.
/// Reason: the lower and the upper lanes are repeated, and put together.
pub(crate) const REPEATING_STEPS: f64 = 3.0;
/// The time from the operands of a sum to its value. Unit: cycles.
pub(crate) const LATENCY: f64 = 4.0;
/// The instructions of a kernel beyond which loops around it are not cut at boundaries, or no vector code is made.
/// Unit: instructions.
pub(crate) const MOST_WRITTEN: f64 = 800.0;
/// The factor by which such code is slower. Reason: measured with `nl_means`, 4 to 8.
pub(crate) const TOO_LONG: f64 = 5.0;
/// The most bytes that the compiler keeps in registers of what a loop adds to.
pub(crate) const PROMOTED_BYTES: f64 = 1792.0;
/// The bytes of an output from which on it is stored past the caches.
pub(crate) const STREAMED_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

// emit

/// The elements of a dimension of an output for which there is code by itself, at most.
/// Reason: channels, and coefficients of small blocks; more elements fill vectors of any size.
pub(crate) const MOST_FIXED: i64 = 16;

// search

/// The elements of a dimension that are written out whole, to make vectors along another one. Unit: elements.
pub(crate) const FEW: i64 = 8;
/// The blocks of rows of sums that are kept in a cache at first. Unit: blocks.
/// Reason: 64 to 128 rows of some thousand floats fill a second cache.
pub(crate) const BLOCKS: i64 = 16;
/// The terms of a reduction that are written out, at most. Unit: terms.
pub(crate) const MOST_TERMS: i64 = 12;

/// Iterations of a loop that are written out. Unit: iterations, or vectors.
pub(crate) const REGISTER_STEPS: [i64; 9] = [1, 2, 3, 4, 5, 6, 8, 10, 12];
/// The most iterations of all loops together that are written out.
pub(crate) const MOST_REGISTERS: i64 = 48;
/// Sizes of tiles. Unit: iterations.
pub(crate) const TILE_STEPS: [i64; 12] = [2, 4, 8, 16, 32, 48, 64, 96, 128, 256, 512, 1024];
/// The most groups that are priced.
pub(crate) const MOST_PRICED: usize = 20_000;
/// The groups that are priced for each Func, where there are so many that this is more. Unit: groups.
/// Reason: places and numbers of one Func take some sixty.
pub(crate) const PRICED_PER_FUNC: usize = 100;
/// The definitions that a search looks at for prices, at most; an eighth of it where it goes on. Unit: definitions,
/// each as often as it is looked at.
/// Reason: some five seconds; pipelines of less than a hundred Funcs need a tenth of it.
pub(crate) const MOST_ASKED: u64 = 15_000_000;
/// The operations of Funcs that stay substituted without being looked at. Unit: operations of a point.
/// Reason: an eighth of what may be written out, so that vectors and registers still have a choice.
pub(crate) const MOST_PASSED_ON: u64 = 100;
/// The Funcs of a pipeline of which all numbers are chosen before places are, each place is looked at, and gains are
/// measured by the whole time. Unit: Funcs.
pub(crate) const FEW_FUNCS: usize = 100;
/// The Funcs of a group, at most.
/// Reason: loops of more do not stay in registers, and their code grows; prices take as long as a group has members.
pub(crate) const MOST_MEMBERS: usize = 16;
/// The times that each choice is looked at again.
pub(crate) const SWEEPS: usize = 2;
/// The least part by which a schedule must be cheaper to be taken.
pub(crate) const LEAST_PART: f64 = 0.01;
/// The times that code is looked at, at most.
pub(crate) const INSPECTIONS: usize = 3;
/// The factor by which code without wide vectors is slower. Reason: a quarter of the lanes.
pub(crate) const SLOW_CODE: f64 = 3.0;
/// The Funcs that are copied for some of their consumers, at most.
pub(crate) const MOST_COPIES: usize = 2;
/// The least part of the whole time that a Func takes for it to be copied.
pub(crate) const LEAST_SHARE: f64 = 0.05;

// advise

/// The steps of one kind that concern one Func, of which the best one is shown that the compiler takes. Unit: steps.
/// Reason: asking the compiler takes as long as lowering; most are legal.
pub(crate) const FEW_STEPS: usize = 3;

// tune

/// The candidates that others are made of. Unit: schedules.
/// Reason: as many as a batch has, and few enough that all are good.
pub(crate) const MOST_PARENTS: usize = 8;
/// The proposals after which a search finds nothing new. Unit: schedules.
/// Reason: most are illegal or known; resolving one takes some 20 us.
pub(crate) const PROPOSALS: usize = 400;
/// The schedules of an earlier search that are measured again. Unit: schedules.
pub(crate) const MOST_AGAIN: usize = 3;
/// The least part by which a change is better than its parent, to count as a success. Unit: 1.
/// Reason: less is noise, also of pairs.
pub(crate) const LEAST_BETTER: f64 = 0.005;
/// The parts of a reduction that is done in parts, for each thread. Unit: parts.
/// Reason: few make threads wait for the last one, and each has all elements of its own.
pub(crate) const PARTS: i64 = 4;

// kernels

/// A thread of a GPU as a core: one lane of 32 bits. Registers are those that a thread may have while enough others are
/// at work. Reason: units load a fourth of what they compute in a cycle.
pub(crate) const THREAD: Vector = Vector { bits: 32, registers: 96, loads: 0.25, stores: 0.25, issue: 1.0, fmas: 0.5 };
/// The threads that step together. Unit: threads.
/// Reason: 32 of NVIDIA's and of AMD's since 2019; devices with fewer lose little.
pub(crate) const SUBGROUP: f64 = 32.0;
/// The bytes that a thread stores at once. Unit: bytes.
pub(crate) const WORD: i64 = 4;
/// The time of storing a part of a word, whose other parts other threads may store. Unit: cycles.
/// Reason: two atomic steps of one place that several threads take.
pub(crate) const PIECE_OF_WORD: f64 = 32.0;
/// The time of adding to an element in a single step, while other threads add to it, too. Unit: cycles.
/// Reason: as that of a part of a word.
pub(crate) const STEP: f64 = 32.0;
/// The instructions of a kernel beyond which it holds fewer threads at once, and drivers compile it for long. Unit:
/// instructions. Reason: about as many as loops of the host may have; not measured.
pub(crate) const MOST_OF_SHADER: f64 = 1000.0;
/// The threads of a block at first, innermost dimension first. Unit: threads.
pub(crate) const FIRST_THREADS: [i64; 2] = [32, 8];
/// The elements of a dimension that each thread goes over whole, where blocks have other dimensions. Unit: elements.
pub(crate) const FEW_CHANNELS: i64 = 4;
/// The points of a thread along a variable. Unit: points.
pub(crate) const POINTS_OF_THREAD: [i64; 5] = [1, 2, 4, 6, 8];
/// The most points of a thread.
/// Reason: what they hold shall fit registers, and shaders take long to compile.
pub(crate) const MOST_OF_THREAD: i64 = 32;
/// The places of a Func of which the best numbers are looked for. Unit: places.
/// Reason: all others are far behind these with the numbers as they are.
pub(crate) const PLACES: usize = 2;
/// The time of a kernel that devices cannot run. Unit: nanoseconds.
/// Reason: eleven days; several of these still add up.
pub(crate) const NEVER_NS: f64 = 1e15;
/// The least part of the whole time by which a kernel must be cheaper for other numbers to be taken. Unit: 1.
/// Reason: pipelines have tens of kernels, of which none is a hundredth of all.
pub(crate) const LEAST_PART_OF_KERNEL: f64 = 0.001;

// isa: measured with products of 1024 to 4096 rows and layers of ResNet-50, on Zen 4.

/// The instructions of a term of a tile beside loads and arithmetic: those of its loop. Unit: instructions.
pub(crate) const LOOP_INSTRUCTIONS: f64 = 3.0;
/// The tiles of an instruction of which orders are priced: those with the fewest cycles. Unit: tiles.
pub(crate) const MOST_TILES: usize = 12;
/// The orders of the loops around a tile that are kept: those with the fewest cycles. Unit: orders.
pub(crate) const MOST_ORDERS: usize = 16;
/// The time in which a vector is copied. Unit: cycles.
pub(crate) const COPIED_CYCLES: f64 = 3.0;
/// The time in which an element is copied to a place that is not beside that of its neighbour. Unit: cycles.
pub(crate) const TURNED_CYCLES: f64 = 4.0;
/// The share by which an order is worse for each pair of loops of which the inner one makes larger steps. Unit: 1.
/// Reason: of orders that move as many bytes, the one that goes on where it was is easier to foresee.
pub(crate) const TURNED_SHARE: f64 = 0.01;
/// The sets of a cache that are told apart. Unit: sets.
/// Reason: more than those of caches that do not spread lines by all bits of an address.
pub(crate) const MOST_SETS: u64 = 1 << 14;
/// The loops around tiles of which all orders are priced: the innermost ones. Unit: loops.
/// Reason: six have 720 orders.
pub(crate) const MOST_PERMUTED: usize = 5;
/// The bytes that come from behind the first cache in runs of less than `SHORT_RUN` that lie whole pages apart: each
/// is in another entry of the buffer of translations, and no prefetcher follows. Unit: bytes per cycle.
/// Reason: a product of 1760 columns took 22 cycles for each row of 128 bytes, where copies took 16 or less.
pub(crate) const PAGED_BYTES: f64 = 5.5;
/// Unit: bytes.
pub(crate) const SHORT_RUN: f64 = 1024.0;
/// The runs that prefetchers follow at once. Unit: runs.
/// Reason: processors of today follow 16 to 64.
pub(crate) const MOST_FOLLOWED: i64 = 32;
/// The operations for a point of a result up to which its tile is written out. Unit: operations.
/// Reason: results stay in registers from the sums on, which is worth a store and a load of each. Approximations of
/// functions leave no registers for that: with `tanh` behind it a product of 512 terms took 0.87 of its time in loops.
pub(crate) const WRITTEN_OUT: f64 = 16.0;
/// The tasks that each thread has at least, where there are loops for them. Unit: tasks.
/// Reason: with few, threads wait for the last one.
pub(crate) const TASKS_PER_THREAD: i64 = 4;
