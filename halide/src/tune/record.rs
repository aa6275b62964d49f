//! Records of measured schedules, one a line of JSON.

use super::error::DatabaseDefect;
use super::event::Verdict;
use super::fingerprint::TuneKey;
use halide_sched::schedule::Schedule;
use serde_json::{Value, json};

/// The number of the form of records, which changes with their fields.
pub(super) const VERSION: u32 = 1;

/// A candidate that was tried.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) key: TuneKey,
    pub(super) schedule: Schedule,
    /// Times in nanoseconds: of the candidate, and of the best one before it.
    pub(super) pairs: Vec<(f64, f64)>,
    /// Its time in units of the time of the pick, where it was measured.
    pub(super) time: Option<f64>,
    pub(super) verdict: Verdict,
    pub(super) seed: u64,
    pub(super) n: usize,
}

impl Record {
    /// The record as a line, with its end.
    pub(super) fn line(&self) -> String {
        let TuneKey { pipeline, shapes, target, machine, threads, halide } = &self.key;
        let key = json!({
            "pipeline": pipeline, "shapes": shapes, "target": target, "machine": machine, "threads": threads,
            "halide": halide,
        });
        let pairs: Vec<[f64; 2]> = self.pairs.iter().map(|(own, best)| [*own, *best]).collect();
        let line = json!({
            "v": VERSION, "key": key, "schedule": self.schedule.to_string(), "pairs": pairs, "time": self.time,
            "verdict": self.verdict.word(), "seed": self.seed, "n": self.n,
        });
        format!("{line}\n")
    }

    /// The record that a line holds.
    pub(super) fn read(line: &str) -> Result<Record, DatabaseDefect> {
        let value: Value = serde_json::from_str(line).map_err(|_| DatabaseDefect::NotJson)?;
        if value["v"].as_u64() != Some(u64::from(VERSION)) {
            return Err(match &value["v"] {
                Value::Null => field("v", "a number"),
                other => DatabaseDefect::Version { found: other.to_string(), known: VERSION },
            });
        }
        let schedule = text(&value, "schedule")?;
        let schedule = Schedule::parse(&schedule, "the record")
            .map_err(|errors| DatabaseDefect::Schedule { why: errors.to_string() })?;
        let verdict = text(&value, "verdict")?;
        let verdict = Verdict::ALL.into_iter().find(|v| v.word() == verdict);
        Ok(Record {
            key: key(&value["key"])?,
            schedule,
            pairs: pairs(&value["pairs"]).ok_or(field("pairs", "a list of pairs of times"))?,
            time: time(&value["time"]).ok_or(field("time", "a number above 0 or null"))?,
            verdict: verdict.ok_or(field("verdict", "the word of a verdict"))?,
            seed: value["seed"].as_u64().ok_or(field("seed", "a number"))?,
            n: value["n"].as_u64().and_then(|n| n.try_into().ok()).ok_or(field("n", "a number"))?,
        })
    }
}

fn field(field: &'static str, wanted: &'static str) -> DatabaseDefect {
    DatabaseDefect::Field { field, wanted }
}

fn text(of: &Value, name: &'static str) -> Result<String, DatabaseDefect> {
    of[name].as_str().map(str::to_string).ok_or(field(name, "a text"))
}

fn key(of: &Value) -> Result<TuneKey, DatabaseDefect> {
    let threads = of["threads"].as_u64().and_then(|n| n.try_into().ok());
    Ok(TuneKey {
        pipeline: text(of, "pipeline")?,
        shapes: text(of, "shapes")?,
        target: text(of, "target")?,
        machine: text(of, "machine")?,
        threads: threads.ok_or(field("threads", "a number"))?,
        halide: text(of, "halide")?,
    })
}

fn pairs(of: &Value) -> Option<Vec<(f64, f64)>> {
    let pair = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
        Some([own, best]) => Some((own.as_f64()?, best.as_f64()?)),
        _ => None,
    };
    of.as_array()?.iter().map(pair).collect()
}

/// A time; `None` in it for null.
fn time(of: &Value) -> Option<Option<f64>> {
    match of {
        Value::Null => Some(None),
        value => value.as_f64().filter(|time| time.is_finite() && *time > 0.0).map(Some),
    }
}
