//! Blocks of schedules in pages: each speaks of the algorithm shown before it. `UPDATE_EXPECT=1` writes the code of
//! algorithms, the loops and the messages into the pages.

use crate::page::{Part, page_of, parts};
use crate::pages::{folder, pages, read};
use crate::schedule_blocks::{Subject, agree, expected};
use expect_test::expect_file;
use halide_book::algorithms::{ALGORITHMS, Algorithm};

fn subject(algorithm: &Algorithm) -> Subject {
    let Algorithm { pipeline, regions, shows_all, cases, .. } = algorithm;
    Subject { pipeline: *pipeline, regions: *regions, params: Vec::new, shows_all: *shows_all, cases: *cases }
}

/// The algorithm whose code a block is.
fn shown(part: &Part) -> Option<&'static Algorithm> {
    let name = part.words().find_map(|word| word.strip_prefix("algorithm-"))?;
    let known = ALGORITHMS.iter().find(|algorithm| algorithm.name == name);
    Some(known.unwrap_or_else(|| panic!("line {}: there is no algorithm `{name}`", part.line)))
}

/// The code of an algorithm as pages have it: without the lines about the file.
fn code(algorithm: &Algorithm) -> String {
    let (_, code) = algorithm.code.split_once("\n\n").expect("a line about it stands first");
    code.replace("/// The pipeline.\n", "").replace("pub fn", "fn")
}

/// The parts of a page, each with the algorithm that was shown last.
fn with_algorithms(parts: &[Part]) -> Vec<Option<&'static Algorithm>> {
    let mut last = None;
    parts
        .iter()
        .map(|part| {
            last = shown(part).or(last);
            last
        })
        .collect()
}

#[test]
fn loops_and_messages_are_those_of_the_schedules() {
    let mut wrong = Vec::new();
    for page in pages() {
        let mut parts = parts(&read(&page));
        let algorithms = with_algorithms(&parts);
        for i in 0..parts.len() {
            if let Some(algorithm) = shown(&parts[i]) {
                parts[i].text = code(algorithm);
            }
            if !parts[i].kind().starts_with("sched") {
                continue;
            }
            let line = parts[i].line;
            let Some(algorithm) = algorithms[i] else {
                wrong.push(format!("{page}:{line}: no algorithm is shown before the schedule"));
                continue;
            };
            match expected(&subject(algorithm), &parts, i) {
                Ok(Some((behind, text))) => parts[behind].text = text,
                Ok(None) => {}
                Err(error) => wrong.push(format!("{page}:{line}: {error}")),
            }
        }
        expect_file![folder().join(&page)].assert_eq(&page_of(&parts));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn schedules_agree_with_the_interpreter() -> Result<(), Box<dyn std::error::Error>> {
    let mut count = 0;
    for page in pages() {
        let parts = parts(&read(&page));
        let algorithms = with_algorithms(&parts);
        for algorithm in &ALGORITHMS {
            let is_own = |other: &Option<&Algorithm>| other.is_some_and(|other| other.name == algorithm.name);
            let own = parts.iter().zip(&algorithms).filter(|(part, of)| part.kind() == "sched" && is_own(of));
            let own: Vec<&Part> = own.map(|(part, _)| part).collect();
            if !own.is_empty() {
                count += agree(&subject(algorithm), own).map_err(|error| format!("{page}: {error}"))?;
            }
        }
    }
    assert!(count > 10, "{count} schedules");
    Ok(())
}
