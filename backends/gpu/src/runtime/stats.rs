//! Statistics of a run.

use std::time::Duration;

/// Statistics of a run on its device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuStats {
    /// For each kernel that ran, its name and the time it took on the device in all, in the order in which they first
    /// ran. Empty unless the run was asked to time kernels and the device can.
    pub kernels: Vec<(String, Duration)>,
    /// Kernels that were started, where one over a very large grid counts several times.
    pub dispatches: u64,
    /// The number of times that work was handed to the device.
    pub submissions: u64,
    /// The number of copies to the device.
    pub uploads: u64,
    /// Bytes copied to the device.
    pub upload_bytes: u64,
    /// Time that the host took to write them where the device finds them.
    pub upload_time: Duration,
    /// Bytes copied back.
    pub download_bytes: u64,
    /// Time that the host waited for the device, and took to read what it copied.
    pub download_time: Duration,
    /// Time that making the program's pipelines took; the same for every run.
    pub pipeline_creation: Duration,
}
