//! Products of what other tables count alone: pairs of directives of which the first has a tail, by the place of their
//! Func and the kinds of coordinates that the stage reads.

use super::class::{Class, PLACES, place};
use super::coordinates::{PARTS, parts_read};
use super::loops::{may_have, words_by_stage};
use crate::case::Case;
use halide::plan::Plan;
use halide::schedule::Tail;
use halide_testing::schedules::aim::LoopWord;

pub(super) const BY_PLACE: &str = "pairs with tails by place";
pub(super) const BY_READ: &str = "pairs with tails by kind of read";
pub(super) const TAILS: &str = "tails by place and kind of read";
pub(super) const ALL: &str = "pairs with tails by place and kind of read";

pub(super) fn classes(case: &Case, plan: &Plan, found: &mut Vec<Class>) {
    for (subject, words) in words_by_stage(case) {
        let Some((id, func)) = plan.pipeline.funcs.enumerate().find(|(_, f)| f.name == subject.func) else { continue };
        let Some(stage) = func.stages.get(subject.stage) else { continue };
        let (place, parts) = (place(plan, &plan.funcs[id]), parts_read(&plan.pipeline, stage));
        for tail in words.iter().filter_map(|(_, tail)| *tail) {
            found.extend(parts.iter().map(|part| (TAILS, format!("{tail:?}, {place}, {part}"))));
        }
        for pair in words.windows(2) {
            let [(a, Some(tail)), (b, _)] = pair else { continue };
            let pair = format!("{a:?} {tail:?} {b:?}");
            found.push((BY_PLACE, format!("{pair}, {place}")));
            found.extend(parts.iter().map(|part| (BY_READ, format!("{pair}, {part}"))));
            found.extend(parts.iter().map(|part| (ALL, format!("{pair}, {place}, {part}"))));
        }
    }
}

pub(super) fn listed() -> Vec<Class> {
    let mut all = Vec::new();
    let places = &PLACES[1..];
    for tail in Tail::ALL {
        all.extend(places.iter().flat_map(|place| PARTS.map(|part| (TAILS, format!("{tail:?}, {place}, {part}")))));
        for a in LoopWord::ALL.into_iter().filter(|a| may_have(*a, tail)) {
            for pair in LoopWord::ALL.map(|b| format!("{a:?} {tail:?} {b:?}")) {
                all.extend(PARTS.map(|part| (BY_READ, format!("{pair}, {part}"))));
                for place in places {
                    all.push((BY_PLACE, format!("{pair}, {place}")));
                    all.extend(PARTS.map(|part| (ALL, format!("{pair}, {place}, {part}"))));
                }
            }
        }
    }
    all
}
