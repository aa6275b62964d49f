//! A page and a stream of events for browsers on this machine: HTTP on the loopback address by the standard library.
//!
//! `GET /` is the page and `GET /events` the stream of server-sent events, from the first that is kept on. Reports are
//! at `/report`, `/report/3` and `/report/3,5`, and their data at the same paths with `.json`: whoever has the server
//! makes them ([`Reporter`]). Everything else is refused, as are requests with another `Host` than this server's: no
//! page of somebody else reads it. The page may ask nobody but this server, and runs the script in it alone, by a
//! number that changes with each request.

mod log;
pub(crate) mod path;
mod request;

use log::Log;
use path::{Form, Path, Wanted};
use request::{END, MOST_BYTES, Refusal};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most connections that are open at once.
const MOST_CONNECTIONS: usize = 16;

/// The time that a browser has for its request, and for taking a part of an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time after which a stream without events is found to have been left.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The time in which pages get the last events.
const FAREWELL: Duration = Duration::from_millis(500);

/// The place of the number in a page that its script must have: `<script nonce="NONCE">`.
const NONCE: &str = "NONCE";

/// The headers of every answer.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
                       Cross-Origin-Resource-Policy: same-origin\r\n";

/// An answer to a request for a report.
pub(crate) enum Answer {
    /// The page of a report, which says itself what it may do.
    Page(String),
    /// The data of one, as JSON.
    Data(String),
    /// Nothing, and why.
    Missing(String),
    /// Nothing now, since too many wait or the watch ends.
    Busy,
}

/// The maker of reports, called on the thread of a connection, which waits for it.
pub(crate) type Reporter = dyn Fn(Wanted, Form) -> Answer + Send + Sync;

/// A server of one page and its events; it ends with this.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// The data that the threads of a server share.
struct Shared {
    page: &'static str,
    port: u16,
    reporter: Box<Reporter>,
    log: Log,
    open: AtomicUsize,
}

impl Server {
    /// Starts to serve a page at a port of this machine alone; 0 is any that is free.
    ///
    /// # Errors
    /// The port is taken or not allowed.
    pub(crate) fn start(port: u16, page: &'static str, reporter: Box<Reporter>) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let (log, open) = (Log::default(), AtomicUsize::new(0));
        let shared = Arc::new(Shared { page, port: address.port(), reporter, log, open });
        let of_thread = shared.clone();
        let serve = move || {
            for stream in listener.incoming() {
                if of_thread.log.is_over() {
                    return;
                }
                // A connection that was lost again is the browser's business.
                if let Ok(stream) = stream {
                    accept(stream, &of_thread);
                }
            }
        };
        let thread = thread::Builder::new().name("halide-serve".into()).spawn(serve)?;
        Ok(Server { address, shared, thread: Some(thread) })
    }

    /// The address of the page.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The port, also where any was asked for.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Sends an event to all pages, and to those that come later, in place of the last one with the same key.
    pub(crate) fn send(&self, key: &str, event: &str, data: &str) {
        self.shared.log.add(key, event, data);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.log.end();
        // Wakes the thread that waits for connections.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            // It cannot have panicked.
            let _ = thread.join();
        }
        // Pages get the last events; connections without a request are not waited for.
        let end = Instant::now() + FAREWELL;
        while self.shared.open.load(Ordering::Relaxed) > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Answers a connection on a thread of its own, if there are not too many.
fn accept(stream: TcpStream, shared: &Arc<Shared>) {
    let limits = stream.set_read_timeout(Some(PATIENCE)).and(stream.set_write_timeout(Some(PATIENCE)));
    if limits.is_err() {
        return;
    }
    let open = Open::new(shared);
    if shared.open.load(Ordering::Relaxed) > MOST_CONNECTIONS {
        let _ = refuse(&stream, Refusal::Busy);
        return;
    }
    let answer = move || {
        // A browser that is gone needs no answer.
        let _ = answer(&stream, &open.0);
    };
    // Where there is no thread, the connection is closed.
    let _ = thread::Builder::new().name("halide-page".into()).stack_size(256 << 10).spawn(answer);
}

/// A connection that is counted while it is open.
struct Open(Arc<Shared>);

impl Open {
    fn new(shared: &Arc<Shared>) -> Open {
        shared.open.fetch_add(1, Ordering::Relaxed);
        Open(shared.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn answer(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let head = head(stream)?;
    match request::read(&head, shared.port).map(path::read) {
        Ok(Some(Path::Page)) => page(stream, shared.page),
        Ok(Some(Path::Events)) => events(stream, &shared.log),
        Ok(Some(Path::Report(wanted, form))) => report(stream, (shared.reporter)(wanted, form)),
        Ok(None) => refuse(stream, Refusal::Missing),
        Err(refusal) => refuse(stream, refusal),
    }
}

/// Sends a report, or the reason that there is none. A page has its policy in it, but for its frames.
fn report(stream: &TcpStream, answer: Answer) -> io::Result<()> {
    let policy = "Content-Security-Policy: frame-ancestors 'none'\r\n";
    match answer {
        Answer::Page(text) => send(stream, "200 OK", "text/html", policy, &text),
        Answer::Data(text) => send(stream, "200 OK", "application/json", "", &text),
        Answer::Missing(text) => send(stream, Refusal::Missing.status(), "text/plain", "", &format!("{text}\n")),
        Answer::Busy => refuse(stream, Refusal::Busy),
    }
}

/// Reads a request up to its end, the most bytes of one, or the end of patience.
fn head(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    let end = Instant::now() + PATIENCE;
    while !head.ends_with(END) && head.len() <= MOST_BYTES && Instant::now() < end {
        match stream.read(&mut part)? {
            0 => break,
            count => head.extend_from_slice(&part[..count]),
        }
    }
    if head.len() > MOST_BYTES {
        head.clear();
    }
    Ok(head)
}

fn refuse(stream: &TcpStream, refusal: Refusal) -> io::Result<()> {
    let allow = if refusal == Refusal::Method { "Allow: GET\r\n" } else { "" };
    send(stream, refusal.status(), "text/plain", allow, &format!("{refusal}\n"))
}

/// Sends an answer of one text; `more` are headers of its own.
fn send(mut stream: &TcpStream, status: &str, kind: &str, more: &str, text: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{HEADERS}{more}Content-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{text}",
        text.len()
    )
}

fn page(stream: &TcpStream, page: &str) -> io::Result<()> {
    let random = || RandomState::new().hash_one(0);
    let nonce = format!("{:016x}{:016x}", random(), random());
    let text = page.replace(NONCE, &nonce);
    let policy = format!(
        "Content-Security-Policy: default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    );
    send(stream, "200 OK", "text/html", &policy, &text)
}

fn events(mut stream: &TcpStream, log: &Log) -> io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\n{HEADERS}Content-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    let mut next = 0;
    loop {
        let news = log.wait(next, HEARTBEAT);
        match news.texts.is_empty() {
            true => stream.write_all(b":\n\n")?,
            false => news.texts.iter().try_for_each(|text| stream.write_all(text.as_bytes()))?,
        }
        if news.is_over {
            return Ok(());
        }
        next = news.next;
    }
}

#[cfg(test)]
mod tests;
