//! Kernels: what compiled host code calls to have an accelerator work, and the memory that both use.
//!
//! `Dispatch` and `Reside` are calls of this module, which asks the run's `Device`; the evaluator runs kernels itself.
//! Where there is no machine code, as in a browser, or nobody may wait, the evaluator is the host: `ir/eval/hosted`
//! walks the program by futures and asks an `AsyncDevice`.

use super::entry::guarded;
use super::run::{Run, Worker};
use crate::error::CpuFault;
use crate::profile::Activity;
use halide_core::buffer::RawBuffer;
use halide_core::ids::IdVec;
use halide_ir::device::{Device, DeviceFault};
use halide_ir::{BufId, KernelId, Program, Residency};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The signature of a kernel: the arguments that a call of it takes.
pub(crate) struct KernelCall {
    /// The number of dimensions of its grid.
    grid: usize,
    /// The number of scalars that it takes.
    scalars: usize,
    buffers: Vec<BufId>,
}

impl KernelCall {
    /// Returns the signature of every kernel of a program.
    pub(crate) fn all(program: &Program) -> IdVec<KernelId, KernelCall> {
        let describe = |k: &halide_ir::Kernel| KernelCall {
            grid: k.blocks.len(),
            scalars: k.captures.len() + k.params.len(),
            buffers: k.buffers.iter().map(|b| b.buf).collect(),
        };
        program.kernels.iter().map(describe).collect()
    }
}

/// The device of a run, with the host's memory of buffers that it may be asked about.
pub(crate) struct OnDevice<'a> {
    device: &'a Mutex<dyn Device>,
    kernels: &'a IdVec<KernelId, KernelCall>,
    memory: Mutex<BTreeMap<BufId, Memory>>,
}

/// Bytes of the host.
#[derive(Clone, Copy)]
struct Memory {
    data: *mut u8,
    bytes: usize,
}

// SAFETY: an address and a number; whoever uses the address says why that is right.
unsafe impl Send for Memory {}

impl Memory {
    const NONE: Memory = Memory { data: std::ptr::null_mut(), bytes: 0 };

    /// From the first to the last element of a caller's buffer, wherever its strides lead.
    fn of(raw: &RawBuffer) -> Memory {
        if raw.dims.iter().any(|d| d.extent <= 0) {
            return Memory::NONE;
        }
        let reach = |d: &halide_core::buffer::Dim| (d.extent - 1) * d.stride;
        let low: i64 = raw.dims.iter().map(|d| reach(d).min(0)).sum();
        let high: i64 = raw.dims.iter().map(|d| reach(d).max(0)).sum();
        let size = raw.ty.bytes() as i64;
        let data = raw.data.wrapping_offset((low * size) as isize);
        Memory { data, bytes: ((high - low + 1) * size) as usize }
    }
    fn is_none(self) -> bool {
        self.data.is_null() || self.bytes == 0
    }
}

impl<'a> OnDevice<'a> {
    /// A run of kernels on `device`, where `outputs` are the views of the outputs. Inputs the device has of whoever
    /// started the run.
    pub(crate) fn new(
        device: &'a Mutex<dyn Device>,
        kernels: &'a IdVec<KernelId, KernelCall>,
        outputs: impl Iterator<Item = (BufId, &'a RawBuffer)>,
    ) -> OnDevice<'a> {
        let memory = outputs.map(|(buf, raw)| (buf, Memory::of(raw))).collect();
        OnDevice { device, kernels, memory: Mutex::new(memory) }
    }
    fn memory(&self, buf: BufId) -> Memory {
        let known = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&buf).copied().unwrap_or(Memory::NONE)
    }
    fn remember(&self, buf: BufId, memory: Memory) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).insert(buf, memory);
    }
}

/// Runs `work` on the device, which is the `activity` of the thread meanwhile; 0 if that went well.
fn with(
    worker: &mut Worker<'_>,
    activity: Activity,
    work: impl FnOnce(&OnDevice<'_>, &mut dyn Device) -> Result<(), DeviceFault>,
) -> i64 {
    guarded(worker.run, 1, || worker.at(activity, |worker| on_device(worker.run, work)))
}

fn on_device(run: &Run<'_>, work: impl FnOnce(&OnDevice<'_>, &mut dyn Device) -> Result<(), DeviceFault>) -> i64 {
    if run.ends() {
        return 1;
    }
    let Some(on) = run.device() else {
        run.fail(CpuFault::Arguments("the program has kernels, and no device is given".into()));
        return 1;
    };
    let mut device = on.device.lock().unwrap_or_else(PoisonError::into_inner);
    match work(on, &mut *device) {
        Ok(()) => 0,
        Err(fault) => {
            run.fail(CpuFault::Device(fault));
            1
        }
    }
}

/// Dispatches a kernel; `words` are the extents of its grid and its scalars.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_dispatch"))]
pub(crate) extern "C" fn dispatch(worker: *mut Worker<'_>, kernel: i64, words: *const u64) -> i64 {
    // SAFETY: compiled code passes on the worker that it was given, which nobody else uses meanwhile.
    let worker = unsafe { &mut *worker };
    with(worker, Activity::Device, |on, device| {
        let id = KernelId(kernel as u32);
        let call = &on.kernels[id];
        // SAFETY: compiled code put as many words as the kernel takes into its frame.
        let words = unsafe { std::slice::from_raw_parts(words, call.grid + call.scalars) };
        let (grid, scalars) = words.split_at(call.grid);
        let grid: Vec<i64> = grid.iter().map(|n| *n as i64).collect();
        let slice = |buf: &BufId| match on.memory(*buf) {
            memory if memory.is_none() => &[][..],
            // SAFETY: this is initialised memory of an output, which nobody else uses during the run, or of an
            // allocation that has not ended, and nobody writes it while host code waits for this call: kernels are not
            // dispatched from parallel tasks.
            memory => unsafe { std::slice::from_raw_parts(memory.data.cast_const(), memory.bytes) },
        };
        let memory: Vec<&[u8]> = call.buffers.iter().map(slice).collect();
        device.dispatch(id, &grid, scalars, &memory)
    })
}

/// Makes something so of the copies of a buffer; `what` numbers the kinds of [`Residency`].
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_reside"))]
pub(crate) extern "C" fn reside(worker: *mut Worker<'_>, buf: i64, what: i64) -> i64 {
    // SAFETY: as in `dispatch`.
    let worker = unsafe { &mut *worker };
    with(worker, Activity::Copies, |on, device| {
        let buf = BufId(buf as u32);
        let what = match what {
            0 => Residency::OnHost,
            1 => Residency::ChangedOnHost,
            _ => Residency::OnDevice,
        };
        match on.memory(buf) {
            memory if memory.is_none() => device.reside(buf, what, &mut []),
            // SAFETY: as in `dispatch`, and this is the only view of the memory meanwhile.
            memory => device.reside(buf, what, unsafe { std::slice::from_raw_parts_mut(memory.data, memory.bytes) }),
        }
    })
}

/// An allocation of `count` elements of `size` bytes begins; `data` is null if it is on the device only.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_device_begin"))]
pub(crate) extern "C" fn begin(worker: *mut Worker<'_>, buf: i64, data: *mut u8, count: i64, size: i64) -> i64 {
    // SAFETY: as in `dispatch`.
    let worker = unsafe { &mut *worker };
    with(worker, Activity::Device, |on, device| {
        let buf = BufId(buf as u32);
        let bytes = (count.max(0) as u64).saturating_mul(size as u64);
        if !data.is_null() {
            let memory = Memory { data, bytes: bytes as usize };
            // SAFETY: the allocation has that many bytes. What host code leaves unwritten, such as the gaps between
            // rows, is copied with the rest, and must not be uninitialised.
            unsafe { data.write_bytes(0, memory.bytes) };
            on.remember(buf, memory);
        }
        device.begin(buf, bytes)
    })
}

/// An allocation ends.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_device_end"))]
pub(crate) extern "C" fn end(worker: *mut Worker<'_>, buf: i64) {
    // SAFETY: as in `dispatch`.
    let worker = unsafe { &mut *worker };
    with(worker, Activity::Device, |on, device| {
        let buf = BufId(buf as u32);
        on.remember(buf, Memory::NONE);
        device.end(buf);
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use crate::runtime::device::*;
    use crate::runtime::heap::Pool;
    use halide_core::buffer::{AnyBuffer, Region};
    use halide_core::limits::Limits;
    use halide_core::types::ScalarType;

    /// A device that adds its first scalar to every byte of the last buffer of a kernel, and says what it was asked.
    #[derive(Default)]
    struct Adding {
        asked: Vec<String>,
        made: Vec<u8>,
    }

    impl Device for Adding {
        fn begin(&mut self, buf: BufId, bytes: u64) -> Result<(), DeviceFault> {
            self.asked.push(format!("begin {buf:?} {bytes}"));
            Ok(())
        }
        fn end(&mut self, buf: BufId) {
            self.asked.push(format!("end {buf:?}"));
        }
        fn dispatch(
            &mut self,
            k: KernelId,
            grid: &[i64],
            scalars: &[u64],
            memory: &[&[u8]],
        ) -> Result<(), DeviceFault> {
            self.asked
                .push(format!("{k:?} {grid:?} {scalars:?} {:?}", memory.iter().map(|m| m.len()).collect::<Vec<_>>()));
            if grid[0] > 99 {
                return Err(DeviceFault::TooManyBlocks { kernel: k, blocks: 100, most: 99 });
            }
            self.made = memory.last().unwrap().iter().map(|b| b + scalars[0] as u8).collect();
            Ok(())
        }
        fn reside(&mut self, _: BufId, what: Residency, memory: &mut [u8]) -> Result<(), DeviceFault> {
            if what == Residency::OnHost && !memory.is_empty() {
                memory.copy_from_slice(&self.made);
            }
            Ok(())
        }
    }

    /// A kernel of one grid dimension and two scalars that uses an output and an allocation.
    fn kernels() -> IdVec<KernelId, KernelCall> {
        [KernelCall { grid: 1, scalars: 2, buffers: vec![BufId(0), BufId(1)] }].into_iter().collect()
    }

    #[test]
    fn host_code_and_kernels_share_memory_by_turns() {
        let mut output = AnyBuffer::with_region(ScalarType::U8, &Region::of_spans([(0, 4), (1, 3)])).unwrap();
        let mut view = output.view_mut().unwrap();
        let raw = view.raw_mut();
        let (kernels, adding) = (kernels(), Mutex::new(Adding::default()));
        let device: &Mutex<dyn Device> = &adding;
        let (limits, pool) = (Limits::default(), Pool::new(0));
        let on = OnDevice::new(device, &kernels, [(BufId(0), &raw)].into_iter());
        let run = Run::new(Vec::new(), 0, &pool, 1, &limits).on_device(Some(on));
        let mut worker = Worker::new(&run);
        let worker: *mut Worker<'_> = &mut worker;
        let data = crate::runtime::entry::allocate(worker, 6, 2, 1);
        assert_eq!(begin(worker, 1, data, 6, 2), 0);
        // SAFETY: an allocation of 12 bytes that has not ended.
        unsafe { data.add(1).write(5) };
        assert_eq!(dispatch(worker, 0, [7u64, 3, 9].as_ptr()), 0);
        assert_eq!((reside(worker, 1, 0), reside(worker, 2, 0)), (0, 0));
        // SAFETY: as above.
        assert_eq!(unsafe { [data.read(), data.add(1).read(), data.add(11).read()] }, [3, 8, 3]);
        end(worker, 1);
        crate::runtime::entry::release(worker);
        assert_eq!(dispatch(worker, 0, [100u64, 0, 0].as_ptr()), 1, "more blocks than there may be");
        let fault = DeviceFault::TooManyBlocks { kernel: KernelId(0), blocks: 100, most: 99 };
        assert_eq!(run.take_fault(), Some(CpuFault::Device(fault)));
        assert_eq!(reside(worker, 1, 1), 1, "the run has ended");
        let asked = ["begin b1 12", "kernel0 [7] [3, 9] [12, 12]", "end b1", "kernel0 [100] [0, 0] [12, 0]"];
        assert_eq!(adding.lock().unwrap().asked, asked);
    }

    #[test]
    fn a_run_without_a_device_says_so() {
        let (limits, pool) = (Limits::default(), Pool::new(0));
        let run = Run::new(Vec::new(), 0, &pool, 1, &limits);
        assert_eq!(dispatch(&mut Worker::new(&run), 0, [1u64].as_ptr()), 1);
        assert!(matches!(run.take_fault(), Some(CpuFault::Arguments(why)) if why.contains("no device")));
    }

    #[test]
    fn memory_of_a_view_is_from_its_lowest_element_to_its_highest() {
        let mut bytes: Vec<u8> = (0..24).collect();
        let dim = |min, extent, stride| halide_core::buffer::Dim { min, extent, stride };
        let (data, dims) = (bytes.as_mut_ptr().wrapping_add(12), vec![dim(0, 3, -2), dim(5, 2, 3)]);
        let memory = Memory::of(&RawBuffer { data, ty: ScalarType::U16, dims });
        assert_eq!((memory.data as usize - bytes.as_ptr() as usize, memory.bytes), (4, 16));
        // SAFETY: inside of `bytes`.
        assert_eq!(unsafe { std::slice::from_raw_parts(memory.data, memory.bytes) }, &bytes[4..20]);
    }
}
