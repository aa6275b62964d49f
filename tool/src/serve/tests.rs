//! The server as browsers, and others, meet it.

use super::path::{Form, Wanted};
use super::{Answer, MOST_CONNECTIONS, Server};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

const PAGE: &str = "<!doctype html><script nonce=\"NONCE\">1</script>";

/// A server whose reports say what was asked for.
fn serve() -> Server {
    let reporter = |wanted, form| match (wanted, form) {
        (Wanted::Two(..), _) => Answer::Missing("one of them is gone".to_string()),
        (Wanted::One(9), _) => Answer::Busy,
        (wanted, Form::Page) => Answer::Page(format!("<!doctype html>{wanted:?}")),
        (wanted, Form::Data) => Answer::Data(format!("{{\"wanted\": \"{wanted:?}\"}}")),
    };
    Server::start(0, PAGE, Box::new(reporter)).unwrap()
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// The answer to a text, after which nothing more is sent.
fn answer(server: &Server, text: &str) -> String {
    let mut stream = connect(server);
    let mut answer = String::new();
    // A server that closes while more is sent may reset the connection; what came before is the answer.
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.shutdown(Shutdown::Write));
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn get(server: &Server, path: &str) -> String {
    answer(server, &format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address))
}

#[test]
fn the_page_may_run_its_own_script_alone() {
    let server = serve();
    let text = get(&server, "/");
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("Content-Type: text/html; charset=utf-8"),
        "{head}"
    );
    let nonce = body.split('"').nth(1).unwrap();
    assert!(head.contains(&format!("default-src 'none'; script-src 'nonce-{nonce}'")), "{head}");
    assert!(nonce.len() == 32 && head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    assert_ne!(get(&server, "/").split('"').nth(1), Some(nonce), "another number each time");
}

#[test]
fn everything_else_is_refused() {
    let server = serve();
    let status = |text: &str| answer(&server, text).split("\r\n").next().unwrap_or_default().to_string();
    let host = format!("Host: {}\r\n\r\n", server.address);
    assert_eq!(status(&format!("GET /other HTTP/1.1\r\n{host}")), "HTTP/1.1 404 Not Found");
    assert_eq!(status(&format!("POST / HTTP/1.1\r\n{host}")), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "HTTP/1.1 403 Forbidden");
    assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    assert_eq!(status("hello"), "HTTP/1.1 400 Bad Request");
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n{host}", "x".repeat(10_000));
    // The rest of what was sent may reset the connection before the answer is read.
    assert!(["HTTP/1.1 400 Bad Request", ""].contains(&status(&long).as_str()));
    assert!(get(&server, "/").starts_with("HTTP/1.1 200 OK"), "it goes on");
}

#[test]
fn reports_are_asked_for_by_their_paths() {
    let server = serve();
    let page = get(&server, "/report/3");
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("Content-Type: text/html;"), "{head}");
    assert!(head.contains("Content-Security-Policy: frame-ancestors 'none'\r\n"), "{head}");
    assert_eq!(body, "<!doctype html>One(3)");
    let data = get(&server, "/report.json");
    assert!(data.contains("Content-Type: application/json;") && data.ends_with("{\"wanted\": \"Newest\"}"), "{data}");
    let missing = get(&server, "/report/3,4");
    assert!(missing.starts_with("HTTP/1.1 404 ") && missing.ends_with("\r\n\r\none of them is gone\n"), "{missing}");
    assert!(get(&server, "/report/9").starts_with("HTTP/1.1 503 "));
    let foreign = answer(&server, "GET /report HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert!(foreign.starts_with("HTTP/1.1 403 Forbidden"), "{foreign}");
    let written = answer(&server, &format!("POST /report HTTP/1.1\r\nHost: {}\r\n\r\n", server.address));
    assert!(written.starts_with("HTTP/1.1 405 "), "{written}");
}

#[test]
fn events_come_to_those_who_wait_and_those_who_come_late() {
    let server = serve();
    server.send("start", "start", "{}");
    let mut early = connect(&server);
    early.write_all(format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes()).unwrap();
    for data in ["1", "2"] {
        server.send("row", "row", data);
    }
    server.send("end", "end", "{}");
    let mut late = connect(&server);
    late.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let head = |stream: &mut TcpStream| {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"event: end\ndata: {}\n\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            bytes.push(byte[0]);
        }
        String::from_utf8(bytes).unwrap()
    };
    let (early, late) = (head(&mut early), head(&mut late));
    assert!(early.contains("Content-Type: text/event-stream\r\n"), "{early}");
    assert!(early.contains("event: start\ndata: {}\n\n") && early.contains("event: row\ndata: 2\n\n"), "{early}");
    assert!(
        late.ends_with("\r\n\r\nevent: start\ndata: {}\n\nevent: row\ndata: 2\n\nevent: end\ndata: {}\n\n"),
        "{late}"
    );
}

#[test]
fn there_are_few_connections_and_a_port_is_taken_once() {
    let server = serve();
    assert!(Server::start(server.port(), PAGE, Box::new(|_, _| Answer::Busy)).is_err());
    assert_eq!(server.url(), format!("http://127.0.0.1:{}/", server.address.port()));
    let open: Vec<TcpStream> = (0..MOST_CONNECTIONS).map(|_| connect(&server)).collect();
    let text = answer(&server, "");
    assert!(text.starts_with("HTTP/1.1 503 Service Unavailable"), "{text}");
    drop(open);
    // The threads of connections that were closed are gone in a moment.
    while !get(&server, "/").starts_with("HTTP/1.1 200 OK") {
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(server);
}
