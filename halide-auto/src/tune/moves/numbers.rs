//! Steps of numbers.

use crate::tune::edit::Draft;
use crate::tune::ladder::{FACTORS, FOLDS, OFFSETS, UNROLLED, lanes, step};
use crate::tune::random::Random;
use crate::tune::scene::Scene;
use halide_sched::schedule::{Amount, Directive, LoopKind, Subject, Verb};

/// One number of a directive goes a step along its ladder.
pub(super) fn number(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let slots: Vec<usize> = (0..draft.0.len()).filter(|i| has_number(&draft.0[*i].verb)).collect();
    let at = *random.pick(&slots)?;
    let lane_loops = vectorized(&draft.0, &draft.0[at].subject);
    let subject = draft.0[at].subject.clone();
    let natural = scene.stages_of(&subject.func).find(|s| s.subject.stage == subject.stage).map_or(8, |s| s.lanes);
    match &mut draft.0[at].verb {
        Verb::Split { inner, factor, .. } if lane_loops.contains(inner) => *factor = lanes(factor, natural, random)?,
        Verb::Mark { kind: LoopKind::Vectorized, factor: Some(factor), .. } => {
            *factor = lanes(factor, natural, random)?;
        }
        Verb::Mark { kind: LoopKind::Unrolled, factor: Some(Amount::Const(n)), .. } => {
            *n = step(*n, &UNROLLED, random)?
        }
        Verb::Split { factor, .. } | Verb::Mark { factor: Some(factor), .. } => {
            let value = if let Amount::Const(n) = factor { *n } else { natural };
            *factor = Amount::Const(step(value, &FACTORS, random)?);
        }
        Verb::FoldStorage { factor, .. } => *factor = step(*factor, &FOLDS, random)?,
        Verb::Prefetch { offset, .. } => *offset = step(*offset, &OFFSETS, random)?,
        _ => return None,
    }
    Some(())
}

fn has_number(verb: &Verb) -> bool {
    match verb {
        Verb::Split { factor, .. } => !matches!(factor, Amount::Param(_)),
        Verb::Mark { factor, .. } => factor.as_ref().is_some_and(|f| !matches!(f, Amount::Param(_))),
        Verb::FoldStorage { .. } | Verb::Prefetch { .. } => true,
        _ => false,
    }
}

/// The loops of a stage that are vectors as a whole.
fn vectorized(directives: &[Directive], subject: &Subject) -> Vec<String> {
    let whole = |d: &Directive| match &d.verb {
        Verb::Mark { kind: LoopKind::Vectorized, var, factor: None, .. } if d.subject == *subject => Some(var.clone()),
        _ => None,
    };
    directives.iter().filter_map(whole).collect()
}
