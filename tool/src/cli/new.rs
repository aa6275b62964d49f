//! `halide new`: a crate to begin with, which has a command line of its own.

use super::args::NewArgs;
use super::failure::Failure;
use super::terminal::say;
use super::tool::Tool;
use crate::files;
use std::fs;
use std::path::Path;

/// The program, which is an example of this crate under the name `mine`.
const PROGRAM: &str = include_str!("../../examples/mine.rs");

/// Its schedules.
const SCHEDULES: [(&str, &str); 2] = [
    ("strips.sched", include_str!("../../schedules/strips.sched")),
    ("stages.sched", include_str!("../../schedules/stages.sched")),
];

/// The folder of this crate, where it was built.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Writes the crate.
pub(crate) fn new(tool: &Tool, args: &NewArgs) -> Result<(), Failure> {
    let folder = &args.path;
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_crate_name(name) {
        let text = "a crate is called by letters, digits, `_` and `-`, and begins with a letter; choose another name";
        return Err(Failure(format!("{}: {text}", files::shown(folder))));
    }
    if folder.exists() {
        return Err(Failure(format!("{}: it is there already; choose another name", files::shown(folder))));
    }
    let write = |path: &str, bytes: &[u8]| -> Result<(), Failure> {
        let path = folder.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, bytes));
        written.map_err(|error| Failure(format!("{}: {error}", files::shown(&path))))
    };
    write("Cargo.toml", manifest(name).as_bytes())?;
    let program = PROGRAM.replace("\"mine\"", &format!("{name:?}")).replace("out/mine.png", &format!("out/{name}.png"));
    write("src/main.rs", program.as_bytes())?;
    for (file, text) in SCHEDULES {
        write(&format!("schedules/{file}"), text.as_bytes())?;
    }
    write(".gitignore", b"/target\n/out\n")?;
    let photo = match tool.sample {
        Some(bytes) => {
            write("photo.jpg", bytes)?;
            "photo.jpg"
        }
        None => "PHOTO",
    };
    say(format!(
        "wrote {0}; to run it:\n  cd {0}\n  cargo run --release -- run {photo}               # writes out/{name}.png\n  \
         cargo run --release -- compare {photo}           # its schedules, timed and checked\n  \
         cargo run --release -- run {photo} --schedule schedules/strips.sched --set rows=64",
        files::shown(folder)
    ))
}

/// The manifest: on the crates where this one was built, if they are there, else on those that are published.
fn manifest(name: &str) -> String {
    let root = Path::new(HERE).parent().filter(|root| root.join("halide/Cargo.toml").exists());
    let on = |folder: &str| match root {
        Some(root) => format!("{{ path = {:?} }}", root.join(folder).display().to_string()),
        None => format!("{:?}", env!("CARGO_PKG_VERSION")),
    };
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         halide = {}\nhalide-tool = {}\n\n[features]\n# Kernels on a GPU.\ngpu = [\"halide-tool/gpu\"]\n\n\
         # A workspace of its own, also inside of another one.\n[workspace]\n",
        on("halide"),
        on("tool")
    )
}

fn is_crate_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_crates() {
        for (name, right) in [("mine", true), ("my-app_2", true), ("2d", false), ("", false), ("a b", false)] {
            assert_eq!(is_crate_name(name), right, "{name:?}");
        }
    }

    #[test]
    fn manifests_name_the_crates_here() {
        let text = manifest("mine");
        assert!(text.contains("name = \"mine\""), "{text}");
        assert!(text.contains("/halide\"") && text.contains("/tool\""), "{text}");
    }
}
