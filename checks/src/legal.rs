//! Schedules that are legal, and what is said of those that are not.

use halide::plan;
use halide::prelude::*;

/// The answer for a legal schedule.
pub(crate) const LEGAL: &str = "legal";

/// The most characters of a reason.
const MOST_TEXT: usize = 160;

/// Returns the answer for a schedule: that it is legal, or the first reason why not.
pub(crate) fn answer(pipeline: &Pipeline, schedule: &Schedule, target: &Target) -> String {
    match plan::resolve(pipeline, schedule, target) {
        Ok(_) => LEGAL.to_string(),
        Err(errors) => match errors.first() {
            Some(e) => {
                let number = e.directive.map_or("nowhere".to_string(), |n| format!("directive {n}"));
                let problem = without_lines(&format!("{:?}", e.problem));
                format!("{number}: {problem}").chars().take(MOST_TEXT).collect()
            }
            None => "no reason".to_string(),
        },
    }
}

/// The text without lines and columns of places in sources, which any change of the checks moves.
pub(crate) fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let first = parts.next().unwrap_or_default().to_string();
    let is_place = |c: char| c.is_ascii_digit() || c == ':';
    parts.fold(first, |all, part| all + ".rs" + part.trim_start_matches(is_place))
}

/// The lines that are legal, each after those before it that are; and of each what is wrong with it.
pub(crate) fn legal(pipeline: &Pipeline, target: &Target, lines: &[String]) -> (Schedule, Vec<String>) {
    let (mut schedule, mut said) = (Schedule::new(), Vec::new());
    for line in lines {
        let text = format!("{schedule}\n{line}");
        let Ok(longer) = text.parse::<Schedule>() else { panic!("`{line}` is no schedule") };
        let answer = answer(pipeline, &longer, target);
        if answer == LEGAL {
            schedule = longer;
        }
        said.push(answer);
    }
    (schedule, said)
}
