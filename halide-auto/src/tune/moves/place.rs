//! Places at which Funcs are computed and kept.

use crate::tune::edit::{Draft, mark_part, site};
use crate::tune::random::Random;
use crate::tune::scene::{FuncView, LoopView, Place, Scene, StageView};
use halide_sched::schedule::{Amount, LoopKind, Subject, Verb};

/// The share of places that are one level in or out, in percent.
const NEIGHBOURS: usize = 40;

/// The share of Funcs that are kept further out than they are computed, so that they slide, in percent.
const SLIDING: usize = 40;

/// A Func is computed elsewhere.
pub(super) fn place(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let func = random.pick(&scene.movable)?;
    let to = match &func.at {
        Place::In(host, stage, var) if random.percent(NEIGHBOURS) => neighbour(scene, host, *stage, var, random)?,
        _ => anywhere(scene, func, random)?,
    };
    if to == func.at {
        return None;
    }
    draft.remove_place(&func.name);
    match &to {
        Place::Inline => {
            // Loops of a Func that is nowhere computed would be a mistake.
            draft.0.retain(|d| d.subject.func != func.name || d.verb.scope() == halide_sched::schedule::Scope::Graph);
            return Some(());
        }
        Place::Root => draft.add_first(&func.name, [Verb::ComputeRoot]),
        Place::In(host, stage, var) => {
            let host = Subject { stage: *stage, ..Subject::func(host.as_str()) };
            let mut verbs = vec![Verb::ComputeAt(site(&host, var))];
            if random.percent(SLIDING)
                && let Some(further) = further_out(scene, &host, var, random)
            {
                verbs.insert(0, further.map_or(Verb::StoreRoot, |var| Verb::StoreAt(site(&host, &var))));
            }
            draft.add_first(&func.name, verbs);
        }
    }
    if func.at == Place::Inline
        && let Some(first) = func.dims.first()
    {
        let verb = mark_part(LoopKind::Vectorized, first, Amount::Natural);
        draft.add(&Subject::func(func.name.as_str()), verb);
    }
    Some(())
}

/// A Func that is computed in a loop is kept at another level.
pub(super) fn store(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let placed = |f: &&FuncView| matches!(f.at, Place::In(..));
    let funcs: Vec<&FuncView> = scene.movable.iter().filter(placed).collect();
    let func = random.pick(&funcs)?;
    let Place::In(host, stage, var) = &func.at else { return None };
    let host = Subject { stage: *stage, ..Subject::func(host.as_str()) };
    draft.remove_store(&func.name);
    if random.percent(75)
        && let Some(further) = further_out(scene, &host, var, random)
    {
        let verb = further.map_or(Verb::StoreRoot, |var| Verb::StoreAt(site(&host, &var)));
        draft.add_first(&func.name, [verb]);
    }
    Some(())
}

/// The loops of a stage in which something may be computed, outermost first.
fn sites(stage: &StageView) -> Vec<&LoopView> {
    stage.open_loops().into_iter().filter(|l| l.kind != LoopKind::Unrolled).collect()
}

fn stage_of<'s>(scene: &'s Scene, func: &'s str, stage: usize) -> Option<&'s StageView> {
    scene.stages_of(func).find(|view| view.subject.stage == stage)
}

/// The loop one level further in or out; the root in front of the outermost.
fn neighbour(scene: &Scene, host: &str, stage: usize, var: &str, random: &mut Random) -> Option<Place> {
    let loops = sites(stage_of(scene, host, stage)?);
    let at = loops.iter().position(|l| l.name == var)?;
    let to = if random.percent(50) { at.checked_sub(1) } else { Some(at + 1) };
    Some(match to {
        Some(to) => Place::In(host.to_string(), stage, loops.get(to)?.name.clone()),
        None => Place::Root,
    })
}

/// Some loop of a consumer, the root, or where it is used.
fn anywhere(scene: &Scene, func: &FuncView, random: &mut Random) -> Option<Place> {
    if func.is_pure && random.percent(20) {
        return Some(Place::Inline);
    }
    if random.percent(20) || func.hosts.is_empty() {
        return Some(Place::Root);
    }
    // Nearer consumers are likelier.
    let weights: Vec<f64> = (0..func.hosts.len()).map(|i| 1.0 / (1.0 + i as f64)).collect();
    let host = &func.hosts[random.weighted(&weights)?];
    let stages: Vec<&StageView> = scene.stages_of(host).collect();
    let stage = random.pick(&stages)?;
    let loops = sites(stage);
    let to = random.pick(&loops)?;
    Some(Place::In(host.clone(), stage.subject.stage, to.name.clone()))
}

/// A loop of the host around `var`, or `None` in it for the root.
fn further_out(scene: &Scene, host: &Subject, var: &str, random: &mut Random) -> Option<Option<String>> {
    let loops = sites(stage_of(scene, &host.func, host.stage)?);
    let at = loops.iter().position(|l| l.name == var)?;
    match random.below(at + 1) {
        0 => Some(None),
        n => Some(Some(loops[n - 1].name.clone())),
    }
}
