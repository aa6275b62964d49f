//! `halide tune`: what it prints and writes, and mistakes, which are found before anything is measured.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use halide::prelude::*;
use serde_json::Value;
use std::fs;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_tuned_schedule_is_written_and_runs() {
    let place = Workplace::new();
    let ran = place.succeed("tune blur --size 64x48 --threads 1 --time 400ms --db a.jsonl -o a.sched --seed 5");
    assert_eq!(ran.stderr, "", "progress is for terminals");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("blur: picked ") && lines[1].contains(" candidates in "), "{}", ran.stdout);
    assert!(lines[2].starts_with("it ended since ") && lines[3] == "wrote a.sched", "{}", ran.stdout);
    assert_eq!(place.files(), ["a.jsonl", "a.sched"]);

    let text = fs::read_to_string(place.path("a.sched")).unwrap();
    let comments: Vec<&str> = text.lines().take(5).collect();
    assert!(comments[0].starts_with("# Tuned for blur by halide ") && comments[0].ends_with(", seed 5."), "{text}");
    assert!(comments[1].starts_with("# pipeline ") && comments[1].len() == "# pipeline ".len() + 16, "{text}");
    assert_eq!(comments[2], "# sizes blur_y[0..64, 0..48] input[0..66, 0..50]");
    assert!(comments[3].starts_with("# target ") && comments[3].contains(", threads 1, machine "), "{text}");
    assert!(comments[4].starts_with("# picked "), "{text}");
    Schedule::parse(&text, "a.sched").unwrap();
    let checked = json(&place.succeed("run blur --size 64x48 --schedule a.sched --check --json").stdout);
    assert_eq!(checked["checked"], 0);

    let again = json(&place.succeed("tune blur --size 64x48 --threads 1 --time 300ms --db a.jsonl --json").stdout);
    assert_eq!((&again["app"], &again["threads"]), (&Value::from("blur"), &Value::from(1)));
    assert!(again["ratio"].as_f64().is_some_and(|ratio| ratio <= 1.0), "{again}");
    let tried: u64 = again["verdicts"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    // On a busy machine that may be none.
    assert_eq!(again["tried"].as_u64(), Some(tried), "{again}");
    assert_eq!((&again["wrong"], &again["notes"]), (&Value::from(Vec::<u8>::new()), &Value::from(Vec::<u8>::new())));
    again["schedule"].as_str().unwrap().parse::<Schedule>().unwrap();
}

#[test]
fn without_time_the_pick_is_printed() {
    let place = Workplace::new();
    let ran = place.succeed("tune unsharp --size 64x48 --time 0s");
    let expected = "unsharp: picked, not measured\n0 candidates in 0.0 s\nit ended since there was no time to measure in, \
                    so the schedule was picked by its predicted time\n";
    assert!(ran.stdout.starts_with(expected), "{}", ran.stdout);
    let shown = place.succeed("run unsharp --size 64x48 --schedule auto --print schedule").stdout;
    assert!(ran.stdout.ends_with(&shown), "{}", ran.stdout);
    let told = json(&place.succeed("tune unsharp --size 64x48 --time 0s --json").stdout);
    assert_eq!((&told["ended"], &told["ratio"]), (&Value::from("no budget"), &Value::Null));
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn a_tuning_begins_with_a_schedule_of_the_app_or_a_file() {
    let place = Workplace::new();
    place.succeed("tune matmul --size 32x32 --threads 1 --time 200ms --from cpu");
    place.succeed("tune matmul --size 32x32 --threads 1 --time 200ms --from auto-isa");
    fs::write(place.path("mine.sched"), "blur_x: compute_root()").unwrap();
    place.succeed("tune blur --size 64x48 --time 200ms --from mine.sched");
}

#[test]
fn mistakes_are_found_before_anything_is_measured() {
    let place = Workplace::new();
    fs::create_dir(place.path("folder")).unwrap();
    fs::write(place.path("bad.sched"), "blur_x: vectorize(z, 8)").unwrap();
    fs::write(place.path("old.jsonl"), "{\"v\":0}\n").unwrap();
    fs::write(place.path("no.jsonl"), "{}\nhello\n").unwrap();
    check(&place, "tune blr", &["no app `blr`", "did you mean `blur`?"]);
    check(&place, "tune blur --size 8x8 --from strps", &["no schedule `strps`", "did you mean `strips`?"]);
    check(&place, "tune blur --size 8x8 --from bad.sched", &["bad.sched:1:9", "`z`"]);
    check(&place, "tune blur --size 0x8", &["width and height must be at least 1"]);
    check(&place, "tune blur none.png", &["none.png", "No such file"]);
    check(&place, "tune blur --size 8x8 -o nowhere/a.sched", &["nowhere", "No such file"]);
    check(&place, "tune blur --size 8x8 -o folder", &["folder", "directory"]);
    check(&place, "tune blur --size 8x8 --db nowhere/a.jsonl", &["nowhere/a.jsonl: the database cannot be opened: "]);
    check(&place, "tune blur --size 8x8 --db folder", &["folder: the database cannot be opened: "]);
    check(
        &place,
        "tune blur --size 8x8 --db old.jsonl",
        &["old.jsonl: line 1: the record is of version 0, but this halide reads version 1; take the line out"],
    );
    check(&place, "tune blur --size 8x8 --db no.jsonl", &["no.jsonl: line 1: `v` of the record is not a number"]);
    check_usage("tune blur --time 60", "expected a time with its unit, for example 500ms, 60s or 5m");
    check_usage("tune blur --time -3s", "unexpected argument");
    check_usage("tune blur --seed x", "invalid digit");
    check_usage("tune blur a.png --random 3", "with --random or --size there is no image to read");
}

/// Ctrl-C ends a tuning that would take an hour, and the best schedule is written.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_best() {
    use std::process::{Command, Stdio};
    let place = Workplace::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_halide"));
    let args = "tune unsharp --size 320x240 --threads 1 --time 60m --db a.jsonl -o a.sched --json";
    let child = command.args(args.split_whitespace()).current_dir(place.path("")).stdout(Stdio::piped());
    let child = child.stderr(Stdio::null()).spawn().expect("the binary starts");
    // A record in the database shows that it measures.
    while fs::metadata(place.path("a.jsonl")).map_or(0, |m| m.len()) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let told = json(&String::from_utf8(output.stdout).expect("UTF-8"));
    assert_eq!(told["ended"], "stopped");
    let text = fs::read_to_string(place.path("a.sched")).expect("it was written");
    let schedule = Schedule::parse(&text, "a.sched").expect("it is a schedule");
    assert_eq!(schedule.to_string(), told["schedule"]);
}
