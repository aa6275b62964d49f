//! Keys of `halide watch` on a terminal, which is as before at every end.

use crate::Workplace;
use crate::watch::{PATIENCE, ROOT, WIDE, interrupt};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A process at a terminal of its own.
struct AtTerminal {
    child: Child,
    keyboard: File,
    /// The terminal as the process has it.
    terminal: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl AtTerminal {
    fn new(place: &Workplace, args: &str) -> AtTerminal {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("it can be opened");
        let name = ptsname(&keyboard, Vec::new()).expect("it has a name").into_bytes();
        let name = PathBuf::from(std::ffi::OsString::from_vec(name));
        let mut options = File::options();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true).write(true), NO_CONTROL);
        let terminal = options.open(name).expect("it opens");
        let end = || Stdio::from(terminal.try_clone().expect("another handle"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_halide"));
        command.args(args.split_whitespace()).current_dir(place.path("")).env("TERM", "xterm");
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("the binary starts");
        let keyboard = File::from(keyboard);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let (mut reader, shown) = (keyboard.try_clone().expect("another handle"), screen.clone());
        thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut part) {
                shown.lock().unwrap().extend_from_slice(&part[..count]);
            }
        });
        AtTerminal { child, keyboard, terminal, screen }
    }

    /// Waits until something is on the screen.
    fn wait_for(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.screen().contains(text) {
            assert!(Instant::now() < end, "expected `{text}` in {}", self.screen());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("keys");
    }

    /// Returns true if the terminal shows what is typed, and gives it by lines.
    fn is_as_before(&self) -> bool {
        let modes = tcgetattr(&self.terminal).expect("modes").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits for the end of the process, and returns its status.
    fn ended(&mut self) -> Option<i32> {
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for AtTerminal {
    fn drop(&mut self) {
        // One that has ended is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The flag of `open` for a terminal that is not to control its process.
const NO_CONTROL: i32 = OpenptFlags::NOCTTY.bits() as i32;

#[test]
fn keys_revert_report_and_end() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), ROOT).unwrap();
    let mut watch = AtTerminal::new(&place, "watch blur mine.sched --size 64x48 --threads 1");
    watch.wait_for("[r] revert to best  [p] report  [q] quit");
    watch.wait_for("same bits");
    assert!(!watch.is_as_before(), "keys come as they are pressed");
    watch.press("xr");
    watch.wait_for("mine.sched is version 1, the best, already");
    fs::write(place.path("mine.sched"), "blur_z: compute_root()").unwrap();
    watch.wait_for("`blur_z`");
    watch.press("R");
    watch.wait_for("reverted to version 1");
    assert_eq!(fs::read_to_string(place.path("mine.sched")).unwrap(), ROOT);
    watch.press("p");
    watch.wait_for("the report is in out/blur.html");
    let page = fs::read_to_string(place.path("out/blur.html")).unwrap();
    assert!(page.contains("mine.sched, version 3") && !page.contains("EventSource"));
    watch.press("q");
    assert_eq!(watch.ended(), Some(0));
    assert!(watch.is_as_before());
    watch.wait_for("3 rows; ");
}

#[test]
fn keys_without_anything_to_do_say_so() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "blur_z: compute_root()").unwrap();
    let mut watch = AtTerminal::new(&place, "watch blur mine.sched --size 64x48 --threads 1");
    watch.wait_for("`blur_z`");
    watch.press("r");
    watch.wait_for("mine.sched stays as it is: there is no best version yet");
    fs::create_dir(place.path("out")).unwrap();
    fs::create_dir(place.path("out/blur.html")).unwrap();
    watch.press("p");
    watch.wait_for("out/blur.html: ");
    assert_eq!(fs::read_to_string(place.path("mine.sched")).unwrap(), "blur_z: compute_root()");
    watch.press("q");
    assert_eq!(watch.ended(), Some(0));
}

#[test]
fn the_terminal_is_as_before_at_every_end() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), WIDE).unwrap();
    let mut watch = AtTerminal::new(&place, "watch blur mine.sched --size 64x48 --threads 1");
    watch.wait_for("same bits");
    assert!(!watch.is_as_before());
    interrupt(&watch.child);
    assert_eq!((watch.ended(), watch.is_as_before()), (Some(0), true));

    let mut failed = AtTerminal::new(&place, "watch blur mine.sched none.png");
    assert_eq!((failed.ended(), failed.is_as_before()), (Some(1), true));
    failed.wait_for("none.png");

    let mut few = AtTerminal::new(&place, "watch blur mine.sched --size 64x48 --threads 1 --saves 1");
    assert_eq!((few.ended(), few.is_as_before()), (Some(0), true));

    // Readers of JSON press no keys.
    let mut json = AtTerminal::new(&place, "watch blur mine.sched --size 64x48 --threads 1 --json");
    json.wait_for("\"done\":true");
    assert!(json.is_as_before() && !json.screen().contains("[q] quit"));
    json.child.kill().unwrap();
    json.ended();
}

/// The run of an app that would take hours: a second Ctrl-C does not wait for what goes on.
#[test]
fn the_terminal_is_as_before_when_the_end_does_not_wait() {
    let place = Workplace::new();
    fs::write(place.path("mine.sched"), "").unwrap();
    let mut watch = AtTerminal::new(&place, "watch hist mine.sched --size 4000x3000");
    watch.wait_for("[q] quit");
    watch.press("q");
    assert_eq!((watch.ended(), watch.is_as_before()), (Some(0), true));
    let mut watch = AtTerminal::new(&place, "watch hist mine.sched --size 4000x3000");
    watch.wait_for("[q] quit");
    interrupt(&watch.child);
    interrupt(&watch.child);
    assert!(matches!(watch.ended(), Some(0 | 130)) && watch.is_as_before());
}
