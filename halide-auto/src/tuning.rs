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
