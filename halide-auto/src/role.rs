//! The side of the machine that computes a Func, and its place in a kernel.

/// The side of the machine that computes a Func, and its place in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Loops of the host.
    Host,
    /// A kernel: loops over tiles are blocks, and loops over the points of a tile are threads. Without tiles, one
    /// thread runs all of it.
    Kernel,
    /// In each block of a kernel: loops over the points of a tile are threads, each of which goes over the tiles.
    Block,
    /// By each thread of a kernel on its own.
    Thread,
}
