//! The command line from outside: exit status, what is on stdout and stderr, and what is on disk afterwards.

mod auto;
mod bad_input;
mod bench;
mod book;
mod code_cache;
#[cfg(feature = "gpu")]
mod gpu;
mod images;
mod inspected;
mod limits;
mod lint;
mod map;
mod own;
#[path = "../../../halide/tests/it/page.rs"]
mod page;
mod perf;
mod pictures;
mod report;
mod reports;
mod schedules;
#[path = "../../../report/tests/it/schema.rs"]
mod schema;
mod tune;
mod watch;
#[cfg(unix)]
mod watch_cargo;
#[cfg(unix)]
mod watch_keys;
mod watch_reports;
mod why;
mod words;

use halide_skips::{Need, skip};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Records the tests that this build leaves out.
#[test]
fn tests_that_are_not_compiled() {
    if !cfg!(feature = "gpu") {
        skip(Need::Feature("gpu"), "runs on a device");
    }
    if !cfg!(unix) {
        skip(Need::System("unix"), "links, pipes, terminals, scripts and permissions of files");
    }
}

/// A folder of its own that ends with the test.
pub(crate) struct Workplace {
    folder: tempfile::TempDir,
}

/// The results of a run of the binary.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workplace {
    pub(crate) fn new() -> Workplace {
        Workplace { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `halide` with these arguments, separated by spaces, in this folder.
    pub(crate) fn run(&self, args: &str) -> Ran {
        self.run_with(args, &[])
    }

    /// Runs `halide` as `run` does, with these variables in the environment.
    pub(crate) fn run_with(&self, args: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halide"));
        // Tests measure the machine once, and leave the user's folders alone.
        command.env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache")).envs(variables.iter().copied());
        let Output { status, stdout, stderr } =
            command.args(args.split_whitespace()).current_dir(self.folder.path()).output().expect("the binary starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran { status: status.code().expect("no signal"), stdout: text(stdout), stderr: text(stderr) }
    }

    /// As `run`, and expects success.
    pub(crate) fn succeed(&self, args: &str) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.status, 0, "halide {args}\n{}", ran.stderr);
        ran
    }

    /// The names of the files in this folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// An image of 16-bit grey that no filter leaves as it is.
pub(crate) fn write_grey(path: &Path, width: u32, height: u32) -> image::ImageBuffer<image::Luma<u16>, Vec<u16>> {
    let picture = image::ImageBuffer::from_fn(width, height, |x, y| image::Luma([(x * 2741 + y * 3557) as u16]));
    picture.save(path).expect("a PNG");
    picture
}
