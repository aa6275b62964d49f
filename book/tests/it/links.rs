//! Links and pictures of pages: what they lead to is there, pictures have a text, and every page is in the summary.

use crate::page::parts;
use crate::pages::{folder, included, pages, read};
use halide::schedule::rows;

/// A link or picture of a page.
struct Link {
    page: String,
    is_picture: bool,
    text: String,
    target: String,
}

/// The links of the text of a page; blocks have none.
fn links(page: &str) -> Vec<Link> {
    let text: String = parts(&read(page)).into_iter().filter(|part| part.kind().is_empty()).map(|p| p.text).collect();
    let mut all = Vec::new();
    for (at, _) in text.match_indices("](") {
        let (before, after) = (&text[..at], &text[at + 2..]);
        let Some(open) = before.rfind('[') else { continue };
        let target = after.split(')').next().unwrap_or_default().to_string();
        let is_picture = before[..open].ends_with('!');
        all.push(Link { page: page.to_string(), is_picture, text: before[open + 1..].to_string(), target });
    }
    all
}

/// The name by which mdBook leads to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " _-".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn headings(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn links_lead_somewhere() {
    let (mut count, mut broken) = (0, Vec::new());
    for link in pages().iter().flat_map(|page| links(page)) {
        let (file, section) = link.target.split_once('#').unwrap_or((&link.target, ""));
        if file.contains("://") {
            continue;
        }
        count += 1;
        let name = if file.is_empty() { &link.page } else { file };
        let is_there = folder().join(name).is_file();
        if !is_there || !section.is_empty() && !headings(&included(name)).contains(&section.to_string()) {
            broken.push(format!("{}: {}", link.page, link.target));
        }
    }
    assert!(count > 10 && broken.is_empty(), "of {count} links these lead nowhere: {broken:#?}");
}

/// A word without a section is one that readers look for in vain.
#[test]
fn every_directive_has_a_section() {
    let page = read("directives.md") + &read("directives_more.md");
    let titles = page.lines().filter(|line| line.starts_with("###"));
    let named: Vec<&str> = titles.flat_map(|title| title.split('`').skip(1).step_by(2)).collect();
    let missing: Vec<&str> = rows().map(|row| row.word).filter(|word| !named.contains(word)).collect();
    assert!(missing.is_empty(), "without a section: {missing:?}");
}

#[test]
fn pictures_have_a_text_and_are_shown() {
    let pictures: Vec<Link> = pages().iter().flat_map(|page| links(page)).filter(|link| link.is_picture).collect();
    let without: Vec<&String> = pictures.iter().filter(|p| p.text.len() < 20).map(|p| &p.target).collect();
    assert!(pictures.len() > 5 && without.is_empty(), "without an alternative text: {without:?}");
    for entry in std::fs::read_dir(folder().join("pictures")).expect("the folder is there") {
        let name = format!("pictures/{}", entry.expect("an entry").file_name().to_string_lossy());
        assert!(pictures.iter().any(|picture| picture.target == name), "{name} is in no page");
    }
}

#[test]
fn every_page_is_in_the_summary_and_in_the_tests() {
    let listed: Vec<String> = links("SUMMARY.md").into_iter().map(|link| link.target).collect();
    let library = read("lib.rs");
    for page in pages().iter().filter(|page| *page != "SUMMARY.md") {
        assert!(listed.contains(page), "{page} is not in SUMMARY.md");
        assert!(library.contains(&format!("include_str!(\"{page}\")")), "blocks of {page} are no tests of lib.rs");
    }
}

#[test]
fn pages_are_short_and_narrow() {
    for page in pages() {
        let text = read(&page);
        assert!(text.lines().count() <= 500, "{page} is too long");
        let mut is_code = false;
        for (n, line) in (1..).zip(text.lines()) {
            is_code ^= line.starts_with("```");
            // Tables and pictures cannot be broken.
            let is_free = is_code || line.starts_with('|') || line.starts_with("![");
            assert!(is_free || line.chars().count() <= 120, "{page}:{n} has more than 120 columns");
        }
    }
}
