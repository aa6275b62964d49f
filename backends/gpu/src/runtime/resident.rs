//! Buffers on a device: results that stay there, to be inputs of other runs.

use super::copies;
use super::gpu::Gpu;
use super::pool::{HostCopy, Use};
use super::scopes::caught;
use super::slot::{DevicePlace, Reach};
use super::wait::Mapping;
use crate::error::GpuError;
use halide_core::buffer::{AnyBuffer, BufferError, Dim, Region};
use halide_core::types::ScalarType;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A buffer on a device. It is a value: nobody writes it, and clones and crops share its memory.
#[derive(Clone)]
pub struct DeviceBuffer {
    dims: Vec<Dim>,
    /// The number of elements from the first of the whole to the element at the min coordinates.
    offset: i64,
    whole: Arc<Whole>,
}

/// The state that clones and crops share.
struct Whole {
    gpu: Gpu,
    ty: ScalarType,
    region: Region,
    place: DevicePlace,
    /// The host's copy, once somebody has asked for one.
    host: Mutex<Option<AnyBuffer>>,
    /// Held by the thread that makes it.
    #[cfg(not(target_arch = "wasm32"))]
    copying: Mutex<()>,
}

impl DeviceBuffer {
    /// The elements of a dense region, the first dimension innermost, at a place. `None` if it does not fit there.
    pub(super) fn new(gpu: Gpu, ty: ScalarType, region: &Region, place: DevicePlace) -> Option<DeviceBuffer> {
        let bytes = region.points()?.checked_mul(ty.bytes() as u64)?;
        if place.at < 0 || place.at as u64 + bytes > place.bytes {
            return None;
        }
        let mut stride = 1i64;
        let mut dims = Vec::new();
        for span in region.spans() {
            dims.push(Dim { min: span.min, extent: span.extent, stride });
            stride = stride.saturating_mul(span.extent.max(1));
        }
        let whole = Whole {
            gpu,
            ty,
            region: region.clone(),
            place,
            host: Mutex::default(),
            #[cfg(not(target_arch = "wasm32"))]
            copying: Mutex::default(),
        };
        Some(DeviceBuffer { dims, offset: 0, whole: Arc::new(whole) })
    }
    /// The element type.
    pub fn ty(&self) -> ScalarType {
        self.whole.ty
    }
    /// The dimensions; strides are in elements.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }
    /// The coordinates it has.
    pub fn region(&self) -> Region {
        self.dims.iter().map(|d| d.span()).collect()
    }
    /// The device that it is on.
    pub fn gpu(&self) -> &Gpu {
        &self.whole.gpu
    }
    /// The part inside `region`, which must be inside this buffer.
    pub fn crop(&self, region: &Region) -> Result<DeviceBuffer, BufferError> {
        let mut cropped = self.clone();
        if region.dims() != self.dims.len() {
            return Err(BufferError::WrongDims { expected: self.dims.len(), found: region.dims() });
        }
        region.check()?;
        for (d, (dim, span)) in cropped.dims.iter_mut().zip(region.spans()).enumerate() {
            if span.min < dim.min || span.end() > dim.min + dim.extent {
                let (min, extent, buffer_min, buffer_extent) = (span.min, span.extent, dim.min, dim.extent);
                return Err(BufferError::Outside { dim: d, min, extent, buffer_min, buffer_extent });
            }
            cropped.offset += (span.min - dim.min) * dim.stride;
            *dim = Dim { min: span.min, extent: span.extent, stride: dim.stride };
        }
        Ok(cropped)
    }
    /// A copy on the host, which crops share: it is made at most once, and used as an input it is not copied back.
    pub async fn to_host_async(&self) -> Result<AnyBuffer, GpuError> {
        let whole = match self.host() {
            Some(known) => known,
            None => self.whole.copy().await?,
        };
        whole.crop(&self.region()).map_err(|_| GpuError::HostMemory { bytes: 0 })
    }
    /// Returns true if there is a copy on the host already.
    pub fn has_host_copy(&self) -> bool {
        self.host().is_some()
    }
    /// For threads that wait: one of them copies, and the others find the copy.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn one_at_a_time(&self) -> std::sync::MutexGuard<'_, ()> {
        self.whole.copying.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn host(&self) -> Option<AnyBuffer> {
        self.whole.host.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns its place for kernels of `gpu`; `None` if it is on another device or that is gone.
    pub(super) fn place(&self, gpu: &Gpu) -> Option<DevicePlace> {
        let place = &self.whole.place;
        if !place.slab.is_of(&gpu.0.pool) || gpu.is_lost() {
            return None;
        }
        let below = Reach::of_dims(&self.dims)?.below as i64;
        let size = self.whole.ty.bytes() as i64;
        let at = place.at + (self.offset - below) * size;
        Some(DevicePlace { at, first: place.first + self.offset, ..place.clone() })
    }
    /// Returns true if its first element is at a multiple of a word, as kernels want it.
    pub(super) fn is_at_word(&self) -> bool {
        (self.whole.place.first + self.offset) * self.whole.ty.bytes() as i64 % 4 == 0
    }
}

impl Whole {
    async fn copy(&self) -> Result<AnyBuffer, GpuError> {
        let inner = &self.gpu.0;
        inner.check()?;
        let points = self.region.points().unwrap_or(u64::MAX);
        let bytes = points.saturating_mul(self.ty.bytes() as u64);
        let DevicePlace { slab, at, bytes: words, .. } = &self.place;
        let no_memory = |_| GpuError::HostMemory { bytes };
        if bytes == 0 {
            return AnyBuffer::with_region(self.ty, &self.region).map_err(no_memory);
        }
        let failed = |trouble| inner.fault(trouble);
        let staging = inner.pool.take(Use::Download, *words).await.map_err(failed)?;
        let sent = caught(&inner.device, || {
            let mut encoder = inner.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&slab.buffer, 0, &staging.buffer, 0, *words);
            inner.queue.submit([encoder.finish()])
        });
        sent.await.map_err(failed)?;
        let mut host = None;
        let start = *at as usize;
        let read = |seen: &[u8]| {
            host = Some(AnyBuffer::from_bytes(self.ty, &self.region, &seen[start..start + bytes as usize]));
        };
        Mapping::ask(inner, Arc::new(staging)).read(inner, read).await?;
        let host = host.ok_or(GpuError::HostMemory { bytes })?.map_err(no_memory)?;
        let held = 0..bytes as usize;
        copies::keep(&host, HostCopy { slab: slab.clone(), held, base: -*at });
        *self.host.lock().unwrap_or_else(PoisonError::into_inner) = Some(host.clone());
        Ok(host)
    }
}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} on {:?}", self.ty(), self.region(), self.whole.gpu)
    }
}
