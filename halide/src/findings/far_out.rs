//! The rule about values that are stored for longer than needed.

use super::edits::Edits;
use super::finding::Finding;
use super::place::{Place, cache_bytes, inner_places, name, reader, work_of};
use super::rule::Rule;
use super::scene::Definition;
use halide_core::ids::FuncId;
use halide_sched::nest::{Item, Nest};
use halide_sched::plan::Level;
use std::collections::BTreeSet;

/// The points and the work that another place may add, as a factor.
const MOST_MORE: f64 = 1.25;

/// The Funcs outside of all loops that are tried in a loop, those with most bytes: each try is a lowering.
const MOST_ROOTS: usize = 12;

/// Finds Funcs outside of all loops that leave the caches, those with most bytes first.
pub(super) fn find(edits: &Edits<'_>) -> Vec<Finding> {
    let plan = edits.scene.plan;
    let bytes = |func: FuncId| {
        let of = edits.scene.stores.iter().filter(|store| store.func == func);
        of.map(|store| store.bytes).fold(0.0, f64::max)
    };
    let is_root = |func: &&FuncId| plan.funcs[**func].compute == Level::Root && !plan.pipeline.outputs.contains(func);
    let mut roots: Vec<FuncId> = plan.pipeline.order.iter().filter(is_root).copied().collect();
    roots.sort_by(|a, b| bytes(*b).total_cmp(&bytes(*a)));
    roots.into_iter().take(MOST_ROOTS).filter_map(|func| far_out(edits, func)).collect()
}

/// A Func outside of all loops whose values leave the caches before they are read, and which could be computed in a
/// loop of the one Func that reads it.
fn far_out(edits: &Edits<'_>, func: FuncId) -> Option<Finding> {
    let (scene, name) = (edits.scene, name(edits, func));
    let stored = scene.stores.iter().filter(|store| store.func == func);
    let bytes = stored.map(|store| store.bytes).fold(0.0, f64::max);
    let cache = cache_bytes(edits);
    if bytes <= cache * Rule::StoredFarOut.threshold() {
        return None;
    }
    let host = reader(edits, func)?;
    let is_ours = |d: &&Definition| d.of.0 == func || d.of == host.of;
    let places = inner_places(edits, func, host);
    let now = work_of(&scene.nest);
    let mut found = None;
    for Place { steps, words } in places {
        let Some((edit, nest)) = edits.costed(steps) else { continue };
        let (still, points) = (nest_bytes(&nest, name), nest.points(name));
        if work_of(&nest) <= now * MOST_MORE && points <= scene.nest.points(name) * MOST_MORE && still <= cache {
            found = Some((edit, words, still));
            break;
        }
    }
    let (edit, words, still) = found?;
    let text = format!(
        "`{name}` is stored whole, {:.1} MiB, and has left the caches when `{}` reads it; {words}: {:.1} KiB at a time",
        bytes / f64::from(1 << 20),
        host.name,
        still / 1024.0
    );
    Some(Finding {
        rule: Rule::StoredFarOut,
        func: Some(name.to_string()),
        at_loop: None,
        value: bytes / cache,
        threshold: Rule::StoredFarOut.threshold(),
        work: scene.part(scene.definitions.iter().filter(is_ours)),
        share: None,
        funcs: BTreeSet::from([name.to_string(), host.func.clone()]),
        text,
        edit: Some(edit),
    })
}

/// Bytes of the largest allocation of a Func.
fn nest_bytes(nest: &Nest, name: &str) -> f64 {
    let mut most: f64 = 0.0;
    nest.for_each(&mut |item| match item {
        Item::Store(store) if store.name == name => most = most.max(store.bytes),
        _ => {}
    });
    most
}
