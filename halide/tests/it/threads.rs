//! Threads of the caller's pool: compiling takes none of their work, and runs take as many as they may.

use halide::prelude::*;
use std::collections::BTreeSet;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Runs `work` in a pool of so many threads. Panics where it takes minutes: a deadlock would hold it for ever.
fn in_pool(threads: usize, work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = thread::spawn(move || {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work);
        let _ = done.send(());
    });
    match is_done.recv_timeout(Duration::from_secs(200)) {
        Err(RecvTimeoutError::Timeout) => panic!("the work does not end"),
        _ => thread.join().unwrap(),
    }
}

/// Eight stages with a parallel loop each: as many functions, which several threads may compile.
fn chain() -> (Pipeline, Schedule) {
    let (x, y) = vars!(x, y);
    let mut stages = vec![Func::new("s0")];
    stages[0][(x, y)] = x * 3 + y;
    let mut schedule = String::new();
    for i in 1..8 {
        let mut next = Func::new(format!("s{i}"));
        next[(x, y)] = stages[i - 1][(x, y)] + i as i32;
        stages.push(next);
        schedule += &format!("s{}: compute_root() parallel(y) vectorize(x, 16)\n", i - 1);
    }
    (Pipeline::new([&stages[7]]).unwrap(), (schedule + "s7: parallel(y) vectorize(x, 16)").parse().unwrap())
}

/// A thread that compiles a shape holds it until that is done, and must not meanwhile take up other work of its pool,
/// which may ask for the same shape.
#[test]
fn shapes_are_compiled_in_a_pool_whose_other_work_asks_for_them() {
    in_pool(8, || {
        let (pipeline, schedule) = chain();
        for _ in 0..20 {
            let cache = ShapeCache::new(Compiler::new(&pipeline).schedule(&schedule));
            rayon::scope(|scope| {
                for i in 0..64i64 {
                    let cache = &cache;
                    scope.spawn(move |_| {
                        let shapes = Shapes::of_outputs([Region::of_extents([32 + 16 * (i % 7), 32])]);
                        cache.get(&shapes).unwrap();
                    });
                }
            });
            assert_eq!(cache.shapes().len(), 7);
        }
    });
}

/// Variants of one compiled pipeline are held likewise.
#[test]
fn variants_are_compiled_in_a_pool_whose_other_work_asks_for_them() {
    in_pool(8, || {
        let (pipeline, schedule) = chain();
        for _ in 0..40 {
            let compiled = Compiler::new(&pipeline).schedule(&schedule).compile().unwrap();
            rayon::scope(|scope| {
                for i in 0..64i32 {
                    let compiled = &compiled;
                    scope.spawn(move |_| {
                        let out = compiled.inputs().threads(1).realize::<i32>([1 + i % 5, 3]).unwrap();
                        assert_eq!(out.get([0, 2]), Some(30));
                    });
                }
            });
        }
    });
}

/// The number of threads that a parallel loop ran on.
fn threads_of(compiled: &Compiled, asked: Option<usize>) -> usize {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let note = seen.clone();
    let call = compiled.inputs().print_to(move |_| {
        note.lock().unwrap().insert(format!("{:?}", thread::current().id()));
        // Others have the time to take part.
        thread::sleep(Duration::from_millis(2));
    });
    let call = match asked {
        Some(threads) => call.threads(threads),
        None => call,
    };
    let out = call.realize::<i32>([200]).unwrap();
    assert_eq!(out.to_vec(), (0..200).collect::<Vec<_>>());
    let seen = seen.lock().unwrap();
    seen.len()
}

#[test]
fn a_run_takes_as_many_threads_as_its_target_has() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = print(x.expr(), ());
    let pipeline = Pipeline::new([&f]).unwrap();
    let compile = move |threads| {
        let target = Target { threads, ..Target::host() };
        pipeline.compile(&"f: parallel(x)".parse().unwrap(), &target).unwrap()
    };
    in_pool(4, move || {
        assert_eq!(threads_of(&compile(1), None), 1);
        assert!(threads_of(&compile(2), None) <= 2);
        assert!(threads_of(&compile(64), None) > 1, "as many as the pool has");
        // A call may say otherwise.
        assert!(threads_of(&compile(1), Some(3)) > 1);
        assert_eq!(threads_of(&compile(4), Some(1)), 1);
    });
}
