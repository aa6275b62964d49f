//! Directives without effect, which a search leaves behind.

use crate::compiled::Compiled;
use crate::pipeline::Pipeline;
use halide_ir::target::Target;
use halide_sched::schedule::{Directive, Schedule, Verb};
use std::time::Instant;

/// The schedule without the directives that no code depends on, as far as they are found until `end`.
pub(super) fn pruned(pipeline: &Pipeline, target: &Target, schedule: Schedule, end: Instant) -> Schedule {
    let code_of = |schedule: &Schedule| pipeline.compile(schedule, target).ok().and_then(|compiled| code(&compiled));
    let Some(wanted) = code_of(&schedule) else { return schedule };
    let mut kept: Vec<Directive> = schedule.directives().to_vec();
    for at in (0..kept.len()).rev() {
        if Instant::now() >= end {
            break;
        }
        if !may_be_idle(&kept[at].verb) {
            continue;
        }
        let mut without = kept.clone();
        without.remove(at);
        if code_of(&Schedule::from(without.clone())).as_ref() == Some(&wanted) {
            kept = without;
        }
    }
    Schedule::from(kept)
}

/// Machine code as text; without a code generator, the program.
fn code(compiled: &Compiled) -> Option<String> {
    #[cfg(feature = "cpu")]
    if let Ok(text) = compiled.asm() {
        return Some(text);
    }
    compiled.main_text()
}

/// Returns true for directives that say nothing about other sizes and values than those that were measured.
fn may_be_idle(verb: &Verb) -> bool {
    matches!(
        verb,
        Verb::Mark { .. }
            | Verb::Reorder(_)
            | Verb::Partition { .. }
            | Verb::Prefetch { .. }
            | Verb::StreamStores
            | Verb::StreamLoads
            | Verb::CacheStores
            | Verb::NeverUnroll
            | Verb::FoldStorage { .. }
            | Verb::ReorderStorage(_)
            | Verb::SplitStorage { .. }
            | Verb::StoreIn(_)
            | Verb::StoreAt(_)
            | Verb::StoreRoot
    )
}

#[cfg(test)]
mod tests {
    use super::pruned;
    use crate::pipeline::Pipeline;
    use halide_core::{Func, vars};
    use halide_ir::target::Target;
    use halide_sched::schedule::Schedule;
    use std::time::{Duration, Instant};

    #[test]
    fn directives_without_effect_are_taken_away() {
        let (x, y) = vars!(x, y);
        let (mut g, mut f) = (Func::new("g"), Func::new("f"));
        g[(x, y)] = x * y;
        f[(x, y)] = g[(x, y)] + g[(x, y + 1)];
        let pipeline = Pipeline::new([&f]).expect("it is an algorithm");
        let text = "g: store_root() compute_at(f, y) reorder(x, y) fold_storage(y, 2)
                    f: vectorize(x, 8) never_partition(y) set_estimate(x, 0, 100)";
        let schedule: Schedule = text.parse().expect("it is a schedule");
        let later = Instant::now() + Duration::from_secs(60);
        let shown = |end: Instant| pruned(&pipeline, &Target::host(), schedule.clone(), end).to_string();
        assert_eq!(shown(later), "g: store_root() compute_at(f, y)\nf: vectorize(x, 8) set_estimate(x, 0, 100)");
        assert_eq!(shown(Instant::now()), schedule.to_string());
    }
}
