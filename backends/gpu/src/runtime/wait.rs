//! Waiting for the device without a thread: futures that its callbacks complete.

use super::gpu::Inner;
use super::pool::Slab;
use super::scopes::caught;
use halide_ir::device::DeviceFault;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Something that a callback will say.
struct Said<T> {
    what: Option<T>,
    waker: Option<Waker>,
}

/// Waits for what a callback says; ends with `None` when the device is gone, after which callbacks may never come.
struct Saying<T> {
    said: Arc<Mutex<Said<T>>>,
    inner: Arc<Inner>,
}

impl<T> Future for Saying<T> {
    type Output = Option<T>;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(what) = said.what.take() {
            return Poll::Ready(Some(what));
        }
        if self.inner.health.is_lost() {
            return Poll::Ready(None);
        }
        said.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// A future, and what completes it.
fn saying<T>(inner: &Arc<Inner>) -> (Saying<T>, impl FnOnce(T) + use<T>) {
    let said = Arc::new(Mutex::new(Said { what: None, waker: None }));
    let told = said.clone();
    let tell = move |what| {
        let waker = {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.what = Some(what);
            told.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    };
    (Saying { said, inner: inner.clone() }, tell)
}

/// A slab whose bytes the host will be able to read. Unmapped when it goes, so that the slab can be used again.
pub(super) struct Mapping {
    slab: Arc<Slab>,
    mapped: Option<Saying<bool>>,
}

impl Mapping {
    /// Asks for the slab to be mapped as soon as what was submitted is done.
    pub(super) fn ask(inner: &Arc<Inner>, slab: Arc<Slab>) -> Mapping {
        let (mapped, tell) = saying(inner);
        slab.buffer.map_async(wgpu::MapMode::Read, .., move |result| tell(result.is_ok()));
        Mapping { slab, mapped: Some(mapped) }
    }
    /// Waits, and has `read` see the bytes.
    pub(super) async fn read(mut self, inner: &Inner, read: impl FnOnce(&[u8])) -> Result<(), DeviceFault> {
        let mapped = match self.mapped.take() {
            Some(saying) => saying.await,
            None => None,
        };
        inner.check()?;
        if mapped != Some(true) {
            let reason = "the host cannot read what was copied for it".to_string();
            return Err(inner.lost_or(DeviceFault::Refused { reason }));
        }
        let looked = inner.health.look(|| {
            let view = self.slab.buffer.get_mapped_range(..).map_err(|e| e.to_string())?;
            read(&view);
            Ok(())
        });
        looked.map_err(|reason| inner.lost_or(DeviceFault::Refused { reason }))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // That it never was mapped is no error of the next run.
        drop(caught(self.slab.device(), || self.slab.buffer.unmap()));
    }
}

/// Waits until all that was submitted is done.
pub(super) async fn all_done(inner: &Arc<Inner>) -> Result<(), DeviceFault> {
    let (done, tell) = saying(inner);
    inner.queue.on_submitted_work_done(move || tell(()));
    done.await;
    // A device that was destroyed says so when nothing is left to do.
    inner.poll(wgpu::PollType::Poll);
    inner.check()
}
