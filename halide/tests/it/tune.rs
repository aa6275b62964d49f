//! Tunings: results, events, databases, and the texts of mistakes. No test asserts a time.

use halide::prelude::*;
use halide::tune::{Ended, Event, Tuned, Verdict};
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    Pipeline::new([&down]).unwrap()
}

fn sizes() -> Estimates {
    Estimates::new().output("down", [96, 64])
}

fn target() -> Target {
    Target { threads: 1, ..Target::host() }
}

fn go_on(_: Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Breaks a tuning off after so many candidates.
fn after(count: usize) -> impl FnMut(Event<'_>) -> ControlFlow<()> {
    let mut seen = 0;
    move |event| {
        seen += usize::from(matches!(event, Event::Measured { .. }));
        if seen < count { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

fn count(tuned: &Tuned, verdict: Verdict) -> usize {
    Verdict::ALL.into_iter().zip(tuned.report.verdicts).find(|(v, _)| *v == verdict).map_or(0, |(_, n)| n)
}

/// A file of its own that is not there yet.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("halide-tune-{}-{name}.jsonl", std::process::id()));
        let _ = fs::remove_file(&path);
        Scratch(path)
    }
    fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.0).unwrap().lines().map(str::to_string).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn a_tuned_schedule_computes_what_the_pick_does() {
    let pipeline = blur();
    let (mut started, mut measured, mut ended) = (0, 0, None);
    let tuning = pipeline.tuner(&target(), &sizes()).budget(Duration::from_millis(600)).seed(3);
    let tuned = tuning
        .run(|event| {
            match event {
                Event::Started { recalled, notes, .. } => {
                    assert_eq!((started, measured, recalled, notes), (0, 0, 0, &[][..]));
                    started += 1;
                }
                Event::Measured { best, .. } => {
                    assert!(best > 0.0 && best <= 1.0);
                    measured += 1;
                }
                Event::Better { ratio, .. } => assert!(ratio < 1.0),
                Event::Ended { ended: reason } => ended = Some(reason),
                _ => {}
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((started, ended), (1, Some(tuned.ended)));
    // On a busy machine it may be that none was measured.
    assert!(tuned.report.wrong.is_empty(), "{}", tuned.report);
    assert_eq!(tuned.report.verdicts.iter().sum::<usize>(), measured);
    let input =
        Buffer::<u16>::from_fn(&Region::of_extents([98, 66]), |at| (at[0] * 631 + at[1] * 1277) as u16).unwrap();
    let result = |schedule: &Schedule| -> Buffer<u16> {
        let compiled = pipeline.compile(schedule, &target()).unwrap();
        compiled.inputs().image_named("input", &input).realize([96, 64]).unwrap()
    };
    assert_eq!(result(&tuned.schedule), result(&Schedule::new()));
}

#[test]
fn without_time_the_pick_is_the_result_and_said_to_be_unmeasured() {
    let pipeline = blur();
    let tuned = pipeline.tuner(&target(), &sizes()).budget(Duration::ZERO).run(go_on).unwrap();
    assert_eq!(tuned.schedule, pipeline.auto_schedule(&target(), &sizes()).unwrap().schedule);
    assert_eq!((tuned.ended, tuned.report.tried), (Ended::NoBudget, 0));
    assert_eq!(tuned.report.to_string(), "picked, not measured\n0 candidates in 0.0 s");
    assert_eq!(
        tuned.ended.to_string(),
        "there was no time to measure in, so the schedule was picked by its predicted time"
    );
}

#[test]
fn a_break_ends_it_after_the_current_run() {
    let pipeline = blur();
    let tuned = pipeline.tuner(&target(), &sizes()).run(after(3)).unwrap();
    assert_eq!((tuned.ended, tuned.report.verdicts.iter().sum::<usize>()), (Ended::Stopped, 3));
    assert_eq!(tuned.report.duel, None);
    let tuned = pipeline.tuner(&target(), &sizes()).run(|_| ControlFlow::Break(())).unwrap();
    assert_eq!((tuned.ended, tuned.report.verdicts.iter().sum::<usize>()), (Ended::Stopped, 0));
    assert_eq!(tuned.schedule, tuned.report.pick);
}

/// Schedules that fault, take long, need too much memory, or become too much code are counted, and never win.
#[test]
fn candidates_that_fail_are_recorded_and_never_win() {
    let x = Var::new("x");
    let y = Var::new("y");
    let r = RDom::named("r", [(0, 20_000)]);
    let (mut sum, mut wide, mut out) = (Func::new("sum"), Func::new("wide"), Func::new("out"));
    sum[x] = x * 0;
    sum[x] += x * r.x % 7;
    wide[(x, y)] = x * y + sum[x];
    out[(x, y)] = wide[(x, y)] + wide[(x + 1, y)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let sizes = Estimates::new().output("out", [64, 4096]);
    let starts = [
        ("wide: compute_root() bound_storage(x, 4) sum: compute_root()", Verdict::Fault),
        ("wide: compute_root() sum: compute_at(wide, x)", Verdict::TooSlow),
        ("wide: compute_root() store_in(Heap) sum: compute_root()", Verdict::TooMuchMemory),
        ("sum: compute_root() out: vectorize(x, 16) unroll(y, 4096)", Verdict::Refused),
    ];
    for (text, verdict) in starts {
        let start: Schedule = text.parse().unwrap();
        let tuning = pipeline.tuner(&target(), &sizes).start_from(&start).memory_cap(200_000);
        let tuned = match verdict {
            Verdict::TooMuchMemory => tuning.run(after(1)),
            _ => tuning.memory_cap(1 << 30).run(after(1)),
        };
        let tuned = tuned.unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(count(&tuned, verdict), 1, "{text}: {}", tuned.report);
        assert_eq!(tuned.schedule, tuned.report.pick, "{text}");
        assert_ne!(tuned.schedule, start);
    }
}

/// A schedule may vouch for what is not so, and random values need not refute it. It computes the wrong thing, is told
/// of, and is not the result.
#[test]
fn a_wrong_schedule_is_told_of_and_never_wins() {
    let input = ImageParam::new("input", I32, 2);
    let x = Var::new("x");
    let r = RDom::named("r", [(0, 40), (0, 30)]);
    let mut hash = Func::new("hash");
    hash[x] = x * 0;
    // In order, sums of ones come by 100.
    hash[x] = select(hash[x].eq(100), 1_000_000, hash[x] + input[(r.x, r.y)]);
    let pipeline = Pipeline::new([&hash]).unwrap();
    let start: Schedule = "hash.update(0): monoid(0, commutative) rfactor(r.y, u)
                           hash.rfactor(u): compute_root()"
        .parse()
        .unwrap();
    let sizes = Estimates::new().output("hash", [50]).input("input", [40, 30]);
    let ones = Buffer::<i32>::from_fn(&Region::of_extents([40, 30]), |_| 1).unwrap().into_any();
    let tuning = pipeline.tuner(&target(), &sizes).inputs([("input", ones)]).start_from(&start);
    let scratch = Scratch::new("wrong");
    let tuning = tuning.database(&scratch.0);
    let tuned = tuning.run(after(1)).unwrap();
    assert_eq!(tuned.report.wrong.len(), 1, "{}", tuned.report);
    let (schedule, at) = &tuned.report.wrong[0];
    assert_eq!(*schedule, start);
    assert!(at.contains("`hash` at [0] is ") && at.contains(" and should be "), "{at}");
    assert_ne!(tuned.schedule, start);
    assert!(tuned.report.to_string().contains("WRONG: `hash` at [0]"), "{}", tuned.report);
    assert!(scratch.lines()[0].contains("\"verdict\":\"wrong\""), "{:?}", scratch.lines());
    // It is known to be wrong from now on.
    let again = tuning.run(after(2)).unwrap();
    assert_ne!(again.schedule, start);
}

/// Another text for the same program is not run.
#[test]
fn candidates_of_equal_code_are_run_once() {
    let pipeline = blur();
    let starts = ["across: compute_root()", "across: compute_root() down: compute_root()"];
    let tuning = pipeline.tuner(&target(), &sizes());
    let tuning = starts.iter().fold(tuning, |tuning, text| tuning.start_from(&text.parse().unwrap()));
    let tuned = tuning.run(after(2)).unwrap();
    assert_eq!(count(&tuned, Verdict::Same), 1, "{}", tuned.report);
}

/// Floats may be rounded otherwise where a schedule that was given says so.
#[test]
fn floats_are_compared_as_schedules_allow() {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = vars!(x, y);
    let k = RDom::named("k", [(0, 32)]);
    let mut product = Func::new("product");
    product[(x, y)] = cast_to(F32, 0);
    product[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    let pipeline = Pipeline::new([&product]).unwrap();
    let start = "product.update(0): float(contract) reorder(x, k.x, y) vectorize(x, natural)".parse().unwrap();
    let sizes = Estimates::new().output("product", [64, 16]);
    let tuned = pipeline.tuner(&target(), &sizes).start_from(&start).run(after(1)).unwrap();
    assert_eq!((count(&tuned, Verdict::Wrong), count(&tuned, Verdict::Refused)), (0, 0), "{}", tuned.report);
}

#[test]
fn inputs_that_nobody_gave_are_random_whatever_their_type() {
    let x = Var::new("x");
    for ty in [Bool, U8, I8, I16, U32, I64, F16, F32, F64] {
        let input = ImageParam::new("input", ty, 1);
        let mut f = Func::new("f");
        f[x] = select(cast_to(F32, input[x + 1]).gt(cast_to(F32, input[x])), cast_to(U8, 1), cast_to(U8, 0));
        let pipeline = Pipeline::new([&f]).unwrap();
        let tuning = pipeline.tuner(&target(), &Estimates::new().output("f", [500]));
        let tuned = tuning.run(after(1)).unwrap_or_else(|e| panic!("{ty}: {e}"));
        assert!(tuned.report.wrong.is_empty(), "{ty}: {}", tuned.report);
    }
}

#[test]
fn a_database_is_gone_on_from() {
    let (pipeline, scratch) = (blur(), Scratch::new("resumed"));
    let tuning = pipeline.tuner(&target(), &sizes()).database(&scratch.0);
    drop(tuning.run(after(20)).unwrap());
    let first = scratch.lines();
    assert_eq!(first.len(), 20);
    let mut recalled = 0;
    let mut watch = after(30);
    let tuned = tuning
        .run(|event| {
            if let Event::Started { recalled: known, .. } = event {
                recalled = known;
            }
            watch(event)
        })
        .unwrap();
    assert_eq!((recalled, tuned.report.notes.len()), (20, 0));
    let all = scratch.lines();
    assert_eq!((all.len(), &all[..20]), (50, &first[..]));
    // Only the best ones are measured again.
    let schedule = |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap()["schedule"].to_string();
    let tried: Vec<String> = first.iter().map(schedule).collect();
    let again = all[20..].iter().filter(|line| tried.contains(&schedule(line))).count();
    assert!((1..=3).contains(&again), "{again}");
}

#[test]
fn records_say_what_was_measured_where() {
    let (pipeline, scratch) = (blur(), Scratch::new("fields"));
    drop(pipeline.tuner(&target(), &sizes()).database(&scratch.0).seed(9).run(after(2)).unwrap());
    let record: serde_json::Value = serde_json::from_str(&scratch.lines()[0]).unwrap();
    // Their order is that of a feature of serde_json, which others may turn on.
    let fields: BTreeSet<&str> = record.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(Vec::from_iter(fields), ["key", "n", "pairs", "schedule", "seed", "time", "v", "verdict"]);
    let key: BTreeSet<&str> = record["key"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(Vec::from_iter(key), ["halide", "machine", "pipeline", "shapes", "target", "threads"]);
    assert_eq!(record["key"]["shapes"], "down[0..96, 0..64]");
    assert_eq!((&record["v"], &record["seed"]), (&1.into(), &9.into()));
}

#[test]
fn torn_and_foreign_records_are_noted() {
    let (pipeline, scratch) = (blur(), Scratch::new("torn"));
    let tuning = pipeline.tuner(&target(), &sizes()).database(&scratch.0);
    drop(tuning.run(after(3)).unwrap());
    let whole = fs::read_to_string(&scratch.0).unwrap();
    fs::write(&scratch.0, &whole[..whole.len() - 20]).unwrap();
    let tuned = tuning.run(after(2)).unwrap();
    let path = scratch.0.display();
    assert_eq!(tuned.report.notes, [format!("{path}: line 3 has no end and was dropped: its writer was killed")]);
    assert_eq!(scratch.lines().len(), 4);
    assert!(scratch.lines().iter().all(|line| line.ends_with('}')));

    let other = Estimates::new().output("down", [80, 60]);
    let tuned = pipeline.tuner(&target(), &other).database(&scratch.0).run(after(1)).unwrap();
    let note = "4 records are of another pipeline, size, target or machine and left alone, from line 1 on";
    assert_eq!(tuned.report.notes, [format!("{path}: {note}")]);
}

/// The error of a tuning whose database holds this.
fn error_of(name: &str, bytes: &[u8]) -> String {
    let scratch = Scratch::new(name);
    fs::write(&scratch.0, bytes).unwrap();
    // Also where nothing would be measured.
    let pipeline = blur();
    let tuning = pipeline.tuner(&target(), &sizes()).database(&scratch.0).budget(Duration::ZERO);
    let error = tuning.run(|_| panic!("nothing is to be measured")).unwrap_err().to_string();
    error.replace(&scratch.0.display().to_string(), "FILE")
}

#[test]
fn databases_that_cannot_be_read_are_told_with_the_line() {
    let remedy = "take the line out, or name another database";
    assert_eq!(error_of("no-json", b"\nhello\n"), format!("FILE: line 2: the record is no JSON; {remedy}"));
    assert_eq!(
        error_of("version", b"{\"v\":7,\"key\":{}}\n"),
        format!("FILE: line 1: the record is of version 7, but this halide reads version 1; {remedy}")
    );
    assert_eq!(error_of("no-version", b"{}\n"), format!("FILE: line 1: `v` of the record is not a number; {remedy}"));
    assert_eq!(error_of("no-text", b"\xff\xfe\n"), format!("FILE: line 1: the database is no text in UTF-8; {remedy}"));
    assert_eq!(
        error_of("no-schedule", b"{\"v\":1}\n"),
        format!("FILE: line 1: `schedule` of the record is not a text; {remedy}")
    );
    let odd = error_of("odd-schedule", b"{\"v\":1,\"schedule\":\"f: spilt(x)\"}\n");
    assert!(
        odd.starts_with("FILE: line 1: the schedule of the record cannot be read: ") && odd.contains("`split`"),
        "{odd}"
    );
    assert_eq!(
        error_of("no-pairs", b"{\"v\":1,\"schedule\":\"\",\"verdict\":\"wrong\"}\n"),
        format!("FILE: line 1: `pipeline` of the record is not a text; {remedy}")
    );
}

#[test]
fn databases_that_cannot_be_written_are_found_before() {
    let pipeline = blur();
    let tuning = pipeline.tuner(&target(), &sizes()).database("/nowhere/at/all.jsonl");
    let error = tuning.run(|_| panic!("nothing is to be measured")).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/at/all.jsonl: the database cannot be opened: "), "{error}");
    assert!(error.ends_with("; name a file that can be written"), "{error}");
}

#[test]
fn mistakes_of_who_tunes_are_told_before_anything_is_measured() {
    let pipeline = blur();
    let error =
        |tuning: halide::tune::Tuning<'_>| tuning.run(|_| panic!("nothing is to be measured")).unwrap_err().to_string();
    assert_eq!(
        error(pipeline.tuner(&target(), &Estimates::new())),
        "output `down` has no size; estimate its 2 extents"
    );
    let start = "down: vectorize(z, 8)".parse().unwrap();
    assert!(error(pipeline.tuner(&target(), &sizes()).start_from(&start)).contains("`z`"));
    let small = Buffer::<u16>::new([10, 10]).unwrap().into_any();
    let text = error(pipeline.tuner(&target(), &sizes()).inputs([("input", small)]));
    assert!(
        text.starts_with("input `input` is too small in dimension 0: 0 to 97 is read, but it has 0 to 9;"),
        "{text}"
    );
    let foreign = Buffer::<u16>::new([98, 66]).unwrap().into_any();
    let text = error(pipeline.tuner(&target(), &sizes()).inputs([("inptu", foreign)]));
    assert!(text.contains("`inptu`"), "{text}");
}
