//! Requests of browsers: what they ask for, and why they get nothing.

use std::fmt;

/// The most bytes of a request.
pub(super) const MOST_BYTES: usize = 8 << 10;

/// The end of a request that has no body.
pub(super) const END: &[u8] = b"\r\n\r\n";

/// A reason that a request gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is no request, or too long.
    Broken,
    /// It is for another host: a page of somebody else asks under a name that leads here.
    Host,
    /// There is nothing at the path.
    Missing,
    /// It does not read.
    Method,
    /// Too many connections are open.
    Busy,
}

impl Refusal {
    /// The status of the response.
    pub(super) fn status(self) -> &'static str {
        match self {
            Refusal::Broken => "400 Bad Request",
            Refusal::Host => "403 Forbidden",
            Refusal::Missing => "404 Not Found",
            Refusal::Method => "405 Method Not Allowed",
            Refusal::Busy => "503 Service Unavailable",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Broken => "the request is broken or too long",
            Refusal::Host => "the request is for another host; ask 127.0.0.1 or localhost",
            Refusal::Missing => "there is nothing here; the page is at /, and the report of a version at /report",
            Refusal::Method => "only GET is answered",
            Refusal::Busy => "too many connections are open; close a page",
        })
    }
}

/// Reads the head of a request to the server at `port`: returns its path.
///
/// # Errors
/// It is broken, for another host, or does not read.
pub(super) fn read(head: &[u8], port: u16) -> Result<&str, Refusal> {
    let text = std::str::from_utf8(head).map_err(|_| Refusal::Broken)?;
    let mut lines = text.strip_suffix("\r\n\r\n").ok_or(Refusal::Broken)?.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, path, version] = words[..] else { return Err(Refusal::Broken) };
    let is_method = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase());
    if !is_method || !path.starts_with('/') || !["HTTP/1.1", "HTTP/1.0"].contains(&version) {
        return Err(Refusal::Broken);
    }
    let mut host = None;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(Refusal::Broken)?;
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_graphic()) || value.contains(['\r', '\n', '\0']) {
            return Err(Refusal::Broken);
        }
        if name.eq_ignore_ascii_case("host") && host.replace(value.trim()).is_some() {
            return Err(Refusal::Broken);
        }
    }
    if !is_own_host(host.ok_or(Refusal::Broken)?, port) {
        return Err(Refusal::Host);
    }
    if method != "GET" { Err(Refusal::Method) } else { Ok(path) }
}

/// Returns true for the names of this machine that do not leave it.
fn is_own_host(host: &str, port: u16) -> bool {
    ["127.0.0.1", "localhost"].iter().any(|name| {
        let rest = host.get(..name.len()).filter(|own| own.eq_ignore_ascii_case(name)).map(|_| &host[name.len()..]);
        rest.is_some_and(|rest| rest.is_empty() || rest == format!(":{port}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(head: &str) -> Result<&str, Refusal> {
        read(head.as_bytes(), 8080)
    }

    #[test]
    fn the_path_is_read() {
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST", "127.0.0.1"] {
            let head = format!("GET /events HTTP/1.1\r\nAccept: */*\r\nhost:  {host} \r\n\r\n");
            assert_eq!(get(&head), Ok("/events"), "{host}");
        }
        assert_eq!(get("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"), Ok("/"));
    }

    #[test]
    fn requests_for_other_hosts_are_refused() {
        for host in ["evil.example", "127.0.0.1:80", "localhost.evil.example", "127.0.0.1.evil:8080", "", "[::1]", "é"]
        {
            assert_eq!(get(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")), Err(Refusal::Host), "{host}");
        }
    }

    #[test]
    fn requests_that_write_are_refused() {
        for method in ["POST", "HEAD", "OPTIONS", "CONNECT"] {
            let head = format!("{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assert_eq!(get(&head), Err(Refusal::Method), "{method}");
        }
    }

    #[test]
    fn broken_requests_are_refused() {
        for head in [
            "",
            "\r\n\r\n",
            "GET /\r\nHost: localhost\r\n\r\n",
            "GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/2\r\nHost: localhost\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "get / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nX Y: 1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\nX: 1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\n",
        ] {
            assert_eq!(get(head), Err(Refusal::Broken), "{head:?}");
        }
        assert_eq!(read(b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", 8080), Err(Refusal::Broken));
    }
}
