//! The search for schedules on a machine whose times are a function that it does not know.

use halide_auto::tune::{Candidate, CandidateId, Origin, Outcome, TellError, TuneOptions, Tuner};
use halide_core::types::U16;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_ir::target::{Arch, Budget, Target};
use halide_sched::plan::{Level, resolve};
use halide_sched::schedule::{Amount, LoopKind, Schedule, Verb};
use std::collections::BTreeSet;

const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 256,
    features: None,
    threads: 4,
    cache_bytes: 1 << 20,
    gpu: None,
    budget: Budget::DEFAULT,
};

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (input[(x - 1, y)] + input[(x, y)] + input[(x + 1, y)]) / 3;
    down[(x, y)] = (across[(x, y - 1)] + across[(x, y)] + across[(x, y + 1)]) / 3;
    Pipeline::new([&down]).unwrap_or_else(|e| panic!("{e}"))
}

fn root() -> Schedule {
    "across: compute_root()\ndown: compute_root()".parse().unwrap_or_else(|e| panic!("{e}"))
}

fn far(value: i64, from: i64) -> f64 {
    (value as f64 / from as f64).log2().abs()
}

/// The hidden time of a schedule, at least 1: it likes a producer that slides along strips of 64 lines, vectors of 32
/// lanes, threads, and few words.
fn hidden(pipeline: &Pipeline, schedule: &Schedule) -> f64 {
    let plan = resolve(pipeline, schedule, &TARGET).unwrap_or_else(|e| panic!("{e:?}\n{schedule}"));
    let ids: Vec<_> = plan.pipeline.order.clone();
    let (across, down) = (&plan.funcs[ids[0]], &plan.funcs[ids[1]]);
    let place = match (&across.compute, across.store == across.compute) {
        (Level::Inline, _) => 0.9,
        (Level::Root, _) => 0.6,
        (Level::At { .. }, true) => 0.25,
        (Level::At { .. }, false) => 0.0,
    };
    let number = |of: &dyn Fn(&Verb) -> Option<i64>| {
        let own = schedule.directives().iter().filter(|d| d.subject.func == "down");
        own.filter_map(|d| of(&d.verb)).next_back()
    };
    let lanes = number(&|verb| match verb {
        Verb::Mark { kind: LoopKind::Vectorized, factor: Some(Amount::Const(n)), .. } => Some(*n),
        Verb::Mark { kind: LoopKind::Vectorized, factor: Some(Amount::Natural), .. } => Some(16),
        _ => None,
    });
    let strips = number(&|verb| match verb {
        Verb::Split { var, factor: Amount::Const(n), .. } if var == "y" => Some(*n),
        Verb::Mark { kind: LoopKind::Parallel, var, factor: Some(Amount::Const(n)), .. } if var == "y" => Some(*n),
        _ => None,
    });
    let is_parallel = down.stages[0].loops.first().is_some_and(|l| l.kind == LoopKind::Parallel);
    1.0 + place
        + lanes.map_or(1.5, |n| 0.15 * far(n, 32))
        + strips.map_or(0.5, |n| 0.08 * far(n, 64))
        + if is_parallel { 0.0 } else { 0.6 }
        + 0.001 * schedule.len() as f64
}

/// Noise of 1 %, by the number of a candidate.
fn noise(id: CandidateId) -> f64 {
    let mixed = (id.0 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    1.0 + (mixed as f64 / (1u64 << 24) as f64 - 0.5) * 0.02
}

/// The outcome of a candidate: some are refused.
fn outcome(pipeline: &Pipeline, candidate: &Candidate) -> Outcome {
    let time = hidden(pipeline, &candidate.schedule) * noise(candidate.id);
    match candidate.id.0 % 11 {
        7 => Outcome::Refused,
        _ if time > 3.0 && candidate.id.0 > 0 => Outcome::Dropped { at_least: time },
        _ => Outcome::Measured { time },
    }
}

fn searched(tells: usize, seed: u64) -> (Tuner, Vec<(Schedule, Outcome)>) {
    let pipeline = blur();
    let mut tuner = Tuner::new(&pipeline, &TARGET, [("root".to_string(), root())], TuneOptions::with_seed(seed));
    let mut told = Vec::new();
    while told.len() < tells {
        let batch = tuner.ask(8);
        assert!(!batch.is_empty(), "nothing new after {} candidates", told.len());
        for candidate in batch {
            let outcome = outcome(&pipeline, &candidate);
            told.push((candidate.schedule.clone(), outcome.clone()));
            tuner.tell(candidate.id, outcome).unwrap_or_else(|e| panic!("{e}"));
        }
    }
    (tuner, told)
}

/// From plain loops, the best time of several seeds is near the least there is.
#[test]
fn the_best_schedule_is_found_from_plain_loops() {
    let best = "across: store_at(down, yo) compute_at(down, yi)
                down: compute_root() split(y, yo, yi, 64) parallel(yo) vectorize(x, 32)";
    let least = hidden(&blur(), &best.parse().unwrap_or_else(|e| panic!("{e}")));
    for seed in 0..6 {
        let (tuner, _) = searched(300, seed);
        let (_, schedule, _) = tuner.best().expect("the start was measured");
        let found = hidden(&blur(), schedule);
        assert!(found < 1.02 * least, "seed {seed}: {found} and not {least}:\n{schedule}");
    }
}

#[test]
fn no_schedule_is_asked_for_twice_and_all_are_legal() {
    let (_, told) = searched(300, 1);
    let texts: BTreeSet<String> = told.iter().map(|(schedule, _)| schedule.to_string()).collect();
    assert_eq!(texts.len(), told.len());
    assert!(told.iter().all(|(schedule, _)| resolve(&blur(), schedule, &TARGET).is_ok()));
    // Text is all there is to a schedule.
    for (schedule, _) in &told {
        assert_eq!(schedule.to_string().parse::<Schedule>().as_ref(), Ok(schedule));
    }
}

#[test]
fn equal_seeds_and_answers_give_equal_candidates() {
    let text = |seed| searched(120, seed).1.iter().map(|(s, _)| s.to_string()).collect::<Vec<String>>();
    assert_eq!(text(5), text(5));
    assert_ne!(text(5), text(6));
}

/// A search that ended anywhere goes on from its records: what was tried is not tried again but for the best.
#[test]
fn a_search_goes_on_from_its_records() {
    let pipeline = blur();
    for tells in [1, 8, 40, 160] {
        let (before, told) = searched(tells, 2);
        let before = before.best().map(|(_, schedule, _)| schedule.clone());
        let mut tuner = Tuner::new(&pipeline, &TARGET, [("root".to_string(), root())], TuneOptions::with_seed(2));
        tuner.recall(told.clone());
        let tried: BTreeSet<String> = told.iter().map(|(schedule, _)| schedule.to_string()).collect();
        let mut again = 0;
        for _ in 0..20 {
            for candidate in tuner.ask(4) {
                if matches!(candidate.origin, Origin::Changed { .. }) {
                    assert!(!tried.contains(&candidate.schedule.to_string()), "{}", candidate.schedule);
                } else {
                    again += 1;
                }
                let time = hidden(&pipeline, &candidate.schedule);
                tuner.tell(candidate.id, Outcome::Measured { time }).unwrap_or_else(|e| panic!("{e}"));
            }
        }
        assert!((1..=4).contains(&again), "{again} schedules were measured again");
        let (_, _, time) = tuner.best().expect("something was measured");
        let before = hidden(&pipeline, &before.expect("something was measured"));
        assert!(time <= before, "{time} after {before}");
    }
}

/// A schedule that computes the wrong thing, and does so fast, is told as wrong and is never the best.
#[test]
fn liars_never_win() {
    let pipeline = blur();
    let mut tuner = Tuner::new(&pipeline, &TARGET, [("root".to_string(), root())], TuneOptions::default());
    let is_liar = |schedule: &Schedule| schedule.directives().iter().any(|d| d.verb.word() == "unroll");
    let mut liars = 0;
    for _ in 0..40 {
        for candidate in tuner.ask(8) {
            let lies = is_liar(&candidate.schedule);
            liars += usize::from(lies);
            let outcome = match lies {
                true => Outcome::Wrong,
                false => Outcome::Measured { time: hidden(&pipeline, &candidate.schedule) },
            };
            let is_best = tuner.tell(candidate.id, outcome).unwrap_or_else(|e| panic!("{e}"));
            assert!(!(lies && is_best));
        }
        let (_, best, _) = tuner.best().expect("the start was measured");
        assert!(!is_liar(best), "{best}");
    }
    assert!(liars > 5, "{liars} liars were tried");
}

#[test]
fn every_kind_of_outcome_is_taken_in() {
    let pipeline = blur();
    let mut tuner = Tuner::new(&pipeline, &TARGET, [("root".to_string(), root())], TuneOptions::default());
    let start = tuner.ask(1)[0].id;
    // Nothing is known to change yet.
    assert_eq!(tuner.ask(1), []);
    assert_eq!(tuner.tell(start, Outcome::Measured { time: 1.0 }), Ok(true));
    let others = [
        Outcome::Measured { time: 2.0 },
        Outcome::Dropped { at_least: 1.4 },
        Outcome::Same,
        Outcome::Refused,
        Outcome::Fault,
        Outcome::Wrong,
        Outcome::TooSlow,
        Outcome::TooMuchMemory,
    ];
    for (candidate, outcome) in tuner.ask(others.len()).into_iter().zip(others) {
        assert_eq!(tuner.tell(candidate.id, outcome), Ok(false));
    }
    assert_eq!(tuner.best().map(|(id, ..)| id), Some(start));
}

#[test]
fn mistakes_of_who_tells_are_told() {
    let mut tuner = Tuner::new(&blur(), &TARGET, [("root".to_string(), root())], TuneOptions::default());
    let unknown = tuner.tell(CandidateId(3), Outcome::Refused).expect_err("nothing was asked for");
    assert_eq!(unknown.to_string(), "candidate 3 was never asked for; tell of one that `ask` gave");
    let id = tuner.ask(1)[0].id;
    let time = tuner.tell(id, Outcome::Measured { time: -1.0 }).expect_err("no time");
    assert_eq!(time.to_string(), "a candidate cannot take -1; give a finite time above 0");
    assert_eq!(tuner.tell(id, Outcome::Refused), Ok(false));
    assert_eq!(tuner.tell(id, Outcome::Fault), Err(TellError::Twice { id }));
    assert_eq!(TellError::Twice { id }.to_string(), "candidate 0 was told of before; tell of each one once");
}
