//! Messages of the driver outside of the calls that we make: the device is gone, or there is an error that no scope
//! caught.

use halide_ir::device::DeviceFault;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};
use wgpu::{Device, PollType};

/// The state of a device, as its callbacks have reported it so far.
#[derive(Debug, Default)]
pub(super) struct Health {
    lost: OnceLock<String>,
    uncaught: Mutex<Option<String>>,
    /// True if the device was destroyed; locked while the host looks at memory of the device, which goes with it.
    destroyed: RwLock<bool>,
}

impl Health {
    /// The device is gone. What was said first stays.
    pub(super) fn set_lost(&self, reason: String) {
        // A second loss says nothing new.
        let _ = self.lost.set(reason);
    }
    /// An error that no scope caught: the next check reports it.
    pub(super) fn set_uncaught(&self, reason: String) {
        self.uncaught.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
    /// Has `look` use mapped memory, unless that may be gone. wgpu frees it while it is looked at when the device is
    /// destroyed.
    pub(super) fn look<T>(&self, look: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let destroyed = self.destroyed.read().unwrap_or_else(PoisonError::into_inner);
        if *destroyed { Err("the device was destroyed".into()) } else { look() }
    }
    /// Destroys the device when nobody looks.
    pub(super) fn destroy(&self, device: &Device) {
        let mut destroyed = self.destroyed.write().unwrap_or_else(PoisonError::into_inner);
        *destroyed = true;
        device.destroy();
    }
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }
    /// An error if anything was said.
    pub(super) fn check(&self) -> Result<(), DeviceFault> {
        if let Some(reason) = self.lost.get() {
            return Err(DeviceFault::Lost { reason: reason.clone() });
        }
        match self.uncaught.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(reason) => Err(DeviceFault::Refused { reason }),
            None => Ok(()),
        }
    }
}

/// Has a device look after what it has finished, and call callbacks. A wait during which the device is lost panics in
/// wgpu.
pub(super) fn poll(device: &Device, health: &Health, how: PollType) {
    let polled = catch_unwind(AssertUnwindSafe(|| {
        // Work that a lost device did not take cannot be waited for, but there are callbacks to be called.
        device.poll(how).or_else(|_| device.poll(PollType::Poll))
    }));
    if polled.is_err() {
        health.set_lost("it was lost while it was waited for".into());
    }
}

/// Lets other threads run first.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn let_others_go_on() {
    std::thread::yield_now();
}
