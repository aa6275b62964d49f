//! Passes that change loops: unrolling, partitioning, trimming, prefetches.

mod accesses;
pub mod bound_loops;
pub(crate) mod copy;
pub mod fork_producers;
pub mod fork_siblings;
pub mod inject_prefetches;
pub mod instrument;
pub mod loop_trimming;
pub mod only_counts;
pub mod partition_loops;
pub mod skip_stages;
pub mod stop_early;
pub mod sum_counts;
pub mod uniquify;
pub mod unroll;
