//! Many cases of a check: the seeds, what was found, and how it is reported.
//!
//! `HALIDE_FUZZ_CASES` and `HALIDE_FUZZ_SEED` set the number of cases and the first seed, for runs of hours; then
//! failures do not end a run, the first of each kind is made smaller, progress is printed, and at the end what was
//! never drawn. `fuzz/README.md` has the other variables.

use crate::case::Case;
use crate::coverage::Coverage;
use crate::engines;
use crate::failure::{Failure, Outcome};
use crate::shrink;
use crate::watch::Watch;
pub use crate::watch::number;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

/// The seconds in which one failing case is made smaller, unless `HALIDE_FUZZ_SHRINK` says otherwise.
const SHRINKING: u64 = 60;

/// Different kinds of failure that end a run.
const MOST_KINDS: usize = 25;

/// The seeds of a run: `default` many from `first` on, unless the environment says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// The number of seeds.
    pub count: u64,
    /// True if the environment asked for another number.
    pub long: bool,
}

impl Seeds {
    /// From the environment, else from 0 on.
    pub fn of_run(default: u64) -> Seeds {
        let cases = number("HALIDE_FUZZ_CASES");
        let first = number("HALIDE_FUZZ_SEED").unwrap_or(0);
        Seeds { first, count: cases.unwrap_or(default), long: cases.is_some() }
    }
}

/// Runs a check on seeds.
///
/// # Panics
/// With the seed and what went wrong, when a check fails.
pub fn each(name: &str, default: u64, check: impl Fn(u64) -> Result<(), String>) {
    let Seeds { first, count, .. } = Seeds::of_run(default);
    println!("{name}: seeds {first} to {}", first + count - 1);
    for seed in first..first + count {
        if let Err(text) = caught(|| check(seed)).unwrap_or_else(|panic| Err(panic.text)) {
            panic!("{name}, seed {seed}: {text}");
        }
    }
}

/// Runs random cases on all engines and reports how many could be compared.
///
/// # Panics
/// With the smallest case of each kind of failure, when there is one; and when fewer than `share` percent compared.
pub fn compare_engines(name: &str, default: u64, share: u64, draw: impl Fn(u64) -> Case) {
    let Seeds { first, count, long } = Seeds::of_run(default);
    println!("{name}: seeds {first} to {}", first + count - 1);
    let mut tally: BTreeMap<String, u64> = BTreeMap::new();
    let mut failures: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let (watch, mut coverage) = (Watch::of_run(), Coverage::default());
    // A case that the process does not survive is seen only before.
    let show = std::env::var_os("HALIDE_FUZZ_SHOW").is_some();
    let (begun, mut slowest) = (Instant::now(), (Duration::ZERO, 0));
    let mut reports = String::new();
    let step = number("HALIDE_FUZZ_STEP").unwrap_or(1).max(1);
    let cases = count.div_ceil(step);
    for (done, seed) in (1..=cases).zip((first..first + count).step_by(step as usize)) {
        let start = Instant::now();
        watch.begin(seed);
        let drawn = caught(|| draw(seed)).map_err(|f| Failure { text: format!("while it is drawn: {}", f.text), ..f });
        if show && let Ok(case) = &drawn {
            println!("seed {seed}:\n{case}");
        }
        let result = drawn.clone().and_then(|case| outcome(&case));
        watch.end();
        slowest = slowest.max((start.elapsed(), seed));
        if long && let Ok(case) = &drawn {
            coverage.add(case);
        }
        match result {
            Ok(Outcome::ComparedOnDevice) => *tally.entry("compared on a device".into()).or_default() += 1,
            Ok(Outcome::Compared) => *tally.entry("compared".into()).or_default() += 1,
            Ok(Outcome::Refused(why)) => *tally.entry(format!("refused: {why}")).or_default() += 1,
            Err(failure) => {
                failures.entry(failure.kind.clone()).or_insert((0, seed)).0 += 1;
                let first_line = failure.text.lines().next().unwrap_or_default();
                println!("seed {seed}, case {done}, after {:?}: {}: {first_line}", begun.elapsed(), failure.kind);
                if failures[&failure.kind].0 == 1 {
                    let text = report(seed, drawn.ok(), &failure);
                    println!("{text}");
                    reports += &text;
                }
                if failures.len() >= MOST_KINDS {
                    break;
                }
            }
        }
        if long && done.is_multiple_of(500) {
            println!("{done} cases: {tally:?}; failures {failures:?}; slowest {slowest:?}");
        }
    }
    println!("{name}: {tally:?}; failures {failures:?}; slowest {slowest:?}");
    if long {
        println!("{}", coverage.report());
    }
    assert!(failures.is_empty(), "{name}: failures by kind (how many, first seed): {failures:?}\n{reports}");
    let compared = ["compared", "compared on a device"].map(|word| tally.get(word).copied().unwrap_or(0));
    // Where there is no device, the evaluator has run the kernels.
    let compared: u64 = compared.into_iter().chain(tally.get("refused: no device").copied()).sum();
    assert!(compared * 100 >= share * cases, "{name}: only {compared} of {cases} cases could be compared: {tally:?}");
}

fn outcome(case: &Case) -> Result<Outcome, Failure> {
    caught(|| engines::check(case)).and_then(|result| result)
}

/// Returns a report with all that a person needs to find the mistake.
pub(crate) fn report(seed: u64, case: Option<Case>, failure: &Failure) -> String {
    let head = |text: &str| text.lines().take(60).collect::<Vec<_>>().join("\n");
    let Some(case) = case else { return format!("== seed {seed}: {}\n{}\n", failure.kind, head(&failure.text)) };
    let limit = Duration::from_secs(number("HALIDE_FUZZ_SHRINK").unwrap_or(SHRINKING));
    let small = shrink::smallest(&case, limit, |c| outcome(c).is_err_and(|f| f.kind == failure.kind));
    let text = outcome(&small).err().map_or(String::new(), |f| f.text);
    let blame = caught(|| engines::blame(&small)).ok().flatten().unwrap_or_default();
    format!("== seed {seed}: {}\n{small}\n-- {}\n-- {}\n", failure.kind, head(&text), head(&blame))
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`; a panic becomes a failure whose kind is its place. Panics on this thread print nothing meanwhile.
pub fn caught<T>(f: impl FnOnce() -> T) -> Result<T, Failure> {
    static HOOK: Once = Once::new();
    thread_local! {
        static QUIET: RefCell<u32> = const { RefCell::new(0) };
    }
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map_or(String::new(), |l| format!("{}:{}", l.file(), l.line()));
            PANIC.with(|p| *p.borrow_mut() = place);
            if QUIET.with(|q| *q.borrow() == 0) {
                before(info);
            }
        }));
    });
    QUIET.with(|q| *q.borrow_mut() += 1);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.with(|q| *q.borrow_mut() -= 1);
    result.map_err(|payload| {
        let place = PANIC.with(|p| p.borrow().clone());
        Failure { kind: format!("panic at {place}"), text: format!("panic at {place}: {}", message(&*payload)) }
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
