//! Parallel loops: threads take chunks of iterations from a shared counter until none are left or one has failed.

use super::run::Worker;
use crate::tuning::CHUNKS_PER_THREAD;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// The body of a parallel loop: one iteration. Returns 0, or another value when it has failed.
pub(crate) type TaskFn = extern "C" fn(*mut Worker<'_>, *const u64, i64) -> i64;

/// The state that the threads of one loop share.
struct Loop {
    task: TaskFn,
    closure: Closure,
    next: AtomicI64,
    end: i64,
    chunk: i64,
    failed: AtomicBool,
}

/// The captured values of a loop's body.
#[derive(Clone, Copy)]
struct Closure(*const u64);

// SAFETY: the closure is written before the loop starts and only read while it runs.
unsafe impl Send for Closure {}
// SAFETY: as above.
unsafe impl Sync for Closure {}

/// Runs `task` for every value of `min .. min + extent`. Returns 0 when all iterations have.
///
/// The calling thread takes part, so a loop inside a loop cannot wait for a thread that waits for it.
pub(crate) fn launch(worker: &mut Worker<'_>, task: TaskFn, closure: *const u64, min: i64, extent: i64) -> i64 {
    let run = worker.run;
    let helpers = (run.threads as i64).min(extent) - 1;
    let chunk = if helpers > 0 { (extent / ((helpers + 1) * CHUNKS_PER_THREAD)).max(1) } else { i64::MAX };
    let end = min.saturating_add(extent.max(0));
    let closure = Closure(closure);
    let shared = Loop { task, closure, next: AtomicI64::new(min), end, chunk, failed: AtomicBool::new(false) };
    if helpers < 1 {
        run.with_stack(|| iterate(&shared, worker, min, end));
    } else {
        let mut around = 0;
        rayon::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| run.with_stack(|| take_chunks(&shared, &mut Worker::new(run))));
            }
            run.with_stack(|| take_chunks(&shared, worker));
            around = worker.wait();
        });
        worker.go_on(around);
    }
    shared.failed.load(Ordering::Relaxed) as i64
}

/// Runs `work` where parallel loops can use the threads of `pool`, or of rayon's own.
pub(crate) fn within<T: Send>(pool: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        // Inside a pool already: stay there.
        None if rayon::current_thread_index().is_some() => work(),
        None => rayon::scope(|_| work()),
    }
}

fn take_chunks(shared: &Loop, worker: &mut Worker<'_>) {
    while !shared.failed.load(Ordering::Relaxed) {
        let from = shared.next.fetch_add(shared.chunk, Ordering::Relaxed);
        // The counter cannot wrap: it passes the end by at most a chunk per thread.
        if from >= shared.end {
            break;
        }
        iterate(shared, worker, from, shared.end.min(from.saturating_add(shared.chunk)));
    }
}

fn iterate(shared: &Loop, worker: &mut Worker<'_>, from: i64, to: i64) {
    for i in from..to {
        if worker.run.ends() || (shared.task)(worker, shared.closure.0, i) != 0 {
            shared.failed.store(true, Ordering::Relaxed);
            break;
        }
    }
}
