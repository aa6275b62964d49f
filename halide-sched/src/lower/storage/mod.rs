//! Storage: allocation, circular buffers, layout, and the last use of memory.

pub mod bound_small_allocations;
pub(crate) mod bound_storage;
pub mod flatten_storage;
pub(crate) mod fold_storage;
pub mod hoist_storage;
pub mod in_place;
pub mod last_use;
pub mod ring_buffer;
pub mod split_storage;
