//! A run: its buffers, what it asks of the device, and the end of it.

use super::batch::Batch;
use super::pool::{HostCopy, Slab, Use};
use super::program::{Compiled, GpuProgram};
use super::resident::DeviceBuffer;
use super::scopes::Trouble;
use super::slot::{DevicePlace, HostSide, Newest, Reach, Slot};
use super::stats::GpuStats;
use super::timing::Timing;
use super::wait;
use crate::error::GpuError;
use crate::tuning::{BATCH_COMMANDS, BATCH_STAGED_BYTES};
use halide_core::buffer::{AnyBuffer, Dim, Region};
use halide_ir::BufId;
use halide_ir::device::DeviceFault;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::SubmissionIndex;

/// The last work that a run handed to the device.
pub(super) type Last = Arc<Mutex<Option<SubmissionIndex>>>;

/// A run of a program's kernels: the [`Device`](halide_ir::device::Device) of its host code.
///
/// Inputs and outputs are bound first. Then host code runs, and at the end [`GpuRun::finish_output`] brings back what
/// is on the device only. Nothing is handed to the device before somebody needs results or much is waiting.
pub struct GpuRun {
    pub(super) program: GpuProgram,
    pub(super) slots: BTreeMap<BufId, Slot>,
    pub(super) batch: Batch,
    /// Memory of allocations that ended. What was recorded may use it, so it is only for this run until that is
    /// submitted.
    retired: Vec<Arc<Slab>>,
    /// Inputs that were copied by commands that are not submitted yet.
    pub(super) copied: Vec<(AnyBuffer, HostCopy)>,
    timed: bool,
    times: Vec<Timing>,
    pub(super) last: Last,
    /// True if work was submitted that nobody has waited for.
    running: bool,
    pub(super) stats: GpuStats,
}

impl GpuProgram {
    /// Starts a run, which is the [`Device`](halide_ir::device::Device) of its host code once inputs and outputs are
    /// bound.
    pub fn start(&self) -> GpuRun {
        GpuRun::new(self.clone(), false)
    }
    /// [`GpuProgram::start`] for a run that also times each kernel, if the device can; that takes a little longer.
    pub fn start_timed(&self) -> GpuRun {
        GpuRun::new(self.clone(), true)
    }
}

impl GpuRun {
    pub(super) fn new(program: GpuProgram, timed: bool) -> GpuRun {
        let pipeline_creation = program.pipeline_creation().iter().map(|(_, took)| *took).sum();
        GpuRun {
            slots: BTreeMap::new(),
            batch: Batch::new(program.gpu()),
            retired: Vec::new(),
            copied: Vec::new(),
            timed: timed && program.gpu().0.tick.is_some(),
            times: Vec::new(),
            last: Last::default(),
            running: false,
            stats: GpuStats { pipeline_creation, ..GpuStats::default() },
            program,
        }
    }

    /// Gives an input. It is copied when a kernel first needs it, unless the device has a copy of this memory already.
    pub fn bind_input(&mut self, buf: BufId, buffer: &AnyBuffer) -> Result<(), GpuError> {
        let reach = self.checked(buf, buffer.ty(), buffer.dims())?;
        self.slots.insert(buf, Slot::new(HostSide::Input(buffer.clone()), Newest::Host, buffer.ty(), reach));
        Ok(())
    }
    /// Gives an input that is on the device, which host code cannot read. Kernels want the first element at a multiple
    /// of 4 bytes: a crop of narrow elements for which that is not so passes through the host.
    pub async fn bind_device_input_async(&mut self, buf: BufId, buffer: &DeviceBuffer) -> Result<(), GpuError> {
        let reach = self.checked(buf, buffer.ty(), buffer.dims())?;
        if !buffer.is_at_word() {
            return self.bind_input(buf, &buffer.to_host_async().await?);
        }
        self.program.gpu().0.check()?;
        let Some(place) = buffer.place(self.program.gpu()) else {
            return Err(GpuError::Argument { buf, reason: "the buffer is on another device".into() });
        };
        let slot = Slot::new(HostSide::None, Newest::Device, buffer.ty(), reach);
        self.slots.insert(buf, Slot { place: Some(place), ..slot });
        Ok(())
    }
    /// Introduces an output whose elements lie in the host's memory as `dims` says. That memory is shown to
    /// [`GpuRun::finish_output`], from the lowest element to the end of the highest; what is between elements stays as
    /// it is.
    pub fn bind_output(&mut self, buf: BufId, dims: &[Dim]) -> Result<(), GpuError> {
        let ty = self.elem(buf)?;
        let reach = self.checked(buf, ty, dims)?;
        self.slots.insert(buf, Slot::output(ty, dims, reach));
        Ok(())
    }
    /// Introduces an output that is to stay on the device, over `region` and dense; see [`GpuRun::take_output`].
    pub fn bind_device_output(&mut self, buf: BufId, region: &Region) -> Result<Vec<Dim>, GpuError> {
        let ty = self.elem(buf)?;
        let mut stride = 1i64;
        let mut dims = Vec::new();
        for span in region.spans() {
            dims.push(Dim { min: span.min, extent: span.extent, stride });
            stride = stride.saturating_mul(span.extent.max(1));
        }
        let reach = self.checked(buf, ty, &dims)?;
        self.slots.insert(buf, Slot::new(HostSide::None, Newest::None, ty, reach));
        Ok(dims)
    }

    fn elem(&self, buf: BufId) -> Result<halide_core::types::ScalarType, GpuError> {
        let info = self.program.0.program.buffers.get(buf);
        info.map(|i| i.elem).ok_or_else(|| GpuError::Argument { buf, reason: "the program has no such buffer".into() })
    }
    /// Returns the reach of the elements, if the type and the number of dimensions are the program's.
    fn checked(&self, buf: BufId, ty: halide_core::types::ScalarType, dims: &[Dim]) -> Result<Reach, GpuError> {
        let elem = self.elem(buf)?;
        let info = &self.program.0.program.buffers[buf];
        let wrong = |reason: String| GpuError::Argument { buf, reason };
        if elem != ty || info.dims != dims.len() {
            let (name, n, found) = (&info.name, info.dims, dims.len());
            return Err(wrong(format!("{name} has {n} dimensions of {elem}, not {found} of {ty}")));
        }
        Reach::of_dims(dims).ok_or_else(|| wrong("its elements are further apart than memory reaches".into()))
    }

    /// Returns true if the device has a newer copy of an output than the host.
    pub fn is_on_device(&self, buf: BufId) -> bool {
        self.slots.get(&buf).is_some_and(|s| s.newest == Newest::Device)
    }
    /// An output that [`GpuRun::bind_device_output`] introduced, as a buffer of its own. To be called when host code is
    /// done.
    pub async fn take_output_async(&mut self, buf: BufId, region: &Region) -> Result<DeviceBuffer, GpuError> {
        let missing = || GpuError::Argument { buf, reason: "it was not bound as an output on the device".into() };
        if !matches!(self.slots.get(&buf), Some(Slot { host: HostSide::None, .. })) {
            return Err(missing());
        }
        let ty = self.elem(buf)?;
        // A kernel over no blocks has written nothing, but there is still a buffer.
        let place = self.place(buf).await?;
        self.submit().await?;
        self.slots.remove(&buf);
        DeviceBuffer::new(self.program.gpu().clone(), ty, region, place).ok_or_else(missing)
    }
    /// Keeps the device's copy of an output with the host buffer that it was brought back to, so that it need not be
    /// copied again when that is an input. `buffer` has the memory that was bound and shown. To be called when host
    /// code is done.
    pub fn keep_output(&mut self, buf: BufId, buffer: &AnyBuffer) -> Result<(), GpuError> {
        let reach = self.checked(buf, buffer.ty(), buffer.dims())?;
        let slot = self.slot(buf)?;
        let memory = buffer.memory();
        let same = (reach.elements * slot.size, reach.below * slot.size) == (slot.bytes, slot.first);
        if !same || slot.newest != Newest::Both || memory.used.is_empty() {
            return Ok(());
        }
        if let Some(place) = self.slots.remove(&buf).and_then(|slot| slot.place) {
            let copy =
                HostCopy { slab: place.slab, held: memory.used.clone(), base: memory.used.start as i64 - place.at };
            super::copies::keep(buffer, copy);
        }
        Ok(())
    }
    /// Waits for all that was asked for, and says what was done. What is not brought back or taken by then is gone.
    pub async fn finish_async(mut self) -> Result<GpuStats, GpuError> {
        self.submit().await?;
        let compiled = self.program.0.clone();
        if self.running {
            let started = super::clock::Moment::now();
            wait::all_done(&compiled.gpu.0).await?;
            self.stats.download_time += started.elapsed();
        }
        for timing in std::mem::take(&mut self.times) {
            timing.read(&compiled.gpu, &compiled.program.kernels, &mut self.stats.kernels).await?;
        }
        compiled.gpu.0.check()?;
        Ok(self.stats)
    }

    pub(super) fn compiled(&self) -> &Compiled {
        &self.program.0
    }
    pub(super) fn slot(&mut self, buf: BufId) -> Result<&mut Slot, DeviceFault> {
        let missing = || DeviceFault::Refused { reason: format!("{buf:?} is used before it is bound or allocated") };
        self.slots.get_mut(&buf).ok_or_else(missing)
    }
    /// Device memory for a slot that is not an input, made now if there is none yet.
    pub(super) async fn place(&mut self, buf: BufId) -> Result<DevicePlace, DeviceFault> {
        let slot = self.slot(buf)?;
        let bytes = slot.device_bytes();
        if let Some(place) = &slot.place {
            return Ok(place.clone());
        }
        let slab = self.slab(buf, bytes).await?;
        let slot = self.slot(buf)?;
        let place = slot.place_in(slab);
        slot.place = Some(place.clone());
        Ok(place)
    }
    /// Device memory, of this run before the pool's.
    pub(super) async fn slab(&mut self, buf: BufId, bytes: u64) -> Result<Arc<Slab>, DeviceFault> {
        let most = self.program.gpu().most_buffer_bytes();
        if bytes > most {
            return Err(DeviceFault::BufferTooLarge { buf, bytes, most });
        }
        if let Some(i) = self.retired.iter().position(|s| s.suits(bytes)) {
            return Ok(self.retired.swap_remove(i));
        }
        let pool = self.program.gpu().0.pool.clone();
        let taken = pool.take(Use::Kernels, bytes).await;
        let slab = taken.map_err(|trouble| self.fault(trouble, buf, bytes))?;
        self.program.gpu().0.check()?;
        Ok(Arc::new(slab))
    }
    /// Returns the fault for a failure that concerns a buffer.
    pub(super) fn fault(&self, trouble: Trouble, buf: BufId, bytes: u64) -> DeviceFault {
        let inner = &self.program.gpu().0;
        match trouble {
            Trouble::OutOfMemory => inner.lost_or(DeviceFault::OutOfMemory { buf, bytes }),
            refused => inner.fault(refused),
        }
    }
    /// Memory of a slot whose allocation ends.
    pub(super) fn retire(&mut self, place: Option<DevicePlace>) {
        self.retired.extend(place.map(|p| p.slab));
    }
    /// Hands over what is waiting if it is much.
    pub(super) async fn submit_if_much(&mut self) -> Result<(), DeviceFault> {
        if self.batch.len() >= BATCH_COMMANDS || self.batch.staged >= BATCH_STAGED_BYTES {
            self.submit().await?;
        }
        Ok(())
    }
    /// Hands over what is waiting.
    pub(super) async fn submit(&mut self) -> Result<(), DeviceFault> {
        let program = self.program.clone();
        program.gpu().0.check()?;
        if self.batch.is_empty() {
            return Ok(());
        }
        let refused = |trouble| program.gpu().0.fault(trouble);
        let mut timing = match self.timed {
            true => Some(Timing::new(program.gpu()).await.map_err(refused)?),
            false => None,
        };
        let index = self.batch.submit(program.gpu(), timing.as_mut()).await.map_err(refused)?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(index);
        self.running = true;
        self.times.extend(timing);
        self.retired.clear();
        self.stats.submissions += 1;
        program.gpu().0.check()?;
        // From here on anyone's commands come after these, so others may use the copies too.
        for (buffer, copy) in self.copied.drain(..) {
            super::copies::keep(&buffer, copy);
        }
        Ok(())
    }
    pub(super) fn has_waited(&mut self) {
        self.running = false;
    }
}

impl fmt::Debug for GpuRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} commands to submit for {:?}", self.batch.len(), self.program)
    }
}
