//! Machine code in memory that faults beside images and blocks of stages: a process that ends by a signal has touched
//! what is not its own. `HALIDE_FUZZ_LAST` names a file that then holds the seed of the random case.

#![cfg(target_os = "linux")]

mod fence;

use fence::Fence;
use halide::prelude::*;
use halide_apps::app::APPS;
use halide_apps::job::{Job, Source};
use halide_checks::case::Case;
use halide_checks::{accesses, runs};
use std::cell::Cell;

#[global_allocator]
static FENCE: Fence = Fence::new();

/// One pixel, less than a vector, primes, and more than a tile.
const SIZES: [(i64, i64); 4] = [(1, 1), (5, 3), (17, 13), (67, 35)];

fn apps() {
    for app in APPS {
        let job = |(width, height)| Job::new(app, Source::Random { seed: 1, width, height }, &[]).unwrap();
        let jobs = SIZES.map(job);
        for named in app.schedules.iter().filter(|s| !s.is_for_gpu()) {
            let compiled = jobs[0].pipeline.compile(&named.parse().unwrap(), &Target::host()).unwrap();
            for (job, (width, height)) in jobs.iter().zip(SIZES) {
                let mut outputs = job.outputs().unwrap();
                let done = job.run(&compiled, None, &mut outputs);
                done.unwrap_or_else(|e| panic!("{} {width}x{height}: {e}", app.name));
            }
        }
    }
}

/// A cache line, as images and blocks of stages are made of.
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

/// Asserts that memory lies at the end of its pages that is guarded exactly.
fn lies_at_a_guard(start: bool) {
    let lines: Vec<Line> = (0..5).map(|_| Line { _bytes: [1; 64] }).collect();
    // A vector that grows may have room for more.
    let end = if start { 0 } else { lines.capacity() * size_of::<Line>() };
    assert_eq!((lines.as_ptr() as usize + end) % fence::PAGE, 0);
}

/// One test: the guarded end is one for the process.
#[test]
fn machine_code_touches_no_memory_but_its_own() {
    for start in [false, true] {
        FENCE.guard_start(start);
        lies_at_a_guard(start);
        std::thread::scope(|scope| {
            // The file of the seed is for one of the random cases at a time.
            scope.spawn(apps);
            runs::compare_engines("random schedules between guard pages", 40, 50, Case::random);
            broken_programs();
        });
    }
}

/// Mistakes of lowering end runs before they touch other memory.
fn broken_programs() {
    let ended = Cell::new(accesses::Ended::default());
    runs::each("broken programs between guard pages", 20, |seed| {
        let more = accesses::run_broken_code(&Case::random(seed)).map_err(|f| format!("{}: {}", f.kind, f.text))?;
        ended.set(ended.get() + more);
        Ok(())
    });
    let accesses::Ended { runs, named } = ended.get();
    println!("checks of accesses ended {runs} runs, and named the access in {named} broken programs");
    assert!(runs >= 20 && named >= 20, "{runs} runs were ended by checks of accesses, {named} with its name");
}
