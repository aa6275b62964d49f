//! `halide watch --cargo` with a cargo that says what a test tells it to.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use crate::watch::{ROOT, WIDE, Watching, ask, check_row, interrupt};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// A program that is this build of `halide`.
const RIGHT: &str = "exec $HALIDE \"$@\"";

/// A crate whose cargo says what stands in `messages` and `words`, and ends with what stands in `status`.
struct Crate {
    place: Workplace,
    changes: Cell<usize>,
}

impl Crate {
    fn new() -> Crate {
        let made = Crate { place: Workplace::new(), changes: Cell::new(0) };
        fs::create_dir(made.place.path("src")).unwrap();
        fs::write(made.place.path("Cargo.toml"), "").unwrap();
        fs::write(made.place.path("mine.sched"), ROOT).unwrap();
        made.script("cargo", "echo \"$@\" >> asked; cat messages; cat words >&2; exit $(cat status)");
        made.program(RIGHT);
        made
    }

    /// Writes a script by another process: a file that this one writes could still be open in a child of another test
    /// when it is started.
    fn script(&self, name: &str, text: &str) {
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > aside.sh && chmod +x aside.sh && mv aside.sh \"$2\"";
        let mut command = Command::new("sh");
        command.args(["-c", write, "sh", text, name]).current_dir(self.place.path(""));
        assert!(command.status().expect("sh").success());
    }

    /// Changes the sources, and has cargo make a program of this text.
    fn program(&self, text: &str) {
        let name = format!("program{}", self.changes.get());
        self.script(&name, text);
        self.built(&name);
    }

    /// Changes the sources, and has cargo say that this file is the program.
    fn built(&self, name: &str) {
        let exe = self.place.path(name);
        let artifact = json!({"reason": "compiler-artifact", "target": {"name": "halide", "kind": ["bin"]},
            "executable": exe, "fresh": false});
        self.change(&[json!({"reason": "other"}), artifact], "   Compiling mine", 0);
    }

    /// Changes the sources, whose text becomes longer each time.
    fn change(&self, messages: &[Value], words: &str, status: i32) {
        self.changes.set(self.changes.get() + 1);
        let lines: Vec<String> = messages.iter().map(Value::to_string).collect();
        // No build begins in between that reads half of it.
        let write = |name: &str, text: String| fs::write(self.place.path(name), text).unwrap();
        write("messages", lines.join("\n"));
        write("words", words.to_string());
        write("status", status.to_string());
        write("src/main.rs", "/".repeat(self.changes.get()));
    }

    fn watch(&self, args: &str) -> Watching<'_> {
        let variables = [("CARGO", self.place.path("cargo")), ("HALIDE", PathBuf::from(env!("CARGO_BIN_EXE_halide")))];
        Watching::of_app(&self.place, "blur", &format!("--cargo --size 64x48 {args}"), &variables)
    }
}

fn compiler_error() -> Value {
    let span = json!({"file_name": "src/main.rs", "line_start": 3, "column_start": 5, "is_primary": true});
    let error = json!({"level": "error", "message": "mismatched <types>", "code": {"code": "E0308"}, "spans": [span]});
    json!({"reason": "compiler-message", "message": error})
}

/// The next object that is no row in progress.
fn next(watch: &Watching) -> Value {
    loop {
        let object = watch.line();
        if object["event"] != "row" || object["done"] == true {
            return object;
        }
    }
}

#[test]
fn programs_follow_each_other_in_one_table() {
    let made = Crate::new();
    let watch = made.watch("--serve 0");
    let url = watch.start["url"].as_str().expect("the page has an address").to_string();
    assert_eq!(watch.start["program"], 1);
    let row = watch.row();
    check_row(&row, 1, "timed", &["the first version, 1 directive"]);
    assert_eq!(row["right"], true);

    made.change(&[compiler_error()], "error: could not compile `mine`", 101);
    let row = next(&watch);
    check_row(&row, 2, "error", &["src/main.rs:3:5: mismatched <types> [E0308]"]);
    assert_eq!(row["goes_on"], 1);
    watch.save(WIDE);
    let row = next(&watch);
    check_row(&row, 3, "timed", &["blur_x: vectorize(x, 8)"]);

    made.program(RIGHT);
    let start = next(&watch);
    assert_eq!((&start["event"], &start["program"], &start["url"]), (&json!("start"), &json!(2), &json!(url)));
    let row = next(&watch);
    check_row(&row, 4, "timed", &["program 2, the best before was "]);
    assert_eq!((&row["standing"], &row["right"], &row["compiled"]), (&json!("first"), &json!(true), &json!(true)));
    let asked = fs::read_to_string(made.place.path("asked")).unwrap();
    let line = asked.lines().next().unwrap();
    assert!(
        line.starts_with("build --message-format=json --manifest-path ") && line.contains(" --bin halide"),
        "{line}"
    );

    // The page has the rows of both.
    let events = ask(&url, "GET /events HTTP/1.1\r\nHost: HOST\r\n\r\n", "\"version\":4,");
    for version in 1..=3 {
        assert!(events.contains(&format!("\"version\":{version},")), "{version}: {events}");
    }
    interrupt(&watch.child);
    assert!(watch.ended());
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    assert!(TcpStream::connect(address).is_err(), "the program has ended, too");
}

#[test]
fn programs_that_crash_or_cannot_begin_are_rows() {
    let made = Crate::new();
    let watch = made.watch("--saves 7");
    check_row(&watch.row(), 1, "timed", &[]);
    made.program("exit 7");
    check_row(&next(&watch), 2, "error", &["the program ended with exit status: 7", "when its sources change"]);
    made.change(&[compiler_error(), compiler_error()], "", 101);
    check_row(&next(&watch), 3, "error", &["mismatched <types> [E0308]\nand 1 more error"]);
    made.program("exec $HALIDE watch blur mine.sched none.png --json --cargo");
    check_row(&next(&watch), 4, "error", &["none.png", "No such file"]);
    made.change(&[], "   Compiling\nerror: failed to parse manifest\nwhy", 101);
    check_row(&next(&watch), 5, "error", &["exit status: 101: error: failed to parse manifest\nwhy"]);
    made.built("nowhere");
    check_row(&next(&watch), 6, "error", &["the program does not start: No such file"]);
    made.program(RIGHT);
    let start = next(&watch);
    assert_eq!((&start["event"], &start["program"]), (&json!("start"), &json!(5)), "{start}");
    check_row(&next(&watch), 7, "timed", &["program 5, the best before was 1: "]);
    assert!(watch.ended());
}

#[test]
fn sources_that_make_the_same_program_change_nothing() {
    let made = Crate::new();
    let watch = made.watch("--saves 3");
    check_row(&watch.row(), 1, "timed", &[]);
    made.built("program0");
    fs::write(made.place.path("src/notes.txt"), "no source").unwrap();
    // Cargo was asked twice before anything else is saved.
    let asked = || fs::read_to_string(made.place.path("asked")).unwrap().lines().count();
    while asked() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    watch.save(WIDE);
    let row = next(&watch);
    check_row(&row, 2, "timed", &["blur_x: vectorize(x, 8)"]);
    fs::write(made.place.path("status"), "101").unwrap();
    fs::write(made.place.path("messages"), b"\xff\n{").unwrap();
    fs::remove_dir_all(made.place.path("src")).unwrap();
    check_row(&next(&watch), 3, "error", &["cargo build ended with exit status: "]);
    assert!(watch.ended());
}

#[test]
fn a_first_build_that_fails_is_a_row_and_a_wrong_crate_the_end() {
    let made = Crate::new();
    made.change(&[compiler_error()], "", 101);
    let watch = made.watch("--saves 2");
    let rows = [watch.row(), watch.row()];
    let texts: Vec<String> = rows.iter().map(|row| row["kind"].to_string()).collect();
    assert!(texts.contains(&"\"error\"".to_string()), "{texts:?}");
    assert!(watch.ended());

    let place = &made.place;
    made.change(&[], "error: no bin target named `halide`", 101);
    let cargo = place.path("cargo");
    let ran = place.run_with("watch blur mine.sched --cargo --size 8x8", &[("CARGO", cargo.to_str().unwrap())]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("error: no bin target named `halide`"), "{}", ran.stderr);
    let ran = place.run_with("watch blur mine.sched --cargo --size 8x8", &[("CARGO", "/nowhere/cargo")]);
    assert!(ran.status == 1 && ran.stderr.contains("/nowhere/cargo: No such file"), "{}", ran.stderr);

    // What the first program refuses ends the watch with its status.
    made.program(RIGHT);
    let variables = [("CARGO", cargo.to_str().unwrap()), ("HALIDE", env!("CARGO_BIN_EXE_halide"))];
    let ran = place.run_with("watch blur mine.sched none.png --cargo", &variables);
    assert!(ran.status == 1 && ran.stderr.contains("none.png"), "{}", ran.stderr);
}

#[test]
fn mistakes_are_found_before_anything_is_built() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), ROOT).unwrap();
    check(&place, "watch blur mine.sched --cargo --manifest-path none.toml", &["none.toml: there is no such manifest"]);
    fs::write(place.path("Cargo.toml"), "").unwrap();
    check(&place, "watch blur mine.sched --cargo", &["there is no folder `src` beside it", "--manifest-path"]);
    check_usage("watch blur mine.sched --manifest-path Cargo.toml", "--cargo");
    check_usage("watch blur mine.sched --features gpu", "--cargo");
}
