//! Hints: loop partitioning, prefetching, stores past caches, unrolling by the code generator.

use crate::tune::edit::Draft;
use crate::tune::ladder::OFFSETS;
use crate::tune::random::Random;
use crate::tune::scene::{Scene, StageView};
use halide_sched::schedule::{Partition, PrefetchBound, Verb};

/// A hint is given, or taken back where it is there.
pub(super) fn hint(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let stage = random.pick(&scene.stages)?;
    match random.below(4) {
        0 => partition(draft, stage, random),
        1 => prefetch(draft, scene, stage, random),
        2 => stores(draft, stage, random),
        _ => toggle(draft, stage, Verb::NeverUnroll),
    }
}

fn toggle(draft: &mut Draft, stage: &StageView, verb: Verb) -> Option<()> {
    if draft.remove(&stage.subject, |v| *v == verb) == 0 {
        draft.add(&stage.subject, verb);
    }
    Some(())
}

fn partition(draft: &mut Draft, stage: &StageView, random: &mut Random) -> Option<()> {
    let loops = stage.open_loops();
    let chosen = random.pick(&loops)?;
    toggle(draft, stage, Verb::Partition { how: Partition::Never, var: chosen.name.clone() })
}

/// Only images are asked for ahead: Funcs that are not there yet cannot be, and others are in caches.
fn prefetch(draft: &mut Draft, scene: &Scene, stage: &StageView, random: &mut Random) -> Option<()> {
    if draft.remove(&stage.subject, |verb| matches!(verb, Verb::Prefetch { .. })) > 0 {
        return Some(());
    }
    let what = random.pick(&scene.images)?.clone();
    let loops = stage.open_loops();
    let from = random.below(loops.len());
    let at = from + random.below(loops.len().checked_sub(from)?);
    let (at, from) = (loops.get(at)?.name.clone(), loops.get(from)?.name.clone());
    let offset = *random.pick(&OFFSETS[..3])?;
    draft.add(&stage.subject, Verb::Prefetch { what, at, from, offset, bound: PrefetchBound::NonFaulting });
    Some(())
}

fn stores(draft: &mut Draft, stage: &StageView, random: &mut Random) -> Option<()> {
    if draft.remove(&stage.subject, |verb| matches!(verb, Verb::StreamStores | Verb::CacheStores)) == 0 {
        draft.add(&stage.subject, if random.percent(50) { Verb::StreamStores } else { Verb::CacheStores });
    }
    Some(())
}
