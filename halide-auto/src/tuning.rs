//! The tuning constants of the crate: each with its unit and its reason, and the measurement where there was one.

// tss/price: measured before this code was written, by a fit to eleven tiles of products of f64 matrices of 1599 and
// 3199 rows, padded and not, on a processor with vectors of 512 bits. The fit had 6.4 % rms. It was not repeated with
// the price as it is here; `tests/it/price.rs` holds that against ratios from these measurements.

/// The time to enter a row of vectors. Unit: cycles.
pub(crate) const ROW_CYCLES: f64 = 4.0;
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

// price

/// The cost of entering a loop. Unit: cycles.
/// Reason: a mispredicted jump now and then, and what bounds and addresses take.
pub(crate) const CYCLES_OF_ENTRY: f64 = 10.0;
/// The cost of going on to the next iteration of a loop. Unit: cycles.
/// Reason: a sum, a comparison and a jump.
pub(crate) const CYCLES_OF_ITERATION: f64 = 1.0;
/// The instructions that a core completes of those that it could start. Unit: 1.
/// Reason: vector instructions have half of the ports.
pub(crate) const SHARE_OF_ISSUE: f64 = 0.5;
/// The part of the shorter one of arithmetic and traffic that does not overlap with the other. Unit: 1.
/// Reason: as the hidden share of traffic between near caches.
pub(crate) const NOT_HIDDEN: f64 = 0.2;
/// The time to start tasks on other threads and to wait for them. Unit: nanoseconds.
/// Reason: a wake-up of a thread of rayon's pool.
pub(crate) const FORK_NS: f64 = 5_000.0;
/// The size of an element where nothing tells it. Unit: bytes.
pub(crate) const ELEMENT_BYTES: f64 = 4.0;

// search

/// The rows of a strip that are tried. Unit: iterations.
pub(crate) const ROWS: [i64; 5] = [8, 16, 32, 64, 128];
/// The Funcs in the strips of another one, at most.
/// Reason: loops of more do not stay in registers, and their code grows; as the longest chain that is grouped at once.
pub(crate) const MOST_MEMBERS: usize = 12;
/// The nests that a search looks at, for a pipeline of one Func; of many Funcs they are fewer, since each takes longer.
pub(crate) const MOST_NESTS: usize = 64;
/// The nests that a search looks at, however many Funcs there are.
pub(crate) const LEAST_NESTS: usize = 12;
/// Funcs of a pipeline beyond which a search looks at fewer nests.
pub(crate) const FEW_FUNCS: usize = 8;
/// The least part by which a schedule must be cheaper to be taken.
pub(crate) const LEAST_PART: f64 = 0.01;

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
