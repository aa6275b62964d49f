//! `halide watch`: a row for each save, whatever is saved, and nothing is left behind.

use crate::Workplace;
use crate::bad_input::{check, check_usage};
use halide::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The time after which a test gives up; nothing takes as long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) const ROOT: &str = "blur_x: compute_root()";
pub(crate) const WIDE: &str = "blur_x: compute_root() vectorize(x, 8)";

/// A watch of `mine.sched` that goes on, with a line of JSON for each row.
pub(crate) struct Watching<'p> {
    place: &'p Workplace,
    pub(crate) child: Child,
    lines: Receiver<String>,
    pub(crate) start: Value,
}

impl<'p> Watching<'p> {
    pub(crate) fn new(place: &'p Workplace, args: &str) -> Watching<'p> {
        Watching::of_app(place, "blur", args, &[])
    }

    pub(crate) fn of_app(
        place: &'p Workplace,
        app: &str,
        args: &str,
        variables: &[(&str, std::path::PathBuf)],
    ) -> Watching<'p> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halide"));
        command.args(format!("watch {app} mine.sched --threads 1 --json {args}").split_whitespace());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(place.path("")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        let mut watching = Watching { place, child, lines, start: Value::Null };
        watching.start = watching.line();
        assert_eq!(watching.start["event"], "start");
        watching
    }

    pub(crate) fn line(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// The next row that is done.
    pub(crate) fn row(&self) -> Value {
        loop {
            let row = self.line();
            assert_eq!(row["event"], "row", "{row}");
            if row["done"] == true {
                return row;
            }
        }
    }

    /// Writes the file aside and renames it, as editors do.
    pub(crate) fn save(&self, text: impl AsRef<[u8]>) {
        let aside = self.place.path("aside");
        fs::write(&aside, text).unwrap();
        fs::rename(aside, self.file()).unwrap();
    }

    fn file(&self) -> std::path::PathBuf {
        self.place.path("mine.sched")
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> bool {
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        // One that has ended is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(crate) fn check_row(row: &Value, version: u64, kind: &str, parts: &[&str]) {
    assert_eq!((&row["version"], &row["kind"]), (&json!(version), &json!(kind)), "{row}");
    let text = row["error"].as_str().map_or(row["changes"].to_string(), str::to_string);
    for part in parts {
        assert!(text.contains(part), "expected `{part}` in {row}");
    }
}

#[test]
fn every_save_has_its_row_and_none_ends_the_watch() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), ROOT).unwrap();
    fs::write(place.path("mine.best.sched"), "# mine").unwrap();
    let watch = Watching::new(&place, "--size 64x48 --saves 12");
    assert_eq!((&watch.start["app"], &watch.start["size"]), (&json!("blur"), &json!([64, 48])));

    let row = watch.row();
    check_row(&row, 1, "timed", &["the first version, 1 directive"]);
    assert_eq!((&row["result"], &row["right"], &row["compiled"]), (&json!("same bits"), &json!(true), &json!(true)));
    assert!(row["min_ms"].as_f64() > Some(0.0) && row["runs"].as_u64() > Some(1), "{row}");
    watch.save("blur_y: vectorize(x, 8");
    check_row(&watch.row(), 2, "error", &["mine.sched:1:23"]);
    watch.save("\nblur_z: compute_root()");
    let row = watch.row();
    check_row(&row, 3, "error", &["mine.sched:2:9", "`blur_z`", "did you mean `blur_"]);
    assert_eq!(row["goes_on"], 1);
    watch.save(WIDE);
    let row = watch.row();
    check_row(&row, 4, "timed", &["blur_x: vectorize(x, 8)"]);
    assert_eq!((&row["result"], &row["compiled"]), (&json!("same bits"), &json!(true)));
    fs::remove_file(watch.file()).unwrap();
    let row = watch.row();
    check_row(&row, 5, "gone", &["gone"]);
    assert_eq!(row["goes_on"], 4);
    watch.save(ROOT);
    let row = watch.row();
    check_row(&row, 6, "timed", &["without blur_x: vectorize(x, 8)"]);
    assert_eq!(row["compiled"], false, "its code was kept");
    watch.save(b"blur_x:\n\xff");
    check_row(&watch.row(), 7, "error", &["mine.sched: line 2 is not UTF-8"]);
    watch.save("");
    check_row(&watch.row(), 8, "timed", &["the file is empty: the default schedule"]);
    watch.save("");
    watch.save(" ".repeat((1 << 20) + 1));
    check_row(&watch.row(), 9, "error", &["it is longer than 1 MiB"]);
    // Legal, and a run of another size ends with a fault.
    watch.save("blur_y: bound_extent(x, 32)");
    let row = watch.row();
    check_row(&row, 10, "error", &["the schedule promises a fixed region at mine.sched:1:9"]);
    assert_eq!(row["goes_on"], 8);
    fs::remove_file(watch.file()).unwrap();
    fs::create_dir(watch.file()).unwrap();
    check_row(&watch.row(), 11, "error", &["it is a folder"]);
    fs::remove_dir(watch.file()).unwrap();
    // Not renamed but written in place.
    fs::write(watch.file(), format!("# a comment\n{WIDE}\n")).unwrap();
    let row = watch.row();
    check_row(&row, 12, "timed", &["blur_x: compute_root()", "blur_x: vectorize(x, 8)"]);
    assert_eq!(row["compiled"], false, "comments are no code");
    assert!(watch.ended());
    assert_eq!(fs::read_to_string(place.path("mine.best.sched")).unwrap(), "# mine", "it is somebody's");
}

#[test]
fn the_best_version_is_kept_beside_the_file() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), ROOT).unwrap();
    let watch = Watching::new(&place, "--size 640x480 --saves 2");
    watch.row();
    let text =
        "# rows\nblur_y: vectorize(x, natural)\nblur_x: store_root() compute_at(blur_y, y) vectorize(x, natural)\n";
    watch.save(text);
    let row = watch.row();
    assert!(watch.ended());
    // No test asserts a time: what is faster is kept, and only that.
    let kept = fs::read_to_string(place.path("mine.best.sched"));
    assert_eq!(row["kept_as"].as_str().is_some(), kept.is_ok(), "{row}");
    if let Ok(kept) = kept {
        assert_eq!((&row["kept_as"], &row["is_best"]), (&json!("mine.best.sched"), &json!(true)));
        assert!(
            kept.starts_with("# Kept by halide watch, ") && kept.contains("\n# for ") && kept.ends_with(text),
            "{kept}"
        );
        let (kept, saved) = (Schedule::parse(&kept, "kept").unwrap(), Schedule::parse(text, "saved").unwrap());
        assert_eq!(kept, saved);
    }
}

#[test]
fn without_a_terminal_each_row_is_printed_once() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "let rows = 4\nblur_y: split(y, yo, yi, rows)").unwrap();
    let ran = place.succeed("watch blur mine.sched --size 64x48 --threads 1 --saves 1 --set rows=8");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((lines.len(), ran.stderr.as_str()), (4, ""), "{}", ran.stdout);
    assert!(lines[0].starts_with("blur 64x48, 1 threads, on ") && lines[0].ends_with("; watching mine.sched"));
    assert!(lines[1].starts_with("  #  UTC "), "{}", ran.stdout);
    assert!(lines[2].starts_with("  1  ") && lines[2].ends_with("same bits   the first version, 1 directive"));
    assert!(lines[3].starts_with("1 row; the first version, 1, is the best: "), "{}", ran.stdout);
    let ran = place.succeed("watch blur none.sched --size 64x48 --saves 1");
    assert!(ran.stdout.contains("  gone; waiting\n1 row\n"), "{}", ran.stdout);
    let ran = place.succeed("watch blur none.sched --size 64x48 --for 100ms");
    assert!(ran.stdout.ends_with(" row\n") || ran.stdout.ends_with(" rows\n"), "{}", ran.stdout);
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let place = Workplace::new();
    check(&place, "watch blr mine.sched", &["no app `blr`"]);
    check(
        &place,
        "watch blur strips",
        &["`strips` is a schedule of `blur`, and no file", "--print schedule > strips.sched"],
    );
    check(&place, "watch blur nowhere/mine.sched --size 8x8", &["there is no folder nowhere"]);
    check(&place, "watch blur mine.sched none.png", &["none.png", "No such file"]);
    check_usage("watch blur mine.sched a.png --size 8x8", "there is no image to read");
    check_usage("watch blur mine.sched --saves 0", "not in 1..");
    check_usage("watch blur mine.sched --for 60", "expected a time with its unit");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let args = format!("watch blur mine.sched none.png --serve {port}");
    check(&place, &args, &[&format!("--serve {port}: "), "name another port, or 0 for one that is free"]);
}

/// The answer of the page's server to a request, up to `end`.
pub(crate) fn ask(url: &str, request: &str, end: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.replace("HOST", address).as_bytes()).unwrap();
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut part).unwrap();
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes);
        if count == 0 || (!end.is_empty() && text.contains(end)) {
            return text.into_owned();
        }
    }
}

#[test]
fn a_page_shows_the_rows_to_this_machine_alone() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), WIDE).unwrap();
    let watch = Watching::new(&place, "--size 64x48 --serve 0");
    let url = watch.start["url"].as_str().expect("the page has an address").to_string();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let page = ask(&url, "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", "");
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("<title>halide watch</title>"), "{page}");
    let events = ask(&url, "GET /events HTTP/1.1\r\nHost: HOST\r\n\r\n", "event: details\n");
    assert!(events.contains("event: start\ndata: {\"event\":\"start\",\"app\":\"blur\""), "{events}");
    let all = ask(&url, "GET /events HTTP/1.1\r\nHost: HOST\r\n\r\n", "\"event\":\"row\",\"version\":1,");
    assert!(all.contains("event: row\ndata: {\"event\":\"row\",\"version\":1,"), "{all}");
    let refused = ask(&url, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "");
    assert!(refused.starts_with("HTTP/1.1 403 Forbidden"), "{refused}");
    assert!(ask(&url, "PUT / HTTP/1.1\r\nHost: HOST\r\n\r\n", "").starts_with("HTTP/1.1 405 Method Not Allowed"));
}

/// Threads and resident kilobytes of a process.
#[cfg(target_os = "linux")]
fn threads_and_memory(child: &Child) -> (u64, u64) {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let number = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).expect("the line is there");
        line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
    };
    (number("Threads:"), number("VmRSS:"))
}

#[cfg(target_os = "linux")]
#[test]
fn many_saves_leave_nothing_behind() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), ROOT).unwrap();
    let watch = Watching::new(&place, "--size 64x48");
    watch.row();
    let saves = |from: u32, count: u32| {
        for version in from..from + count {
            watch.save(format!("blur_y: split(y, yo, yi, {version})"));
            // The first object of the row: the next save does not wait for the others.
            let is_it = |row: &Value| row["changes"].to_string().contains(&format!("yi, {version})"));
            while !is_it(&watch.line()) {}
        }
    };
    saves(2, 18);
    let (threads, before) = threads_and_memory(&watch.child);
    saves(20, 18);
    let (threads_after, after) = threads_and_memory(&watch.child);
    assert_eq!(threads_after, threads);
    assert!(after < before + (32 << 10), "{before} kB of memory became {after}");
}

#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(killed.success());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_watch() {
    let place = Workplace::new();
    let watch = Watching::new(&place, "--size 64x48");
    check_row(&watch.row(), 1, "gone", &[]);
    interrupt(&watch.child);
    assert!(watch.ended());
}

/// Every point of the output asks for all rows of a large image: a run that would take hours.
#[cfg(unix)]
#[test]
fn a_save_and_ctrl_c_end_a_run_that_takes_long() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "").unwrap();
    let watch = Watching::of_app(&place, "hist", "--size 4000x3000", &[]);
    std::thread::sleep(Duration::from_millis(300));
    watch.save("blur_z: compute_root()");
    while !watch.row()["error"].to_string().contains("`blur_z`") {}
    watch.save("# slow");
    std::thread::sleep(Duration::from_millis(300));
    interrupt(&watch.child);
    assert!(watch.ended());
}
