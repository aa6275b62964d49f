//! Pairs and triples of directives on one stage, with tails and places.

use super::class::{Class, PLACES, place};
use crate::case::Case;
use halide::plan::{Level, Plan};
use halide::schedule::{Amount, LoopKind, Subject, Tail, Verb};
use halide_testing::schedules::aim::LoopWord;
use std::collections::BTreeMap;

const TRIPLES: &str = "triples of directives";
const TAILS: &str = "directives with tails before others";
const AT: &str = "pairs of directives by place";
const HOSTS: &str = "pairs of directives whose loops hold another Func";

/// The word of a directive of loops, and its tail where it splits.
fn word(verb: &Verb) -> Option<(LoopWord, Option<Tail>)> {
    Some(match verb {
        Verb::Split { factor: Amount::Const(1), tail, .. } => (LoopWord::SplitByOne, Some(*tail)),
        Verb::Split { tail, .. } => (LoopWord::Split, Some(*tail)),
        Verb::Fuse { .. } => (LoopWord::Fuse, None),
        Verb::Reorder(_) => (LoopWord::Reorder, None),
        Verb::Mark { kind, factor, tail, .. } => {
            let word = match kind {
                LoopKind::Vectorized => LoopWord::Vectorize,
                LoopKind::Unrolled => LoopWord::Unroll,
                LoopKind::Parallel => LoopWord::Parallel,
                _ => return None,
            };
            (word, factor.as_ref().map(|_| *tail))
        }
        _ => return None,
    })
}

/// The directives of loops of each stage, in order.
pub(super) fn words_by_stage(case: &Case) -> BTreeMap<&Subject, Vec<(LoopWord, Option<Tail>)>> {
    let mut stages: BTreeMap<&Subject, Vec<(LoopWord, Option<Tail>)>> = BTreeMap::new();
    for directive in case.schedule.directives() {
        stages.entry(&directive.subject).or_default().extend(word(&directive.verb));
    }
    stages
}

/// Returns true if a directive may have a tail. What blends reads what another iteration may write at the same time.
pub(super) fn may_have(word: LoopWord, tail: Tail) -> bool {
    match word {
        LoopWord::Fuse | LoopWord::Reorder => false,
        LoopWord::Parallel => !matches!(tail, Tail::ShiftInwardsAndBlend | Tail::RoundUpAndBlend),
        // Of balanced chunks, only those of a constant extent have a constant size.
        LoopWord::Vectorize | LoopWord::Unroll => tail != Tail::Balanced,
        _ => true,
    }
}

pub(super) fn classes(case: &Case, plan: &Plan, found: &mut Vec<Class>) {
    for (subject, words) in words_by_stage(case) {
        let Some((id, _)) = plan.pipeline.funcs.enumerate().find(|(_, f)| f.name == subject.func) else { continue };
        let func = &plan.funcs[id];
        let holds = plan.funcs.iter().any(
            |other| matches!(&other.compute, Level::At { func, stage, .. } if (*func, *stage) == (id, subject.stage)),
        );
        for pair in words.windows(2) {
            let [(a, tail), (b, _)] = pair else { continue };
            found.push((AT, format!("{a:?} {b:?}, {}", place(plan, func))));
            found.extend(tail.map(|tail| (TAILS, format!("{a:?} {tail:?} {b:?}"))));
            if holds {
                found.push((HOSTS, format!("{a:?} {b:?}")));
            }
        }
        for triple in words.windows(3) {
            let [(a, _), (b, _), (c, _)] = triple else { continue };
            found.push((TRIPLES, format!("{a:?} {b:?} {c:?}")));
        }
    }
}

pub(super) fn listed(all: &mut Vec<Class>) {
    for a in LoopWord::ALL {
        for b in LoopWord::ALL {
            all.push((HOSTS, format!("{a:?} {b:?}")));
            all.extend(PLACES[1..].iter().map(|place| (AT, format!("{a:?} {b:?}, {place}"))));
            all.extend(LoopWord::ALL.map(|c| (TRIPLES, format!("{a:?} {b:?} {c:?}"))));
            let legal = Tail::ALL.into_iter().filter(|tail| may_have(a, *tail));
            all.extend(legal.map(|tail| (TAILS, format!("{a:?} {tail:?} {b:?}"))));
        }
    }
}
