//! Definitions, images, and excerpts of the source around places.

use halide::inspect::{DefinitionId, Inspection};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The lines that are shown in front of a place and behind it.
const AROUND: u32 = 3;

/// The files that definitions are in, each with its text if that can be read, and the lines of places.
pub(super) struct Files {
    names: Vec<String>,
    texts: Vec<Option<String>>,
    lines: Vec<BTreeSet<u32>>,
}

/// The files that definitions are in.
pub(super) fn files(inspection: &Inspection, source: &dyn Fn(&str) -> Option<String>) -> Files {
    let mut lines: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for row in &inspection.definitions {
        let around = row.at.line.saturating_sub(AROUND).max(1)..=row.at.line.saturating_add(AROUND);
        lines.entry(row.at.file).or_default().extend(around);
    }
    let names: Vec<String> = lines.keys().map(|name| name.to_string()).collect();
    let texts = names.iter().map(|name| source(name)).collect();
    Files { names, texts, lines: lines.into_values().collect() }
}

/// The lines around places, with their numbers.
pub(super) fn excerpts(files: &Files) -> Value {
    let excerpt = |file: usize| {
        let shown = |text: &String| -> Vec<Value> {
            let lines = (1..).zip(text.lines()).filter(|(number, _)| files.lines[file].contains(number));
            lines.map(|(number, line)| json!([number, line])).collect()
        };
        match &files.texts[file] {
            Some(text) => json!({"name": files.names[file], "lines": shown(text)}),
            None => json!({"name": files.names[file]}),
        }
    };
    (0..files.names.len()).map(excerpt).collect()
}

/// A row for each definition.
pub(super) fn rows(inspection: &Inspection, files: &Files) -> Value {
    let images: BTreeMap<&str, usize> = inspection.images.iter().zip(0..).map(|(i, n)| (i.name.as_str(), n)).collect();
    let row = |row: &halide::inspect::DefinitionRow| {
        let file = files.names.iter().position(|name| name == row.at.file);
        let reads = row.reads.iter().map(|read| match images.get(read.of.as_str()).filter(|_| read.is_image) {
            Some(image) => json!({"image": image, "text": read.text}),
            None => json!({"func": read.of, "text": read.text}),
        });
        json!({
            "func": row.func,
            "update": row.update,
            "text": row.text,
            "at": file.map(|file| (file, row.at.line, row.at.column)),
            "type": row.types.iter().map(|ty| ty.name()).collect::<Vec<&str>>().join(", "),
            "dims": row.dims,
            "compute": row.compute,
            "store": row.store,
            "is_output": row.is_output,
            "inlined_into": row.inlined_into.iter().map(|id| id.0).collect::<Vec<usize>>(),
            "reads": reads.collect::<Vec<Value>>(),
        })
    };
    inspection.definitions.iter().map(row).collect()
}

/// A row for each image.
pub(super) fn images(inspection: &Inspection) -> Value {
    let row = |row: &halide::inspect::ImageRow| json!({"name": row.name, "type": row.ty, "dims": row.dims});
    inspection.images.iter().map(row).collect()
}

/// The number of a definition, -1 for none.
pub(super) fn number(id: Option<DefinitionId>) -> i64 {
    id.map_or(-1, |id| id.0 as i64)
}
