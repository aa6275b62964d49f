//! The speed of a GPU, by which schedules with kernels are priced.

/// The speeds and sizes of a GPU. Devices tell their limits and not their speed, so [`GpuSpeed::DISCRETE`] and the
/// others are typical of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpuSpeed {
    /// The number of units that run blocks.
    pub units: u32,
    /// The threads of a unit that do an instruction in the same cycle.
    pub lanes: u32,
    /// The clock, in cycles per nanosecond.
    pub ghz: f64,
    /// The threads that a unit has at work for each of its lanes to be busy while others wait for memory.
    pub threads_per_lane: f64,
    /// The most threads of a unit that are at work at one time.
    pub most_threads: u32,
    /// Bytes of memory of a unit that the threads of its blocks share.
    pub shared_bytes: u64,
    /// Bytes of the cache of a unit that a block has for itself.
    pub near_bytes: u64,
    /// Bytes of the cache that all units share.
    pub far_bytes: u64,
    /// Bytes per nanosecond of the cache that all units share.
    pub far_bytes_per_ns: f64,
    /// Bytes per nanosecond of the device's memory.
    pub bytes_per_ns: f64,
    /// Cycles that a thread waits for the others of its block.
    pub barrier_cycles: f64,
    /// The time to start a kernel, in nanoseconds.
    pub launch_ns: f64,
    /// The time to begin a copy between host and device, in nanoseconds.
    pub copy_ns: f64,
    /// Bytes per nanosecond of a copy.
    pub copy_bytes_per_ns: f64,
}

impl GpuSpeed {
    /// A card with memory of its own. All figures are estimates of what cards of the middle class have, about 2021:
    /// NVIDIA's GA104 and AMD's Navi 22, without a document at hand; copies are those of PCIe 3.
    pub const DISCRETE: GpuSpeed = GpuSpeed {
        units: 40,
        lanes: 64,
        ghz: 1.7,
        threads_per_lane: 8.0,
        most_threads: 1536,
        shared_bytes: 64 << 10,
        near_bytes: 16 << 10,
        far_bytes: 4 << 20,
        far_bytes_per_ns: 1_200.0,
        bytes_per_ns: 400.0,
        barrier_cycles: 40.0,
        launch_ns: 5_000.0,
        copy_ns: 20_000.0,
        copy_bytes_per_ns: 10.0,
    };
    /// A GPU that shares memory with the host: an estimate of what laptops have, about 2021.
    pub const INTEGRATED: GpuSpeed = GpuSpeed {
        units: 12,
        lanes: 64,
        ghz: 1.2,
        threads_per_lane: 6.0,
        most_threads: 896,
        far_bytes: 2 << 20,
        far_bytes_per_ns: 200.0,
        bytes_per_ns: 45.0,
        launch_ns: 8_000.0,
        copy_bytes_per_ns: 12.0,
        ..GpuSpeed::DISCRETE
    };
    /// Kernels that cores of the host run, as Mesa's llvmpipe does: few lanes, which wait for nobody, and threads of a
    /// block that are taken in turns at each barrier.
    pub const SOFTWARE: GpuSpeed = GpuSpeed {
        units: 2,
        lanes: 2,
        ghz: 3.0,
        threads_per_lane: 1.0,
        most_threads: 1024,
        near_bytes: 32 << 10,
        far_bytes: 1 << 20,
        far_bytes_per_ns: 60.0,
        bytes_per_ns: 20.0,
        barrier_cycles: 400.0,
        launch_ns: 50_000.0,
        copy_ns: 20_000.0,
        copy_bytes_per_ns: 8.0,
        ..GpuSpeed::DISCRETE
    };
}
