//! Cases of a class, of which the first that is served ends the search.

use super::refused::kind;
use super::{algorithm, schedule};
use crate::case::{Case, TARGET};
use crate::coverage::{Coverage, Product};
use crate::engines;
use crate::failure::{Failure, Outcome, failure};
use crate::runs::caught;
use halide::plan;
use halide::prelude::*;
use halide_testing::pipelines::Random;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The distance between the classes of two numbers in a row, which has no divisor in common with the number of all.
const STRIDE: u64 = 14_143;

/// The most cases of one class that are drawn for one number.
const MOST_DRAWS: u64 = 200;

/// The most where the class cannot be served: each is refused.
const FEW_DRAWS: u64 = 20;

/// Draws after which every other case has only what its class asks for.
const WITH_MORE: u64 = 12;

/// All classes.
static CLASSES: LazyLock<Vec<Product>> = LazyLock::new(Product::all);

/// The number of classes: so many numbers in a row have one case of each.
pub(super) fn count() -> u64 {
    CLASSES.len() as u64
}

/// The class of a number, in an order that goes across tables.
pub(super) fn class(number: u64) -> Product {
    CLASSES[(number % count() * STRIDE % count()) as usize]
}

/// One of the cases of a number, which may be illegal.
fn case(number: u64, draw: u64) -> Case {
    let class = class(number);
    let mut random = Random::new(Random::new(number).bits() ^ draw);
    let algorithm = algorithm::draw(&mut random, &class);
    let lines = schedule::draw(&mut random, &class, &algorithm, draw >= WITH_MORE && draw.is_multiple_of(2));
    let text = lines.join("\n");
    let schedule = text.parse::<Schedule>().unwrap_or_else(|e| panic!("{class}: no schedule: {e:?}\n{text}"));
    let case = Case::with(algorithm.pipeline, schedule, TARGET, random);
    Case { roomy: !number.is_multiple_of(4), ..case }
}

/// The answer for a class.
pub(super) struct Answer {
    /// The reasons for which cases were refused, each with their number.
    pub(super) refused: BTreeMap<String, u64>,
    /// True if a case was served, and all engines gave the same values.
    pub(super) is_served: bool,
}

/// A case that fails, if it could be drawn.
pub(super) type Failed = (Option<Box<Case>>, Failure);

/// Draws cases of the class of a number until one is served.
pub(super) fn serve(number: u64, coverage: &mut Coverage) -> Result<Answer, Failed> {
    let class = class(number);
    let show = std::env::var_os("HALIDE_FUZZ_SHOW").is_some();
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    let draws = if kind(&class).is_some() { FEW_DRAWS } else { MOST_DRAWS };
    for draw in 0..draws {
        let case = caught(|| case(number, draw)).map_err(|f| (None, f))?;
        let result = caught(|| answer(number, &case, coverage)).and_then(|result| result);
        if show {
            let word = result.as_ref().map(|refused| refused.as_deref().unwrap_or("served"));
            println!("{number}, {class}: {}\n{case}", word.unwrap_or("failed"));
        }
        match result {
            Ok(None) => return Ok(Answer { refused, is_served: true }),
            Ok(Some(reason)) => *refused.entry(reason).or_default() += 1,
            Err(failure) => return Err((Some(Box::new(case)), failure)),
        }
    }
    Ok(Answer { refused, is_served: false })
}

/// Runs a case, and counts it where it is legal. Returns the reason that it is refused, if it is.
fn answer(number: u64, case: &Case, coverage: &mut Coverage) -> Result<Option<String>, Failure> {
    if let Err(errors) = plan::resolve(&case.pipeline, &case.schedule, &case.target) {
        return Ok(Some(errors.first().map_or("no reason".into(), |e| name(&format!("{:?}", e.problem)))));
    }
    let (mut own, class) = (Coverage::default(), class(number));
    own.add(case);
    if !own.has(&class) {
        return Err(failure("another class", format!("the case is not of the class {class}")));
    }
    coverage.add(case);
    Ok(match engines::check_in_turn(case.clone(), number)? {
        (Outcome::Refused(why), _) => Some(why),
        (_, false) => Some("exact variant only".into()),
        (_, true) => None,
    })
}

/// The name of a variant.
fn name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}
