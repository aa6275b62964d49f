//! Results as a table for people and as JSON for programs.

use serde_json::{Value, json};
use std::path::Path;

/// A table: the first column is text and stands left, the others stand right.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(columns: &[&str]) -> Table {
        Table { rows: vec![columns.iter().map(|c| c.to_string()).collect()] }
    }
    /// A row more.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
    /// All of it, with columns as wide as their widest cell.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &Vec<String>, c: usize| row.get(c).cloned().unwrap_or_default();
        let widths: Vec<usize> =
            (0..columns).map(|c| self.rows.iter().map(|r| cell(r, c).chars().count()).max().unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells = (0..columns).map(|c| match c {
                0 => format!("{:<w$}", cell(row, c), w = widths[c]),
                _ => format!("{:>w$}", cell(row, c), w = widths[c]),
            });
            text += cells.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        text
    }
}

/// Returns a description of the machine that these numbers were taken on.
pub fn machine() -> Value {
    let target = halide::target::Target::host();
    let model = halide_tool::processor::model();
    json!({ "arch": std::env::consts::ARCH, "processor": model, "vector_bits": target.vector_bits, "threads": target.threads })
}

/// Writes JSON to a file, or to stdout if that is `-`.
///
/// # Errors
/// In words.
pub fn write_json(path: &Path, value: &Value) -> Result<(), String> {
    let text = format!("{value:#}\n");
    if path == Path::new("-") {
        print!("{text}");
        return Ok(());
    }
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["schedule", "ms"]);
        table.row(vec!["a".into(), "10.5".into()]);
        table.row(vec!["longer one".into(), "3".into()]);
        assert_eq!(table.text(), "schedule      ms\na           10.5\nlonger one     3\n");
    }
}
