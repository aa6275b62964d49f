//! A run over classes: what was served, what was refused and why, and what failed.

use super::refused::kind;
use super::serve::{Answer, class, count, serve};
use crate::coverage::{Coverage, Product};
use crate::runs::{self, Seeds, number};
use crate::watch::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Results by class.
#[derive(Default)]
struct Tally {
    served: u64,
    /// The number of cases that were refused before, by reason.
    refused: BTreeMap<String, u64>,
    /// The number of classes of each kind that cannot be served.
    illegal: BTreeMap<&'static str, u64>,
    /// Classes that were not served and are of no such kind, with the reasons.
    never: Vec<(Product, BTreeSet<String>)>,
    /// Classes that were served and are of such a kind.
    misjudged: Vec<Product>,
    /// Failures by kind: how many, and the first number.
    failures: BTreeMap<String, (u64, u64)>,
}

/// Serves so many classes at equal distances, or those of the numbers that the environment asks for.
///
/// # Panics
/// When a case fails, or a class is served or not against the table of kinds that cannot be.
pub fn run(default: u64) {
    let (Seeds { first, count, long }, classes) = (Seeds::of_run(default), count());
    let (count, step) = match long {
        true => (count, number("HALIDE_FUZZ_STEP").unwrap_or(1).max(1)),
        false => (classes, classes / default),
    };
    let (watch, mut coverage, begun) = (Watch::of_run(), Coverage::default(), Instant::now());
    let (mut tally, mut reports) = (Tally::default(), String::new());
    for (done, number) in (1u64..).zip((first..first + count).step_by(step as usize)) {
        watch.begin(number);
        let answer = serve(number, &mut coverage);
        watch.end();
        if let Err((case, failure)) = &answer {
            println!("{number}, after {:?}: {}, {}", begun.elapsed(), failure.kind, class(number));
            if !tally.failures.contains_key(&failure.kind) {
                let text = runs::report(number, case.as_deref().cloned(), failure);
                println!("{text}");
                reports += &text;
            }
        }
        tally.add(number, answer.map_err(|(_, failure)| failure.kind));
        if long && done.is_multiple_of(500) {
            println!("{done} classes after {:?}: {}", begun.elapsed(), tally.text());
        }
    }
    println!("classes after {:?}: {}", begun.elapsed(), tally.text());
    if long {
        println!("{}", coverage.products(5));
    }
    assert!(tally.failures.is_empty(), "failures by kind (how many, first number): {:?}\n{reports}", tally.failures);
    let Tally { never, misjudged, .. } = tally;
    assert!(never.is_empty(), "{} classes are not served: {never:?}", never.len());
    assert!(misjudged.is_empty(), "served, though the table says that they cannot be: {misjudged:?}");
}

impl Tally {
    fn add(&mut self, number: u64, answer: Result<Answer, String>) {
        let class = class(number);
        let Answer { refused, is_served } = match answer {
            Ok(answer) => answer,
            Err(kind) => return self.failures.entry(kind).or_insert((0, number)).0 += 1,
        };
        match (kind(&class), is_served) {
            (None, true) => self.served += 1,
            (None, false) => self.never.push((class, refused.keys().cloned().collect())),
            (Some(why), false) => *self.illegal.entry(why).or_default() += 1,
            (Some(_), true) => self.misjudged.push(class),
        }
        for (reason, count) in refused {
            *self.refused.entry(reason).or_default() += count;
        }
    }

    fn text(&self) -> String {
        let Tally { served, refused, illegal, never, misjudged, failures } = self;
        let text =
            format!("{served} served, illegal {illegal:?}, {} never, {} misjudged", never.len(), misjudged.len());
        format!("{text}\nfailures {failures:?}; refused cases {refused:?}")
    }
}
