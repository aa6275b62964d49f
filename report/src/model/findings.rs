//! Findings with their numbers, and the lines of the schedule that their edits change.

use halide::findings::{Edit, Finding};
use serde_json::{Value, json};

/// A row for each finding.
pub(super) fn rows(findings: &[Finding]) -> Value {
    let row = |finding: &Finding| {
        let mut numbers = json!({"value": finding.value, "from": finding.threshold, "work": finding.work});
        if let Some(share) = finding.share {
            numbers["share"] = share.into();
        }
        json!({
            "rule": finding.rule.to_string(),
            "func": finding.func,
            "loop": finding.at_loop,
            "text": finding.text,
            "numbers": numbers,
            "edit": finding.edit.as_ref().map(lines),
        })
    };
    findings.iter().map(row).collect()
}

/// Lines that go, beside those that take their places.
fn lines(edit: &Edit) -> Value {
    let count = edit.from.len().max(edit.to.len());
    (0..count).map(|i| json!({"from": edit.from.get(i), "to": edit.to.get(i)})).collect()
}
