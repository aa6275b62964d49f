//! Profiles as text.

use super::{Activity, ActivityTime, Profile};
use crate::counts::FuncCounts;
use std::fmt::Write;
use std::time::Duration;

/// The columns beside the name.
const HEAD: [&str; 8] = ["share", "time", "threads", "points", "x needed", "loaded", "stored", "ops/byte"];

impl Profile {
    /// Returns a table: a row for each definition and each thing that threads waited for, with its share of the time of
    /// all threads, its time in a run, and how many threads were at it; and of each Func, beside its first row, what it
    /// computed, how often it computed each point that is needed, the bytes that it read and wrote, and its operations
    /// for each of these bytes.
    pub fn text(&self, counts: &[FuncCounts]) -> String {
        let mut shown: Vec<&FuncCounts> = Vec::new();
        let mut table = vec![(String::new(), HEAD.map(str::to_string), String::new())];
        for row in &self.rows {
            let of = match &row.activity {
                Activity::Computes { func, .. } => counts.iter().find(|c| c.func == *func),
                _ => None,
            };
            let of = of.filter(|of| !shown.iter().any(|seen| seen.func == of.func));
            shown.extend(of);
            table.push(self.line(row, of));
        }
        // Too small to be marked, or never met by a sample.
        for of in counts.iter().filter(|of| of.points > 0 && !shown.iter().any(|seen| seen.func == of.func)) {
            let mut cells = counted(of);
            cells[0] = "-".to_string();
            table.push((of.func.clone(), cells, "no time of its own was seen".to_string()));
        }
        let runs = if self.runs == 1 { "1 run".to_string() } else { format!("{} runs", self.runs) };
        let of_run = self.wall.div_f64(self.runs.max(1) as f64);
        let mut text = format!("{runs}, {} each, {} samples\n", time(of_run), self.samples);
        text += &aligned(&table);
        text
    }

    fn line(&self, row: &ActivityTime, of: Option<&FuncCounts>) -> (String, [String; 8], String) {
        let mut cells = of.map_or_else(Default::default, counted);
        cells[0] = format!("{:.1} %", 100.0 * self.share(row));
        cells[1] = time(self.self_time(row));
        cells[2] = format!("{:.1}", self.threads(row));
        let at = row.at.map_or(String::new(), |at| at.to_string());
        (row.activity.to_string(), cells, at)
    }
}

/// The cells of what was counted.
fn counted(of: &FuncCounts) -> [String; 8] {
    let mut cells: [String; 8] = Default::default();
    cells[3] = amount(of.points as f64, "");
    cells[4] = of.recompute().map_or("-".to_string(), |times| format!("{times:.2}"));
    cells[5] = amount(of.loaded as f64, "B");
    cells[6] = amount(of.stored as f64, "B");
    cells[7] = of.intensity().map_or("-".to_string(), |ops| format!("{ops:.2}"));
    cells
}

/// A table whose first column is aligned to the left, and whose others are to the right but for the last.
fn aligned(table: &[(String, [String; 8], String)]) -> String {
    let name = table.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let mut widths = [0; 8];
    for (_, cells, _) in table {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for (first, cells, last) in table {
        let mut line = format!("{first:name$}");
        for (width, cell) in widths.iter().zip(cells) {
            // Writing to a String does not fail.
            let _ = write!(line, "  {cell:>width$}");
        }
        text += format!("{line}  {last}").trim_end();
        text += "\n";
    }
    text
}

/// An amount with a decimal prefix and a unit.
fn amount(n: f64, unit: &str) -> String {
    let (scaled, prefix) = match n {
        n if n >= 1e12 => (n / 1e12, "T"),
        n if n >= 1e9 => (n / 1e9, "G"),
        n if n >= 1e6 => (n / 1e6, "M"),
        n if n >= 1e4 => (n / 1e3, "k"),
        n => return format!("{n:.0}{}{unit}", if unit.is_empty() { "" } else { " " }),
    };
    format!("{scaled:.1} {prefix}{unit}")
}

/// A time with three digits.
fn time(of: Duration) -> String {
    let ms = of.as_secs_f64() * 1e3;
    match ms {
        ms if ms >= 1e4 => format!("{:.2} s", ms / 1e3),
        ms if ms >= 1.0 => format!("{ms:.2} ms"),
        ms => format!("{:.1} us", ms * 1e3),
    }
}
