//! Files of times: what `--save` writes and `--against` reads.

use super::super::failure::Failure;
use serde_json::{Map, Value, json};
use std::fmt;

/// The version of the format.
const VERSION: u64 = 1;

/// The circumstances in which schedules were timed: times of others say nothing about these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Circumstances {
    pub(super) app: String,
    pub(super) size: (i64, i64),
    /// Parameters and settings that were given, as `name=value`, sorted.
    pub(super) params: Vec<String>,
    pub(super) threads: u64,
    /// The model of the processor.
    pub(super) processor: String,
    /// The instructions that code may use.
    pub(super) target: String,
}

/// The times of one schedule.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) schedule: String,
    pub(super) backend: String,
    pub(super) min_ms: f64,
    pub(super) median_ms: f64,
    /// The median distance from the median, of 1.
    pub(super) deviation: f64,
    /// The difference of the least times of two halves of the rounds, of 1.
    pub(super) noise: f64,
    pub(super) compile_ms: f64,
    /// The fingerprint of the schedule without comments.
    pub(super) text: String,
}

/// The times of schedules of an app.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Baseline {
    /// The version of halide.
    pub(super) halide: String,
    pub(super) circumstances: Circumstances,
    /// The image or the random values that it ran on.
    pub(super) input: String,
    pub(super) rounds: u64,
    /// The fingerprint of the algorithm.
    pub(super) algorithm: String,
    pub(super) schedules: Vec<Measured>,
}

impl Baseline {
    /// The file as JSON.
    pub(super) fn json(&self) -> Value {
        let Circumstances { app, size, params, threads, processor, target } = &self.circumstances;
        json!({
            "v": VERSION,
            "halide": self.halide,
            "app": app,
            "size": [size.0, size.1],
            "params": params,
            "input": self.input,
            "threads": threads,
            "processor": processor,
            "target": target,
            "rounds": self.rounds,
            "algorithm": self.algorithm,
            "schedules": self.schedules.iter().map(Measured::json).collect::<Vec<Value>>(),
        })
    }

    /// Reads a file called `name`.
    ///
    /// # Errors
    /// It is no such file, of another version, or a part is missing: which, and the remedy.
    pub(super) fn read(text: &str, name: &str) -> Result<Baseline, Failure> {
        let failed = |defect: Defect| Failure(format!("{name}: {defect}; save it again with --save"));
        let value: Value = serde_json::from_str(text).map_err(|e| failed(Defect(format!("it is no JSON: {e}"))))?;
        read(&value).map_err(failed)
    }
}

impl Measured {
    fn json(&self) -> Value {
        json!({
            "schedule": self.schedule,
            "backend": self.backend,
            "min_ms": self.min_ms,
            "median_ms": self.median_ms,
            "deviation": self.deviation,
            "noise": self.noise,
            "compile_ms": self.compile_ms,
            "text": self.text,
        })
    }

    fn read(value: &Value, at: usize) -> Result<Measured, Defect> {
        let of = format!(" of schedule {at}");
        let fields = Fields { map: value.as_object().ok_or_else(|| Defect::of("no object", &of))?, of };
        let min_ms = fields.number("min_ms")?;
        if min_ms == 0.0 {
            return Err(Defect::of("`min_ms`", &format!("{} is 0", fields.of)));
        }
        Ok(Measured {
            schedule: fields.text("schedule")?,
            backend: fields.text("backend")?,
            min_ms,
            median_ms: fields.number("median_ms")?,
            deviation: fields.number("deviation")?,
            noise: fields.number("noise")?,
            compile_ms: fields.number("compile_ms")?,
            text: fields.text("text")?,
        })
    }
}

/// A defect of a file: the rest of a sentence.
struct Defect(String);

impl Defect {
    fn of(what: &str, of: &str) -> Defect {
        Defect(format!("{what}{of}"))
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The fields of an object.
struct Fields<'v> {
    map: &'v Map<String, Value>,
    /// The words behind the name of a field in messages.
    of: String,
}

impl Fields<'_> {
    fn field<'a, T>(&'a self, name: &str, what: &str, read: impl Fn(&'a Value) -> Option<T>) -> Result<T, Defect> {
        let found = self.map.get(name).and_then(read);
        found.ok_or_else(|| Defect(format!("`{name}`{} is not {what}", self.of)))
    }

    fn text(&self, name: &str) -> Result<String, Defect> {
        self.field(name, "a text", |value| value.as_str().map(str::to_string))
    }

    fn count(&self, name: &str) -> Result<u64, Defect> {
        self.field(name, "a number from 0 on", Value::as_u64)
    }

    fn number(&self, name: &str) -> Result<f64, Defect> {
        self.field(name, "a number from 0 on", |value| value.as_f64().filter(|n| n.is_finite() && *n >= 0.0))
    }
}

fn read(value: &Value) -> Result<Baseline, Defect> {
    let map = value.as_object().ok_or_else(|| Defect("it is no object of times".to_string()))?;
    let fields = Fields { map, of: String::new() };
    let version = fields.count("v")?;
    if version != VERSION {
        return Err(Defect(format!("it is of version {version}, but this halide reads version {VERSION}")));
    }
    let size = fields.field("size", "two numbers", |value| match &value.as_array()?[..] {
        [width, height] => Some((width.as_i64()?, height.as_i64()?)),
        _ => None,
    })?;
    let texts = |value: &Value| value.as_array()?.iter().map(|text| Some(text.as_str()?.to_string())).collect();
    let circumstances = Circumstances {
        app: fields.text("app")?,
        size,
        params: fields.field("params", "a list of texts", texts)?,
        threads: fields.count("threads")?,
        processor: fields.text("processor")?,
        target: fields.text("target")?,
    };
    let schedules = fields.field("schedules", "a list", Value::as_array)?;
    Ok(Baseline {
        halide: fields.text("halide")?,
        circumstances,
        input: fields.text("input")?,
        rounds: fields.count("rounds")?,
        algorithm: fields.text("algorithm")?,
        schedules: (1..).zip(schedules).map(|(at, value)| Measured::read(value, at)).collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::example;
    use super::*;

    #[test]
    fn files_are_read_back() {
        let read = Baseline::read(&example().json().to_string(), "a.json");
        assert_eq!(read.map_err(|Failure(text)| text), Ok(example()));
    }

    #[test]
    fn broken_files_say_what_is_wrong() {
        let why = |text: &str| match Baseline::read(text, "a.json") {
            Err(Failure(text)) => text,
            Ok(_) => "nothing is wrong".to_string(),
        };
        assert!(why("").starts_with("a.json: it is no JSON: EOF") && why("").ends_with("; save it again with --save"));
        assert_eq!(why("[]"), "a.json: it is no object of times; save it again with --save");
        let without = |change: &dyn Fn(&mut Value)| {
            let mut value = example().json();
            change(&mut value);
            why(&value.to_string())
        };
        let text = "a.json: it is of version 2, but this halide reads version 1; save it again with --save";
        assert_eq!(without(&|v| v["v"] = json!(2)), text);
        assert!(without(&|v| v["size"] = json!([1])).contains("`size` is not two numbers"));
        assert!(without(&|v| v["params"] = json!([1])).contains("`params` is not a list of texts"));
        assert!(without(&|v| v["threads"] = json!(-1)).contains("`threads` is not a number from 0 on"));
        assert!(without(&|v| v["schedules"][1] = json!(1)).contains("no object of schedule 2"));
        assert!(
            without(&|v| v["schedules"][1]["min_ms"] = json!("1")).contains("`min_ms` of schedule 2 is not a number")
        );
        assert!(without(&|v| v["schedules"][0]["min_ms"] = json!(0)).contains("`min_ms` of schedule 1 is 0"));
    }
}
