//! The page about the language of schedules, `docs/schedule.md`: its examples run, and its errors are those that users
//! meet (`schedule_blocks`). `UPDATE_EXPECT=1` writes the algorithm, the loops and the messages into the page.

use crate::page::{page_of, parts};
use crate::schedule_algorithm::algorithm;
use crate::schedule_blocks::{Subject, agree, expected};
use crate::tidy::read;
use expect_test::expect_file;
use halide::check::Case;
use halide::prelude::*;
use halide::schedule::{closest, rows};

/// The algorithm of the page.
const SUBJECT: Subject = Subject {
    pipeline: algorithm,
    regions,
    shows_all: false,
    params: || vec![("rows", 1.into()), ("absolute", false.into())],
    cases,
};

/// The sizes of all outputs, by that of the images.
fn regions(width: i64, height: i64) -> Vec<Region> {
    let image = Region::of_extents([width, height]);
    vec![image.clone(), image, Region::of_extents([16]), Region::of_extents([height])]
}

fn cases() -> Vec<Case> {
    let case = |(width, height, rows, absolute): (i64, i64, i32, bool)| {
        Case::of_regions(regions(width, height)).param("rows", rows).param("absolute", absolute)
    };
    [(1, 1, 3, false), (9, 6, 16, true), (35, 17, 21, false)].map(case).into()
}

/// The code of the page's algorithm.
fn code() -> String {
    let (_, code) = include_str!("schedule_algorithm.rs").split_once("\n\n").expect("a line about it stands first");
    code.replace("pub(crate) fn", "fn")
}

#[test]
fn loops_and_messages_of_the_page_are_those_of_its_schedules() {
    let mut parts = parts(&read("docs/schedule.md"));
    let mut wrong = Vec::new();
    for i in 0..parts.len() {
        match expected(&SUBJECT, &parts, i) {
            Ok(Some((behind, text))) => parts[behind].text = text,
            Ok(None) => {}
            Err(error) => wrong.push(format!("line {}: {error}", parts[i].line)),
        }
    }
    assert!(wrong.is_empty(), "docs/schedule.md\n{}", wrong.join("\n"));
    let first = parts.iter_mut().find(|part| part.kind() == "rust").expect("the algorithm");
    first.text = code();
    expect_file!["../../../docs/schedule.md"].assert_eq(&page_of(&parts));
}

#[test]
fn schedules_of_the_page_agree_with_the_interpreter() -> Result<(), Box<dyn std::error::Error>> {
    let parts = parts(&read("docs/schedule.md"));
    let count = agree(&SUBJECT, parts.iter().filter(|part| part.kind() == "sched"))?;
    assert!(count > 30, "{count} schedules");
    Ok(())
}

#[test]
fn every_word_has_a_section_and_no_section_is_of_another_word() {
    let page = read("docs/schedule.md");
    let titles = page.lines().filter(|line| line.starts_with("##"));
    let named: Vec<&str> = titles.flat_map(|title| title.split('`').skip(1).step_by(2)).collect();
    let missing: Vec<&str> = rows().map(|row| row.word).filter(|word| !named.contains(word)).collect();
    assert!(missing.is_empty(), "without a section: {missing:?}");
    for name in &named {
        let near = || closest(name, rows().map(|row| row.word));
        assert!(rows().any(|row| row.word == *name), "there is no word `{name}`; near it: {:?}", near());
        assert_eq!(named.iter().filter(|other| *other == name).count(), 1, "`{name}` has several sections");
    }
}
