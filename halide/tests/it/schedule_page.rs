//! The page about the language of schedules, `docs/schedule.md`: its examples run, and its errors are those that users
//! meet. `UPDATE_EXPECT=1` writes the algorithm, the loops and the messages into the page.
//!
//! ```text
//! sched [NAME=NUMBER ..]         a schedule of the page's algorithm; a block `loops` behind it has its loop nest
//! sched-error [NAME=NUMBER ..]   one that is refused with the text in the next block; `no-gpu`: without a GPU
//! sched-fault WxH                one whose run at that size ends with the text in the next block
//! ```

use crate::schedule_algorithm::algorithm;
use crate::tidy::read;
use expect_test::expect_file;
use halide::check::{Case, Check};
use halide::ir::target;
use halide::prelude::*;
use halide::schedule::{closest, rows};

/// The file name in messages.
const FILE: &str = "my.sched";

/// A part of the page: text, or a block between fences.
struct Part {
    /// The words behind the fence; `None` of text.
    info: Option<String>,
    text: String,
    /// Its first line in the page.
    line: usize,
}

impl Part {
    fn kind(&self) -> &str {
        self.words().next().unwrap_or_default()
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.info.iter().flat_map(|info| info.split_whitespace())
    }

    fn has(&self, word: &str) -> bool {
        self.words().any(|w| w == word)
    }

    /// The schedule, with the numbers that the fence sets.
    fn schedule(&self) -> Result<Schedule, Error> {
        let numbers = self.words().filter_map(|word| word.split_once('='));
        let set = numbers.map(|(name, value)| (name, value.parse::<i64>().expect("a number")));
        Ok(Schedule::parse_with(&self.text, FILE, set)?)
    }
}

/// The parts of the page in order.
fn parts(page: &str) -> Vec<Part> {
    let mut parts = vec![Part { info: None, text: String::new(), line: 1 }];
    for (line, text) in (1..).zip(page.lines()) {
        let last = parts.last_mut().expect("there is a first one");
        let Some(info) = text.strip_prefix("```") else {
            last.text += &format!("{text}\n");
            continue;
        };
        let opens = last.info.is_none();
        let line = if opens { line } else { line + 1 };
        parts.push(Part { info: opens.then(|| info.to_string()), text: String::new(), line });
    }
    parts
}

/// The page of these parts.
fn page_of(parts: &[Part]) -> String {
    let text = |part: &Part| match &part.info {
        Some(info) => format!("```{info}\n{}```\n", part.text),
        None => part.text.clone(),
    };
    parts.iter().map(text).collect()
}

fn target(with_gpu: bool) -> Target {
    let gpu = target::Gpu { subgroup: Some(32), ..target::Gpu::LEAST };
    Target { gpu: with_gpu.then_some(gpu), ..Target::host() }
}

fn compiled(part: &Part) -> Result<Compiled, Error> {
    let (pipeline, schedule) = (algorithm()?, part.schedule()?);
    let compiler = Compiler::new(&pipeline).schedule(&schedule).target(&target(!part.has("no-gpu")));
    compiler.engine(Engine::Eval).compile()
}

/// The sizes of all outputs, by that of the images.
fn regions(width: i64, height: i64) -> [Region; 4] {
    let image = Region::of_extents([width, height]);
    [image.clone(), image, Region::of_extents([16]), Region::of_extents([height])]
}

/// The end of a run at the size that the fence says.
fn run(part: &Part) -> Result<(), Error> {
    let size = part.words().find_map(|word| word.split_once('x')).expect("a size");
    let (width, height) = (size.0.parse::<i64>().expect("a width"), size.1.parse::<i64>().expect("a height"));
    let input = Buffer::<u8>::new([width.max(16) + 2, height + 2])?;
    let compiled = compiled(part)?;
    let call = compiled.inputs().image_named("input", input).param_named("rows", 1).param_named("absolute", false);
    call.realize_all(&regions(width, height)).map(|_| ())
}

/// The code of the page's algorithm.
fn code() -> String {
    let (_, code) = include_str!("schedule_algorithm.rs").split_once("\n\n").expect("a line about it stands first");
    code.replace("pub(crate) fn", "fn")
}

/// The part of a loop nest that Funcs of the schedule stand in: the page has room for no more.
fn nests_of(nest: &str, schedule: &Schedule) -> String {
    let mut groups: Vec<String> = Vec::new();
    for line in nest.split_inclusive('\n') {
        match groups.last_mut() {
            Some(group) if line.starts_with(' ') => group.push_str(line),
            _ => groups.push(line.to_string()),
        }
    }
    let has = |group: &String| schedule.directives().iter().any(|d| group.contains(&d.subject.func));
    groups.into_iter().filter(has).collect()
}

/// The text that block `i` should have, if something tells it.
fn expected(parts: &[Part], i: usize) -> Result<Option<String>, String> {
    // Between two blocks is a part of text.
    let next = parts.get(i + 2).filter(|_| parts[i + 1].text.is_empty());
    let follows = |kind: &str| next.is_some_and(|part| part.kind() == kind);
    let part = &parts[i];
    match part.kind() {
        "sched" => {
            let compiled = compiled(part).map_err(|error| error.to_string())?;
            if !follows("loops") {
                return Ok(None);
            }
            let nest = compiled.loops().map_err(|error| error.to_string())?;
            Ok(Some(nests_of(&nest, &part.schedule().map_err(|error| error.to_string())?)))
        }
        kind @ ("sched-error" | "sched-fault") => {
            let result = if kind == "sched-error" { compiled(part).map(|_| ()) } else { run(part) };
            let error = result.err().ok_or("it is not refused")?;
            if follows("text") { Ok(Some(format!("{error}\n"))) } else { Err("no block `text` follows".to_string()) }
        }
        _ => Ok(None),
    }
}

#[test]
fn loops_and_messages_of_the_page_are_those_of_its_schedules() {
    let mut parts = parts(&read("docs/schedule.md"));
    let mut wrong = Vec::new();
    for i in 0..parts.len() {
        match expected(&parts, i) {
            Ok(Some(text)) => parts[i + 2].text = text,
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
    let mut check = Check::new(&algorithm()?).target(&target(true));
    for part in parts.iter().filter(|part| part.kind() == "sched") {
        check = check.schedule(format!("line {}", part.line), &part.schedule()?);
    }
    for (width, height, rows, absolute) in [(1, 1, 3, false), (9, 6, 16, true), (35, 17, 21, false)] {
        let case = Case::of_regions(regions(width, height));
        check = check.case(case.param("rows", rows).param("absolute", absolute));
    }
    let agreed = check.run()?;
    assert_eq!(agreed.schedules, parts.iter().filter(|part| part.kind() == "sched").count());
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
