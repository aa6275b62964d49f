//! Definitions that both generators of machine code use: lanes, value numbering, indices as sums, ranges, small buffers
//! in pieces, and loops that poll.

#[cfg(feature = "compile")]
pub(crate) mod code_map;
#[cfg(feature = "compile")]
pub(crate) mod lane;
#[cfg(feature = "compile")]
pub(crate) mod linear;
#[cfg(feature = "compile")]
pub(crate) mod long_loops;
pub(crate) mod marks;
#[cfg(feature = "compile")]
pub(crate) mod memo;
#[cfg(feature = "compile")]
pub(crate) mod pieces;
#[cfg(feature = "compile")]
pub(crate) mod range;
