//! A small client of Chromium's DevTools protocol: enough to open a page, ask it, and give it keys and moves.

use halide_skips::{Need, skip};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// The longest that a page may take for anything here.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with one page.
pub(super) struct Chromium {
    /// One browser at a time: others would only take its time.
    _turn: MutexGuard<'static, ()>,
    child: Child,
    folder: PathBuf,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    next: u64,
    /// Events of the page since the last navigation.
    pub(super) events: Vec<Value>,
}

impl Chromium {
    /// Starts a browser; `None` where there is none, which the ledger of skips tells.
    pub(super) fn start() -> Option<Chromium> {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("halide-report-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
        let flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
        let more = ["--remote-debugging-port=0", "--no-first-run", "--hide-scrollbars", "about:blank"];
        let started = Command::new("chromium")
            .args(flags)
            .args(more)
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                skip(Need::Program("chromium"), error);
                return None;
            }
        };
        let mut lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let address = lines.find_map(|line| Some(line.ok()?.split_once("DevTools listening on ")?.1.to_string()));
        let address = address.expect("Chromium tells its address");
        // What it writes later must not fill the pipe.
        thread::spawn(move || lines.for_each(drop));
        let host = address.trim_start_matches("ws://").split('/').next().expect("an address has a host");
        let stream = TcpStream::connect(host).expect("Chromium listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit can be set");
        let (socket, _) = tungstenite::client(address.as_str(), stream).expect("Chromium speaks the protocol");
        let mut chromium = Chromium { _turn: turn, child, folder, socket, session: None, next: 1, events: Vec::new() };
        let target = chromium.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = chromium.call("Target.attachToTarget", target);
        chromium.session = session["sessionId"].as_str().map(str::to_string);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            chromium.call(&format!("{domain}.enable"), json!({}));
        }
        chromium.size(1400, 900);
        Some(chromium)
    }

    /// Calls a method of the protocol and returns its result; events on the way are kept.
    pub(super) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.socket.send(Message::text(message.to_string())).expect("Chromium takes a message");
        loop {
            let answer = self.socket.read().expect("Chromium answers in time");
            let Message::Text(text) = answer else { continue };
            let answer: Value = serde_json::from_str(&text).expect("Chromium speaks JSON");
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Sets the size of the window.
    pub(super) fn size(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// The value of an expression in the page; promises are waited for.
    #[track_caller]
    pub(super) fn ask(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(super) fn wait(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.ask(&format!("Boolean({expression})")) != true {
            assert!(begun.elapsed() < PATIENCE, "in vain: {expression}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Writes a page to a file and opens it, with the end of an address, without waiting for its program.
    pub(super) fn navigate(&mut self, page: &str, end: &str) -> PathBuf {
        let path = self.folder.join("page.html");
        std::fs::write(&path, page).expect("a page can be written");
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.events.clear();
        self.call("Page.navigate", json!({"url": format!("file://{}{end}", path.display())}));
        path
    }

    /// Opens a page that a server has, and waits until it can be used.
    #[track_caller]
    pub(super) fn visit(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": url}));
        self.wait("document.querySelector('html[data-ready]')");
    }

    /// Opens a page and waits until it can be used; returns the milliseconds that took, as the page tells them.
    #[track_caller]
    pub(super) fn open(&mut self, page: &str, end: &str) -> f64 {
        let path = self.navigate(page, end);
        self.wait("document.querySelector('html[data-ready], html[data-failed]')");
        self.check_quiet(&path);
        let ready = self.ask("document.documentElement.dataset.ready");
        ready.as_str().and_then(|text| text.parse().ok()).expect("the page came up")
    }

    /// Asserts that the page told no error and asked for nothing but itself.
    #[track_caller]
    pub(super) fn check_quiet(&mut self, path: &Path) {
        let own = format!("file://{}", path.display());
        for event in &self.events {
            let params = &event["params"];
            let is_wrong = match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => true,
                "Runtime.consoleAPICalled" => params["type"] == "error" || params["type"] == "warning",
                "Log.entryAdded" => params["entry"]["level"] == "error",
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    url != own && url != "about:blank" && !url.starts_with("data:")
                }
                _ => false,
            };
            assert!(!is_wrong, "{event}");
        }
    }

    /// Presses a key.
    pub(super) fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({"type": kind, "key": key});
            if kind == "keyDown" && key.chars().count() == 1 {
                params["text"] = key.into();
            }
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Moves the pointer, and clicks where it is if asked to.
    pub(super) fn point(&mut self, x: f64, y: f64, is_click: bool) {
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
        for kind in ["mousePressed", "mouseReleased"].into_iter().filter(|_| is_click) {
            self.call(
                "Input.dispatchMouseEvent",
                json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}),
            );
        }
    }

    /// The middle of the first element of a selector, scrolled into sight.
    #[track_caller]
    pub(super) fn middle(&mut self, selector: &str) -> (f64, f64) {
        let text = format!(
            "(() => {{ const node = document.querySelector({}); node.scrollIntoView({{ block: 'center' }}); \
             const box = node.getBoundingClientRect(); \
             return [box.x + Math.min(box.width, 60) / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        );
        let at = self.ask(&text);
        (at[0].as_f64().expect("a place"), at[1].as_f64().expect("a place"))
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its helpers end with it only where it may close by itself.
        self.session = None;
        let close = json!({"id": 0, "method": "Browser.close"});
        let _ = self.socket.send(Message::text(close.to_string()));
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Its helpers may write for a moment longer.
        while std::fs::remove_dir_all(&self.folder).is_err() && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(20));
        }
    }
}
