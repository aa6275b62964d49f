//! Buffers of a call that stay on a device between runs.

use halide_core::buffer::Region;
use halide_gpu::runtime::DeviceBuffer;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The buffers of a call that are on its device or may stay there.
#[derive(Clone, Default)]
pub(crate) struct Residents {
    /// Inputs by name. The buffer that the call has for one stands for its type and dimensions only.
    inputs: Vec<(String, DeviceBuffer)>,
    stayed: Arc<Mutex<Vec<(usize, DeviceBuffer)>>>,
}

impl Residents {
    /// The inputs that are on the device.
    pub(crate) fn new(inputs: Vec<(String, DeviceBuffer)>) -> Residents {
        Residents { inputs, ..Residents::default() }
    }
    /// The input called `name`.
    pub(crate) fn input(&self, name: &str) -> Option<&DeviceBuffer> {
        self.inputs.iter().find(|(input, _)| input == name).map(|(_, buffer)| buffer)
    }
    /// Notes that an output stayed on the device: the number of its buffer, whose memory was not written.
    pub(crate) fn keep(&self, number: usize, buffer: DeviceBuffer) {
        self.lock().push((number, buffer));
    }
    /// Takes the outputs that stayed, by number.
    pub(crate) fn take(&self) -> Vec<(usize, DeviceBuffer)> {
        std::mem::take(&mut *self.lock())
    }
    fn lock(&self) -> MutexGuard<'_, Vec<(usize, DeviceBuffer)>> {
        // Every update is complete before anything can panic.
        self.stayed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Residents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let regions: Vec<(&String, Region)> =
            self.inputs.iter().map(|(name, buffer)| (name, buffer.region())).collect();
        write!(f, "Residents({regions:?})")
    }
}
