//! One call of an executable: its arguments, what it may use, and what became of it.

use super::call_shape::Callees;
use super::device::OnDevice;
use super::heap::{LocalHeap, Pool};
use super::profile::Marks;
use crate::error::CpuFault;
use crate::profile::{Activity, MemoryEvent};
use crate::tuning::{LOCK_ATTEMPTS, LOCK_BITS};
use halide_core::ids::Id;
use halide_core::interp::PrintSink;
use halide_core::limits::{Limits, OverCap};
use halide_core::pipeline::note_text;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::visit::for_each_stmt;
use halide_ir::{BufId, Piece, Program, Stmt};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The state that all workers of a run share.
pub(crate) struct Run<'a> {
    /// The argument block; see `abi`.
    args: Vec<u64>,
    counters: Vec<AtomicI64>,
    pool: &'a Pool,
    /// The number of threads that a parallel loop may use.
    pub(crate) threads: usize,
    limits: &'a Limits,
    /// Bytes of stack that the program's code needs.
    pub(super) stack: usize,
    live: AtomicUsize,
    peak: AtomicUsize,
    allocations: AtomicU64,
    /// Blocks that the pool had to make.
    blocks: AtomicU64,
    failed: AtomicBool,
    fault: Mutex<Option<CpuFault>>,
    device: Option<OnDevice<'a>>,
    /// The lines that the program prints, and who takes them.
    print: Option<(&'a [Line], &'a PrintSink)>,
    callees: Option<Callees<'a>>,
    /// Held for the time of an atomic step, which is a few instructions that wait for nothing; Funcs and sites share
    /// them.
    locks: [AtomicBool; LOCKS],
    /// The words in which threads say where they are, if somebody reads them.
    marks: Option<Arc<Marks>>,
    /// The word for code that marks where nobody reads.
    unread: AtomicU64,
}

/// A line that a program prints.
pub(crate) struct Line {
    pieces: Vec<Piece>,
    /// The types of the values that it shows.
    types: Vec<ScalarType>,
}

impl Line {
    #[cfg(test)]
    pub(super) fn new(pieces: Vec<Piece>, types: Vec<ScalarType>) -> Line {
        Line { pieces, types }
    }
    /// The lines of a program, as its statements show them.
    pub(crate) fn all(program: &Program) -> Vec<Line> {
        fn walk(s: &Stmt, lines: &mut [Line]) {
            if let Stmt::Print { line, args, .. } = s {
                lines[line.index()].types = args.iter().filter_map(|a| a.ty().scalar()).collect();
            }
            for_each_stmt(s, |inner| walk(inner, lines));
        }
        let row = |pieces: &Vec<Piece>| Line { pieces: pieces.clone(), types: Vec::new() };
        let mut lines: Vec<Line> = program.prints.iter().map(row).collect();
        if !lines.is_empty() {
            walk(&program.body, &mut lines);
            program.tasks.iter().for_each(|task| walk(&task.body, &mut lines));
        }
        lines
    }
}

/// The number of locks of a run.
const LOCKS: usize = 1 << LOCK_BITS;

/// Returns the number of the lock of a site of a Func. Multiplicative hashing by the golden ratio puts neighbouring
/// sites far apart, into different cache lines.
pub(super) fn lock_number(func: i64, site: i64) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let func = (func as u64).wrapping_mul(GOLDEN).rotate_left(32);
    ((site as u64 ^ func).wrapping_mul(GOLDEN) >> (u64::BITS - LOCK_BITS)) as usize
}

/// The state of one thread while it takes part in a run. Compiled code gets a pointer to it and reads the first four
/// fields.
#[repr(C)]
pub(crate) struct Worker<'a> {
    /// The argument block.
    pub(crate) args: *const u64,
    /// The counters.
    pub(crate) counters: *const AtomicI64,
    /// The flag that is not 0 once the run is to end.
    pub(crate) stop: *const AtomicU8,
    /// The word in which this thread says where it is.
    pub(crate) mark: *const AtomicU64,
    pub(crate) run: &'a Run<'a>,
    /// The same word, if somebody reads it.
    word: Option<&'a AtomicU64>,
    /// The contents of the word when this thread joined: where it was in the work that waits for this.
    before: u64,
    heap: LocalHeap,
}

// SAFETY: the pointers lead into the run and its limits, which `run` keeps alive and which are `Sync`.
unsafe impl Send for Worker<'_> {}

impl<'a> Run<'a> {
    /// A run with `args` as its argument block.
    pub(crate) fn new(args: Vec<u64>, counters: usize, pool: &'a Pool, threads: usize, limits: &'a Limits) -> Run<'a> {
        Run {
            args,
            counters: (0..counters).map(|_| AtomicI64::new(0)).collect(),
            pool,
            threads,
            limits,
            stack: 0,
            live: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            allocations: AtomicU64::new(0),
            blocks: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            fault: Mutex::new(None),
            device: None,
            print: None,
            callees: None,
            locks: [const { AtomicBool::new(false) }; LOCKS],
            marks: None,
            unread: AtomicU64::new(0),
        }
    }
    /// The same run, whose threads say in words of their own where they are.
    pub(crate) fn marking(self, marks: Arc<Marks>) -> Run<'a> {
        Run { marks: Some(marks), ..self }
    }
    /// The same run, whose lines go to `sink`.
    pub(crate) fn printing(self, lines: &'a [Line], sink: Option<&'a PrintSink>) -> Run<'a> {
        Run { print: sink.map(|sink| (lines, sink)), ..self }
    }
    /// The same run, which calls these closures.
    pub(crate) fn calling(self, callees: Callees<'a>) -> Run<'a> {
        Run { callees: Some(callees), ..self }
    }
    /// The closures that it calls.
    pub(super) fn callees(&self) -> Option<Callees<'a>> {
        self.callees
    }
    /// Prints a line that shows values with these bits.
    pub(super) fn print(&self, line: usize, args: &[u64]) {
        let Some((lines, sink)) = self.print else { return };
        let Some(line) = lines.get(line) else { return };
        let values: Vec<Scalar> = line.types.iter().zip(args).map(|(ty, bits)| Scalar::from_bits(*ty, *bits)).collect();
        sink(&note_text(&line.pieces, &values));
    }
    /// Waits for a lock and takes it.
    pub(super) fn lock(&self, number: usize) {
        let lock = &self.locks[number];
        let mut looks = 0;
        while lock.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            looks += 1;
            if looks % LOCK_ATTEMPTS == 0 {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
    /// Gives a lock back, which the caller holds.
    pub(super) fn unlock(&self, number: usize) {
        self.locks[number].store(false, Ordering::Release);
    }
    /// Sets the bytes of stack that the code needs.
    pub(crate) fn needing_stack(self, bytes: usize) -> Run<'a> {
        Run { stack: bytes, ..self }
    }
    /// Counts memory that is no allocation of the program, until [`Run::release`]. It is not refused, but leaves less
    /// of the cap.
    pub(super) fn hold(&self, bytes: usize) {
        let before = self.live.fetch_add(bytes, Ordering::Relaxed);
        self.peak.fetch_max(before.saturating_add(bytes), Ordering::Relaxed);
        self.note(None, bytes as i64, before.saturating_add(bytes));
    }
    /// Gives memory back that was held.
    pub(super) fn let_go(&self, bytes: usize) {
        self.release(None, bytes);
    }
    /// The same run with a device for kernels.
    pub(crate) fn on_device(self, device: Option<OnDevice<'a>>) -> Run<'a> {
        Run { device, ..self }
    }
    /// The device that runs kernels, if one was given.
    pub(super) fn device(&self) -> Option<&OnDevice<'a>> {
        self.device.as_ref()
    }
    /// Returns true if some worker has failed, so that the others should stop.
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
    /// Records a fault; the first one stays.
    pub(crate) fn fail(&self, fault: CpuFault) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        self.failed.store(true, Ordering::Relaxed);
    }
    /// The fault that ended the run, if one did.
    pub(crate) fn take_fault(&self) -> Option<CpuFault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
    /// The values of the counters.
    pub(crate) fn counters(&self) -> Vec<i64> {
        self.counters.iter().map(|c| c.load(Ordering::Relaxed)).collect()
    }
    /// The largest number of bytes that were allocated at once, the number of allocations, and that of new blocks.
    pub(crate) fn memory(&self) -> (u64, u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (self.peak.load(Ordering::Relaxed) as u64, load(&self.allocations), load(&self.blocks))
    }
    /// Returns true if the run is to end: a worker has failed, or the flag of its limits is raised.
    pub(super) fn ends(&self) -> bool {
        self.failed() || self.limits.stopped().is_some()
    }
    /// Counts memory that is handed to a closure in place of a buffer, for as long as the result lives.
    ///
    /// # Errors
    /// It would exceed the cap.
    pub(super) fn hold_for(&self, buf: BufId, bytes: usize) -> Result<HeldFor<'_>, CpuFault> {
        let before = self.live.fetch_add(bytes, Ordering::Relaxed);
        let held = HeldFor { live: &self.live, bytes };
        match self.limits.check(bytes as u64, before as u64, || self.pool.idle_bytes() as u64) {
            Ok(()) => {
                self.peak.fetch_max(before.saturating_add(bytes), Ordering::Relaxed);
                Ok(held)
            }
            Err(over) => Err(CpuFault::OverCap { buf, over }),
        }
    }
    fn charge(&self, buf: BufId, bytes: usize) -> Result<(), OverCap> {
        let before = self.live.fetch_add(bytes, Ordering::Relaxed);
        if let Err(over) = self.limits.check(bytes as u64, before as u64, || self.pool.idle_bytes() as u64) {
            self.live.fetch_sub(bytes, Ordering::Relaxed);
            return Err(over);
        }
        self.peak.fetch_max(before + bytes, Ordering::Relaxed);
        self.allocations.fetch_add(1, Ordering::Relaxed);
        self.note(Some(buf), bytes as i64, before + bytes);
        Ok(())
    }
    fn release(&self, buf: Option<BufId>, bytes: usize) {
        let before = self.live.fetch_sub(bytes, Ordering::Relaxed);
        self.note(buf, -(bytes as i64), before.saturating_sub(bytes));
    }
    fn note(&self, buf: Option<BufId>, bytes: i64, live: usize) {
        if let Some(marks) = &self.marks {
            marks.note(|at| MemoryEvent { at, buf, bytes, live: live as u64 });
        }
    }
}

/// Memory that is counted as used until this is dropped.
pub(super) struct HeldFor<'r> {
    live: &'r AtomicUsize,
    bytes: usize,
}

impl Drop for HeldFor<'_> {
    fn drop(&mut self) {
        self.live.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl<'a> Worker<'a> {
    /// A worker without memory.
    pub(crate) fn new(run: &'a Run<'a>) -> Worker<'a> {
        let (args, counters, stop) = (run.args.as_ptr(), run.counters.as_ptr(), std::ptr::from_ref(run.limits.flag()));
        let word = run.marks.as_ref().map(|marks| marks.of_this_thread());
        let before = word.map_or(0, |word| word.swap(Activity::Outside.word(), Ordering::Relaxed));
        let mark = word.unwrap_or(&run.unread);
        Worker { args, counters, stop, mark, run, word, before, heap: LocalHeap::default() }
    }
    /// Does `work` while this thread says that it is at `activity`.
    pub(super) fn at<T>(&mut self, activity: Activity, work: impl FnOnce(&mut Self) -> T) -> T {
        let Some(word) = self.word else { return work(self) };
        let around = word.swap(activity.word(), Ordering::Relaxed);
        let result = work(self);
        word.store(around, Ordering::Relaxed);
        result
    }
    /// Says that this thread waits, until the matching [`Worker::go_on`], which is given what this returns. It may take
    /// up other work meanwhile.
    pub(super) fn wait(&self) -> u64 {
        self.word.map_or(0, |word| word.swap(Activity::Waits.word(), Ordering::Relaxed))
    }
    /// Says that this thread is where it was.
    pub(super) fn go_on(&self, around: u64) {
        self.word.iter().for_each(|word| word.store(around, Ordering::Relaxed));
    }
    /// Memory that lasts until the matching [`Worker::release`]; `None` when there is none.
    ///
    /// # Errors
    /// It would exceed the cap.
    pub(crate) fn allocate(&mut self, buf: BufId, bytes: usize) -> Result<Option<*mut u8>, OverCap> {
        self.run.charge(buf, bytes)?;
        let data = self.heap.push(buf, bytes, self.run.pool);
        match self.heap.take_made() {
            0 => {}
            made => drop(self.run.blocks.fetch_add(made, Ordering::Relaxed)),
        }
        if data.is_none() {
            self.run.release(Some(buf), bytes);
        }
        Ok(data)
    }
    /// Gives the memory of the allocation at `data` back before it ends.
    pub(crate) fn free_early(&mut self, data: *mut u8) {
        let freed = self.heap.free_early(data, self.run.pool);
        freed.into_iter().for_each(|(buf, bytes)| self.run.release(Some(buf), bytes));
    }
    /// Ends the newest allocation.
    pub(crate) fn release(&mut self) {
        let freed = self.heap.pop(self.run.pool);
        freed.into_iter().for_each(|(buf, bytes)| self.run.release(Some(buf), bytes));
    }
}

impl Drop for Worker<'_> {
    /// After a fault allocations are still open; they end here.
    fn drop(&mut self) {
        self.heap.clear(self.run.pool);
        self.go_on(self.before);
    }
}
