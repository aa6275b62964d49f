//! A run over classes: what was served, what was refused and why, and what failed.

use super::refused::kind;
use super::{Answer, class, serve};
use crate::coverage::{Coverage, Product};
use crate::runs::{self, Seeds, number};
use crate::watch::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Results by class.
#[derive(Default)]
struct Tally {
    served: u64,
    /// Classes of each kind that cannot be served.
    refused: BTreeMap<&'static str, u64>,
    /// Reasons of refusals, each with the number of classes that had it.
    reasons: BTreeMap<String, u64>,
    /// Classes that were not served and are of no such kind, with the reasons.
    unexplained: Vec<(Product, BTreeSet<String>)>,
    /// Classes that were served and are of such a kind.
    misjudged: Vec<Product>,
    /// Failures by kind: how many, and the first number.
    failures: BTreeMap<String, (u64, u64)>,
}

/// Serves the classes of so many numbers, or of those that the environment asks for.
///
/// # Panics
/// When a case fails, a class is not served that should be, or one is that should not be.
pub fn run(default: u64) {
    let Seeds { first, count, long } = Seeds::of_run(default);
    let step = number("HALIDE_FUZZ_STEP").unwrap_or(1).max(1);
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
    let Tally { unexplained, misjudged, .. } = tally;
    assert!(unexplained.is_empty(), "{} classes are not served: {unexplained:#?}", unexplained.len());
    assert!(misjudged.is_empty(), "served, though they should not be: {misjudged:#?}");
}

impl Tally {
    fn add(&mut self, number: u64, answer: Result<Answer, String>) {
        let class = class(number);
        match (answer, kind(&class)) {
            (Ok(Answer::Served), None) => self.served += 1,
            (Ok(Answer::Served), Some(_)) => self.misjudged.push(class),
            (Ok(Answer::Refused(reasons)), kind) => {
                for reason in &reasons {
                    *self.reasons.entry(reason.clone()).or_default() += 1;
                }
                match kind {
                    Some(why) => *self.refused.entry(why).or_default() += 1,
                    None => self.unexplained.push((class, reasons)),
                }
            }
            (Err(kind), _) => self.failures.entry(kind).or_insert((0, number)).0 += 1,
        }
    }

    fn text(&self) -> String {
        let Tally { served, refused, reasons, unexplained, misjudged, failures } = self;
        let mut text = format!("{served} served, {} not served\n", unexplained.len());
        text += &format!("refused: {refused:?}\nreasons: {reasons:?}\nfailures: {failures:?}\n");
        text + &format!("served against the table: {}", misjudged.len())
    }
}
