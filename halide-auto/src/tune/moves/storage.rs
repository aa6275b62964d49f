//! Storage: circles, orders of dimensions, kinds of memory.

use crate::tune::edit::Draft;
use crate::tune::ladder::FOLDS;
use crate::tune::random::Random;
use crate::tune::scene::{Place, Scene, StageView};
use halide_sched::schedule::{Memory, Subject, Verb};

/// The storage of a Func that is no output is folded, reordered, or put into another kind of memory, or no longer so.
pub(super) fn storage(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let is_stored = |s: &&StageView| s.subject.stage == 0 && !s.is_output;
    let stored: Vec<&StageView> = scene.stages.iter().filter(is_stored).collect();
    let stage = random.pick(&stored)?;
    let is_inside = scene.movable.iter().any(|f| f.name == stage.subject.func && matches!(f.at, Place::In(..)));
    match random.below(3) {
        0 => fold(draft, stage, random),
        1 => reorder(draft, stage, random),
        _ if is_inside => memory(draft, &stage.subject, random),
        _ => None,
    }
}

fn fold(draft: &mut Draft, stage: &StageView, random: &mut Random) -> Option<()> {
    let var = random.pick(&stage.dims)?;
    if draft.remove(&stage.subject, |verb| matches!(verb, Verb::FoldStorage { var: v, .. } if v == var)) == 0 {
        let factor = *random.pick(&FOLDS)?;
        draft.add_first(&stage.subject.func, [Verb::FoldStorage { var: var.clone(), factor, forward: true }]);
    }
    Some(())
}

fn reorder(draft: &mut Draft, stage: &StageView, random: &mut Random) -> Option<()> {
    let mut dims = stage.dims.clone();
    let first = random.below(dims.len().checked_sub(1).filter(|last| *last > 0)?);
    dims.swap(first, first + 1);
    draft.remove(&stage.subject, |verb| matches!(verb, Verb::ReorderStorage(_)));
    draft.add_first(&stage.subject.func, [Verb::ReorderStorage(dims)]);
    Some(())
}

fn memory(draft: &mut Draft, subject: &Subject, random: &mut Random) -> Option<()> {
    let had = draft.remove(subject, |verb| matches!(verb, Verb::StoreIn(_)));
    if had == 0 || random.percent(50) {
        let memory = *random.pick(&[Memory::Register, Memory::Stack, Memory::Heap])?;
        draft.add_first(&subject.func, [Verb::StoreIn(memory)]);
    }
    Some(())
}
