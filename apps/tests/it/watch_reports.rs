//! Reports of the versions of `halide watch --serve`.

use crate::Workplace;
use crate::watch::{ROOT, WIDE, Watching, ask, check_row};
use serde_json::{Value, json};
use std::fs;

/// The answer to a path.
fn get(watch: &Watching, path: &str) -> String {
    let url = watch.start["url"].as_str().expect("the page has an address");
    ask(url, &format!("GET {path} HTTP/1.1\r\nHost: HOST\r\n\r\n"), "")
}

/// The data of a report.
fn data(watch: &Watching, path: &str) -> Value {
    let answer = get(watch, path);
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{path}: {}", &answer[..answer.len().min(500)]);
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

#[track_caller]
fn check_missing(watch: &Watching, path: &str, part: &str) {
    let answer = get(watch, path);
    assert!(answer.starts_with("HTTP/1.1 404 Not Found") && answer.contains(part), "{path}: {answer}");
}

#[test]
fn every_version_that_ran_has_a_report() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "\nblur_z: compute_root()").unwrap();
    let watch = Watching::new(&place, "--size 64x48 --serve 0");
    check_row(&watch.row(), 1, "error", &["`blur_z`"]);
    let none = data(&watch, "/report.json");
    assert_eq!((&none["live"]["versions"], &none["title"]), (&json!([]), &json!("blur \u{b7} mine.sched")));
    assert!(none["live"]["notice"].as_str().unwrap().starts_with("version 1 is an error: mine.sched:2:9"), "{none}");
    check_missing(&watch, "/report/2", "there is no version 2 yet; the newest is 1");

    watch.save(ROOT);
    check_row(&watch.row(), 2, "timed", &[]);
    watch.save(format!("# <b>wide</b>\n{WIDE}"));
    check_row(&watch.row(), 3, "timed", &[]);
    let newest = data(&watch, "/report.json");
    assert_eq!(newest["title"], "blur \u{b7} mine.sched, version 3");
    assert_eq!((&newest["live"]["versions"], &newest["live"]["follows"]), (&json!([3]), &json!(true)));
    assert!(newest["profile"]["run_ms"].as_f64() > Some(0.0) && newest["live"]["notice"].is_null(), "{newest}");
    assert!(newest["schedule"]["text"].as_str().unwrap().starts_with("# <b>wide</b>\n"), "{}", newest["schedule"]);
    let page = get(&watch, "/report");
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Content-Security-Policy: frame-ancestors 'none'"), "{head}");
    assert!(body.starts_with("<!doctype html>") && body.contains("connect-src 'self'; "));

    let both = data(&watch, "/report/2,3.json");
    assert_eq!(both["title"], "blur \u{b7} mine.sched, version 2");
    assert_eq!(both["compare"]["b"]["title"], "blur \u{b7} mine.sched, version 3");
    assert_eq!((&both["live"]["versions"], &both["live"]["follows"]), (&json!([2, 3]), &json!(false)));

    watch.save("blur_y: vectorize(x, 8");
    check_row(&watch.row(), 4, "error", &["mine.sched:1:23"]);
    for path in ["/report.json", "/report/4.json"] {
        let last = data(&watch, path);
        assert_eq!(last["live"]["versions"], json!([3]), "{path}");
        let notice = last["live"]["notice"].as_str().unwrap();
        assert!(notice.contains("version 4 is an error") && notice.contains("version 3, which goes on"), "{notice}");
    }
    assert!(get(&watch, "/report").contains("version 4 is an error: mine.sched:1:23"));
    // A run that faults is an error as well.
    watch.save("blur_y: bound_extent(x, 32)");
    check_row(&watch.row(), 5, "error", &["promises a fixed region"]);
    assert!(get(&watch, "/report").contains("promises a fixed region"));
}

#[test]
fn reports_end_with_the_code_of_their_version() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), ROOT).unwrap();
    let watch = Watching::new(&place, "--size 64x48 --serve 0");
    check_row(&watch.row(), 1, "timed", &[]);
    for version in 2..22 {
        watch.save(format!("blur_y: split(y, yo, yi, {version})"));
        let is_it = |row: &Value| row["changes"].to_string().contains(&format!("yi, {version})"));
        while !is_it(&watch.line()) {}
    }
    check_missing(&watch, "/report/1,0", "there is nothing here");
    let answer = (2..6).map(|version| get(&watch, &format!("/report/{version}")));
    let gone = answer.filter(|answer| answer.contains("has no report: its code is not kept any more"));
    // One of these may be the best, which is never given up.
    assert!(gone.count() >= 3);
    assert_eq!(data(&watch, "/report/1.json")["live"]["versions"], json!([1]), "that of the first is kept");
}

#[test]
fn a_save_comes_before_a_report_that_is_made() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), ROOT).unwrap();
    let watch = Watching::new(&place, "--size 640x480 --serve 0");
    let url = watch.start["url"].as_str().unwrap().to_string();
    check_row(&watch.row(), 1, "timed", &[]);
    let asked = std::thread::spawn(move || ask(&url, "GET /report/1 HTTP/1.1\r\nHost: HOST\r\n\r\n", ""));
    watch.save(WIDE);
    check_row(&watch.row(), 2, "timed", &[]);
    assert!(asked.join().unwrap().starts_with("HTTP/1.1 200 OK"), "it is made all the same");
}

#[cfg(unix)]
#[test]
fn the_end_of_the_watch_is_the_end_of_requests() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "").unwrap();
    // A run that would take hours: nothing is answered once it has begun.
    let watch = Watching::of_app(&place, "hist", "--size 4000x3000 --serve 0", &[]);
    let url = watch.start["url"].as_str().unwrap().to_string();
    let pause = || std::thread::sleep(std::time::Duration::from_millis(300));
    pause();
    let asked = std::thread::spawn(move || ask(&url, "GET /report HTTP/1.1\r\nHost: HOST\r\n\r\n", ""));
    pause();
    crate::watch::interrupt(&watch.child);
    assert!(watch.ended());
    // One that came after the end is not even heard, and one before the run has its answer.
    if let Ok(answer) = asked.join() {
        let is_early = answer.contains("no version ran yet");
        assert!(is_early || answer.starts_with("HTTP/1.1 503 ") || answer.is_empty(), "{answer}");
    }
}
