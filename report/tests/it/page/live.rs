//! A page that a watch serves: new versions come in place, and what is selected, chosen and scrolled stays.

use super::chromium::Chromium;
use super::samples::sample;
use halide_report::html::live;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The rows of the watch, in the order in which they come.
const ROWS: [&str; 4] = [
    r#"{"version":1,"kind":"timed","done":true}"#,
    r#"{"version":2,"kind":"timed","done":false}"#,
    r#"{"version":2,"kind":"timed","done":true}"#,
    r#"{"version":3,"kind":"error","done":true,"error":"no Func <b>blur_z</b>"}"#,
];

/// A watch that has come as far as a test says.
struct Watch {
    rows: Arc<AtomicUsize>,
    url: String,
}

/// The data of a version.
fn data(version: usize) -> Value {
    let mut data = sample("blur");
    data["title"] = format!("blur, version {version}").into();
    data["live"] = json!({"versions": [version], "of": "<i>mine.sched", "follows": true, "data": "/report.json",
        "notice": null});
    data
}

impl Watch {
    fn start() -> Watch {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/report", listener.local_addr().expect("an address"));
        let rows = Arc::new(AtomicUsize::new(1));
        let of_thread = rows.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let rows = of_thread.clone();
                thread::spawn(move || answer(stream, &rows));
            }
        });
        Watch { rows, url }
    }

    /// Lets so many rows come.
    fn show(&self, rows: usize) {
        self.rows.store(rows, Ordering::Relaxed);
    }
}

fn answer(mut stream: TcpStream, rows: &AtomicUsize) -> std::io::Result<()> {
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while !head.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut part)?;
        if count == 0 {
            return Ok(());
        }
        head.extend_from_slice(&part[..count]);
    }
    let head = String::from_utf8_lossy(&head);
    let version = if rows.load(Ordering::Relaxed) < 3 { 1 } else { 2 };
    let (kind, body) = match head.split(' ').nth(1) {
        Some("/report") => ("text/html", live(&data(1))),
        Some("/report.json") => ("application/json", data(version).to_string()),
        Some("/events") => return events(stream, rows),
        _ => ("text/plain", String::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n\
                    Connection: close\r\n\r\n{body}"
    )
}

fn events(mut stream: TcpStream, rows: &AtomicUsize) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: start\ndata: {{}}\n\n")?;
    let mut sent = 0;
    loop {
        for row in ROWS.iter().take(rows.load(Ordering::Relaxed)).skip(sent) {
            write!(stream, "event: row\ndata: {row}\n\n")?;
            sent += 1;
        }
        // A browser that is gone ends it.
        write!(stream, ":\n\n")?;
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn newer_versions_come_in_place() {
    let Some(mut chromium) = Chromium::start() else { return };
    let watch = Watch::start();
    chromium.visit(&watch.url);
    let line = "document.getElementById('live').textContent";
    chromium.wait(&format!("document.querySelector('#live.on') && {line}.includes('Version 1 of <i>mine.sched')"));
    // Something is selected, chosen and scrolled.
    chromium.ask("(location.hash = '#f=blur_x&u=0&l=blur_x.x')");
    chromium.wait("document.querySelector('#code .lit')");
    // Code in another language may be too short to scroll.
    let choices = ".pane .choice:not([aria-label=Language])";
    let count = chromium.ask(&format!("document.querySelectorAll('{choices}').length"));
    assert!(count.as_u64() > Some(0), "{count}");
    chromium.ask(&format!("document.querySelectorAll('{choices}').forEach((group) => group.lastChild.click())"));
    let pressed =
        "JSON.stringify([...document.querySelectorAll('.choice [aria-pressed=true]')].map((b) => b.textContent))";
    let chosen = chromium.ask(pressed);
    // A loop is folded, and somebody has moved the time of the player.
    let folded = "JSON.stringify([...document.querySelectorAll('#loops [aria-label=Unfold]')]\
                  .map((b) => b.parentNode.textContent))";
    chromium.ask("document.querySelector('#loops [aria-label=Fold]').click()");
    let folds = chromium.ask(folded);
    assert_ne!(folds, "[]");
    let player = "document.querySelector('#order .where').textContent";
    chromium.ask("document.querySelector('#order [aria-label^=\"One step back\"]').click()");
    let played = chromium.ask(player);
    chromium.ask("(document.documentElement.dataset.mark = 'the same document', scrollTo(0, 300))");
    let code = "document.querySelector('#code .scroll').scrollTop";
    let scrolled = chromium.ask(&format!("({code} -= 7, {code})"));
    assert!(scrolled.as_f64() > Some(0.0), "{scrolled}");

    watch.show(2);
    chromium.wait(&format!("{line}.includes('version 2 is timed')"));
    watch.show(3);
    chromium.wait("document.documentElement.dataset.version === '2'");
    assert_eq!(chromium.ask("document.title"), "blur, version 2");
    assert_eq!(chromium.ask("document.documentElement.dataset.mark"), "the same document");
    assert_eq!(chromium.ask("location.hash"), "#f=blur_x&u=0&l=blur_x.x");
    assert_eq!(chromium.ask("scrollY"), 300);
    assert_eq!(chromium.ask(code), scrolled);
    assert_eq!(chromium.ask(pressed), chosen);
    assert_eq!(chromium.ask(folded), folds);
    assert_eq!(chromium.ask(player), played);
    chromium.wait("document.querySelector('.node.lit') && document.querySelector('#selected.pinned')");

    watch.show(4);
    chromium.wait(&format!("{line}.includes('Version 3 is an error: no Func <b>blur_z</b>')"));
    assert_eq!(chromium.ask("document.title"), "blur, version 2", "the last that runs stays");
    assert_eq!(chromium.ask("document.querySelectorAll('#live b, #live i').length"), 0, "text stays text");
}
