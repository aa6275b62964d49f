//! Keys as they are pressed, from the terminal of stdin.
//!
//! The terminal gives keys at once and does not show them; everything else stays as it was, so Ctrl-C is a signal
//! still. A process in the background leaves the terminal alone, and one that comes back asks for keys again.

use super::keys::Key;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use std::io::{IsTerminal, Stdin, stdin, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The time between two looks at whether to end.
const TICK: Duration = Duration::from_millis(100);

/// The terminal of stdin, with its modes before it gave keys.
pub(super) struct Terminal {
    stdin: Stdin,
    before: Termios,
    /// False once the modes are as they were before, for good.
    gives_keys: Mutex<bool>,
}

impl Terminal {
    /// Opens the terminal, if stdin and stdout are one.
    pub(super) fn open() -> Option<Arc<Terminal>> {
        let stdin = stdin();
        if !stdin.is_terminal() || !stdout().is_terminal() {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let terminal = Terminal { stdin, before, gives_keys: Mutex::new(true) };
        terminal.ask_for_keys();
        Some(Arc::new(terminal))
    }

    /// Has the terminal give keys, if it is this process's turn.
    fn ask_for_keys(&self) {
        let gives_keys = self.gives_keys.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(mut modes) = tcgetattr(&self.stdin) else { return };
        let lines = LocalModes::ICANON | LocalModes::ECHO;
        if *gives_keys && self.is_ours() && modes.local_modes.intersects(lines) {
            modes.local_modes.remove(lines);
            // Without keys the watch goes on.
            let _ = tcsetattr(&self.stdin, OptionalActions::Now, &modes);
        }
    }

    /// Puts the terminal back to its modes before. Nothing changes them afterwards.
    pub(super) fn restore(&self) {
        let mut gives_keys = self.gives_keys.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *gives_keys, false) && self.is_ours() {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(&self.stdin, OptionalActions::Now, &self.before);
        }
    }

    /// Returns true unless another group of processes has the terminal.
    fn is_ours(&self) -> bool {
        tcgetpgrp(&self.stdin).map_or(true, |group| group == getpgrp())
    }

    /// Waits a tick for a byte; `None` where nothing more will come.
    fn byte(&self) -> Option<Option<u8>> {
        let mut polled = [PollFd::new(&self.stdin, PollFlags::IN)];
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        let count = match poll(&mut polled, Some(&tick)) {
            Err(rustix::io::Errno::INTR) => return Some(None),
            other => other.ok()?,
        };
        if count == 0 {
            return Some(None);
        }
        if !self.is_ours() {
            // The key is for somebody else.
            thread::sleep(TICK);
            return Some(None);
        }
        let mut byte = [0];
        match rustix::io::read(&self.stdin, &mut byte) {
            Ok(1) => Some(Some(byte[0])),
            Err(rustix::io::Errno::INTR) => Some(None),
            _ => None,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore();
    }
}

/// A thread that reads keys; it ends with this, and the terminal is as it was.
pub(super) struct Keys {
    terminal: Arc<Terminal>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    /// Starts to read keys; each is given to `press`.
    ///
    /// # Errors
    /// The system has no thread.
    pub(super) fn start(terminal: &Arc<Terminal>, press: impl Fn(Key) + Send + 'static) -> std::io::Result<Keys> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (of_thread, until) = (terminal.clone(), is_over.clone());
        let read = move || {
            while !until.load(Ordering::Relaxed) {
                of_thread.ask_for_keys();
                match of_thread.byte() {
                    Some(byte) => byte.and_then(Key::of_byte).into_iter().for_each(&press),
                    None => return,
                }
            }
        };
        let mut keys = Keys { terminal: terminal.clone(), is_over, thread: None };
        keys.thread = Some(thread::Builder::new().name("halide-keys".into()).spawn(read)?);
        Ok(keys)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.terminal.restore();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked.
            let _ = thread.join();
        }
    }
}
