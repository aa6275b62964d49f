//! The same for threads that wait. Nothing else in the runtime blocks; a browser does without this file.

use super::choice::{Choice, DeviceInfo};
use super::gpu::{Gpu, list_devices_async};
use super::health::let_others_go_on;
use super::program::GpuProgram;
use super::resident::DeviceBuffer;
use super::run::{GpuRun, Last};
use super::stats::GpuStats;
use crate::codegen::KernelCode;
use crate::error::GpuError;
use halide_core::buffer::{AnyBuffer, Region};
use halide_ir::device::{Device, DeviceFault};
use halide_ir::{BufId, KernelId, Program, Residency};
use std::future::Future;
use std::pin::pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use wgpu::PollType;

/// [`list_devices_async`], waiting.
pub fn list_devices() -> Vec<DeviceInfo> {
    pollster::block_on(list_devices_async())
}

impl Gpu {
    /// [`Gpu::open_async`], waiting.
    pub fn open(choice: &Choice) -> Result<Gpu, GpuError> {
        pollster::block_on(Gpu::open_async(choice))
    }
}

impl Gpu {
    /// Runs a future that waits for this device only, to its end.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        wait(self, None, future)
    }
}

impl GpuProgram {
    /// [`GpuProgram::new_async`], waiting.
    pub fn new(gpu: &Gpu, program: &Program) -> Result<GpuProgram, GpuError> {
        wait(gpu, None, GpuProgram::new_async(gpu, program))
    }
    /// [`GpuProgram::from_code_async`], waiting.
    pub fn from_code(gpu: &Gpu, program: &Program, codes: Vec<KernelCode>) -> Result<GpuProgram, GpuError> {
        wait(gpu, None, GpuProgram::from_code_async(gpu, program, codes))
    }
}

impl DeviceBuffer {
    /// [`DeviceBuffer::to_host_async`], waiting.
    pub fn to_host(&self) -> Result<AnyBuffer, GpuError> {
        let _turn = self.one_at_a_time();
        wait(self.gpu(), None, self.to_host_async())
    }
}

impl GpuRun {
    /// [`GpuRun::bind_device_input_async`], waiting.
    pub fn bind_device_input(&mut self, buf: BufId, buffer: &DeviceBuffer) -> Result<(), GpuError> {
        let gpu = self.program.gpu().clone();
        wait(&gpu, None, self.bind_device_input_async(buf, buffer))
    }
    /// Brings an output back if it is on the device only. `memory` is the host's, as it was bound.
    pub fn finish_output(&mut self, buf: BufId, memory: &mut [u8]) -> Result<(), GpuError> {
        self.finish_outputs(&mut [(buf, memory)])
    }
    /// [`GpuRun::finish_outputs_async`], waiting.
    pub fn finish_outputs(&mut self, outputs: &mut [(BufId, &mut [u8])]) -> Result<(), GpuError> {
        let (gpu, last) = self.handles();
        wait(&gpu, Some(&last), self.finish_outputs_async(outputs))
    }
    /// [`GpuRun::take_output_async`], waiting for the driver but not for the device.
    pub fn take_output(&mut self, buf: BufId, region: &Region) -> Result<DeviceBuffer, GpuError> {
        let (gpu, last) = self.handles();
        wait(&gpu, Some(&last), self.take_output_async(buf, region))
    }
    /// [`GpuRun::finish_async`], waiting.
    pub fn finish(self) -> Result<GpuStats, GpuError> {
        let (gpu, last) = self.handles();
        wait(&gpu, Some(&last), self.finish_async())
    }

    fn handles(&self) -> (Gpu, Last) {
        (self.program.gpu().clone(), self.last.clone())
    }
}

impl Device for GpuRun {
    fn begin(&mut self, buf: BufId, bytes: u64) -> Result<(), DeviceFault> {
        self.begin_allocation(buf, bytes)
    }
    fn end(&mut self, buf: BufId) {
        self.end_allocation(buf);
    }
    fn dispatch(
        &mut self,
        kernel: KernelId,
        grid: &[i64],
        scalars: &[u64],
        memory: &[&[u8]],
    ) -> Result<(), DeviceFault> {
        let (gpu, last) = self.handles();
        wait(&gpu, Some(&last), self.dispatch_async(kernel, grid, scalars, memory))
    }
    fn reside(&mut self, buf: BufId, what: Residency, memory: &mut [u8]) -> Result<(), DeviceFault> {
        let (gpu, last) = self.handles();
        wait(&gpu, Some(&last), self.reside_async(buf, what, memory))
    }
}

/// Runs a future to its end. Futures of this runtime wait for callbacks only, which polling the device calls; so nobody
/// needs to be woken. With `last`, waits no longer than for that work, even if other threads have submitted more.
fn wait<T>(gpu: &Gpu, last: Option<&Last>, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
        let submission_index = last.and_then(|l| l.lock().unwrap_or_else(PoisonError::into_inner).clone());
        gpu.0.poll(PollType::Wait { submission_index, timeout: None });
        // Another thread may be about to make the call that this one waits for.
        let_others_go_on();
    }
}
