//! Loops that change places, are split, and are joined again.

use crate::tune::edit::{Draft, mark};
use crate::tune::ladder::FACTORS;
use crate::tune::random::Random;
use crate::tune::scene::{Scene, StageView};
use halide_sched::schedule::{Amount, Directive, LoopKind, Subject, Tail, Verb};

/// Two loops of a stage change places.
pub(super) fn order(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let stage = random.pick(&scene.stages)?;
    let mut names: Vec<String> = stage.open_loops().into_iter().map(|l| l.name.clone()).collect();
    if names.len() < 2 {
        return None;
    }
    let first = random.below(names.len() - 1);
    let second = if random.percent(75) { first + 1 } else { first + 1 + random.below(names.len() - first - 1) };
    names.swap(first, second);
    names.reverse();
    draft.order(&stage.subject, names);
    Some(())
}

/// A loop becomes two: chunks, and what is in a chunk. What is placed in it goes into one of them.
pub(super) fn split(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let stage = random.pick(&scene.stages)?;
    let loops = stage.open_loops();
    let old = random.pick(&loops)?;
    let (outer, inner) = (stage.new_name(&format!("{}o", old.name)), stage.new_name(&format!("{}i", old.name)));
    let chunk = chunks(draft, &stage.subject, &old.name);
    let factor = match chunk {
        Some(Some(factor)) => factor,
        _ => Amount::Const(*random.pick(&FACTORS[..16])?),
    };
    if old.kind != LoopKind::Serial {
        draft.unmark(&stage.subject, old.kind, Some(&old.name));
    }
    let verb =
        Verb::Split { var: old.name.clone(), outer: outer.clone(), inner: inner.clone(), factor, tail: Tail::Auto };
    draft.add(&stage.subject, verb);
    if old.kind == LoopKind::Parallel {
        draft.add(&stage.subject, mark(LoopKind::Parallel, &outer));
    }
    draft.move_sites(&stage.subject, &old.name, if random.percent(75) { &inner } else { &outer });
    // A tile: the loop over chunks goes outside of all others.
    if random.percent(50) && loops.len() > 1 {
        let others = loops.iter().rev().filter(|l| l.name != old.name).map(|l| l.name.clone());
        let names = match random.percent(50) {
            true => others.chain([outer]).collect(),
            false => std::iter::once(inner).chain(others).chain([outer]).collect(),
        };
        draft.order(&stage.subject, names);
    }
    Some(())
}

/// The chunks of a parallel loop: `None` if it is not parallel.
fn chunks(draft: &Draft, subject: &Subject, name: &str) -> Option<Option<Amount>> {
    draft.0.iter().rev().find_map(|d| match &d.verb {
        Verb::Mark { kind: LoopKind::Parallel, var, factor, .. } if d.subject == *subject && var == name => {
            Some(factor.clone())
        }
        _ => None,
    })
}

/// A split is taken back. What spoke of the loop over chunks speaks of the whole loop.
pub(super) fn join(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let is_known = |d: &Directive| scene.stages.iter().any(|s: &StageView| s.subject == d.subject);
    let splits = draft.0.iter().enumerate().filter(|(_, d)| matches!(d.verb, Verb::Split { .. }) && is_known(d));
    let splits: Vec<usize> = splits.map(|(i, _)| i).collect();
    let at = *random.pick(&splits)?;
    let Directive { subject, verb: Verb::Split { var, outer, inner, .. }, .. } = draft.0.remove(at) else {
        return None;
    };
    draft.remove(&subject, |verb| match verb {
        Verb::Mark { var, .. } | Verb::Partition { var, .. } => *var == inner,
        _ => false,
    });
    let rename = |name: &mut String| {
        if *name == outer {
            name.clone_from(&var);
        }
    };
    for directive in draft.0.iter_mut().filter(|d| d.subject == subject) {
        match &mut directive.verb {
            Verb::Reorder(names) => {
                names.retain(|name| *name != inner);
                names.iter_mut().for_each(rename);
            }
            Verb::Mark { var: name, .. } | Verb::Partition { var: name, .. } | Verb::Split { var: name, .. } => {
                rename(name);
            }
            Verb::Prefetch { at, from, .. } => [at, from].into_iter().for_each(rename),
            _ => {}
        }
    }
    draft.remove(&subject, |verb| matches!(verb, Verb::Reorder(names) if names.len() < 2));
    draft.move_sites(&subject, &outer, &var);
    draft.move_sites(&subject, &inner, &var);
    Some(())
}
