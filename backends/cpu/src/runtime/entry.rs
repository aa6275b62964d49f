//! The functions that compiled code calls. They never unwind: a panic becomes a fault of the run.

use super::parallel::{TaskFn, launch};
use super::run::{Run, Worker, lock_number};
use crate::error::CpuFault;
use crate::profile::Activity;
use halide_core::math::eval_f64;
use halide_core::ops::MathFn;
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use halide_ir::{BufId, FaultId};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Slack after every allocation, so that the last vector of a row may be loaded whole.
pub(crate) const SLACK: u64 = 64;

/// Stands for the conventions between code and runtime (`abi`): its name changes with them, so that objects are linked
/// with no other.
#[cfg(feature = "link")]
#[unsafe(export_name = "halide_rt_abi_1")]
static ABI: u8 = 1;

/// Allocates `count` elements of `size` bytes for `buf`. Null after recording a fault.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_allocate"))]
pub(crate) extern "C" fn allocate(worker: *mut Worker<'_>, count: i64, size: i64, buf: i64) -> *mut u8 {
    // SAFETY: compiled code passes on the worker that it was given, which nobody else uses meanwhile.
    let worker = unsafe { &mut *worker };
    guarded(worker.run, std::ptr::null_mut(), || {
        let bytes = (count.max(0) as u64).checked_mul(size as u64);
        let total = bytes.and_then(|b| usize::try_from(b.checked_add(SLACK)?).ok());
        let buf = BufId(buf as u32);
        let obtained = total.map(|total| worker.at(Activity::Allocates, |worker| worker.allocate(buf, total)));
        let fault = match obtained {
            Some(Ok(Some(data))) => return data,
            Some(Err(over)) => CpuFault::OverCap { buf, over },
            None | Some(Ok(None)) => CpuFault::OutOfMemory { buf, bytes: bytes.unwrap_or(u64::MAX) },
        };
        worker.run.fail(fault);
        std::ptr::null_mut()
    })
}

/// Ends the newest allocation of this worker.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_release"))]
pub(crate) extern "C" fn release(worker: *mut Worker<'_>) {
    // SAFETY: as in `allocate`.
    let worker = unsafe { &mut *worker };
    guarded(worker.run, (), || worker.at(Activity::Frees, Worker::release));
}

/// Gives the memory of the allocation at `data` back before it ends.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_free_early"))]
pub(crate) extern "C" fn free_early(worker: *mut Worker<'_>, data: *mut u8) {
    // SAFETY: as in `allocate`.
    let worker = unsafe { &mut *worker };
    guarded(worker.run, (), || worker.at(Activity::Frees, |worker| worker.free_early(data)));
}

/// Runs a parallel loop; 0 when all its iterations have run.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_parallel"))]
pub(crate) extern "C" fn parallel(
    worker: *mut Worker<'_>,
    task: TaskFn,
    closure: *const u64,
    min: i64,
    extent: i64,
) -> i64 {
    // SAFETY: as in `allocate`.
    let worker = unsafe { &mut *worker };
    guarded(worker.run, 1, || launch(worker, task, closure, min, extent))
}

/// Records that check `fault` failed.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_fail"))]
pub(crate) extern "C" fn fail(worker: *mut Worker<'_>, fault: i64, args: *const i64, count: i64) {
    // SAFETY: as in `allocate`; `args` points to `count` values in the frame of the calling code.
    let (worker, args) = unsafe { (&*worker, std::slice::from_raw_parts(args, count as usize)) };
    guarded(worker.run, (), || worker.run.fail(CpuFault::Check { fault: FaultId(fault as u32), args: args.to_vec() }));
}

/// Prints line `line` of values with the bits `args`.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_print"))]
pub(crate) extern "C" fn print(worker: *mut Worker<'_>, line: i64, args: *const u64, count: i64) {
    // SAFETY: as in `fail`.
    let (worker, args) = unsafe { (&mut *worker, std::slice::from_raw_parts(args, count as usize)) };
    guarded(worker.run, (), || worker.at(Activity::Prints, |worker| worker.run.print(line as usize, args)));
}

/// Waits for the lock of a site of Func number `func` and takes it.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_lock"))]
pub(crate) extern "C" fn lock(worker: *mut Worker<'_>, func: i64, site: i64) {
    // SAFETY: as in `allocate`.
    let worker = unsafe { &mut *worker };
    guarded(worker.run, (), || worker.at(Activity::Locks, |worker| worker.run.lock(lock_number(func, site))));
}

/// Gives the lock of a site of Func number `func` back, which the calling code holds.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_unlock"))]
pub(crate) extern "C" fn unlock(worker: *mut Worker<'_>, func: i64, site: i64) {
    // SAFETY: as in `allocate`.
    let worker = unsafe { &*worker };
    guarded(worker.run, (), || worker.run.unlock(lock_number(func, site)));
}

/// `a * b + c`, rounded once: to f32, which the operands are then, or to f64.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_fma"))]
pub(crate) extern "C" fn fma(narrow: i64, a: f64, b: f64, c: f64) -> f64 {
    if narrow != 0 { f64::from((a as f32).mul_add(b as f32, c as f32)) } else { a.mul_add(b, c) }
}

/// `MathFn::ALL[function]` of f64 operands.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_math_f64"))]
pub(crate) extern "C" fn math_f64(function: i64, a: f64, b: f64) -> f64 {
    MathFn::ALL.get(function as usize).map_or(f64::NAN, |f| eval_f64(*f, &[a, b]))
}

/// The bits of a 16-bit float (type `ScalarType::ALL[ty]`) nearest to an f64.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_half_from_f64"))]
pub(crate) extern "C" fn half_from_f64(ty: i64, value: f64) -> i64 {
    half(ty).map_or(0, |ty| Scalar::float(ty, value).bits() as i64)
}

/// The bits of a 16-bit float nearest to an integer: unsigned if `unsigned` is not 0.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_half_from_int"))]
pub(crate) extern "C" fn half_from_int(ty: i64, bits: i64, unsigned: i64) -> i64 {
    let value = if unsigned != 0 { Scalar::from(bits as u64) } else { Scalar::from(bits) };
    half(ty).map_or(0, |ty| value::cast(ty, value).bits() as i64)
}

fn half(ty: i64) -> Option<ScalarType> {
    ScalarType::ALL.get(ty as usize).copied().filter(|t| t.is_float() && t.bits() == 16)
}

/// Runs `work`; a panic is recorded, and gives `failed`.
pub(crate) fn guarded<T>(run: &Run<'_>, failed: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| s.to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        run.fail(CpuFault::Panic(text.unwrap_or_default()));
        failed
    })
}
