//! Memory of a device that is used again: buffers of a few sizes, so that a run finds what the last one left.
//!
//! A [`Slab`] goes back to the pool when it is dropped, and may then be used by anyone. That is right only because the
//! device runs what is submitted in order: so whoever recorded commands for a slab keeps it until they are submitted.

use super::health::{Health, poll};
use super::scopes::{Trouble, caught};
use crate::tuning::IDLE_BYTES;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use wgpu::{Buffer, BufferDescriptor, BufferUsages, Device};

/// The smallest buffer: an alignment that every device accepts for a place in one.
const LEAST: u64 = 256;

/// The uses of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Use {
    /// Kernels read and write it.
    Kernels,
    /// The host writes it, and it is copied from. Mapped while it is idle.
    Upload,
    /// It is copied to, and the host reads it.
    Download,
    /// Times of kernels are put there, and it is copied from.
    Times,
}

/// The number of uses.
const USES: usize = 4;

impl Use {
    fn usages(self) -> BufferUsages {
        match self {
            Use::Kernels => BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
            Use::Upload => BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
            Use::Download => BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            Use::Times => BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
        }
    }
}

/// The buffers of a device.
pub(super) struct Pool {
    device: Device,
    health: Arc<Health>,
    /// The largest buffer that the device makes.
    most: u64,
    /// Bytes of all buffers, in use and idle.
    bytes: AtomicU64,
    /// The most bytes that there may be.
    cap: AtomicU64,
    idle: [Mutex<Idle>; USES],
    /// Copies of host buffers, which can be made again.
    copies: Mutex<Vec<Weak<Copies>>>,
}

/// Buffers that nobody uses, the longest idle first.
#[derive(Default)]
struct Idle {
    buffers: VecDeque<Buffer>,
    bytes: u64,
}

/// A buffer from the pool. Its contents are whatever was left there.
pub(super) struct Slab {
    pub(super) buffer: Buffer,
    what: Use,
    pool: Arc<Pool>,
}

/// A part of a buffer's memory on a device.
#[derive(Clone)]
pub(super) struct HostCopy {
    pub(super) slab: Arc<Slab>,
    /// The bytes of the memory that it holds.
    pub(super) held: Range<usize>,
    /// The byte of the memory that would be the slab's first; less than 0 if the slab starts with bytes that are not
    /// used.
    pub(super) base: i64,
}

/// All copies of one memory, on any device.
#[derive(Default)]
pub(super) struct Copies(Mutex<Vec<HostCopy>>);

impl Copies {
    /// Forgets those that only this list has.
    pub(super) fn forget_unused(&self) {
        self.lock().retain(|copy| Arc::strong_count(&copy.slab) > 1);
    }
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<HostCopy>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    pub(super) fn new(device: Device, health: Arc<Health>, most: u64) -> Arc<Pool> {
        let idle = std::array::from_fn(|_| Mutex::default());
        let (bytes, cap, copies) = (AtomicU64::new(0), AtomicU64::new(u64::MAX), Mutex::default());
        Arc::new(Pool { device, health, most, bytes, cap, idle, copies })
    }

    /// A buffer of at least `bytes`, which are no more than the device's largest. Before memory is said to be out, what
    /// is idle is freed, and then copies of inputs that no run uses.
    pub(super) async fn take(self: &Arc<Pool>, what: Use, bytes: u64) -> Result<Slab, Trouble> {
        let size = size_class(bytes, self.most);
        if let Some(buffer) = self.idle(what).take(size) {
            return Ok(Slab { buffer, what, pool: self.clone() });
        }
        for free in [Pool::trim, Pool::forget_copies] {
            match self.make(what, size).await {
                Err(Trouble::OutOfMemory) => free(self),
                made => return made,
            }
        }
        self.make(what, size).await
    }
    /// Counts these copies among those that go when memory is out.
    pub(super) fn watch(&self, copies: &Arc<Copies>) {
        let mut watched = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|w| w.strong_count() > 0 && w.as_ptr() != Arc::as_ptr(copies));
        watched.push(Arc::downgrade(copies));
    }
    fn forget_copies(&self) {
        let watched = std::mem::take(&mut *self.copies.lock().unwrap_or_else(PoisonError::into_inner));
        watched.iter().filter_map(Weak::upgrade).for_each(|copies| copies.forget_unused());
        self.trim();
    }

    async fn make(self: &Arc<Pool>, what: Use, size: u64) -> Result<Slab, Trouble> {
        let fits = |now: u64| now.checked_add(size).filter(|sum| *sum <= self.cap.load(Ordering::Relaxed));
        if self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return Err(Trouble::OutOfMemory);
        }
        let made = caught(&self.device, || {
            self.device.create_buffer(&BufferDescriptor {
                label: None,
                size,
                usage: what.usages(),
                mapped_at_creation: what == Use::Upload,
            })
        });
        match made.await {
            Ok(buffer) => Ok(Slab { buffer, what, pool: self.clone() }),
            Err(trouble) => {
                self.bytes.fetch_sub(size, Ordering::Relaxed);
                Err(trouble)
            }
        }
    }

    fn idle(&self, what: Use) -> MutexGuard<'_, Idle> {
        self.idle[what as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Keeps a buffer for later, or frees it and others that were idle for longest.
    fn give_back(&self, what: Use, buffer: Buffer) {
        let gone = if self.health.is_lost() { vec![buffer] } else { self.idle(what).put(buffer) };
        self.forget(gone);
    }
    fn forget(&self, gone: Vec<Buffer>) {
        self.bytes.fetch_sub(gone.iter().map(Buffer::size).sum(), Ordering::Relaxed);
    }
    /// Frees what is idle.
    pub(super) fn trim(&self) {
        for idle in &self.idle {
            let gone = std::mem::take(&mut *idle.lock().unwrap_or_else(PoisonError::into_inner));
            self.forget(gone.buffers.into());
        }
        // The driver gets memory back when the device is polled.
        poll(&self.device, &self.health, wgpu::PollType::Poll);
    }
    /// Bytes of all buffers, in use and idle.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
    pub(super) fn set_cap(&self, bytes: Option<u64>) {
        self.cap.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Idle {
    /// The last used of that size, whose memory is the likeliest to be near.
    fn take(&mut self, size: u64) -> Option<Buffer> {
        let at = self.buffers.iter().rposition(|b| b.size() == size)?;
        self.bytes -= size;
        self.buffers.remove(at)
    }
    /// Keeps a buffer, and returns those that have to go for it.
    fn put(&mut self, buffer: Buffer) -> Vec<Buffer> {
        self.bytes += buffer.size();
        self.buffers.push_back(buffer);
        let mut gone = Vec::new();
        while self.bytes > IDLE_BYTES
            && let Some(oldest) = self.buffers.pop_front()
        {
            self.bytes -= oldest.size();
            gone.push(oldest);
        }
        gone
    }
}

impl Slab {
    /// Its size in bytes: a multiple of 4, at least what was asked for.
    pub(super) fn bytes(&self) -> u64 {
        self.buffer.size()
    }
    /// Returns the pool that it goes back to.
    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
    /// Its device.
    pub(super) fn device(&self) -> &Device {
        &self.pool.device
    }
    /// Returns true if the pool would give a slab of this size for `bytes`.
    pub(super) fn suits(&self, bytes: u64) -> bool {
        self.bytes() == size_class(bytes, self.pool.most)
    }
    /// Returns true if it is of the device of `pool`.
    pub(super) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }
    /// Returns true if both are of one device.
    pub(super) fn is_with(&self, other: &Slab) -> bool {
        self.is_of(&other.pool)
    }
    /// Returns true if its device is gone.
    pub(super) fn is_lost(&self) -> bool {
        self.pool.health.is_lost()
    }
}

impl Slab {
    /// Writes `bytes` at `at` of a slab for uploads, and zeros around them up to `end`. It can then be copied from.
    pub(super) async fn write(&self, end: u64, at: usize, bytes: &[u8]) -> Result<(), Trouble> {
        let written = caught(self.device(), || {
            self.pool.health.look(|| {
                let mut view = self.buffer.get_mapped_range_mut(..end).map_err(|e| e.to_string())?;
                view.slice(..at).fill(0);
                view.slice(at..at + bytes.len()).copy_from_slice(bytes);
                view.slice(at + bytes.len()..).fill(0);
                drop(view);
                self.buffer.unmap();
                Ok(())
            })
        });
        written.await?.map_err(Trouble::Refused)
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        let (buffer, what, pool) = (self.buffer.clone(), self.what, Arc::downgrade(&self.pool));
        if what != Use::Upload || self.pool.health.is_lost() {
            return self.pool.give_back(what, buffer);
        }
        // The host may write it again when the device has copied from it, which is when it can be mapped.
        let again = buffer.clone();
        buffer.map_async(wgpu::MapMode::Write, .., move |mapped| {
            let Some(pool) = pool.upgrade() else { return };
            match mapped {
                Ok(()) => pool.give_back(what, again),
                Err(_) => pool.forget(vec![again]),
            }
        });
    }
}

/// `bytes` rounded up to a size that others also ask for: four steps from one power of two to the next.
fn size_class(bytes: u64, most: u64) -> u64 {
    let bytes = bytes.clamp(1, most);
    let step = (bytes.next_power_of_two() / 8).max(LEAST);
    let rounded = bytes.checked_next_multiple_of(step).unwrap_or(most);
    // The largest may be of no class, but is of whole words.
    if rounded > most { most / 4 * 4 } else { rounded }
}

#[cfg(test)]
mod tests {
    use crate::runtime::pool::size_class;

    #[test]
    fn sizes_waste_little_and_are_few() {
        let most = (1 << 31) - 3;
        let sizes: Vec<u64> = [1, 256, 257, 2048, 2049, 3000, 4096, 4097].map(|b| size_class(b, most)).into();
        assert_eq!(sizes, [256, 256, 512, 2048, 2560, 3072, 4096, 5120]);
        for bytes in (1..200_000).step_by(77).chain([most / 4 * 4, most - 70, 1 << 30, (1 << 30) + 1]) {
            let size = size_class(bytes, most);
            assert!(bytes <= size && size <= most && size.is_multiple_of(4), "{bytes} is in {size}");
            assert!(size - bytes <= (bytes / 4).max(255), "{bytes} is in {size}");
        }
    }
}
