//! Definitions that both generators of machine code use: lanes, value numbering, indices as sums, ranges, small buffers
//! in pieces, and loops that poll.

pub(crate) mod code_map;
pub(crate) mod lane;
pub(crate) mod linear;
pub(crate) mod long_loops;
pub(crate) mod marks;
pub(crate) mod memo;
pub(crate) mod pieces;
pub(crate) mod range;
