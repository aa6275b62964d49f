//! Many cases of a check: the seeds, what was found, and how it is reported.
//!
//! `HALIDE_FUZZ_CASES` and `HALIDE_FUZZ_SEED` set the number of cases and the first seed, for runs of hours; then failures
//! do not end a run, the first of each kind is made smaller, and progress is printed.

use crate::case::Case;
use crate::engines::{self, Failure, Outcome};
use crate::shrink;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

/// How long one failing case may take to be made smaller.
const SHRINKING: Duration = Duration::from_secs(60);

/// Different kinds of failure that end a run.
const MOST_KINDS: usize = 25;

/// The seeds of a run: `default` many from `first` on, unless the environment says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Whether the environment asked for another number.
    pub long: bool,
}

impl Seeds {
    /// From the environment, else from 0 on.
    pub fn of_run(default: u64) -> Seeds {
        let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse().ok());
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
    let mut slowest = (Duration::ZERO, 0);
    let mut reports = String::new();
    for seed in first..first + count {
        let start = Instant::now();
        let drawn = caught(|| draw(seed)).map_err(|f| Failure { text: format!("while it is drawn: {}", f.text), ..f });
        let result = drawn.clone().and_then(|case| outcome(&case));
        slowest = slowest.max((start.elapsed(), seed));
        match result {
            Ok(Outcome::ComparedOnDevice) => *tally.entry("compared on a device".into()).or_default() += 1,
            Ok(Outcome::Compared) => *tally.entry("compared".into()).or_default() += 1,
            Ok(Outcome::Refused(why)) => *tally.entry(format!("refused: {why}")).or_default() += 1,
            Err(failure) => {
                failures.entry(failure.kind.clone()).or_insert((0, seed)).0 += 1;
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
        if long && (seed - first) % 500 == 499 {
            println!("{} cases: {tally:?}; failures {failures:?}; slowest {slowest:?}", seed - first + 1);
        }
    }
    println!("{name}: {tally:?}; failures {failures:?}; slowest {slowest:?}");
    assert!(failures.is_empty(), "{name}: failures by kind (how many, first seed): {failures:?}\n{reports}");
    let compared = ["compared", "compared on a device"].map(|word| tally.get(word).copied().unwrap_or(0));
    // Where there is no device, the evaluator has run the kernels.
    let compared: u64 = compared.into_iter().chain(tally.get("refused: no device").copied()).sum();
    assert!(compared * 100 >= share * count, "{name}: only {compared} of {count} cases could be compared: {tally:?}");
}

fn outcome(case: &Case) -> Result<Outcome, Failure> {
    caught(|| engines::check(case)).and_then(|result| result)
}

/// What a person needs to find the mistake.
fn report(seed: u64, case: Option<Case>, failure: &Failure) -> String {
    let head = |text: &str| text.lines().take(60).collect::<Vec<_>>().join("\n");
    let Some(case) = case else { return format!("== seed {seed}: {}\n{}\n", failure.kind, head(&failure.text)) };
    let small = shrink::smallest(&case, SHRINKING, |c| outcome(c).is_err_and(|f| f.kind == failure.kind));
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
