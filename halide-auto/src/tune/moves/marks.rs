//! Loops that are unrolled, parallel or vectors.

use crate::tune::edit::{Draft, mark, mark_part};
use crate::tune::ladder::{FACTORS, UNROLLED};
use crate::tune::random::Random;
use crate::tune::scene::Scene;
use halide_sched::schedule::{Amount, LoopKind};

/// A loop is unrolled, as a whole or by a factor, or no longer so.
pub(super) fn unroll(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let stage = random.pick(&scene.stages)?;
    let loops = stage.open_loops();
    let chosen = random.pick(&loops)?;
    if draft.unmark(&stage.subject, LoopKind::Unrolled, Some(&chosen.name)) > 0 {
        return Some(());
    }
    let verb = match random.percent(40) {
        true => mark(LoopKind::Unrolled, &chosen.name),
        false => mark_part(LoopKind::Unrolled, &chosen.name, Amount::Const(*random.pick(&UNROLLED[..5])?)),
    };
    draft.add(&stage.subject, verb);
    Some(())
}

/// An outer loop is parallel, as it is or in chunks, or no longer so.
pub(super) fn parallel(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let stage = random.pick(&scene.stages)?;
    let loops = stage.open_loops();
    let chosen = random.pick(&loops[..loops.len().min(2)])?;
    let had = draft.unmark(&stage.subject, LoopKind::Parallel, None);
    if had > 0 && random.percent(50) {
        return Some(());
    }
    if had == 0 && scene.threads < 2 {
        return None;
    }
    let verb = match random.percent(50) {
        true => mark(LoopKind::Parallel, &chosen.name),
        false => mark_part(LoopKind::Parallel, &chosen.name, Amount::Const(*random.pick(&FACTORS[..18])?)),
    };
    draft.add(&stage.subject, verb);
    Some(())
}

/// Another loop becomes vectors, mostly that over the dimension of the smallest stride.
pub(super) fn vectorize(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let stage = random.pick(&scene.stages)?;
    let loops = stage.open_loops();
    let dense = loops.iter().rfind(|l| stage.dims.first() == Some(&l.name));
    let chosen = match dense {
        Some(dense) if random.percent(50) => dense,
        _ => random.pick(&loops)?,
    };
    let had = draft.unmark(&stage.subject, LoopKind::Vectorized, None);
    if had > 0 && random.percent(20) {
        return Some(());
    }
    let twice = Amount::Const(stage.lanes * 2);
    let verb = match random.below(4) {
        0 if chosen.kind == LoopKind::Serial => mark(LoopKind::Vectorized, &chosen.name),
        1 => mark_part(LoopKind::Vectorized, &chosen.name, twice),
        _ => mark_part(LoopKind::Vectorized, &chosen.name, Amount::Natural),
    };
    draft.add(&stage.subject, verb);
    Some(())
}
