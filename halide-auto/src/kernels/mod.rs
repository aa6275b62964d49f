//! Schedules for a host with a GPU: kernels, what they compute in blocks and threads, and what stays on the host.
//!
//! A state is that of a search for the host, and a set of Funcs outside of all loops that the host computes. All others
//! outside of loops are kernels, in which tiles are blocks. The price of a kernel is by the same walk over loops, of a
//! machine with one lane; the time of a search on the host is compared in the end.

mod choose;
mod hybrid;
mod price;
mod search;
mod shapes;

pub(crate) use choose::choose;
