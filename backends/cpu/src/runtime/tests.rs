//! The runtime under functions of Rust in place of machine code: what they do is what compiled code does, and Miri can
//! run it. `fuzz/README.md` says how.

use super::entry::{SLACK, allocate, fail, free_early, lock, parallel, print, release, unlock};
use super::run::lock_number;
use super::*;
use crate::error::CpuFault;
use halide_core::interp::PrintSink;
use halide_core::limits::{Limits, OverCap, Stop};
use halide_core::types::ScalarType;
use halide_ir::{BufId, FaultId, Piece};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

/// Threads of a run, more than most machines that run this under Miri would give.
const THREADS: usize = 3;
/// Iterations of an outer loop, and of one in it.
const OUTER: i64 = 9;
const INNER: i64 = 5;

/// Code in place of the compiled one.
type TaskCode = extern "C" fn(*mut Worker<'_>, *const u64, i64) -> i64;

/// Runs `code` for `0 .. extent` in a parallel loop of a run with these limits. Returns the result of the loop and the
/// fault.
fn looped<T>(code: TaskCode, extent: i64, captured: &T, limits: &Limits) -> (i64, Option<CpuFault>) {
    let pool = Pool::new(1 << 20);
    let run = Run::new(Vec::new(), 1, &pool, THREADS, limits);
    (entered(code, extent, captured, &run), run.take_fault())
}

/// As [`looped`], in a run that there is.
fn entered<T>(code: TaskCode, extent: i64, captured: &T, run: &Run<'_>) -> i64 {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().unwrap();
    let closure = Closure { captured: std::ptr::from_ref(captured).cast(), row: 0 };
    let launch = Launch { code, closure: &closure };
    let whole = &launch;
    within(Some(&threads), move || parallel(&mut Worker::new(run), whole.code, whole.closure.words(), 0, extent))
}

/// The captured values of a task: something of the test's, and a number.
#[repr(C)]
struct Closure {
    captured: *const u8,
    row: u64,
}

impl Closure {
    fn words(&self) -> *const u64 {
        std::ptr::from_ref(self).cast()
    }
}

/// The task that a thread of the pool is to start, with its closure.
struct Launch<'a> {
    code: TaskCode,
    closure: &'a Closure,
}

// SAFETY: a closure is only read while its loop runs.
unsafe impl Sync for Launch<'_> {}

/// Returns the value that a task captured.
///
/// # Safety
/// `closure` is that of [`entered`], called with a `T`.
unsafe fn captured<'a, T>(closure: *const u64) -> &'a T {
    // SAFETY: as promised, and the value outlives the loop.
    unsafe { &*(*closure.cast::<Closure>()).captured.cast::<T>() }
}

/// One element for each iteration, which that iteration alone may touch.
struct Cells(Vec<std::cell::UnsafeCell<i64>>);

// SAFETY: the tasks below see to it: that is what Miri is asked.
unsafe impl Sync for Cells {}

impl Cells {
    fn new(count: i64) -> Cells {
        Cells((0..count).map(|_| 0.into()).collect())
    }
    fn add(&self, at: i64, n: i64) {
        // SAFETY: only one task at a time touches this element.
        unsafe { *self.0[at as usize].get() += n }
    }
    fn values(self) -> Vec<i64> {
        self.0.into_iter().map(|cell| cell.into_inner()).collect()
    }
}

extern "C" fn inner_step(_: *mut Worker<'_>, closure: *const u64, at: i64) -> i64 {
    // SAFETY: called by `outer_step` with what `entered` had.
    let (cells, row) = unsafe { (captured::<Cells>(closure), (*closure.cast::<Closure>()).row as i64) };
    cells.add(row * INNER + at, row * 100 + at);
    0
}

extern "C" fn outer_step(worker: *mut Worker<'_>, closure: *const u64, row: i64) -> i64 {
    // SAFETY: the closure of `entered`.
    let captured = unsafe { (*closure.cast::<Closure>()).captured };
    parallel(worker, inner_step, Closure { captured, row: row as u64 }.words(), 0, INNER)
}

#[test]
fn loops_in_loops_run_each_iteration_once() {
    let cells = Cells::new(OUTER * INNER);
    assert_eq!(looped(outer_step, OUTER, &cells, &Limits::default()), (0, None));
    let expected: Vec<i64> = (0..OUTER).flat_map(|row| (0..INNER).map(move |at| row * 100 + at)).collect();
    assert_eq!(cells.values(), expected);
    for extent in [0, -3, 1] {
        let cells = Cells::new(INNER);
        assert_eq!(looped(outer_step, extent, &cells, &Limits::default()), (0, None));
        assert_eq!(cells.values().iter().sum::<i64>(), if extent == 1 { 10 } else { 0 });
    }
}

/// Fills `count` bytes and the slack behind them, and checks at some of them that nobody else does.
fn fill(data: *mut u8, count: usize, with: u8) -> bool {
    let all = count + SLACK as usize;
    // SAFETY: memory that `allocate` gave for so many bytes.
    unsafe {
        data.write_bytes(with, all);
        std::thread::yield_now();
        std::slice::from_raw_parts(data, all).iter().step_by(61).all(|b| *b == with)
    }
}

extern "C" fn uses_memory(worker: *mut Worker<'_>, closure: *const u64, at: i64) -> i64 {
    // SAFETY: the closure of `entered`.
    let good = unsafe { captured::<AtomicI64>(closure) };
    let sizes = [100 + at, 33_000 + at, 64];
    let [small, large, last] = sizes.map(|count| allocate(worker, count, 1, 0));
    let filled = |data: *mut u8, n: usize| fill(data, sizes[n] as usize, at as u8 + n as u8);
    let mut all = filled(small, 0) && filled(large, 1);
    free_early(worker, large);
    free_early(worker, small);
    let again = allocate(worker, sizes[1], 1, 0);
    all &= filled(last, 2) && fill(again, sizes[1] as usize, 7) && filled(small, 0);
    (0..4).for_each(|_| release(worker));
    good.fetch_add(i64::from(all), Ordering::Relaxed);
    0
}

#[test]
fn memory_of_tasks_is_their_own() {
    let (good, limits, pool) = (AtomicI64::new(0), Limits::default(), Pool::new(1 << 20));
    let run = Run::new(Vec::new(), 0, &pool, THREADS, &limits);
    assert_eq!(entered(uses_memory, OUTER, &good, &run), 0);
    assert_eq!((good.into_inner(), run.take_fault(), run.memory().1), (OUTER, None, 4 * OUTER as u64));
    assert!(run.memory().0 >= 33_000, "{:?}", run.memory());
}

extern "C" fn leaves_memory(worker: *mut Worker<'_>, _: *const u64, at: i64) -> i64 {
    allocate(worker, 40_000, 1, 0);
    allocate(worker, 10, 1, 0);
    fail(worker, 3, [at].as_ptr(), 1);
    1
}

#[test]
fn memory_that_a_failed_task_leaves_is_given_back() {
    let (limits, pool) = (Limits::default(), Pool::new(usize::MAX));
    let run = Run::new(Vec::new(), 0, &pool, THREADS, &limits);
    assert_eq!(entered(leaves_memory, OUTER, &(), &run), 1);
    let fault = run.take_fault();
    assert!(matches!(&fault, Some(CpuFault::Check { fault: FaultId(3), args }) if args.len() == 1), "{fault:?}");
    assert!(pool.idle_bytes() > 40_000, "blocks are kept: {}", pool.idle_bytes());
    pool.trim();
    assert_eq!(pool.idle_bytes(), 0);
}

extern "C" fn asks_for_much(worker: *mut Worker<'_>, closure: *const u64, at: i64) -> i64 {
    // SAFETY: the closure of `entered`.
    let refused = unsafe { captured::<AtomicI64>(closure) };
    if at != 4 {
        return 0;
    }
    let is_null = allocate(worker, 1 << 40, 8, 5).is_null() && allocate(worker, i64::MAX, 8, 5).is_null();
    refused.fetch_add(i64::from(is_null), Ordering::Relaxed);
    1
}

#[test]
fn memory_over_the_cap_is_refused() {
    let refused = AtomicI64::new(0);
    let (failed, fault) = looped(asks_for_much, OUTER, &refused, &Limits::with_cap(1 << 16));
    assert_eq!((failed, refused.into_inner()), (1, 1));
    let Some(CpuFault::OverCap { buf: BufId(5), over }) = fault else { panic!("{fault:?}") };
    // Where the size of a stack is not known, as under Miri, new ones are held beside it.
    assert_eq!(
        OverCap { held: 0, ..over },
        OverCap { bytes: (8 << 40) + SLACK, held: 0, cap: 1 << 16, of_machine: false }
    );
}

/// A run that one of its tasks stops.
struct Stopping<'a> {
    limits: &'a Limits,
    begun: AtomicI64,
}

extern "C" fn stops(_: *mut Worker<'_>, closure: *const u64, at: i64) -> i64 {
    // SAFETY: the closure of `entered`.
    let shared = unsafe { captured::<Stopping<'_>>(closure) };
    shared.begun.fetch_add(1, Ordering::Relaxed);
    if at == 0 {
        shared.limits.stop(Stop::Cancelled);
    }
    0
}

#[test]
fn a_raised_flag_ends_loops() {
    let limits = Limits::default();
    let shared = Stopping { limits: &limits, begun: AtomicI64::new(0) };
    let (failed, fault) = looped(stops, 1 << 40, &shared, &limits);
    assert_eq!((failed, fault, limits.stopped()), (1, None, Some(Stop::Cancelled)));
    assert!(shared.begun.into_inner() >= 1);
}

extern "C" fn adds_under_a_lock(worker: *mut Worker<'_>, closure: *const u64, at: i64) -> i64 {
    // SAFETY: the closure of `entered`.
    let cells = unsafe { captured::<Cells>(closure) };
    let func = at % 2;
    lock(worker, func, 0);
    cells.add(func, at);
    unlock(worker, func, 0);
    0
}

extern "C" fn adds_under_locks_of_sites(worker: *mut Worker<'_>, closure: *const u64, at: i64) -> i64 {
    // SAFETY: the closure of `entered`.
    let cells = unsafe { captured::<Cells>(closure) };
    let site = at % 2;
    lock(worker, 3, site);
    cells.add(site, at);
    unlock(worker, 3, site);
    0
}

#[test]
fn locks_order_what_is_done_under_them() {
    let cells = Cells::new(2);
    assert_eq!(looped(adds_under_a_lock, 2 * OUTER, &cells, &Limits::default()), (0, None));
    assert_eq!(cells.values(), [72, 81]);
    let cells = Cells::new(2);
    assert_eq!(looped(adds_under_locks_of_sites, 2 * OUTER, &cells, &Limits::default()), (0, None));
    assert_eq!(cells.values(), [72, 81]);
}

#[test]
fn neighbouring_sites_have_locks_far_apart() {
    let numbers: Vec<usize> = (0..64).map(|site| lock_number(5, site)).collect();
    assert_eq!(numbers.iter().collect::<std::collections::BTreeSet<_>>().len(), 64);
    assert!(numbers.windows(2).all(|pair| pair[0] / 64 != pair[1] / 64));
    assert_ne!(lock_number(5, 0), lock_number(6, 0));
}

extern "C" fn counts(worker: *mut Worker<'_>, _: *const u64, at: i64) -> i64 {
    // SAFETY: code adds to the counters of the worker that it was given.
    unsafe { (*(*worker).counters).fetch_add(at, Ordering::Relaxed) };
    0
}

#[test]
fn counters_are_one_for_all_tasks() {
    let (limits, pool) = (Limits::default(), Pool::new(0));
    let run = Run::new(vec![1, 2], 1, &pool, THREADS, &limits);
    assert_eq!(entered(counts, OUTER, &(), &run), 0);
    assert_eq!(run.counters(), [36]);
}

extern "C" fn tells(worker: *mut Worker<'_>, _: *const u64, at: i64) -> i64 {
    print(worker, 0, [at as u64].as_ptr(), 1);
    print(worker, 9, std::ptr::from_ref(&0), 1);
    // SAFETY: as in `counts`.
    i64::from(unsafe { &*worker }.run.failed())
}

/// The result and the fault of a loop that prints into `sink`.
fn printed(lines: &[Line], sink: &PrintSink) -> (i64, Option<CpuFault>) {
    let (limits, pool) = (Limits::default(), Pool::new(0));
    let run = Run::new(Vec::new(), 0, &pool, THREADS, &limits).printing(lines, Some(sink));
    (entered(tells, OUTER, &(), &run), run.take_fault())
}

#[test]
fn lines_come_from_any_thread_and_a_sink_that_panics_ends_the_run() {
    let lines = [Line::new(vec![Piece::Text("at".into()), Piece::Value], vec![ScalarType::I32])];
    let told = Arc::new(Mutex::new(Vec::new()));
    let into = told.clone();
    let sink = move |text: &str| into.lock().unwrap().push(text.to_string());
    assert_eq!(printed(&lines, &sink), (0, None));
    let mut told = told.lock().unwrap().clone();
    told.sort_unstable();
    assert_eq!(told, (0..OUTER).map(|at| format!("at {at}")).collect::<Vec<_>>());
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let ended = printed(&lines, &|_: &str| panic!("the sink is full"));
    std::panic::set_hook(quiet);
    assert_eq!(ended, (1, Some(CpuFault::Panic("the sink is full".into()))));
}
