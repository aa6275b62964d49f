//! Patterns of loops that schedules have often. The paper's autotuner has such templates, too: steps that are many of
//! others, of which none by itself is a gain.

use crate::tune::edit::{Draft, mark, mark_part, site};
use crate::tune::random::Random;
use crate::tune::scene::{FuncView, Place, Scene, StageView};
use halide_sched::schedule::{Amount, LoopKind, Memory, Partition, PrefetchBound, Subject, Tail, Verb};

/// The lines of register tiles.
const LINES: [i64; 6] = [2, 3, 4, 6, 8, 12];

/// The lines of strips.
const STRIPS: [i64; 6] = [8, 16, 24, 32, 64, 128];

/// The lines that stencils read beyond a tile: of three lines and of five mostly.
const HALO: [i64; 8] = [0, 1, 2, 2, 2, 3, 4, 4];

/// A stage and its producers get loops of a pattern.
pub(super) fn template(draft: &mut Draft, scene: &Scene, random: &mut Random) -> Option<()> {
    let is_guest = |func: &str| scene.movable.iter().any(|f| f.name == func && matches!(f.at, Place::In(..)));
    let is_first = |s: &&StageView| s.subject.stage == 0 && s.dims.len() > 1 && !is_guest(&s.subject.func);
    let all: Vec<&StageView> = scene.stages.iter().filter(is_first).collect();
    let outputs: Vec<&StageView> = all.iter().copied().filter(|s| s.is_output).collect();
    let hosts = if random.percent(60) && !outputs.is_empty() { &outputs } else { &all };
    let host = *random.pick(hosts)?;
    let func = &host.subject.func;
    let is_inside = |f: &FuncView| matches!(&f.at, Place::In(of, ..) if of == func);
    // What is placed in loops that there are no more must go elsewhere, and what else it reads may come along.
    let guests = scene
        .movable
        .iter()
        .filter(|f| is_inside(f) || (f.hosts.first() == Some(func) && f.at != Place::Inline && random.percent(50)));
    let guests: Vec<&FuncView> = guests.collect();
    draft.remove_loops(&host.subject);
    for guest in &guests {
        draft.remove_place(&guest.name);
        draft
            .0
            .retain(|d| d.subject.func != guest.name || !matches!(d.verb, Verb::StoreIn(_) | Verb::FoldStorage { .. }));
        scene.stages_of(&guest.name).for_each(|stage| draft.remove_loops(&stage.subject));
    }
    match random.below(4) {
        0 | 1 => tile(draft, scene, (host, &guests), random),
        2 => strips(draft, scene, (host, &guests), random),
        _ => plain(draft, scene, (host, &guests)),
    }
}

/// Splits a loop of the host in two, whose names it returns, outer one first.
fn split(draft: &mut Draft, host: &Subject, var: &str, factor: Amount) -> (String, String) {
    let (outer, inner) = (format!("{var}o"), format!("{var}i"));
    let (var, tail) = (var.to_string(), Tail::Auto);
    draft.add(host, Verb::Split { var, outer: outer.clone(), inner: inner.clone(), factor, tail });
    (outer, inner)
}

fn vectorize(draft: &mut Draft, subject: &Subject, var: &str) {
    draft.add(subject, mark_part(LoopKind::Vectorized, var, Amount::Natural));
}

/// Tiles of a vector or two by some lines, whose values stay in registers.
fn tile(
    draft: &mut Draft,
    scene: &Scene,
    (host, guests): (&StageView, &[&FuncView]),
    random: &mut Random,
) -> Option<()> {
    let of = &host.subject;
    let (x, y) = (&host.dims[0], &host.dims[1]);
    let lines = *random.pick(&LINES)?;
    let is_wide = random.percent(40);
    let width = if is_wide { Amount::Const(host.lanes * 2) } else { Amount::Natural };
    let (xo, xi) = split(draft, of, x, width);
    let (yo, yi) = split(draft, of, y, Amount::Const(lines));
    let inner = [xi.clone(), yi.clone()];
    let outer = if random.percent(70) { [xo.clone(), yo.clone()] } else { [yo.clone(), xo.clone()] };
    let others = host.dims[2..].iter().cloned();
    let all = inner.into_iter().chain(others).chain(outer.clone());
    draft.add(of, Verb::Reorder(all.collect()));
    if is_wide {
        vectorize(draft, of, &xi);
        draft.add(of, mark(LoopKind::Unrolled, &xi));
    } else {
        draft.add(of, mark(LoopKind::Vectorized, &xi));
    }
    draft.add(of, mark(LoopKind::Unrolled, &yi));
    if scene.threads > 1 {
        draft.add(of, mark(LoopKind::Parallel, &outer[1]));
    }
    if random.percent(30) {
        draft.add(of, Verb::Partition { how: Partition::Never, var: outer[0].clone() });
    }
    if random.percent(30)
        && let Some(what) = random.pick(&scene.images)
    {
        let [at, from] = outer.clone();
        draft.add(of, Verb::Prefetch { what: what.clone(), at, from, offset: 1, bound: PrefetchBound::NonFaulting });
    }
    let in_registers = random.percent(40);
    for guest in guests {
        if in_registers && guest.is_pure {
            draft.add_first(&guest.name, [Verb::StoreIn(Memory::Register)]);
        }
        draft.add_first(&guest.name, [Verb::ComputeAt(site(of, &outer[0]))]);
        for stage in scene.stages_of(&guest.name) {
            in_tile(draft, stage, guest.is_pure.then_some(lines + *random.pick(&HALO)?));
        }
    }
    Some(())
}

/// Loops of a stage in a register tile: vectors, and all of them unrolled, or so many lines where their number may
/// differ from tile to tile. Reductions go around all others.
fn in_tile(draft: &mut Draft, stage: &StageView, lines: Option<i64>) {
    let of = &stage.subject;
    let pure: Vec<&String> = stage.roots.iter().filter(|(_, reduces)| !reduces).map(|(name, _)| name).collect();
    let reductions: Vec<String> = stage.roots.iter().filter(|(_, reduces)| *reduces).map(|(n, _)| n.clone()).collect();
    if !reductions.is_empty() && !pure.is_empty() {
        draft.add(of, Verb::Reorder(pure.iter().map(|name| (*name).clone()).chain(reductions).collect()));
    }
    let Some(first) = pure.first() else { return };
    vectorize(draft, of, first);
    match (lines, pure.get(1)) {
        (Some(lines), Some(second)) => draft.add(of, mark_part(LoopKind::Unrolled, second, Amount::Const(lines))),
        (Some(_), None) => {}
        (None, _) => pure.iter().take(2).for_each(|name| draft.add(of, mark(LoopKind::Unrolled, name))),
    }
}

/// Strips of lines, along which producers slide.
fn strips(
    draft: &mut Draft,
    scene: &Scene,
    (host, guests): (&StageView, &[&FuncView]),
    random: &mut Random,
) -> Option<()> {
    let of = &host.subject;
    let (yo, yi) = split(draft, of, &host.dims[1], Amount::Const(*random.pick(&STRIPS)?));
    if host.dims.len() > 2 {
        let others = host.dims[2..].iter().cloned();
        let all = std::iter::once(host.dims[0].clone()).chain(others).chain([yi.clone(), yo.clone()]);
        draft.add(of, Verb::Reorder(all.collect()));
    }
    vectorize(draft, of, &host.dims[0]);
    if scene.threads > 1 {
        draft.add(of, mark(LoopKind::Parallel, &yo));
    }
    for guest in guests {
        draft.add_first(&guest.name, [Verb::StoreAt(site(of, &yo)), Verb::ComputeAt(site(of, &yi))]);
        vectors(draft, scene, guest);
    }
    Some(())
}

/// Lines of vectors, with producers outside.
fn plain(draft: &mut Draft, scene: &Scene, (host, guests): (&StageView, &[&FuncView])) -> Option<()> {
    vectorize(draft, &host.subject, &host.dims[0]);
    if scene.threads > 1 {
        draft.add(&host.subject, mark(LoopKind::Parallel, &host.dims[1]));
    }
    for guest in guests {
        draft.add_first(&guest.name, [Verb::ComputeRoot]);
        vectors(draft, scene, guest);
    }
    Some(())
}

/// Vectors in all stages of a Func.
fn vectors(draft: &mut Draft, scene: &Scene, guest: &FuncView) {
    for stage in scene.stages_of(&guest.name) {
        if let Some((first, _)) = stage.roots.iter().find(|(_, reduces)| !reduces) {
            vectorize(draft, &stage.subject, first);
        }
    }
}
