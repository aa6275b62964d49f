//! Costs of a loop nest as text: one line for each loop, allocation and definition, and totals.

use super::numbers::{bytes, count};
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
