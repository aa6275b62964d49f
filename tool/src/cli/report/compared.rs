//! The comparison of two reports: what is not the same.

use super::apart::Apart;
use super::subject::Made;
use serde_json::{Value, json};

/// Adds a second report to the first, with the numbers in which it differs and the first value that does. `loose` names
/// the schedules that may round otherwise.
pub(super) fn compare(first: &mut Made, second: Made, loose: &[&str]) {
    let result = first.outputs.as_deref().zip(second.outputs.as_deref()).map(|(a, b)| Apart::of(a, b));
    let mut compare = compared(&first.data, second.data);
    if let Some(result) = result {
        compare["result"] = result.data(loose);
        if let Some(facts) = first.data["facts"].as_array_mut() {
            facts.push(json!(["A beside B", result.text(loose)]));
        }
    }
    first.data["compare"] = compare;
}

/// The second report, and the numbers in which it differs from the first.
pub(crate) fn compared(first: &Value, second: Value) -> Value {
    let mut differences = Vec::new();
    let mut add = |what: &str, of: &dyn Fn(&Value) -> Option<f64>, shown: &dyn Fn(f64) -> String| {
        if let (Some(a), Some(b)) = (of(first), of(&second)) {
            let ratio = if a == 0.0 { None } else { Some(b / a) };
            differences.push(json!({"what": what, "a": shown(a), "b": shown(b), "ratio": ratio}));
        }
    };
    let profile = |key: &'static str| move |report: &Value| report["profile"][key].as_f64();
    let sum = |key: &'static str| {
        move |report: &Value| {
            let counts = report["profile"]["counts"].as_array()?;
            Some(counts.iter().filter_map(|of| of[key].as_f64()).sum())
        }
    };
    let length = |key: &'static str| move |report: &Value| report[key].as_array().map(|rows| rows.len() as f64);
    let whole = |n: f64| format!("{n:.0}");
    let bytes = |n: f64| format!("{:.2} MB", n / 1e6);
    add("one run, sampled", &profile("run_ms"), &|ms| format!("{ms:.3} ms"));
    add("most memory at once", &profile("peak_bytes"), &bytes);
    add("points computed", &sum("points"), &whole);
    add("bytes read", &sum("loaded_bytes"), &bytes);
    add("bytes stored", &sum("stored_bytes"), &bytes);
    add("allocations", &sum("allocations"), &whole);
    add("loops", &length("loops"), &whole);
    add("lines of code", &lines, &whole);
    json!({"b": second, "differences": differences})
}

/// The lines of machine code and kernels.
fn lines(report: &Value) -> Option<f64> {
    let units = report["code"].as_array()?.iter().filter(|unit| unit["language"] != "ir");
    Some(units.filter_map(|unit| unit["text"].as_str()).map(|text| text.lines().count() as f64).sum())
}
