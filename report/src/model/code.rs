//! Code with its map: lines that follow each other and belong to the same are one entry.

use super::definitions::number;
use super::nest::loop_number;
use halide::inspect::{CodeRow, CodeUnit, Inspection, Language};
use serde_json::{Value, json};

/// The functions of machine code and the kernels, and the lowered program behind them.
pub(super) fn units(inspection: &Inspection) -> Value {
    let mut all: Vec<Value> = inspection.code.iter().map(unit).collect();
    let lines = inspection.ir.lines().count();
    all.push(json!({
        "name": "lowered program",
        "language": "ir",
        "text": inspection.ir,
        "map": [[lines, -1, -1, "outside"]],
    }));
    Value::Array(all)
}

fn unit(unit: &CodeUnit) -> Value {
    let language = match unit.language {
        Language::Machine => "asm",
        Language::Wgsl => "wgsl",
    };
    let mut map: Vec<(usize, [i64; 2], &str)> = Vec::new();
    let mut text = String::new();
    for line in &unit.lines {
        text += &line.text;
        text.push('\n');
        let (of, purpose) = place(line);
        match map.last_mut().filter(|(_, last, word)| (*last, *word) == (of, purpose)) {
            Some((count, ..)) => *count += 1,
            None => map.push((1, of, purpose)),
        }
    }
    text.pop();
    let map: Vec<Value> =
        map.into_iter().map(|(count, [definition, within], word)| json!([count, definition, within, word])).collect();
    json!({"name": unit.name, "language": language, "text": text, "map": map})
}

/// The definition and the loop of a line, and the word for its purpose.
fn place(line: &CodeRow) -> ([i64; 2], &'static str) {
    ([number(line.definition), loop_number(line.within)], line.purpose.map_or("outside", |purpose| purpose.word()))
}
