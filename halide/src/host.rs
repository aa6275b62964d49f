//! This machine as a [`Target`]: the one question about the environment that compiling under a schedule asks.

use halide_sched::target::{Arch, Target};

/// `Target::host()`. In the prelude.
pub trait Host {
    /// The machine that this runs on.
    fn host() -> Self;
}

impl Host for Target {
    fn host() -> Target {
        let arch = if cfg!(target_arch = "x86_64") {
            Arch::X86_64
        } else if cfg!(target_arch = "aarch64") {
            Arch::Aarch64
        } else {
            Arch::Other
        };
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Target { arch, vector_bits: 128, threads, cache_bytes: 1 << 20 }
    }
}
