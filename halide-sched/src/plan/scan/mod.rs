//! `rfactor` of a recurrence: a prefix scan in chunks (reduce, then scan: Blelloch, Prefix Sums and Their Applications,
//! 1990).
//!
//! An update `f[.., r, ..] = op(f[.., r - 1, ..], e)` whose operation is associative becomes four Funcs. Count elements
//! by `t` along the scan from the one in front of the first stored, and chunks of `B` elements by `u`:
//!
//! - `f.rfactor(u)(i, u)` scans each chunk by itself: its pure definition is `e` at `t = u * B + i` (what `f` held
//!   before at `t = 0`), and its update is the recurrence over `i`.
//! - `f.total(u)(u)` is each chunk's reduction.
//! - `f.carry(u)(u)` combines the totals of all chunks before `u`: a recurrence again, which `rfactor` takes for a
//!   second level.
//! - `f` is pure: `op(f.carry(u)(t / B), f.rfactor(u)(t % B, t / B))` at elements that the scan stores, and its first
//!   definition elsewhere.
//!
//! Since `f` has no update any more, it can be computed in tiles or where it is used, and `e` is inlined into both the
//! chunks and their totals: two passes read, and one writes. Elements beyond the last are never combined into others
//! that count, so chunks need no conditions; coordinates stay inside of the scan.

mod chunks;
mod form;

pub(super) use chunks::in_chunks;
pub(super) use form::Scan;
