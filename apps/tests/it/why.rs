//! `halide why`: the changes between two schedules, those that are legal only together, and the guilty one.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use serde_json::{Value, json};
use std::fs;

/// A size that takes no time.
const SMALL: &str = "--size 64x48 --threads 1";

/// A folder with the two schedules `a.sched` and `b.sched`.
fn pair(a: &str, b: &str) -> Workplace {
    let place = Workplace::new();
    fs::write(place.path("a.sched"), a).unwrap();
    fs::write(place.path("b.sched"), b).unwrap();
    place
}

/// The answer as JSON.
fn answer(place: &Workplace, app: &str, args: &str) -> Value {
    let ran = place.succeed(&format!("why {app} a.sched b.sched --json {args}"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout))
}

/// The texts of the changes, step by step, of the steps in the order of their changes.
fn steps(answer: &Value) -> Vec<Vec<String>> {
    let text =
        |change: &Value| answer["changes"][change.as_u64().unwrap() as usize]["text"].as_str().unwrap().to_string();
    let step = |step: &Value| step["changes"].as_array().unwrap().iter().map(text).collect();
    let mut all: Vec<Vec<String>> = answer["steps"].as_array().unwrap().iter().map(step).collect();
    all.sort();
    all
}

/// Two schedules of which the second computes 64 values of `blur_x` for each element instead of a row for each row.
const DEEP: (&str, &str) = (
    "blur_y: split(x, xo, xi, 16)\nblur_x: compute_at(blur_y, y) vectorize(x, 16)",
    "blur_y: split(x, xo, xi, 8)\nblur_x: compute_at(blur_y, xi) vectorize(x, 64)\nblur_y: parallel(y)",
);

#[test]
fn the_guilty_change_is_first() {
    let place = pair(DEEP.0, DEEP.1);
    let found = answer(&place, "blur", SMALL);
    assert_eq!(found["answer"], "slower", "{found:#}");
    let first = found["steps"][0]["changes"][0].as_u64().unwrap() as usize;
    let change = &found["changes"][first];
    assert_eq!(change["text"], "blur_x: compute_at(blur_y, y) -> blur_x: compute_at(blur_y, xi)", "{found:#}");
    assert_eq!((&change["before"]["at"], &change["after"]["at"]), (&json!("a.sched:2"), &json!("b.sched:2")));
    for key in ["app", "size", "threads", "rounds", "a", "b", "answer", "ratio", "noise", "changes", "steps"] {
        assert!(!found[key].is_null(), "{key}: {found:#}");
    }
    for key in ["changes", "alone", "without", "worth", "share"] {
        assert!(!found["steps"][0][key].is_null(), "{key}: {found:#}");
    }
    let told = place.succeed(&format!("why blur a.sched b.sched {SMALL}")).stdout;
    let line = "`blur_x: compute_at(blur_y, y) -> blur_x: compute_at(blur_y, xi)` explains ";
    assert!(told.lines().last().is_some_and(|last| last.starts_with(line)), "{told}");
    assert!(told.contains("b.sched:2") && told.contains("without it"), "{told}");
}

#[test]
fn changes_that_are_legal_only_together_are_one_step() {
    // Without `xi` nothing is computed at it, and without the other split nothing at `columns`.
    let a = "blur_y: split(x, xo, xi, 8)\nblur_x: compute_at(blur_y, xi) vectorize(x, 64)";
    let b = "blur_y: split(x, columns, column, 8)\nblur_x: compute_at(blur_y, columns) vectorize(x, 64)\nblur_y: parallel(y)";
    let place = pair(a, b);
    let found = answer(&place, "blur", SMALL);
    assert_eq!(found["answer"], "faster", "{found:#}");
    let split = "blur_y: split(x, xo, xi, 8) -> blur_y: split(x, columns, column, 8)";
    let at = "blur_x: compute_at(blur_y, xi) -> blur_x: compute_at(blur_y, columns)";
    assert_eq!(steps(&found), [vec!["blur_y: parallel(y)"], vec![split, at]]);
    assert_eq!(found["steps"][0]["changes"].as_array().map(Vec::len), Some(2), "{found:#}");
    let told = place.succeed(&format!("why blur a.sched b.sched {SMALL}")).stdout;
    assert!(told.contains(&format!("  and {at}\n")) && told.contains("` together explain "), "{told}");
}

#[test]
fn changes_that_are_not_legal_alone_say_why() {
    let place =
        pair("blur_x: compute_root()", "blur_y: split(x, xo, xi, 8)\nblur_x: compute_at(blur_y, xi) vectorize(x, 64)");
    let found = answer(&place, "blur", SMALL);
    let at = "blur_x: compute_root() -> blur_x: compute_at(blur_y, xi)";
    let all = steps(&found);
    assert_eq!(all, [vec![at], vec!["blur_x: vectorize(x, 64)"], vec!["blur_y: split(x, xo, xi, 8)"]]);
    let is_at = |step: &&Value| found["changes"][step["changes"][0].as_u64().unwrap() as usize]["text"] == at;
    let step = found["steps"].as_array().unwrap().iter().find(is_at).unwrap();
    assert!(step["alone"]["error"].as_str().is_some_and(|error| error.contains("xi")), "{step:#}");
    assert!(step["without"]["ratio"].is_number() && step["share"].is_number(), "{step:#}");
}

#[test]
fn equal_schedules_and_times_are_one_line() {
    let place = pair("blur_x: compute_root() # the same", "let n = 1\nblur_x: compute_root()");
    let told = place.succeed(&format!("why blur a.sched b.sched {SMALL}")).stdout;
    assert_eq!(told, "`a.sched` and `b.sched` have the same directives\n");
    let found = answer(&place, "blur", SMALL);
    assert_eq!(
        (&found["answer"], &found["steps"], &found["changes"]),
        (&json!("same directives"), &json!([]), &json!([]))
    );
}

#[test]
fn mistakes_are_told() {
    let place = pair("blur_x: compute_root()", "blur_x: compute_at(blur_y, z)");
    let why = |rest: &str| format!("why blur {rest} {SMALL}");
    check(&place, &why("a.sched b.sched"), &["schedule `b.sched`: ", "z"]);
    check(&place, &why("b.sched a.sched"), &["schedule `b.sched`: "]);
    check(&place, &why("rot a.sched"), &["no schedule `rot`", "did you mean `root`?"]);
    check(&place, &why("a.sched none.sched"), &["none.sched", "No such file"]);
    check(&place, "why blr a.sched b.sched", &["did you mean `blur`?"]);
    fs::write(place.path("b.sched"), "blur_x compute").unwrap();
    check(&place, &why("a.sched b.sched"), &["b.sched:1:"]);
    fs::write(place.path("b.sched"), "blur_y: parallel(y)\n".repeat(2001)).unwrap();
    check(&place, &why("a.sched b.sched"), &["2001 directives", "2000"]);
    check_usage("why blur a.sched", "<B>");
    check_usage("why blur root strips a.png --size 8x8", "there is no image to read");
    check_usage("why blur root strips --time 5", "expected a time with its unit");
}
