//! A row of the table: a version that was saved, and what became of it.

use super::super::utc::Utc;
use super::changes::summary;
use super::judge::Verdict;
use crate::samples::Samples;
use serde_json::{Value, json};
use std::time::SystemTime;

/// The most lines of an error that a row shows.
const LINES: usize = 8;

/// The heading of the table. What is of any length stands at the end, so that columns need no width of a terminal.
pub(super) const HEADING: &str = "  #  UTC         min ms       +-     to best  compile ms  result      changed";

/// A version that was saved.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) saved: SystemTime,
    /// True if nothing will be measured of it any more.
    pub(super) is_done: bool,
    pub(super) outcome: Outcome,
}

/// The outcome of a version.
#[derive(Clone)]
pub(super) enum Outcome {
    /// It ran.
    Timed(Box<Timed>),
    /// It is no schedule, not a legal one, or its run failed: why. The version that goes on is the newest that runs.
    Error { text: String, goes_on: Option<u64> },
    /// The file is not there.
    Gone { goes_on: Option<u64> },
}

/// A version that ran.
#[derive(Clone)]
pub(super) struct Timed {
    pub(super) changes: Vec<String>,
    pub(super) samples: Samples,
    pub(super) standing: Standing,
    /// The file that keeps it as the best one.
    pub(super) kept_as: Option<String>,
    pub(super) compile_ms: f64,
    /// False if the code of an earlier version was kept.
    pub(super) is_compiled: bool,
    /// The verdict on its result, once there is one.
    pub(super) verdict: Option<Verdict>,
}

/// The time of a version beside that of the best one before it, as measured in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Standing {
    /// The first version that runs.
    First,
    /// The best version again.
    Again,
    /// Not measured often enough to tell: the difference so far, of 1.
    Open(f64),
    /// Faster by more than the noise: the best by now.
    Faster(f64),
    /// No difference that is more than the noise.
    Equal(f64),
    /// Slower by more than the noise.
    Slower(f64),
}

impl Standing {
    /// The standing for a difference to the best of 1, and the noise of both; `None` as long as that is not known.
    pub(super) fn new(delta: f64, noise: Option<f64>) -> Standing {
        match noise {
            None => Standing::Open(delta),
            Some(noise) if is_faster(delta, noise) => Standing::Faster(delta),
            Some(noise) if delta > noise => Standing::Slower(delta),
            Some(_) => Standing::Equal(delta),
        }
    }

    fn delta(self) -> Option<f64> {
        match self {
            Standing::First | Standing::Again => None,
            Standing::Open(delta) | Standing::Faster(delta) | Standing::Equal(delta) | Standing::Slower(delta) => {
                Some(delta)
            }
        }
    }

    /// The standing as a word of JSON.
    fn word(self) -> &'static str {
        match self {
            Standing::First => "first",
            Standing::Again => "again",
            Standing::Open(_) => "open",
            Standing::Faster(_) => "faster",
            Standing::Equal(_) => "equal",
            Standing::Slower(_) => "slower",
        }
    }

    fn text(self) -> String {
        match self {
            Standing::First => "first".to_string(),
            Standing::Again => "the best".to_string(),
            Standing::Open(delta) | Standing::Equal(delta) => format!("~{:+.1}%", delta * 100.0),
            Standing::Faster(delta) | Standing::Slower(delta) => format!("{:+.1}%", delta * 100.0),
        }
    }
}

/// Returns true if a time is shorter than another one by more than the noise: if the other is longer by more than that.
pub(super) fn is_faster(delta: f64, noise: f64) -> bool {
    (1.0 + delta) * (1.0 + noise) < 1.0
}

impl Row {
    /// The row as text: one line for a version that ran, and as many as an error needs.
    pub(super) fn text(&self) -> String {
        let start = format!("{:>3}  {}", self.number, Utc::new(self.saved).clock());
        match &self.outcome {
            Outcome::Timed(timed) => format!("{start}{}", timed.text()),
            Outcome::Gone { goes_on } => format!("{start}  gone; waiting{}", going_on(*goes_on)),
            Outcome::Error { text, goes_on } => {
                let count = text.lines().count();
                let mut lines: Vec<&str> = text.lines().take(LINES).map(str::trim_end).collect();
                let more = format!("... and {} more lines", count.saturating_sub(LINES));
                if count > LINES {
                    lines.push(&more);
                }
                format!("{start}  error  {}{}", lines.join("\n      "), going_on(*goes_on))
            }
        }
    }

    /// The row as JSON; the help of `--json` documents the keys.
    pub(super) fn json(&self) -> Value {
        let mut row = json!({
            "event": "row",
            "version": self.number,
            "saved": Utc::new(self.saved).text(),
            "kind": "timed",
            "done": self.is_done,
        });
        match &self.outcome {
            Outcome::Timed(timed) => timed.add_to(&mut row),
            Outcome::Error { text, goes_on } => {
                (row["kind"], row["error"], row["goes_on"]) = (json!("error"), json!(text), json!(goes_on));
            }
            Outcome::Gone { goes_on } => {
                let text = "the file is gone; waiting for it";
                (row["kind"], row["error"], row["goes_on"]) = (json!("gone"), json!(text), json!(goes_on));
            }
        }
        row
    }
}

impl Timed {
    fn text(&self) -> String {
        let Timed { samples, standing, .. } = self;
        let compile = if self.is_compiled { format!("{:.2}", self.compile_ms) } else { "kept".to_string() };
        let result = self.verdict.as_ref().map_or("checking".to_string(), Verdict::text);
        let best = match (standing, &self.kept_as) {
            (Standing::Faster(_), Some(name)) => format!("  <- best, kept as {name}"),
            (Standing::Faster(_), None) => "  <- best".to_string(),
            _ => String::new(),
        };
        format!(
            "  {:>8.3}  {:>6.1}%  {:>10}  {compile:>10}  {result:10}  {}{best}",
            samples.min(),
            samples.deviation() * 100.0,
            standing.text(),
            summary(&self.changes)
        )
    }

    fn add_to(&self, row: &mut Value) {
        row["changes"] = json!(self.changes);
        row["runs"] = json!(self.samples.len());
        row["min_ms"] = json!(self.samples.min());
        row["median_ms"] = json!(self.samples.median());
        row["deviation"] = json!(self.samples.deviation());
        row["noise"] = json!(self.samples.noise());
        row["delta"] = json!(self.standing.delta());
        row["standing"] = json!(self.standing.word());
        row["is_best"] = json!(matches!(self.standing, Standing::First | Standing::Again | Standing::Faster(_)));
        row["kept_as"] = json!(self.kept_as);
        row["compile_ms"] = json!(self.compile_ms);
        row["compiled"] = json!(self.is_compiled);
        row["result"] = json!(self.verdict.as_ref().map(Verdict::text));
        let known = self.verdict.as_ref().filter(|verdict| verdict.is_right() || verdict.is_wrong());
        row["right"] = json!(known.map(Verdict::is_right));
    }
}

fn going_on(version: Option<u64>) -> String {
    version.map_or(String::new(), |version| format!("  ({version} goes on)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn row(outcome: Outcome) -> Row {
        Row { number: 5, saved: UNIX_EPOCH + Duration::from_secs(50_551), is_done: true, outcome }
    }

    fn timed() -> Timed {
        let mut samples = Samples::default();
        [1.75, 1.71, 1.72, 1.71].into_iter().for_each(|ms| samples.push(ms));
        Timed {
            changes: vec!["blur_x: compute_at(blur_y, yi)".to_string()],
            samples,
            standing: Standing::Faster(-0.1094),
            kept_as: Some("my.best.sched".to_string()),
            compile_ms: 8.1,
            is_compiled: true,
            verdict: Some(Verdict::Same),
        }
    }

    #[test]
    fn rows_are_lines_under_their_heading() {
        let best = row(Outcome::Timed(Box::new(timed()))).text();
        let expected = "  5  14:02:31     1.710     0.3%      -10.9%        8.10  same bits   \
                        blur_x: compute_at(blur_y, yi)  <- best, kept as my.best.sched";
        assert_eq!(best, expected);
        assert_eq!(HEADING.find("changed"), best.find("blur_x"));
        let again = Timed { standing: Standing::Again, is_compiled: false, verdict: None, changes: vec![], ..timed() };
        let expected = "  5  14:02:31     1.710     0.3%    the best        kept  checking    no directive changed";
        assert_eq!(row(Outcome::Timed(Box::new(again))).text(), expected);
        assert_eq!(row(Outcome::Gone { goes_on: Some(4) }).text(), "  5  14:02:31  gone; waiting  (4 goes on)");
        let error = |text: &str, goes_on| row(Outcome::Error { text: text.to_string(), goes_on }).text();
        assert_eq!(error("my.sched:2:19: no", None), "  5  14:02:31  error  my.sched:2:19: no");
        assert_eq!(error("a\n  help: b", Some(4)), "  5  14:02:31  error  a\n        help: b  (4 goes on)");
        let long = error(&"a\n".repeat(12), None);
        assert!(long.lines().count() == 9 && long.ends_with("\n      ... and 4 more lines"), "{long}");
    }

    #[test]
    fn nothing_is_better_within_the_noise() {
        let standing = |delta, noise| Standing::new(delta, noise);
        assert_eq!(standing(-0.5, None), Standing::Open(-0.5));
        assert_eq!(standing(-0.019, Some(0.02)), Standing::Equal(-0.019));
        assert_eq!(standing(0.02, Some(0.02)), Standing::Equal(0.02));
        assert_eq!(standing(-0.03, Some(0.02)), Standing::Faster(-0.03));
        assert_eq!(standing(0.03, Some(0.02)), Standing::Slower(0.03));
        // Half of the time is no gain where times are twice as long now and then.
        assert_eq!(standing(-0.5, Some(1.0)), Standing::Equal(-0.5));
        assert_eq!(standing(-0.8, Some(1.0)), Standing::Faster(-0.8));
        assert_eq!((Standing::Equal(0.003).text(), Standing::First.delta()), ("~+0.3%".to_string(), None));
    }

    #[test]
    fn rows_are_objects() {
        let best = row(Outcome::Timed(Box::new(timed()))).json();
        assert_eq!(best["saved"], "1970-01-01T14:02:31Z");
        assert_eq!((&best["version"], &best["kind"], &best["done"]), (&json!(5), &json!("timed"), &json!(true)));
        assert_eq!((&best["runs"], &best["min_ms"], &best["is_best"]), (&json!(4), &json!(1.71), &json!(true)));
        assert_eq!(best["standing"], "faster");
        assert_eq!((&best["result"], &best["right"]), (&json!("same bits"), &json!(true)));
        let gone = row(Outcome::Gone { goes_on: None }).json();
        assert_eq!((&gone["kind"], &gone["goes_on"]), (&json!("gone"), &Value::Null));
        let error = row(Outcome::Error { text: "no".to_string(), goes_on: Some(2) }).json();
        assert_eq!((&error["kind"], &error["error"], &error["goes_on"]), (&json!("error"), &json!("no"), &json!(2)));
    }
}
