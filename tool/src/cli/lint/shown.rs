//! Findings, and what `--fix` made of them, as text or as JSON.

use super::super::args::LintArgs;
use super::super::common;
use super::super::failure::Failure;
use super::super::terminal::{say, say_heading};
use super::fix::{Ended, Fixed};
use super::patch::patch;
use crate::files;
use crate::job::Job;
use halide::findings::Finding;
use serde_json::{Map, Value, json};

/// The columns of a line, and those that are free before the text of a finding.
const COLUMNS: usize = 118;
const INDENT: usize = 7;

/// The findings that are shown at most as text.
const MOST: usize = 20;

/// Findings with what they are about.
pub(super) struct Shown<'a> {
    pub(super) job: &'a Job,
    pub(super) args: &'a LintArgs,
    /// The name of the schedule.
    pub(super) name: &'a str,
}

impl Shown<'_> {
    /// Prints findings, the largest share of the time first.
    pub(super) fn say(&self, found: &[Finding]) -> Result<(), Failure> {
        let ((width, height), threads) = (self.job.size, common::threads(&self.args.common));
        let (app, name) = (self.job.app.name, self.name);
        let many = match found.len() {
            0 => "no findings".to_string(),
            1 => "1 finding".to_string(),
            many => format!("{many} findings"),
        };
        say(format!("{app} {width}x{height}, {threads} threads, schedule `{name}`: {many}"))?;
        found.iter().take(MOST).try_for_each(finding)?;
        if found.len() > MOST {
            say(format!("... and {} more, with less; --json has them all", found.len() - MOST))?;
        }
        Ok(())
    }

    /// The findings as one JSON object.
    pub(super) fn json(&self, found: &[Finding]) -> Value {
        let (width, height) = self.job.size;
        json!({
            "app": self.job.app.name,
            "schedule": self.name,
            "size": [width, height],
            "threads": common::threads(&self.args.common),
            "findings": found.iter().map(json_of).collect::<Vec<Value>>(),
        })
    }

    /// Prints what was kept, and the patch; fails where an edit altered the result.
    pub(super) fn fixed(&self, fixed: &Fixed, found: &[Finding]) -> Result<(), Failure> {
        let patch = self.patch(fixed);
        if self.args.json {
            say(self.json_fixed(fixed, found, &patch))?;
        } else {
            self.say_fixed(fixed, found, &patch)?;
        }
        match fixed.wrong.len() {
            0 => Ok(()),
            wrong => Err(Failure(format!(
                "{wrong} of the edits alter the result, and are not kept: a promise in the schedule, such as `monoid`, \
                 does not hold, or halide has a mistake; please report it"
            ))),
        }
    }

    fn say_fixed(&self, fixed: &Fixed, found: &[Finding], patch: &str) -> Result<(), Failure> {
        let ((width, height), threads) = (self.job.size, common::threads(&self.args.common));
        let (app, name) = (self.job.app.name, self.name);
        say(format!("{app} {width}x{height}, {threads} threads, schedule `{name}`"))?;
        for kept in &fixed.kept {
            let gain = format!("{:.0}%", kept.gain * 100.0);
            say_heading(
                &format!("  -{gain:5}"),
                &format!("{:.3} -> {:.3} ms  {}", kept.before_ms, kept.after_ms, kept.what),
            )?;
        }
        let ended = match fixed.ended {
            Ended::Done => "nothing else that was found is faster",
            Ended::TimeUp => "the time was up",
            Ended::Stopped => "it was stopped",
        };
        let (before, after, seconds) = (fixed.before_ms, fixed.after_ms, fixed.elapsed.as_secs_f64());
        let tried = fixed.tries.len();
        match fixed.kept.len() {
            0 => say(format!("{before:.3} ms; none of {tried} edits is faster ({seconds:.1} s; {ended})"))?,
            kept => say(format!(
                "{before:.3} ms -> {after:.3} ms, x{:.2}, the same bits; {kept} of {tried} edits kept in \
                 {seconds:.1} s; {ended}",
                before / after.max(1e-9)
            ))?,
        }
        if !patch.is_empty() {
            say(patch.trim_end())?;
        }
        if let Some(place) = &fixed.place {
            say(format!("wrote {}", files::shown(place.path())))?;
        }
        let left = found.iter().filter(|finding| finding.edit.is_none()).count();
        if left > 0 {
            say(format!(
                "{left} findings without an edit are left: `halide lint {app}` with the new schedule shows them"
            ))?;
        }
        Ok(())
    }

    fn json_fixed(&self, fixed: &Fixed, found: &[Finding], patch: &str) -> Value {
        let kept = fixed.kept.iter().map(|kept| {
            json!({"what": kept.what, "gain": kept.gain, "before_ms": kept.before_ms, "after_ms": kept.after_ms})
        });
        let wrong = fixed.wrong.iter().map(|(what, by)| json!({"what": what, "differs": by}));
        let tries = fixed.tries.iter().map(|(what, outcome)| json!({"what": what, "outcome": outcome}));
        let ended = match fixed.ended {
            Ended::Done => "done",
            Ended::TimeUp => "time up",
            Ended::Stopped => "stopped",
        };
        let more = json!({
            "before_ms": fixed.before_ms,
            "after_ms": fixed.after_ms,
            "ratio": fixed.before_ms / fixed.after_ms.max(1e-9),
            "tried": tries.collect::<Vec<Value>>(),
            "seconds": fixed.elapsed.as_secs_f64(),
            "ended": ended,
            "kept": kept.collect::<Vec<Value>>(),
            "wrong": wrong.collect::<Vec<Value>>(),
            "patch": patch,
            "result": fixed.schedule.to_string(),
            "out": fixed.place.as_ref().map(|place| place.path().display().to_string()),
        });
        let mut all: Map<String, Value> = self.json(found).as_object().cloned().unwrap_or_default();
        all.extend(more.as_object().cloned().unwrap_or_default());
        Value::Object(all)
    }

    /// The patch from the schedule to the one that was kept, directives one by one as they are printed.
    fn patch(&self, fixed: &Fixed) -> String {
        patch((self.name, "mended"), &fixed.first.to_string(), &fixed.schedule.to_string())
    }
}

fn finding(finding: &Finding) -> Result<(), Failure> {
    let share = match finding.share {
        Some(share) => format!("{:.0}%", share * 100.0),
        None => "-".to_string(),
    };
    let heading = format!("{share:>5}  {}", finding.rule);
    let mut lines = wrapped(&finding.text, heading.chars().count() + 2).into_iter();
    say_heading(&heading, &format!("  {}", lines.next().unwrap_or_default()))?;
    lines.try_for_each(|line| say(format!("       {line}")))?;
    let Some(edit) = &finding.edit else { return Ok(()) };
    edit.from.iter().try_for_each(|line| say(format!("       - {line}")))?;
    edit.to.iter().try_for_each(|line| say(format!("       + {line}")))
}

/// The lines of a text, of which the first one stands behind so many columns.
fn wrapped(text: &str, before: usize) -> Vec<String> {
    let (mut lines, mut room) = (vec![String::new()], COLUMNS.saturating_sub(before));
    for word in text.split_whitespace() {
        let needed = word.chars().count() + 1;
        if needed > room && lines.last().is_some_and(|line| !line.is_empty()) {
            lines.push(String::new());
            room = COLUMNS - INDENT;
        }
        room = room.saturating_sub(needed);
        if let Some(line) = lines.last_mut() {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines
}

fn json_of(finding: &Finding) -> Value {
    let edit = finding.edit.as_ref();
    json!({
        "rule": finding.rule.name(),
        "func": finding.func,
        "at_loop": finding.at_loop,
        "value": finding.value,
        "threshold": finding.threshold,
        "unit": finding.rule.row().unit,
        "work": finding.work,
        "share": finding.share,
        "text": finding.text,
        "edit": edit.map(|edit| json!({"from": edit.from, "to": edit.to, "schedule": edit.schedule.to_string()})),
    })
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_texts_are_several_lines() {
        let text = "word ".repeat(39);
        let lines = wrapped(text.trim_end(), 30);
        assert_eq!(lines.join(" "), text.trim_end());
        assert!(lines.len() == 2 && lines[0].len() <= 88 && lines[1].len() <= 111, "{lines:?}");
        assert_eq!(wrapped("", 200), [""]);
        assert_eq!(wrapped("a b", 200), ["a", "b"]);
    }
}
