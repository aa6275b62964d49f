//! `halide bench`: times in a table and in files, comparisons with files, and stamps.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use serde_json::{Value, json};
use std::fs;

/// A bench that takes no time.
const BENCH: &str = "bench blur --size 64x48 --threads 1 --rounds 4";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Changes a file of times.
fn change(place: &Workplace, change: impl Fn(&mut Value)) {
    let mut times = json(&fs::read_to_string(place.path("base.json")).unwrap());
    change(&mut times);
    fs::write(place.path("changed.json"), times.to_string()).unwrap();
}

#[test]
fn times_are_printed_and_kept() {
    let place = Workplace::new();
    let ran = place.succeed(&format!("{BENCH} --schedule root --schedule strips --save base.json"));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[0].starts_with("blur 64x48, 1 threads, on ") && lines[0].ends_with("; 4 rounds in turn"),
        "{lines:?}"
    );
    assert!(lines.len() == 4 && lines[1].contains("min ms"), "{lines:?}");
    // On a busy machine there is a note that it is one.
    assert!(ran.stderr.is_empty() || ran.stderr.starts_with("note: least times differ by up to "), "{}", ran.stderr);
    let kept = json(&fs::read_to_string(place.path("base.json")).unwrap());
    assert_eq!((&kept["v"], &kept["app"], &kept["threads"]), (&json!(1), &json!("blur"), &json!(1)));
    assert_eq!(kept["algorithm"].as_str().map(str::len), Some(16));
    let names: Vec<&Value> = kept["schedules"].as_array().unwrap().iter().map(|row| &row["schedule"]).collect();
    assert_eq!(names, ["root", "strips"]);
    let told = json(&place.succeed(&format!("{BENCH} --schedule strips --json")).stdout);
    assert_eq!(told["schedules"][0]["text"], kept["schedules"][1]["text"]);
    // All of the app; those for a GPU are left out where there is none.
    let all = place.succeed(&format!("{BENCH} --json"));
    assert!(json(&all.stdout)["schedules"].as_array().is_some_and(|rows| rows.len() >= 5), "{}", all.stdout);
}

#[test]
fn slower_schedules_fail() {
    let place = Workplace::new();
    place.succeed(&format!("{BENCH} --schedule root --schedule strips --save base.json"));
    // No test asserts a time: these are changed to be far away.
    change(&place, |times| {
        times["schedules"][0]["min_ms"] = json!(1e-9);
        times["schedules"][1]["min_ms"] = json!(1e9);
        times["schedules"][1]["text"] = json!("0");
        times["algorithm"] = json!("0");
    });
    let ran = place.run(&format!("{BENCH} --schedule root --schedule strips --against changed.json --tolerance 5%"));
    assert_eq!(ran.status, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("; 8 rounds in turn"), "what seems slower runs again: {}", ran.stdout);
    let slower: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("SLOWER by ")).collect();
    assert!(slower.len() == 1 && slower[0].starts_with("  root "), "{}", ran.stdout);
    assert!(ran.stdout.contains("; its text has changed\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("note: the algorithm has changed since changed.json was saved"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("error: 1 of 2 schedules are slower than in changed.json\n"), "{}", ran.stderr);
    let told = place.succeed(&format!("{BENCH} --schedule strips --against changed.json --json"));
    let told = json(&told.stdout);
    assert_eq!((&told["compared"][0]["is_slower"], &told["compared"][0]["is_changed"]), (&json!(false), &json!(true)));
    let ran = place.run(&format!("{BENCH} --schedule tiles --against changed.json"));
    assert!(ran.stderr.contains("changed.json has none of the schedules that were timed"), "{}", ran.stderr);
}

#[test]
fn files_of_something_else_are_refused_before_anything_is_timed() {
    let place = Workplace::new();
    place.succeed(&format!("{BENCH} --schedule root --save base.json"));
    let refused = |args: &str, parts: &[&str]| check(&place, &format!("{args} --schedule root"), parts);
    let other = "its times say nothing about these: they are of ";
    refused("bench blur --size 32x48 --threads 1 --against base.json", &[other, "size 64x48 instead of 32x48"]);
    refused("bench blur --size 64x48 --threads 2 --against base.json", &[other, "threads 1 instead of 2"]);
    refused("bench hist --size 64x48 --threads 1 --against base.json", &[other, "app blur instead of hist"]);
    change(&place, |times| times["processor"] = json!("other"));
    refused(&format!("{BENCH} --against changed.json"), &[other, "processor other instead of "]);
    change(&place, |times| times["v"] = json!(0));
    let text = "changed.json: it is of version 0, but this halide reads version 1; save it again with --save";
    refused(&format!("{BENCH} --against changed.json"), &[text]);
    fs::write(place.path("changed.json"), "{").unwrap();
    refused(&format!("{BENCH} --against changed.json"), &["changed.json: it is no JSON: ", "save it again"]);
    refused(&format!("{BENCH} --against none.json"), &["none.json: No such file"]);
    refused(&format!("{BENCH} --save nowhere/a.json"), &["nowhere", "No such file"]);
    check_usage("bench blur --save a.json --against a.json", "small losses add up");
    check_usage("bench blur --tolerance -1%", "unexpected argument");
    check_usage("bench blur --tolerance=x", "expected a percentage that is not negative, for example 3%");
    check_usage("bench blur --stamp", "name them with --schedule FILE");
    check_usage("bench blur --set rows=3", "--set is for schedules that are named");
    check(&place, "bench blur --schedule root --schedule root", &["schedule `root` is given twice"]);
    check(&place, "bench blur --schedule root --stamp", &["schedule `root` comes with the app"]);
}

#[test]
fn stamps_say_for_which_algorithm_a_schedule_is() {
    let place = Workplace::new();
    let path = place.path("mine.sched");
    fs::write(&path, "# mine\r\nblur_x: compute_root()\r\n").unwrap();
    place.succeed(&format!("{BENCH} --schedule mine.sched --stamp"));
    let stamped = fs::read_to_string(&path).unwrap();
    let (stamp, rest) = stamped.split_once("\r\n").unwrap();
    assert!(stamp.starts_with("# for ") && stamp.contains(" ms on "), "{stamped}");
    assert_eq!(rest, "# mine\r\nblur_x: compute_root()\r\n");
    let run = "run blur --size 64x48 --schedule mine.sched";
    assert_eq!(place.succeed(run).stderr, "");
    // Also on an image, of which the algorithm repeats the edges.
    crate::write_grey(&place.path("a.png"), 16, 16);
    assert_eq!(place.succeed("run blur a.png b.png --schedule mine.sched").stderr, "");

    let hash = &stamp["# for ".len()..][..16];
    fs::write(&path, stamped.replace(hash, "0123456789abcdef")).unwrap();
    let stale = "note: mine.sched:1: the stamp is for the algorithm 0123456789abcdef, and that of `blur` is ";
    for args in [run, &format!("{BENCH} --schedule mine.sched"), "watch blur mine.sched --size 64x48 --saves 1"] {
        let told = place.succeed(args).stderr;
        assert!(told.contains(stale) && told.contains(hash), "{args}: {told}");
    }
    place.succeed(&format!("{BENCH} --schedule mine.sched --stamp"));
    assert_eq!(place.succeed(run).stderr, "");
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3, "one stamp");
}
