//! This machine as a [`Target`]: the one question about the environment that compiling under a schedule asks.

use halide_ir::target::Target;

/// `Target::host()`. In the prelude.
pub trait Host {
    /// The machine that this runs on, as far as the engine that is the default can use it.
    fn host() -> Self;
}

impl Host for Target {
    #[cfg(feature = "cpu")]
    fn host() -> Target {
        halide_cpu::host_target()
    }
    #[cfg(not(feature = "cpu"))]
    fn host() -> Target {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let arch = halide_ir::target::Arch::Other;
        Target {
            arch,
            vector_bits: 128,
            features: None,
            threads,
            cache_bytes: 1 << 20,
            gpu: None,
            budget: halide_ir::target::Budget::DEFAULT,
        }
    }
}
