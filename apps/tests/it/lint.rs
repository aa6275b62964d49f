//! `halide lint`: findings as text and JSON, edits that are kept, and mistakes of users.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use halide::findings::{Edit, Finding};
use halide::prelude::*;
use halide_apps::app::APPS;
use halide_apps::job::{Job, Source};
use serde_json::Value;
use std::fs;

/// A size that takes no time.
const SMALL: &str = "--size 160x120 --threads 2";

/// A folder with the schedule `mine.sched`.
fn with(schedule: &str) -> Workplace {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), schedule).unwrap();
    place
}

fn answer(place: &Workplace, args: &str) -> Value {
    let ran = place.succeed(&format!("lint {args} --json"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout))
}

/// The rules of findings.
fn rules(answer: &Value) -> Vec<&str> {
    answer["findings"].as_array().unwrap().iter().map(|found| found["rule"].as_str().unwrap()).collect()
}

#[test]
fn findings_come_with_the_edit() {
    let place = with("blur_y: vectorize(y, 16)\nblur_x: compute_root() vectorize(x, 16)");
    let told = place.succeed(&format!("lint blur --schedule mine.sched --no-run {SMALL}")).stdout;
    assert!(told.starts_with("blur 160x120, 2 threads, schedule `mine.sched`: "), "{told}");
    for part in
        ["vectors-across-rows  `blur_y` has vectors over", "- blur_y: vectorize(y, 16)", "+ blur_y: vectorize(x, nat"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(place.files(), ["mine.sched"], "nothing is written");
    let found = answer(&place, &format!("blur --schedule mine.sched --no-run {SMALL}"));
    assert!(rules(&found).contains(&"vectors-across-rows"), "{found:#}");
    let first = &found["findings"][0];
    for key in ["rule", "func", "value", "threshold", "unit", "work", "text", "edit"] {
        assert!(!first[key].is_null(), "{key}: {found:#}");
    }
    assert!(first["share"].is_null(), "nothing was run: {found:#}");
    let timed = answer(&place, &format!("blur --schedule mine.sched {SMALL}"));
    let shares = timed["findings"].as_array().unwrap().iter().map(|found| found["share"].as_f64());
    let shares: Vec<f64> = shares.map(|share| share.unwrap_or_else(|| panic!("{timed:#}"))).collect();
    assert!(shares.windows(2).all(|pair| pair[0] >= pair[1]), "the largest share first: {shares:?}");
}

#[test]
fn numbers_of_schedules_can_be_set() {
    let place = with(
        "let rows = 60\nblur_y: split(y, yo, yi, rows) parallel(yo) vectorize(x, 16)\nblur_x: compute_at(blur_y, yo)",
    );
    let of =
        |rest: &str| answer(&place, &format!("blur --schedule mine.sched --no-run --size 1600x120 --threads 2 {rest}"));
    let blamed = |answer: &Value| {
        answer["findings"].as_array().unwrap().iter().map(|f| f["text"].to_string()).collect::<String>()
    };
    assert_ne!(blamed(&of("")), blamed(&of("--set rows=120")));
}

#[test]
fn edits_that_are_faster_are_kept() {
    let place = with("blur_y: vectorize(y, 16)\nblur_x: compute_root()");
    let args = "lint blur --schedule mine.sched --fix --budget 5s --out better.sched --size 640x480 --threads 1";
    let told = place.succeed(args).stdout;
    assert!(told.contains("the same bits") && told.contains("wrote better.sched"), "{told}");
    assert!(
        told.contains("--- mine.sched\n+++ mended\n@@ -1,2 ") && told.contains("\n-blur_y: vectorize(y, 16)\n"),
        "{told}"
    );
    let written = fs::read_to_string(place.path("better.sched")).unwrap();
    assert!(written.starts_with("# Mended for blur 640x480, 1 threads: "), "{written}");
    let ran = place.succeed("run blur --schedule better.sched --size 640x480 --check").stdout;
    assert!(ran.contains("agrees with the interpreter"), "{ran}");
    let mended = answer(&place, "blur --schedule better.sched --fix --budget 1s --size 640x480 --threads 1");
    for key in ["before_ms", "after_ms", "ratio", "tried", "seconds", "ended", "kept", "wrong", "patch", "result"] {
        assert!(!mended[key].is_null(), "{key}: {mended:#}");
    }
    assert_eq!(mended["wrong"].as_array().map(Vec::len), Some(0), "{mended:#}");
}

#[test]
fn schedules_without_directives_and_small_sizes_are_no_mistake() {
    let place = with("");
    for size in ["1x1", "7x1", "1x9"] {
        place.succeed(&format!("lint blur --schedule mine.sched --size {size}"));
    }
    let mended = answer(&place, "blur --schedule mine.sched --fix --budget 1s --size 2x2");
    assert!(mended["kept"].is_array(), "{mended:#}");
    // Apps that run a channel at a time, and those whose stages directives make.
    place.succeed("lint hist --size 64x48");
    place.succeed("lint blur --schedule auto --size 64x48");
    place.succeed("lint local_laplacian --size 64x48 --no-run");
}

#[test]
fn mistakes() {
    let place = with("blur_y: parallel(z)");
    check(&place, "lint blr", &["there is no app `blr`; did you mean `blur`?"]);
    check(&place, "lint blur --schedule mine.sched", &["no loop `z`"]);
    check(&place, "lint blur --schedule none.sched", &["none.sched", "No such file"]);
    check(&place, "lint blur --size 0x4", &["--size 0x4: width and height must be at least 1"]);
    let missing = "lint blur --size 9999x9999 --fix --out nowhere/a.sched";
    check(&place, missing, &["nowhere", "No such file"]);
    check(&place, "lint blur --size 8x8 --schedule gpu", &["schedule `gpu` gives work to a GPU", "name another one"]);
    check_usage("lint blur --out a.sched", "--fix");
    check_usage("lint blur --fix --no-run", "--no-run");
    check_usage("lint blur --fix --budget 1", "expected a time with its unit");
    check_usage("lint blur photo.png --size 8x8", "there is no image to read");
}

/// The edits of each app with every Func at the root, all of them together, compute the same bits.
#[test]
fn edits_leave_every_bit() {
    let target = Target { threads: 4, ..Target::host() };
    let mut nothing_to_mend = Vec::new();
    for app in APPS {
        let job = Job::new(app, Source::Random { seed: 3, width: 90, height: 70 }, &[]).unwrap();
        let compile = |schedule: &Schedule| {
            job.pipeline.compile(schedule, &target).unwrap_or_else(|e| panic!("{}: {e}\n{schedule}", app.name))
        };
        let run = |compiled: &Compiled| {
            let mut outputs = job.outputs().unwrap();
            job.run(compiled, None, &mut outputs).unwrap_or_else(|e| panic!("{}: {e}", app.name));
            outputs
        };
        let root = compile(&Schedule::all_at_root(&job.pipeline));
        let (expected, found) = (run(&root), job.findings(&root, None).unwrap());
        let all: Vec<&Finding> = found.iter().collect();
        let together: Option<Edit> = job.together(&root, &all).unwrap();
        let Some(edit) = together else {
            nothing_to_mend.push(app.name);
            continue;
        };
        assert!(run(&compile(&edit.schedule)) == expected, "{} by\n{}", app.name, edit.schedule);
    }
    // Float sums in their order have no other schedule that leaves every bit.
    assert_eq!(nothing_to_mend, ["cumsum"]);
}
