//! The answer as a table or as JSON.

use super::super::args_timing::WhyArgs;
use super::super::changes::{Change, Changes, Set, place, shown};
use super::super::common;
use super::super::failure::Failure;
use super::super::terminal::{note, say, say_heading};
use super::candidates::{Candidate, Candidates};
use super::untried::Untried;
use super::worth::{Ratio, Row};
use crate::job::Job;
use serde_json::{Value, json};

/// The noise from which on a machine is told to be busy.
const NOISY: f64 = 0.1;

/// The answer to why B is faster or slower than A.
pub(super) enum Answer {
    /// They have the same directives.
    SameDirectives,
    /// They differ in directives, and not in time.
    SameTime,
    /// The steps from A to B.
    Steps(Vec<Row>),
}

/// An answer with what it is about.
pub(super) struct Table<'a> {
    pub(super) job: &'a Job,
    pub(super) args: &'a WhyArgs,
    pub(super) changes: &'a Changes,
    pub(super) answer: Answer,
}

impl Table<'_> {
    /// Prints the answer; fails where a result differs from A's.
    pub(super) fn print(&self, candidates: &Candidates<'_>) -> Result<(), Failure> {
        let [a, b] = [Set::new(), self.changes.every()].map(|set| candidates.get(&set).map_err(Failure::from));
        let (a, b) = (a?, b?);
        let whole = Ratio::new(b, a);
        match self.args.json {
            true => say(self.json(a, b, candidates.rounds()))?,
            false => self.say(a, whole, candidates.rounds())?,
        }
        let row_differs = |rows: &[Row]| rows.iter().any(|row| row.differs.is_some());
        match (&self.answer, b.differs) {
            (_, Some(by)) => {
                Err(Failure(format!("the result of `{}` differs from `{}`'s by {by}", self.args.b, self.args.a)))
            }
            (Answer::Steps(rows), None) if row_differs(rows) => {
                Err(Failure(format!("changes alter the result of `{}`", self.args.a)))
            }
            _ => Ok(()),
        }
    }

    fn say(&self, a: &Candidate, whole: Ratio, rounds: usize) -> Result<(), Failure> {
        let WhyArgs { a: name_a, b: name_b, .. } = self.args;
        let rows = match &self.answer {
            Answer::SameDirectives => return say(format!("`{name_a}` and `{name_b}` have the same directives")),
            Answer::SameTime => {
                let text = format!("`{name_b}` takes as long as `{name_a}`, within the noise: {}", whole.text());
                return say(text);
            }
            Answer::Steps(rows) => rows,
        };
        let ((width, height), threads) = (self.job.size, common::threads(&self.args.common));
        let (ms_a, word) = (a.turn.samples.min(), if whole.value > 1.0 { "faster" } else { "slower" });
        let (ms_b, app) = (ms_a / whole.value, self.job.app.name);
        say(format!("{app} {width}x{height}, {threads} threads; {rounds} rounds in turn"))?;
        say(format!("`{name_b}` is {word} than `{name_a}`: {}, {ms_b:.3} ms after {ms_a:.3} ms", whole.text()))?;
        let lines = |row: &Row| row.changes.iter().map(|&change| &self.changes.all[change]).collect::<Vec<_>>();
        let all = rows.iter().flat_map(lines).map(|change| change.place().chars().count());
        let at = all.max().unwrap_or(0).max(5);
        say_heading(&format!("  {:>6}{:>16}{:>16}  {:at$}  change", "worth", "alone", "without it", "place"), "")?;
        for row in rows {
            let ratio = |ratio: &Result<Ratio, Untried>| match ratio {
                Ok(ratio) => ratio.text(),
                Err(Untried::NoTime) => "?".to_string(),
                Err(Untried::Refused(_)) => "-".to_string(),
            };
            let share = row.share.map_or("?".to_string(), |share| format!("{:.0}%", share * 100.0));
            let altered = row.differs.map_or(String::new(), |by| format!("  ALTERS the result by {by}"));
            for (number, change) in lines(row).into_iter().enumerate() {
                let (and, numbers) = match number {
                    0 => ("", format!("{share:>6}{:>16}{:>16}", ratio(&row.alone), ratio(&row.without))),
                    _ => ("and ", " ".repeat(38)),
                };
                let altered = if number == 0 { &altered } else { "" };
                say(format!("  {numbers}  {:at$}  {and}{}{altered}", change.place(), change.text()))?;
            }
        }
        let lacks = |ratio: &Result<Ratio, Untried>| ratio.as_ref().is_err_and(|why| *why == Untried::NoTime);
        if rows.iter().any(|row| lacks(&row.alone) || lacks(&row.without)) {
            note("there was no time for all schedules (?); give more by --time");
        }
        let noise = rows.iter().filter_map(|row| row.alone.as_ref().ok()).map(|ratio| ratio.noise);
        let noise = noise.fold(whole.noise, f64::max);
        if noise > NOISY {
            note(format!(
                "least times differ by up to {:.0}% by themselves; an idle machine tells more",
                noise * 100.0
            ));
        }
        self.say_first(rows)
    }

    /// The one line about the step that explains most.
    fn say_first(&self, rows: &[Row]) -> Result<(), Failure> {
        let Some((row, share)) = rows.first().and_then(|row| Some((row, row.share?))) else { return Ok(()) };
        let texts: Vec<String> =
            row.changes.iter().map(|&change| format!("`{}`", self.changes.all[change].text())).collect();
        let verb = if texts.len() == 1 { "explains" } else { "together explain" };
        say(format!("{} {verb} {:.0} % of the difference", texts.join(" and "), share * 100.0))
    }

    fn json(&self, a: &Candidate, b: &Candidate, rounds: usize) -> Value {
        let end = |name: &str, end: &Candidate| {
            let samples = &end.turn.samples;
            json!({"schedule": name, "min_ms": samples.min(), "noise": samples.noise(), "differs": end.differs})
        };
        let whole = Ratio::new(b, a);
        let (answer, rows) = match &self.answer {
            Answer::SameDirectives => ("same directives", &[][..]),
            Answer::SameTime => ("same time", &[][..]),
            Answer::Steps(rows) => (if whole.value > 1.0 { "faster" } else { "slower" }, &rows[..]),
        };
        json!({
            "app": self.job.app.name, "size": [self.job.size.0, self.job.size.1],
            "threads": common::threads(&self.args.common), "rounds": rounds,
            "a": end(&self.args.a, a), "b": end(&self.args.b, b), "answer": answer,
            "ratio": whole.value, "noise": whole.noise,
            "changes": self.changes.all.iter().map(change_json).collect::<Vec<_>>(),
            "steps": rows.iter().map(row_json).collect::<Vec<_>>(),
        })
    }
}

fn change_json(change: &Change) -> Value {
    let side = |directive: &Option<_>| {
        directive.as_ref().map(|directive| json!({"text": shown(directive), "at": place(Some(directive))}))
    };
    json!({"text": change.text(), "before": side(&change.before), "after": side(&change.after)})
}

fn row_json(row: &Row) -> Value {
    let ratio = |ratio: &Result<Ratio, Untried>| match ratio {
        Ok(ratio) => ratio.json(),
        Err(error) => json!({"error": error.to_string()}),
    };
    json!({
        "changes": row.changes, "alone": ratio(&row.alone), "without": ratio(&row.without), "worth": row.worth,
        "share": row.share, "differs": row.differs,
    })
}
