//! `halide why`: the directives that make one schedule faster than another.
//!
//! The directives in which A and B differ are changes; a walk from A to B makes one after the other, and those that are
//! legal only together at once: the steps. Each step is timed alone (A with it) and with the others (B without it), all
//! in turn. Its worth is the geometric mean of the two ratios, as far as they are legal; else the ratio on the walk.

mod candidates;
mod table;
mod untried;
mod walk;
mod worth;

use super::args;
use super::args_timing::WhyArgs;
use super::changes::{Changes, MOST, Set};
use super::common;
use super::failure::Failure;
use super::runners::Runners;
use super::terminal::progress;
use super::tool::Tool;
use candidates::{Candidates, ROUNDS};
use halide::prelude::*;
use indicatif::ProgressBar;
use table::{Answer, Table};
use worth::{Ratio, Step};

/// The most changes between two schedules.
const MOST_CHANGES: usize = 120;

/// The rounds after which A and B are known to differ, on a machine that does nothing else.
const FIRST_ROUNDS: usize = 8;

/// The times that these rounds are taken where noise hides a difference.
const FIRST_TRIES: usize = 5;

/// The noise below which a difference would show.
const QUIET: f64 = 0.05;

/// Times the schedules between A and B, and prints what each change is worth.
pub(crate) fn why(tool: &Tool, args: &WhyArgs) -> Result<(), Failure> {
    let app = common::find_app(tool, &args.app)?;
    if args.file.is_some() && args.common.is_synthetic() {
        args::usage_error("with --random or --size there is no image to read");
    }
    let [a, b] = [&args.a, &args.b].map(|name| common::find_schedule(app, name, &args.numbers.set));
    let (a, b) = (small(&args.a, a?)?, small(&args.b, b?)?);
    let changes = Changes::new(&a, &b);
    if changes.all.len() > MOST_CHANGES {
        let text = "; more than 120 are too many to time; take schedules that are closer to each other";
        return Err(Failure(format!("`{}` and `{}` differ in {} directives{text}", args.a, args.b, changes.all.len())));
    }
    let job = common::job(tool, app, &args.common, args.file.as_deref(), Some(&b))?;
    let runners = Runners::new(a.has_kernels() || b.has_kernels(), args.device.as_deref())?;
    let mut candidates = Candidates::new(&job, args, &runners, &changes)?;
    let every = changes.every();
    for (name, set) in [(&args.a, &Set::new()), (&args.b, &every)] {
        candidates.add_end(set).map_err(|why| Failure(format!("schedule `{name}`: {why}")))?;
    }
    let table = |answer| Table { job: &job, args, changes: &changes, answer };
    if changes.all.is_empty() {
        return table(Answer::SameDirectives).print(&candidates);
    }
    for _ in 0..FIRST_TRIES {
        candidates.time(FIRST_ROUNDS, |_| ())?;
        let whole = whole(&candidates, &every)?;
        if !whole.is_within_noise() || whole.noise < QUIET {
            break;
        }
    }
    if whole(&candidates, &every)?.is_within_noise() {
        return table(Answer::SameTime).print(&candidates);
    }
    let steps = prepared(&changes, &mut candidates, app.name);
    let bar = progress(ROUNDS as u64, app.name);
    candidates.time(ROUNDS, |_| bar.inc(1))?;
    bar.finish_and_clear();
    if whole(&candidates, &every)?.is_within_noise() {
        return table(Answer::SameTime).print(&candidates);
    }
    let rows = worth::rows(steps, &every, &candidates)?;
    table(Answer::Steps(rows)).print(&candidates)
}

/// The speed of B beside A's.
fn whole(candidates: &Candidates<'_>, every: &Set) -> Result<Ratio, Failure> {
    let [a, b] = [&Set::new(), every].map(|set| candidates.get(set).map_err(Failure::from));
    Ok(Ratio::new(b?, a?))
}

/// A schedule that is short enough to compare.
fn small(name: &str, schedule: Schedule) -> Result<Schedule, Failure> {
    match schedule.len() {
        0..=MOST => Ok(schedule),
        many => {
            Err(Failure(format!("schedule `{name}` has {many} directives, more than the {MOST} that are compared")))
        }
    }
}

/// The steps from A to B, the schedules around which have run once.
fn prepared(changes: &Changes, candidates: &mut Candidates<'_>, app: &str) -> Vec<Step> {
    let bar: ProgressBar = progress(3 * changes.all.len() as u64, &format!("{app}: compiling"));
    let walked = walk::steps(changes, |set| {
        bar.tick();
        candidates.legal(set)
    });
    let (every, mut before, mut steps) = (changes.every(), Set::new(), Vec::new());
    for taken in walked {
        let step = Step { before: before.clone(), changes: taken };
        before.extend(&step.changes);
        let sets = step.sets(&every);
        for set in &sets {
            candidates.add(set);
            bar.inc(1);
        }
        if sets.iter().all(|set| candidates.get(set).is_err()) {
            candidates.add(&step.before);
            candidates.add(&before);
        }
        steps.push(step);
    }
    bar.finish_and_clear();
    steps
}
