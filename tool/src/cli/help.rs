//! `help`: the commands, and the language of schedules.

use super::failure::Failure;
use super::terminal::say;
use super::tool::Tool;
use halide::schedule::closest;

/// The page about the language of schedules.
const PAGE: &str = include_str!("../../../docs/schedule.md");

/// A section of the page: the words that it is about, or its title, and its text.
struct Section {
    names: Vec<String>,
    text: String,
}

/// Prints the page about schedules or the section of a word, or the help of a command.
pub(crate) fn help(tool: &Tool, command: Option<&str>, word: Option<&str>) -> Result<(), Failure> {
    match (command, word) {
        (Some("schedule"), None) => say(PAGE.trim_end()),
        (Some("schedule"), Some(word)) => say(section(tool.name, word)?),
        _ => {
            // The same as with `--help` behind the command, which ends the process.
            let args = [Some(tool.name), command, word, Some("--help")];
            tool.command().get_matches_from(args.into_iter().flatten());
            Ok(())
        }
    }
}

/// The section of a word or topic, and a line about the algorithm of its examples.
fn section(tool: &str, word: &str) -> Result<String, Failure> {
    let sections = sections();
    let topic = word.to_lowercase();
    let names = || sections.iter().flat_map(|section| section.names.iter().map(String::as_str));
    let Some(found) = sections.iter().find(|section| section.names.contains(&topic)) else {
        let hint = match closest(&topic, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`{tool} help schedule` shows all of them"),
        };
        return Err(Failure(format!("the language of schedules has no word `{word}`; {hint}")));
    };
    let text = found.text.trim_end();
    Ok(match topic.as_str() {
        "algorithm" => text.to_string(),
        _ => format!("{text}\n\nThe examples are schedules of one algorithm: `{tool} help schedule algorithm`."),
    })
}

/// The sections of the page. One ends where the next one begins that is no part of it.
fn sections() -> Vec<Section> {
    let lines: Vec<&str> = PAGE.lines().collect();
    let titles = titles(&lines);
    let section = |(i, (start, level)): (usize, &(usize, usize))| {
        let next = titles[i + 1..].iter().find(|(_, other)| other <= level);
        let end = next.map_or(lines.len(), |(line, _)| *line);
        Section { names: names(lines[*start]), text: lines[*start..end].join("\n") }
    };
    titles.iter().enumerate().map(section).collect()
}

/// The lines that are titles, with their levels; in examples, `#` begins a comment.
fn titles(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut titles = Vec::new();
    let mut is_example = false;
    for (i, line) in lines.iter().enumerate() {
        is_example ^= line.starts_with("```");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if !is_example && level > 1 {
            titles.push((i, level));
        }
    }
    titles
}

/// The words in a title, or the title itself.
fn names(title: &str) -> Vec<String> {
    let words: Vec<String> = title.split('`').skip(1).step_by(2).map(str::to_string).collect();
    if words.is_empty() { vec![title.trim_start_matches(['#', ' ']).to_lowercase()] } else { words }
}
