//! Schedules and crates of one's own: numbers that are set, checks, and `new`.

use crate::Workplace;
use crate::bad_input::check;
use serde_json::Value;

#[test]
fn schedules_are_held_against_the_interpreter() {
    let place = Workplace::new();
    let said = place.succeed("check blur --schedule strips --set rows=7 --size 21x9").stdout;
    assert!(said.starts_with("  strips ") && said.contains("agrees at 1 sizes"), "{said}");
    let said = place.succeed("check harris --size 5x3 --json").stdout;
    let rows: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
    let names: Vec<Option<&str>> = rows.as_array().into_iter().flatten().map(|row| row["schedule"].as_str()).collect();
    assert_eq!(names, [Some("cpu"), Some("root")]);
    assert!(rows.as_array().into_iter().flatten().all(|row| row["agrees"] == true), "{said}");
}

#[test]
fn a_schedule_that_breaks_its_promise_does_not_agree() {
    let place = Workplace::new();
    std::fs::write(place.path("wrong.sched"), "blur_y: bound_extent(x, 8)").expect("a file");
    place.succeed("check blur --schedule wrong.sched --size 8x3");
    let ran = place.run("check blur --schedule wrong.sched --size 9x3");
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("DIFFERS") && ran.stdout.contains("at 9x3 on the evaluator"), "{}", ran.stdout);
    assert!(ran.stderr.contains("1 of 1 schedules do not agree"), "{}", ran.stderr);
}

#[test]
fn numbers_of_schedules_are_set() {
    let place = Workplace::new();
    let printed = place.succeed("run blur --schedule strips --set rows=64 --print schedule").stdout;
    assert!(printed.contains("split(y, yo, yi, 64)"), "{printed}");
    check(
        &place,
        "run blur --random 1 --schedule strips --set row=64",
        &["the schedule defines no number `row`; did you mean `rows`?"],
    );
    check(
        &place,
        "run blur --random 1 --schedule auto --set rows=64",
        &["a schedule that is chosen has no numbers to set"],
    );
    check(&place, "auto blur --set rows=64", &["a schedule that is chosen has no numbers to set"]);
    check(&place, "check blur --size 0x3", &["width and height must be at least 1"]);
}

#[test]
fn a_crate_to_begin_with_is_written_once() {
    let place = Workplace::new();
    let said = place.succeed("new my-own").stdout;
    assert!(said.contains("cd my-own\n  cargo run --release -- run photo.jpg"), "{said}");
    let read = |file: &str| std::fs::read_to_string(place.path("my-own").join(file)).expect("a file");
    assert!(read("Cargo.toml").contains("name = \"my-own\"") && read("Cargo.toml").contains("[workspace]"));
    let program = include_str!("../../../tool/examples/mine.rs");
    assert_eq!(read("src/main.rs").replace("my-own", "mine"), program);
    for file in ["strips.sched", "stages.sched"] {
        assert!(read(&format!("schedules/{file}")).contains("across: "), "{file}");
    }
    assert!(place.path("my-own/photo.jpg").exists());
    check(&place, "new 2d", &["choose another name"]);
    let ran = place.run("new my-own");
    assert_eq!((ran.status, ran.stderr.as_str()), (1, "error: my-own: it is there already; choose another name\n"));
}
