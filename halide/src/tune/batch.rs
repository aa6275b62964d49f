//! Candidates that are compiled at once.

use crate::compiled::Compiled;
use crate::error::Error;
use crate::pipeline::Pipeline;
use halide_auto::tune::Candidate;
use halide_ir::target::{Budget, Target};
use std::time::{Duration, Instant};

/// The largest sizes of code that candidates may become: some times what the largest of the apps needs, so that none
/// takes seconds to compile.
const CODE: Budget = Budget { nodes: 150_000, instructions: 200_000, code_bytes: 4 << 20, stack_bytes: 8 << 20 };

/// Compiles candidates, on all cores: nothing is timed meanwhile. Each comes with the time that it took.
pub(super) fn compile(
    pipeline: &Pipeline,
    target: &Target,
    candidates: &[Candidate],
) -> Vec<(Result<Compiled, Error>, Duration)> {
    let target = Target { budget: CODE, ..*target };
    let one = |candidate: &Candidate| {
        let begun = Instant::now();
        let compiled = pipeline.compile(&candidate.schedule, &target);
        (compiled, begun.elapsed())
    };
    let own = |share: &[Candidate]| share.iter().map(one).collect::<Vec<_>>();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let share = candidates.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = candidates.chunks(share).map(|share| (share, scope.spawn(move || own(share)))).collect();
        // A thread that panicked is a mistake of the compiler's; compiling again on this one shows it.
        threads.into_iter().flat_map(|(share, thread)| thread.join().unwrap_or_else(|_| own(share))).collect()
    })
}
