//! Keeping the two copies of a buffer in step, and running kernels on the device's.

use super::clock::Moment;
use super::copies;
use super::pool::{HostCopy, Slab, Use};
use super::run::GpuRun;
use super::slot::{DevicePlace, HostSide, Newest, Slot};
use super::wait::Mapping;
use crate::codegen::parts;
use crate::error::GpuError;
use crate::tuning::DISPATCH_PARTS;
use halide_core::buffer::AnyBuffer;
use halide_ir::device::DeviceFault;
use halide_ir::eval::AsyncDevice;
use halide_ir::{BufId, KernelId, Residency};
use std::sync::Arc;

impl GpuRun {
    /// See [`Device::begin`](halide_ir::device::Device::begin).
    pub fn begin_allocation(&mut self, buf: BufId, bytes: u64) -> Result<(), DeviceFault> {
        let most = self.program.gpu().most_buffer_bytes();
        if bytes > most {
            return Err(DeviceFault::BufferTooLarge { buf, bytes, most });
        }
        let size = self.compiled().program.buffers.get(buf).map_or(1, |info| info.elem.bytes() as u64);
        let old = self.slots.remove(&buf).and_then(|slot| slot.place);
        self.retire(old);
        let slot = Slot { host: HostSide::Shown, newest: Newest::None, bytes, first: 0, size, rows: None, place: None };
        self.slots.insert(buf, slot);
        Ok(())
    }
    /// See [`Device::end`](halide_ir::device::Device::end).
    pub fn end_allocation(&mut self, buf: BufId) {
        let place = self.slots.remove(&buf).and_then(|slot| slot.place);
        self.retire(place);
    }
    /// See [`Device::dispatch`](halide_ir::device::Device::dispatch).
    pub async fn dispatch_async(
        &mut self,
        kernel: KernelId,
        grid: &[i64],
        scalars: &[u64],
        memory: &[&[u8]],
    ) -> Result<(), DeviceFault> {
        let program = self.program.clone();
        let (gpu, compiled) = (&program.0.gpu, &*program.0);
        gpu.0.check()?;
        let Some(code) = compiled.program.kernels.get(kernel) else {
            return Err(DeviceFault::Refused { reason: format!("there is no {kernel:?}") });
        };
        if memory.len() != code.buffers.len() || scalars.len() != code.captures.len() + code.params.len() {
            return Err(DeviceFault::Refused { reason: format!("{kernel:?} is given other arguments than it takes") });
        }
        if grid.iter().any(|n| *n <= 0) {
            return Ok(());
        }
        let compute = compiled.compute(kernel, scalars).await?;
        let most = gpu.0.limits.max_compute_workgroups_per_dimension;
        check_grid(kernel, grid, most)?;
        let mut places = Vec::with_capacity(memory.len());
        for (used, memory) in code.buffers.iter().zip(memory) {
            places.push(self.on_device(used.buf, memory).await?);
        }
        let offsets: Vec<i64> = places.iter().map(|p| p.first).collect();
        let most_iterations = gpu.most_iterations().unwrap_or(u64::MAX);
        let (fits, iterations) = compute.look(&compiled.program, code, scalars, &offsets, grid, most_iterations);
        if !fits {
            return Err(DeviceFault::IndexTooLarge { kernel });
        }
        if iterations > most_iterations {
            return Err(DeviceFault::TooManyIterations { kernel, iterations, most: most_iterations });
        }
        let buffers: Arc<[(Arc<Slab>, u64)]> = places.into_iter().map(|p| (p.slab, p.bytes)).collect();
        for part in parts(grid, most) {
            let words = compute.layout.pack(scalars, &offsets, part);
            self.batch.dispatch(kernel, compute.clone(), &words, buffers.clone(), part.count);
            self.stats.dispatches += 1;
            self.submit_if_much().await?;
        }
        for (used, binding) in code.buffers.iter().zip(&compute.layout.bindings) {
            if binding.written {
                self.slot(used.buf)?.newest = Newest::Device;
            }
        }
        Ok(())
    }
    /// See [`Device::reside`](halide_ir::device::Device::reside).
    pub async fn reside_async(&mut self, buf: BufId, what: Residency, memory: &mut [u8]) -> Result<(), DeviceFault> {
        self.program.gpu().0.check()?;
        match what {
            Residency::OnHost => self.on_host(&mut [(buf, memory)]).await,
            Residency::ChangedOnHost => {
                self.slot(buf)?.newest = Newest::Host;
                Ok(())
            }
            Residency::OnDevice => self.on_device(buf, memory).await.map(drop),
        }
    }
    /// Brings outputs back that are on the device only, all at once; each with the host's memory of it.
    pub async fn finish_outputs_async(&mut self, outputs: &mut [(BufId, &mut [u8])]) -> Result<(), GpuError> {
        Ok(self.on_host(outputs).await?)
    }

    /// Returns the place of a buffer on the device, after an upload of its contents if only the host has them.
    async fn on_device(&mut self, buf: BufId, memory: &[u8]) -> Result<DevicePlace, DeviceFault> {
        let slot = self.slot(buf)?;
        let (host, newest) = (slot.host.clone(), slot.newest);
        if let HostSide::Input(buffer) = host {
            return self.input_on_device(buf, &buffer).await;
        }
        let place = self.place(buf).await?;
        if newest == Newest::Host {
            let slot = self.slot(buf)?;
            check_shown(buf, slot.bytes, memory.len())?;
            slot.newest = Newest::Both;
            self.upload(buf, &place.slab, place.at as u64, memory).await?;
        }
        Ok(place)
    }
    /// The copy of an input: one that is kept with its memory, or a new one.
    async fn input_on_device(&mut self, buf: BufId, buffer: &AnyBuffer) -> Result<DevicePlace, DeviceFault> {
        let slot = self.slot(buf)?;
        if let Some(place) = &slot.place {
            return Ok(place.clone());
        }
        let size = slot.size;
        let memory = buffer.memory();
        if memory.used.is_empty() {
            // Kernels get a word that they do not read.
            let place = self.place(buf).await?;
            self.slot(buf)?.newest = Newest::Both;
            return Ok(place);
        }
        let pool = self.program.gpu().0.pool.clone();
        let here = |(other, copy): &&(AnyBuffer, HostCopy)| {
            other.shares_memory(buffer) && copy.serves(&pool, &memory.used, memory.first)
        };
        let known = self.copied.iter().find(here).map(|(_, copy)| copy.clone());
        let copy = match known.or_else(|| copies::find(buffer, &pool)) {
            Some(copy) => copy,
            None => {
                let base = HostCopy::base_for(&memory.used, memory.first);
                let bytes = (memory.used.end as i64 - base) as u64;
                let slab = self.slab(buf, bytes.next_multiple_of(4)).await?;
                let at = (memory.used.start as i64 - base) as u64;
                self.upload(buf, &slab, at, &memory.bytes[memory.used.clone()]).await?;
                let copy = HostCopy { slab, held: memory.used.clone(), base };
                self.copied.push((buffer.clone(), copy.clone()));
                copy
            }
        };
        let place = Slot::place_of(&copy, memory.used.start, memory.first, size);
        let slot = self.slot(buf)?;
        (slot.place, slot.newest) = (Some(place.clone()), Newest::Both);
        Ok(place)
    }
    /// Copies bytes of the host to `at` in a slab. Whole words are copied, so up to 3 bytes on either side become 0.
    async fn upload(&mut self, buf: BufId, to: &Arc<Slab>, at: u64, bytes: &[u8]) -> Result<(), DeviceFault> {
        let started = Moment::now();
        let (start, end) = (at / 4 * 4, (at + bytes.len() as u64).next_multiple_of(4));
        let pool = self.program.gpu().0.pool.clone();
        let taken = pool.take(Use::Upload, end - start).await;
        let slab = taken.map_err(|trouble| self.fault(trouble, buf, end - start))?;
        self.program.gpu().0.check()?;
        let written = slab.write(end - start, (at - start) as usize, bytes).await;
        written.map_err(|trouble| self.fault(trouble, buf, end - start))?;
        self.batch.copy(Arc::new(slab), 0, to.clone(), start, end - start);
        self.batch.staged += end - start;
        self.stats.uploads += 1;
        self.stats.upload_bytes += bytes.len() as u64;
        self.stats.upload_time += started.elapsed();
        Ok(())
    }

    /// Copies what only the device has into the host's memory, with one wait for all.
    async fn on_host(&mut self, wanted: &mut [(BufId, &mut [u8])]) -> Result<(), DeviceFault> {
        let inner = self.program.gpu().0.clone();
        let mut coming = Vec::new();
        for (i, (buf, memory)) in wanted.iter().enumerate() {
            let slot = self.slot(*buf)?;
            let (newest, bytes, place) = (slot.newest, slot.bytes, slot.place.clone());
            let Some(place) = place.filter(|_| newest == Newest::Device && bytes > 0) else { continue };
            check_shown(*buf, bytes, memory.len())?;
            let taken = inner.pool.take(Use::Download, place.bytes).await;
            let slab = Arc::new(taken.map_err(|trouble| self.fault(trouble, *buf, place.bytes))?);
            self.batch.copy(place.slab, 0, slab.clone(), 0, place.bytes);
            coming.push((i, place.at as usize, slab));
        }
        if coming.is_empty() {
            return inner.check();
        }
        self.submit().await?;
        let started = Moment::now();
        let asked: Vec<_> = coming.into_iter().map(|(i, at, slab)| (i, at, Mapping::ask(&inner, slab))).collect();
        for (i, at, mapping) in asked {
            let (buf, memory) = &mut wanted[i];
            let rows = self.slot(*buf)?.rows.clone();
            let copy = |bytes: &[u8]| match rows {
                Some(rows) => rows.copy(&bytes[at..at + memory.len()], memory),
                None => memory.copy_from_slice(&bytes[at..at + memory.len()]),
            };
            mapping.read(&inner, copy).await?;
            self.stats.download_bytes += memory.len() as u64;
            self.slot(*buf)?.newest = Newest::Both;
        }
        self.stats.download_time += started.elapsed();
        self.has_waited();
        inner.check()
    }
}

impl AsyncDevice for GpuRun {
    type Fault = DeviceFault;
    fn begin(&mut self, buf: BufId, bytes: u64) -> Result<(), DeviceFault> {
        self.begin_allocation(buf, bytes)
    }
    fn end(&mut self, buf: BufId) {
        self.end_allocation(buf);
    }
    async fn dispatch(
        &mut self,
        kernel: KernelId,
        grid: &[i64],
        scalars: &[u64],
        memory: &[&[u8]],
    ) -> Result<(), DeviceFault> {
        self.dispatch_async(kernel, grid, scalars, memory).await
    }
    async fn reside(&mut self, buf: BufId, what: Residency, memory: &mut [u8]) -> Result<(), DeviceFault> {
        self.reside_async(buf, what, memory).await
    }
}

fn check_grid(kernel: KernelId, grid: &[i64], most: u32) -> Result<(), DeviceFault> {
    let blocks = grid.iter().fold(1u64, |n, &extent| n.saturating_mul(extent as u64));
    let pieces =
        grid.iter().fold(1u64, |n, &extent| n.saturating_mul((extent as u64).div_ceil(u64::from(most.max(1)))));
    if grid.len() > 3 || pieces > DISPATCH_PARTS || grid.iter().any(|&n| n > i64::from(i32::MAX)) {
        return Err(DeviceFault::TooManyBlocks {
            kernel,
            blocks,
            most: u64::from(most).saturating_mul(DISPATCH_PARTS),
        });
    }
    Ok(())
}

fn check_shown(buf: BufId, expected: u64, found: usize) -> Result<(), DeviceFault> {
    if expected == found as u64 {
        return Ok(());
    }
    let reason = match found {
        0 => format!("{buf:?} is on the device only, and the host uses it"),
        _ => format!("{buf:?} has {expected} bytes, and {found} are shown"),
    };
    Err(DeviceFault::Refused { reason })
}
