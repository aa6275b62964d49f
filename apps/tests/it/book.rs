//! The command lines of the book: each `sh` block whose lines begin with `halide` is run, and what it prints is held
//! against the block `text` behind it. `UPDATE_EXPECT=1` writes that block anew where it differs.
//!
//! ```text
//! sched,file-NAME    a schedule that is written to the file `NAME.sched` beforehand
//! sh                 commands, run one after the other in a folder of the page's own
//! text               what they print; times, counts of threads and names of machines are not compared
//! text,loose         the same where a machine decides more of it: the first words of lines are compared, in any order and
//!                    without notes
//! ```

use crate::Workplace;
use crate::page::{Part, next, page_of, parts};
use std::path::PathBuf;

/// The folder of the book's pages.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../book/src")
}

/// The pages with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder()).expect("the book is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).expect("a page is text"))).collect()
}

/// The arguments of the commands of a block that are for the tool.
fn commands(part: &Part) -> Vec<&str> {
    let lines = part.text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
    lines.filter_map(|line| line.strip_prefix("halide ")).collect()
}

/// Returns true for lines about schedules with kernels, which run on some machines and in some builds only.
fn is_of_gpus(line: &str) -> bool {
    line.starts_with("note: gpu") || line.trim_start().starts_with("gpu")
}

/// Everything that commands print but for lines about GPUs. One that fails says so in its last line.
fn printed(place: &Workplace, commands: &[&str]) -> String {
    let mut all = String::new();
    for command in commands {
        let ran = place.run_with(command, &[("COLUMNS", "120"), ("NO_COLOR", "1"), ("NODEVICE_SELECT", "1")]);
        all += &ran.stdout;
        all += &ran.stderr;
        if ran.status != 0 {
            all += &format!("exit status {}\n", ran.status);
        }
    }
    all.lines().filter(|line| !is_of_gpus(line)).map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Units of numbers that another machine or another run changes.
const UNITS: [&str; 12] =
    ["ns", "us", "ms", "s", "Mpix/s", "GFLOP/s", "GB/s", "times", "x", "threads", "candidates", "%"];

/// The words of a line. A number before a unit, one with decimals, and a name of a machine are all the same.
fn words(line: &str) -> Vec<String> {
    let is_number = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || ".,e-".contains(c))
    };
    let all: Vec<&str> = line.split_whitespace().map(|word| word.trim_end_matches([',', ';', ':'])).collect();
    let is_timed = |n: usize| {
        is_number(all[n]) && (all[n].contains('.') || all.get(n + 1).is_some_and(|unit| UNITS.contains(unit)))
    };
    (0..all.len()).map(|n| if is_timed(n) { "NUMBER".to_string() } else { all[n].to_string() }).collect()
}

/// The words that are compared.
fn compared(part: &Part, text: &str) -> Vec<Vec<String>> {
    let is_loose = part.words().any(|word| word == "loose");
    let mut lines: Vec<Vec<String>> = text.lines().map(words).filter(|words| !words.is_empty()).collect();
    if is_loose {
        lines.iter_mut().for_each(|words| words.truncate(1));
        lines.retain(|words| words[0] != "note");
        lines.sort();
        lines.dedup();
    }
    lines
}

#[test]
fn command_lines_print_what_the_book_says() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let (mut count, mut wrong) = (0, Vec::new());
    for (path, page) in pages() {
        let place = Workplace::new();
        let mut parts = parts(&page);
        for i in 0..parts.len() {
            if let Some(name) = parts[i].words().find_map(|word| word.strip_prefix("file-")) {
                std::fs::write(place.path(&format!("{name}.sched")), &parts[i].text).expect("a file");
            }
            let commands = if parts[i].kind() == "sh" { commands(&parts[i]) } else { Vec::new() };
            if commands.is_empty() {
                continue;
            }
            count += commands.len();
            let said = printed(&place, &commands);
            match next(&parts, i, "text") {
                Some(behind) if compared(&parts[behind], &said) != compared(&parts[behind], &parts[behind].text) => {
                    wrong.push(format!("{}:{}\n{said}", path.display(), parts[i].line));
                    parts[behind].text = said;
                }
                Some(_) => {}
                None if said.contains("exit status") => {
                    wrong.push(format!("{}:{}: {said}", path.display(), parts[i].line));
                }
                None => {}
            }
        }
        if update {
            std::fs::write(&path, page_of(&parts)).expect("the page is written");
        }
    }
    assert!(count > 8, "{count} commands were found");
    assert!(update || wrong.is_empty(), "UPDATE_EXPECT=1 writes these:\n{}", wrong.join("\n"));
}

/// Whoever reads the first chapter has a filtered photograph after three commands.
#[test]
fn the_first_chapter_begins_with_three_commands() {
    let page = std::fs::read_to_string(folder().join("picture.md")).expect("the chapter is there");
    let parts = parts(&page);
    let first = parts.iter().find(|part| part.kind() == "sh").expect("it begins with commands");
    let lines: Vec<&str> = first.text.lines().collect();
    let beginnings = ["cargo run --release -p halide-apps --bin halide -- new ", "cd ", "cargo run --release -- run "];
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines.iter().zip(beginnings).all(|(line, start)| line.starts_with(start)), "{lines:?}");
    // The crate that the first command writes has the code that the chapter shows.
    let place = Workplace::new();
    place.succeed("new mine");
    let program = std::fs::read_to_string(place.path("mine/src/main.rs")).expect("a program");
    let shown = parts.iter().find(|part| part.words().any(|word| word == "template")).expect("it shows the program");
    let visible: Vec<&str> = shown.text.lines().filter(|line| !line.starts_with("# ")).collect();
    assert!(program.contains(&visible.join("\n")), "src/main.rs of `halide new` has other code");
    assert!(place.path("mine/photo.jpg").exists());
}

#[test]
fn words_of_lines() {
    assert_eq!(words("one run: 15.1 ms, 3 threads"), ["one", "run", "NUMBER", "ms", "NUMBER", "threads"]);
    assert_eq!(words("  strips   1.250   17 values"), ["strips", "NUMBER", "17", "values"]);
}
