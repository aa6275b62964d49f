//! Costs of a loop nest as text: one line for each loop, allocation and definition, and totals.

use super::{Item, LoopCost, Nest, PointsCost, StoreCost};
use halide_ir::ForKind;
use std::fmt;

impl fmt::Display for Nest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        items(&self.body, 0, f)?;
        let at_once = if self.span > 0.0 { self.work / self.span } else { 1.0 };
        writeln!(f, "work: {} operations, of which {} can run at once", count(self.work), count(at_once))?;
        let (peak, arguments) = (bytes(self.peak_bytes), bytes(self.argument_bytes));
        writeln!(f, "memory: {peak} allocated at once by a thread, {arguments} of inputs and outputs")?;
        self.guesses.iter().try_for_each(|guess| writeln!(f, "guess: {guess}"))
    }
}

fn items(all: &[Item], depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for item in all {
        let pad = "  ".repeat(depth);
        match item {
            Item::Loop(l) if l.entries == 0.0 => writeln!(f, "{pad}{} {}: not run", word(l.kind), l.name)?,
            Item::Loop(LoopCost { name, kind, entries, iterations, touched, body, .. }) => {
                let times = if *entries == 1.0 { String::new() } else { format!("{} x ", count(*entries)) };
                let trip = count(iterations / entries);
                let iterations = if trip == "1" { "iteration, which" } else { "iterations, each" };
                writeln!(f, "{pad}{} {name}: {times}{trip} {iterations} touches {}", word(*kind), bytes(*touched))?;
                items(body, depth + 1, f)?;
            }
            Item::Store(s) if s.allocations == 0.0 => writeln!(f, "{pad}store {}: not needed", s.name)?,
            Item::Store(StoreCost { name, allocations, extents, folded, bytes: size, body, .. }) => {
                let extent =
                    |(extent, folded): (&i64, &bool)| format!("{extent}{}", if *folded { " (folded)" } else { "" });
                let extents: Vec<String> = extents.iter().zip(folded).map(extent).collect();
                let times =
                    if *allocations == 1.0 { String::new() } else { format!(", {} times", count(*allocations)) };
                let extents = if extents.is_empty() { "one element".to_string() } else { extents.join(" x ") };
                writeln!(f, "{pad}store {name}: {extents}, {}{times}", bytes(*size))?;
                items(body, depth + 1, f)?;
            }
            Item::Points(PointsCost { name, points, operations, reads, .. }) => {
                let points = count(*points);
                writeln!(f, "{pad}{name}: {points} points of {operations} operations and {reads} reads")?;
            }
        }
    }
    Ok(())
}

fn word(kind: ForKind) -> &'static str {
    match kind {
        ForKind::Serial => "for",
        ForKind::Parallel => "parallel",
        ForKind::Vectorized => "vectorized",
        ForKind::Unrolled => "unrolled",
        ForKind::GpuBlocks => "gpu_blocks",
        ForKind::GpuThreads => "gpu_threads",
        ForKind::GpuLanes => "gpu_lanes",
    }
}

/// A number of things: whole where it is small and whole, with three digits and a unit otherwise.
pub(super) fn count(n: f64) -> String {
    const UNITS: [&str; 5] = ["", " k", " M", " G", " T"];
    if n < 10_000.0 && n.fract() == 0.0 {
        return format!("{n}");
    }
    scaled(n, 1000.0, &UNITS)
}

/// A number of bytes.
pub(super) fn bytes(n: f64) -> String {
    const UNITS: [&str; 5] = [" B", " KiB", " MiB", " GiB", " TiB"];
    if n < 1024.0 {
        return format!("{} B", n.round());
    }
    scaled(n, 1024.0, &UNITS)
}

fn scaled(mut n: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while n >= step && unit + 1 < units.len() {
        n /= step;
        unit += 1;
    }
    let digits = if n < 10.0 { 2 } else { usize::from(n < 100.0) };
    format!("{n:.digits$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let counts = [0.0, 7.0, 2.5, 9999.0, 12_345.0, 250_000.0, 1e6, 3.4e15].map(count);
        assert_eq!(counts, ["0", "7", "2.50", "9999", "12.3 k", "250 k", "1.00 M", "3400 T"]);
        assert_eq!([0.0, 1023.0, 1536.0, 5e7].map(bytes), ["0 B", "1023 B", "1.50 KiB", "47.7 MiB"]);
    }
}
