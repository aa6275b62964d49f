//! The boundary to wgpu: every call that can go wrong is made inside of [`caught`].

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use wgpu::{Device, Error, ErrorFilter};

/// A failure in wgpu or its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is no memory for what was asked.
    OutOfMemory,
    /// A call was refused, or panicked.
    Refused(String),
}

/// Calls `work` with scopes for each kind of error around it, and catches its panics. The calls are made at once; what
/// went wrong is known when the future ends (at once on all but the web).
///
/// Nothing of ours is left half-changed by a panic: `work` only asks wgpu for things and gives them back.
pub(super) fn caught<T, W: FnOnce() -> T>(
    device: &Device,
    work: W,
) -> impl Future<Output = Result<T, Trouble>> + use<T, W> {
    let internal = device.push_error_scope(ErrorFilter::Internal);
    let validation = device.push_error_scope(ErrorFilter::Validation);
    let memory = device.push_error_scope(ErrorFilter::OutOfMemory);
    let done = catch_unwind(AssertUnwindSafe(work)).map_err(text_of_panic);
    let (memory, validation, internal) = (memory.pop(), validation.pop(), internal.pop());
    async move {
        let errors = [memory.await, validation.await, internal.await];
        let done = done.map_err(|why| Trouble::Refused(format!("wgpu panicked: {why}")))?;
        match errors.into_iter().flatten().next() {
            None => Ok(done),
            Some(Error::OutOfMemory { .. }) => Err(Trouble::OutOfMemory),
            Some(error) => Err(Trouble::Refused(one_line(&error.to_string()))),
        }
    }
}

fn text_of_panic(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

/// wgpu's messages are trees of lines.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines.join(" ")
}
