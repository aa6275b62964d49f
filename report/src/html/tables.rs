//! Tables for where no program runs: facts, the fault, the profile, findings and storage as plain HTML.

use super::escape::{Escaped, Name};
use serde_json::Value;
use std::fmt::Write;

/// A cell: what it shows of a row.
type Cell = fn(&Value) -> String;

/// Columns of the profile's rows and counts, and of storage: the name, and the cell. Numbers are aligned by the style.
const PROFILE: [(&str, Cell); 5] = [
    ("activity", |row| name(row, "activity")),
    ("share", |row| row["share"].as_f64().map_or(String::new(), |share| format!("{:.1} %", share * 100.0))),
    ("ms", |row| row["self_ms"].as_f64().map_or(String::new(), |ms| format!("{ms:.4}"))),
    ("threads", |row| row["threads"].as_f64().map_or(String::new(), |threads| format!("{threads:.1}"))),
    ("place", |row| name(row, "place")),
];
const COUNTS: [(&str, Cell); 7] = [
    ("Func", |row| name(row, "func")),
    ("points", |row| number(row, "points")),
    ("needed", |row| number(row, "needed")),
    ("loaded bytes", |row| number(row, "loaded_bytes")),
    ("stored bytes", |row| number(row, "stored_bytes")),
    ("operations", |row| number(row, "operations")),
    ("allocations", |row| number(row, "allocations")),
];
const STORAGE: [(&str, Cell); 5] = [
    ("buffer", |row| name(row, "name")),
    ("type", |row| name(row, "type")),
    ("place", |row| name(row, "place")),
    ("elements", |row| number(row, "elements")),
    ("folded", folds),
];

/// Writes all tables of a report.
pub(super) fn tables(data: &Value) -> String {
    let mut out = String::new();
    let title = data["title"].as_str().unwrap_or("report");
    let _ = write!(out, "<h1>{}</h1>", Name(title));
    if let Some(fault) = data["fault"].as_str() {
        let text = Escaped(fault);
        let _ = write!(out, "<div id=\"fault\"><strong>The run ended with an error</strong><pre>{text}</pre></div>");
    }
    if let Some(notice) = data["live"]["notice"].as_str() {
        let _ = write!(out, "<p class=\"why\">{}</p>", Escaped(notice));
    }
    facts(&mut out, data);
    table(&mut out, "Profile", &PROFILE, &data["profile"]["rows"]);
    table(&mut out, "Counts", &COUNTS, &data["profile"]["counts"]);
    findings(&mut out, &data["findings"]);
    table(&mut out, "Storage", &STORAGE, &data["storage"]);
    out
}

fn facts(out: &mut String, data: &Value) {
    let pairs = rows(&data["facts"]).iter().filter_map(|fact| Some((fact.get(0)?.as_str()?, text(fact.get(1)?))));
    let pairs: Vec<(&str, String)> = pairs.collect();
    if pairs.is_empty() {
        return;
    }
    out.push_str("<dl id=\"facts\">");
    for (about, value) in pairs {
        let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", Name(about), Name(&value));
    }
    out.push_str("</dl>");
}

fn findings(out: &mut String, findings: &Value) {
    let all = rows(findings);
    if all.is_empty() {
        return;
    }
    out.push_str("<h2>Findings</h2><ol>");
    for finding in all {
        let rule = name(finding, "rule");
        let _ = write!(out, "<li><b>{rule}</b> {} {}", name(finding, "func"), name(finding, "text"));
        let edits = rows(&finding["edit"]);
        if !edits.is_empty() {
            out.push_str("<pre>");
            for edit in edits {
                for (sign, key) in [('-', "from"), ('+', "to")] {
                    let line = edit[key].as_str().filter(|line| !line.is_empty());
                    let _ = line.map_or(Ok(()), |line| writeln!(out, "{sign} {}", Escaped(line)));
                }
            }
            out.push_str("</pre>");
        }
        out.push_str("</li>");
    }
    out.push_str("</ol>");
}

/// Writes a table with a heading; a column in which no row has anything is left out, and so is a table without rows.
fn table(out: &mut String, heading: &str, columns: &[(&str, Cell)], data: &Value) {
    let body: Vec<Vec<String>> =
        rows(data).iter().map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()).collect();
    if body.is_empty() {
        return;
    }
    let is_used: Vec<bool> = (0..columns.len()).map(|at| body.iter().any(|row| !row[at].is_empty())).collect();
    let class = |text: &str| if text.starts_with(|c: char| c.is_ascii_digit()) { " class=\"n\"" } else { "" };
    let is_number: Vec<bool> =
        (0..columns.len()).map(|at| body.iter().any(|row| !class(&row[at]).is_empty())).collect();
    let _ = write!(out, "<h2>{heading}</h2><div class=\"table\"><table><thead><tr>");
    for (at, (name, _)) in columns.iter().enumerate().filter(|(at, _)| is_used[*at]) {
        let _ = write!(out, "<th{} scope=\"col\">{name}</th>", if is_number[at] { " class=\"n\"" } else { "" });
    }
    out.push_str("</tr></thead><tbody>");
    for row in &body {
        out.push_str("<tr>");
        for (_, cell) in row.iter().enumerate().filter(|(at, _)| is_used[*at]) {
            let _ = write!(out, "<td{}>{cell}</td>", class(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

fn rows(data: &Value) -> &[Value] {
    data.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The text of a key, isolated; nothing where it is missing.
fn name(row: &Value, key: &str) -> String {
    row[key].as_str().filter(|text| !text.is_empty()).map_or(String::new(), |text| Name(text).to_string())
}

/// The number of a key with a comma between thousands; nothing where it is missing.
fn number(row: &Value, key: &str) -> String {
    let Some(whole) = row[key].as_u64() else {
        return row[key].as_f64().map_or(String::new(), |number| number.to_string());
    };
    let digits = whole.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn folds(row: &Value) -> String {
    let fold = |fold: &Value| {
        let dim = fold.get(0).map(text)?;
        Some(format!("{} to {}", Name(&dim), Escaped(&fold.get(1).map(text)?)))
    };
    rows(&row["folds"]).iter().filter_map(fold).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_have_commas() {
        let row = json!({"a": 1234567, "b": 12, "c": null, "d": 1.5, "e": 100});
        let all = ["a", "b", "c", "d", "e", "f"].map(|key| number(&row, key));
        assert_eq!(all, ["1,234,567", "12", "", "1.5", "100", ""]);
    }

    #[test]
    fn columns_without_content_are_left_out() {
        let data = json!({"storage": [{"name": "f", "type": "u16", "place": "heap", "folds": []}]});
        let text = tables(&data);
        assert!(text.contains("<td><bdi>f</bdi></td><td><bdi>u16</bdi></td>"), "{text}");
        assert!(!text.contains("elements") && !text.contains("Profile"), "{text}");
    }
}
