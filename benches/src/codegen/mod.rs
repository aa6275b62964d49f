//! A second opinion on machine code: the innermost loops of compiled functions, the work that each does in an
//! iteration, and a lower bound of its cycles.
//!
//! [`flow`] decodes a function into blocks, [`loops`] finds natural loops, [`operation`] says of an instruction what it
//! is and where its operand in memory lies, [`counts`] sums that over a loop, [`cores`] is the table of
//! microarchitectures, and [`bound`] divides the work of a loop among the ports of one. All of it reads bytes only, so
//! Cranelift's functions and kernels of wide vectors are judged alike.

pub mod bound;
pub mod cores;
pub mod counts;
pub mod flow;
pub mod loops;
pub mod operation;
#[cfg(test)]
mod tests;
