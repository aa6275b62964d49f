//! Products of what other tables count alone: pairs of directives of which the first has a tail, by the place of their
//! Func and the kinds of coordinates that the stage reads.

use super::class::{Class, PLACES, place};
use super::coordinates::{PARTS, parts_read};
use super::loops::{may_have, words_by_stage};
use crate::case::Case;
use halide::plan::Plan;
use halide::schedule::Tail;
use halide_testing::schedules::aim::LoopWord;
use std::fmt;

const BY_PLACE: &str = "pairs with tails by place";
const BY_READ: &str = "pairs with tails by kind of read";
const TAILS: &str = "tails by place and kind of read";
const ALL: &str = "pairs with tails by place and kind of read";

/// A class of the largest product: two directives on one stage, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Product {
    /// The first directive.
    pub first: LoopWord,
    /// Its tail.
    pub tail: Tail,
    /// The second directive.
    pub second: LoopWord,
    /// The place of the stage's Func.
    pub place: &'static str,
    /// An operand of the coordinates that the stage reads.
    pub part: &'static str,
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Product { first, tail, second, place, part } = self;
        write!(f, "{first:?} {tail:?} {second:?}, {place}, {part}")
    }
}

impl Product {
    /// Every class, in a fixed order.
    pub(crate) fn all() -> Vec<Product> {
        let mut all = Vec::new();
        for (tail, first, second) in pairs() {
            for &place in &PLACES[1..] {
                all.extend(PARTS.map(|part| Product { first, tail, second, place, part }));
            }
        }
        all
    }

    /// The class as tables count it.
    pub(super) fn class(&self) -> Class {
        (ALL, self.to_string())
    }
}

/// Pairs of directives of which the first splits. Parallel chunks may blend where a later directive fuses the loop over
/// chunks, so that it is no parallel one in the end.
fn pairs() -> Vec<(Tail, LoopWord, LoopWord)> {
    let mut all = Vec::new();
    for tail in Tail::ALL {
        let legal =
            |first: &LoopWord| may_have(*first, Tail::Auto) && (tail != Tail::Balanced || may_have(*first, tail));
        for first in LoopWord::ALL.into_iter().filter(legal) {
            all.extend(LoopWord::ALL.map(|second| (tail, first, second)));
        }
    }
    all
}

pub(super) fn classes(case: &Case, plan: &Plan, found: &mut Vec<Class>) {
    for (subject, words) in words_by_stage(case) {
        let Some((id, func)) = plan.pipeline.funcs.enumerate().find(|(_, f)| f.name == subject.func) else { continue };
        let Some(stage) = func.stages.get(subject.stage) else { continue };
        let (place, parts) = (place(plan, &plan.funcs[id]), parts_read(&plan.pipeline, stage));
        for tail in words.iter().filter_map(|(_, tail)| *tail) {
            found.extend(parts.iter().map(|part| (TAILS, format!("{tail:?}, {place}, {part}"))));
        }
        for pair in words.windows(2) {
            let [(first, Some(tail)), (second, _)] = *pair else { continue };
            let words = format!("{first:?} {tail:?} {second:?}");
            found.push((BY_PLACE, format!("{words}, {place}")));
            found.extend(parts.iter().map(|part| (BY_READ, format!("{words}, {part}"))));
            found.extend(parts.iter().map(|&part| Product { first, tail, second, place, part }.class()));
        }
    }
}

pub(super) fn listed() -> Vec<Class> {
    let mut all: Vec<Class> = Product::all().iter().map(Product::class).collect();
    for tail in Tail::ALL {
        let of_place = |place: &&str| PARTS.map(|part| (TAILS, format!("{tail:?}, {place}, {part}")));
        all.extend(PLACES[1..].iter().flat_map(of_place));
    }
    for (tail, first, second) in pairs() {
        let words = format!("{first:?} {tail:?} {second:?}");
        all.extend(PARTS.map(|part| (BY_READ, format!("{words}, {part}"))));
        all.extend(PLACES[1..].iter().map(|place| (BY_PLACE, format!("{words}, {place}"))));
    }
    all
}
