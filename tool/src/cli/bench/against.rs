//! Times held against those of a file.

use super::super::failure::Failure;
use super::baseline::{Baseline, Circumstances, Measured};
use serde_json::{Value, json};

/// A schedule beside its time in a file.
#[derive(Debug, PartialEq)]
pub(super) struct Compared {
    schedule: String,
    before_ms: f64,
    now_ms: f64,
    /// The noise of both times, of 1.
    noise: f64,
    tolerance: f64,
    /// True if the schedule's text is another one by now.
    is_changed: bool,
}

impl Compared {
    fn new(now: &Measured, before: &Measured, tolerance: f64) -> Compared {
        Compared {
            schedule: now.schedule.clone(),
            before_ms: before.min_ms,
            now_ms: now.min_ms,
            noise: now.noise + before.noise,
            tolerance,
            is_changed: now.text != before.text,
        }
    }

    /// The difference of the least times, of 1.
    fn slower_by(&self) -> f64 {
        self.now_ms / self.before_ms - 1.0
    }

    /// Returns true if it is slower by more than the tolerance and the noise of both.
    pub(super) fn is_slower(&self) -> bool {
        self.slower_by() > self.tolerance + self.noise
    }

    /// The comparison in a line; `file` is the name of the file.
    pub(super) fn text(&self, file: &str) -> String {
        let percent = self.slower_by() * 100.0;
        let verdict = match self.is_slower() {
            true => format!("SLOWER by {percent:.1}%"),
            false => format!("{percent:+.1}%"),
        };
        let changed = if self.is_changed { "; its text has changed" } else { "" };
        format!(
            "  {:16}{verdict}: {:.3} ms, and {:.3} in {file}; {:.1}% are allowed, and {:.1}% of noise{changed}",
            self.schedule,
            self.now_ms,
            self.before_ms,
            self.tolerance * 100.0,
            self.noise * 100.0
        )
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "schedule": self.schedule,
            "before_ms": self.before_ms,
            "min_ms": self.now_ms,
            "slower_by": self.slower_by(),
            "noise": self.noise,
            "tolerance": self.tolerance,
            "is_slower": self.is_slower(),
            "is_changed": self.is_changed,
        })
    }
}

/// Refuses a file of other circumstances. A warning would not do: an exit status of 0 says that nothing became slower,
/// which times of another machine or of other work cannot tell.
pub(super) fn check(file: &str, now: &Circumstances, before: &Circumstances) -> Result<(), Failure> {
    let size = |of: &Circumstances| format!("{}x{}", of.size.0, of.size.1);
    let params = |of: &Circumstances| if of.params.is_empty() { "none".to_string() } else { of.params.join(" ") };
    let facts = [
        ("app", now.app.clone(), before.app.clone()),
        ("size", size(now), size(before)),
        ("parameters", params(now), params(before)),
        ("threads", now.threads.to_string(), before.threads.to_string()),
        ("processor", now.processor.clone(), before.processor.clone()),
        ("target", now.target.clone(), before.target.clone()),
    ];
    let other: Vec<String> = facts
        .into_iter()
        .filter(|(_, now, before)| now != before)
        .map(|(what, now, before)| format!("{what} {before} instead of {now}"))
        .collect();
    if other.is_empty() {
        return Ok(());
    }
    Err(Failure(format!(
        "{file}: its times say nothing about these: they are of {}; save a file with --save for each kind of run",
        other.join(", ")
    )))
}

/// Compares the schedules that both have.
pub(super) fn compared(now: &Baseline, before: &Baseline, tolerance: f64) -> Vec<Compared> {
    let beside = |now: &Measured| {
        let before = before.schedules.iter().find(|before| before.schedule == now.schedule)?;
        Some(Compared::new(now, before, tolerance))
    };
    now.schedules.iter().filter_map(beside).collect()
}

/// The remarks on two measurements: what changed, and what only one of them has.
pub(super) fn remarks(file: &str, now: &Baseline, before: &Baseline) -> Vec<String> {
    let names = |of: &Baseline, other: &Baseline| {
        let is_missing = |m: &&Measured| !other.schedules.iter().any(|o| o.schedule == m.schedule);
        of.schedules.iter().filter(is_missing).map(|m| format!("`{}`", m.schedule)).collect::<Vec<_>>().join(", ")
    };
    let (new, left_out) = (names(now, before), names(before, now));
    let mut all = Vec::new();
    if now.algorithm != before.algorithm {
        all.push(format!("the algorithm has changed since {file} was saved"));
    }
    if now.input != before.input {
        all.push(format!("{file} is of another input: {}, and not {}", before.input, now.input));
    }
    if !new.is_empty() {
        all.push(format!("not in {file}, so not compared: {new}"));
    }
    if !left_out.is_empty() {
        all.push(format!("in {file}, and not timed: {left_out}"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::testing::example;
    use super::*;

    #[test]
    fn slower_is_more_than_tolerance_and_noise() {
        let before = example();
        let mut now = example();
        let slower = |now: &Baseline, tolerance: f64| {
            compared(now, &before, tolerance).iter().map(Compared::is_slower).collect::<Vec<bool>>()
        };
        assert_eq!(slower(&now, 0.0), [false, false]);
        // 2 % of noise each, and 3 % of tolerance.
        now.schedules[0].min_ms *= 1.069;
        now.schedules[1].min_ms *= 1.071;
        assert_eq!(slower(&now, 0.03), [false, true]);
        now.schedules[1].text = "x".to_string();
        let lines: Vec<String> = compared(&now, &before, 0.03).iter().map(|c| c.text("a.json")).collect();
        let noise = "3.0% are allowed, and 4.0% of noise";
        assert_eq!(lines[0], format!("  strips          +6.9%: 1.828 ms, and 1.710 in a.json; {noise}"));
        let line =
            format!("  root            SLOWER by 7.1%: 3.748 ms, and 3.500 in a.json; {noise}; its text has changed");
        assert_eq!(lines[1], line);
    }

    #[test]
    fn other_circumstances_are_refused() {
        let (now, mut before) = (example().circumstances, example().circumstances);
        assert!(check("a.json", &now, &before).is_ok());
        before.size = (64, 48);
        before.processor = "other".to_string();
        before.params.clear();
        let Err(Failure(text)) = check("a.json", &now, &before) else { panic!("they differ") };
        assert_eq!(
            text,
            "a.json: its times say nothing about these: they are of size 64x48 instead of 640x480, parameters none \
             instead of sigma=2, processor other instead of AMD EPYC 9B45; save a file with --save for each kind of run"
        );
    }

    #[test]
    fn changes_are_said() {
        let (mut now, before) = (example(), example());
        assert_eq!(remarks("a.json", &now, &before), [""; 0]);
        now.algorithm = "x".to_string();
        now.input = "a.png".to_string();
        now.schedules[0].schedule = "mine".to_string();
        let expected = [
            "the algorithm has changed since a.json was saved",
            "a.json is of another input: random values from seed 0, and not a.png",
            "not in a.json, so not compared: `mine`",
            "in a.json, and not timed: `strips`",
        ];
        assert_eq!(remarks("a.json", &now, &before), expected);
        assert_eq!(compared(&now, &before, 0.0).len(), 1);
    }
}
